"""Each lesson has tests of its exercises; and what `attempt` says of answers."""

from pathlib import Path

import nbformat
import pytest
import torch

from ponder_course import LESSONS
from ponder_course.common import notebook

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_with_exercises_has_solutions_and_tests_of_them(lesson):
    (path,) = (ROOT / "notebooks").glob(f"[0-9][0-9]_{lesson}.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    if any("check" in cell.metadata.get("tags", []) for cell in cells):
        assert (ROOT / "tests" / lesson / f"test_exercises_{lesson}.py").exists()
        assert (ROOT / "notebooks" / "solutions" / f"{lesson}.py").exists()


def test_attempt_says_in_a_line_whether_an_answer_is_right_whatever_it_does(capsys):
    def check(answer):
        assert answer(2).shape == (3,)

    def bad(x):
        raise ValueError("two\nlines")

    for answer in (None, lambda x: None, lambda x: [1], lambda x: torch.zeros(2), bad):
        assert not notebook.attempt(check, answer)
    assert notebook.attempt(check, lambda x: torch.zeros(3))
    *wrong, right = capsys.readouterr().out.splitlines()
    assert len(wrong) == 5
    assert all(line.startswith("Not yet: ") for line in wrong)
    assert "ValueError: two lines" in wrong[-1]
    assert not right.startswith("Not yet")
