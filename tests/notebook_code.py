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


@functools.cache
def folded(stem: str) -> SimpleNamespace:
    """All that a notebook's folded cells define; of its other cells only the imports are run."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for source in code_cells(stem):
        body = ast.parse(source).body
        if not source.startswith("# @title"):
            body = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(body, []), f"<{stem}>", "exec"), names)
    return SimpleNamespace(**names)


def function(stem: str, name: str) -> Any:
    """The function, class or constant of that name, from a notebook's folded cells."""
    return getattr(folded(stem), name)
