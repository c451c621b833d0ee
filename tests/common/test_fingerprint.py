from functools import partial, wraps

import pytest

from ponder_course.common import fingerprint
from ponder_course.common.fingerprint import fingerprint_of
from ponder_course.research.map_of_thought import experiment as stored_runs

FILES = {
    "ponder_utils/__init__.py": '"""Idea."""\nfrom ponder_utils.core import idea\n__version__ = "1"',
    "ponder_utils/core.py": "def idea(x):\n    return x + 1",
    "ponder_utils/alone.py": "def unused():\n    return 1",
    "ponder_utils/tasks/__init__.py": "",
    "ponder_utils/tasks/lines.py": "import torch\nSIZE = 3",
    "ponder_course/__init__.py": "",
    "ponder_course/lesson.py": '''
from functools import partial, wraps
import ponder_utils.tasks.lines
from ponder_course import helpers


def run(seed):
    """Run it."""
    return helpers.double(seed)  # twice
''',
    "ponder_course/helpers.py": "def double(x):\n    from ponder_utils import idea\n    return 2 * idea(x)",
}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A little course. It is called with a file and a change of its text, and returns the fingerprint of its run."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(fingerprint, "FOLDER", tmp_path)
    fingerprint._read.cache_clear()

    def change(name="ponder_course/lesson.py", old="", new=""):
        path = tmp_path / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        fingerprint._read.cache_clear()  # a file written twice within a tick of the clock has the same date
        return fingerprint_of(run_of(tmp_path))

    return change


def run_of(tmp_path):
    names = {"__name__": "lesson"}
    path = tmp_path / "ponder_course" / "lesson.py"
    exec(compile("def run(seed):\n    return 1", str(path), "exec"), names)
    return names["run"]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("ponder_course/lesson.py", "twice", "two times"),
        ("ponder_course/lesson.py", '    """Run it."""\n', ""),
        ("ponder_utils/__init__.py", '"1"', '"2"'),
        ("ponder_utils/alone.py", "return 1", "return 2"),
    ],
)
def test_comments_docstrings_and_files_that_are_not_imported_do_not_change_it(course, name, old, new):
    assert course() == course(name, old, new)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("ponder_course/lesson.py", "double(seed)", "double(-seed)"),
        ("ponder_course/helpers.py", "2 *", "3 *"),  # imported from its folder
        ("ponder_utils/core.py", "x + 1", "x + 2"),  # through an __init__, within a function
        ("ponder_utils/tasks/lines.py", "3", "4"),  # by `import`
        ("ponder_course/helpers.py", "import idea", "import idea, alone"),
    ],
)
def test_code_does(course, name, old, new):
    assert course() != course(name, old, new)


def test_it_is_that_of_the_function_within_partials_and_wrappers(course, tmp_path):
    run = run_of(tmp_path)

    @wraps(run)
    def wrapped(seed):
        return run(seed)

    assert {fingerprint_of(made) for made in (run, partial(partial(run), seed=1), wrapped)} == {course()}


def test_what_makes_no_result_of_a_lesson_is_not_behind_it():
    """So an edit of lines leaves the runs of mazes fresh, and one of the store leaves all."""
    files = fingerprint.files_behind(stored_runs.EXPERIMENTS["main"].run)
    behind = {path.relative_to(fingerprint.FOLDER).as_posix() for path in files}
    assert {"ponder_utils/losses.py", "ponder_utils/training.py", "ponder_course/map_of_thought/task.py"} <= behind
    assert not {f"ponder_course/common/{name}.py" for name in ("runs", "store", "style", "lines")} & behind


def test_functions_without_a_file_have_none():
    names = {}
    exec("def run(): pass", names)
    assert [fingerprint_of(run) for run in (names["run"], print, int)] == [None] * 3
