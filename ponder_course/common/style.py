"""The style of the course's figures, and how each is shown with the sentence that reads it.

Colours are those of Okabe & Ito, which colour-blind readers can tell apart; markers and line styles repeat them. The
face is opaque white, so that a figure looks the same on a dark page. Nothing here touches pyplot's state.
"""

import io
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import font_source_sans_pro as source_sans
import matplotlib as mpl
import numpy as np
import PIL.Image
from IPython.display import Image, Markdown, display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter
from torch import Tensor

from ponder_utils.checkpoints import atomic_write

CLONE = Path(__file__).resolve().parents[2]
# Not committed. Of the clone, wherever a notebook runs; an installed package has no place for them.
FIGURES = CLONE / "runs" / "figures" if (CLONE / "notebooks").is_dir() else None
BLUE, RED, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
GREY, PALE_GREY = "#999999", "#CCCCCC"
# For writing: pale letters are hard to read.
DARK_ORANGE, DARK_GREEN, DARK_PURPLE, DARK_GREY = "#8A5F00", "#00704F", "#A0447C", "#666666"
COLOURS = (BLUE, GREEN, PURPLE, SKY, DARK_GREY, BLACK)  # of kinds that are compared
# What a colour means, in every lesson. No kind is amber, which is halting, or red, which is wrong.
ANSWER, HALTING, LIMIT, PRIOR, WRONG, NOT_LEARNT = BLUE, ORANGE, BLACK, GREY, RED, PALE_GREY
PONDERNET, ACT = GREEN, PURPLE  # where methods are compared
HEARD = "#BFDDEE"  # a pale blue: what news has come from, and who has heard it
KL = {"p||p_G": r"$\mathrm{KL}(p\,\|\,p_G)$", "p_G||p": r"$\mathrm{KL}(p_G\,\|\,p)$"}  # as it is written on a figure
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
for face in ("SourceSansPro", "SourceSansProIt", "SourceSansProBold"):
    fontManager.addfont(source_sans.font_files_ttf[face])
STYLE: dict[Any, Any] = {
    "font.family": ["Source Sans Pro", "DejaVu Sans"],  # the second has check marks and the like
    "mathtext.fontset": "custom",
    "mathtext.rm": "Source Sans Pro",
    "mathtext.it": "Source Sans Pro:italic",
    "mathtext.bf": "Source Sans Pro:bold",
    "mathtext.cal": "Source Sans Pro:italic",
    "mathtext.sf": "Source Sans Pro",
    "mathtext.tt": "DejaVu Sans Mono",
    "axes.edgecolor": "#888888",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "font.size": 14.5,  # for a projector, at the size shown
    "axes.titlesize": 14.5,
    "axes.labelsize": 14.5,
    "legend.fontsize": 14.5,
    "xtick.labelsize": 14.5,
    "ytick.labelsize": 14.5,
}
# A decorator of figures: the course's style, else matplotlib's defaults, whatever the reader's settings are. It is
# needed at the moment of saving, too, when formulas and ticks are drawn.
slide = mpl.rc_context({**mpl.rcParamsDefault, **STYLE})

Line = Sequence[float]  # a number for each point
Points = Sequence[tuple[float, float]]  # (x, y)


@slide
def picture(figure: Figure) -> tuple[bytes, int]:
    """Return the figure as a PNG, and its width on a page in pixels.

    It has 64 of its colours, which take a third of the bytes of all: the commonest, and then, one by one, that which
    is farthest from those and on most pixels. So no line changes its colour at its edges.
    """
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=120, transparent=False)
    pixels = np.asarray(PIL.Image.open(drawn).convert("RGB")).astype(int)
    packed = pixels @ (256 * 256, 256, 1)
    codes, which, counts = np.unique(packed.ravel(), return_inverse=True, return_counts=True)
    colours = codes[:, None] // (256 * 256, 256, 1) % 256
    kept = colours[[counts.argmax()]]
    nearest = np.zeros(len(colours), np.uint8)
    distance = np.square(colours - kept).sum(1)  # from the nearest of those kept
    while len(kept) < 64 and distance.any():
        kept = np.vstack([kept, colours[(distance * np.sqrt(counts)).argmax()]])
        from_new = np.square(colours - kept[-1]).sum(1)
        nearest[from_new < distance] = len(kept) - 1
        distance = np.minimum(distance, from_new)
    image = PIL.Image.fromarray(nearest[which].reshape(packed.shape))
    image.putpalette(kept.astype(np.uint8).tobytes())
    image.save(small, format="png", optimize=True)
    return small.getvalue(), int(figure.get_figwidth() * 96)


@slide
def show(figure: Figure, sentence: str, finding: str = "", svg: str = "") -> None:
    """Display what a figure shows, the figure, and the sentence that says how to read it.

    Both texts are its alternative text. With a name for an svg, such as the notebook's, the figure also goes to
    FIGURES; one line says so where that cannot be written.
    """
    if finding:
        headline = finding.replace("\n", "<br>")
        display(Markdown(f"**{headline}**"))
    if svg and FIGURES:
        try:
            with atomic_write(FIGURES / f"{svg}.svg") as draft, mpl.rc_context({"svg.hashsalt": svg}):  # always equal
                figure.savefig(draft, format="svg", metadata={"Date": None})
        except OSError as error:
            print(f"The figure is shown, but not written for slides: {error}")
    png, width = picture(figure)
    alternative = f"{' '.join(finding.split())}. {sentence}" if finding else sentence
    display(Image(png, alt=alternative, width=width), Markdown(sentence))


@slide
def panels(n: int, width: float = 3.4, height: float = 3.0, rows: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of n panels in so many rows, and the panels along the rows; sizes of one in inches."""
    columns = -(-n // rows)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, list(np.ravel(figure.subplots(rows, columns, **options)))[:n]


def step_axis(ax: Axes, n_steps: int, **settings: Any) -> np.ndarray:
    """Return the steps 1..n_steps, and let the x axis count them in whole numbers; settings as for `Axes.set`."""
    ax.set(**{"xlabel": "step $n$"} | settings)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return np.arange(1, n_steps + 1)


def logit_axis(ax: Axes, limits: tuple[float, float], ticks: Line, label: str, along: str = "x") -> None:
    """Let the x axis, or the y axis, count probabilities by their logit, as training moves them."""
    ax.set(**{f"{along}scale": "logit", f"{along}label": label, f"{along}lim": limits})
    axis = ax.xaxis if along == "x" else ax.yaxis
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())


def percent_axis(ax: Axes, **settings: Any) -> None:
    """Let the y axis count fractions in per cent, by default from 0 to 100; settings as for `Axes.set`."""
    ax.set(**{"yticks": np.linspace(0, 1, 6)} | settings)
    ax.yaxis.set_major_formatter(PercentFormatter(1))


def legend(figure: Figure, columns: int = 1) -> Figure:
    """Return the figure with one legend for all panels, below them."""
    named = {label: handle for ax in figure.axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns)
    return figure


def look(which: int, **settings: Any) -> dict[str, Any]:
    """Return colour, marker and dashes of the which-th line of a panel; other settings replace them or are added."""
    colour, marker = COLOURS[which % len(COLOURS)], MARKERS[which % len(MARKERS)]
    return {"color": colour, "marker": marker, "linestyle": DASHES[which % len(DASHES)], **settings}


def lines(ax: Axes, x: Line, runs: Iterable[Line], label: str | None = None, **settings: Any) -> None:
    """Draw a line for every run, all alike and under one label; settings as for `Axes.plot`. runs: [runs, points]."""
    for line in runs:
        ax.plot(x, line, label=label, **settings)
        label = None


def curves(ax: Axes, runs: Iterable[Mapping[int, float]], label: str | None = None, **settings: Any) -> None:
    """Draw a line for every run, {x: y}, all alike and under one label; settings as for `Axes.plot`."""
    for run in runs:
        ax.plot([*run], [*run.values()], label=label, **settings)
        label = None


def beyond(ax: Axes, border: float, last: float) -> None:
    """Make the ground grey beyond the border, the largest x of training."""
    ax.axvspan(border + 0.5, last + 0.5, color="#EEEEEE", zorder=0, linewidth=0)


def beside(ax: Axes, text: str, point: tuple[float, float], offset: tuple[float, float], **font: Any) -> None:
    """Write text beside a point: offset in points, to the right and up; font as for `Axes.annotate`."""
    ax.annotate(text, point, offset, textcoords="offset points", **font)


def apart(heights: Line, gap: float) -> list[float]:
    """Return the heights, those that are closer than the gap moved apart, up and down alike."""
    moved = [*heights]
    order = sorted(range(len(moved)), key=moved.__getitem__)
    for _ in range(100):
        for low, high in itertools.pairwise(order):
            push = max(0, gap - (moved[high] - moved[low])) / 2
            moved[low] -= push
            moved[high] += push
    return moved


def steps_down(ax: Axes, grid: Sequence[Line] | Tensor, **colours: Any) -> None:
    """Draw a grid [steps, places], the first step on top; colours as for `Axes.imshow`."""
    steps, places = np.shape(grid)
    extent = (0.5, places + 0.5, steps + 0.5, 0.5)
    ax.imshow(np.asarray(grid, float), extent=extent, aspect="auto", interpolation="nearest", **colours)
    ax.set(xlabel="place")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=3))
    ax.grid(visible=False)


def bare(ax: Axes) -> None:
    """Take away what tells numbers: ticks, grid and frame."""
    ax.set(xticks=[], yticks=[])
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)


def marks(ax: Axes, points: Points, which: int, size: float, full: bool = False, **settings: Any) -> None:
    """Draw marks without a line, in the which-th look, hollow unless `full`; settings as for `Axes.scatter`."""
    x, y = np.reshape(points, (-1, 2)).T
    colour, marker = look(which)["color"], look(which)["marker"]
    ax.scatter(x, y, s=size, marker=marker, facecolor=colour if full else "none", edgecolor=colour, **settings)


def spread(ax: Axes, x: Line, runs: Sequence[Line], label: str, which: int = 0, live: int = 0) -> None:
    """Draw a thin line for every run and a thick one for their mean, in the which-th look. runs: [runs, points].

    The first `live` runs, those of this session, are drawn darker.
    """
    lines(ax, x, runs[:live], **look(which, marker=None, alpha=0.9, linewidth=0.9))
    lines(ax, x, runs[live:], **look(which, marker=None, alpha=0.3, linewidth=0.9))
    label = f"{label} (mean of {len(runs)})" if len(runs) > 1 else label
    mean = look(which, markersize=4) if len(x) <= 25 else look(which, marker=None)
    ax.plot(x, np.mean(runs, axis=0), **mean, label=label)
