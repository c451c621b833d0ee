"""One training loop, for every network of the course."""

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau
from tqdm import tqdm

from ponder_utils._check import check_choice, check_int, check_real, check_type
from ponder_utils.checkpoints import Row, Run, plain, unwrapped
from ponder_utils.epochs import Draws, RandomNumbers
from ponder_utils.evaluation import preserve_modes
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
    clip: float | None = 1.0,
    seed: int = 0,
    evaluate: Callable[[nn.Module], Row] | None = None,
    monitor: str = "accuracy",
    mode: str = "max",
    patience: int | None = None,
    log: Callable[[Row], Any] | None = None,
    log_every: int = 100,
    checkpoint_dir: Path | str | None = None,
    checkpoint_every: int = 500,
    config: Row | None = None,
    progress: bool = True,
) -> list[Row]:
    """Train a network in place, in one process and on its device, and return the logged rows, of plain numbers.

    If `checkpoint_dir` holds the checkpoint of a run that was cut off, that run goes on from there, and ends as it
    would have ended. For mixed precision, call it within `torch.autocast(device, torch.bfloat16)`: weights, optimizer,
    halting distribution and loss stay float32.

    Args:
        loss_fn: (model(x), y) -> a scalar, or a named tuple or dict of scalars with a `total`, such as `PonderLoss`.
        batches: generator -> (x, y), drawn by this generator or by the global random numbers; or an iterable of such
            pairs, such as a `DataLoader`, read again when it ends. If a function has a `state_dict` and a
            `load_state_dict`, as a `Curriculum` has, its state is kept in checkpoints.
        lr, optimizer: either the learning rate of Adam, or any optimizer of the model's parameters.
        schedule: optimizer -> learning rate schedule, which steps after every update; a `ReduceLROnPlateau` at every
            evaluation, on the monitored number.
        clip: largest norm of the gradient; None for no limit.
        evaluate: model, in training mode -> a dict or named tuple of numbers to log, beside those of the training.
        monitor, mode: the number of `evaluate` that says which checkpoint is best, and whether "max" or "min" is best.
        patience: stop after so many evaluations without a new best.
        log, log_every: called with every row. There is one every so many updates, and at the last: update, the terms of
            the loss, grad_norm (before clipping), lr, and what `evaluate` gives.
        checkpoint_dir: where `last.pt` is written every `checkpoint_every` updates, and `best.pt` at a new best.
        config: what this run is, in numbers and strings. A run with another one, or with other parameters, optimizer,
            schedule, numbers above, or `settings` of model, loss and batches, does not continue a checkpoint.

    NonFiniteError at the first update whose loss or gradient is not finite, before it reaches the weights; ValueError
    or TypeError if an argument is not as above, or a checkpoint is of another run, or of other batches.
    """
    if distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1:
        why = "or all would draw the same batches; docs/package.md has a loop for several"
        raise ValueError(f"train must run in one process, {why}; torch.distributed has {distributed.get_world_size()}")
    check_type("model", model, nn.Module, "an nn.Module")
    check_type("loss_fn", loss_fn, Callable, "a function")
    check_type("evaluate", evaluate, Callable | None, "a function, or None")
    check_type("log", log, Callable | None, "a function, or None")
    check_type("checkpoint_dir", checkpoint_dir, str | os.PathLike | None, "a path, or None")
    if not any(hasattr(batches, name) for name in ("__call__", "__iter__", "__getitem__")):
        raise TypeError(f"batches must be a function generator -> (x, y), or an iterable of pairs; got {batches!r}")
    for name, value in {"n_updates": n_updates, "log_every": log_every, "checkpoint_every": checkpoint_every}.items():
        check_int(name, value, 1)
    seed = check_int("seed", seed, 0, 2**64 - 1)
    check_choice("mode", mode, ("max", "min"))
    max_norm = math.inf if clip in (None, math.inf) else check_real("clip", clip, 0, open_low=True)
    max_since_best = math.inf if patience is None else check_int("patience", patience, 1)
    if not model.training:  # if it is, a part of it that is evaluating, such as a frozen encoder, stays so
        model.train()
    optimizer = _checked_optimizer(model, lr, optimizer)
    if schedule is cool_down or not (schedule is None or callable(schedule)):
        raise TypeError(f"schedule must be a function optimizer -> schedule, such as cool_down(2000); got {schedule!r}")
    scheduler = None if schedule is None else schedule(optimizer)
    plateau = scheduler if isinstance(scheduler, ReduceLROnPlateau) else None
    if evaluate is None and (patience is not None or plateau is not None):
        raise ValueError("patience and ReduceLROnPlateau need evaluate; got evaluate=None")
    if plateau is not None and plateau.mode != mode:
        raise ValueError(f"mode must be that of the ReduceLROnPlateau, {plateau.mode!r}; got {mode!r}")

    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    device = weights[0].device
    random_numbers = RandomNumbers(device, seed)
    has_state = callable(batches) and hasattr(batches, "load_state_dict")
    draw: Any = batches if has_state else Draws(batches, random_numbers, resumable=checkpoint_dir is not None)
    parts = {"batches": draw, "model": unwrapped(model), "optimizer": optimizer, "schedule": scheduler}
    parts |= {"loss_fn": loss_fn, "random": random_numbers}
    made_with = {"model": model, "loss_fn": loss_fn, "batches": batches, "device": device.type, "optimizer": optimizer}
    made_with |= {"schedule": scheduler, "seed": seed, "clip": clip, "log_every": log_every, "monitor": monitor}
    made_with |= {"mode": mode, "patience": patience}
    try:
        made_with["config"] = json.dumps(plain(config), sort_keys=True)
    except TypeError as error:
        raise TypeError(f"config must be a dict of numbers, strings, lists and dicts; {error}") from None
    run = Run(checkpoint_dir, parts, made_with)
    with run.locked(), tqdm(total=n_updates, disable=not progress, file=sys.stdout, mininterval=0.5) as bar:
        run.resume(n_updates)
        bar.update(run.update)
        while run.update < n_updates and run.since_best < max_since_best:
            run.update += 1
            batch = draw(random_numbers.generator)
            if not isinstance(batch, tuple | list) or len(batch) != 2:
                raise TypeError(f"batches must give pairs (x, y); got {type(batch).__name__}")
            x, y = map_states(lambda part: part.to(device), tuple(batch))
            buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}  # such as running means
            terms = _loss_terms(loss_fn(model(x), y))
            model.zero_grad()
            terms["total"].backward()
            terms["grad_norm"] = nn.utils.clip_grad_norm_(weights, max_norm)
            row: Row = {"update": run.update, **{name: float(plain(term)) for name, term in terms.items()}}
            if not all(map(math.isfinite, row.values())):
                for name, buffer in model.named_buffers():
                    if name in buffers and buffer.shape == buffers[name].shape:
                        buffer.copy_(buffers[name])
                raise NonFiniteError(run.update, row)
            row["lr"] = float(optimizer.param_groups[0]["lr"])  # of a tensor, too, which a schedule changes
            optimizer.step()
            torch.clear_autocast_cache()  # in an autocast around all of this, it holds the weights as they were
            if scheduler is not None and plateau is None:
                scheduler.step()
            bar.update()

            if run.update % log_every == 0 or run.update == n_updates:
                run.rows.append(row)
                if evaluate is not None:
                    with preserve_modes(model):
                        scores = plain(_as_dict("evaluate", evaluate(model), row.keys()))
                    check_choice("monitor", monitor, [*scores])
                    check_type(f"what evaluate returns as {monitor!r}", scores[monitor], Real, "a number")
                    row |= scores
                    if plateau is not None:
                        plateau.step(row[monitor])
                    value = row[monitor] if mode == "max" else -row[monitor]
                    run.since_best += 1
                    if value > run.best:
                        run.best, run.since_best = value, 0
                        run.save("best.pt")
                bar.set_postfix({name: f"{row[name]:.3f}" for name in ("total", monitor) if name in row}, refresh=False)
                if log is not None:
                    log(plain(row))
            is_last = run.update == n_updates or run.since_best >= max_since_best
            if is_last or run.update % checkpoint_every == 0:
                run.save("last.pt")
    return run.rows


def cool_down(n_updates: int) -> Schedule:
    """Return a schedule: the learning rate stays for half of the updates, and then falls in a line to 0."""
    check_int("n_updates", n_updates, 1)
    return partial(LambdaLR, lr_lambda=lambda update: max(0.0, min(1.0, 2 - 2 * update / n_updates)))


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
