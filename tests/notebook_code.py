"""What stands in a notebook's code cells."""

from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def code_cells(stem):
    """The sources of the code cells of notebooks/stem.ipynb that are Python."""
    cells = nbformat.read(NOTEBOOKS / f"{stem}.ipynb", as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    return [source for source in sources if "google.colab" not in source]
