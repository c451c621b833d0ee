"""Functions that are defined in a notebook's folded cells: the figures that only this notebook draws."""

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
    """The function or class of that name, from the folded cells that draw a notebook's figures; nothing else is run."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for source in code_cells(stem):
        if source.startswith("# @title Figure"):
            exec(compile(source, f"<{stem}>", "exec"), names)
            if name in names:
                return names[name]
    raise LookupError(f"no folded cell of {stem} defines {name}")
