"""The problem sheets: points, checks that pass on the solutions and on nothing else, and nothing given away."""

import itertools
import math
import re
from pathlib import Path

import nbformat
import pytest
import torch

ROOT = Path(__file__).resolve().parents[1] / "notebooks"
LESSONS = [path.stem for path in sorted(ROOT.glob("*.ipynb"))]
SHEETS = {stem: ROOT / "problems" / f"{stem}_problems.ipynb" for stem in LESSONS}

sheets = pytest.mark.parametrize("lesson", LESSONS)


def cells_of(lesson):
    return nbformat.read(SHEETS[lesson], as_version=4).cells


def solution(lesson):
    """The Python of a solution, run: what it calls its answers."""
    text = (ROOT / "solutions" / "problems" / f"{lesson}.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
        exec(block, names)
    return names


def checks(lesson, answers):
    """What the sheet's checks say of these answers, by problem; where there is no answer, of the stubs."""
    names = {}
    cells = [cell for cell in cells_of(lesson) if cell.cell_type == "code"]
    exec(next(cell.source for cell in cells if cell.source.startswith(("import torch", "import math"))), names)
    for stub, cell in itertools.pairwise(cells):
        if "check" in cell.metadata.get("tags", []):
            exec(stub.source, names)
            names |= {name: answer for name, answer in answers.items() if name in names}
            exec(cell.source, names)
    return names["passed"]


def stubs(lesson):
    """The names under which a sheet expects answers."""
    cells = [cell for cell in cells_of(lesson) if cell.cell_type == "code"]
    found = []
    for stub, cell in itertools.pairwise(cells):
        if "check" in cell.metadata.get("tags", []):
            found += map("".join, re.findall(r"^(?:def (\w+)\(|(\w+) = None)", stub.source, re.M))
    return found


def test_every_lesson_has_a_sheet_and_a_solution():
    assert [path.name for path in sorted((ROOT / "problems").glob("*.ipynb"))] == [
        path.name for path in SHEETS.values()
    ]
    assert [path.stem for path in sorted((ROOT / "solutions" / "problems").iterdir())] == LESSONS


@sheets
def test_the_points_add_up(lesson):
    """Twenty for a sheet; and where the parts of a problem have points of their own, these are the problem's."""
    text = "\n".join(cell.source for cell in cells_of(lesson) if cell.cell_type == "markdown")
    problems = re.split(r"^## ", text, flags=re.M)[1:]
    points = [int(re.search(r"\((\d+) points\)$", problem.splitlines()[0])[1]) for problem in problems]
    assert len(points) == 3
    assert sum(points) == 20
    for problem, total in zip(problems[:2], points, strict=False):
        assert sum(map(int, re.findall(r"\*\*\([a-c]\) (\d) points", problem))) == total


@sheets
def test_checks_pass_on_the_solution_and_fail_on_the_stubs(lesson, capsys):
    passed = checks(lesson, {})
    assert passed
    assert not any(passed.values())
    assert set(capsys.readouterr().out.splitlines()) == {"Not yet: nothing written so far."}
    answers = solution(lesson)
    assert set(stubs(lesson)) <= answers.keys()
    assert all(checks(lesson, answers).values())


def shifted(answer, by):
    """The same numbers, a little off."""
    return [number + by for number in answer] if isinstance(answer, tuple | list) else answer + by


@sheets
def test_checks_forgive_rounding_and_nothing_more(lesson):
    answers = {name: value for name, value in solution(lesson).items() if name in stubs(lesson)}
    numbers = {name: value for name, value in answers.items() if not callable(value)}
    for by in (1e-6, -1e-6):
        assert all(checks(lesson, answers | {name: shifted(value, by) for name, value in numbers.items()}).values())
    as_tensors = {name: torch.as_tensor(value, dtype=torch.float64) for name, value in numbers.items()}
    assert all(checks(lesson, answers | as_tensors).values())
    right = sum(checks(lesson, answers).values())
    for name, value in numbers.items():
        for wrong in (shifted(value, 0.6), None, math.nan, "0.5", [], {}, object(), shifted(value, math.inf)):
            assert sum(checks(lesson, answers | {name: wrong}).values()) == right - 1, (name, wrong)


WRONG = {
    ("03_parity", "turn"): [
        lambda x, old, new, generator: torch.where(x == old, float(new), x),  # all of them
        lambda x, old, new, generator: x.scatter(1, (x == old).int().argmax(1, keepdim=True), float(new)),  # the first
        lambda x, old, new, generator: x,
        lambda x, old, new, generator: x.scatter(1, torch.randint(8, (len(x), 1), generator=generator), float(new)),
        lambda x, old, new, generator: x.scatter_(1, (x == old).float().multinomial(1), float(new)),  # in place
    ],
    ("04_mnist_rotation", "changing"): [
        lambda right: (right[0] != right[-1]).float().mean().item(),  # the ends only
        lambda right: (right[1:] != right[:-1]).float().mean().item(),  # of all steps
        lambda right: right.all(0).float().mean().item(),
        lambda right: 1 - right.any(0).float().mean().item(),
        lambda right: right.any(0) & ~right.all(0),  # not a mean
    ],
    ("06_ways_to_stop", "calibration_error"): [
        lambda says, right: (says - right.float()).abs().mean().item(),  # without bins
        lambda says, right: (says.mean() - right.float().mean()).abs().item(),  # one bin
        lambda says, right: math.nan,
        lambda says, right: None,
        lambda says, right: 1 / 0,
    ],
}


@pytest.mark.parametrize(
    ("lesson", "name", "wrong"), [(*place, wrong) for place, answers in WRONG.items() for wrong in answers]
)
def test_checks_fail_on_plausible_wrong_functions(lesson, name, wrong, capsys):
    answers = solution(lesson)
    right = sum(checks(lesson, answers).values())
    capsys.readouterr()
    assert sum(checks(lesson, answers | {name: wrong}).values()) == right - 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == right
    assert sum(line.startswith("Not yet: ") for line in lines) == 1


@sheets
def test_a_sheet_does_not_print_what_it_asks_for(lesson):
    """No number of the solution stands in the sheet's outputs or code, to the decimals that are asked for."""
    cells = [cell for cell in cells_of(lesson) if cell.cell_type == "code"]
    outputs = "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    for name in stubs(lesson):
        value = solution(lesson)[name]
        for number in [] if callable(value) else torch.as_tensor(value).flatten().tolist():
            if number != round(number, 1):
                assert f"{number:.3f}"[:5] not in outputs, name
