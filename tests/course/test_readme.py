"""The snippets of README and of docs/package.md run, as a reader would run them; only the sizes are smaller here."""

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import nbformat
import pytest
import torch

import ponder_utils

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("", "docs/", "evidence/", "notebooks/problems/", "notebooks/solutions/problems/")
PAGES = [f"{folder}{path.name}" for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md"))]
SHELVES = ("notebooks", "notebooks/problems", "evidence/notebooks")
NOTEBOOKS = [path.relative_to(ROOT).as_posix() for shelf in SHELVES for path in sorted((ROOT / shelf).glob("*.ipynb"))]
SMALLER = {"2000": "20", "EPOCHS, N = 10": "EPOCHS, N = 2", "lines(4000": "lines(200", "lines(1000": "lines(50"}


def snippets(page):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)


def smaller(text):
    for full, small in SMALLER.items():
        text = text.replace(full, small)
    return text


def test_the_snippets_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    (short,) = snippets("README.md")
    names = {}
    exec(smaller(short), names)
    assert names["prediction"].y_hat.shape == (5,)
    if find_spec("tensorboard") is None:
        monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", mock.MagicMock())
    names = {}
    for number, text in enumerate(map(smaller, snippets("docs/package.md")), 1):
        exec(compile(text, f"package.md, snippet {number}", "exec"), names)
        if "checkpoint_dir" in text:  # the same call once more goes on from its end; another run is refused
            rows = names["rows"]
            exec(text, names)
            assert names["rows"] == rows
            with pytest.raises(ValueError, match=r"of another run: config\['lambda_p'\]: 0\.3 here"):
                exec(text.replace('"lambda_p": 0.4', '"lambda_p": 0.3'), names)
    assert number == 6
    assert names["output"].y_hat.shape == (5, 7)
    assert (tmp_path / "runs/lines/best.pt").exists()


def test_every_public_name_stands_in_the_reference():
    text = (ROOT / "docs" / "package.md").read_text(encoding="utf-8")
    assert [name for name in ponder_utils.__all__ if not re.search(rf"`{name}[`(]", text)] == []


def text_of(page):
    """What a reader reads: of a notebook its text."""
    if page.endswith(".md"):
        return (ROOT / page).read_text(encoding="utf-8")
    cells = nbformat.read(ROOT / page, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("page", PAGES + NOTEBOOKS)
def test_what_a_page_names_is_there(page):
    """Links to files, paths in code font, and targets of make."""
    text = text_of(page)
    links = re.findall(r"\]\((?!https?://)([^)#]+)\)", text)
    files = [link for link in links if page.endswith(".md") or "." in link]  # and no formula
    assert [link for link in files if not ((ROOT / page).parent / link).exists()] == []
    folders = (
        "ponder_utils|ponder_course|evidence|results"
        + "|benchmarks|examples|notebooks|tests|tools" * page.endswith(".md")
    )
    paths = re.findall(rf"`((?:{folders})/[\w./]*)`", text)  # a notebook also names others' files
    assert [path for path in paths if "NN" not in path and not (ROOT / path).exists()] == []
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert {name for name in re.findall(r"`make ([a-z-]+)", text) if name not in targets} == set()
