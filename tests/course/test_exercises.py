"""Each lesson has tests of its exercises; and what `attempt` says of answers."""

from pathlib import Path

import nbformat
import pytest
import torch

from ponder_course import LESSONS
from ponder_course.common import notebook

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_with_exercises_or_equations_has_tests_of_them(lesson):
    (path,) = (ROOT / "notebooks").glob(f"[0-9][0-9]_{lesson}.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    has = {
        "exercises": any("check" in cell.metadata.get("tags", []) for cell in cells),
        "equations": any(r"\tag{" in cell.source for cell in cells),
    }
    for what in (name for name, there in has.items() if there):
        assert (ROOT / "tests" / lesson / f"test_{what}_{lesson}.py").exists()
    assert (ROOT / "notebooks" / "solutions" / f"{lesson}.py").exists() or not has["exercises"]


def test_attempt_survives_whatever_an_answer_does(capsys):
    def check(answer):
        assert answer(2).shape == (3,)

    def bad(x):
        raise ValueError("two\nlines")

    for answer in (None, lambda x: None, lambda x: [1], lambda x: torch.zeros(2), bad):
        assert not notebook.attempt(check, answer)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all(line.startswith("Not yet: ") for line in lines)
    assert lines[-1] == "Not yet: ValueError: two lines"


def test_attempt_says_what_is_wrong(capsys):
    def check(answer):
        if answer != 3:
            raise AssertionError(f"expected 3, got {answer}")

    assert notebook.attempt(check, 3)
    assert not notebook.attempt(check, 4)
    assert capsys.readouterr().out == "Right.\nNot yet: expected 3, got 4\n"
