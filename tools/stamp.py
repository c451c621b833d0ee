"""Write the repository's address, which stands in pyproject.toml, wherever a reader needs it.

    python tools/stamp.py

That is: the Colab badge in the first cell of each notebook and in README.md, the cell that installs the package on
Colab, and CITATION.cff. A test holds all of them equal to what this command writes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
BADGE = re.compile(r"\[!\[Open in Colab\]\([^)]*\)\]\(https://colab\.research\.google\.com/github/[^)]*/(\w+\.ipynb)\)")
BADGE_PICTURE = "https://colab.research.google.com/assets/colab-badge.svg"
INSTALL_CELL = """\
import sys

if "google.colab" in sys.modules:  # on Colab: fetch the course and install its package beside Colab's own torch
    import os

    repository = os.environ.get("PROJECT_GIT_URL", "{url}")
    !git clone -q --depth 1 {{repository}} course
    %pip install -q ./course
    %cd -q course/notebooks"""


def address() -> str:
    """The repository's address, from pyproject.toml."""
    found = re.search(
        r'^Repository = "(https://github\.com/[\w.-]+/[\w.-]+)"$', (ROOT / "pyproject.toml").read_text(), re.M
    )
    if not found:
        raise SystemExit('pyproject.toml: [project.urls] must have Repository = "https://github.com/OWNER/NAME"')
    return found[1]


def stamp_badges(text: str, url: str) -> str:
    """The text with every Colab badge leading to its notebook in the repository at `url`."""
    page = url.replace("https://github.com/", "https://colab.research.google.com/github/") + "/blob/main/notebooks"
    return BADGE.sub(lambda badge: f"[![Open in Colab]({BADGE_PICTURE})]({page}/{badge[1]})", text)


def stamp_notebook(text: str, url: str) -> str:
    """The notebook, as JSON text, with its badge and its install cell for the repository at `url`."""
    notebook = nbformat.reads(text, as_version=4)
    notebook.cells[0].source = stamp_badges(notebook.cells[0].source, url)
    first_code = next(cell for cell in notebook.cells if cell.cell_type == "code")
    first_code.source = INSTALL_CELL.format(url=url)
    return nbformat.writes(notebook) + "\n"


def stamped() -> dict[Path, str]:
    """Every file that holds the address, with the text it should have."""
    url = address()
    readme, citation = ROOT / "README.md", ROOT / "CITATION.cff"
    files = {readme: stamp_badges(readme.read_text(encoding="utf-8"), url)}
    files[citation] = re.sub(r'(?<=repository-code: ")[^"]*', url, citation.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        files[path] = stamp_notebook(path.read_text(encoding="utf-8"), url)
    return files


def main() -> int:
    """Stamp what differs, and say so."""
    for path, text in stamped().items():
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"stamped {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
