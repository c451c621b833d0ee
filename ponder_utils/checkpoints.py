"""Checkpoints: files that are written whole or not at all, and loaded without executing code."""

import io
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class DamagedFileError(ValueError):
    """A file is not what was written. The message says which file, and what is wrong."""


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a path to write to; only when the block ends well, that file takes the place of `path`, in one move.

    An OSError, such as that of a full disk, names `path`.
    """
    path = path.resolve()
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        with draft.open("r+b") as file:  # Windows syncs only what may be written
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        draft.unlink(missing_ok=True)


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a dict of tensors, numbers, strings and containers of these; TypeError if it holds anything else."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    try:
        torch.load(file, weights_only=True)
    except pickle.UnpicklingError as why:
        wanted = "tensors, numbers, strings, and lists, tuples and dicts of these"
        raise TypeError(f"a checkpoint must hold {wanted} alone, or {path} could not be loaded: {why}") from why
    with atomic_write(path) as draft:
        draft.write_bytes(file.getbuffer())


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read a dict that `torch.save` wrote, into the CPU's memory; DamagedFileError if the file is anything else."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as why:  # whatever a reader of broken bytes comes upon
        wanted = "It is damaged, or holds more than tensors, numbers, strings and containers of these"
        raise DamagedFileError(f"{path} cannot be loaded as weights or a checkpoint. {wanted}") from why
    if not isinstance(state, dict):
        raise DamagedFileError(f"{path} must hold a dict of weights, or a checkpoint; got a {type(state).__name__}")
    return state


def load_weights(model: nn.Module, path: Path | str) -> None:
    """Give `model` the weights of a checkpoint of `train`, `best.pt` or `last.pt`, or of a file with a state_dict.

    Either network may be compiled, or wrapped in `DataParallel` or `DistributedDataParallel`. DamagedFileError if the
    file cannot be loaded; ValueError if names or shapes differ, and then nothing has been written.
    """
    model, state = unwrapped(model), load_checkpoint(Path(path))
    given = state["model"] if isinstance(state.get("model"), dict) else state
    if different := diff(shapes(model.state_dict()), shapes(given)):
        raise ValueError(f"{path} holds other weights than model: {different}")
    model.load_state_dict(given)


def unwrapped(model: Any) -> Any:
    """Return the network within what `torch.compile`, `DataParallel` and the like make of it."""
    for wrapper in ("_orig_mod", "module"):
        if type(model).__module__.startswith("torch.") and hasattr(model, wrapper):
            return unwrapped(getattr(model, wrapper))
    return model


def shapes(state: dict[str, Any]) -> dict[str, str]:
    """Return the shape of each tensor of a state_dict, in words."""
    return {name: str([*value.shape]) for name, value in state.items() if isinstance(value, Tensor)}


def diff(here: dict[str, Any], there: dict[str, Any]) -> str:
    """Return the first few entries that are not the same in both, in words; an empty text if all are."""
    pairs = {name: (here.get(name, "nothing"), there.get(name, "nothing")) for name in here | there}
    words = [f"{name}: {one} here, {other} there" for name, (one, other) in pairs.items() if one != other]
    return "; ".join(words[:5] + [f"and {len(words) - 5} more"] * (len(words) > 5))
