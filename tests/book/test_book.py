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
    lessons = [path.stem for path in book.lessons()]
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
        page.goto(f"{own}notebooks/10_sudoku.html")
        answer = page.get_by_text("Bet 1: 16")
        assert not answer.is_visible()
        page.get_by_role("button", name="about 15", exact=True).click()
        assert answer.is_visible()
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


def test_a_check_leaves_no_code_and_no_complaint_on_its_page():
    cell = nbformat.v4.new_code_cell("attempt(check, f)", metadata={"tags": ["check"]})
    cell.outputs = [nbformat.v4.new_output("stream", text="Not yet: nothing written so far.")]
    book.change_code(cell, "[here](a.ipynb)")
    assert "remove-input" in cell.metadata["tags"]
    assert "Not yet" not in str(cell.outputs)
    assert "[here](a.ipynb)" in cell.outputs[0].data["text/markdown"]


def test_no_bar_of_progress_is_shown():
    cell = nbformat.v4.new_code_cell("learn()")
    cell.outputs = [nbformat.v4.new_output("stream", text="networks: 100%|███| 8/8 [02:04<00:00]\n95% right\n")]
    book.change_code(cell, "")
    assert cell.outputs[0].text == "95% right\n"


def test_each_lesson_has_a_card():
    assert [figure[:2] for figure in book.CROPS] == [path.stem[:2] for path in book.lessons()], (
        "CROPS has a part of a figure for each lesson"
    )


def test_every_bet_of_a_lesson_is_closed_up_to_the_end_of_its_answer():
    lessons = book.lessons()
    cells = [cell.source for path in lessons for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown"]
    marks = re.findall(r'class="(bet|bet-end)" data-bet="(\d)"', "".join(map(book.mark_bets, cells)))
    assert marks.count(("bet", "1")) == len(lessons), "each lesson has a Bet 1"
    assert len(marks) == 2 * len(re.findall(r"\*\*Bet \d[.( ]+", "".join(cells)))
    assert sorted(n for kind, n in marks if kind == "bet") == sorted(n for kind, n in marks if kind == "bet-end")


def test_a_bet_offers_what_it_lists_and_its_answer_ends_before_the_next():
    text = "**Bet 1.** How many: none, a few, or more? Why?\n\n**Bet 2.** When?\n\n**Bet 1:** none.\n\nSo.\n\n## 7 On"
    first, second, answer = book.mark_bets(text).split('<div class="bet')[1:]
    assert 'data-choices="none|a few|more"' in first
    assert 'data-choices=""' in second
    assert "So." in second  # of the answer to bet 1
    assert "## 7 On" in answer


def test_a_lesson_begins_with_its_picture_and_keeps_its_set_up_in_one_fold():
    page = nbformat.read(ROOT / "notebooks" / "05_light_cone.ipynb", 4)
    book.lesson_page(page, "05_light_cone")
    assert 'href="#live-line"' in page.cells[0].source
    assert [next(iter(output.data)) for output in page.cells[1].outputs] == ["image/png"]
    folded = [cell.source for cell in page.cells[2:]]
    assert folded[0].startswith('<details class="fold"><summary>30 minutes · what you need · set-up</summary>')
    assert folded[folded.index("</details>") + 1].startswith("## 1 ")
