"""The copy for students: no solution stands in it, its checks accept right answers, and no link leads nowhere."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import sheets

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import students  # noqa: E402
from stamp import is_of_a_deleted_lesson  # noqa: E402

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone: git says what is copied")
SOLUTIONS = sorted(path for path in (ROOT / "notebooks" / "solutions").rglob("*") if path.suffix in (".py", ".md"))
OF_NO_SOLUTION = ("# ", "## ", "from ", "import ", "Look ")  # how such lines begin


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("students") / "course"
    students.write(folder)
    return folder


def texts_of(copy):
    """The code, the pages, and what stands in the cells of notebooks, by path."""
    texts = {path: path.read_text(encoding="utf-8") for kind in ("*.py", "*.md") for path in copy.rglob(kind)}
    for path in copy.rglob("*.ipynb"):
        texts[path] = "\n\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    return texts


def sentences_of(solution):
    """What a solution says in lines of its own: of code its docstrings; no headings, imports, short lines or titles."""
    text = solution.read_text(encoding="utf-8")
    if solution.suffix == ".py":
        defined = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        text = "\n".join(ast.get_docstring(node) or "" for node in defined)
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if len(line) > 30 and not line.startswith(OF_NO_SOLUTION)]


def test_no_solution_stands_in_it(copy):
    everything = "\n".join(texts_of(copy).values())
    sentences = [sentence for path in SOLUTIONS for sentence in sentences_of(path)]
    assert len(sentences) > 10 * len(SOLUTIONS)
    assert [sentence for sentence in sentences if sentence in everything] == []
    assert not (copy / ".git").exists()


@pytest.mark.parametrize("pattern", students.LEFT_OUT)
def test_what_is_left_out_was_there(copy, pattern):
    assert list(ROOT.glob(pattern))
    assert not list(copy.glob(pattern))


def test_links_lead_to_what_is_there(copy):
    for path, text in texts_of(copy).items():
        if path.suffix != ".py":
            links = re.findall(r"\]\((?!\w+:|#)([^)\s#]+\.[a-z]\w*)[^)]*\)", text)
            gone = [link for link in links if not (path.parent / link).exists()]
            assert [link for link in gone if not is_of_a_deleted_lesson(link)] == [], path


def test_only_words_of_pages_differ(copy):
    for name in students.kept():
        if name.endswith(".ipynb"):
            there, here = (nbformat.read(root / name, as_version=4).cells for root in (copy, ROOT))
            for cell, other in zip(there, here, strict=True):
                assert cell.cell_type == "markdown" or cell == other, name
        elif not name.endswith(".md"):
            assert (copy / name).read_bytes() == (ROOT / name).read_bytes(), name


@pytest.mark.parametrize("lesson", sheets.STEMS)
def test_its_checks_accept_the_right_answers_and_no_stub(copy, monkeypatch, lesson):
    monkeypatch.setitem(sheets.SHEETS, lesson, copy / "notebooks" / "problems" / f"{lesson}_problems.ipynb")
    assert not any(sheets.checks(lesson, {}).values())
    assert all(sheets.checks(lesson, sheets.solution(lesson)).values())


def test_its_packages_can_be_imported(copy):
    code = "import examples.your_own, ponder_course.common.notebook as notebook; print(notebook.__file__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=copy, capture_output=True, text=True)
    assert done.stdout.strip() == str(copy / "ponder_course" / "common" / "notebook.py"), done.stderr


@pytest.mark.slow
def test_its_tests_lack_nothing(copy):
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-n", "0", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=copy, env=os.environ | {"PYTHONPATH": str(copy)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_folder_that_is_not_empty_stays_as_it_is(tmp_path):
    (tmp_path / "answers.txt").touch()
    with pytest.raises(SystemExit, match="not empty"):
        students.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["answers.txt"]


def test_without_git_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(students, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="git knows nothing"):
        students.write(tmp_path / "copy")
