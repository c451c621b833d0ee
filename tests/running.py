"""The lessons as they are committed."""

from pathlib import Path

import nbformat

LESSONS = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = {path.stem: nbformat.read(path, as_version=4).cells for path in sorted(LESSONS.glob("*.ipynb"))}


def headline(stem):
    """What the cell tagged headline has printed as it was committed."""
    (cell,) = [cell for cell in NOTEBOOKS[stem] if "headline" in cell.metadata.get("tags", [])]
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")
