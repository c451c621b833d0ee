"""Checkpoints of a training run: written whole, checked, and loaded without executing code."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from ponder_utils._files import DamagedFileError, read_sealed, write_sealed

ADVICE = "Delete it to begin anew, or put back a copy."


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a dict of tensors, numbers, strings and containers of these; a kill leaves the old file or the new."""
    file = io.BytesIO()
    torch.save(_without_numpy(state), file)
    write_sealed(path, file.getvalue())


def _without_numpy(value: Any) -> Any:
    """The same with Python's own numbers and lists, since NumPy's are not loaded without executing code."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if type(value) is dict:
        return {_without_numpy(key): _without_numpy(part) for key, part in value.items()}
    return type(value)(map(_without_numpy, value)) if type(value) in (list, tuple) else value


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read what `save_checkpoint` wrote, into the CPU's memory.

    Raises:
        DamagedFileError: if the file is not what was written, or would need code to be executed.
    """
    file = io.BytesIO(read_sealed(path, ADVICE))
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise DamagedFileError(f"{path} is not loaded, since it holds more than data: {error}. {ADVICE}") from error


def load_weights(model: nn.Module, path: Path | str) -> None:
    """Give `model` the weights of a checkpoint that `train` left in its checkpoint_dir (`best.pt` or `last.pt`).

    Raises:
        DamagedFileError: if the file is no such checkpoint, or damaged.
        RuntimeError: if the weights are those of a network of another shape; torch says which.
    """
    state = load_checkpoint(Path(path))
    if "model" not in state:
        raise DamagedFileError(f"{path} is not a checkpoint of train: it holds {', '.join(state)}, and no model")
    model.load_state_dict(state["model"])
