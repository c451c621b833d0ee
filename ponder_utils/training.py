"""One training loop, for every network of the course."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau
from tqdm import tqdm

from ponder_utils._check import check_choice, check_int, check_real, check_type, described
from ponder_utils.checkpoints import RandomNumbers, Row, Run, unwrapped
from ponder_utils.evaluation import batch_on_device, preserve_modes

Batches = Callable[[torch.Generator], tuple[Any, ...]] | Iterable[Any]
Schedule = Callable[[torch.optim.Optimizer], LRScheduler]


class NonFiniteError(FloatingPointError):
    """A term of the loss, or the gradient, is inf or nan at this `update`. The weights are those before it."""

    def __init__(self, row: Row) -> None:
        super().__init__(row)
        self.update, self.row = row["update"], row

    def __str__(self) -> str:
        bad = ", ".join(name for name, value in self.row.items() if not math.isfinite(value))
        shown = ", ".join(f"{name} = {value:.6g}" for name, value in self.row.items() if name != "update")
        return f"update {self.update}: {bad} not finite ({shown}); the weights were not updated"


def train(
    model: nn.Module,
    loss_fn: Callable[..., Any],
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
    also: Row | None = None,
    progress: bool = True,
) -> list[Row]:
    """Train a network in place, on its device, and return the logged rows, of plain numbers.

    Args:
        loss_fn: (model(x), y), or (model(x), y, mask) -> a scalar, or a named tuple or dict of scalars with a `total`.
        batches: generator, with this seed -> (x, y) or (x, y, mask); or an iterable of these, read again when it ends.
        lr, optimizer: either the learning rate of Adam, or any optimizer of the model's parameters.
        schedule: optimizer -> schedule, which steps after every update, or, a `ReduceLROnPlateau`, at every row.
        clip: largest norm of the gradient; None for no limit.
        evaluate: model, in evaluation mode and without gradients -> a dict or named tuple of numbers to log.
        monitor, mode: name of a number of the rows, such as one of `evaluate`, and whether "max" or "min" is best.
        patience: stop after so many rows without a new best.
        log, log_every: called with every row. There is one every so many updates, and at the last: update, the terms of
            the loss, grad_norm (before clipping), lr, and what `evaluate` gives.
        checkpoint_dir: where `last.pt` is written every `checkpoint_every` updates, and `best.pt` at a new best. If it
            holds a `last.pt`, the run goes on from there; an iterable of batches is then read from its beginning.
        config: what this run is, as JSON can hold it. A checkpoint of another run is refused.
        also: by name whatever else has a `state_dict` and a `load_state_dict` that checkpoints should keep.

    NonFiniteError at the first update whose loss or gradient is not finite, before it reaches the weights.
    """
    for name, function in {"schedule": schedule, "evaluate": evaluate, "log": log}.items():
        check_type(name, function, Callable | None, "a function, or None")
    for name, number in {"n_updates": n_updates, "log_every": log_every, "checkpoint_every": checkpoint_every}.items():
        check_int(name, number, 1)
    max_norm = math.inf if clip is None else check_real("clip", clip, 0, open_low=True)
    max_since_best = math.inf if patience is None else check_int("patience", patience, 1)
    if (lr is None) == (optimizer is None):
        raise ValueError(f"give either lr, for Adam, or optimizer; got lr={lr!r} and optimizer={optimizer!r}")
    if optimizer is None:
        optimizer = torch.optim.Adam(model.parameters(), lr=check_real("lr", lr, 0, open_low=True), fused=True)
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    if not set(weights) <= set(model.parameters()) or not any(weight.requires_grad for weight in weights):
        raise ValueError("optimizer must hold weights of model that learn, and none of another network or a copy")
    scheduler = None if schedule is None else schedule(optimizer)
    plateau = scheduler if isinstance(scheduler, ReduceLROnPlateau) else None
    check_choice("mode", mode, ("max", "min") if plateau is None else (plateau.mode,))
    if monitor is None and (patience is not None or plateau is not None):
        raise ValueError("patience and ReduceLROnPlateau need monitor, the name of a number of each row; got None")
    device = weights[0].device
    generator = torch.Generator(device).manual_seed(seed)
    parts = {"model": unwrapped(model), "optimizer": optimizer, "schedule": scheduler, "loss_fn": loss_fn}
    parts |= {"batches": batches, "random": RandomNumbers(generator)}
    call = {"lr": lr and float(lr), "clip": max_norm, "seed": generator.initial_seed(), "device": device.type}
    run = Run(checkpoint_dir, parts, also, config, call | {"monitor": monitor, "mode": mode})
    run.resume(n_updates)
    stream = _endless(batches, generator)

    if not model.training:  # if it is, a part of it that is evaluating, such as a frozen encoder, stays so
        model.train()
    with tqdm(total=n_updates, initial=run.update, disable=not progress, file=sys.stdout, mininterval=0.5) as bar:
        while run.update < n_updates and run.since_best < max_since_best:
            x, *targets = batch_on_device("batches", next(stream), device)  # y, or y and mask
            buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}  # running means and the like
            terms = _by_name("loss_fn", loss_fn(model(x), *targets), {"update", "grad_norm", "lr"})
            if not isinstance(total := terms.get("total"), Tensor) or total.numel() != 1:
                wanted = "a scalar tensor, or a named tuple or dict with one as total"
                raise TypeError(f"loss_fn must return {wanted}; got {described(total)} among {sorted(terms)}")
            model.zero_grad()
            total.backward()
            terms["grad_norm"] = nn.utils.clip_grad_norm_(weights, max_norm)
            row: Row = {"update": run.update + 1}
            row |= {name: term.item() if hasattr(term, "item") else term for name, term in terms.items()}
            if not all(map(math.isfinite, row.values())):
                model.load_state_dict(buffers, strict=False)
                raise NonFiniteError(row)
            row["lr"] = float(optimizer.param_groups[0]["lr"])  # of a tensor, too, which a schedule changes
            optimizer.step()
            torch.clear_autocast_cache()  # in an autocast around all of this, it holds the weights as they were
            if scheduler is not None and plateau is None:
                scheduler.step()
            run.update += 1
            bar.update()

            if run.update % log_every == 0 or run.update == n_updates:
                if evaluate is not None:
                    with preserve_modes(model), torch.no_grad():
                        model.eval()
                        scores = _by_name("evaluate", evaluate(model), row.keys())
                    row |= {name: part.tolist() if hasattr(part, "tolist") else part for name, part in scores.items()}
                run.rows.append(row)
                if monitor is not None:
                    check_choice("monitor", monitor, [*row])
                    if plateau is not None:
                        plateau.step(row[monitor])
                    score = row[monitor] if mode == "max" else -row[monitor]
                    run.since_best += 1
                    if score > run.best:
                        run.best, run.since_best = score, 0
                        run.save("best.pt")
                bar.set_postfix(total=f"{row['total']:.3f}", refresh=False)
                if log is not None:
                    log(dict(row))
            if run.update % checkpoint_every == 0:
                run.save("last.pt")
    run.save("last.pt")
    return run.rows


def cool_down(n_updates: int) -> Schedule:
    """Return a schedule: the learning rate stays for half of the updates, and then falls in a line to 0."""
    check_int("n_updates", n_updates, 1)
    return partial(LambdaLR, lr_lambda=lambda update: max(0.0, min(1.0, 2 - 2 * update / n_updates)))


def _endless(batches: Any, generator: torch.Generator) -> Iterator[Any]:
    """Give batches without end; ValueError if an iterable is empty or used up."""
    while callable(batches):
        yield batches(generator)
    while True:
        batch = None
        for batch in batches:
            yield batch
        if batch is None:
            raise ValueError("batches must hold a batch each time it is read; got an iterable that is empty or used up")


def _by_name(function: str, values: Any, reserved: Set[str]) -> Row:
    """Return what a function returned as a new dict, a tensor as its `total`; ValueError if a name is reserved."""
    values = {"total": values} if isinstance(values, Tensor) else values
    if not isinstance(values, Mapping) and not hasattr(values, "_asdict"):
        raise TypeError(f"{function} must return a dict or a named tuple of numbers; got {values!r}")
    by_name = dict(values) if isinstance(values, Mapping) else values._asdict()
    if clash := reserved & by_name.keys():
        raise ValueError(f"{function} must return other names than a row has; got {sorted(clash)}")
    return by_name
