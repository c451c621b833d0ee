"""Figures of lesson 03: when networks halt as they learn, how they answer, and what their steps depend on."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_course.common.store import Row
from ponder_course.common.style import (
    ANSWER,
    BLACK,
    GREY,
    HALTING,
    MARKERS,
    Line,
    legend,
    look,
    panels,
    slide,
    step_axis,
)
from ponder_course.common.verdicts import interval, welch
from ponder_course.parity.experiment import has_learnt
from ponder_utils.evaluation import Score

OTHERS = ("not learnt", "crashed")  # outcomes of runs that are counted and not drawn
UNDECIDED = "#777777"
AMBERS = ("#F0C14B", "#C98A00", "#7A4E00")  # of halting: for each of three k


def network_look(which: int, colour: str) -> dict[str, Any]:
    """Return the look of a network in every figure: a marker and dashes of its own."""
    return look(which, color=colour, markersize=5.5, markerfacecolor="white", linewidth=1.5)


@slide
def stopped_at(groups: Mapping[str, Sequence[Score]], lowest: float = 0.38) -> Figure:
    """Draw the accuracy if all inputs stopped at the same step n, and, larger, at the steps where networks halt.

    A panel for each group, {title: scores of its networks}, from the accuracy `lowest` upwards.
    """
    figure, axes = panels(len(groups), width=4.9, height=3.6, sharey=True)
    large = {"markersize": 12, "markerfacecolor": HALTING, "markeredgecolor": "white", "linestyle": ""}
    for ax, (title, scores) in zip(axes, groups.items(), strict=True):
        for which, score in enumerate(scores):
            n = step_axis(ax, len(score.accuracy_by_step), title=title, ylim=(lowest, 1.05))
            ax.plot(n, score.accuracy_by_step, **network_look(which, ANSWER))
            ax.plot([score.steps], [score.accuracy], **network_look(which, HALTING) | large, zorder=3)
        ax.axhline(0.5, color=GREY, linestyle=":", linewidth=1.3, label="chance")
    for which in range(max(map(len, groups.values()))):
        axes[0].plot([], [], **network_look(which, ANSWER), label=f"network {which}")
    axes[0].plot([], [], "o", color=HALTING, markersize=10, label="halting as it wants")
    axes[0].set_ylabel("right answers")
    return legend(figure, columns=5)


def by_seed(rows: Iterable[Row]) -> list[Row]:
    """Return a row for each setting and seed of lesson 03: with the mean accuracy and steps of its runs that learnt.

    A setting that was run again with the same seed need not give the same network, but is no further seed either. Where
    none of the runs has learnt, the first stands for all. For `outcomes`.
    """
    repeats: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        repeats.setdefault(tuple(row[name] for name in ("elements", "loss", "lambda_p", "seed")), []).append(row)
    averaged = []
    for same in repeats.values():
        learnt = [row for row in same if has_learnt(row)] or same[:1]
        means = {name: np.mean([row[name] for row in learnt], axis=0).tolist() for name in ("accuracy", "steps")}
        averaged.append({**learnt[0], **means})
    return averaged


@slide
def rises(
    table: DataFrame, limits: tuple[float, float], label: str, compared: Sequence[str] = (), level: float = 0.95
) -> Figure:
    """Draw mean rises with their intervals against lambda_p, a panel for each loss and a mark for each size.

    The table has a row for each run: size, loss, lambda_p, outcome, and rise, which is drawn for those that "learnt".
    An interval without 0 is amber, another grey and its mark hollow; fewer than three runs are crosses. Above the axes
    the others are counted. A single size is drawn larger, without a legend. compared: two of the losses; in one panel
    more stands the second's mean rise less the first's, with Welch's interval of this level.
    """
    sizes, lambda_ps = list(table["size"].unique()), sorted(table["lambda_p"].unique())
    n_panels, alone = table["loss"].nunique() + bool(compared), len(sizes) == 1
    figure, axes = panels(n_panels, width=(7.6 if n_panels < 3 and alone else 9.9) / n_panels, height=4.6, sharey=True)
    size_of_mark, write = (11, 14) if alone else (8, 11)
    heights = {name: 1.03 + 0.07 * i for i, name in enumerate(n for n in OTHERS if n in set(table["outcome"]))}

    def place(size: str, lambda_p: float) -> float:
        return lambda_p + 0.07 * (sizes.index(size) - (len(sizes) - 1) / 2)

    def draw_interval(ax: Axes, size: str, lambda_p: float, middle: float, low: float, high: float) -> None:
        x, marker = place(size, lambda_p), MARKERS[sizes.index(size)]
        colour, face = (HALTING, HALTING) if low > 0 or high < 0 else (UNDECIDED, "white")
        ax.plot([x, x], [low, high], color=colour, linewidth=0.275 * size_of_mark, solid_capstyle="butt")
        ax.plot([x], [middle], marker, color=colour, markersize=size_of_mark, markerfacecolor=face)

    learnt: dict[tuple[str, str, float], list[float]] = {}
    titles = [*table["loss"].unique()]
    for ax, (loss, runs) in zip(axes, table.groupby("loss", sort=False), strict=False):
        above = ax.get_xaxis_transform()  # x in data, y in heights of the axes
        for (size, lambda_p), group in runs.groupby(["size", "lambda_p"], sort=False):
            values = group["rise"][group["outcome"] == "learnt"].tolist()
            learnt[loss, size, lambda_p] = values
            if len(values) > 2:
                draw_interval(ax, size, lambda_p, *interval(values))
            else:
                ax.plot([place(size, lambda_p)] * len(values), values, "x", color=UNDECIDED, markersize=6)
            for outcome, height in heights.items():
                if number := (group["outcome"] == outcome).sum():
                    text: dict[str, Any] = {"color": UNDECIDED, "ha": "center", "fontsize": write, "transform": above}
                    ax.text(place(size, lambda_p), height, str(number), **text)
    if compared:
        first, second = compared
        titles.append("the difference")
        for loss, size, lambda_p in learnt:
            pair = learnt.get((first, size, lambda_p), []), learnt[loss, size, lambda_p]
            if loss == second and min(map(len, pair)) > 2:
                draw_interval(axes[-1], size, lambda_p, *welch(*pair, level))
    for ax, title in zip(axes, titles, strict=True):
        ax.axhline(0, color=BLACK, linewidth=1.2, zorder=1)
        ax.set(xlabel=r"$\lambda_p$", ylim=limits, xlim=(lambda_ps[0] - 0.1, lambda_ps[-1] + 0.1))
        ax.set_title(title, pad=16 + 16 * len(heights))
        ax.set_xticks(lambda_ps)
    for name, height in heights.items():
        axes[0].text(-0.02, height, f"{name}:", ha="right", fontsize=write, transform=axes[0].transAxes)
    for which, size in enumerate(sizes):
        axes[0].plot([], [], MARKERS[which], color=BLACK, markersize=8, markerfacecolor="white", label=size)
    axes[0].set_ylabel(fill(label, 32))  # a longer one would run into the names of the counts
    return figure if alone else legend(figure, columns=2)


def draw_against_k(ax: Axes, k: Sequence[int], networks: Sequence[Row], column: str, border: int, **line: Any) -> None:
    """Draw a line for each network, grey if it has not learnt; beyond the border of training the panel is grey.

    networks: "accuracy" and "steps" for each k, and "learnt", True or False.
    """
    for network in networks:
        ax.plot(k, network[column], **line | ({} if network["learnt"] else {"color": GREY, "alpha": 1.0}))
    ax.axvspan(border + 0.5, k[-1] + 0.5, color="#DDDDDD", zorder=0, linewidth=0)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.set(xlim=(k[0] - 0.5, k[-1] + 0.5), xlabel="non-zero elements $k$")
    if column == "accuracy":
        ax.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2)
        ax.set_ylim(0, 1.03)


def learnt_title(name: str, networks: Sequence[Row]) -> str:
    """Return the name, and below it how many of the networks have learnt."""
    return f"{name}\n{sum(network['learnt'] for network in networks)} of {len(networks)} learnt"


def pace(lines: Sequence[Mapping[str, Line]], cap: int) -> str:
    """Return what a network does with its steps: "a counter", "takes all {cap}", or nothing of the two: "".

    lines: for each k, "steps" by the number of elements that are +1. A counter's steps fall or rise with that number,
    by a quarter of the cap at least, and nine tenths of their variance lie between different numbers, whatever k is.
    """
    table = DataFrame([(ones, n) for line in lines for ones, n in enumerate(line["steps"])], columns=["ones", "steps"])
    if (table["steps"] >= 0.95 * cap).mean() >= 0.9:
        return f"takes all {cap}"
    by_count = table.groupby("ones")["steps"].transform("mean")
    moves = abs(by_count.iloc[0] - by_count.iloc[-1]) >= cap / 4
    return "a counter" if moves and by_count.var() >= 0.9 * table["steps"].var() else ""


@slide
def by_ones(networks: Mapping[str, Sequence[Mapping[str, Line]]], ks: Sequence[int], cap: int = 20) -> Figure:
    """Draw steps against the number of elements that are +1: a panel for each network, a line for each k.

    networks: {title: for each k, "steps" and "accuracy", [k + 1] each}; hollow where fewer than 90 % are right. In the
    panel stands the network's `pace`; cap: the most steps that it may take.
    """
    figure, axes = panels(len(networks), width=3.3, height=3.6, sharey=True)
    for ax, (title, lines) in zip(axes, networks.items(), strict=True):
        for which, (k, line, colour) in enumerate(zip(ks, lines, AMBERS[: len(ks)], strict=True)):
            steps, right = np.asarray(line["steps"]), np.asarray(line["accuracy"]) >= 0.9
            ones = np.arange(len(steps))
            ax.plot(ones, steps, color=colour, linewidth=1.0, alpha=0.6)
            mark: dict[str, Any] = {"color": colour, "marker": MARKERS[which], "linestyle": ""}
            mark["markersize"] = 7.5 - 1.5 * which
            ax.plot(ones[right], steps[right], **mark, label=f"$k$ = {k}")
            ax.plot(ones[~right], steps[~right], **mark | {"markerfacecolor": "white"})
        height = 0.2 if lines[-1]["steps"][-1] > lines[-1]["steps"][0] + 1 else 0.62  # below a line that rises
        ax.text(0.97, height, pace(lines, cap), transform=ax.transAxes, ha="right", fontsize=17, fontweight="bold")
        ax.set(title=title, xlabel="elements that are +1")
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes[0].set_ylabel("steps")
    axes[0].set_ylim(bottom=0)  # the axes are shared: after all panels are drawn
    axes[0].plot([], [], "o", color=BLACK, markerfacecolor="white", label="often wrong")
    return legend(figure, columns=5)
