"""One training loop, for every network of the course."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR, LRScheduler
from tqdm import tqdm

from ponder_utils._check import check_int, check_real
from ponder_utils.training.identity import Identity, identity_of
from ponder_utils.training.run import LastNumbers, Row, Run, Watch, checked_clip, learning, not_finite, put_back


class NonFiniteError(FloatingPointError):
    """A term of the loss, or the gradient, is inf or nan at this `update`. The weights are those before it."""

    def __init__(self, update: int, message: str) -> None:
        super().__init__(update, message)
        self.update = update

    def __str__(self) -> str:
        return "update {}: {}".format(*self.args)


def adam(model: nn.Module, lr: float) -> torch.optim.Optimizer:
    """What `train` learns with if nothing else is said."""
    return torch.optim.Adam(model.parameters(), lr=lr, fused=True)


def train(
    model: nn.Module, loss_fn: Callable[[Any, Tensor], Any],
    draw_batch: Callable[[torch.Generator], tuple[Tensor, Tensor]], n_updates: int, *,
    lr: float, clip: float | None = 1.0, schedule: Callable[[torch.optim.Optimizer], LRScheduler] | None = None,
    optimizer: Callable[[nn.Module, float], torch.optim.Optimizer] = adam, seed: int = 0,
    evaluate: Callable[[nn.Module], Row] | None = None, monitor: str = "accuracy", patience: int | None = None,
    log: Callable[[Row], Any] | None = None, log_every: int = 100, checkpoint_dir: Path | str | None = None,
    checkpoint_every: int = 500, progress: bool = True,
) -> list[Row]:  # fmt: skip
    """Train with Adam, or another optimizer, and a clipped gradient, and return the logged rows.

    If `checkpoint_dir` holds the checkpoint of a run that was cut off, that run goes on from there, and ends as it
    would have ended: model, optimizer, schedule, early stopping and all of torch's random numbers are restored.
    For mixed precision, call it within `torch.autocast(device, torch.bfloat16)`. Weights, optimizer, halting
    distribution and loss stay float32.

    Args:
        model: trained in place, on the device of its parameters.
        loss_fn: (model(x), y) -> a named tuple of scalars with a field `total`, such as `PonderLoss`.
        draw_batch: generator -> (x, y), on the generator's device. If it has a `state_dict` and a `load_state_dict`, as
            a `Curriculum` has, checkpoints hold its state, too.
        n_updates: how many batches to learn from, at most.
        lr: the optimizer's learning rate.
        clip: largest norm of the gradient; None for no limit.
        schedule: optimizer -> learning rate schedule. It steps after every update; a `ReduceLROnPlateau` instead at
            every evaluation, on the monitored number.
        optimizer: model, lr -> optimizer. Where its attribute found_inf is 1 it must leave the weights alone, as
            torch's fused ones do.
        seed: of the generator that batches are drawn from.
        evaluate: model -> numbers to log; called at every logged update, the last one included.
        monitor: the number of `evaluate` that should grow: it decides which checkpoint is best, and `patience`.
        patience: stop after so many evaluations without a new best.
        log: called with every row: a list's `append`, or a function that hands it to a tracker.
        checkpoint_dir: where `last.pt` and `best.pt` are written, every `checkpoint_every` updates and at the best.
        progress: show a progress bar.

    There is a row every `log_every` updates and at the last: update, the terms of the loss, grad_norm (before
    clipping), lr, and what `evaluate` gave.

    NonFiniteError at the first update whose loss or gradient is not finite, before it reaches the weights; ValueError
    or TypeError if an argument is not as above, or a checkpoint is from another run.
    """
    clip = checked_clip(n_updates, log_every, checkpoint_every, clip, patience, evaluate)
    lr, seed = check_real("lr", lr, 0, open_low=True), check_int("seed", seed, 0)

    device = next(learning(model).parameters()).device
    generator = torch.Generator(device).manual_seed(seed)
    descent = optimizer(model, lr)
    watch = Watch(evaluate, monitor, patience, schedule, descent)

    def identity() -> Identity:
        numbers = {"lr": lr, "clip": clip, "seed": seed, "log_every": log_every, "device": device.type}
        watched = {"evaluate": evaluate, "monitor": monitor, "patience": patience, "schedule": watch.schedule}
        functions = {"loss_fn": loss_fn, "draw_batch": draw_batch, "optimizer": optimizer}
        return identity_of({"model": model}, values=False) | identity_of(numbers | watched | functions)

    guard = _Guard(model, descent)
    parts = {"model": model, "optimizer": descent, "watch": watch, "draw_batch": draw_batch}
    bar = tqdm(total=n_updates, disable=not progress, file=sys.stdout, mininterval=0.5)
    with bar, Run(checkpoint_dir, identity, [generator], parts) as run:
        bar.update(check_int("updates in checkpoint_dir", run.update, 0, n_updates))
        while run.update < n_updates and not watch.stopped:
            x, y = draw_batch(generator)
            guard.before_update()
            terms = loss_fn(model(x), y)
            descent.zero_grad()
            terms.total.backward()
            grad_norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
            run.update += 1
            guard.note(run.update, terms, grad_norm)
            lr_now = descent.param_groups[0]["lr"]
            descent.step()
            torch.clear_autocast_cache()  # in an autocast around all of this, the weights as they were
            watch.after_update()
            bar.update()

            to_log = run.update % log_every == 0 or run.update == n_updates
            to_save = run.update % checkpoint_every == 0 or run.update == n_updates
            if to_log or to_save or device.type == "cpu":  # elsewhere, reading a number means waiting for the device
                row = guard.row()
            if to_log:
                score, best = watch.judge(model)
                row |= {"lr": lr_now, **score}
                run.rows.append(row)
                if best:
                    run.save("best.pt")
                bar.set_postfix({k: f"{v:.3f}" for k, v in row.items() if k in ("total", monitor)}, refresh=False)
                if log:
                    log(row)
            if to_save or watch.stopped:
                run.save()
    return run.rows


def cool_down(n_updates: int) -> Callable[[torch.optim.Optimizer], LRScheduler]:
    """A schedule for so many updates: the learning rate stays for half of them, and then falls in a line to 0."""
    return partial(LambdaLR, lr_lambda=lambda update: min(1.0, 2 - 2 * update / n_updates))


class _Guard:
    """Keeps weights and buffers as they were before the first update that is not finite, and waits to be asked."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.numbers, self.model, self.before = LastNumbers(), model, dict[str, Tensor]()
        self.broken = torch.zeros((), device=next(model.parameters()).device)  # 1 from that update on
        vars(optimizer).update(grad_scale=None, found_inf=self.broken)  # as a `GradScaler` has it skip an update

    def before_update(self) -> None:
        """Before the forward pass, which changes buffers such as running means."""
        self.before = {name: buffer.clone() for name, buffer in self.model.named_buffers()}

    def note(self, update: int, terms: Any, grad_norm: Tensor) -> None:
        """Between the gradient and the optimizer's step."""
        self.numbers.note(update, terms, grad_norm=grad_norm)
        self.broken.copy_(~self.numbers.finite)
        put_back(dict(self.model.named_buffers()), self.before, self.numbers.finite)

    def row(self) -> Row:
        """The numbers of the last update; an error that names update and term if there was one that was not finite."""
        (row,) = self.numbers.rows()
        if bad := not_finite(row):
            shown = ", ".join(f"{name} = {value:.6g}" for name, value in row.items() if name != "update")
            told = f"{', '.join(bad)} not finite ({shown}); the weights were not updated"
            raise NonFiniteError(row["update"], told)
        return row
