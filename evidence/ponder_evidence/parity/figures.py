"""Figures of the evidence of lesson 03."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_course.common import style
from ponder_course.common.store import Row
from ponder_course.common.style import ANSWER, BLACK, GREY, HALTING, Line, legend, look, panels, slide, step_axis
from ponder_course.common.verdicts import interval, welch
from ponder_course.parity.figures import AMBERS, network_look
from ponder_utils.evaluation import Score

Networks = Mapping[str, Sequence[Row]]  # {title: networks}; each has "accuracy" and "steps" for each k, and "learnt"
UNDECIDED = "#777777"
BLUES = ("#7CC4EE", ANSWER, "#00304D")  # of answers, for three caps


@slide
def stopped_at(groups: Mapping[str, Sequence[Score]]) -> Figure:
    """Draw the accuracy if all inputs stopped at the same step n, and, larger, at the steps where networks halt.

    A panel for each group, {title: scores of its networks}.
    """
    figure, axes = panels(len(groups), width=4.9, height=3.6, sharey=True)
    large = {"markersize": 12, "markerfacecolor": HALTING, "markeredgecolor": "white", "linestyle": ""}
    for ax, (title, scores) in zip(axes, groups.items(), strict=True):
        for which, score in enumerate(scores):
            n = step_axis(ax, len(score.accuracy_by_step), title=title, ylim=(0, 1.05))
            ax.plot(n, score.accuracy_by_step, **network_look(which, ANSWER))
            ax.plot(score.steps, score.accuracy, **network_look(which, HALTING) | large, zorder=3)
        ax.axhline(0.5, color=GREY, linestyle=":", linewidth=1.3, label="chance")
    for which in range(max(map(len, groups.values()))):
        axes[0].plot([], [], **network_look(which, ANSWER), label=f"network {which}")
    axes[0].plot([], [], "o", color=HALTING, markersize=10, label="halting as it wants")
    axes[0].set_ylabel("right answers")
    return legend(figure, columns=5)


def draw_against_k(ax: Axes, k: range, networks: Sequence[Row], column: str, border: int, **line: Any) -> None:
    """Draw a column of each network against k, grey if it has not learnt; beyond the border the panel is grey."""
    for network in networks:
        ax.plot(k, network[column], **line | ({} if network["learnt"] else {"color": GREY, "alpha": 1.0}))
    ax.axvspan(border + 0.5, k[-1] + 0.5, color="#DDDDDD", zorder=0, linewidth=0)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.set(xlim=(0.5, k[-1] + 0.5), xlabel="non-zero elements $k$")
    if column == "accuracy":
        ax.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2)
        ax.set_ylim(0, 1.03)


def learnt_title(name: str, networks: Sequence[Row]) -> str:
    """Return the name, and below it how many of the networks have learnt."""
    return f"{name}\n{sum(network['learnt'] for network in networks)} of {len(networks)} learnt"


def counter_differences(row: Row) -> tuple[float, float]:
    """Return by how much steps differ between k, and between counts of +1.

    The first is the mean difference between k = 16 and k = 32 with as many +1s, 0 to 12; the second
    that between 2 and 12 of them at k = 32. Of a counter, whose time is the count, the first is
    small and the second large.
    """
    at_16, at_32 = (by_ones["steps"] for by_ones in row["by_ones"][1:3])
    return mean(abs(at_16[ones] - at_32[ones]) for ones in range(13)), abs(at_32[2] - at_32[12])


# Colours of PonderNet, which has the paper's loss, and of others than the forms of `rises`.
METHODS = (1, 2, 0, 3, 4)


@slide
def draw_beyond(k: range, runs: Networks, border: int, change: Mapping[str, Line], label: str) -> Figure:
    """Draw the accuracy against k, a panel for each method, and a change of those that learnt in the last.

    The thick line is the mean of the networks that learnt. border: the largest k of training. change: {method: a value
    for each network that learnt}, with its interval; label: its title.
    """
    figure, axes = panels(len(runs) + 1, width=3.3, height=3.4, rows=2)
    for unused in figure.axes[len(axes) :]:
        unused.remove()
    looks = dict(zip(runs, METHODS, strict=False))
    for ax, (name, networks) in zip(axes, runs.items(), strict=False):
        colour = style.COLOURS[looks[name]]
        grey_first = sorted(networks, key=lambda network: network["learnt"])
        draw_against_k(ax, k, grey_first, "accuracy", border, color=colour, linewidth=0.9, alpha=0.7)
        if learnt := [network["accuracy"] for network in networks if network["learnt"]]:
            ax.plot(k, np.mean(learnt, axis=0), color=colour, linewidth=3)
        ax.set(title=learnt_title(name, networks), ylabel="accuracy")
    ax = axes[-1]
    ax.axhline(0, color=BLACK, linewidth=1.2)
    for i, (name, values) in enumerate(change.items()):
        middle, low, high = interval(values)
        colour = style.COLOURS[looks[name]]
        style.marks(ax, [(i + 0.18, value) for value in values], looks[name], 24)
        ax.plot([i - 0.12] * 2, [low, high], color=colour, linewidth=2.4)
        ax.plot(i - 0.12, middle, "o", color=colour, markersize=9)
    ax.set(title=label, xlabel="method", xlim=(-0.6, len(change) - 0.4))
    ax.set_xticks(range(len(change)), list(change))
    return figure


@slide
def draw_by_cap(runs: Networks, border: int) -> Figure:
    """Draw accuracy, above, and steps, below, against k: a column for each training, a line for a network and cap.

    runs: networks with "learnt", and "by_cap": {N: "accuracy" and "steps" for each k}.
    """
    figure, axes = panels(2 * len(runs), width=3.3, height=2.4, rows=2, sharex=True, sharey="row")
    for (name, networks), above, below in zip(runs.items(), axes, axes[len(runs) :], strict=False):
        for network in sorted(networks, key=lambda network: network["learnt"]):  # grey ones below
            for found, blue, amber in zip(network["by_cap"].values(), BLUES, AMBERS, strict=False):
                k, line = range(1, len(found["steps"]) + 1), [found | {"learnt": network["learnt"]}]
                draw_against_k(above, k, line, "accuracy", border, color=blue, linewidth=1.3)
                draw_against_k(below, k, line, "steps", border, color=amber, linewidth=1.3)
        above.set(title=learnt_title(name, networks), xlabel=" ")
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set(ylabel="steps", ylim=(0, 62))
    return figure


@slide
def accuracy_and_steps(k: range, runs: Networks, border: int, n_steps: int) -> Figure:
    """Draw accuracy, above, and steps, below, against k: a column a method, a line a network.

    border: the largest k of training; n_steps: the cap N.
    """
    width = min(3.0, 10 / len(runs))
    figure, axes = panels(2 * len(runs), width=width, height=2.1, rows=2, sharex=True, sharey="row")
    for which, (name, networks) in enumerate(runs.items()):
        above, below = axes[which], axes[which + len(runs)]
        for ax, column in ((above, "accuracy"), (below, "steps")):
            draw_against_k(ax, k, networks, column, border, color=style.COLOURS[which], linewidth=1.5)
        above.set(title=learnt_title(name, networks), xlabel=" ")
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set(ylabel="steps", ylim=(0, n_steps + 0.5))
    return figure


@slide
def draw_fractions(table: DataFrame, label: str) -> Figure:
    """Draw the fractions of networks that crashed, and of those that learnt, against lambda_p: a line for each loss.

    The table is that of `rises`; a row of panels for each size, all with the same axes.
    """
    pairs = [(size, outcome) for size in table["size"].unique() for outcome in ("crashed", "learnt")]
    figure, axes = panels(len(pairs), width=4.6, height=3.0, rows=len(pairs) // 2, sharex=True, sharey=True)
    for ax, (size, outcome) in zip(axes, pairs, strict=True):
        for which, (loss, runs) in enumerate(table[table["size"] == size].groupby("loss", sort=False)):
            fraction = (runs["outcome"] == outcome).groupby(runs["lambda_p"]).mean()
            ax.plot(fraction.index, fraction, **look(which, markersize=8), label=loss)
        ax.set(title=f"{size}: {outcome}", xlabel=r"$\lambda_p$", ylabel=label, ylim=(-0.04, 1.04))
        ax.set_xticks(sorted(table["lambda_p"].unique()))
    return legend(figure, columns=3)


@slide
def rises(table: DataFrame, limits: tuple[float, float], label: str, compared: tuple[str, str], level: float) -> Figure:
    """Draw mean rises with their intervals against lambda_p, a panel for each loss and a mark for each size.

    The table has a row for each run: size, loss, lambda_p, outcome, and rise, which is drawn for those that "learnt".
    An interval without 0 is amber, another grey and its mark hollow; fewer than three runs are crosses. Above the axes
    the others are counted. A single size is drawn larger, without a legend. compared: two of the losses, in their order
    in the table; in the last panel stands the second's mean rise less the first's, with Welch's interval of this level.
    """
    sizes, lambda_ps = list(table["size"].unique()), sorted(table["lambda_p"].unique())
    titles, alone = [*table["loss"].unique(), "the difference"], len(sizes) == 1
    figure, axes = panels(len(titles), width=9.9 / len(titles), height=4.6, sharey=True)
    size_of_mark, size_of_text = (11, 14) if alone else (8, 11)
    others = [name for name in ("not learnt", "crashed") if name in set(table["outcome"])]
    heights = {name: 1.03 + 0.07 * i for i, name in enumerate(others)}
    of_first: dict[tuple[str, float], list[float]] = {}

    def draw_interval(ax: Axes, x: float, marker: str, middle: float, low: float, high: float) -> None:
        colour, face = (HALTING, HALTING) if low > 0 or high < 0 else (UNDECIDED, "white")
        ax.plot([x, x], [low, high], color=colour, linewidth=0.275 * size_of_mark, solid_capstyle="butt")
        ax.plot(x, middle, marker, color=colour, markersize=size_of_mark, markerfacecolor=face)

    for (loss, size, lambda_p), runs in table.groupby(["loss", "size", "lambda_p"], sort=False):
        which = sizes.index(size)
        ax, x, marker = axes[titles.index(loss)], lambda_p + 0.07 * (which - (len(sizes) - 1) / 2), style.MARKERS[which]
        values = runs["rise"][runs["outcome"] == "learnt"].tolist()
        if len(values) > 2:
            draw_interval(ax, x, marker, *interval(values))
        else:
            ax.plot([x] * len(values), values, "x", color=UNDECIDED, markersize=6)
        for outcome, number in runs["outcome"].value_counts().drop("learnt", errors="ignore").items():
            text: dict[str, Any] = {"color": UNDECIDED, "ha": "center", "fontsize": size_of_text}
            ax.text(x, heights[outcome], str(number), transform=ax.get_xaxis_transform(), **text)
        if loss == compared[0]:
            of_first[size, lambda_p] = values
        pair = of_first.get((size, lambda_p), []), values
        if loss == compared[1] and min(map(len, pair)) > 2:
            draw_interval(axes[-1], x, marker, *welch(*pair, level))
    for ax, title in zip(axes, titles, strict=True):
        ax.axhline(0, color=BLACK, linewidth=1.2, zorder=1)
        ax.set(xlabel=r"$\lambda_p$", xticks=lambda_ps, xlim=(lambda_ps[0] - 0.1, lambda_ps[-1] + 0.1), ylim=limits)
        ax.set_title(title, pad=16 + 16 * len(heights))
    for name, height in heights.items():
        axes[0].text(-0.02, height, f"{name}:", ha="right", fontsize=size_of_text, transform=axes[0].transAxes)
    for marker, size in zip(style.MARKERS, sizes, strict=False):
        axes[0].plot([], [], marker, color=BLACK, markersize=8, markerfacecolor="white", label=size)
    axes[0].set_ylabel(fill(label, 32))  # a longer one would run into the names of the counts
    return figure if alone else legend(figure, columns=2)


def most_frequent(halts: Sequence[int], odd: Sequence[int], right: Sequence[Sequence[int]]) -> list[str]:
    """Return a line for each of the two most frequent cases of `draw_map`: parity, step of halting, first 3 answers."""
    word, lines = ("even", "odd"), []
    answers = [tuple(word[good == is_odd] for good in of_one[:3]) for is_odd, of_one in zip(odd, right, strict=True)]
    for (is_odd, step, said), n in Counter(zip(odd, halts, answers, strict=True)).most_common(2):
        lines.append(f"{n} {word[is_odd]} inputs: answers {', '.join(said)} at steps 1 to 3; they halt at step {step}")
    return lines
