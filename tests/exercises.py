"""A lesson's exercises: the stubs and checks of its notebook, and its solutions."""

import importlib.util
from pathlib import Path
from statistics import mean

import nbformat
import pytest
import torch
from torch import Tensor, nn

import ponder_utils
from ponder_course.common import notebook
from ponder_utils import rules

ROOT = Path(__file__).resolve().parents[1] / "notebooks"
NAMES = {"torch": torch, "Tensor": Tensor, "nn": nn, "notebook": notebook, "mean": mean, "pu": ponder_utils}
NAMES |= {name: getattr(ponder_utils, name) for name in ("LocalStep", "PonderNet", "PonderOutput")}
NAMES |= {"rules": rules, "cross_entropy": nn.BCEWithLogitsLoss(reduction="none")}


def solutions(stem):
    """The module with the solutions of notebooks/stem.ipynb."""
    name = stem.partition("_")[2]
    spec = importlib.util.spec_from_file_location(name, ROOT / "solutions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Exercises:
    """The exercises of notebooks/stem.ipynb; `given` are names that its checks find beside those that all find."""

    def __init__(self, stem, **given):
        self.stem, self.given = stem, given

    def names(self):
        """The stubs and checks, by name."""
        checks = f"ponder_course.{self.stem.partition('_')[2]}.checks"
        names = NAMES | self.given | {"checks": importlib.import_module(checks)}
        cells = nbformat.read(ROOT / f"{self.stem}.ipynb", as_version=4).cells
        cells = [cell for cell in cells if cell.cell_type == "code"]
        for i, cell in enumerate(cells):
            if "check" in cell.metadata.get("tags", []):
                exec(cells[i - 1].source, names)
                exec(cell.source, names)
        named = {name: check for name, check in vars(names["checks"]).items() if name.startswith("check_")}
        named.pop("check_on", None)  # which makes checks
        return names | named

    def accepts(self, task, answer):
        return notebook.attempt(self.names()[f"check_{task}"], answer)

    def check_stubs_and_solutions(self):
        names = self.names()
        checks = [check for check in names if check.startswith("check_")]
        assert checks
        for check in checks:
            task = check.removeprefix("check_")
            assert not notebook.attempt(names[check], names[task]), task
            assert notebook.attempt(names[check], getattr(solutions(self.stem), task)), task


def each(answers):
    """A case for each task and each of its answers."""
    cases = [(task, answer) for task, some in answers.items() for answer in some]
    return pytest.mark.parametrize(("task", "answer"), cases)
