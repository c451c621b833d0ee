"""The exercises' checks pass on the solutions, and fail on the stubs and on plausible wrong answers."""

import importlib.util
import math
from pathlib import Path

import nbformat
import pytest
import torch
from torch import Tensor, nn

from ponder_utils import notebook

ROOT = Path(__file__).resolve().parents[1] / "notebooks"
CASES = [(path, path.stem.partition("_")[2]) for path in sorted(ROOT.glob("*.ipynb"))]


def exercises(path):
    """The stubs and checks of a notebook, by name."""
    names = {"torch": torch, "Tensor": Tensor, "nn": nn, "notebook": notebook}
    names["cross_entropy"] = nn.BCEWithLogitsLoss(reduction="none")
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for i, cell in enumerate(cells):
        if "check" in cell.metadata.get("tags", []):
            exec(cells[i - 1].source, names)
            exec(cell.source, names)
    return names


def solutions(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "solutions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("path", "name"), CASES, ids=[name for _, name in CASES])
def test_checks_fail_on_the_stubs_and_pass_on_the_solutions(path, name):
    names = exercises(path)
    checks = [check for check in names if check.startswith("check_")]
    assert checks
    for check in checks:
        task = check.removeprefix("check_")
        assert not notebook.attempt(names[check], names[task])
        assert notebook.attempt(names[check], getattr(solutions(name), task))


def bce(y_hat, y):
    return nn.functional.binary_cross_entropy_with_logits(y_hat, y.expand_as(y_hat), reduction="none")


WRONG = {
    "steps_needed": [
        lambda lambda_p, eps: round(1 / lambda_p),
        lambda lambda_p, eps: math.floor(math.log(eps) / math.log1p(-lambda_p)),  # one too few
        lambda lambda_p, eps: math.ceil(math.log(eps) / math.log1p(-lambda_p)) + 1,  # one too many
        lambda lambda_p, eps: math.ceil(math.log(1 - eps) / math.log1p(-lambda_p)),  # eps mistaken for 1 - eps
    ],
    "reconstruction": [
        lambda y_hat, log_p, y: (log_p.exp() * bce(y_hat, y).mean()).sum(0).mean(),  # the mean too early
        lambda y_hat, log_p, y: (log_p.exp() * bce(y_hat, y)).mean(),  # a mean over steps
        lambda y_hat, log_p, y: (log_p.exp() * bce(y_hat, y)).sum(),  # no mean
        lambda y_hat, log_p, y: (log_p * bce(y_hat, y)).sum(0).mean(),  # log p for p
    ],
    "quantile_step": [
        lambda log_p, q: log_p.argmax(0) + 1,  # the most probable step
        lambda log_p, q: (log_p.exp().cumsum(0) < q).sum(0),  # counted from 0
        lambda log_p, q: (log_p.exp().cumsum(0) < q).sum(0) + 1,  # a CDF of 0.9999999
        lambda log_p, q: (log_p.exp() < q).sum(0).clamp(max=len(log_p) - 1) + 1,  # p_n for the CDF
    ],
}


@pytest.mark.parametrize(("task", "wrong"), [(task, wrong) for task, answers in WRONG.items() for wrong in answers])
def test_checks_fail_on_plausible_wrong_answers(task, wrong):
    names = exercises(ROOT / "03_parity.ipynb")
    assert not notebook.attempt(names[f"check_{task}"], wrong)


def test_attempt_says_what_is_wrong(capsys):
    def check(answer):
        if answer != 3:
            raise AssertionError(f"expected 3, got {answer}")

    assert notebook.attempt(check, 3)
    assert not notebook.attempt(check, 4)
    assert capsys.readouterr().out == "Right.\nNot yet: expected 3, got 4\n"
