"""What a run is: all that its arguments say, as text that is kept beside it and compared.

Two trainings are the same run if their networks are built alike, and losses, data, schedules and numbers are the same.
Weights are not compared: they are what a run changes. Nor is the code of classes and of installed packages; a function
of one's own is compared by its code and by what it refers to, such as the task that it draws batches from, but for what
changes as it is called: counters, lists, and dicts that it writes to.
"""

import contextlib
import dis
import enum
import functools
import inspect
import sys
import types
import zlib
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

Identity = dict[str, str]  # name of a part, such as "loss_fn.tau" -> what it is
PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, enum.Enum)


def identity_of(arguments: dict[str, Any], values: bool = True) -> Identity:
    """The arguments, part by part: anything; of an object that is not known, its class and attributes.

    With `values` also the parameters and buffers of arguments that are modules, and not only their shapes.
    """
    found: Identity = {}
    seen: dict[int, tuple[str, Any]] = {}

    def note(name: str, value: Any, values: bool) -> None:
        text, parts = _taken_apart(value, values)
        if parts and id(value) in seen:
            text, parts = f"as {seen[id(value)][0]}", {}
        seen[id(value)] = name, value  # and alive, so that no other object gets its place in memory
        if text:
            found[name] = text
        for key, part in parts.items():
            constant = isinstance(part, nn.Module) and not any(weight.requires_grad for weight in part.parameters())
            note(f"{name}.{key}", part, values if isinstance(value, nn.Module | list | tuple) else constant)

    for name, value in arguments.items():
        note(name, value, values)
    return found


def differences(here: Identity, there: Identity, most: int = 5) -> str:
    """What differs between two identities, in words; an empty string if nothing does."""
    told: dict[str, str] = {}
    for name in {**here, **there}:
        mine, its = here.get(name, "missing"), there.get(name, "missing")
        if mine != its and not any(name.startswith(f"{part}.") for part in told):
            told[name] = f"{name} is {mine} here and {its} there"
    return "; ".join([*told.values()][:most] + [f"and {len(told) - most} more"] * (len(told) > most))


def _taken_apart(value: Any, values: bool) -> tuple[str, dict[Any, Any]]:
    """What is said of the value itself, and its parts, by name."""
    kind, own = type(value).__qualname__, getattr(value, "__dict__", None)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, set | frozenset):
        value = sorted(map(repr, value))
    if isinstance(value, PLAIN) or (isinstance(value, list | tuple) and all(isinstance(part, PLAIN) for part in value)):
        return _short(repr(value)), {}
    if isinstance(value, Tensor | np.ndarray):
        return _tensor(value, True), {}
    if callable(value) and isinstance(inspect.unwrap(value), types.FunctionType):
        value = inspect.unwrap(value)
        if not _is_opened(value, ours=False):
            return f"function {value.__qualname__}", {}
        return f"function {_code(value.__code__):08x}", _referred_to(value)
    if isinstance(value, types.MethodType):
        return "", {"function": value.__func__, "of": value.__self__}
    if isinstance(value, functools.partial):
        return "", {"function": value.func, "arguments": value.args, "keywords": value.keywords}
    if isinstance(value, type | types.BuiltinFunctionType | types.ModuleType):
        return value.__name__, {}
    if isinstance(value, list | tuple | dict):
        return "", value if isinstance(value, dict) else dict(enumerate(value))
    if own is None:
        return kind if " at 0x" in repr(value) else _short(repr(value)), {}
    plainly = {key: part for key, part in own.items() if key[0] != "_" or isinstance(part, int | float | str)}
    if isinstance(value, nn.Module):
        if "_orig_mod" in value._modules:  # what `torch.compile` has wrapped
            return "", {"_orig_mod": value._orig_mod}
        tensors = (*value.named_parameters(recurse=False), *value.named_buffers(recurse=False))
        plainly = {key: part for key, part in plainly.items() if values or not isinstance(part, Tensor)}
        return kind, plainly | {key: _tensor(part, values) for key, part in tensors} | dict(value.named_children())
    if isinstance(value, LRScheduler):
        return kind, {key: part for key, part in own.items() if key != "optimizer"}
    return kind, plainly if kind.endswith("Namespace") or _is_opened(value, ours=True) else {}


def _is_opened(value: Any, ours: bool) -> bool:
    """Is a function, or an object's class, one's own, and of no installed package? For this package `ours` says it."""
    top = str(getattr(value, "__module__", "")).partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    if top == __name__.partition(".")[0]:
        return ours
    return top not in sys.stdlib_module_names and "site-packages" not in file and "dist-packages" not in file


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:40]}... {zlib.crc32(text.encode()):08x}"


def _tensor(value: Tensor | np.ndarray, values: bool) -> str:
    learns = isinstance(value, Tensor) and value.requires_grad
    kind = f"{value.dtype} {list(value.shape)}{', learns' * learns}"
    if not values:
        return kind
    if len(value.shape) == 0:
        return str(np.float32(value.item()) if value.dtype == torch.float32 else value.item())
    if isinstance(value, Tensor):  # as bytes, since NumPy has no bfloat16
        value = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return f"{kind} {zlib.crc32(value.tobytes()):08x}"


def _code(code: types.CodeType) -> int:
    """A checksum of what the code does: not of its lines, its file or its name."""
    known: Any = {types.CodeType: _code, frozenset: lambda const: sorted(map(repr, const))}
    consts = [known.get(type(const), repr)(const) for const in code.co_consts]
    return zlib.crc32(repr((code.co_code, consts, code.co_names)).encode())


def _instructions(code: types.CodeType) -> list[tuple[str, Any]]:
    """Names of operations and what they work on, also in the functions within the function."""
    within = [part for const in code.co_consts if isinstance(const, types.CodeType) for part in _instructions(const)]
    return [(step.opname, step.argval) for step in dis.get_instructions(code)] + within


def _referred_to(function: types.FunctionType) -> dict[str, Any]:
    """A function's defaults and the variables around it, but for what changes as it is called."""
    steps = _instructions(function.__code__)
    sets = {name for operation, name in steps if operation in ("STORE_DEREF", "STORE_GLOBAL")}
    written = (list, dict) if any(operation == "STORE_SUBSCR" for operation, _ in steps) else list
    names = {name for operation, name in steps if operation == "LOAD_GLOBAL"} & function.__globals__.keys()
    found = {name: function.__globals__[name] for name in sorted(names)}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # nothing is in it yet
            found[name] = cell.cell_contents
    defaults = dict(enumerate(function.__defaults__ or ())) | (function.__kwdefaults__ or {})
    found |= {f"default {key}": value for key, value in defaults.items()}
    return {key: value for key, value in found.items() if key not in sets and not isinstance(value, written)}
