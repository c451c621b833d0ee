"""What a training of one network and one of many have in common: what it watches, and what it must remember."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import torch
from filelock import FileLock, Timeout
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from ponder_utils._check import check_int, check_real
from ponder_utils.checkpoints import load_checkpoint, save_checkpoint
from ponder_utils.evaluation import modes_kept
from ponder_utils.identity import Identity, differences

Row = dict[str, Any]


def check_options(
    n_updates: int,
    log_every: int,
    checkpoint_every: int,
    clip: float | None,
    patience: int | None,
    evaluate: Callable[[nn.Module], Row] | None,
) -> float:
    """Refuse what a training loop cannot work with; return the largest norm of the gradient, inf for no limit."""
    for name, value in {"n_updates": n_updates, "log_every": log_every, "checkpoint_every": checkpoint_every}.items():
        check_int(name, value, 1)
    if patience is not None and (check_int("patience", patience, 1) and evaluate is None):
        raise ValueError("patience needs evaluate; got evaluate=None")
    return math.inf if clip is None or clip == math.inf else check_real("clip", clip, 0, open_low=True)


def learning(model: nn.Module) -> nn.Module:
    """The model in training mode. What is evaluating within a model that is training, a frozen encoder, stays so."""
    return model if model.training else model.train()


class Stateful(Protocol):
    """What a checkpoint can keep a part of a run by."""

    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


class Run:
    """A training that can be cut off: how far it is, its rows, and its parts, kept in a folder that is its own.

    Within `with`, no other process can train in that folder, and a run that was cut off there goes on.
    """

    def __init__(
        self, folder: Path | str | None, parts: Mapping[str, Stateful], identity: Callable[[], Identity]
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.parts, self.update, self.rows = parts, 0, list[Row]()
        self.identity = {} if self.folder is None else identity()

    def __enter__(self) -> Run:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.folder / "in_use.lock")
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                raise ValueError(f"checkpoint_dir must be a run's own folder; {self.folder} is in use") from None
            try:
                self._resume(self.folder / "last.pt")
            except BaseException:
                self._lock.release()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self._lock.release()

    def save(self, name: str = "last.pt") -> None:
        if self.folder is not None:
            state = {part: its.state_dict() for part, its in self.parts.items()}
            run = {"identity": self.identity, "update": self.update, "rows": self.rows}
            save_checkpoint(self.folder / name, state | run)

    def _resume(self, path: Path) -> None:
        if not path.exists():
            return
        state = load_checkpoint(path)
        if told := differences(self.identity, state["identity"]):
            raise ValueError(
                f"checkpoint_dir holds {path}, of another run: {told}. Give each run a folder of its own, or delete "
                "the checkpoint."
            )
        for part, its in self.parts.items():
            its.load_state_dict(state[part])
        self.update, self.rows = state["update"], state["rows"]


class RandomNumbers:
    """Every generator that a training draws from: torch's own, and those of its data."""

    def __init__(self, *of_data: torch.Generator) -> None:
        self.of_data, self.device = of_data, of_data[0].device

    def state_dict(self) -> dict[str, Any]:
        state = {"data": [generator.get_state() for generator in self.of_data], "cpu": torch.get_rng_state()}
        return state | ({"cuda": torch.cuda.get_rng_state(self.device)} if self.device.type == "cuda" else {})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for generator, state in zip(self.of_data, state_dict["data"], strict=True):
            generator.set_state(state)
        torch.set_rng_state(state_dict["cpu"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(state_dict["cuda"], self.device)


class LastNumbers:
    """The numbers of the last update, of one network or of each of K; where one is not finite, of that update for good.

    They are kept on the device, so that nothing waits for it until somebody reads them.
    """

    names: list[str]  # update, the terms of the loss, ...
    values: Tensor | None = None  # [names], or [names, K], float64
    finite: Tensor  # a scalar, or [K]: no number was inf or nan yet

    def note(self, update: int, terms: Any, **others: Tensor) -> None:
        """Note the terms of the loss, a named tuple, and other numbers: scalars, or [K] each."""
        self.names = ["update", *terms._fields, *others]
        values = [value.detach().double() for value in (*terms, *others.values())]
        now = torch.stack([torch.full_like(values[0], update), *values])
        self._set(now if self.values is None else torch.where(self.finite, now, self.values))

    def keep(self, rows: list[int]) -> None:
        """Go on with these networks."""
        if self.values is not None:
            self._set(self.values[:, rows])

    def _set(self, values: Tensor) -> None:
        self.values, self.finite = values, values.isfinite().all(0)

    def rows(self) -> list[Row]:
        """What was noted last, for each network."""
        assert self.values is not None
        rows = [dict(zip(self.names, row, strict=True)) for row in self.values.reshape(len(self.names), -1).T.tolist()]
        return [row | {"update": int(row["update"])} for row in rows]

    def state_dict(self) -> dict[str, Any]:
        return {"names": self.names, "values": self.values}

    def load_state_dict(self, state_dict: dict[str, Any], device: torch.device) -> None:
        self.names = state_dict["names"]
        self._set(state_dict["values"].to(device))


def where_finite(finite: Tensor, buffers: list[Tensor], before: list[Tensor]) -> None:
    """Put buffers back to what they were before an update that was not finite: those of one network, or of K."""
    for buffer, kept in zip(buffers, before, strict=True):
        buffer.copy_(torch.where(finite.view(-1, *[1] * (buffer.ndim - 1)) if finite.ndim else finite, buffer, kept))


def not_finite(row: Row) -> list[str]:
    """The names of the numbers that are inf or nan."""
    return [name for name, value in row.items() if not math.isfinite(value)]


class Watch:
    """What `evaluate` says of a network in training: is it the best so far, has there been none for long?"""

    def __init__(
        self,
        evaluate: Callable[[nn.Module], Row] | None,
        monitor: str,
        patience: int | None,
        schedule: LRScheduler | None,
    ) -> None:
        if isinstance(schedule, ReduceLROnPlateau) and evaluate is None:
            raise ValueError("schedule must not be a ReduceLROnPlateau without evaluate, for which it waits")
        self.evaluate, self.monitor, self.patience, self.schedule = evaluate, monitor, patience, schedule
        self.best, self.since_best = -math.inf, 0

    def after_update(self) -> None:
        """Step the schedule, unless it waits for an evaluation."""
        if self.schedule is not None and not isinstance(self.schedule, ReduceLROnPlateau):
            self.schedule.step()

    def judge(self, model: nn.Module) -> tuple[Row, bool]:
        """The numbers of `evaluate`, which may leave the model in any mode, and whether they are the best so far."""
        if self.evaluate is None:
            return {}, False
        with modes_kept(model):
            row = self.evaluate(model)
        if self.monitor not in row:
            raise ValueError(
                f"monitor must be a number that evaluate returns, one of {sorted(row)}; got {self.monitor!r}"
            )
        score = row[self.monitor]
        better = score > self.best
        self.best, self.since_best = (score, 0) if better else (self.best, self.since_best + 1)
        if isinstance(self.schedule, ReduceLROnPlateau):
            self.schedule.step(score)
        return row, better

    @property
    def stopped(self) -> bool:
        return self.patience is not None and self.since_best >= self.patience

    def state_dict(self) -> dict[str, Any]:
        schedule = None if self.schedule is None else self.schedule.state_dict()
        return {"best": self.best, "since_best": self.since_best, "schedule": schedule}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.best, self.since_best = state_dict["best"], state_dict["since_best"]
        if self.schedule is not None:
            self.schedule.load_state_dict(state_dict["schedule"])
