"""What a run is: all that its arguments say, as text that is kept beside it and compared.

Two trainings are the same run if their networks are built alike, and losses, data, schedules and numbers are the same.
Weights are not compared: they are what a run changes. Nor is the code of classes and of installed packages; a function
of one's own is compared by its code and by what it refers to, such as the task that it draws batches from.
"""

import dis
import functools
import inspect
import types
import zlib
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

Identity = dict[str, str]  # name of a part, such as "loss_fn.tau" -> what it is
PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device)


def identity_of(arguments: dict[str, Any], values: bool = True) -> Identity:
    """The arguments, part by part: anything; of an object that is not known, its class and attributes.

    With `values` also the parameters and buffers of arguments that are modules, and not only their shapes.
    """
    found: Identity = {}

    def note(name: str, value: Any, values: bool, around: tuple[int, ...]) -> None:
        if id(value) in around or isinstance(value, types.ModuleType):
            return
        text, parts = _taken_apart(value, values)
        if text:
            found[name] = text
        for key, part in parts.items():
            note(f"{name}.{key}", part, values and isinstance(value, nn.Module | list | tuple), (*around, id(value)))

    for name, value in arguments.items():
        note(name, value, values, ())
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
    if isinstance(value, PLAIN) or (isinstance(value, list | tuple) and all(isinstance(part, PLAIN) for part in value)):
        return _short(repr(value)), {}
    if isinstance(value, Tensor | np.ndarray):
        return _tensor(value, True), {}
    if isinstance(value, types.FunctionType):
        ours = str(value.__module__).partition(".")[0] == __name__.partition(".")[0]
        if ours or "site-packages" in value.__code__.co_filename:
            return f"function {value.__qualname__}", {}
        return f"function {_code(value.__code__):08x}", _referred_to(value)
    if isinstance(value, types.MethodType):
        return "", {"function": value.__func__, "of": value.__self__}
    if isinstance(value, functools.partial):
        return "", {"function": value.func, "arguments": value.args, **value.keywords}
    if isinstance(value, type | types.BuiltinFunctionType):
        return value.__qualname__, {}
    if isinstance(value, list | tuple | dict):
        return "", value if isinstance(value, dict) else dict(enumerate(value))
    if own is None:
        return kind if " at 0x" in repr(value) else _short(repr(value)), {}
    if isinstance(value, nn.Module):
        tensors = (*value.named_parameters(recurse=False), *value.named_buffers(recurse=False))
        own = {key: part for key, part in own.items() if key[0] != "_" or isinstance(part, int | float | str)}
        return kind, own | {key: _tensor(part, values) for key, part in tensors} | dict(value.named_children())
    if isinstance(value, LRScheduler):
        return kind, {key: part for key, part in own.items() if key != "optimizer"}
    return kind, {} if isinstance(value, torch.optim.Optimizer) else {k: v for k, v in own.items() if k[0] != "_"}


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


def _referred_to(function: types.FunctionType) -> dict[str, Any]:
    """A function's defaults and the variables around it, but for what changes as it is called: counters, and lists."""
    outside = inspect.getclosurevars(function)
    sets = {step.argval for step in dis.get_instructions(function) if step.opname in ("STORE_DEREF", "STORE_GLOBAL")}
    defaults = dict(enumerate(function.__defaults__ or ())) | (function.__kwdefaults__ or {})
    found = {**outside.globals, **outside.nonlocals, **{f"default {key}": value for key, value in defaults.items()}}
    return {key: value for key, value in found.items() if key not in sets and not isinstance(value, list)}
