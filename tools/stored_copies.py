"""Copy lessons and problem sheets into runs/nbval/, where lessons load all networks: make nbval runs these copies.

    python tools/stored_copies.py

What is committed was drawn with one network trained in view, which is also stored: so all that is printed is compared.
What has no such setting, the page 00 and lesson 02, trains all the same; every lesson trains in the weekly workflow.
Where MNIST is read from, the copies are told as a whole path.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nbformat
import papermill
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from stamp import ROOT, parser_of

COPIES = ROOT / "runs" / "nbval"


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a copy whose cells show nothing where a semicolon ends them, which nbval's kernel does not see."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.endswith(";"):
            cell.source += "\nNone"
    nbformat.write(notebook, path)


def main() -> int:
    """Write a copy of each lesson and sheet."""
    parser_of(__doc__).parse_args()
    shutil.rmtree(COPIES, ignore_errors=True)
    COPIES.mkdir(parents=True)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        declared = papermill.inspect_notebook(path)
        given = {"DATA": str(ROOT / "data")} if "DATA" in declared else {}
        if "TRAIN" in declared:
            given["TRAIN"] = "none"
        notebook = load_notebook_node(str(path))
        if given:
            notebook = parameterize_notebook(notebook, given)
        write(notebook, COPIES / path.name)
    for path in sorted((ROOT / "notebooks" / "problems").glob("*.ipynb")):
        write(load_notebook_node(str(path)), COPIES / path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
