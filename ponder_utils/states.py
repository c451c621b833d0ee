"""States and inputs: a tensor, None, or a tuple, list, dict or dataclass of these.

Every tensor has the batch in dimension 0. What is not a tensor (a number, a string) and a tensor without dimensions
belong to no sample, and are passed on as they are.
"""

import copy
from collections.abc import Callable, MutableMapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from torch import Tensor


def hidden_state(state: Any) -> Tensor:
    """Return the part of a recurrent state that the next layer reads: h, also of (h, c)."""
    return state[0] if isinstance(state, tuple | list) else state


def map_states(change: Callable[..., Any], *states: Any) -> Any:
    """Return the first state with every tensor replaced by `change`, given the tensors at its place in all states."""
    first = states[0]
    if isinstance(first, Tensor):
        return change(*states)
    if isinstance(first, MutableMapping):
        mapped = copy.copy(first)
        for key in first:
            mapped[key] = map_states(change, *(state[key] for state in states))
        return mapped
    if isinstance(first, tuple | list):
        parts = [map_states(change, *parts) for parts in zip(*states, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if is_dataclass(first) and not isinstance(first, type):
        names = [field.name for field in fields(first) if field.init]
        return replace(first, **{k: map_states(change, *(getattr(state, k) for state in states)) for k in names})
    return first


def select_rows(state: Any, rows: Tensor) -> Any:
    """Return the samples with these indices."""
    return map_states(lambda part: part.index_select(0, rows) if part.ndim else part, state)


def first_tensor(x: Any) -> Tensor:
    """Return the first tensor of an input; TypeError if none has a batch, ValueError if their batches differ."""
    tensors: list[Tensor] = []
    map_states(lambda part: tensors.append(part) if part.ndim else None, x)
    if not tensors:
        allowed = "a tensor of shape [batch, ...], or a tuple, list, dict or dataclass of such tensors"
        raise TypeError(f"x must be {allowed}; got {type(x).__name__} {x!r}")
    sizes = [len(part) for part in tensors]
    if len(set(sizes)) > 1:
        raise ValueError(f"all tensors of x must have the same batch in dimension 0; got {sizes}")
    return tensors[0]
