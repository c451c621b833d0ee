"""A lesson that no other needs can be deleted by deleting its files and a line of `LESSONS`: all that is left holds.

One whose network thinks in a live figure is needed by book/live/live_networks.py.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ponder_course import LESSONS

ROOT = Path(__file__).resolve().parents[2]
NOT_COPIED = (".git", ".venv*", ".*_cache", "runs", "data", "dist", "build", "*.egg-info", "__pycache__")


def files_of(lesson, root):
    (notebook,) = (root / "notebooks").glob(f"[0-9][0-9]_{lesson}.ipynb")
    number = notebook.stem[:2]
    patterns = [
        f"ponder_course/{lesson}",
        f"ponder_course/research/{lesson}",
        f"tests/{lesson}",
        f"notebooks/{number}_*",
        f"notebooks/evidence/{number}_*",
        f"notebooks/problems/{number}_*",
        f"notebooks/solutions/{lesson}.py",
        f"notebooks/solutions/problems/{number}_*",
        f"results/{number}_*",
        f"results/figures/{number}_*",
    ]
    return [path for pattern in patterns for path in root.glob(pattern)]


def delete(lesson, root):
    for path in files_of(lesson, root):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    listed = root / "ponder_course" / "__init__.py"
    text = listed.read_text(encoding="utf-8")
    line = f'    "{lesson}",\n'
    assert text.count(line) == 1
    listed.write_text(text.replace(line, ""), encoding="utf-8")


def who_needs(lesson, root):
    """The files of code that name a lesson's room, and are not its own."""
    own = files_of(lesson, root)
    code = [path for kind in ("py", "ipynb") for path in root.rglob(f"*.{kind}")]
    others = [path for path in code if not any(path.is_relative_to(part) for part in own)]
    room = re.compile(rf"\bponder_course\.(research\.)?{lesson}\b")
    return [path.relative_to(root) for path in others if room.search(path.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """A copy without the lessons, two at most, that no other, no live figure and no test of all needs."""
    root = tmp_path_factory.mktemp("copy") / "course"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*NOT_COPIED))
    free = [lesson for lesson in LESSONS if not who_needs(lesson, root)]
    assert free
    for lesson in free[-2:]:
        delete(lesson, root)
    return root


def passes(root, *arguments):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *arguments]
    environment = os.environ | {"PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    print(done.stdout)
    return done.returncode == 0


@pytest.mark.slow
def test_without_a_lesson_all_that_looks_at_the_course_holds(without):
    assert passes(without, "tests", "--collect-only")
    stored = [str(path) for path in without.glob("tests/*/test_stored_*.py")]
    own = ["--ignore", "tests/course/test_deleting_a_lesson.py"]
    assert passes(without, "tests/course", "tests/common/test_fingerprint.py", *stored, "-m", "not slow", *own)
