"""What a training of one network and one of many have in common: what it watches, and what it must remember."""

import contextlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from ponder_utils._check import check_int, check_real
from ponder_utils.evaluation import modes_kept
from ponder_utils.training.checkpoints import load_checkpoint, save_checkpoint
from ponder_utils.training.identity import Identity, differences

Row = dict[str, Any]


def checked_clip(
    n_updates: int, log_every: int, checkpoint_every: int, clip: Any, patience: Any, evaluate: Any
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


class Run:
    """A training that can be cut off: how far it is, its rows, its parts and its random numbers, kept in a folder.

    Within `with`, no other process can train in that folder, and a run that was cut off there goes on. Parts that have
    a `state_dict` and a `load_state_dict` are loaded in their order; the others, as most of what draws batches, have
    nothing to keep. Without a folder nothing is kept.
    """

    def __init__(
        self, folder: Any, identity: Callable[[], Identity], generators: list[torch.Generator], parts: dict[str, Any]
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.parts = {name: its for name, its in parts.items() if hasattr(its, "load_state_dict")}
        self.generators, self.update, self.rows = generators, 0, list[Row]()
        self.identity = {} if self.folder is None else identity()

    def __enter__(self) -> "Run":
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.folder / "in_use.lock")
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                raise ValueError(f"checkpoint_dir must be a run's own folder; {self.folder} is in use") from None
            with contextlib.ExitStack() as if_it_fails:
                if_it_fails.callback(self._lock.release)
                if (self.folder / "last.pt").exists():
                    self._resume(self.folder / "last.pt")
                if_it_fails.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self._lock.release()

    def save(self, name: str = "last.pt") -> None:
        """Write a checkpoint, if there is a folder."""
        if self.folder is not None:
            state: Row = {part: its.state_dict() for part, its in self.parts.items()}
            state |= {"identity": self.identity, "update": self.update, "rows": self.rows}
            state["random"] = [generator.get_state() for generator in self.generators]
            state["cpu"], device = torch.get_rng_state(), self.generators[0].device
            if device.type == "cuda":
                state["cuda"] = torch.cuda.get_rng_state(device)
            save_checkpoint(self.folder / name, state)

    def _resume(self, path: Path) -> None:
        state = load_checkpoint(path)
        if told := differences(self.identity, state["identity"]):
            advice = "Give each run a folder of its own, or delete the checkpoint."
            raise ValueError(f"checkpoint_dir holds {path}, of another run: {told}. {advice}")
        for part, its in self.parts.items():
            its.load_state_dict(state[part])
        for generator, its in zip(self.generators, state["random"], strict=True):
            generator.set_state(its)
        torch.set_rng_state(state["cpu"])
        if "cuda" in state:
            torch.cuda.set_rng_state(state["cuda"], self.generators[0].device)
        self.update, self.rows = state["update"], state["rows"]


class LastNumbers:
    """The numbers of the last update, of one network or of each of K; where one is not finite, of that update for good.

    They are kept on the device, so that nothing waits for it until somebody reads them.
    """

    names: list[str]  # update, the terms of the loss, ...
    values: Any = None  # [names], or [names, K], float64
    finite: Tensor  # a scalar, or [K]: no number was inf or nan yet

    def note(self, update: int, terms: Any, **others: Tensor) -> None:
        """Note the terms of the loss, a named tuple, and other numbers: scalars, or [K] each."""
        self.names = ["update", *terms._fields, *others]
        values = [value.detach().double() for value in (*terms, *others.values())]
        now = torch.stack([torch.full_like(values[0], update), *values])
        self.take(now if self.values is None else torch.where(self.finite, now, self.values))

    def take(self, values: Tensor) -> None:
        """Go on with these."""
        self.values, self.finite = values, values.isfinite().all(0)

    def rows(self) -> list[Row]:
        """What was noted last, for each network."""
        columns = self.values.reshape(len(self.names), -1).T.tolist()
        return [dict(zip(self.names, column, strict=True)) | {"update": int(column[0])} for column in columns]


def not_finite(row: Row) -> list[str]:
    """The names of the numbers that are inf or nan."""
    return [name for name, value in row.items() if not math.isfinite(value)]


def put_back(buffers: dict[str, Tensor], before: dict[str, Tensor], finite: Tensor) -> None:
    """Make buffers what they were before an update that was not finite: those of one network, or of K, [K, ...]."""
    for name, kept in before.items():
        if (buffer := buffers[name]).shape == kept.shape:
            buffer.copy_(torch.where(per_network(finite, buffer) if finite.ndim else finite, buffer, kept))


def per_network(value: Tensor, like: Tensor) -> Tensor:
    """[K] -> [K, 1, ...], to go with tensors of K networks."""
    return value.view(-1, *[1] * (like.ndim - 1))


class Watch:
    """What `evaluate` says of a network in training: is it the best so far, has there been none for long?"""

    def __init__(self, evaluate: Any, monitor: str, patience: int | None, schedule: Any, optimizer: Any) -> None:
        self.evaluate, self.monitor, self.patience = evaluate, monitor, patience
        self.best, self.since_best = -math.inf, 0
        self.schedule: LRScheduler | None = schedule(optimizer) if schedule else None
        self.waits = isinstance(self.schedule, ReduceLROnPlateau)
        if self.waits and evaluate is None:
            raise ValueError("schedule must not be a ReduceLROnPlateau without evaluate, for which it waits")

    def after_update(self) -> None:
        """Step the schedule, unless it waits for an evaluation."""
        if self.schedule is not None and not self.waits:
            self.schedule.step()

    def judge(self, model: nn.Module) -> tuple[Row, bool]:
        """The numbers of `evaluate`, which may leave the model in any mode, and whether they are the best so far."""
        if self.evaluate is None:
            return {}, False
        with modes_kept(model):
            row = self.evaluate(model)
        if self.monitor not in row:
            allowed = f"a number that evaluate returns, one of {sorted(row)}"
            raise ValueError(f"monitor must be {allowed}; got {self.monitor!r}")
        better = row[self.monitor] > self.best
        self.best, self.since_best = (row[self.monitor], 0) if better else (self.best, self.since_best + 1)
        if self.schedule is not None and self.waits:
            self.schedule.step(row[self.monitor])
        return row, better

    @property
    def stopped(self) -> bool:
        """Has it been `patience` evaluations?"""
        return self.patience is not None and self.since_best >= self.patience

    def state_dict(self) -> Row:
        """For a checkpoint."""
        schedule = self.schedule and self.schedule.state_dict()
        return {"best": self.best, "since_best": self.since_best, "schedule": schedule}

    def load_state_dict(self, state: Row) -> None:
        """From a checkpoint."""
        self.best, self.since_best = state["best"], state["since_best"]
        if self.schedule is not None:
            self.schedule.load_state_dict(state["schedule"])
