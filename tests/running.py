"""Notebooks run as plain Python: with the smallest budget, on data that is always there, and nothing drawn."""

import contextlib
import io
import re
from pathlib import Path

import IPython.display
import nbformat

from ponder_course.common import style, widgets

LESSONS = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = {path.stem: nbformat.read(path, as_version=4).cells for path in sorted(LESSONS.glob("*.ipynb"))}


def source(cell):
    """What is run of a cell."""
    if cell.cell_type != "code" or "google.colab" in cell.source:
        return "pass"
    code = cell.source
    for name, value in {"BUDGET": "smoke", "DATASET": "digits"}.items():
        code = re.sub(rf'^{name}: str = ".*?"', f'{name}: str = "{value}"', code, flags=re.M)
    return code


def headline(stem):
    """What the cell tagged headline has printed as it was committed."""
    (cell,) = [cell for cell in NOTEBOOKS[stem] if "headline" in cell.metadata.get("tags", [])]
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def namespace(monkeypatch):
    """The names that the first cell finds; from here on nothing is displayed."""
    monkeypatch.chdir(LESSONS)
    for module in (IPython.display, style, widgets):
        monkeypatch.setattr(module, "display", lambda *_, **__: None)
    return {"__name__": "__main__", "In": [""]}


def run(cells, names):
    """Run the cells with these names, as a kernel would."""
    for cell in cells:
        names["In"] = [*names["In"], source(cell)]
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(names["In"][-1], "<cell>", "exec"), names)
