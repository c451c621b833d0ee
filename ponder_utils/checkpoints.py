"""Checkpoints of a training: what they keep, written whole or not at all, and loaded without executing code."""

import io
import json
import math
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ponder_utils._check import check_type

Row = dict[str, Any]


class DamagedFileError(ValueError):
    """A file is not what was written."""


class RandomNumbers:
    """Those that a training draws: of the generator of its batches, Python's, NumPy's, and torch's."""

    def __init__(self, generator: torch.Generator) -> None:
        self.generator, device = generator, generator.device
        self.modules: list[tuple[Any, tuple[Any, ...]]] = [(torch.random, ())]
        if device.type != "cpu":
            self.modules.append((torch.get_device_module(device), () if device.type == "mps" else (device,)))

    def state_dict(self) -> Row:
        """For a checkpoint."""
        of_numpy: Any = np.random.get_state()  # noqa: NPY002
        return {
            "generator": self.generator.get_state(),
            "python": random.getstate(),
            "numpy": (of_numpy[0], of_numpy[1].tolist(), *of_numpy[2:]),
            "torch": [module.get_rng_state(*which) for module, which in self.modules],
        }

    def load_state_dict(self, state: Row) -> None:
        """From a checkpoint."""
        self.generator.set_state(state["generator"])
        random.setstate(state["python"])
        np.random.set_state(state["numpy"])  # noqa: NPY002
        for (module, which), numbers in zip(self.modules, state["torch"], strict=True):
            module.set_rng_state(numbers, *which)


class Run:
    """How far a training has come, and its checkpoints, if it has a folder."""

    def __init__(self, folder: Path | str | None, parts: Row, also: Row | None, config: Row | None, call: Row) -> None:
        self.update, self.rows, self.settings = 0, list[Row](), dict[str, str]()
        self.best, self.since_best = -math.inf, 0  # what is monitored, the higher the better; rows since then
        self.folder = None if folder is None else Path(folder).resolve()
        self.parts = {name: part for name, part in parts.items() if hasattr(part, "load_state_dict")}
        self.parts |= {f"also[{name!r}]": part for name, part in (also or {}).items()}
        for name, part in self.parts.items():
            if not hasattr(part, "load_state_dict"):
                raise TypeError(f"{name} must have a state_dict and a load_state_dict, to be kept; got {part!r}")
        settings = {f"config[{name!r}]": value for name, value in (config or {}).items()} | call
        for name, value in settings.items():
            refuse = partial(check_type, name, kind=(), allowed="what JSON can hold: numbers, strings, lists and dicts")
            self.settings[name] = json.dumps(value, sort_keys=True, default=refuse)
        self.settings |= {f"class of {name}": type(part).__name__ for name, part in self.parts.items()}
        self.settings |= {f"shape of {name}": shape for name, shape in shapes(parts["model"].state_dict()).items()}
        groups = parts["optimizer"].param_groups
        self.settings["weights in groups of optimizer"] = str([sum(map(Tensor.numel, g["params"])) for g in groups])

    def save(self, name: str) -> None:
        """Write a checkpoint, if there is a folder; DamagedFileError if it could not be loaded again."""
        if self.folder is not None:
            state = {name: part.state_dict() for name, part in self.parts.items()}
            state["run"] = {name: getattr(self, name) for name in ("update", "rows", "best", "since_best", "settings")}
            file = io.BytesIO()  # torch.save itself would not say that a disk is full
            torch.save(state, file)
            with atomic_write(self.folder / name) as draft:
                draft.write_bytes(file.getbuffer())
                load_checkpoint(draft)

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
        for name, part in reversed(self.parts.items()):  # of the model, which cannot fail any more, last of all
            part.load_state_dict(state[name])


WRAPPERS = {"OptimizedModule": "_orig_mod", "DataParallel": "module", "DistributedDataParallel": "module"}


def load_checkpoint(path: Path) -> Row:
    """Read a dict that `torch.save` wrote, into the CPU's memory; DamagedFileError if the file is anything else."""
    with path.open("rb") as file:
        try:
            return check_type("file", torch.load(file, map_location="cpu", weights_only=True), dict)
        except Exception as why:  # whatever a reader of broken bytes comes upon
            wanted = "a dict of weights or a checkpoint: it is damaged, or holds more than tensors, numbers and strings"
            raise DamagedFileError(f"{path} must be {wanted}") from why


def load_weights(model: nn.Module, path: Path | str) -> None:
    """Give `model` the weights of a checkpoint of `train`, or of a file with a state_dict, also if one was wrapped.

    DamagedFileError if the file cannot be loaded; ValueError if names or shapes differ, before anything is written.
    """
    model, state = unwrapped(model), load_checkpoint(Path(path))
    given = state["model"] if isinstance(state.get("model"), dict) else state
    for wrapper in WRAPPERS.values():
        if all(name.startswith(f"{wrapper}.") for name in given):
            given = {name.removeprefix(f"{wrapper}."): weight for name, weight in given.items()}
    if different := diff(shapes(model.state_dict()), shapes(given)):
        raise ValueError(f"{path} holds other weights than model: {different}")
    model.load_state_dict(given)


def unwrapped(model: Any) -> Any:
    """Return the network within what `torch.compile`, `DataParallel` and the like make of it."""
    kind = type(model).__name__
    is_torchs = type(model).__module__.startswith("torch.")
    return unwrapped(getattr(model, WRAPPERS[kind])) if is_torchs and kind in WRAPPERS else model


def shapes(state: Row) -> dict[str, str]:
    """Return what each entry of a state_dict is, in words: the shape of a tensor, or else its type."""
    return {name: str([*getattr(value, "shape", [type(value).__name__])]) for name, value in state.items()}


def diff(here: Row, there: Row) -> str:
    """Return the first few entries that are not the same in both, in words; an empty text if all are."""
    pairs = {name: (here.get(name, "nothing"), there.get(name, "nothing")) for name in here | there}
    words = [f"{name}: {one} here, {other} there" for name, (one, other) in pairs.items() if one != other]
    return "; ".join(words[:5] + [f"and {len(words) - 5} more"] * (len(words) > 5))


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a draft, which a block that ends well moves to `path`. An OSError, as of a full disk, names `path`."""
    path = path.resolve()
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        with draft.open("r+b") as file:  # Windows syncs only what may be written
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        draft.unlink(missing_ok=True)
