"""What notebooks print of live networks and of stored ones in one line, so that nbval cannot compare it."""

from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]


def printed(notebook):
    """What the cell tagged headline has printed."""
    cells = nbformat.read(ROOT / "notebooks" / f"{notebook}.ipynb", as_version=4).cells
    (cell,) = [cell for cell in cells if "headline" in cell.metadata.get("tags", [])]
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")
