"""A lesson's exercises: the stubs and checks of its notebook, its solutions, and other answers."""

import importlib.util
from pathlib import Path
from statistics import mean

import pytest
import torch
from running import NOTEBOOKS
from torch import Tensor, nn

import ponder_utils
from ponder_course.common import notebook
from ponder_course.light_cone.lesson import LocalStep
from ponder_utils import rules

ROOT = Path(__file__).resolve().parents[1] / "notebooks"
NAMES = {"torch": torch, "Tensor": Tensor, "nn": nn, "notebook": notebook, "mean": mean, "pu": ponder_utils}
NAMES |= {"LocalStep": LocalStep, "PonderNet": ponder_utils.PonderNet, "PonderOutput": ponder_utils.PonderOutput}
NAMES |= {"rules": rules, "cross_entropy": nn.BCEWithLogitsLoss(reduction="none")}


def solutions(stem):
    """The module with the solutions of notebooks/stem.ipynb."""
    name = stem.partition("_")[2]
    spec = importlib.util.spec_from_file_location(name, ROOT / "solutions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names_of(stem, given):
    """The stubs and checks of a notebook, by name."""
    checks = importlib.import_module(f"ponder_course.{stem.partition('_')[2]}.checks")
    names = NAMES | given | {"checks": checks}
    cells = [cell for cell in NOTEBOOKS[stem] if cell.cell_type == "code"]
    for i, cell in enumerate(cells):
        if "check" in cell.metadata.get("tags", []):
            exec(cells[i - 1].source, names)
            exec(cell.source, names)
    named = {name: check for name, check in vars(checks).items() if name.startswith("check_")}
    named.pop("check_on", None)  # which makes checks
    return names | named


def test_of_answers(stem, wrong, right, **given):
    """The test that a lesson's checks refuse stubs and wrong answers, and accept solutions and right answers.

    `wrong` and `right` are {task: answers}; `given` are names that the checks find beside those that all find.
    """
    names = names_of(stem, given)
    tasks = [name.removeprefix("check_") for name in names if name.startswith("check_")]
    assert {*tasks} == wrong.keys() >= right.keys()
    cases = [(task, getattr(solutions(stem), task), True) for task in tasks]
    cases += [(task, names[task], False) for task in tasks]
    cases += [(task, answer, False) for task in tasks for answer in wrong[task]]
    cases += [(task, answer, True) for task in tasks for answer in right.get(task, [])]

    @pytest.mark.parametrize(("task", "answer", "is_right"), cases)
    def test(task, answer, is_right):
        assert notebook.attempt(names[f"check_{task}"], answer) == is_right

    return test


test_of_answers.__test__ = False
