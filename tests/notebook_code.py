"""What is defined in a notebook's folded cells: figures and experiments of this notebook alone."""

import ast
import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


@functools.cache
def code_cells(stem):
    """The sources of a notebook's code cells that are Python: of notebooks/stem.ipynb, or of evidence/stem.ipynb."""
    (path,) = [*NOTEBOOKS.glob(f"{stem}.ipynb"), *NOTEBOOKS.glob(f"evidence/{stem}.ipynb")]
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    return [source for source in cells if "google.colab" not in source]


def _imports(node):
    return isinstance(node, ast.Import | ast.ImportFrom)


def _defines(node):
    """Whether it is a function, a class, or a constant with a capital letter; what a cell computes is not run."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        return bool(names) and all(name.id.lstrip("_")[0].isupper() for name in names)
    return isinstance(node, ast.FunctionDef | ast.ClassDef)


@functools.cache
def folded(stem: str) -> SimpleNamespace:
    """All that a notebook's folded cells define, and what its cells import; nothing else is run."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for source in code_cells(stem):
        folded_cell = source.startswith("# @title")
        body = [node for node in ast.parse(source).body if _imports(node) or (folded_cell and _defines(node))]
        exec(compile(ast.Module(body, []), f"<{stem}>", "exec"), names)
    return SimpleNamespace(**names)


def function(stem: str, name: str) -> Any:
    """The function, class or constant of that name, from a notebook's folded cells."""
    return getattr(folded(stem), name)
