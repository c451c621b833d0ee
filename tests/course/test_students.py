"""The copy for students: no solution stands in it, and no link leads nowhere."""

import ast
import re
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import students  # noqa: E402

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone: git says what is copied")
SOLUTIONS = sorted(path for path in (ROOT / "notebooks" / "solutions").rglob("*") if path.suffix in (".py", ".md"))
OF_NO_SOLUTION = ("# ", "## ", "from ", "import ", "Look ", "| ---")  # how such lines begin


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
    text = re.sub(r"^## Exercise.*?^```$", "", text, flags=re.M | re.S)  # what its lesson shows, written anew
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if len(line) > 30 and not line.startswith(OF_NO_SOLUTION)]


def test_no_solution_stands_in_it(copy):
    everything = "\n".join(texts_of(copy).values())
    sentences = [sentence for path in SOLUTIONS for sentence in sentences_of(path)]
    assert len(sentences) > 10 * len(SOLUTIONS)
    assert [sentence for sentence in sentences if sentence in everything] == []
