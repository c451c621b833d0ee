"""Write the repository's address, from pyproject.toml, wherever a reader needs it.

    python tools/stamp.py

It stands in the Colab links of the notebooks and of README.md, in links to the book, in the cell that installs the
packages on Colab, in CITATION.cff, paper.md, the other pyproject.toml, and what docs/running.md says of Kaggle. The
picture for links to the repository is Figure 05.3, as it is committed. A test holds all equal to what this command
writes.
"""

from __future__ import annotations

import argparse
import base64
import io
import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = "https://github.com/your-account/learning-to-ponder"
# A link in words: a picture from elsewhere is broken wherever there is no network.
COLAB_LINK = re.compile(r"\[([^]]*Colab)\]\(https://colab\.research\.google\.com/github/[^)]*/(\w+\.ipynb)\)")
ADDRESS_AFTER = {  # what stands before the address
    "CITATION.cff": 'repository-code: "',
    "paper.md": r"\[repository\]\(",
    "course-package/pyproject.toml": 'Repository = "',
    "evidence/pyproject.toml": 'Repository = "',
    "docs/running.md": r"welcome\?src=|git\+",
}
ONE_PAGE = ROOT / "notebooks" / "00_on_one_page.ipynb"  # before the lessons, and none of them: it needs torch alone
INSTALL_CELL = """\
import sys

if "google.colab" in sys.modules:  # install the course beside Colab's own torch
    import os

    url = os.environ.get("PROJECT_GIT_URL", "{url}")
    %pip install -q git+{{url}} git+{{url}}#subdirectory=course-package{evidence}"""


def notebooks(root: Path = ROOT) -> list[Path]:
    """The page before the lessons, the lessons, the evidence, and the problem sheets."""
    folders = [root / name for name in ("notebooks", "evidence/notebooks", "notebooks/problems")]
    return [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]


def lessons() -> list[Path]:
    """The lessons alone."""
    return [path for path in notebooks() if path.parent == ROOT / "notebooks" and path != ONE_PAGE]


def parser_of(what: str | None) -> argparse.ArgumentParser:
    """The parser of a command. From now on a console shows a question mark for a character that it does not know."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # else it is not a console
        sys.stdout.reconfigure(errors="replace")
    return argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)


def address() -> str:
    """The repository's address, from pyproject.toml."""
    match = re.search(
        r'^Repository = "(https://github\.com/[\w.-]+/[\w.-]+)"$',
        (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
        re.M,
    )
    if not match:
        raise SystemExit('pyproject.toml: [project.urls] must have Repository = "https://github.com/OWNER/NAME"')
    return match[1]


def pages_address() -> str:
    """Where the book is published: at GitHub Pages, beside the repository."""
    account, name = address().split("/")[-2:]
    return f"https://{account.lower()}.github.io/{name}/"


def stamp_links(text: str, url: str) -> str:
    """The text with every Colab link leading to its notebook in the repository at `url`."""
    page = url.replace("https://github.com/", "https://colab.research.google.com/github/") + "/blob/main"
    where = {path.name: path.relative_to(ROOT).as_posix() for path in notebooks()}

    def stamped_link(link: re.Match[str]) -> str:
        return f"[{link[1]}]({page}/{where[link[2]]})"

    return COLAB_LINK.sub(stamped_link, text)


def stamp_notebook(path: Path, url: str) -> str:
    """The notebook, as JSON text, with its Colab link and its install cell for the repository at `url`."""
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    notebook.cells[0].source = stamp_links(notebook.cells[0].source, url)
    if path != ONE_PAGE:
        first_code = next(cell for cell in notebook.cells if cell.cell_type == "code")
        evidence = " git+{url}#subdirectory=evidence" if path.is_relative_to(ROOT / "evidence") else ""
        first_code.source = INSTALL_CELL.format(url=url, evidence=evidence)
    return nbformat.writes(notebook) + "\n"


def figure(number: str) -> bytes:
    """The picture of a lesson's figure, such as "05.3", as PNG."""
    (path,) = (ROOT / "notebooks").glob(f"{number[:2]}_*.ipynb")
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            if f"Figure {number}" in output.get("metadata", {}).get("image/png", {}).get("alt", ""):
                return base64.b64decode(output.data["image/png"])
    raise SystemExit(f"{path.name} has no Figure {number}")


def stamped() -> dict[Path, bytes]:
    """Every file that holds what is stamped, with the content it should have."""
    url = address()
    names = [name for name in ("README.md", "TEACHING.md", *ADDRESS_AFTER) if (ROOT / name).exists()]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}  # a copy for students has no TEACHING
    text = stamp_links(texts["README.md"], url)
    text = re.sub(r"(?<=pip install git\+)https://[^`\s]+", url, text)
    texts["README.md"] = text
    for name in names:
        texts[name] = re.sub(r"https://[\w-]+\.github\.io/[\w.-]+/", pages_address(), texts[name])
    for name, before in ADDRESS_AFTER.items():
        texts[name] = re.sub(rf"({before})https://github\.com/[\w.-]+/[\w.-]+", rf"\g<1>{url}", texts[name])
    files = {ROOT / name: text.encode() for name, text in texts.items()}
    files[ROOT / "results" / "preview.png"] = figure("05.3")
    for path in notebooks():
        files[path] = stamp_notebook(path, url).encode()
    return files


def main() -> int:
    """Stamp what differs, and say so."""
    parser_of(__doc__).parse_args()
    for path, content in stamped().items():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
            print(f"stamped {path.relative_to(ROOT)}")
    if address() == PLACEHOLDER:
        print("open in pyproject.toml, [project.urls]: the address")
    return 0


if __name__ == "__main__":
    sys.exit(main())
