"""Every equation of a notebook stands beside code, and an assertion notices if a sign in that code is wrong."""

import ast
import contextlib
import re

import nbformat
import torch
from running import NOTEBOOKS, namespace, run, source


def equations(cells):
    """[(label, index of its cell)] in the order of the prose."""
    prose = [(i, cell.source) for i, cell in enumerate(cells) if cell.cell_type == "markdown"]
    return [(int(label), i) for i, source in prose for label in re.findall(r"\\tag\{(\d+)\}", source)]


def labels_in(code):
    """Of the lines that end with `# (k)` or `# (k), (j)`."""
    ends = re.findall(r"# ((?:\(\d+\)(?:, )?)+)$", code, re.M)
    return [int(label) for label in re.findall(r"\d+", " ".join(ends))]


def assertions(cells):
    """{label: indices of the code cells that have an assertion with its comment}."""
    found = {}
    for i, cell in enumerate(cells):
        code = source(cell)
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, (ast.Assert, ast.Expr)) and re.match(r"assert |.*assert_close\(", ast.unparse(node)):
                lines = code.splitlines()[node.lineno - 1 : node.end_lineno]
                for label in labels_in("\n".join(lines)):
                    found.setdefault(label, []).append(i)
    return found


def check_wrong_signs(stem, faults, monkeypatch):
    """Each fault makes the equation's assertion fail, and without it none does.

    `faults` are those of each equation: (old, new) in the code between the equation and its first assertion.
    """
    cells = NOTEBOOKS[stem]
    assert faults.keys() == {label for label, _ in equations(cells)}
    names = namespace(monkeypatch)
    plans, all_asserted = [], assertions(cells)  # (cell of the fault, cell of the assertion, label, old, new)
    for label, i in equations(cells):
        asserted = [j for j in all_asserted[label] if j > i]
        for old, new in faults[label]:
            everywhere = [j for j in range(max(asserted) + 1) for _ in range(source(cells[j]).count(old))]
            places = [j for j in everywhere if j > i] or everywhere  # a function may stand before its equation
            assert len(places) == 1, f"({label}): {old!r} should occur once in its code, but does in cells {places}"
            plans.append((places[0], min(j for j in asserted if j >= places[0]), label, old, new))

    done, unnoticed = 0, []
    for first, last, label, old, new in sorted(plans):
        run(cells[done:first], names)
        done = first
        faulty = nbformat.v4.new_code_cell(source(cells[first]).replace(old, new))
        with torch.random.fork_rng(), contextlib.suppress(AssertionError):
            run([faulty, *cells[first + 1 : last + 1]], dict(names))
            unnoticed.append(f"({label}): {new!r} in place of {old!r}")
    assert not unnoticed
    run(cells[done : 1 + max((last for _, last, *_ in plans), default=0)], names)
