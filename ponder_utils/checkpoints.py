"""Checkpoints of a training run: written whole or not at all, checked, and loaded without executing code."""

import hashlib
import io
import os
import pickle
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from numbers import Number
from pathlib import Path
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from filelock import FileLock, Timeout
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from ponder_utils.states import map_states

SEAL = b"\nsha256 "  # at the end of the file, with a checksum of all before it
WRAPPERS = ("_orig_mod", "module")  # what `torch.compile`, and `DataParallel` and the like, call the network within


class DamagedFileError(ValueError):
    """A file is not what was written. The message says which file, what is wrong, and what helps."""


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
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


def exclusive_lock(folder: Path) -> AbstractContextManager[Any]:
    """Keep other processes from training in this folder for the length of a block; ValueError if one does."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(folder / "in_use.lock").acquire(timeout=0)
    except Timeout:
        raise ValueError(f"checkpoint_dir must be a run's own folder; {folder} is in use") from None


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a dict of tensors, numbers, strings and containers of these. Raises if it could not be read back."""
    file = io.BytesIO()
    torch.save(plain(state, tensors=False), file)
    content = file.getvalue()
    torch.load(io.BytesIO(content), weights_only=True)
    with atomic_write(path) as draft:
        draft.write_bytes(content + SEAL + hashlib.sha256(content).hexdigest().encode())


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read what `save_checkpoint` wrote, into the CPU's memory; DamagedFileError if the file is anything else."""
    content, _, digest = path.read_bytes().rpartition(SEAL)
    try:
        if digest != hashlib.sha256(content).hexdigest().encode() or not content:
            raise pickle.UnpicklingError("its checksum, the last line, does not fit, or it is empty")
        state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        if not isinstance(state, dict):
            raise pickle.UnpicklingError(f"it holds {type(state).__name__}, and no dict")
    except (pickle.UnpicklingError, EOFError, RuntimeError, LookupError, ValueError, TypeError, AttributeError) as why:
        advice = "Delete it to start over, or put back a copy."
        raise DamagedFileError(f"{path} is damaged, or not a checkpoint of ponder_utils: {why}. {advice}") from why
    return state


def load_weights(model: nn.Module, path: Path | str) -> None:
    """Give `model` the weights of a checkpoint of `train`, `best.pt` or `last.pt`.

    Either network may be compiled, or wrapped in `DataParallel` or `DistributedDataParallel`. DamagedFileError if the
    file is no such checkpoint; ValueError if names or shapes differ, and then nothing has been written.
    """
    state, own = load_checkpoint(Path(path)), model.state_dict()
    given = state.get("model")
    if not isinstance(given, dict):
        came = ", ".join(map(str, state))
        raise DamagedFileError(f"{path} is not a checkpoint of train: it holds {came}, and no model")
    short = bare if len({bare(name) for name in own}) == len(own) else str  # else two names would become one
    given = {short(name): value for name, value in given.items()}
    shapes = [{short(name): getattr(value, "shape", None) for name, value in part.items()} for part in (own, given)]
    if different := diff(*shapes):
        raise ValueError(f"{path} holds the weights of another network than model: {different}")
    model.load_state_dict({name: given[short(name)] for name in own})


def bare(name: str) -> str:
    """Return the name that a weight has in the network itself, when it is neither compiled nor wrapped."""
    return ".".join(part for part in name.split(".") if part not in WRAPPERS)


def diff(here: dict[str, Any], there: dict[str, Any]) -> str:
    """Return the first few entries that are not the same in both, in words; an empty text if all are."""
    pairs = {name: (here.get(name, "nothing"), there.get(name, "nothing")) for name in here | there}
    words = [f"{name}: {one} here, {other} there" for name, (one, other) in pairs.items() if one != other]
    return "; ".join(words[:5] + [f"and {len(words) - 5} more"] * (len(words) > 5))


def settings(name: str, value: Any, tensors: bool, seen: set[int] | None = None) -> dict[str, str]:
    """Return what an object was made with: numbers, strings, functions and classes by name, and weights by shape.

    They are read in containers, fields of dataclasses, public attributes of modules, schedules, callable objects and
    the owner of a method, and in what a function encloses and has as defaults. Of tensors a checksum, if asked.
    """
    seen = set() if seen is None else seen
    if isinstance(value, FunctionType):
        value = getattr(value, "_torchdynamo_orig_callable", value)  # of a compiled one
    for wrapper in WRAPPERS:
        if type(value).__module__.startswith("torch.") and hasattr(value, wrapper):
            return settings(name, getattr(value, wrapper), tensors, seen)
    if value is None or isinstance(value, Number | np.generic | str | bytes | range | Enum | torch.dtype):
        return {name: repr(plain(value))}
    if isinstance(value, nn.Parameter):
        return {name: f"{list(value.shape)} {value.dtype}{'' if value.requires_grad else ', frozen'}"}
    if isinstance(value, Tensor | np.ndarray):
        if not tensors:
            return {}
        digits = checksum(value) if isinstance(value, Tensor) else zlib.crc32(repr(value.tolist()).encode())
        return {name: f"{list(value.shape)} {value.dtype} with checksum {digits:08x}"}
    found = {name: getattr(value, "__name__", type(value).__name__)}
    is_method = isinstance(value, MethodType)
    value = value.__self__ if is_method else value
    value = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
    if not isinstance(value, dict | list | tuple):
        is_read = is_method or is_dataclass(value) or callable(value) or isinstance(value, LRScheduler)
        if id(value) in seen or not is_read:
            return {}
        seen.add(id(value))
    for key, part in _parts(value).items():
        found |= settings(f"{name}.{key}", part, tensors, seen)
    return found


def _parts(value: Any) -> dict[Any, Any]:
    """Return what an object was made of, by name."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if isinstance(value, partial):
        return {"func": value.func, "args": value.args, **value.keywords}
    if isinstance(value, FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        enclosed = {name: cell.cell_contents for name, cell in cells if cell != CellType()}  # not yet assigned
        return enclosed | {"defaults": value.__defaults__, "keywords": value.__kwdefaults__}
    if is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in fields(value) if field.init}
    attributes = {} if isinstance(value, type) else {**getattr(value, "__dict__", {})}
    if isinstance(value, nn.Module):
        attributes |= dict(value.named_children()) | dict(value.named_parameters(recurse=False))
        attributes |= dict(value.named_buffers(recurse=False))
        del attributes["training"]
    return {name: part for name, part in attributes.items() if not name.startswith("_")}


def checksum(value: Any, start: int = 0) -> int:
    """Return a checksum of all tensors in a batch; `start` is that of the batches before it."""
    total = start

    def add(part: Tensor) -> Tensor:
        nonlocal total
        total = zlib.crc32(part.detach().cpu().flatten().view(torch.uint8).numpy().data, total)
        return part

    map_states(add, value)
    return total


def plain(value: Any, tensors: bool = True) -> Any:
    """Return a copy in Python's own numbers, lists, tuples and dicts, of NumPy's numbers, and of tensors if asked."""
    if isinstance(value, np.generic | np.ndarray) or (tensors and isinstance(value, Tensor)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {plain(key): plain(part, tensors) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [plain(part, tensors) for part in value]
        return parts if isinstance(value, list) else tuple(parts)  # a named one, too
    return value
