"""Checkpoints of a training run: written whole, checked, and loaded without executing code."""

import hashlib
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from ponder_utils._files import DamagedFileError, written_whole

SEAL = b"\nsha256 "  # and a checksum of what stands before it, at the end of the file


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a dict of tensors, numbers, strings and containers of these; a kill leaves the old file or the new."""
    file = io.BytesIO()
    torch.save(_without_numpy(state), file)
    with written_whole(path) as draft:
        draft.write_bytes(file.getvalue() + SEAL + hashlib.sha256(file.getvalue()).hexdigest().encode())


def _without_numpy(value: Any) -> Any:
    """The same with Python's own numbers and lists, since NumPy's are not loaded without executing code."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if type(value) is dict:
        return {_without_numpy(key): _without_numpy(part) for key, part in value.items()}
    if isinstance(value, list | tuple):  # also a named one
        return [*map(_without_numpy, value)] if isinstance(value, list) else tuple(map(_without_numpy, value))
    return value


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read what `save_checkpoint` wrote, into the CPU's memory.

    DamagedFileError if one bit of the file is not what was written, or if code would have to be executed.
    """
    content, _, digest = path.read_bytes().rpartition(SEAL)
    try:
        if digest != hashlib.sha256(content).hexdigest().encode():
            raise pickle.UnpicklingError("its checksum, the last line, does not fit")
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        advice = "Delete it to begin anew, or put back a copy."
        raise DamagedFileError(f"{path} is damaged, or not a checkpoint of ponder_utils: {error}. {advice}") from error


def load_weights(model: nn.Module, path: Path | str) -> None:
    """Give `model` the weights of a checkpoint that `train` left in its checkpoint_dir (`best.pt` or `last.pt`).

    DamagedFileError if the file is damaged or no such checkpoint; torch's RuntimeError if the network is another.
    """
    state = load_checkpoint(Path(path))
    if "model" not in state:
        raise DamagedFileError(f"{path} is not a checkpoint of train: it holds {', '.join(state)}, and no model")
    model.load_state_dict(state["model"])
