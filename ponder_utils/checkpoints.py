"""Checkpoints of a training run: written whole or not at all, checked, and loaded without executing code."""

import hashlib
import io
import os
import pickle
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
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
from torch.nn.parameter import is_lazy

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


def exclusive_lock(folder: Path | None) -> AbstractContextManager[Any]:
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
    weights = state.get("model")
    if not isinstance(weights, dict):
        raise DamagedFileError(
            f"{path} is not a checkpoint of train: it holds {', '.join(map(str, state))}, and no model"
        )
    names = {bare(name): name for name in own}
    given = {bare(name): value for name, value in weights.items()}
    if len(names) < len(own) or len(given) < len(weights):  # two names would become one
        names, given = {name: name for name in own}, weights
    there = {name: _shape(value) for name, value in given.items()}
    here = {name: there.get(name) if is_lazy(own[full]) else _shape(own[full]) for name, full in names.items()}
    if different := diff(here, there):
        raise ValueError(f"{path} holds the weights of another network than model: {different}")
    model.load_state_dict({names[name]: value for name, value in given.items()})


def _shape(value: Any) -> str:
    return str(list(value.shape)) if isinstance(value, Tensor) else type(value).__name__


def bare(name: str) -> str:
    """Return the name that a weight has in the network itself, when it is neither compiled nor wrapped."""
    return ".".join(part for part in name.split(".") if part not in WRAPPERS)


def diff(here: dict[str, Any], there: dict[str, Any]) -> str:
    """Return the first few entries that are not the same in both, in words; an empty text if all are."""
    pairs = {name: (here.get(name, "nothing"), there.get(name, "nothing")) for name in here | there}
    words = [f"{name}: {one} here, {other} there" for name, (one, other) in pairs.items() if one != other]
    return "; ".join(words[:5] + [f"and {len(words) - 5} more"] * (len(words) > 5))


def settings(name: str, value: Any, tensors: bool = False, seen: set[int] | None = None) -> dict[str, str]:
    """Return what an object was made with: numbers, strings, functions and classes by name, tensors if asked.

    They are read in the public attributes of modules, callable objects and the object of a method, in fields of
    dataclasses, in containers, and in what a function encloses and has as defaults.
    """
    seen = set() if seen is None else seen
    value = value.item() if isinstance(value, np.generic) else value
    value = getattr(value, "_torchdynamo_orig_callable", value) if isinstance(value, FunctionType) else value
    if value is None or isinstance(value, Number | str | bytes | range | Enum | torch.dtype):
        return {name: repr(value)}
    if isinstance(value, np.ndarray) and tensors and not value.dtype.hasobject:
        return {name: f"{list(value.shape)} {value.dtype} with checksum {zlib.crc32(value.tobytes()):08x}"}
    if isinstance(value, Tensor) and tensors:
        return {name: f"{_shape(value)} with checksum {checksum(value):08x}"}
    if isinstance(value, Tensor) or id(value) in seen:
        return {}
    seen.add(id(value))
    found, inside = {name: getattr(value, "__name__", type(value).__name__)}, dict[Any, Any]()
    if isinstance(value, nn.Module):
        inside = {key: part for key, part in vars(value).items() if key != "training"} | dict(value.named_children())
        for wrapper in WRAPPERS:
            if wrapper in inside and type(value).__module__.startswith("torch."):
                return settings(name, inside[wrapper], tensors, seen)
        inside |= dict(value.named_buffers(recurse=False))
    elif isinstance(value, dict):
        inside = value
    elif isinstance(value, list | tuple | set | frozenset):
        inside = dict(enumerate(value if isinstance(value, list | tuple) else sorted(value, key=repr)))
    elif isinstance(value, partial):
        inside = {"func": value.func, "args": value.args, **value.keywords}
    elif isinstance(value, MethodType):
        owner = value.__self__
        inside = {"self": owner} if callable(owner) or is_dataclass(owner) else getattr(owner, "__dict__", {})
    elif isinstance(value, FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        inside = {"defaults": value.__defaults__, "keywords": value.__kwdefaults__}
        inside |= {variable: cell.cell_contents for variable, cell in cells if cell != CellType()}  # not yet assigned
    elif is_dataclass(value):
        inside = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    elif callable(value):
        inside = {} if isinstance(value, type) else getattr(value, "__dict__", {})
    else:
        return {}
    for key, part in inside.items():
        if not str(key).startswith("_"):
            found |= settings(f"{name}.{key}", part, tensors, seen)
    if isinstance(value, dict | list | tuple | set | frozenset):
        seen.discard(id(value))  # whether equal containers are one or two is no difference
    return found


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
    if type(value) is dict or (tensors and isinstance(value, Mapping)):
        return {plain(key, tensors): plain(part, tensors) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [plain(part, tensors) for part in value]
        return parts if isinstance(value, list) else tuple(parts)  # a named one, too
    return value
