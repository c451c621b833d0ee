"""Extract slides from the lessons, a deck for each: make slides.

    python tools/slides.py

Nothing is written twice. On the slides stand, in the order of a lesson's core: its question, what is printed in bold,
bets, equations, tables, tasks with their code, every figure with its caption, the live figure before its twin, and the
lines to take home. In a paragraph, what follows <!--slide--> is shown, and what follows <!--spoken--> is not (before
all of it, such a mark has a line of its own); and so is what a cell with the tag "slide" prints. All prose becomes the
speaker's notes. Decks are files in runs/slides that need no network; the keys are listed on runs/slides/index.html.
"""

from __future__ import annotations

import html
import math
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

import font_source_sans_pro as source_sans
import live
import nbformat
from cells import CHOICES, bare, blocks, choices_of, heading, opening, title_of
from fontTools import subset
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from stamp import ROOT, lessons, parser_of

DECKS = ROOT / "runs" / "slides"
PARTS = ROOT / "book" / "slides"
FULL = 10  # lines of text on a slide
BET = re.compile(r"\*\*(Bet \d)(\.| \()")  # one that is asked; an answer has other words or a colon behind it
FACES = ("SourceSansPro", "SourceSansProIt", "SourceSansProSemibold")
Cells = list[nbformat.NotebookNode]
SENTENCE_END = re.compile(r'[.?!](?:\*\*|\*)?[)"]?\s+(?=[A-Z0-9"$(*])')


def as_math(text: str, options: dict) -> str:
    """A formula as MathJax finds it."""
    if not options["display_mode"]:
        return rf"\({html.escape(text)}\)"
    formula, tag, number = text.partition(r"\tag")
    if len(formula) > 100 and r"\qquad" in formula:  # two lines, which are larger than one
        formula = r"\begin{gathered}" + formula.replace(r"\qquad", r"\\[1ex]", 1) + r"\end{gathered}"
    return rf"\[{html.escape(formula + tag + number)}\]"


MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table").use(dollarmath_plugin, renderer=as_math)


@dataclass
class Slide:
    """What stands on a slide, as Markdown; a picture or a live figure, as HTML; and what is said to it."""

    title: str
    points: list[str] = field(default_factory=list)
    kind: str = "text"
    picture: str = ""
    headline: str = ""
    caption: str = ""
    live: str = ""
    home: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> float:
        """How many lines of text it is, about."""
        return sum(map(lines_of, self.points)) + 1.5 * sum(map(lines_of, self.home))


def lines_of(point: str) -> float:
    """How many lines a point takes on a slide, about."""
    if point.startswith("$$"):
        return 2.5 + 1.8 * point.count(r"\\")
    if point.startswith(("<div>", "|", "<pre", "```")):
        small = 0.6 if "class=" in point[:12] else 1.3  # so that code stays with its task
        return small * (point.count("<tr") or len(point.splitlines()))
    return sum(math.ceil(len(line) / 66) + 0.4 for line in point.splitlines())


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph; none ends within bold print or within a formula."""
    parts, start = [], 0
    for end in SENTENCE_END.finditer(paragraph):
        before = paragraph[: end.end()]
        if before.count("**") % 2 == 0 and before.count("$") % 2 == 0:
            parts.append(paragraph[start : end.end()].strip())
            start = end.end()
    return [*parts, paragraph[start:].strip()]


def points_of(paragraph: str) -> list[str]:
    """What of a paragraph stands on the slide: formulas, lists, tables, tasks, what is bold, and what is marked."""
    if paragraph.startswith("> **How sure are we?"):
        return []
    paragraph, *marked = re.split(r"\s*<!--(slide|spoken)-->\s*", paragraph)
    whole = ("$$", "|", "- ", "**Next", "**Two questions", "**Three questions", "**By hand", "**Task", "**Your turn")
    points = [paragraph] if paragraph.startswith(whole) else shown_of(paragraph)
    return points + [text for mark, text in zip(marked[::2], marked[1::2], strict=True) if mark == "slide"]


def shown_of(paragraph: str) -> list[str]:
    """The sentences with bold print, and what follows a few bold words, such as "Alone." or "So which one?"."""
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


def printed(cell: nbformat.NotebookNode) -> list[str]:
    """What a cell tabled, or printed if it has the tag "slide"."""
    parts = []
    for output in cell.outputs:
        table = output.get("data", {}).get("text/html", "")
        if "Table" in title_of(cell) and table:
            parts.append(bare(table))
        if "slide" in cell.metadata.get("tags", []) and output.output_type == "stream":
            parts.append(f"<pre>{html.escape(output.text.strip())}</pre>")
    return parts


def bet_of(title: str, block: str) -> Slide:
    """The slide of a bet; what its question offers, if anything, is a list."""
    listed = "\n".join(f"1. {choice}" for choice in choices_of(block))
    return Slide(title, [CHOICES.sub("?", block), *([listed] if listed else [])], "bet")


def section(title: str, cells: Cells, folder: Path, live_before: Callable[[str], str], bets: dict) -> list[Slide]:
    """The slides of a section; live_before: the HTML of a live figure, by the source of the cell of its twin.

    bets: those without an answer so far, by their names.
    """
    slides = [Slide(title)]
    for cell, after in zip(cells, [*cells[1:], None], strict=True):
        if cell.cell_type == "code":
            if after and "check" in after.metadata.get("tags", []):  # what the reader is to write
                add(slides, f'<pre class="code">{html.escape(cell.source)}</pre>')
            for shown in printed(cell):
                add(slides, shown)
            if figure := live_before(cell.source):
                slides.append(Slide(title, kind="thinks", live=figure))
            words = [output.get("data", {}).get("text/markdown", "") for output in cell.outputs]
            for number, output in enumerate(cell.outputs):
                if "image/png" in output.get("data", {}):
                    slides.append(Slide(title, kind="figure waits" if bets else "figure"))
                    slides[-1].picture = picture_of(output, cell.source, folder)
                    slides[-1].headline = words[number - 1] if words[number - 1].startswith("**") else ""
                    slides[-1].caption = words[number + 1]
            continue
        for block in blocks(cell.source):
            block, label, line = block.partition("**To take home:**")
            if label:
                slides[-1].home.append(label + line)
            answered = re.match(r"\*\*(Bet \d|Answer)", block)
            if bet := BET.match(block):
                slides.append(bet_of(title, block))
                bets[bet[1]] = slides[-1].points[0]
            elif answered:
                slides.append(Slide(title, [bets.pop(answered[1], "")], "answer", home=points_of(block)))
            else:
                for point in points_of(block):
                    add(slides, point)
            slides[-1].notes.append(block)
    return merged(slides)


def add(slides: list[Slide], point: str) -> None:
    """Put a point on the last slide, or on a new one if that is full or has a figure or a bet."""
    last = slides[-1]
    full = point.startswith("**Task") or last.lines() + lines_of(point) > FULL
    if last.kind != "text" or (last.points and full):
        slides.append(Slide(last.title))
        if point.startswith("$$") and len(last.points) > 1:  # a formula takes along what leads to it
            slides[-1].points.append(last.points.pop())
    slides[-1].points.append(point)


def merged(slides: list[Slide]) -> list[Slide]:
    """The slides; what has hardly a line goes to the picture after it, and notes alone to whatever comes."""
    kept: list[Slide] = []
    for slide in slides:
        small = kept and kept[-1].kind == "text" and kept[-1].lines() < (3 if slide.picture else 0.1)
        if small:
            last = kept.pop()
            slide.points[:0], slide.home[:0], slide.notes[:0] = last.points, last.home, last.notes
        kept.append(slide)
    return kept


def slides_of(path: Path, folder: Path, static: str) -> list[Slide]:
    """The slides of a lesson's core; pictures that are files of their own go into the deck's folder.

    static: the way from there to the scripts of live figures.
    """
    cells = nbformat.read(path, as_version=4).cells
    title, question, notes = opening(cells[0])
    deck = [Slide(title, [question], "title", notes=notes)]
    for note in notes:
        for point in points_of(note):
            add(deck, point)
    live_before = partial(live.before, stem=path.stem, static=static)
    bets: dict[str, str] = {}
    part_of, inside = "", Cells()
    for cell in [*cells[1:], nbformat.v4.new_markdown_cell("## At home")]:  # where a lesson has none, after all of it
        parts = re.split(r"^## (.*)\n?", cell.source, flags=re.M) if cell.cell_type == "markdown" else [cell]
        for number, part in enumerate(parts):
            if number % 2:  # a heading
                for slide in section(part_of or title, inside, folder, live_before, bets):
                    if slide.kind != "text" or slide.points or slide.home:
                        deck.append(slide)
                    elif part_of:
                        deck[-1].notes += slide.notes
                part_of, inside = heading(part), []
                if part == "At home":
                    return deck
            else:
                inside.append(part if part is cell else nbformat.v4.new_markdown_cell(part))
    return deck


def as_html(slide: Slide) -> str:
    """A slide as HTML, with the speaker's notes in it."""
    shown = "".join(MARKDOWN.render(point) for point in slide.points)
    picture = f"<figure>{slide.picture}<figcaption>{MARKDOWN.renderInline(slide.caption)}</figcaption></figure>"
    top = f"<h2>{MARKDOWN.renderInline(slide.title)}</h2>"
    if slide.headline:
        top += f'<p class="headline">{MARKDOWN.renderInline(slide.headline)}</p>'
    home = "".join(f'<div class="home later">{MARKDOWN.render(line)}</div>' for line in slide.home)
    notes = "".join(MARKDOWN.render(note) for note in slide.notes)
    return (
        f'<section class="slide {slide.kind}">{top}<div class="points">{shown}</div>'
        f"{picture if slide.picture else ''}{slide.live}{home}<aside>{notes}</aside></section>"
    )


def copy_mathjax(folder: Path) -> None:
    """Copy MathJax from its package: one script, and the fonts that it loads from beside itself."""
    package = Path(str(distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax")))
    fonts = "output/chtml/fonts/woff-v2"
    shutil.copytree(package / fonts, folder / fonts)
    shutil.copy(package / "tex-chtml.js", folder)


def copy_faces(folder: Path) -> None:
    """Write the faces of page and figures from their package, with the letters that a page may need."""
    folder.mkdir()
    options = subset.Options(flavor="woff")
    for name in FACES:
        letters = subset.Subsetter(options)
        letters.populate(unicodes=[*range(0x20, 0x180), *range(0x370, 0x400), *range(0x2010, 0x2300)])
        with subset.load_font(source_sans.font_files_ttf[name], options) as face:
            letters.subset(face)
            subset.save_font(face, folder / f"{name}.woff", options)


def write_decks(folder: Path, static: str) -> int:
    """Write a deck for each lesson, and a page that lists them; return how many.

    static: the folder of MathJax, the faces and the scripts of live figures, from there.
    """
    folder.mkdir(parents=True)
    for name in ("deck.css", "deck.js"):
        shutil.copy(PARTS / name, folder)
    frame = (PARTS / "deck.html").read_text(encoding="utf-8").replace("STATIC", static)
    listed = []
    for path in lessons():
        slides = slides_of(path, folder, f"{static}/live")
        shown = "\n".join(as_html(slide) for slide in slides)
        deck = folder / f"{path.stem}.html"
        deck.write_text(frame.replace("TITLE", slides[0].title).replace("SLIDES", shown), encoding="utf-8")
        listed.append(f'<li><a href="{deck.name}">{path.stem[:2]} {slides[0].title}</a>, {len(slides)} slides</li>')
    index = (PARTS / "index.html").read_text(encoding="utf-8").replace("DECKS", "\n".join(listed))
    (folder / "index.html").write_text(index, encoding="utf-8")
    return len(listed)


def main() -> int:
    """Write all decks anew."""
    parser_of(__doc__).parse_args()
    shutil.rmtree(DECKS, ignore_errors=True)
    count = write_decks(DECKS, "_static")
    copy_mathjax(DECKS / "_static" / "mathjax")
    copy_faces(DECKS / "_static" / "faces")
    live.copy_scripts(DECKS / "_static" / "live")
    print(f"{(DECKS / 'index.html').relative_to(ROOT)}: {count} decks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
