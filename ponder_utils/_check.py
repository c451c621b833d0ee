"""Checks of arguments: each error names the argument, what came, and what is allowed."""

import math
import reprlib
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor


def check_type(name: str, value: Any, kind: Any, allowed: str = "", but: Any = ()) -> Any:
    """Return `value` if it is of this kind, a type or a union of types, and not of the kind `but`."""
    if not isinstance(value, kind) or isinstance(value, but):
        allowed = allowed or f"a {kind.__name__}"
        raise TypeError(f"{name} must be {allowed}; got {reprlib.repr(value)} ({type(value).__name__})")
    return value


def check_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` if it is a whole number in [low, high] (no upper end if `high` is None)."""
    allowed = f"an integer >= {low}" if high is None else f"an integer in [{low}, {high}]"
    value = int(check_type(name, value, Integral, allowed, but=bool))
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return value


def check_real(name: str, value: Any, low: float, high: float = math.inf, *, open_low: bool) -> float:
    """Return `value` if it is a finite real number in [low, high], or in (low, high] if `open_low`."""
    allowed = f"a number in {'(' if open_low else '['}{low}, {high}{')' if high == math.inf else ']'}"
    value = float(check_type(name, value, Real, allowed, but=bool))
    if not math.isfinite(value) or not low <= value <= high or (open_low and value == low):
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return value


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> str:
    """Return `value` if it is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {reprlib.repr(value)}")
    return value


def check_generator(generator: Any) -> torch.device:
    """Return the device that a `torch.Generator` draws on, the CPU for None."""
    check_type("generator", generator, torch.Generator | None, "a torch.Generator or None")
    return torch.device("cpu") if generator is None else generator.device


def described(value: Any) -> str:
    """Return what came in place of a tensor: dtype and shape of another one, or the type of anything else."""
    return f"{value.dtype} {list(value.shape)}" if isinstance(value, Tensor) else type(value).__name__


def check_mask(name: str, mask: Any, shape: Sequence[int]) -> Tensor:
    """Return `mask` if it is a bool tensor of this shape. It may not be 0 and 1: libraries differ in what 1 means."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        raise TypeError(f"{name} must be a bool tensor of shape {list(shape)}; got {described(mask)}")
    if mask.shape != tuple(shape):
        raise ValueError(f"{name} must have shape {list(shape)}; got {list(mask.shape)}")
    return mask


def check_targets(y: Any, shape: Sequence[int], per: str = "sample") -> None:
    """Raise a TypeError or ValueError if y is no tensor with one target for each answer, of this shape and more."""
    if check_type("y", y, Tensor).shape[: len(shape)] != tuple(shape):
        wanted = f"shape [{', '.join(map(str, shape))}, ...]"
        raise ValueError(f"y must have one target per {per}, {wanted}; got {list(y.shape)}")
