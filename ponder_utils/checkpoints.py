"""Checkpoints of a training run: written whole or not at all, checked, and loaded without executing code."""

import hashlib
import io
import os
import pickle
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock, Timeout
from torch import nn

SEAL = b"\nsha256 "  # at the end of the file, with a checksum of all before it


class DamagedFileError(ValueError):
    """A file is not what was written. The message says which file, what is wrong, and what helps."""


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a path to write to; only when the block ends well, that file takes the place of `path`, in one move."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".{path.name}.*.draft"):
        if time.time() - left.stat().st_mtime > 3600:  # by a process that was killed
            left.unlink(missing_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        yield draft
        with draft.open("r+b") as file:  # Windows syncs only what may be written
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def in_use(folder: Path | None) -> AbstractContextManager[Any]:
    """Keep other processes from training in this folder for the length of a block; ValueError if one does."""
    if folder is None:
        return nullcontext()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(folder / "in_use.lock").acquire(timeout=0)
    except Timeout:
        raise ValueError(f"checkpoint_dir must be a run's own folder; {folder} is in use") from None


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a dict of tensors, numbers, strings and containers of these. Raises if it could not be read back."""
    file = io.BytesIO()
    torch.save(_without_numpy(state), file)
    content = file.getvalue()
    torch.load(io.BytesIO(content), weights_only=True)
    with written_whole(path) as draft:
        draft.write_bytes(content + SEAL + hashlib.sha256(content).hexdigest().encode())


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read what `save_checkpoint` wrote, into the CPU's memory; DamagedFileError if the file is anything else."""
    content, _, digest = path.read_bytes().rpartition(SEAL)
    try:
        if digest != hashlib.sha256(content).hexdigest().encode():
            raise pickle.UnpicklingError("its checksum, the last line, does not fit")
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        advice = "Delete it to start over, or put back a copy."
        raise DamagedFileError(f"{path} is damaged, or not a checkpoint of ponder_utils: {error}. {advice}") from error


def load_weights(model: nn.Module, path: Path | str) -> None:
    """Give `model` the weights of a checkpoint of `train`, `best.pt` or `last.pt`; DamagedFileError if it is none."""
    state = load_checkpoint(Path(path))
    if "model" not in state:
        raise DamagedFileError(f"{path} is not a checkpoint of train: it holds {', '.join(state)}, and no model")
    model.load_state_dict(state["model"])


def _without_numpy(value: Any) -> Any:
    """Return Python's own numbers and lists, since NumPy's are not loaded without executing code."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if type(value) is dict:
        return {_without_numpy(key): _without_numpy(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [_without_numpy(part) for part in value]
        return parts if isinstance(value, list) else tuple(parts)  # a named one, too
    return value
