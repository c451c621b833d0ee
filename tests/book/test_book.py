"""The web book: every page of it in a browser, and the links that are made on the way."""

import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from browser import CONTRAST, TOO_WIDE, browser_page, served

pytest.importorskip("sphinx", reason="needs Sphinx: make book installs it")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import live  # noqa: E402

import book  # noqa: E402

KINDS = [  # one page of each kind, for the rules of WCAG that are too slow for all
    "index.html",
    "search.html",
    "api/ponder_utils.training.html",
    "notebooks/05_light_cone.html",
    "notebooks/evidence/08_inference.html",
    "notebooks/problems/05_light_cone_problems.html",
]
LOOK = r"""async () => {
    if (window.MathJax) await MathJax.startup.promise;
    const faults = [];
    for (const picture of document.querySelectorAll("article img:not(.card img)")) {
        if (!picture.naturalWidth) faults.push(`does not show ${picture.src}`);
        if (picture.alt.split(" ").length < 4) faults.push(`no sentence for ${picture.src}: "${picture.alt}"`);
    }
    for (const bad of document.querySelectorAll("mjx-merror")) faults.push(`equation: ${bad.textContent}`);
    if (/\\\(|\\\[|\$\$|\\tag/.test(document.querySelector("article").innerText)) faults.push("a raw formula");
    for (const text of document.querySelectorAll("article :is(p, li, td, th)")) {
        const words = text.cloneNode(true);
        words.querySelectorAll("code, pre").forEach((code) => code.remove());
        if (/\$[^$]+\$/.test(words.textContent)) faults.push(`a raw formula: ${words.textContent.slice(0, 80)}`);
    }
    return faults;
}"""
CARDS = "[...document.querySelectorAll('.card')].map((card) => card.getAttribute('href'))"
# Colours are measured below, faster. Sphinx writes long signatures as lists that are nothing but definitions.
AXE = """() => axe.run({
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    rules: {
        "color-contrast": {enabled: false}, "definition-list": {enabled: false},
        "label-content-name-mismatch": {enabled: true}, "heading-order": {enabled: true}
    }
}).then(
    found => found.violations.flatMap(fault => fault.nodes.map(node => `${fault.id}: ${node.html.slice(0, 120)}`)))"""


def faults_of(page, url, axe):
    """What is wrong with a page at two widths, in two themes."""
    page.set_viewport_size({"width": 1400, "height": 1000})
    page.goto(url)
    found = page.evaluate(LOOK)
    if axe:
        page.evaluate(axe)
        found += page.evaluate(AXE)
    for width in (1400, 400):
        page.set_viewport_size({"width": width, "height": 1000})
        for theme in ("light", "dark"):
            page.evaluate(f"document.body.dataset.theme = '{theme}'")
            found += page.evaluate(TOO_WIDE)
            found += [f"{theme}: {fault}" for fault in page.evaluate(CONTRAST)]
    return [f"{url}: {fault}" for fault in found]


def test_links_take_their_files_along_and_code_is_no_link(tmp_path, monkeypatch):
    monkeypatch.setattr(book, "SOURCE", tmp_path)
    text = "`networks[0](upright)`, [a page](CONTRIBUTING.md), [`code`](requirements.txt), [out](https://example.org)"
    assert book.carry(text, Path()) == text
    assert [path.name for path in tmp_path.iterdir()] == ["requirements.txt"]
    assert "/tree/main/docs" in book.carry("[a folder](docs)", Path())
    assert "/blob/main/paper.md" in book.carry("[no page of the book](paper.md)", Path())


@pytest.mark.slow
def test_every_page_in_a_browser(tmp_path):
    subprocess.run([sys.executable, "tools/book.py"], cwd=ROOT, check=True)
    folder = urlsplit(book.pages_address()).path.strip("/")  # as at GitHub Pages
    (tmp_path / folder).symlink_to(book.SITE)
    axe = Path(str(distribution("axe-playwright-python").locate_file("axe_playwright_python/axe.min.js"))).read_text()
    pages = [path.relative_to(book.SITE).as_posix() for path in sorted(book.SITE.rglob("*.html"))]
    pages = [name for name in pages if not name.startswith("slides/")]  # these have a test of their own
    assert set(KINDS) < set(pages)
    assert (book.SITE / "slides/05_light_cone.html").exists()
    faults = []
    with served(tmp_path) as server, browser_page(faults, own := f"{server}{folder}/") as page:
        for name in pages:
            faults += faults_of(page, own + name, axe if name in KINDS else "")
            if name not in ("search.html", "genindex.html", "404.html"):
                described = page.locator("meta[name=description]").get_attribute("content")
                assert len(described.split()) > 3, name
        page.goto(f"{own}search.html?q=halting+distribution")
        first = page.locator("#search-results li a").first
        assert "/api/" not in first.get_attribute("href")
        page.goto(f"{own}404.html")
        assert page.locator("article p a").first.evaluate("(link) => link.href") == f"{own}index.html"
        page.goto(own)
        lessons = [path.stem for path in book.notebooks() if path.parent.name == "notebooks"]
        assert [Path(link).stem for link in page.evaluate(CARDS)] == lessons
        for path in book.notebooks():  # in the list at the left evidence and problem sheet stand below their lesson
            below = f'.sidebar-tree li:has(> a[href*="{path.stem[:2]}_"]) li a[href$="{path.stem}.html"]'
            assert page.locator(below).count() == (path.stem not in lessons), path.stem
    assert faults == []


@pytest.fixture(scope="module")
def sections():
    return book.Sections()


@pytest.mark.parametrize(
    ("stem", "text", "linked"),
    [
        ("05_light_cone", "late (section 12).", "late ([section 12](#05-light-cone-12))."),
        ("06_ways_to_stop", "sections 4 and 60", "sections [4](#06-ways-to-stop-4) and 60"),
        ("05_light_cone", "sensitivity: Section 2 (arxiv.org/abs/1603.08983)", None),
    ],
)
def test_sections_become_links_where_they_are(sections, stem, text, linked):
    assert sections.link(text, stem) == (linked or text)


def test_of_links_to_a_deleted_lesson_the_words_are_left():
    text = "[a sheet](problems/00_gone_problems.ipynb), ![a map](figures/00_gone.svg), [06](06_ways_to_stop.ipynb)"
    assert book.without_deleted(text) == "a sheet, a map, [06](06_ways_to_stop.ipynb)"


@pytest.mark.parametrize("stem", live.FIGURES)
def test_a_live_figure_stands_before_its_twin(stem):
    page = nbformat.read(ROOT / f"notebooks/{stem}.ipynb", 4)
    before = [cell.id for cell in page.cells]
    book.with_live_figure(page, stem)
    twin, name = live.FIGURES[stem]
    (place,) = [i for i, cell in enumerate(page.cells) if cell.id not in before]
    assert f'id="live-{name}"' in page.cells[place].source
    shown = page.cells[place + 1].outputs
    assert any(twin in output.get("data", {}).get("text/markdown", "") for output in shown)


def test_a_live_figure_without_its_twin_is_an_error():
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A lesson")])
    with pytest.raises(ValueError, match="one cell"):
        book.with_live_figure(page, next(iter(live.FIGURES)))


def test_a_page_is_its_notebook_with_folded_code_hidden(sections, tmp_path, monkeypatch):
    monkeypatch.setattr(book, "SOURCE", tmp_path)
    path = ROOT / "notebooks/05_light_cone.ipynb"
    book.notebook_page(path, sections)
    page, original = nbformat.read(tmp_path / "notebooks" / path.name, 4), nbformat.read(path, 4)
    ids = [cell.id for cell in original.cells]
    page.cells = [cell for cell in page.cells if cell.id in ids]  # without the live figure
    assert (tmp_path / "download" / path.name).read_bytes() == path.read_bytes()
    assert [cell.source for cell in page.cells if cell.cell_type == "code"] == [
        cell.source for cell in original.cells if cell.cell_type == "code"
    ]
    hidden = ["hide-input" in cell.metadata.get("tags", []) for cell in page.cells]
    removed = ["remove-input" in cell.metadata.get("tags", []) for cell in page.cells]
    folded = [
        cell.cell_type == "code"
        and (
            cell.metadata.get("jupyter", {}).get("source_hidden", False)
            or "parameters" in cell.metadata.get("tags", [])
            or book.is_import(cell)
        )
        for cell in original.cells
    ]
    assert [a or b for a, b in zip(hidden, removed, strict=True)] == folded


@pytest.mark.parametrize("path", [*(ROOT / "notebooks").rglob("*.ipynb")], ids=lambda path: path.stem)
def test_words_that_speak_of_a_slider_say_that_it_is_in_the_notebook(path):
    text = " ".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    for sentence in re.split(r"(?<=[.?!:*])\s", text):
        assert "slider" not in sentence.lower() or "notebook" in sentence.lower(), sentence


def test_percentages_do_not_break_and_code_stays():
    assert book.carry("98 % of `7 % 3` and 5 % $5 \\%$", Path()) == "98\u00a0% of `7 % 3` and 5\u00a0% $5 \\%$"


def test_a_check_leaves_no_code_and_no_complaint_on_its_page():
    cell = nbformat.v4.new_code_cell("attempt(check, f)", metadata={"tags": ["check"]})
    cell.outputs = [nbformat.v4.new_output("stream", text="Not yet: nothing written so far.")]
    book.change_code(cell)
    assert "remove-input" in cell.metadata["tags"]
    assert "Not yet" not in str(cell.outputs)


def test_answers_to_bets_and_words_for_the_class_are_folded():
    asked, told = "**Bet 1.** How many?\n\n**Bet 1:** seven,\nor so.\n\nMore.", "**Bet 2, the answer.** None."
    text = f"{asked}\n\n*In class:* 30 minutes.\n\n{told}"
    folded = book.fold_text(text)
    outside = re.sub(r"<details.*?</details>\n", "", folded, flags=re.S)
    assert "How many?" in outside
    assert "More." in outside
    assert not any(words in outside for words in ("seven", "or so", "30 minutes", "None"))
    assert all(words in folded for words in ("seven,\nor so.", "30 minutes.", "None."))
