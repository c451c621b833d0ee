"""The slides: extracted from the lessons, whole, and every one of them within its frame."""

import itertools
import re
import sys
from pathlib import Path

import nbformat
import pytest
from browser import CONTRAST, browser_page, served

pytest.importorskip("mdit_py_plugins", reason="needs what make slides installs")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import live  # noqa: E402
import slides  # noqa: E402

LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LOOK = """() => {
    const slide = document.querySelector(".slide.on"), faults = [];
    for (const part of slide.querySelectorAll(".later")) part.classList.add("seen");
    for (const part of slide.querySelectorAll("h2, .points *, img, figcaption, .home")) {
        if (part.closest("mjx-assistive-mml")) continue; // read aloud, not seen
        const box = part.getBoundingClientRect();
        if (box.width && (box.left < 20 || box.right > 1260 || box.top < 20 || box.bottom > 710))
            faults.push(`${part.tagName} leaves the slide: ${box.left} ${box.top} ${box.right} ${box.bottom}`);
    }
    for (const picture of slide.querySelectorAll("img"))
        if (!picture.naturalWidth) faults.push("does not show its picture");
    const home = slide.querySelector(".home");
    for (const part of home ? slide.querySelectorAll(".points > *, img") : [])
        if (part.getBoundingClientRect().bottom > home.getBoundingClientRect().top + 1)
            faults.push(`the line to take home covers ${part.tagName}`);
    return faults;
}"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides") / "decks"
    slides.write_decks(folder, "_static")
    slides.copy_mathjax(folder / "_static" / "mathjax")
    live.copy_scripts(folder / "_static" / "live")
    return folder


@pytest.mark.slow
def test_every_slide_in_a_browser(decks):
    faults = []
    with served(decks) as own, browser_page(faults, own, 1280, 720) as page:
        for lesson in LESSONS:
            page.goto(f"{own}{lesson.stem}.html")
            page.evaluate("MathJax.startup.promise.then(() => new Promise(requestAnimationFrame))")
            found = page.evaluate("[...document.querySelectorAll('mjx-merror')].map(bad => bad.textContent)")
            found += page.evaluate(CONTRAST)
            for number in range(page.evaluate("slides.length")):
                page.evaluate(f"show({number})")
                found += [f"{number + 1}: {fault}" for fault in page.evaluate(LOOK)]
            faults += [f"{lesson.stem} {fault}" for fault in found]
    assert faults == []


def test_keys_lead_through_a_deck(decks):
    faults = []
    with served(decks) as own, browser_page(faults, own, 1280, 720) as page:
        page.goto(f"{own}05_light_cone.html")
        count = page.evaluate("slides.length")
        hidden = page.evaluate("document.querySelectorAll('.later').length")
        for _ in range(count - 1 + hidden):
            page.keyboard.press("ArrowRight")
        assert page.evaluate("at") == count - 1
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("location.hash") == f"#{count - 1}"
        page.keyboard.press("Home")
        with page.expect_popup() as opened:
            page.keyboard.press("s")
        page.keyboard.press("ArrowRight")
        assert "2 / " in opened.value.inner_text("body")
    assert faults == []


def test_a_figure_keeps_its_keys_and_hands_on_a_slide_of_any_size(decks):
    faults = []
    with served(decks) as own, browser_page(faults, own, 2560, 1440) as page:
        page.goto(f"{own}05_light_cone.html")
        place = page.evaluate("slides.findIndex((slide) => slide.querySelector('.live'))")
        page.evaluate(f"show({place})")
        page.click(".live-bet button[data-bet=none]")
        before = page.evaluate("live.line.seen.bits")
        box = page.locator("canvas").bounding_box()
        scale = box["width"] / page.evaluate("document.querySelector('canvas').clientWidth")
        assert scale > 1.2
        page.mouse.click(box["x"] + scale * page.evaluate("live.line.spec.left(3.5)"), box["y"] + scale * 38)
        page.keyboard.press("ArrowRight")
        after = page.evaluate("live.line.seen.bits")
        assert [i for i in range(len(before)) if before[i] != after[i]] == [3]
        assert page.evaluate("at") == place
        page.keyboard.press("PageDown")
        assert page.evaluate("at") == place + 1
    assert faults == []


def test_an_overview_shows_all_slides_and_a_click_chooses_one(decks):
    faults = []
    with served(decks) as own, browser_page(faults, own, 1280, 720) as page:
        page.goto(f"{own}05_light_cone.html")
        page.keyboard.press("o")
        page.mouse.click(340 + 100, 100)  # the second, of 320 pixels each
        assert page.evaluate("at") == 1
        assert page.evaluate("document.body.className") == ""
    assert faults == []


def test_a_finger_wipes_to_the_next_slide(decks):
    faults = []
    with served(decks) as own, browser_page(faults, own, 400, 800) as page:
        page.goto(f"{own}05_light_cone.html")
        session = page.context.new_cdp_session(page)
        for start, end, at in ((300, 100, 1), (100, 300, 0), (200, 180, 0)):
            for event, x in (("touchStart", start), ("touchMove", end), ("touchEnd", None)):
                touches = [] if x is None else [{"x": x, "y": 100}]
                session.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": touches})
            assert page.evaluate("at") == at
    assert faults == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_deck_has_all_of_a_core(path, tmp_path):
    cells = nbformat.read(path, as_version=4).cells
    ends = (number for number, cell in enumerate(cells) if re.search(r"^## At home", cell.source, re.M))
    core = cells[: next(ends, None)]
    deck = slides.slides_of(path, tmp_path, "")
    thinking = [number for number, slide in enumerate(deck) if slide.live]
    assert len(thinking) == (path.stem in live.FIGURES)
    assert all(re.match(rf"{live.FIGURES[path.stem][0]}[.:]", deck[number + 1].caption) for number in thinking)
    pictures = [slide for slide in deck if slide.picture]
    assert len(pictures) == sum(
        "image/png" in output.get("data", {}) for cell in core for output in cell.get("outputs", [])
    )
    text = "\n\n".join(cell.source for cell in core if cell.cell_type == "markdown")
    text = text[re.search(r"^## ", text, re.M).start() :]  # before it: how to run the notebook
    text = re.sub(r"<details>.*?</details>|<!--.*?-->", "", text, flags=re.S)
    points = "\n\n".join(point for slide in deck for point in [*slide.points, *slide.home])
    assert all(formula in points for formula in re.findall(r"^\$\$.*?\$\$$", text, re.M | re.S))
    for line in re.findall(r"^\*\*(?:To take home:|Bet \d\.).*", text, re.M):
        assert re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line) in points
    for stub, check in itertools.pairwise(core):
        if "check" in check.metadata.get("tags", []):
            assert slides.html.escape(stub.source) in points
    notes = "\n\n".join(note for slide in deck for note in slide.notes)
    for line in re.findall(r"^[A-Z][^|\n]{60,}$", text, re.M):
        assert re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line).strip() in notes
    assert len(deck) <= 30
