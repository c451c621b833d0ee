"""One training loop, for every network of the course."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler
from tqdm import tqdm

from ponder_utils._check import check_int, check_real
from ponder_utils._watch import (
    EarlyStop,
    LastNumbers,
    Row,
    after_evaluation,
    after_update,
    check_options,
    evaluated,
    not_finite,
)
from ponder_utils.checkpoints import (
    check_same_run,
    load_checkpoint,
    rng_state,
    save_checkpoint,
    set_rng_state,
    told_of,
)


class NonFiniteError(FloatingPointError):
    """A term of the loss, or the gradient, is inf or nan at this `update`. The weights are those before it."""

    def __init__(self, update: int, message: str) -> None:
        super().__init__(update, message)
        self.update = update

    def __str__(self) -> str:
        return "update {}: {}".format(*self.args)


def train(
    model: nn.Module,
    loss_fn: Callable[[Any, Tensor], Any],
    draw_batch: Callable[[torch.Generator], tuple[Tensor, Tensor]],
    n_updates: int,
    *,
    lr: float,
    clip: float = 1.0,
    schedule: Callable[[torch.optim.Optimizer], LRScheduler] | None = None,
    seed: int = 0,
    evaluate: Callable[[nn.Module], Row] | None = None,
    monitor: str = "accuracy",
    patience: int | None = None,
    log: Callable[[Row], Any] | None = None,
    log_every: int = 100,
    checkpoint_dir: Path | str | None = None,
    checkpoint_every: int = 500,
    progress: bool = True,
) -> list[Row]:
    """Train with Adam and a clipped gradient, and return the logged rows.

    If `checkpoint_dir` holds the checkpoint of a run that was cut off, that run goes on from there, and ends as it
    would have ended: model, optimizer, schedule, early stopping and all of torch's random numbers are restored.

    For mixed precision, call it within `torch.autocast(device, torch.bfloat16)`. Weights, optimizer, halting
    distribution and loss stay float32.

    Args:
        model: trained in place, on the device of its parameters.
        loss_fn: (model(x), y) -> a named tuple of scalars with a field `total`, such as `PonderLoss`.
        draw_batch: generator -> (x, y), on the generator's device.
        n_updates: how many batches to learn from, at most.
        lr: Adam's learning rate.
        clip: largest norm of the gradient.
        schedule: optimizer -> learning rate schedule. It steps after every update; a `ReduceLROnPlateau` instead at
            every evaluation, on the monitored number.
        seed: of the generator that batches are drawn from.
        evaluate: model -> numbers to log; called at every logged update, the last one included.
        monitor: the number of `evaluate` that should grow: it decides which checkpoint is best, and `patience`.
        patience: stop after so many evaluations without a new best.
        log: called with every row: a list's `append`, or a function that hands it to a tracker.
        log_every, checkpoint_every: in updates.
        checkpoint_dir: where `last.pt` and `best.pt` are written; None for no checkpoints.
        progress: show a progress bar.

    Returns:
        A row every `log_every` updates: update, the terms of the loss, grad_norm (before clipping), lr, and what
        `evaluate` gave.

    Raises:
        NonFiniteError: at the first update whose loss or gradient is not finite, before it reaches the weights.
        ValueError, TypeError: if an argument is not as above, or a checkpoint is from a run with other settings.
    """
    check_options(n_updates, log_every, checkpoint_every, clip, patience, evaluate)
    lr, seed = check_real("lr", lr, 0, open_low=True), check_int("seed", seed, 0)

    device = next(model.parameters()).device
    generator = torch.Generator(device).manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)
    scheduler = schedule(optimizer) if schedule else None
    settings = {"lr": lr, "clip": float(clip), "seed": seed, **told_of(loss_fn, scheduler)}
    run = _Run(model, optimizer, scheduler, generator, EarlyStop(monitor, patience), settings, checkpoint_dir)
    guard = _Guard(optimizer, device)

    model.train()
    bar = tqdm(total=n_updates, initial=run.update, disable=not progress, file=sys.stdout, mininterval=0.5)
    with bar:
        while run.update < n_updates and not run.early_stop.stopped:
            x, y = draw_batch(generator)
            terms = loss_fn(model(x), y)
            optimizer.zero_grad()
            terms.total.backward()
            grad_norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
            run.update += 1
            guard.see(run.update, terms, grad_norm)
            lr_now = optimizer.param_groups[0]["lr"]
            optimizer.step()
            torch.clear_autocast_cache()  # in an autocast around all of this, the weights as they were
            after_update(scheduler)
            bar.update()

            to_log = run.update % log_every == 0 or run.update == n_updates
            to_save = run.update % checkpoint_every == 0 or run.update == n_updates
            if to_log or to_save or device.type == "cpu":  # elsewhere, reading a number means waiting for the device
                row = guard.row()
            if to_log:
                row |= {"lr": lr_now}
                if evaluate:
                    row |= evaluated(evaluate, model)
                    run.judge(row)
                run.rows.append(row)
                bar.set_postfix({k: f"{v:.3f}" for k, v in row.items() if k in ("total", monitor)}, refresh=False)
                if log:
                    log(row)
            if to_save or run.early_stop.stopped:
                run.save("last.pt")
    return run.rows


class _Guard:
    """Keeps the weights that were there before the first update that is not finite, and waits to be asked about it."""

    def __init__(self, optimizer: torch.optim.Optimizer, device: torch.device) -> None:
        self.numbers = LastNumbers()
        self.broken = torch.zeros((), device=device)  # 1 from that update on
        optimizer.grad_scale, optimizer.found_inf = None, self.broken  # as a `GradScaler` has it skip an update

    def see(self, update: int, terms: Any, grad_norm: Tensor) -> None:
        """Between the gradient and the optimizer's step."""
        self.numbers.see(update, terms, grad_norm=grad_norm)
        self.broken.copy_(~self.numbers.finite)

    def row(self) -> Row:
        """The numbers of the last update; an error that names update and term if there was one that was not finite."""
        (row,) = self.numbers.rows()
        if bad := not_finite(row):
            shown = ", ".join(f"{name} = {value:.6g}" for name, value in row.items() if name != "update")
            message = f"{', '.join(bad)} not finite ({shown}); the weights were not updated"
            raise NonFiniteError(row["update"], message)
        return row


class _Run:
    """What a training run must remember to go on after it was cut off."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        scheduler: LRScheduler | None,
        generator: torch.Generator,
        early_stop: EarlyStop,
        settings: Row,
        checkpoint_dir: Path | str | None,
    ) -> None:
        self.parts = {"model": model, "optimizer": optimizer} | ({"scheduler": scheduler} if scheduler else {})
        self.generator, self.early_stop, self.settings = generator, early_stop, settings
        self.folder = None if checkpoint_dir is None else Path(checkpoint_dir)
        self.update, self.rows = 0, []
        if self.folder is not None and (self.folder / "last.pt").exists():
            self._resume(self.folder / "last.pt")

    def judge(self, row: Row) -> None:
        if self.early_stop.judge(row):
            self.save("best.pt")
        after_evaluation(self.parts.get("scheduler"), row[self.early_stop.monitor])

    def save(self, name: str) -> None:
        if self.folder is None:
            return
        state = {part: module.state_dict() for part, module in self.parts.items()}
        state["rng"] = rng_state(self.generator.device, self.generator)
        state["settings"] = self.settings
        state["run"] = {"update": self.update, "rows": self.rows, "early_stop": self.early_stop.state()}
        save_checkpoint(self.folder / name, state)

    def _resume(self, path: Path) -> None:
        state = load_checkpoint(path, self.generator.device)
        check_same_run(path, state["settings"], self.settings)
        for part, module in self.parts.items():
            module.load_state_dict(state[part])
        set_rng_state(self.generator.device, self.generator, state["rng"])
        self.update, self.rows = state["run"]["update"], state["run"]["rows"]
        self.early_stop.load(state["run"]["early_stop"])
