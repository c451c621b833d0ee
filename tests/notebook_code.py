"""Functions that are defined in a notebook's cell, such as a figure that only this notebook draws."""

import ast
import functools
from pathlib import Path
from typing import Any

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


@functools.cache
def code_cells(stem):
    """The sources of a notebook's code cells that are Python: of notebooks/stem.ipynb, or of evidence/stem.ipynb."""
    (path,) = [*NOTEBOOKS.glob(f"{stem}.ipynb"), *NOTEBOOKS.glob(f"evidence/{stem}.ipynb")]
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    return [source for source in cells if "google.colab" not in source]


def function(stem: str, name: str) -> Any:
    """The function of that name, from its cell alone with the notebook's imports; nothing else is run."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for source in code_cells(stem):
        body = ast.parse(source).body
        imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), "<imports>", "exec"), names)
        if any(isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name for node in body):
            constants = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign)]
            exec(compile(ast.Module(constants, []), f"<{stem}>", "exec"), names)
            return names[name]
    raise LookupError(f"no cell of {stem} defines {name}")
