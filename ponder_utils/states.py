"""States and inputs: a tensor, None, or a tuple, list, dict or dataclass of these.

Every tensor has the batch in dimension 0. What is not a tensor (a number, a string) and a tensor without dimensions
belong to no sample, and are passed on as they are. So the lengths of samples are a tensor, and not a list of numbers.
"""

import copy
from collections.abc import Callable, MutableMapping
from dataclasses import fields, is_dataclass
from typing import Any

from torch import Tensor

from ponder_utils._check import described


def hidden_state(state: Any) -> Tensor:
    """Return the part of a recurrent state that the next layer reads: h, also of (h, c)."""
    return state[0] if isinstance(state, tuple | list) else state


def map_states(change: Callable[..., Any], *states: Any) -> Any:
    """Return the first state with every tensor replaced by `change`, given the tensors at its place in all states.

    ValueError if their structure differs, or what belongs to no sample, such as a count of the steps.
    """
    first, *others = states
    if isinstance(first, Tensor) and not others:
        return change(first)
    is_tensor = [isinstance(state, Tensor) for state in states]
    if all(is_tensor) and first.ndim:
        return change(*states)
    parts = [_parts(state) for state in states]
    if any(is_tensor) != all(is_tensor) or any(part.keys() != parts[0].keys() for part in parts):
        came = ", ".join(f"{type(state).__name__} {[*_parts(state)]}" for state in states[:4])
        raise ValueError(f"state must have the same parts after each step; got {came}")
    changed = {name: map_states(change, *[part[name] for part in parts]) for name in parts[0]}
    if isinstance(first, (tuple, list)):
        return type(first)(*changed.values()) if hasattr(first, "_fields") else type(first)(changed.values())
    if changed:
        mapped = copy.copy(first)
        put = type(mapped).__setitem__ if isinstance(mapped, MutableMapping) else object.__setattr__  # may be frozen
        for name, part in changed.items():
            put(mapped, name, part)
        return mapped
    if any(other is not first and other != first for other in others):
        raise ValueError(f"state must hold in a tensor [batch, ...] what changes from step to step; got {states[:4]}")
    return first


def _parts(state: Any) -> dict[Any, Any]:
    """Return the parts of a dict, tuple, list or dataclass, by name or number; of anything else none."""
    if isinstance(state, (tuple, list)):
        return dict(enumerate(state))
    if state is None or isinstance(state, Tensor):
        return {}
    if isinstance(state, MutableMapping):
        return dict(state)
    if is_dataclass(state) and not isinstance(state, type):
        return {field.name: getattr(state, field.name) for field in fields(state)}
    return {}


def map_batched(change: Callable[..., Any], *states: Any) -> Any:
    """Return what `map_states` does, but keep a tensor without dimensions, which belongs to no sample."""
    return map_states(lambda part, *others: change(part, *others) if part.ndim else part, *states)


def cast_like(total: Tensor, part: Tensor) -> Tensor:
    """Return a mean of parts in the dtype of these: rounded if they are whole numbers, such as counts."""
    return total.to(part.dtype) if part.is_floating_point() else total.round().to(part.dtype)


def select_rows(state: Any, rows: Tensor) -> Any:
    """Return the samples with these indices."""
    return map_states(lambda part: part.index_select(0, rows) if part.ndim else part, state)


def first_tensor(x: Any) -> Tensor:
    """Return the first tensor of an input; TypeError if none has a batch, ValueError if their batches differ."""
    batched = [tensor for tensor in tensors_in(x) if tensor.ndim]
    if not batched:
        raise TypeError(f"x must be a tensor [batch, ...], or hold some; got {type(x).__name__} {x!r}")
    check_batch("x", x, batched[0].shape[0])
    return batched[0]


def check_batch(name: str, state: Any, batch_size: int) -> None:
    """Raise a ValueError if a tensor in it has another number of samples in dimension 0."""
    sizes = [tensor.shape[0] for tensor in tensors_in(state) if tensor.ndim]
    if any(size != batch_size for size in sizes):
        raise ValueError(f"all tensors of {name} must have a batch of {batch_size} in dimension 0; got {sizes}")


def check_no_list(name: str, state: Any, batch_size: int) -> None:
    """Raise a ValueError if it holds a list, tuple or array of plain values as long as the batch, which nobody cuts."""
    if isinstance(state, Tensor):
        return
    is_list = hasattr(state, "__len__") and not isinstance(state, str | MutableMapping)
    is_long = is_list and 1 < batch_size == len(state) and any(part is not None for part in state)
    if is_long and not any(part.ndim for part in tensors_in(state)):
        came = f"a {type(state).__name__} with an entry for each of {batch_size} samples"
        raise ValueError(f"{name} must hold in tensors what belongs to samples; got {came}")
    for part in _parts(state).values():
        check_no_list(name, part, batch_size)


def check_sequence(x: Any, state: Any) -> None:
    """Raise a TypeError or ValueError unless x is [T, batch, inputs, ...], and the state before it of this batch."""
    if not isinstance(x, Tensor) or x.ndim < 3 or len(x) == 0:
        raise TypeError(f"x must be a tensor [T, batch, inputs, ...] with T >= 1; got {described(x)}")
    check_batch("state", state, x.shape[1])


def tensors_in(state: Any) -> list[Tensor]:
    """Return all tensors, in their order."""
    if isinstance(state, Tensor):
        return [state]
    return [tensor for part in _parts(state).values() for tensor in tensors_in(part)]
