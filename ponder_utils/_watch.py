"""What a training watches, of one network or of many: are the numbers finite, does the score still grow?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from ponder_utils._check import check_int, check_real

Row = dict[str, float]


def check_options(
    n_updates: int,
    log_every: int,
    checkpoint_every: int,
    clip: float,
    patience: int | None,
    evaluate: Callable[[nn.Module], Row] | None,
) -> None:
    """Refuse what a training loop cannot work with."""
    for name, value in {"n_updates": n_updates, "log_every": log_every, "checkpoint_every": checkpoint_every}.items():
        check_int(name, value, 1)
    check_real("clip", clip, 0, open_low=True)
    if patience is not None and (check_int("patience", patience, 1) and evaluate is None):
        raise ValueError("patience needs evaluate; got evaluate=None")


class LastNumbers:
    """The numbers of the last update, of one network or of each of K; where one is not finite, of that update for good.

    They are kept on the device, so that nothing waits for it until somebody reads them.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.seen: Tensor | None = None  # [names], or [names, K]
        self.finite: Tensor | None = None  # a scalar, or [K]: no number was inf or nan yet

    def see(self, update: int, terms: Any, **others: Tensor) -> None:
        """Note the terms of the loss, a named tuple, and other numbers: scalars, or [K] each."""
        self.names = ("update", *terms._fields, *others)
        values = [value.detach().double() for value in (*terms, *others.values())]
        now = torch.stack([torch.full_like(values[0], update), *values])
        self._hold(now if self.seen is None else torch.where(self.finite, now, self.seen))

    def keep(self, rows: list[int]) -> None:
        """Go on with these networks."""
        self._hold(self.seen[:, rows])

    def state(self) -> list[Any]:
        return [list(self.names), self.seen]

    def load(self, state: list[Any]) -> None:
        self.names, seen = state
        self._hold(seen)

    def _hold(self, seen: Tensor) -> None:
        self.seen, self.finite = seen, seen.isfinite().all(0)

    def rows(self) -> list[Row]:
        """What was noted last, for each network."""
        rows = [dict(zip(self.names, seen, strict=True)) for seen in self.seen.reshape(len(self.names), -1).T.tolist()]
        return [row | {"update": int(row["update"])} for row in rows]


def not_finite(row: Row) -> list[str]:
    """The names of the numbers that are inf or nan."""
    return [name for name, value in row.items() if not math.isfinite(value)]


class EarlyStop:
    """Judges evaluations by the number `monitor`: is this one the best so far, and has it been long since there was?"""

    def __init__(self, monitor: str, patience: int | None) -> None:
        self.monitor, self.patience = monitor, patience
        self.best, self.since_best = -math.inf, 0

    def judge(self, row: Row) -> bool:
        """Is it the best so far?"""
        if self.monitor not in row:
            raise ValueError(
                f"monitor must be a number that evaluate returns, one of {sorted(row)}; got {self.monitor!r}"
            )
        better = row[self.monitor] > self.best
        self.best, self.since_best = (row[self.monitor], 0) if better else (self.best, self.since_best + 1)
        return better

    @property
    def stopped(self) -> bool:
        return self.patience is not None and self.since_best >= self.patience

    def state(self) -> list[float]:
        return [self.best, self.since_best]

    def load(self, state: list[float]) -> None:
        self.best, self.since_best = state


def evaluated(evaluate: Callable[[nn.Module], Row], model: nn.Module) -> Row:
    """What it returns for the model, which goes back to training if it was asked to evaluate."""
    row = evaluate(model)
    model.train()
    return row


def after_update(schedule: LRScheduler | None) -> None:
    """Step the schedule, unless it waits for an evaluation."""
    if schedule is not None and not isinstance(schedule, ReduceLROnPlateau):
        schedule.step()


def after_evaluation(schedule: LRScheduler | None, score: float) -> None:
    """Step the schedule, if it waits for this."""
    if isinstance(schedule, ReduceLROnPlateau):
        schedule.step(score)
