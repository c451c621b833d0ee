"""The web book: every page of it in a browser, and the links that are made on the way."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from browser import browser_page, faults_of, served

pytest.importorskip("sphinx", reason="needs Sphinx: make book installs it")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import book  # noqa: E402

KINDS = [  # one page of each kind, for the rules of WCAG that are too slow for all
    "index.html",
    "search.html",
    "api/ponder_utils.training.html",
    "notebooks/05_light_cone.html",
    "notebooks/problems/05_light_cone_problems.html",
]
LOOK = r"""async () => {
    if (window.MathJax) await MathJax.startup.promise;
    const faults = [];
    for (const picture of document.querySelectorAll("article img:not(.card img)")) {
        if (!picture.naturalWidth) faults.push(`does not show ${picture.src}`);
        if (picture.alt.split(" ").length < 4) faults.push(`no sentence for ${picture.src}`);
    }
    for (const bad of document.querySelectorAll("mjx-merror")) faults.push(bad.textContent);
    for (const text of document.querySelectorAll("article :is(p, li, td, th)")) {
        const words = text.cloneNode(true);
        words.querySelectorAll("code, pre").forEach((code) => code.remove());
        if (/\$[^$]+\$|\\\(|\\\[|\\tag/.test(words.innerText)) faults.push(`a formula: ${words.innerText}`);
    }
    return faults;
}"""
LINKS = "[...document.querySelectorAll('a[href]')].map((a) => a.href)"
IDS = "[...document.querySelectorAll('[id]')].map((part) => part.id)"


@pytest.mark.slow
def test_every_page_in_a_browser(tmp_path):
    subprocess.run([sys.executable, "tools/book.py"], cwd=ROOT, check=True)
    folder = urlsplit(book.pages_address()).path.strip("/")  # as at GitHub Pages
    (tmp_path / folder).symlink_to(book.SITE)
    pages = [path.relative_to(book.SITE).as_posix() for path in sorted(book.SITE.rglob("*.html"))]
    lessons = [path.stem for path in book.notebooks() if path.parent.name == "notebooks"]
    assert len([name for name in pages if name.startswith("slides/")]) == len(lessons) + 1
    faults, links, targets = [], set(), {""}
    with served(tmp_path) as server, browser_page(faults, own := f"{server}{folder}/") as page:
        for name in pages:
            if name.startswith("slides/"):  # these have a test of their own
                continue
            page.goto(own + name)
            faults += [f"{name}: {fault}" for fault in page.evaluate(LOOK)]
            faults += faults_of(page, axe=name in KINDS)
            targets |= {f"{name}#{part}" for part in page.evaluate(IDS)}
            links |= {link.removeprefix(own) for link in page.evaluate(LINKS) if link.startswith(own)}
        page.goto(f"{own}search.html?q=halting+distribution")
        assert "/api/" not in page.locator("#search-results a").first.get_attribute("href")
    assert faults == []
    assert {f"notebooks/{stem}.html" for stem in lessons} < links
    targets |= {path.relative_to(book.SITE).as_posix() for path in book.SITE.rglob("*")}
    links = {link.rstrip("#") for link in links if link[:1] != "#"}  # those are of 404.html
    assert links - targets == set()


def test_links_take_their_files_along_and_code_is_no_link(tmp_path, monkeypatch):
    monkeypatch.setattr(book, "SOURCE", tmp_path)
    text = "`networks[0](upright)`, [a page](CONTRIBUTING.md), [`code`](requirements.txt), [out](https://example.org)"
    assert book.carry(text, Path()) == text
    assert [path.name for path in tmp_path.iterdir()] == ["requirements.txt"]
    assert "/tree/main/docs" in book.carry("[a folder](docs)", Path())
    assert "/blob/main/paper.md" in book.carry("[no page of the book](paper.md)", Path())


@pytest.mark.parametrize(
    ("stem", "text", "linked"),
    [
        ("05_light_cone", "late (section 12).", "late ([section 12](#05-light-cone-12))."),
        ("06_ways_to_stop", "sections 4 and 60", "sections [4](#06-ways-to-stop-4) and 60"),
        ("05_light_cone", "sensitivity: Section 2 (arxiv.org/abs/1603.08983)", None),
    ],
)
def test_sections_become_links_where_they_are(stem, text, linked):
    assert book.Sections().link(text, stem) == (linked or text)


def test_a_check_leaves_no_code_and_no_complaint_on_its_page():
    cell = nbformat.v4.new_code_cell("attempt(check, f)", metadata={"tags": ["check"]})
    cell.outputs = [nbformat.v4.new_output("stream", text="Not yet: nothing written so far.")]
    book.change_code(cell)
    assert "remove-input" in cell.metadata["tags"]
    assert "Not yet" not in str(cell.outputs)


def test_answers_to_bets_and_words_for_the_class_are_folded():
    asked = "**Bet 1.** How many?\n\n**Bet 1:** seven,\nor so.\n\nMore."
    told = "**Bet 2, the answer.** None."
    text = f"{asked}\n\n*In class:* 30 minutes.\n\n{told}"
    folded = book.fold_text(text)
    outside = re.sub(r"<details.*?</details>\n", "", folded, flags=re.S)
    assert "How many?" in outside
    assert "More." in outside
    assert not any(words in outside for words in ("seven", "or so", "30 minutes", "None"))
    assert all(words in folded for words in ("seven,\nor so.", "30 minutes.", "None."))
