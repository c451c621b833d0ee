"""Checkpoints of a training run: written whole or not at all, checked, and loaded without executing code."""

import hashlib
import io
import math
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
from torch.optim import Optimizer

from ponder_utils._check import check_int

Row = dict[str, Any]
SEAL = b"\nsha256 "  # at the end of the file, with a checksum of all before it


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
        if digest != hashlib.sha256(content).hexdigest().encode():
            raise pickle.UnpicklingError("its checksum, the last line, does not fit")
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, EOFError, RuntimeError, LookupError, ValueError, TypeError, AttributeError) as why:
        advice = "Delete it to start over, or put back a copy."
        raise DamagedFileError(f"{path} is damaged, or not a checkpoint of ponder_utils: {why}. {advice}") from why


def load_weights(model: nn.Module, path: Path | str) -> None:
    """Give `model` the weights of a checkpoint of `train`, `best.pt` or `last.pt`.

    Either network may be compiled, or wrapped in `DataParallel` or `DistributedDataParallel`. DamagedFileError if the
    file is no such checkpoint; ValueError if names or shapes differ, and then nothing has been written.
    """
    model, given = unwrapped(model), load_checkpoint(Path(path))["model"]
    states = model.state_dict(), given
    shapes = [{name: getattr(value, "shape", None) for name, value in state.items()} for state in states]
    if different := diff(*shapes):
        raise ValueError(f"{path} holds the weights of another network than model: {different}")
    model.load_state_dict(given)


class Run:
    """A training run: how far it has come, and its checkpoints, if it has a folder.

    parts: whatever has a state, by name, in the order in which it is restored. made_with: what must be as it was in the
    checkpoint from which a run goes on; of the numbers in tensors, all but those of `model` and `batches`.
    """

    def __init__(self, folder: Path | str | None, parts: Row, made_with: Row) -> None:
        self.update, self.rows = 0, list[Row]()
        self.best, self.since_best = -math.inf, 0  # what is monitored, the higher the better; evaluations since then
        self.folder = None if folder is None else Path(folder).resolve()
        self.parts = {name: part for name, part in parts.items() if hasattr(part, "load_state_dict")}
        self.made_with, seen = dict[str, str](), set[int]()
        for name, value in made_with.items() if folder is not None else ():
            self.made_with |= settings(name, value, name not in ("model", "batches"), seen)
        self.made_with["batches"] = type(made_with["batches"]).__name__  # a function may go by another name

    def locked(self) -> AbstractContextManager[Any]:
        """Keep other processes from training in this folder for the length of a block; ValueError if one does."""
        if self.folder is None:
            return nullcontext()
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            return FileLock(self.folder / "in_use.lock").acquire(timeout=0)
        except Timeout:
            raise ValueError(f"checkpoint_dir must be a run's own folder; {self.folder} is in use") from None

    def save(self, name: str) -> None:
        """Write a checkpoint."""
        if self.folder is not None:
            state = {part_name: part.state_dict() for part_name, part in self.parts.items()}
            state |= {"made_with": self.made_with, "update": self.update, "rows": self.rows}
            save_checkpoint(self.folder / name, state | {"best": self.best, "since_best": self.since_best})

    def resume(self, n_updates: int) -> None:
        """Go on from `last.pt`, if there is one; ValueError if that is of another run, or has gone further."""
        if self.folder is None or not (last := self.folder / "last.pt").exists():
            return
        state = load_checkpoint(last)
        if different := diff(self.made_with, state.get("made_with", {})):
            advice = "Give each run a folder of its own, or delete the checkpoint."
            raise ValueError(f"checkpoint_dir holds {last}, of another run: {different}. {advice}")
        self.update = check_int("updates in checkpoint_dir", state["update"], 0, n_updates)
        self.rows, self.best, self.since_best = state["rows"], state["best"], state["since_best"]
        for name, part in self.parts.items():
            part.load_state_dict(state[name])


def unwrapped(value: Any) -> Any:
    """Return the network within what `torch.compile`, `DataParallel` and the like make of it."""
    for wrapper in ("_orig_mod", "module"):
        if type(value).__module__.startswith("torch.") and hasattr(value, wrapper):
            return unwrapped(getattr(value, wrapper))
    return value


def diff(here: dict[str, Any], there: dict[str, Any]) -> str:
    """Return the first few entries that are not the same in both, in words; an empty text if all are."""
    pairs = {name: (here.get(name, "nothing"), there.get(name, "nothing")) for name in here | there}
    words = [f"{name}: {one} here, {other} there" for name, (one, other) in pairs.items() if one != other]
    return "; ".join(words[:5] + [f"and {len(words) - 5} more"] * (len(words) > 5))


def settings(name: str, value: Any, tensors: bool, seen: set[int]) -> dict[str, str]:
    """Return what an object was made with: numbers, strings, functions and classes by name, and weights by shape.

    They are read in containers, fields of dataclasses, groups of an optimizer, public attributes of what can be called
    or has a state, and of the owner of a method, and in what a function encloses and has as defaults. Of tensors a
    checksum, if asked.
    """
    value = unwrapped(value)
    if value is None or isinstance(value, Number | np.generic | str | bytes | range | Enum | torch.dtype | type):
        return {name: repr(plain(value))}
    if isinstance(value, nn.Parameter):
        return {name: f"{list(value.shape)} {value.dtype}{'' if value.requires_grad else ', frozen'}"}
    if isinstance(value, Tensor | np.ndarray):
        content = f" with checksum {zlib.crc32(repr(value.tolist()).encode()):08x}" if tensors else ""
        return {name: f"{list(value.shape)} {value.dtype}{content}"}
    found = {name: getattr(value, "__name__", type(value).__name__)}
    value = dict(enumerate(value)) if isinstance(value, list | tuple) else value
    if not isinstance(value, dict):
        is_read = is_dataclass(value) or callable(value) or hasattr(value, "state_dict")
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
    if isinstance(value, Optimizer):
        return dict(enumerate(value.param_groups))
    if isinstance(value, MethodType):
        return _parts(value.__self__)
    if isinstance(value, partial):
        return {"func": value.func, "args": value.args, **value.keywords}
    if isinstance(value, FunctionType):
        value = getattr(value, "_torchdynamo_orig_callable", value)  # of a compiled one
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        enclosed = {name: cell.cell_contents for name, cell in cells if cell != CellType()}  # not yet assigned
        return enclosed | {"defaults": value.__defaults__, "keywords": value.__kwdefaults__}
    if is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in fields(value) if field.init}
    attributes = {**getattr(value, "__dict__", {})}
    if isinstance(value, nn.Module):
        del attributes["training"]
        attributes |= dict(value.named_children()) | dict(value.named_parameters(recurse=False))
        attributes |= dict(value.named_buffers(recurse=False))
    return {name: part for name, part in attributes.items() if not name.startswith("_")}


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
