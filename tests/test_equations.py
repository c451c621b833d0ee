"""Every equation of the notebooks stands beside code, and an assertion notices if a sign in that code is wrong."""

import contextlib
import io
import re
from pathlib import Path

import IPython.display
import nbformat
import pytest
import torch

from ponder_utils import plots, widgets

ROOT = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = {path.stem: nbformat.read(path, as_version=4).cells for path in sorted(ROOT.glob("*.ipynb"))}
CHECKS = re.compile(r"(?: *assert |.*assert_close\().*  # ((?:\(\d+\)(?:, )?)+)$")  # a line that asserts equations
LABELS = re.compile(r"# ((?:\(\d+\)(?:, )?)+)$", re.M)  # any line that ends like one

# (notebook, equation) -> faults (old, new) in the code between the equation and its first assertion
FAULTS: dict[tuple[str, int], list[tuple[str, str]]] = {
    ("03_parity", 1): [("x == 1", "x == -1"), ("remainder(2)", "remainder(3)")],
    ("03_parity", 2): [("*= 1 - lambda_n", "*= 1 + lambda_n"), ("still_thinking * lambda_n", "lambda_n")],
    ("03_parity", 3): [
        ("logsigmoid(-a)", "logsigmoid(a)"),
        ("= nn.functional.logsigmoid(a)", "= nn.functional.logsigmoid(-a)"),
        ("log_lambda + log_survival", "log_lambda - log_survival"),
        ("torch.zeros_like(a[:1])])  # the last", "log_lambda[-1:]])  # the last"),
    ],
    ("03_parity", 4): [
        ("survival = (1 - lambda_p)", "survival = (1 + lambda_p)"),
        ("(1 - (1 - lambda_p) ** N)", "(1 + (1 - lambda_p) ** N)"),
        ("lambda_p * survival", "survival"),
    ],
    ("03_parity", 5): [
        ("log_p - log_prior[:, None]", "log_p + log_prior[:, None]"),
        ("reconstruction + beta * divergence", "reconstruction - beta * divergence"),
        ("(p * cross_entropy", "(log_p * cross_entropy"),
    ],
}


def equations(cells):
    """[(label, index of its cell)] in the order of the prose."""
    prose = [(i, cell.source) for i, cell in enumerate(cells) if cell.cell_type == "markdown"]
    return [(int(label), i) for i, source in prose for label in re.findall(r"\\tag\{(\d+)\}", source)]


def assertions(cells):
    """{label: indices of the code cells that assert it}."""
    found = {}
    for i, cell in enumerate(cells):
        for line in cell.source.splitlines() if cell.cell_type == "code" else []:
            for label in re.findall(r"\d+", match[1]) if (match := CHECKS.match(line)) else []:
                found.setdefault(int(label), []).append(i)
    return found


def source(cell):
    """As it is run here: with the smallest budget, and nothing installed."""
    if cell.cell_type != "code" or "google.colab" in cell.source:
        return "pass"
    return re.sub(r'^BUDGET: str = ".*?"', 'BUDGET: str = "smoke"', cell.source, flags=re.M)


def run(cells, names):
    for cell in cells:
        names["In"] = [*names["In"], source(cell)]
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(names["In"][-1], "<cell>", "exec"), names)


notebooks = pytest.mark.parametrize(("stem", "cells"), NOTEBOOKS.items(), ids=NOTEBOOKS)


@notebooks
def test_equations_are_numbered_in_order_and_each_is_asserted_in_later_code(stem, cells):
    labels = [label for label, _ in equations(cells)]
    assert labels == list(range(1, len(labels) + 1))
    asserted = assertions(cells)
    for label, i in equations(cells):
        assert max(asserted.get(label, [-1])) > i, f"no assertion of ({label}) after it"
    ends = [LABELS.findall(cell.source) for cell in cells if cell.cell_type == "code"]
    assert {int(label) for label in re.findall(r"\d+", str(ends))} <= set(labels)


@notebooks
def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(stem, cells, monkeypatch):
    assert {label for name, label in FAULTS if name == stem} == {label for label, _ in equations(cells)}
    monkeypatch.chdir(ROOT)
    for module in (IPython.display, plots, widgets):
        monkeypatch.setattr(module, "display", lambda *_, **__: None)

    plans = []  # (cell of the fault, cell of the assertion, label, old, new)
    for label, i in equations(cells):
        last = min(j for j in assertions(cells)[label] if j > i)
        for old, new in FAULTS[stem, label]:
            places = [j for j in range(i + 1, last + 1) if old in source(cells[j])]
            assert places, f"({label}): {old!r} does not occur in its code any more"
            plans.append((places[0], last, label, old, new))

    names, done = {"__name__": "__main__", "In": [""]}, 0
    for first, last, label, old, new in sorted(plans):
        run(cells[done:first], names)
        done = first
        faulty = [nbformat.v4.new_code_cell(source(cell).replace(old, new)) for cell in cells[first : last + 1]]
        with torch.random.fork_rng(), pytest.raises(AssertionError):
            run(faulty, dict(names))
            pytest.fail(f"({label}): nothing noticed {new!r} in place of {old!r}")
    run(cells[done : 1 + max((last for _, last, *_ in plans), default=0)], names)
