"""A lesson's problem sheet: its stubs, its checks and its solution."""

import itertools
import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1] / "notebooks"
SHEETS = {path.stem.removesuffix("_problems"): path for path in sorted((ROOT / "problems").glob("*.ipynb"))}
STEMS = [*SHEETS]


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
            found += map("".join, re.findall(r"^(?:(?:def|class) (\w+)\(|(\w+) = None)", stub.source, re.M))
    return found


def check_that_it_refuses(wrong, name, lesson, capsys):
    """The sheet says in a line what is wrong with this answer, and goes on with the others of the solution."""
    answers = solution(lesson)
    right = sum(checks(lesson, answers).values())
    capsys.readouterr()
    assert sum(checks(lesson, answers | {name: wrong}).values()) == right - 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == right
    assert sum(line.startswith("Not yet: ") for line in lines) == 1
