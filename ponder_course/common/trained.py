"""Networks of a lesson: trained here, or stored in the repository, so that the lesson runs through without training."""

import json
from collections.abc import Callable, Mapping
from inspect import getclosurevars, isfunction
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import nn

from ponder_course.common.runs import in_parallel, rounded
from ponder_course.common.store import Row, at_hand, plain
from ponder_utils.checkpoints import DamagedFileError, atomic_write, diff, shapes

NETWORKS = "../results"  # where a lesson's networks are stored, from the folder of the lessons
TRAIN_INSTEAD = 'With TRAIN = "all" it is trained here.'


def set_up(values: Mapping[str, Any], lesson: str, **made_with: Any) -> "TrainOrLoad":
    """Return the `TrainOrLoad` of a lesson.

    values: the lesson's parameters, `globals()` in a notebook. With TRAIN = "one" and a BUDGET other than "class", of
    which nothing is stored, all are trained. made_with is as there; BUDGET is added.
    """
    train, budget = values["TRAIN"], values["BUDGET"]
    train = "all" if train == "one" and budget != "class" else train
    return TrainOrLoad(train, f"{NETWORKS}/{lesson}", values.get("WORKERS", 1), BUDGET=budget, **made_with)


class TrainOrLoad:
    """What a lesson calls for its networks.

    Args:
        train: "one" trains the first network of the first call, and loads all others; "all" trains all, "none" loads
            all; "store" trains all and writes them, and then loads them.
        files: what the names of the files begin with, such as "../results/03_parity".
        workers: as for `in_parallel`.
        made_with: what the networks depend on besides the settings of a call, such as BUDGET="class".
    """

    def __init__(self, train: str, files: str, workers: int, **made_with: Any) -> None:
        self.train, self.files, self.workers, self.made_with = train, files, workers, made_with
        self.in_view = 1 if train == "one" else 0  # networks that are still to be trained in view

    def __call__(
        self,
        learn: Callable[..., Any],
        settings: list[Row],
        untrained: Callable[..., nn.Module],
        name: str = "networks",
    ) -> list[Any]:
        """Return learn(**setting) for every setting, in order, or what was stored of it.

        Args:
            learn: setting -> a network; or a network, and what JSON can hold, such as its log.
            settings: keyword arguments of the calls.
            untrained: setting -> a network of the same form, which stored weights are written into.
            name: of these networks, in the file's name and on the progress bar.

        What is loaded is in evaluation mode. FileNotFoundError if nothing is stored, ValueError if nothing with these
        settings, or a network of another form; DamagedFileError if the file cannot be read.
        """
        of_these = settings if self.train in ("all", "store") else settings[: self.in_view]
        self.in_view = 0
        trained = []
        if of_these:
            trained = in_parallel(learn, of_these, workers=min(self.workers, len(of_these)), name=name)
        if self.train == "all":
            return trained
        file = Path(f"{self.files}_{name}.safetensors")
        if self.train == "store":
            _write(file, trained, [self._made_with(setting) for setting in settings])
            trained = []
        loaded = self._load(at_hand(file), settings[len(trained) :], untrained)
        print(f"{name}: {len(loaded)} loaded from {file.name}")
        return trained + loaded

    def _made_with(self, setting: Row) -> dict[str, str]:
        return _described("", self.made_with | setting)

    def _load(self, path: Path, settings: list[Row], untrained: Callable[..., nn.Module]) -> list[Any]:
        """Return the stored networks with these settings, and what stands beside them."""
        weights, about = _read(path)
        loaded = []
        for setting in settings:
            wanted = self._made_with(setting)
            number = _nearest(wanted, about["made_with"])
            if different := diff(wanted, about["made_with"][number]):
                raise ValueError(f"TRAIN: no such network in {path}: {different}. {TRAIN_INSTEAD}")
            model, prefix = untrained(**setting).eval(), f"{number}."
            own = {key.removeprefix(prefix): value for key, value in weights.items() if key.startswith(prefix)}
            if different := diff(shapes(model.state_dict()), shapes(own)):
                raise ValueError(f"TRAIN: {path} holds a network of another form: {different}. {TRAIN_INSTEAD}")
            model.load_state_dict(own)
            beside = about["beside"][number]
            loaded.append(model if beside is None else (model, beside))
        return loaded


def _described(name: str, value: Any) -> dict[str, str]:
    """Return what is compared of a value: numbers, texts and classes, functions by name, objects by what made them."""
    if value is None or isinstance(value, bool | int | float | str | type):
        return {name: repr(value)}
    parts: Row = value if isinstance(value, dict) else {**getattr(value, "__dict__", {})}
    if isinstance(value, nn.Module):
        parts |= dict(value.named_children())
        del parts["training"]
    if isfunction(value):
        parts = {**getclosurevars(value).nonlocals, "defaults": value.__defaults__, "keywords": value.__kwdefaults__}
    classes = {name: getattr(value, "__name__", type(value).__name__)} if name else {}
    for part_name, part in parts.items():
        if not part_name.startswith("_"):
            classes |= _described(f"{name}.{part_name}".lstrip("."), part)
    return classes


def _nearest(wanted: dict[str, str], stored: list[dict[str, str]]) -> int:
    """Return the place of the stored one that differs the least."""
    differences = [len(wanted.items() ^ one.items()) for one in stored]
    return differences.index(min(differences))


def _write(path: Path, results: list[Any], made_with: list[dict[str, str]]) -> None:
    """Write networks as safetensors: weights, and JSON, `rounded`. ValueError if a weight is not finite."""
    tensors, beside = {}, []
    for number, result in enumerate(results):
        model, rest = result if isinstance(result, tuple) else (result, None)
        beside.append(rounded(plain(rest)))
        for key, value in model.state_dict().items():
            tensors[f"{number}.{key}"] = value.cpu().contiguous()
            if not value.isfinite().all():
                raise ValueError(f"networks must have finite weights to be stored; {key} of {path} has others")
    about = {"made_with": made_with, "beside": beside}
    with atomic_write(path) as draft:
        draft.write_bytes(save(tensors, {"trained": json.dumps(about)}))


def _read(path: Path) -> tuple[Row, Row]:
    """Return all weights of a file by number and name, and what stands beside them."""
    if not path.exists():
        raise FileNotFoundError(f"TRAIN: nothing is stored at {path}. {TRAIN_INSTEAD}")
    try:
        with safe_open(path, "pt") as opened:
            about = json.loads(opened.metadata()["trained"])
        return load_file(path), about
    except (SafetensorError, TypeError, KeyError, ValueError) as why:
        raise DamagedFileError(f"{path} is damaged, or holds no networks of a lesson: {why}. {TRAIN_INSTEAD}") from why
