"""One training loop, for every network of the course."""

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau
from tqdm import tqdm

from ponder_utils._check import check_choice, check_int, check_real, check_type
from ponder_utils.checkpoints import unwrapped
from ponder_utils.evaluation import preserve_modes
from ponder_utils.resuming import RandomNumbers, Row, Run
from ponder_utils.states import map_states

Batches = Callable[[torch.Generator], tuple[Any, Any]] | Iterable[tuple[Any, Any]]
Schedule = Callable[[torch.optim.Optimizer], LRScheduler]


class NonFiniteError(FloatingPointError):
    """A term of the loss, or the gradient, is inf or nan at this `update`. The weights are those before it."""

    def __init__(self, update: int, row: Row) -> None:
        super().__init__(update, row)
        self.update, self.row = update, row

    def __str__(self) -> str:
        bad = ", ".join(name for name, value in self.row.items() if not math.isfinite(value))
        shown = ", ".join(f"{name} = {value:.6g}" for name, value in self.row.items() if name != "update")
        return f"update {self.update}: {bad} not finite ({shown}); the weights were not updated"


def train(
    model: nn.Module,
    loss_fn: Callable[[Any, Any], Any],
    batches: Batches,
    n_updates: int,
    *,
    lr: float | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    schedule: Schedule | None = None,
    clip: float | None = None,
    seed: int = 0,
    evaluate: Callable[[nn.Module], Any] | None = None,
    monitor: str | None = None,
    mode: str = "max",
    patience: int | None = None,
    log: Callable[[Row], Any] | None = None,
    log_every: int = 100,
    checkpoint_dir: Path | str | None = None,
    checkpoint_every: int = 500,
    config: Row | None = None,
    also: dict[str, Any] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Train a network in place, in one process and on its device, and return the logged rows, of plain numbers.

    For mixed precision, call it within `torch.autocast(device, torch.bfloat16)`: weights, optimizer, halting
    distribution and loss stay float32.

    Args:
        loss_fn: (model(x), y) -> a scalar, or a named tuple or dict of scalars with a `total`, such as `PonderLoss`.
        batches: generator, with this seed -> (x, y); or an iterable of such pairs, read again whenever it ends.
        lr, optimizer: either the learning rate of Adam, or any optimizer of the model's parameters.
        schedule: optimizer -> learning rate schedule, which steps after every update; a `ReduceLROnPlateau` at every
            evaluation, on the monitored number.
        clip: largest norm of the gradient; None for no limit.
        evaluate: model, in evaluation mode and without gradients -> a dict or named tuple of numbers to log.
        monitor, mode: the number of `evaluate` that says which checkpoint is best, and whether "max" or "min" is best.
        patience: stop after so many evaluations without a new best.
        log, log_every: called with every row. There is one every so many updates, and at the last: update, the terms of
            the loss, grad_norm (before clipping), lr, and what `evaluate` gives.
        checkpoint_dir: where `last.pt` is written every `checkpoint_every` updates, and `best.pt` at a new best. If it
            holds a `last.pt`, the run goes on from there; an iterable of batches is then read from its beginning.
        config: what this run is, as JSON can hold it. A checkpoint with another config, other numbers of the call (lr,
            clip, seed, monitor, mode), or weights of other shapes is refused.
        also: by name whatever else has a `state_dict` and a `load_state_dict` that checkpoints should keep. Those of
            model, loss, batches, optimizer and schedule they keep, and all random numbers; nothing else.

    NonFiniteError at the first update whose loss or gradient is not finite, before it reaches the weights; ValueError
    or TypeError if an argument is not as above.
    """
    check_type("model", model, nn.Module, "an nn.Module")
    check_type("loss_fn", loss_fn, Callable, "a function")
    check_type("evaluate", evaluate, Callable | None, "a function, or None")
    check_type("log", log, Callable | None, "a function, or None")
    check_type("batches", batches, Callable | Iterable, "a function generator -> (x, y), or an iterable of pairs")
    check_type("checkpoint_dir", checkpoint_dir, str | os.PathLike | None, "a path, or None")
    check_type("schedule", schedule, Callable | None, "a function optimizer -> schedule, such as cool_down(2000)")
    for name, value in {"n_updates": n_updates, "log_every": log_every, "checkpoint_every": checkpoint_every}.items():
        check_int(name, value, 1)
    seed = check_int("seed", seed, 0, 2**64 - 1)
    max_norm = math.inf if clip is None else check_real("clip", clip, 0, open_low=True)
    max_since_best = math.inf if patience is None else check_int("patience", patience, 1)
    optimizer = _checked_optimizer(model, lr, optimizer)
    scheduler = None if schedule is None else schedule(optimizer)
    plateau = scheduler if isinstance(scheduler, ReduceLROnPlateau) else None
    _check_monitor(evaluate, monitor, mode, patience, plateau)

    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    device = weights[0].device
    generator = torch.Generator(device).manual_seed(seed)
    parts = {"model": unwrapped(model), "optimizer": optimizer, "schedule": scheduler, "loss_fn": loss_fn}
    parts |= {"batches": batches, "random": RandomNumbers(generator), **_checked_states(also)}
    call = {"lr": lr if lr is None else float(lr), "clip": max_norm, "seed": seed, "device": device.type}
    call |= {"monitor": monitor, "mode": mode}
    run = Run(checkpoint_dir, parts, config, call)
    run.resume(n_updates)
    endless = _read(batches, generator)
    if not model.training:  # if it is, a part of it that is evaluating, such as a frozen encoder, stays so
        model.train()
    with tqdm(total=n_updates, initial=run.update, disable=not progress, file=sys.stdout, mininterval=0.5) as bar:
        while run.update < n_updates and run.since_best < max_since_best:
            x, y = _pair(next(endless), device)
            row = _make_gradients(model, loss_fn, x, y, weights, max_norm, run.update + 1)
            row["lr"] = float(optimizer.param_groups[0]["lr"])  # of a tensor, too, which a schedule changes
            optimizer.step()
            torch.clear_autocast_cache()  # in an autocast around all of this, it holds the weights as they were
            if scheduler is not None and plateau is None:
                scheduler.step()
            run.update += 1
            bar.update()
            if run.update % log_every == 0 or run.update == n_updates:
                if evaluate is not None:
                    row |= _evaluated(model, evaluate, monitor, row.keys())
                run.rows.append(row)
                if monitor is not None:
                    if plateau is not None:
                        plateau.step(row[monitor])
                    if run.is_best(row[monitor] if mode == "max" else -row[monitor]):
                        run.save("best.pt")
                bar.set_postfix({name: f"{row[name]:.3f}" for name in ("total", monitor) if name in row}, refresh=False)
                if log is not None:
                    log(dict(row))
            is_last = run.update == n_updates or run.since_best >= max_since_best
            if is_last or run.update % checkpoint_every == 0:
                run.save("last.pt")
    return run.rows


def cool_down(n_updates: int) -> Schedule:
    """Return a schedule: the learning rate stays for half of the updates, and then falls in a line to 0."""
    check_int("n_updates", n_updates, 1)
    return partial(LambdaLR, lr_lambda=lambda update: max(0.0, min(1.0, 2 - 2 * update / n_updates)))


def _read(batches: Any, generator: torch.Generator) -> Iterator[Any]:
    """Give batches without end; ValueError if an iterable is empty or used up."""
    if callable(batches):
        while True:
            yield batches(generator)
    while True:
        n_read = 0
        for batch in batches:
            n_read += 1
            yield batch
        if n_read == 0:
            raise ValueError("batches must hold a batch each time it is read; got an iterable that is empty or used up")


def _pair(batch: Any, device: torch.device) -> tuple[Any, Any]:
    """Return x and y of a batch, on the device."""
    if not isinstance(batch, tuple | list) or len(batch) != 2:
        raise TypeError(f"batches must give pairs (x, y); got {type(batch).__name__}")
    return map_states(lambda part: part.to(device), tuple(batch))


def _make_gradients(
    model: nn.Module, loss_fn: Callable[[Any, Any], Any], x: Any, y: Any, weights: list[Any], clip: float, update: int
) -> Row:
    """Compute the gradients of a batch and clip them; return update, the terms of the loss, and grad_norm.

    NonFiniteError if one is not finite; then the buffers of the model, such as running means, are as before.
    """
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    terms = _loss_terms(loss_fn(model(x), y))
    model.zero_grad()
    terms["total"].backward()
    terms["grad_norm"] = nn.utils.clip_grad_norm_(weights, clip)
    row: Row = {"update": update}
    for name, term in terms.items():
        row[name] = term.item() if isinstance(term, Tensor) else float(term)
    if not all(map(math.isfinite, row.values())):
        model.load_state_dict(buffers, strict=False)
        raise NonFiniteError(update, row)
    return row


def _evaluated(model: nn.Module, evaluate: Callable[[nn.Module], Any], monitor: str | None, taken: Set[str]) -> Row:
    """Return the numbers that `evaluate` gives in evaluation mode, `monitor` among them."""
    with preserve_modes(model), torch.no_grad():
        model.eval()
        scores = _as_dict("evaluate", evaluate(model), taken)
    scores = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in scores.items()}
    if monitor is not None:
        check_choice("monitor", monitor, [*scores])
        check_type(f"what evaluate returns as {monitor!r}", scores[monitor], Real, "a number")
    return scores


def _check_monitor(
    evaluate: Any, monitor: str | None, mode: str, patience: int | None, plateau: ReduceLROnPlateau | None
) -> None:
    """Raise a ValueError if what decides on the best is missing, or contradicts itself."""
    check_choice("mode", mode, ("max", "min"))
    if monitor is None and (patience is not None or plateau is not None):
        raise ValueError("patience and ReduceLROnPlateau need monitor, the name of a number of evaluate; got None")
    if monitor is not None and evaluate is None:
        raise ValueError(f"monitor must be None without evaluate; got {monitor!r}")
    if plateau is not None and plateau.mode != mode:
        raise ValueError(f"mode must be that of the ReduceLROnPlateau, {plateau.mode!r}; got {mode!r}")


def _checked_states(also: Any) -> Row:
    parts = check_type("also", also, dict | None, "a dict, or None") or {}
    for name, part in parts.items():
        if not hasattr(part, "state_dict") or not hasattr(part, "load_state_dict"):
            raise TypeError(f"also must hold what has a state_dict and a load_state_dict; got {part!r} as {name!r}")
    return {f"also[{name!r}]": part for name, part in parts.items()}


def _checked_optimizer(model: nn.Module, lr: Any, optimizer: Any) -> torch.optim.Optimizer:
    if not any(weight.requires_grad for weight in model.parameters()):
        raise ValueError("model must have weights that learn, with requires_grad; got none")
    if (lr is None) == (optimizer is None):
        raise ValueError(f"give either lr, for Adam, or optimizer; got lr={lr!r} and optimizer={optimizer!r}")
    if optimizer is None:
        return torch.optim.Adam(model.parameters(), lr=check_real("lr", lr, 0, open_low=True), fused=True)
    wanted = "an instance, such as torch.optim.SGD(model.parameters(), 0.1), and not LBFGS, which needs a closure"
    check_type("optimizer", optimizer, torch.optim.Optimizer, wanted, but=torch.optim.LBFGS)
    weights = {weight for group in optimizer.param_groups for weight in group["params"]}
    if not weights <= set(model.parameters()) or not any(weight.requires_grad for weight in weights):
        raise ValueError("optimizer must hold weights of model that learn, and none of another network, such as a copy")
    return optimizer


def _loss_terms(loss: Any) -> Row:
    """Return the terms of a loss by name, the total among them."""
    terms = _as_dict("loss_fn", {"total": loss} if isinstance(loss, Tensor) else loss, {"update", "grad_norm", "lr"})
    total = terms.get("total")
    if not isinstance(total, Tensor) or not total.requires_grad:
        raise ValueError(f"loss_fn must return a `total`, alone or among its terms, that has a gradient; got {loss!r}")
    for name, term in terms.items():
        if not isinstance(term, Real) and getattr(term, "shape", None) != ():
            raise ValueError(f"loss_fn must return scalars alone; got {name} = {term!r}")
    return terms


def _as_dict(name: str, value: Any, taken: Set[str]) -> Row:
    """Return a dict or named tuple as a new dict; an error says by `name` who returned neither, or names of a row."""
    if not isinstance(value, Mapping) and not hasattr(value, "_asdict"):
        raise TypeError(f"{name} must return a dict or a named tuple of numbers; got {value!r}")
    found = dict(value) if isinstance(value, Mapping) else value._asdict()
    if clash := taken & found.keys():
        raise ValueError(f"{name} must return other names than a row has; got {sorted(clash)}")
    return found
