"""What the checkpoints of a training keep, and what is compared before it goes on from one."""

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ponder_utils._check import check_type
from ponder_utils.checkpoints import diff, load_checkpoint, save_checkpoint, shapes

Row = dict[str, Any]


class RandomNumbers:
    """Those that a training draws: of the generator of its batches, Python's, NumPy's, and torch's."""

    def __init__(self, generator: torch.Generator) -> None:
        self.generator, device = generator, generator.device
        self.on_device = None if device.type == "cpu" else torch.get_device_module(device)
        self.which = () if device.type == "mps" else (device,)  # there is one alone

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        state = {"generator": self.generator.get_state(), "python": random.getstate(), "torch": torch.get_rng_state()}
        of_numpy: Any = np.random.get_state()  # noqa: NPY002
        state["numpy"] = (of_numpy[0], of_numpy[1].tolist(), *of_numpy[2:])
        if self.on_device is not None:
            state["device"] = self.on_device.get_rng_state(*self.which)
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """From a checkpoint."""
        self.generator.set_state(state["generator"])
        random.setstate(state["python"])
        torch.set_rng_state(state["torch"])
        np.random.set_state(state["numpy"])  # noqa: NPY002
        if self.on_device is not None:
            self.on_device.set_rng_state(state["device"], *self.which)


class Run:
    """A training: how far it has come, and its checkpoints, if it has a folder.

    Args:
        folder: is made if it is missing.
        parts: what may have a state, by name, the `model` among them.
        config, call: plain values, which must be as they were where a run goes on; TypeError if config holds others.
    """

    def __init__(self, folder: Path | str | None, parts: Row, config: Row | None, call: Row) -> None:
        self.update, self.rows = 0, list[Row]()
        self.best, self.since_best = -math.inf, 0  # what is monitored, the higher the better; evaluations since then
        self.parts = {name: part for name, part in parts.items() if hasattr(part, "load_state_dict")}
        check_type("config", config, dict | None, "a dict, or None")
        settings = {f"config[{name!r}]": value for name, value in (config or {}).items()} | call
        try:
            self.settings = {name: json.dumps(value, sort_keys=True) for name, value in settings.items()}
        except (TypeError, ValueError) as error:
            raise TypeError(f"config must hold numbers, strings, lists and dicts, as JSON does; {error}") from None
        self.settings |= {f"class of {name}": type(part).__name__ for name, part in self.parts.items()}
        self.settings |= {f"shape of {name}": shape for name, shape in shapes(parts["model"].state_dict()).items()}
        self.folder = None if folder is None else Path(folder).resolve()
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def is_best(self, value: float) -> bool:
        """Count an evaluation, and return whether it is the best so far."""
        self.since_best += 1
        if value > self.best:
            self.best, self.since_best = value, 0
        return self.since_best == 0

    def save(self, name: str) -> None:
        """Write a checkpoint."""
        if self.folder is not None:
            run = {name: getattr(self, name) for name in ("update", "rows", "best", "since_best", "settings")}
            states = {name: part.state_dict() for name, part in self.parts.items()}
            save_checkpoint(self.folder / name, {"run": run, **states})

    def resume(self, n_updates: int) -> None:
        """Go on from `last.pt`, if there is one; ValueError if that is of another run, or has gone further."""
        if self.folder is None or not (last := self.folder / "last.pt").exists():
            return
        state = load_checkpoint(last)
        run = state.get("run", {"settings": {}})
        if different := diff(self.settings, run["settings"]):
            raise ValueError(f"checkpoint_dir must be a run's own folder; {last} is of another run: {different}")
        if n_updates < run["update"]:
            raise ValueError(f"n_updates must be at least {run['update']}, those of {last}; got {n_updates}")
        self.update, self.rows = run["update"], run["rows"]
        self.best, self.since_best = run["best"], run["since_best"]
        for name, part in self.parts.items():
            part.load_state_dict(state[name])
