"""Gather the pages of the book from the repository and build it, executing nothing: make book.

    python tools/book.py

Every page is made of a file that readers of the repository have, too: README.md is the front page, notebooks are as
they are committed, the pages of the package are its docstrings. Copies in runs/book/source are changed a little: folded
cells become hidden inputs, a bet gets buttons (book.js). The site begins at runs/book/site/index.html.
"""

from __future__ import annotations

import html
import io
import itertools
import re
import shutil
import sys
from pathlib import Path

import live
import nbformat
import numpy as np
import PIL.Image
from cells import BET, bare, choices_of, title_of
from slides import copy_faces, copy_mathjax, write_decks
from sphinx.cmd.build import build_main
from stamp import ONE_PAGE, ROOT, address, figure, lessons, notebooks, pages_address, parser_of

BOOK = ROOT / "runs" / "book"
SOURCE, SITE = BOOK / "source", BOOK / "site"
TEXTS = {  # what stands for each in the list at the left
    "TEACHING.md": "Teaching",
    "docs/running.md": "Running",
    "docs/package.md": "The package",
    "docs/tuning.md": "Tuning your halting",
    "docs/scorecard.md": "A scorecard",
    "docs/report.md": "Report (4 pages)",
    "docs/findings.md": "Findings",
    "docs/related_work.md": "Related work",
    "evidence/README.md": "Evidence",
    "CONTRIBUTING.md": "Contributing",
}
TEXTS = {text: name for text, name in TEXTS.items() if (ROOT / text).exists()}  # a student's copy has no TEACHING.md
ROW = re.compile(r"^\| (\d\d) \| \[(.+?)\]\(notebooks/(\w+)\.ipynb\) \| (.+?) \|", re.M)  # README's, of a lesson
EVENING = ("01", "02", "05")
CROPS = {  # a figure of each lesson; left edge, top and width of what its card shows, as fractions of what has colour
    "01.1": (-0.067, -0.238, 1.206),
    "02.3": (-0.04, -0.098, 1.059),
    "03.2": (0.05, 0.05, 0.9),
    "04.1": (-0.63, -0.125, 0.909),
    "05.2": (0.515, 0.02, 0.48),
    "06.4": (-0.185, -2.651, 1.222),
    "07.3": (0.73, 0.2, 0.26),
    "08.6": (0.98, 0.36, 0.93),
    "09.3": (0.51, 0.0, 0.49),
    "10.2": (0.372, 0.12, 0.256),
    "11.1": (0.2, 0.01, 0.58),
    "12.1": (-0.02, -0.12, 0.66),
    "13.1": (-0.67, -0.145, 0.769),
    "14.1": (-0.057, -0.065, 1.414),
}

# The pictures below the questions, which answer no bet. In other lessons a figure stands there, or follows at once.
PICTURES = ("04.1", "05.2", "06.2", "07.4", "08.6", "09.1", "10.6", "11.1")

LOST = """---
orphan: true
nosearch: true
---
# There is no such page

It may have been renamed. Begin at the [first page](index.md), or <a href="search.html">search</a>.
"""
PERCENT = re.compile(r"(`[^`\n]*`)|(?<=\d) (?=%)")  # the space before it; or code, which is left as it is
LINK = re.compile(r"`[^`\n]*`|(\]\()(?!\w+:|#)([^)\s#]+)")  # or code, which may look like one
DETAILS = re.compile(r"(<details><summary>.*?</summary>)\s*(.*?)\s*</details>", re.S)
ANSWER = re.compile(r"^\*\*Bet (\d)(?::|, the answer\.).*?(?=\n\n(?:#|<div|\*\*Bet )|\Z)", re.M | re.S)
FOR_CLASS = re.compile(r"^\*In class:\* ((\d+ minutes).*)$", re.M)
BAR = re.compile(r".*\d%\|.*\|.*\n?")  # of progress


def carry(text: str, folder: Path) -> str:
    """The text of a page of `folder`. Files that it links go along; folders and texts that are no page do not."""

    def carried(match: re.Match[str]) -> str:
        if not match[2]:
            return match[0]
        path = (ROOT / folder / match[2]).resolve()
        inside = path.relative_to(ROOT)
        if path.is_dir():
            return f"{match[1]}{address()}/tree/main/{inside}"
        if path.parent == ROOT and path.suffix == ".md" and path.name not in TEXTS:
            return f"{match[1]}{address()}/blob/main/{inside}"
        if path.suffix not in (".md", ".ipynb"):
            (SOURCE / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, SOURCE / inside)
        return match[0]

    return PERCENT.sub(lambda match: match[1] or "\u00a0", LINK.sub(carried, text))


def write(inside: str | Path, text: str) -> None:
    """Write a page of the book."""
    (SOURCE / inside).parent.mkdir(parents=True, exist_ok=True)
    (SOURCE / inside).write_text(text, encoding="utf-8")


def mark_bets(text: str) -> str:
    """The text of a notebook's cell with marks at its bets and behind their answers."""

    def marked(match: re.Match[str]) -> str:
        choices = html.escape("|".join(choices_of(match[0])))
        return f'<div class="bet" data-bet="{match[1]}" data-choices="{choices}">\n\n{match[0].rstrip()}\n\n</div>\n'

    text = DETAILS.sub(r"\1\n\n\2\n\n</details>\n", text)
    text = BET.sub(marked, text)
    return ANSWER.sub(r'\g<0>\n\n<div class="bet-end" data-bet="\1"></div>\n', text)


def change_code(cell: nbformat.NotebookNode, links: str) -> None:
    """Hide the input of a folded cell behind its title, take away what works in JupyterLab only; links: to that."""
    tags = cell.metadata.setdefault("tags", [])
    is_import = cell.source.startswith(("import ", "from "))
    if "check" in tags:
        tags.append("remove-input")
        words = f"*Write it in the notebook, which checks it:* {links}"
        cell.outputs = [nbformat.v4.new_output("display_data", {"text/markdown": words})]
    elif 'if "google.colab" in sys.modules' in cell.source:
        tags += ["remove-input", "remove-output"]
    elif cell.metadata.get("jupyter", {}).get("source_hidden") or "parameters" in tags or is_import:
        prompt = f"Code: {title_of(cell) or ('settings' if 'parameters' in tags else 'imports')}"
        tags.append("hide-input")
        cell.metadata["mystnb"] = {"code_prompt_show": prompt, "code_prompt_hide": prompt}
    for output in cell.outputs:
        if output.output_type == "stream":
            output.text = BAR.sub("", output.text)
    cell.outputs = [output for output in cell.outputs if "Sliders appear here" not in str(output.get("data"))]
    cell.outputs = [output for output in cell.outputs if output.get("text") != ""]
    for output in cell.outputs:
        if table := output.get("data", {}).get("text/html"):
            output.data["text/html"] = bare(table)


def raw(html: str) -> str:
    """The HTML as a page takes it."""
    return f"```{{raw}} html\n{html}\n```"


def with_live_figure(page: nbformat.NotebookNode, stem: str) -> None:
    """Put the live figure of a lesson before its twin that stands still; ValueError where that is missing."""
    if stem not in live.FIGURES:
        return
    figures = {i: live.before(cell.source, stem, "../_static/live") for i, cell in enumerate(page.cells)}
    places = [i for i, figure in figures.items() if figure]
    if len(places) != 1:
        raise ValueError(f"{stem} must have one cell that draws {live.FIGURES[stem][0]}; it has {len(places)}")
    page.cells.insert(places[0], nbformat.v4.new_markdown_cell(raw(figures[places[0]])))


def set_up(cells: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """The cells of a lesson before its first section or figure, in one fold; a figure of its question stands above."""
    above = [cell for cell in cells[:5] if "Figure: " in cell.source]
    cells = [cell for cell in cells if cell not in above]
    firsts = [cell.source.startswith("## ") or "Figure: " in after.source for cell, after in itertools.pairwise(cells)]
    first = firsts.index(True)  # words before a figure belong to it
    needs = FOR_CLASS.search(cells[0].source)
    assert needs is not None, f"{cells[0].source[:30]} does not say how long it takes in class"
    cells[0].source = cells[0].source.replace(needs[0], "")
    words = f"<summary>{needs[2]} · what you need · set-up</summary>"
    begin = f'<details class="fold">{words}\n\n*In class:* {needs[1]}'
    texts = [nbformat.v4.new_markdown_cell(text) for text in (begin, "</details>")]
    return [cells[0], *above, texts[0], *cells[1:first], texts[1], *cells[first:]]


def picture(cells: list[nbformat.NotebookNode], figure: str) -> nbformat.NotebookNode:
    """A cell that shows a figure of a lesson, without code and sentences."""
    drawing = next(cell for cell in cells if cell.cell_type == "code" and figure in cell.source)
    shown = [output for output in drawing.outputs if "image/png" in output.get("data", {})]
    return nbformat.v4.new_code_cell("picture", metadata={"tags": ["remove-input"]}, outputs=shown)


def lesson_page(page: nbformat.NotebookNode, stem: str) -> None:
    """Let a lesson begin with its question, a way to its live figure and a picture, and with all set-up in a fold."""
    page.cells = set_up(page.cells)
    if stem in live.FIGURES:
        name = live.FIGURES[stem][1]
        (title,) = re.findall(r'"live-title">(.*?)<', live.words(f"{name}.html"))
        play = f'<a href="#live-{name}"><strong>▶ Play: {title}</strong></a>'
        page.cells[0].source = re.sub(r"^(# .*)$", rf"\1\n\n{play}", page.cells[0].source, count=1, flags=re.M)
    for number in PICTURES:
        if number[:2] == stem[:2]:
            page.cells.insert(1, picture(page.cells, f"Figure {number}"))


def notebook_page(path: Path) -> None:
    """Write the notebook as it stands in the book, and as it is, to be fetched."""
    page, folder = nbformat.read(path, as_version=4), path.parent.relative_to(ROOT)
    (SOURCE / "download").mkdir(parents=True, exist_ok=True)
    shutil.copy(path, SOURCE / "download")
    page.metadata.language_info.pygments_lexer = "ipython3"  # of one cell that has a line for the shell
    colab = re.search(r"\[Open in Colab\]\(.*?\)", page.cells[0].source)
    download = f"{{download}}`Download the notebook </download/{path.name}>`"
    links = f"{colab[0]} · {download}" if colab else download
    if path in lessons():
        lesson_page(page, path.stem)
    for cell in page.cells:
        if cell.cell_type == "code":
            change_code(cell, links)
        else:
            cell.source = carry(mark_bets(cell.source), folder)
    kind = {"evidence/notebooks": "Evidence ", "notebooks/problems": "Problems "}.get(folder.as_posix(), "")
    colon = ":" if kind else ""
    text = re.sub(r"^# (Evidence: |Problems \d\d: )?", f"# {kind}{path.stem[:2]}{colon} ", page.cells[0].source)
    if path in lessons():
        links += f' · <a class="reference" href="../slides/{path.stem}.html">Slides</a>'
        page.cells.append(nbformat.v4.new_markdown_cell(toctree("", beside(path))))
    page.cells[0].source = text.replace(colab[0], links, 1) if colab else text
    with_live_figure(page, path.stem)
    write(path.relative_to(ROOT), nbformat.writes(page))


def api_pages() -> list[str]:
    """Write a page for each module with what its docstrings say; return the pages."""
    # Not the experiments and figures of lessons: who changes those reads their code.
    files = [*sorted((ROOT / "ponder_utils").rglob("*.py")), *sorted((ROOT / "ponder_course").glob("*.py"))]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files if path.name[0] != "_"]
    for name in names:
        write(f"api/{name}.md", f"# {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n```\n")
    return names


def toctree(caption: str, entries: list[str]) -> str:
    """A list of pages at the left of the book, under a heading if there is one."""
    lines = ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *entries, "```", ""]
    return "\n".join(lines)


def beside(lesson: Path) -> list[str]:
    """The entries of what stands beside a lesson: its evidence and its problem sheet."""
    others = [path for path in notebooks() if path.parent != lesson.parent and path.stem[:2] == lesson.stem[:2]]
    return [f"{short_title(path)} </{path.relative_to(ROOT).with_suffix('').as_posix()}>" for path in others]


def short_title(path: Path) -> str:
    """What stands for a notebook beside a lesson in the list at the left, such as "Evidence: beating the clock"."""
    return f"Evidence: {path.stem[3:].replace('_', ' ')}" if path.is_relative_to(ROOT / "evidence") else "Problem sheet"


def crop(number: str) -> PIL.Image.Image:
    """The part of a lesson's figure that stands on its card."""
    picture = PIL.Image.open(io.BytesIO(figure(number))).convert("RGB")
    rows, columns = np.nonzero(np.ptp(np.asarray(picture).astype(int), axis=2) > 60)  # neither letters nor axes
    left, top, width = CROPS[number]
    x = columns.min() + left * np.ptp(columns)
    y = rows.min() + top * np.ptp(rows)
    across = width * np.ptp(columns)
    return picture.crop((x, y, x + across, y + across * 9 / 16))


def card(number: str, title: str, stem: str, question: str) -> str:
    """A lesson on the first page: a part of a figure, its question, how long it takes; and the way for one evening."""
    first_cell = nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4).cells[0].source
    (minutes,) = re.findall(r"\*In class:\* (\d+) minutes", first_cell)
    question = re.sub(r"\*(.+?)\*", r"<em>\1</em>", question)
    evening = f" · one evening, {EVENING.index(number) + 1} of {len(EVENING)}" if number in EVENING else ""
    return (
        f'<a class="card{" evening" if evening else ""}" href="notebooks/{stem}.html">'
        f'<img alt="" src="_static/cards/{number}.png"><b>{number} {title}</b><span>{question}</span>'
        f"<small>{minutes} minutes{evening}</small></a>"
    )


def front_page() -> None:
    """Write README.md, without how to run it, as the first page, with a network that thinks and the lessons' cards."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = ROW.findall(readme)
    beginning, sections = readme.split("\n## ", maxsplit=1)
    paragraphs = [*beginning.split("\n\n")[:2], raw(live.markup(live.FRONT, "_static/live"))]
    for text in f"## {sections}".split("\n\n"):
        if cards := [card(*row) for row in ROW.findall(text)]:
            title = text.split("|")[2].strip()
            paragraphs += [f"**{title}**", raw(f'<div class="cards">{"".join(cards)}</div>')]
        else:
            paragraphs.append(carry(text, Path()))
    course: list[str] = []
    electives: list[str] = []
    for number, title, stem, question in sorted(rows):
        part = electives if "*After " in question else course
        part.append(f"{number} {title} <notebooks/{stem}>")
    texts = [f"{name} <{text.removesuffix('.md')}>" for text, name in TEXTS.items()]
    trees = [
        toctree("", [f"00 PonderNet on one page <notebooks/{ONE_PAGE.stem}>"]),
        toctree("The course", course),
        toctree("Electives", [*electives, "Mini-projects <notebooks/problems/projects>"]),
        toctree("More", [*texts, "The modules <api/index>"]),
    ]
    write("index.md", "\n\n".join([*paragraphs, *trees]))


def gather() -> None:
    """Write all pages into SOURCE, and beside them what they show and run on."""
    shutil.rmtree(BOOK, ignore_errors=True)
    front_page()
    for path in notebooks():
        notebook_page(path)
    for text in [*TEXTS, "notebooks/problems/projects.md"]:
        write(text, carry((ROOT / text).read_text(encoding="utf-8"), Path(text).parent))
    for path in (ROOT / "notebooks/solutions/problems").glob("*.md"):  # linked, but neither listed nor found by search
        text = carry(path.read_text(encoding="utf-8"), path.parent.relative_to(ROOT))
        write(path.relative_to(ROOT), f"---\norphan: true\nnosearch: true\n---\n{text}")
    write("404.md", LOST)
    write("api/index.md", "# The modules\n\n" + toctree("Modules", api_pages()).replace(":hidden:\n", ""))
    for name in ("conf.py", "scorer.js"):
        shutil.copy(ROOT / "book" / name, SOURCE)
    static = SOURCE / "_static"
    static.mkdir()
    for name in ("book.css", "book.js", "favicon.svg"):
        shutil.copy(ROOT / "book" / name, static)
    live.copy_scripts(static / "live")
    (static / "cards").mkdir()
    for number in CROPS:
        crop(number).save(static / "cards" / f"{number[:2]}.png")
    copy_mathjax(static / "mathjax")
    copy_faces(static / "faces")


def main() -> int:
    """Gather and build; a warning is an error."""
    parser_of(__doc__).parse_args()
    gather()
    options = ["-q", "-W", "--keep-going", "-j", "2", "-D", f"html_baseurl={pages_address()}"]
    failed = build_main([*options, "-d", str(BOOK / "doctrees"), str(SOURCE), str(SITE)])
    write_decks(SITE / "slides", "../_static")
    if not failed:
        print(SITE.relative_to(ROOT) / "index.html")
    return failed


if __name__ == "__main__":
    sys.exit(main())
