"""Extract slides from the lessons, a deck for each: make slides.

    python tools/slides.py

Nothing is written twice. On the slides stand, in the order of a lesson's core: its question, what is printed in bold,
bets, equations, tables, every figure with its caption, and the lines to take home. All prose becomes the speaker's
notes. Decks are files in runs/slides that need no network; the keys are listed on runs/slides/index.html.
"""

from __future__ import annotations

import html
import math
import re
import shutil
import sys
from dataclasses import dataclass, field
from importlib.metadata import distribution
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from stamp import ROOT, print_anywhere

DECKS = ROOT / "runs" / "slides"
PARTS = ROOT / "book" / "slides"
FULL = 10  # lines of text on a slide
SENTENCE_END = re.compile(r'[.?!](?:\*\*|\*)?[)"]?\s+(?=[A-Z0-9"$(*])')


def as_math(text: str, options: dict) -> str:
    """A formula as MathJax finds it."""
    left, right = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
    return left + html.escape(text) + right


MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table").use(dollarmath_plugin, renderer=as_math)


@dataclass
class Slide:
    """What stands on a slide, as Markdown; a picture, as HTML; and what is said to it."""

    title: str
    points: list[str] = field(default_factory=list)
    picture: str = ""
    caption: str = ""
    home: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> float:
        """How many lines of text it is, about."""
        return sum(map(lines_of, self.points)) + 1.5 * sum(map(lines_of, self.home))


def lines_of(point: str) -> float:
    """How many lines a point takes on a slide, about."""
    if point.startswith("$$"):
        return 2.5 + 1.8 * point.count(r"\\")
    if point.startswith("<div>"):  # a table
        return 1.3 * point.count("<tr")
    if point.startswith(("|", "<pre>")):
        return 1.3 * len(point.splitlines())
    return sum(math.ceil(len(line) / 66) + 0.4 for line in point.splitlines())


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph; none ends within bold print or within a formula."""
    found, start = [], 0
    for end in SENTENCE_END.finditer(paragraph):
        before = paragraph[: end.end()]
        if before.count("**") % 2 == 0 and before.count("$") % 2 == 0:
            found.append(paragraph[start : end.end()].strip())
            start = end.end()
    return [*found, paragraph[start:].strip()]


def points_of(paragraph: str) -> list[str]:
    """What of a paragraph stands on the slide: formulas, lists, tables, bets, tasks, and the sentences with bold print.

    After a few bold words, such as "Alone." or "So which one?", the next sentence is shown, too.
    """
    if paragraph.startswith(("**What this lesson did not show", "**Not shown")):
        return []
    whole = ("$$", "|", "- ", "**Next", "**Three questions", "**Task", "**Your turn")
    if paragraph.startswith(whole) or re.match(r"\*\*Bet \d\.", paragraph):
        return [paragraph]
    points = []
    label = ""
    spoken = sentences(paragraph)
    if "**Bet" in spoken[0]:  # how it came out
        spoken = [" ".join(spoken[:2]), *spoken[2:]]
    for sentence in spoken:
        if label:
            points.append(f"{label} {sentence}")
            label = ""
        elif re.fullmatch(r"\*\*[^*]*[.?]\*\*", sentence) and len(sentence.split()) <= 6:
            label = sentence
        elif "**" in sentence:
            points.append(sentence)
    return [*points, label] if label else points


def picture_of(output: nbformat.NotebookNode, source: str, folder: Path) -> str:
    """The figure of an output as HTML: the drawing that is kept for slides if there is one, which stays sharp."""
    alt = html.escape(output.metadata["image/png"]["alt"])
    if kept := re.search(r'svg="(\w+)"', source):
        shutil.copy(ROOT / "results" / "figures" / f"{kept[1]}.svg", folder)
        return f'<img src="{kept[1]}.svg" alt="{alt}">'
    return f'<img src="data:image/png;base64,{output.data["image/png"].strip()}" alt="{alt}">'


def blocks(source: str) -> list[str]:
    """The paragraphs of a cell, without what only works in a notebook, and markers of facts; links as their words."""
    text = re.sub(r"<details>.*?</details>|<!--.*?-->", "", source, flags=re.S)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return [block.strip() for block in re.split(r"\n\n+", text) if block.strip()]


def bare(table: str) -> str:
    """A table of pandas without the looks that it brings along."""
    return re.sub(r'<style scoped>.*?</style>\s*| border="1"', "", table, flags=re.S)


def printed(cell: nbformat.NotebookNode) -> list[str]:
    """What a cell printed or tabled, if it is a result to show."""
    title = cell.source.splitlines()[0]
    found = []
    for output in cell.outputs:
        table = output.get("data", {}).get("text/html", "")
        if "Table" in title and table:
            found.append(bare(table))
        if "bets" in title and output.output_type == "stream":
            found.append(f"<pre>{html.escape(output.text.strip())}</pre>")
    return found


def section(title: str, cells: list[nbformat.NotebookNode], folder: Path) -> list[Slide]:
    """The slides of a section."""
    slides = [Slide(title)]
    for cell in cells:
        if cell.cell_type == "code":
            for shown in printed(cell):
                add(slides, shown)
            for number, output in enumerate(cell.outputs):
                if "image/png" in output.get("data", {}):
                    caption = cell.outputs[number + 1].data["text/markdown"]
                    slides.append(Slide(title, picture=picture_of(output, cell.source, folder), caption=caption))
            continue
        for block in blocks(cell.source):
            if block.startswith("**To take home:**"):
                slides[-1].home.append(block)
                continue
            for point in points_of(block):
                add(slides, point)
            slides[-1].notes.append(block)
    return merged(slides)


def add(slides: list[Slide], point: str) -> None:
    """Put a point on the last slide, or on a new one if that is full or has a picture."""
    last = slides[-1]
    if last.picture or (last.points and last.lines() + lines_of(point) > FULL):
        slides.append(Slide(last.title))
    slides[-1].points.append(point)


def merged(slides: list[Slide]) -> list[Slide]:
    """The slides, none with hardly a line: what stands there goes to the picture after it, or before it."""
    kept: list[Slide] = []
    waiting = None
    for slide in slides:
        if waiting:
            slide.points[:0], slide.notes[:0], slide.home[:0] = waiting.points, waiting.notes, waiting.home
            waiting = None
        if slide.picture or slide.lines() >= 3:
            kept.append(slide)
        else:
            waiting = slide
    if waiting and kept:
        for name in ("points", "home", "notes"):
            getattr(kept[-1], name).extend(getattr(waiting, name))
    elif waiting:
        kept.append(waiting)
    return kept


def slides_of(path: Path, folder: Path) -> list[Slide]:
    """The slides of a lesson's core; pictures that are files of their own go into the deck's folder."""
    cells = nbformat.read(path, as_version=4).cells
    title, _, question, *opening = blocks(cells[0].source)
    found = [Slide(title.removeprefix("# "), [question], notes=opening)]
    heading, inside = "", list[nbformat.NotebookNode]()
    for cell in [*cells[1:], nbformat.v4.new_markdown_cell("## At home")]:  # where a lesson has none, after all of it
        parts = re.split(r"^## (.*)\n?", cell.source, flags=re.M) if cell.cell_type == "markdown" else [cell]
        for number, part in enumerate(parts):
            if number % 2:  # a heading
                for slide in section(heading or found[0].title, inside, folder):
                    if slide.picture or (heading and (slide.points or slide.home)):
                        found.append(slide)
                    elif heading:
                        found[-1].notes += slide.notes
                heading, inside = part, []
                if heading == "At home":
                    return found
            else:
                inside.append(part if part is cell else nbformat.v4.new_markdown_cell(part))
    return found


def as_html(slide: Slide, first: bool) -> str:
    """A slide as HTML, with the speaker's notes in it."""
    kind = "title" if first else "figure" if slide.picture else "text"
    shown = "".join(MARKDOWN.render(point) for point in slide.points)
    picture = f"<figure>{slide.picture}<figcaption>{MARKDOWN.renderInline(slide.caption)}</figcaption></figure>"
    home = "".join(f'<div class="home later">{MARKDOWN.render(line)}</div>' for line in slide.home)
    notes = "".join(MARKDOWN.render(note) for note in slide.notes)
    heading = MARKDOWN.renderInline(slide.title)
    return (
        f'<section class="{kind}"><h2>{heading}</h2><div class="points">{shown}</div>'
        f"{picture if slide.picture else ''}{home}<aside>{notes}</aside></section>"
    )


def copy_mathjax(folder: Path) -> None:
    """Copy MathJax from its package: one script, and the fonts that it loads from beside itself."""
    package = Path(str(distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax")))
    fonts = "output/chtml/fonts/woff-v2"
    shutil.copytree(package / fonts, folder / fonts)
    shutil.copy(package / "tex-chtml.js", folder)


def write_decks(folder: Path, mathjax: str) -> int:
    """Write a deck for each lesson, and a page that lists them; return how many. mathjax: its folder, from there."""
    folder.mkdir(parents=True)
    for name in ("deck.css", "deck.js"):
        shutil.copy(PARTS / name, folder)
    frame = (PARTS / "deck.html").read_text(encoding="utf-8").replace("MATHJAX", mathjax)
    listed = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        slides = slides_of(path, folder)
        shown = "\n".join(as_html(slide, slide is slides[0]) for slide in slides)
        deck = folder / f"{path.stem}.html"
        deck.write_text(frame.replace("TITLE", slides[0].title).replace("SLIDES", shown), encoding="utf-8")
        listed.append(f'<li><a href="{deck.name}">{path.stem[:2]} {slides[0].title}</a>, {len(slides)} slides</li>')
    index = (PARTS / "index.html").read_text(encoding="utf-8").replace("DECKS", "\n".join(listed))
    (folder / "index.html").write_text(index, encoding="utf-8")
    return len(listed)


def main() -> int:
    """Write all decks anew."""
    print_anywhere()
    shutil.rmtree(DECKS, ignore_errors=True)
    count = write_decks(DECKS, "mathjax")
    copy_mathjax(DECKS / "mathjax")
    print(f"{(DECKS / 'index.html').relative_to(ROOT)}: {count} decks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
