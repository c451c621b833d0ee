"""The live figures of the lessons: where each stands, and a page of each alone, to try it.

    python tools/live.py        runs/live/line.html and the like

A figure NAME is book/live/NAME.js and the words around it, NAME.html. The networks that think in it are those of
book/live/live_networks.py whose names begin with NAME; it writes their weights, too. What they compute, where core.js
does not, is NAME_net.js, or a file that several figures share. The book's first page has a figure, too.
"""

import re
import shutil
import sys
from pathlib import Path

from stamp import ROOT, parser_of

LIVE = ROOT / "book" / "live"
sys.path.append(str(LIVE))
from live_networks import NETWORKS, write_weights  # noqa: E402

# The live figure of a lesson stands before this figure of its notebook.
FIGURES = {
    "01_act_background": ("Figure 01.2", "units"),
    "02_pondernet_theory": ("Figure 02.3", "losses"),
    "03_parity": ("Figure 03.2", "parity"),
    "04_mnist_rotation": ("Figure 04.4", "digit"),
    "05_light_cone": ("Figure 05.2", "line"),
    "07_map_of_thought": ("Figure 07.3", "map"),
    "08_alone_and_together": ("Figure 08.5", "forest"),
    "06_ways_to_stop": ("Figure 06.4", "vote"),
    "10_sudoku": ("Figure 10.4", "sudoku"),
    "11_judges": ("Figure 11.2", "judges"),
    "12_words": ("Figure 12.2", "words"),
    "13_who_leaves_early": ("Figure 13.2", "leavers"),
    "14_price_of_a_word": ("Figure 14.3", "price"),
}
FRONT = "front"
MAZE = ("weights/maze.js", "mazes.js", "maze_picture.js", "maze.js")
TREES = ("transformer.js", "tree.js")
SHARED = {FRONT: MAZE, "map": MAZE, "forest": TREES, "words": TREES, "price": TREES, "leavers": TREES[:1]}
LOOKS = """body { margin: 0 auto; max-width: 52em; padding: 0.5em; font: 16px sans-serif; }
body[data-theme="dark"] { background: #131416; }
@media (prefers-color-scheme: dark) { body:not([data-theme="light"]) { background: #131416; } }"""


def words(file: str) -> str:
    """Return what a file of book/live/ holds; {NAME.html} stands for another file."""
    text = (LIVE / file).read_text(encoding="utf-8").rstrip()
    return re.sub(r"\{(\w+\.html)\}", lambda shared: words(shared[1]), text)


def markup(name: str, static: str) -> str:
    """Return the HTML of a figure, for a page from which `static` leads to the folder of `copy_scripts`."""
    own = [script.name for script in LIVE.glob(f"{name}_net.js")]
    weights = [f"weights/{network}.js" for network in NETWORKS if network.startswith(name)]
    parts = [*SHARED.get(name, ()), *own, *weights]
    scripts = ["core.js", "draw.js", *parts, f"{name}.js"]
    lines = [
        f'<link rel="stylesheet" href="{static}/live.css">',
        f'<section class="live" id="live-{name}">',
        f'<a class="live-skip" href="#after-{name}">Skip the live figure</a>',
        words(f"{name}.html"),
        "<noscript>This figure needs JavaScript.</noscript>",
        "</section>",
        f'<div id="after-{name}" tabindex="-1"></div>',
        *(f'<script src="{static}/{script}" defer></script>' for script in scripts),
    ]
    return "\n".join(lines)


def before(source: str, stem: str, static: str) -> str:
    """Return the HTML of a lesson's live figure if a cell with this source draws its twin, else "".

    stem: of the lesson's notebook; static: as for `markup`.
    """
    twin, name = FIGURES.get(stem, ("", ""))
    return markup(name, static) if name and re.search(rf'"{re.escape(twin)}[.:]', source) else ""


def copy_scripts(folder: Path) -> None:
    """Write scripts, weights and looks of all figures into a folder, which is made.

    Each script becomes a function of its own, so that its names are its own, and strict.
    """
    write_weights(folder / "weights")
    shutil.copy(LIVE / "live.css", folder)
    for script in LIVE.glob("*.js"):
        text = script.read_text(encoding="utf-8")
        (folder / script.name).write_text(f'(() => {{ "use strict"; {text}}})();\n', encoding="utf-8")


def write_pages(folder: Path) -> list[Path]:
    """Write a page for each figure, with all that it needs, into a folder, and return the pages."""
    copy_scripts(folder / "live")
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head += '<link rel="icon" href="data:,">'  # or else browsers ask for one
    pages = []
    for name in [FRONT, *(name for _, name in FIGURES.values())]:
        page = folder / f"{name}.html"
        page.write_text(
            f'<!doctype html>\n<html lang="en"><head>{head}<title>{name}</title><style>{LOOKS}</style></head>\n'
            f'<body data-theme="auto">\n{markup(name, "live")}\n</body></html>\n',
            encoding="utf-8",
        )
        pages.append(page)
    return pages


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    print(*write_pages(ROOT / "runs" / "live"), sep="\n")
