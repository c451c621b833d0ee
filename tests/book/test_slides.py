"""The slides: extracted from the lessons, and every one of them within its frame."""

import re
import sys
from pathlib import Path

import nbformat
import pytest
from browser import browser_page, served

pytest.importorskip("mdit_py_plugins", reason="needs what make slides installs")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import live  # noqa: E402
import slides  # noqa: E402

LESSONS = slides.lessons()
LOOK = """() => {
    const slide = document.querySelector(".slide.on"), faults = [];
    for (const part of slide.querySelectorAll(".later")) part.classList.add("seen");
    for (const part of slide.querySelectorAll("h2, .headline, .points *, img, figcaption, .home")) {
        if (part.closest("mjx-assistive-mml")) continue; // read aloud, not seen
        const box = part.getBoundingClientRect();
        if (box.width && (box.left < 20 || box.right > 1260 || box.top < 20 || box.bottom > 710))
            faults.push(`leaves the slide: ${part.outerHTML}`);
    }
    for (const picture of slide.querySelectorAll("img"))
        if (!picture.naturalWidth) faults.push("does not show its picture");
    const home = slide.querySelector(".home");
    for (const part of home ? slide.querySelectorAll(".points > *, img") : [])
        if (part.getBoundingClientRect().bottom > home.getBoundingClientRect().top + 1)
            faults.push(`the line to take home covers ${part.tagName}`);
    for (const button of slide.querySelectorAll("button"))
        if (parseFloat(getComputedStyle(button).fontSize) < 18) faults.push(`too small: ${button.textContent}`);
    return faults;
}"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides") / "decks"
    slides.write_decks(folder, "_static")
    slides.copy_mathjax(folder / "_static" / "mathjax")
    slides.copy_faces(folder / "_static" / "faces")
    live.copy_scripts(folder / "_static" / "live")
    return folder


@pytest.mark.slow
def test_every_slide_in_a_browser(decks):
    assert {path.stem for path in LESSONS} < {path.stem for path in decks.glob("*.html")}
    faults = []
    with served(decks) as own, browser_page(faults, own, 1280, 720) as page:
        for lesson in LESSONS:
            page.goto(f"{own}{lesson.stem}.html")
            page.evaluate("MathJax.startup.promise.then(() => new Promise(requestAnimationFrame))")
            found = page.evaluate("[...document.querySelectorAll('mjx-merror')].map(bad => bad.textContent)")
            for number in range(page.evaluate("slides.length")):
                page.evaluate(f"show({number})")
                found += [f"{number + 1}: {fault}" for fault in page.evaluate(LOOK)]
            faults += [f"{lesson.stem} {fault}" for fault in found]
    assert faults == []


def test_keys_lead_through_a_deck_and_leave_a_figure_its_own(decks):
    faults = []
    with served(decks) as own, browser_page(faults, own, 1280, 720) as page:
        page.goto(f"{own}05_light_cone.html")
        page.keyboard.press("End")
        page.wait_for_function("at === slides.length - 1")
        place = page.evaluate("slides.findIndex((slide) => slide.querySelector('.live'))")
        page.evaluate(f"show({place})")
        page.click(".live-bet button[data-bet=none]")
        page.focus("canvas")
        page.keyboard.press("ArrowRight")
        assert page.evaluate("at") == place
        page.keyboard.press("PageDown")
        page.wait_for_function(f"at === {place + 1}")
        page.evaluate("show(slides.findIndex((slide) => slide.matches('.answer')))")
        assert not page.is_visible(".on .home")
        page.keyboard.press(" ")
        page.wait_for_selector(".on.answer .home", state="visible")
    assert faults == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_deck_has_all_of_a_core(path, tmp_path):
    cells = nbformat.read(path, as_version=4).cells
    ends = (number for number, cell in enumerate(cells) if re.search(r"^## At home", cell.source, re.M))
    core = cells[: next(ends, None)]
    deck = slides.slides_of(path, tmp_path, "")
    assert len([slide for slide in deck if slide.live]) == (path.stem in live.FIGURES)
    pictures = ["image/png" in output.get("data", {}) for cell in core for output in cell.get("outputs", [])]
    assert len([slide for slide in deck if slide.picture]) == sum(pictures)
    words = [output.get("data", {}).get("text/markdown", "") for cell in core for output in cell.get("outputs", [])]
    assert [slide.headline for slide in deck if slide.headline] == [one for one in words if one.startswith("**")]
    text = "\n\n".join(cell.source for cell in core if cell.cell_type == "markdown")
    text = re.sub(r"<details>.*?</details>|<!--.*?-->\n?", "", text, flags=re.S)
    points = "\n\n".join(point for slide in deck for point in [*slide.points, *slide.home])
    assert all(formula in points for formula in re.findall(r"^\$\$.*?\$\$$", text, re.M | re.S))
    assert all(line in points for line in re.findall(r"\*\*To take home:.*", text))
    bets = re.findall(r"^\*\*Bet \d(?:\.| \().*", text, re.M)
    asked = ["".join(slide.points) for slide in deck if slide.kind == "bet"]
    for bet, slide in zip(bets, asked, strict=True):
        assert set(re.findall(r"\w+", bet)) - {"or"} <= set(re.findall(r"\w+", slide))
    assert len([slide for slide in deck if slide.kind == "answer" and slide.points[0].startswith("**Bet")]) == len(bets)
    for point in points.split("\n\n"):
        if said := re.match(r"\*\*(Two|Three) questions", point):
            assert point.count("?") == {"Two": 2, "Three": 3}[said[1]]
        assert not re.search(r"(^|\s)\*\w", re.sub("<[^>]*>", "", slides.MARKDOWN.render(point)))


def test_what_is_marked_is_shown_and_options_are_a_list():
    assert slides.points_of("A. <!--slide-->*B.* C.<!--spoken--> **D.**") == ["*B.* C."]
    assert slides.points_of("<!--slide-->\nA. B.") == ["A. B."]
    assert slides.points_of("**A.** <!--slide-->B.") == ["**A.**", "B."]
    assert slides.bet_of("", "**Bet 2.** *It stops: early, in time, or late?*").points == [
        "**Bet 2.** *It stops?*",
        "1. early\n1. in time\n1. late",
    ]
