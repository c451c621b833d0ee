"""The problem sheets: points, checks that pass on the solutions and on nothing else, and nothing given away."""

import math
import re

import pytest
import torch
from sheets import ROOT, STEMS, checks, solution, stubs

sheets = pytest.mark.parametrize("lesson", STEMS)


def test_every_sheet_is_of_a_lesson_and_has_a_solution():
    assert STEMS
    assert {*STEMS} <= {path.stem for path in ROOT.glob("*.ipynb")}
    assert [path.stem for path in sorted((ROOT / "solutions" / "problems").iterdir())] == STEMS


@sheets
def test_checks_pass_on_the_solution_and_fail_on_the_stubs(lesson, capsys):
    passed = checks(lesson, {})
    assert passed
    assert not any(passed.values())
    assert all(line.endswith("nothing written so far.") for line in capsys.readouterr().out.splitlines())
    answers = solution(lesson)
    assert set(stubs(lesson)) <= answers.keys()
    assert all(checks(lesson, answers).values())


def shifted(answer, by):
    """The same numbers, a little off."""
    return [number + by for number in answer] if isinstance(answer, tuple | list) else answer + by


@sheets
def test_checks_forgive_rounding_and_nothing_more(lesson):
    answers = solution(lesson)
    numbers = {name: answers[name] for name in stubs(lesson) if not callable(answers[name])}
    right = sum(checks(lesson, numbers).values())
    assert right
    as_tensors = {name: torch.as_tensor(value, dtype=torch.float64) for name, value in numbers.items()}
    assert sum(checks(lesson, as_tensors).values()) == right
    for by in (1e-6, -1e-6):
        near = {name: shifted(value, by) for name, value in numbers.items()}
        assert sum(checks(lesson, near).values()) == right
    for name, value in numbers.items():
        for wrong in (shifted(value, 0.6), None, math.nan, "0.5", [], {}, object(), shifted(value, math.inf)):
            assert sum(checks(lesson, numbers | {name: wrong}).values()) == right - 1, (name, wrong)


def test_the_first_steps_of_the_projects_run(capsys):
    text = (ROOT / "problems" / "projects.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert len(blocks) == 3
    for block in blocks:
        exec(block.replace(", 200, ", ", 2, "), {})
