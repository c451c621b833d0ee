"""Checkpoints of a training run: written whole, loaded without executing code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler

from ponder_utils._files import written_whole


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a dict of tensors, numbers, strings and containers of these; a kill leaves the old file or the new."""
    with written_whole(path) as draft:
        torch.save(_without_numpy(state), draft)


def _without_numpy(value: Any) -> Any:
    """The same with Python's own numbers and lists, since NumPy's are not loaded without executing code."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if type(value) is dict:
        return {_without_numpy(key): _without_numpy(part) for key, part in value.items()}
    return type(value)(map(_without_numpy, value)) if type(value) in (list, tuple) else value


def load_checkpoint(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Read what `save_checkpoint` wrote. A file that would need code to be executed is refused by torch."""
    return torch.load(path, map_location=device, weights_only=True)


def told_of(loss_fn: Any, schedule: LRScheduler | None) -> dict[str, Any]:
    """What a checkpoint says of them, so that no other run goes on from it: the loss's buffers, the schedule's kind."""
    buffers = loss_fn.named_buffers() if isinstance(loss_fn, nn.Module) else ()
    kind = None if schedule is None else type(schedule).__name__
    return {"loss": {name: buffer.tolist() for name, buffer in buffers}, "schedule": kind}


def check_same_run(path: Path, saved: dict[str, Any], settings: dict[str, Any]) -> None:
    """Refuse to go on from the checkpoint of a run with other settings."""
    if saved != settings:
        raise ValueError(
            f"checkpoint_dir holds {path}, of a run with {saved}; this run has {settings}. "
            "Give each run its own folder, or delete the checkpoint."
        )


def load_weights(model: nn.Module, path: Path) -> None:
    """Give `model` the weights of a checkpoint that `train` left (`best.pt` or `last.pt`)."""
    model.load_state_dict(load_checkpoint(path)["model"])


def rng_state(device: torch.device, data: torch.Generator) -> dict[str, torch.Tensor]:
    """The state of every random number generator that a training run draws from."""
    state = {"data": data.get_state(), "cpu": torch.get_rng_state()}
    return state | {"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else state


def set_rng_state(device: torch.device, data: torch.Generator, state: dict[str, torch.Tensor]) -> None:
    """Undo what was drawn since `rng_state`."""
    data.set_state(state["data"].cpu())
    torch.set_rng_state(state["cpu"].cpu())
    if device.type == "cuda":
        torch.cuda.set_rng_state(state["cuda"].cpu(), device)
