"""Copy lessons and problem sheets into runs/nbval/, where lessons load their networks: make nbval runs these copies.

    python tools/stored_copies.py

One lesson trains all the same, another one each day. Where MNIST is read from, the copies are told as a whole path.
"""

from __future__ import annotations

import shutil
import sys
from datetime import date
from pathlib import Path

import nbformat
import papermill
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from stamp import ROOT, parser_of

COPIES = ROOT / "runs" / "nbval"


def lesson_that_trains(lessons: list[Path], day: date) -> Path:
    """Return the lesson whose turn it is on this day."""
    return lessons[day.toordinal() % len(lessons)]


def pass_over_headlines(notebook: nbformat.NotebookNode) -> None:
    """Tag each cell that shows a headline: what networks do that are trained anew depends on the processor."""
    for cell in notebook.cells:
        texts = [output.get("data", {}).get("text/markdown", "") for output in cell.get("outputs", [])]
        if any(text.startswith("**") for text in texts):
            tags = set(cell.metadata.get("tags", []))
            cell.metadata["tags"] = sorted(tags | {"nbval-ignore-output"})


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a copy whose cells show nothing where a semicolon ends them, which nbval's kernel does not see."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.endswith(";"):
            cell.source += "\nNone"
    nbformat.write(notebook, path)


def main() -> int:
    """Write a copy of each lesson and sheet, and say which lesson trains."""
    parser_of(__doc__).parse_args()
    shutil.rmtree(COPIES, ignore_errors=True)
    COPIES.mkdir(parents=True)
    declared = {path: papermill.inspect_notebook(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
    trains = lesson_that_trains([path for path in declared if "LOAD" in declared[path]], date.today())
    for path, parameters in declared.items():
        given = {"DATA": str(ROOT / "data")} if "DATA" in parameters else {}
        if "LOAD" in parameters and path != trains:
            given["LOAD"] = "stored"
        notebook = load_notebook_node(str(path))
        if given:
            notebook = parameterize_notebook(notebook, given)
        if path == trains:
            pass_over_headlines(notebook)
        write(notebook, COPIES / path.name)
    for path in sorted((ROOT / "notebooks" / "problems").glob("*.ipynb")):
        write(load_notebook_node(str(path)), COPIES / path.name)
    print(f"{trains.stem} trains today; the others load their networks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
