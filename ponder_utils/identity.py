"""What a run is: all that its arguments say, as text that is kept beside it and compared.

Two trainings are the same run if their networks are built alike, and losses, data, schedules and numbers are the same.
Weights are not compared: they are what a run changes. Nor is the code of classes and of installed packages; a function
of one's own is compared by its code and by what it refers to, such as the task that it draws batches from.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
import types
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

Identity = dict[str, str]  # name of a part, such as "loss_fn.tau" -> what it is
PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device)


def identity_of(arguments: dict[str, Any], values: bool = True) -> Identity:
    """The arguments, part by part.

    Args:
        arguments: name -> anything; of an object that is not known, its class and attributes.
        values: also the values of the parameters and buffers of arguments that are modules, not only their shapes.
    """
    found: Identity = {}
    for name, value in arguments.items():
        _describe(name, value, found, values, ())
    return found


def differences(here: Identity, there: Identity, most: int = 5) -> str:
    """What differs between two identities, in words; an empty string if nothing does."""
    told: dict[str, str] = {}
    for name in {**here, **there}:
        mine, its = here.get(name, "missing"), there.get(name, "missing")
        if mine != its and not any(name.startswith(f"{part}.") for part in told):
            told[name] = f"{name} is {mine} here and {its} there"
    return "; ".join([*told.values()][:most] + [f"and {len(told) - most} more"] * (len(told) > most))


def _describe(name: str, value: Any, found: Identity, values: bool, around: tuple[int, ...]) -> None:
    """Note `value`, and its parts under names that begin with its own. `around` are those that it is a part of."""
    if id(value) in around or isinstance(value, types.ModuleType):
        return
    around = (*around, id(value))

    def parts(named: dict[Any, Any], values: bool = False) -> None:
        for key, part in named.items():
            _describe(f"{name}.{key}", part, found, values, around)

    if isinstance(value, np.generic):
        value = value.item()
    if _is_plain(value):
        found[name] = _short(repr(value))
    elif isinstance(value, Tensor | np.ndarray):
        found[name] = _tensor(value)
    elif isinstance(value, types.FunctionType):
        found[name] = f"function {value.__name__}" if _of_a_package(value) else f"function {_code(value.__code__):08x}"
        if not _of_a_package(value):
            parts(_referred_to(value))
    elif isinstance(value, types.MethodType):
        parts({"function": value.__func__, "of": value.__self__})
    elif isinstance(value, functools.partial):
        parts({"function": value.func, "arguments": (value.args, value.keywords)})
    elif isinstance(value, type | types.BuiltinFunctionType):
        found[name] = value.__qualname__
    elif isinstance(value, list | tuple):
        parts(dict(enumerate(value)))
    elif isinstance(value, dict):
        parts(value)
    else:
        told = repr(value) if not hasattr(value, "__dict__") else ""
        found[name] = _short(told) if told and " at 0x" not in told else type(value).__qualname__
        if isinstance(value, nn.Module):
            own = vars(value).items()
            parts({key: part for key, part in own if key[0] != "_" or isinstance(part, int | float | str)})
            for key, tensor in (*value.named_parameters(recurse=False), *value.named_buffers(recurse=False)):
                found[f"{name}.{key}"] = _tensor(tensor, values)
            parts(dict(value.named_children()), values)
        elif isinstance(value, LRScheduler):
            parts({key: part for key, part in vars(value).items() if key != "optimizer"})
        elif dataclasses.is_dataclass(value):
            parts({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
        elif not isinstance(value, torch.Generator | torch.optim.Optimizer):
            parts({key: part for key, part in getattr(value, "__dict__", {}).items() if key[0] != "_"})


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, PLAIN)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:40]}... {zlib.crc32(text.encode()):08x}"


def _tensor(value: Tensor | np.ndarray, values: bool = True) -> str:
    learns = isinstance(value, Tensor) and value.requires_grad
    kind = f"{value.dtype} {list(value.shape)}{', learns' * learns}"
    if not values:
        return kind
    if isinstance(value, Tensor):
        value = (
            value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            if value.numel() > 1
            else np.array(value.tolist())
        )
    return str(value.item()) if value.size == 1 else f"{kind} {zlib.crc32(value.tobytes()):08x}"


def _of_a_package(function: Callable[..., Any]) -> bool:
    ours = __name__.partition(".")[0]
    return str(function.__module__).partition(".")[0] == ours or "site-packages" in function.__code__.co_filename


def _code(code: types.CodeType) -> int:
    """A checksum of what the code does: not of its lines, its file or its name."""
    consts: list[Any] = []
    for const in code.co_consts:
        in_order = sorted(map(repr, const)) if isinstance(const, frozenset) else const
        consts.append(_code(const) if isinstance(const, types.CodeType) else in_order)
    return zlib.crc32(repr((code.co_code, consts, code.co_names)).encode())


def _referred_to(function: types.FunctionType) -> dict[str, Any]:
    """A function's defaults and the variables around it, but for what changes as it is called: counters, and lists."""
    outside = inspect.getclosurevars(function)
    sets = {step.argval for step in dis.get_instructions(function) if step.opname in ("STORE_DEREF", "STORE_GLOBAL")}
    defaults = dict(enumerate(function.__defaults__ or ())) | (function.__kwdefaults__ or {})
    found = {**outside.globals, **outside.nonlocals, **{f"default {key}": value for key, value in defaults.items()}}
    return {key: value for key, value in found.items() if key not in sets and not isinstance(value, list)}
