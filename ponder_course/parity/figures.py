"""Figures of lesson 03: when networks halt as they learn, how they answer, and what their steps depend on."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame
from torch import Tensor

from ponder_course.common import style
from ponder_course.common.runs import matching
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
from ponder_course.common.verdicts import count, interval, span, welch
from ponder_course.parity import papers_size
from ponder_course.parity.experiment import FORMS, LAMBDA_PS, has_learnt, outcomes
from ponder_utils.evaluation import Score
from ponder_utils.pondernet import PonderNet

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


def rises_of_large(rows: Sequence[Row], titles: Sequence[str]) -> DataFrame:
    """Return the table of `rises` for the large networks with either divergence, a row for each setting and seed.

    titles: of the paper's divergence, and of the reversed.
    """
    table = outcomes(by_seed(rows)).replace({"loss": dict(zip(FORMS, (*titles, "textbook"), strict=True))})
    return table[(table["size"] == "large") & (table["loss"] != "textbook")]


def rises_and_difference(table: DataFrame, titles: Sequence[str]) -> Figure:
    """Draw the `rises` of both divergences, and the difference with its 99 % interval."""
    figure = rises(table, (-2.0, 1.6), "steps: largest $k$ minus $k$ = 1", titles, level=0.99)
    figure.axes[-1].title.set_text("reversed less the paper's")
    return figure


def who_rises_more(table: DataFrame, titles: Sequence[str]) -> str:
    """Return in a sentence at which priors the second divergence rises more than the first, or less, by 99 %."""
    sides: dict[str, list[str]] = {"more": [], "less": [], "undecided": []}
    for lambda_p in LAMBDA_PS:
        of_prior = table[(table["outcome"] == "learnt") & (table["lambda_p"] == lambda_p)]
        first, second = (of_prior["rise"][of_prior["loss"] == title].tolist() for title in titles)
        _, low, high = welch(first, second, level=0.99)
        sides["more" if low > 0 else "less" if high < 0 else "undecided"].append(f"{lambda_p:g}")
    found = [f"{side} than the paper's at {' and '.join(sides[side])}" for side in ("more", "less") if sides[side]]
    undecided = f"at {len(sides['undecided'])} of {len(LAMBDA_PS)} priors undecided"
    return f"Reversed rises {', '.join(found) or 'no more and no less'};\n{undecided}"


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


def counter_differences(row: Row) -> tuple[float, float]:
    """Return by how much steps differ between k, and between counts of +1.

    The first is the mean difference between k = 16 and k = 32 with as many +1s, 0 to 12; the second
    that between 2 and 12 of them at k = 32. Of a counter, whose time is the count, the first is
    small and the second large.
    """
    at_16, at_32 = (by_ones["steps"] for by_ones in row["by_ones"][1:3])
    between_k = mean(abs(at_16[ones] - at_32[ones]) for ones in range(13))
    return between_k, abs(at_32[2] - at_32[12])


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


@style.slide
def draw_halting(moments: Sequence[Row], prior: style.Line, hard_k: int, last: int) -> Figure:
    """Draw p_n of easy inputs (filled) and of hard ones (dashed) beside the prior (dotted).

    A panel for each of the moments: "update"; p_n, [N], of "easy" and "hard" inputs; and how many
    answers are right, "easy right" and "hard right". last: the last step that is drawn.
    """
    figure, axes = style.panels(len(moments), width=3.7, height=2.5, rows=2, sharex=True, sharey=True)
    for ax, row in zip(axes, moments, strict=True):
        n = style.step_axis(ax, len(prior), xlim=(0.5, last + 0.5), ylim=(0, 1.05))
        ax.fill_between(n, row["easy"], color=style.HALTING, alpha=0.35, linewidth=0)
        ax.plot(n, row["easy"], color=style.HALTING)
        ax.plot(n, row["hard"], color=style.DARK_ORANGE, linestyle="--")
        ax.plot(n, prior, color=style.PRIOR, linestyle=":", linewidth=2.5)
        ax.set_title(f"{row['update']:,} updates")
        ax.set_xticks(range(1, last + 1, 3))
        for height, colour, k, name in (
            (0.97, "#B87F00", 1, "easy"),
            (0.81, style.DARK_ORANGE, hard_k, "hard"),
        ):
            text = f"{name}, $k$ = {k}: {row[f'{name} right']:.0%}"
            place: dict[str, Any] = {"transform": ax.transAxes, "ha": "right", "va": "top"}
            ax.text(1, height, text, color=colour, fontweight="bold", **place)
    grey: dict[str, Any] = {"color": "#777777", "fontweight": "bold", "ha": "left", "va": "bottom"}
    axes[0].text(3.2, prior[2] + 0.02, "prior", **grey)
    for ax in axes[::2]:
        ax.set_ylabel("$p_n$")
    for ax in axes[:-2]:
        ax.set_xlabel(" ")
    return figure


def widest_gap(logged: Sequence[Row]) -> int:
    """Return at which moment easy inputs are furthest ahead of hard ones in right answers."""
    gaps = [row["easy right"] - row["hard right"] for row in logged]
    return gaps.index(max(gaps))


def nearest_to_prior(logged: Sequence[Row], prior: style.Line) -> int:
    """Return the moment at which both distributions are closest to the prior."""

    def away(row: Row) -> float:
        return sum(float(np.abs(np.subtract(row[name], prior)).sum()) for name in ("easy", "hard"))

    return min(range(len(logged)), key=lambda moment: away(logged[moment]))


def film(logged: Sequence[Row], moment: int, prior: style.Line, hard_k: int, last: int) -> Figure:
    """Draw where a network halts at the start, nearest to its prior, at this moment and at the end of training."""
    moments = (0, nearest_to_prior(logged, prior), moment, -1)
    return draw_halting([logged[at] for at in moments], prior, hard_k, last)


IN_ORDER = "First to the prior, then a hump: on easy inputs first"


def in_which_order(logged: Sequence[Row], moment: int, prior: style.Line) -> str:
    """Return in a sentence whether, after the prior, the hump comes on easy inputs first, as at this moment."""
    row = logged[moment]
    first_easy = max(row["easy"]) > max(row["hard"]) and row["easy right"] - row["hard right"] > 0.1
    after_the_prior = 0 < nearest_to_prior(logged, prior) < moment
    return IN_ORDER if after_the_prior and first_easy else "The mass moves from step 1"


def logs(of_kind: Mapping[str, Sequence[tuple[PonderNet, Sequence[Row]]]]) -> pd.DataFrame:
    """Return a row for each evaluation of each network, with its kind and its number: for `draw_learning`."""
    return pd.DataFrame(
        {"kind": kind, "network": k, **row}
        for kind, pairs in of_kind.items()
        for k, (_, log) in enumerate(pairs)
        for row in log
    )


def apart(heights: style.Line, gap: float) -> list[float]:
    """Return the heights, those that are closer than the gap moved apart, up and down alike."""
    moved = [*heights]
    order = sorted(range(len(moved)), key=moved.__getitem__)
    for _ in range(100):
        for low, high in itertools.pairwise(order):
            push = max(0, gap - (moved[high] - moved[low])) / 2
            moved[low] -= push
            moved[high] += push
    return moved


@style.slide
def draw_steps(
    groups: Mapping[str, Sequence[style.Line]], counts: Sequence[int], label: str,
    ends: Mapping[str, Sequence[str]], learnt: Mapping[str, Sequence[bool]],
) -> Figure:  # fmt: skip
    """Draw steps against a count of the input: a panel for each group, a line for each network.

    groups: {title: [networks, counts]}; ends: what is written at the end of each line; learnt:
    networks that have not are light grey.
    """
    figure, axes = style.panels(len(groups), width=4.0, height=3.4, sharey=True)
    top = 1.08 * max(max(steps) for networks in groups.values() for steps in networks)
    for ax, (title, networks) in zip(axes, groups.items(), strict=True):
        heights = apart([steps[-1] for steps in networks], top / 10)
        for which, steps in enumerate(networks):
            colour = style.HALTING if learnt[title][which] else style.NOT_LEARNT
            ax.plot(counts, steps, **network_look(which, colour))
            x = counts[-1] + 0.07 * (counts[-1] - counts[0])
            ax.plot([counts[-1], x], [steps[-1], heights[which]], color=style.GREY, linewidth=1)
            ax.text(x, heights[which], ends[title][which], color=style.BLACK, va="center")
        ax.set(title=title, xlabel=label, ylim=(0, max(top, heights[-1] + 1)))
        room = 0.09 + 0.04 * max(map(len, ends[title]))
        ax.set_xlim(None, counts[-1] + room * (counts[-1] - counts[0]))
        ax.set_xticks(counts[:: 1 + len(counts) // 10])
    axes[0].set_ylabel("expected steps")
    return figure


def signed(change: float) -> str:
    """The change with its sign, and a minus as long as a plus."""
    return f"{change:+.1f}".replace("-", "\N{MINUS SIGN}")


def are_right(rows: Sequence[Row]) -> list[bool]:
    """Return of each network whether it is right on 99 % of its inputs, on average over k."""
    return [mean(row["accuracy"]) >= 0.99 for row in rows]


def what_the_seed_does(more: Mapping[str, Sequence[float]]) -> str:
    """Return in a sentence how far apart networks are that differ in their seed alone, for the kind furthest apart.

    more: {kind: steps at the largest k less steps at k = 1, of each network}.
    """
    furthest = max(more.values(), key=lambda changes: max(changes) - min(changes))
    low, high = min(furthest), max(furthest)
    if high - low < 0.5:
        return f"{signed(low)} to {signed(high)} steps on harder inputs:\nthe seed hardly matters"
    return f"Longer on harder inputs?\nFrom {signed(low)} to {signed(high)} steps, by seed alone"


def cost_of_harder_inputs(more: Mapping[str, Sequence[float]], k: int) -> str:
    """Return the answer to the lesson's first bet: what the largest k costs all networks."""
    changes = [change for of_kind in more.values() for change in of_kind]
    cost = f"{signed(min(changes))} to {signed(max(changes))} steps"
    return f"Bet 1: k = {k} instead of k = 1 costs your {len(changes)} networks {cost}"


def steps_by_ones(counted: Mapping[str, Sequence[Row]], learnt: Mapping[str, Sequence[bool]]) -> Figure:
    """Draw steps by the number of +1s, with the variance that this number and k explain. counted: {title: networks}."""
    steps = {title: [row["by_ones"] for row in rows] for title, rows in counted.items()}
    ends = {
        title: ["{ones:.0%}, $k$ {k:.0%}".format(**row["explained"]) for row in rows] for title, rows in counted.items()
    }
    longest = max(len(line) for lines in steps.values() for line in lines)
    return draw_steps(steps, range(longest), "elements that are +1", ends, learnt)


def what_the_ones_explain(here: Iterable[Row], stored: Iterable[Row]) -> str:
    """Return in a sentence in how many networks the number of +1s explains more of the steps than k does."""
    more = [[row["explained"]["ones"] - row["explained"]["k"] for row in rows] for rows in (here, stored)]
    return "The +1s explain more than k does\nin {} networks here, {} stored".format(*(count(of, 0) for of in more))


@style.slide
def draw_own_time(
    own: float, by_step: style.Line, p: style.Line,
    stored: Mapping[float, Sequence[tuple[float, float]]], gain: float,
) -> Figure:  # fmt: skip
    """Draw the accuracy at each fixed step beside that of a network's own halting.

    p: where the network halts, [N]. At the right the best fixed step of many networks; stored:
    {lambda_p: (own accuracy, accuracy at the best fixed step) of each}. Those that gain so much by
    their own halting are full, and counted.
    """
    figure = Figure(figsize=(8.8, 4.5), layout="constrained")
    widths = [1.75, 1] if stored else [1]
    axes = figure.subplots(1, len(widths), sharey=True, squeeze=False, width_ratios=widths)[0]
    left, best = axes[0], max(by_step)
    n = style.step_axis(left, len(by_step), title="one network", ylabel="right answers")
    left.bar(n, p, color=style.HALTING, alpha=0.55)
    left.plot(n, by_step, color=style.ANSWER, marker="o", markersize=6)
    left.axhline(own, color=style.HALTING, linewidth=4)
    left.axhline(0.5, color=style.GREY, linestyle=":", linewidth=1.6)
    at, end = by_step.index(best) + 1, len(by_step)
    write: dict[str, Any] = {"fontweight": "bold", "fontsize": 15}
    itself, all_stop = f"halting by itself: {own:.0%}", f"all stop at step {at}: {best:.0%}"
    height = min(best, own - 0.2)  # below the line of its own halting
    left.text(end, own - 0.025, itself, color=style.DARK_ORANGE, ha="right", va="top", **write)
    left.text(at + 1.5, height, all_stop, color=style.ANSWER, va="bottom", **write)
    left.text(end, 0.465, "a coin", color=style.DARK_GREY, ha="right", va="top", **write)
    left.text(at + 2.2, 0.13, "where it halts, $p_n$", color=style.DARK_ORANGE, fontsize=15)
    left.set(ylim=(0, 1.06), yticks=[0, 0.25, 0.5, 0.75, 1], xlim=(0.3, end + 0.7))
    left.set_xticks([1, *range(5, end + 1, 5)])
    left.yaxis.set_major_formatter("{x:.0%}")
    if not stored:
        return figure
    right = axes[1]
    rng, places = np.random.default_rng(0), range(len(stored))
    for place, found in zip(places, stored.values(), strict=True):
        for mine, fixed in found:
            x, gained = place + rng.uniform(-0.25, 0.25), mine - fixed >= gain
            face = style.ANSWER if gained else "white"
            right.plot(x, fixed, "o", color=style.ANSWER, markersize=6, markerfacecolor=face)
            ends = [place - 0.32, place + 0.32]
            right.plot(ends, [mine, mine], color=style.HALTING, linewidth=2, alpha=0.7)
        count = sum(mine - fixed >= gain for mine, fixed in found)
        text = f"{count} of\n{len(found)}"
        right.text(place, 0.13, text, ha="center", va="center", fontweight="bold")
    text = "lose 5 points or more\nat any fixed step:"
    right.text((len(stored) - 1) / 2, 0.34, text, ha="center", va="center")
    gaining = [mine - fixed >= gain for found in stored.values() for mine, fixed in found]
    title = f"stored: {sum(gaining)} of {len(gaining)}"
    right.set(title=title, xlabel=r"$\lambda_p$ of the prior")
    right.set_xticks(places, [f"{lambda_p:g}" for lambda_p in stored])
    return figure


GAIN = 0.05  # "at no fixed step": at least five points fewer right answers at the best of them


def own_and_fixed(rows: Iterable[Row]) -> dict[float, list[tuple[float, float]]]:
    """Return {lambda_p: (accuracy by itself, accuracy at its best fixed step) of each stored run that has learnt}."""
    compared: dict[float, list[tuple[float, float]]] = {}
    for row in filter(has_learnt, rows):
        best = max(map(mean, zip(*row["by_step"], strict=True)))  # by_step: [k, N]
        compared.setdefault(row["lambda_p"], []).append((mean(row["accuracy"]), best))
    return dict(sorted(compared.items()))


def what_own_time_gains(mine: Score, compared: Mapping[float, Sequence[tuple[float, float]]]) -> str:
    """Return in a sentence what a network of the reader gains by halting by itself, else how many stored ones do."""
    own, best = mine.accuracy, max(mine.accuracy_by_step)
    gains = [by_itself - fixed for pairs in compared.values() for by_itself, fixed in pairs]
    if own - best >= GAIN:
        return f"{own:.0%} right when it halts by itself, at most {best:.0%} at any one step"
    if not gains:
        return f"Here one step does for all: {best:.0%} right, by itself {own:.0%}"
    yours = f"Yours: one step for all gets {best:.0%}, halting by itself {own:.0%}."
    return f"{yours}\nStored: {count(gains, GAIN)} lose five points or more at any fixed step"


@style.slide
def draw_learning(table: pd.DataFrame) -> Figure:
    """Draw accuracy and steps over training: a line for each network, dashed for the second kind.

    table: a row for each evaluation, with columns kind, network, update, accuracy and steps.
    """
    figure, axes = style.panels(2, width=4.1, height=3.6)
    titles = {"accuracy": "right answers", "steps": "expected steps"}
    colours, end = (style.ANSWER, style.HALTING), table["update"].max()
    for ax, (column, title), colour in zip(axes, titles.items(), colours, strict=True):
        ends = []
        for which, (kind, networks) in enumerate(table.groupby("kind", sort=False)):
            for i, (_, network) in enumerate(networks.groupby("network")):
                label = kind if i == 0 else None
                dashes = style.DASHES[which]
                ax.plot(network["update"], network[column], color=colour, linestyle=dashes, label=label)
                ends.append(network[column].iloc[-1])
        if column == "steps":
            gap = 0.07 * table["steps"].max()
            for value, height in zip(ends, apart(ends, gap), strict=True):
                ax.plot([end, 1.06 * end], [value, height], color=style.GREY, linewidth=0.8)
                ax.text(1.07 * end, height, f"{value:.1f}", va="center")
        ax.set(title=title, xlabel="update", xlim=(0, 1.2 * end if column == "steps" else end))
        ax.set_ylim(0 if column == "steps" else None, None)
        ax.set_xticks([0, end // 2, end])
    axes[0].legend(loc="lower right")
    return figure


@style.slide
def draw_traces(
    answers: Mapping[str, style.Line], halting: Sequence[style.Line], p: Sequence[style.Line],
    target: float, prior: float,
) -> Figure:  # fmt: skip
    """Draw one input on its way through the steps of networks, a column for each.

    Above the answer, P(odd), below lambda_n and p_n: answers by title of the column, halting and
    p, [networks, N] each. The right answer and the prior's coin are dotted.
    """
    figure, axes = style.panels(2 * len(p), width=3.8, height=2.1, rows=2, sharex=True, sharey=True)
    for i, (title, answer) in enumerate(answers.items()):
        above, below = axes[i], axes[i + len(p)]
        n = style.step_axis(below, len(p[i]), ylim=(-0.05, 1.08))
        above.set(title=title, xlabel=" ")
        above.axhline(target, color=style.LIMIT, linestyle=":", label="right answer")
        above.plot(n, answer, **style.look(0, markersize=5, color=style.ANSWER), label="answer")
        below.axhline(prior, color=style.PRIOR, linestyle=":", label=r"$\lambda_p$")
        below.bar(n, p[i], color=style.HALTING, label="$p_n$")
        look = style.look(1, markersize=5, linestyle="-", color=style.DARK_ORANGE, markerfacecolor="white")
        below.plot(n, halting[i], **look, label=r"$\lambda_n$")
    axes[0].set_ylabel("P(odd)")
    axes[len(p)].set_ylabel("probability")
    return style.legend(figure, columns=5)


def stays_right(answer: Tensor, p: Tensor, odd: float) -> bool:
    """Whether the answer is right from the most probable step on."""
    return bool(((answer > 0.5) == bool(odd))[p.argmax() :].all())


def least_and_most_right(
    stopped: Mapping[str, Sequence[Score]], networks: Mapping[str, Sequence[PonderNet]], titles: Mapping[str, str]
) -> dict[str, PonderNet]:
    """Return the networks that are right least and right most often at the last step, {title: network}."""
    at_the_end = {
        (kind, i): score.accuracy_by_step[-1] for kind, scores in stopped.items() for i, score in enumerate(scores)
    }
    in_order = sorted(at_the_end, key=at_the_end.__getitem__)
    return {f"network {i}, {titles[kind]}": networks[kind][i] for kind, i in (in_order[0], in_order[-1])}


def signs(x: Tensor) -> str:
    """Return the elements of one input, [1, elements], as signs in a row, such as "+ 0 +"."""
    return " ".join({-1: "\N{MINUS SIGN}", 0: "0", 1: "+"}[round(element)] for element in x[0].tolist())


@torch.no_grad()
def on_their_way(shown: Mapping[str, PonderNet], x: Tensor, odd: float, prior: float) -> tuple[Figure, str]:
    """Draw one input, [1, elements], on its way through the steps of two networks, and say where its answer stays."""
    outputs = [model(x) for model in shown.values()]
    answers = [output.y_hat.sigmoid()[:, 0] for output in outputs]
    halting = [output.halt_logits.sigmoid()[:, 0].tolist() for output in outputs]
    p = [output.log_p.exp()[:, 0] for output in outputs]
    by_title = {title: answer.tolist() for title, answer in zip(shown, answers, strict=True)}
    figure = draw_traces(by_title, halting, [p_n.tolist() for p_n in p], odd, prior)
    stays = [stays_right(answer, p_n, odd) for answer, p_n in zip(answers, p, strict=True)]
    return figure, "Left the answer passes by, right it stays" if stays == [False, True] else "One input, two networks"


def learnt_by_method(rows: Sequence[Row]) -> list[str]:
    """Return a line of text for each method at the paper's size: how many learn it, and their steps at k = 1 and 64."""
    lines = []
    for name in papers_size.METHODS:
        of_method = matching(rows, network=name)
        good = [row["steps"] for row in of_method if papers_size.accuracy_within(row) >= 0.95]
        ends = "  ".join(span([steps[k - 1] for steps in good], ".0f") for k in (1, 64))
        lines.append(f"{name}: {len(good)} of {len(of_method)} learn it; steps at k = 1 and 64:  {ends}")
    return lines


METHODS = (
    0,
    3,
    5,
    6,
    4,
)  # colours of PonderNet, which has the paper's loss, and of others than the forms of `rises`


@style.slide
def draw_beyond(
    k: Sequence[int],
    runs: Mapping[str, Sequence[Row]],
    border: int,
    change: Mapping[str, Line],
    label: str,
) -> Figure:
    """Draw the accuracy against k, a panel for each method, and a change of those that learnt in
    the last.

    The thick line is the mean of the networks that learnt. border: the largest k of training.
    change: {method: a value
    for each network that learnt}, with its interval; label: its title.
    """
    figure, axes = style.panels(len(runs) + 1, width=3.3, height=3.4, rows=2)
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
    ax.axhline(0, color=style.BLACK, linewidth=1.2)
    for i, (name, values) in enumerate(change.items()):
        middle, low, high = interval(values)
        colour = style.COLOURS[looks[name]]
        style.marks(ax, [(i + 0.18, value) for value in values], looks[name], 24)
        ax.plot([i - 0.12] * 2, [low, high], color=colour, linewidth=2.4)
        ax.plot([i - 0.12], [middle], "o", color=colour, markersize=9)
    ax.set(title=label, xlabel="method", xlim=(-0.6, len(change) - 0.4))
    ax.set_xticks(range(len(change)), list(change))
    return figure


SHADES = {  # pale, middle and dark, for three caps
    "accuracy": ("#7CC4EE", style.ANSWER, "#00304D"),
    "steps": AMBERS,
}


@style.slide
def draw_by_cap(runs: Mapping[str, Sequence[Row]], border: int) -> Figure:
    """Draw accuracy, above, and steps, below, against k: a column for each training, a line for a
    network and cap.

    runs: networks with "learnt", and "by_cap": {N: "accuracy" and "steps" for each k}.
    """
    figure, axes = style.panels(2 * len(runs), width=3.3, height=2.4, rows=2, sharex=True, sharey="row")
    for which, (name, networks) in enumerate(runs.items()):
        for row, column in enumerate(SHADES):
            ax = axes[which + row * len(runs)]
            for network in sorted(networks, key=lambda network: network["learnt"]):  # grey first
                for found, colour in zip(network["by_cap"].values(), SHADES[column], strict=False):
                    k = range(1, len(found[column]) + 1)
                    line = [found | {"learnt": network["learnt"]}]
                    draw_against_k(ax, k, line, column, border, color=colour, linewidth=1.3)
        axes[which].set(title=learnt_title(name, networks), xlabel=" ")
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set_ylabel("steps")
    axes[len(runs)].set_ylim(0, 62)
    return figure


@style.slide
def draw_accuracy_and_steps(k: Sequence[int], runs: Mapping[str, Sequence[Row]], border: int, n_steps: int) -> Figure:
    """Draw accuracy, above, and steps, below, against k: a column a method, a line a network.

    border: the largest k of training; n_steps: the cap N.
    """
    figure, axes = style.panels(
        2 * len(runs), width=min(3.0, 10 / len(runs)), height=2.1, rows=2, sharex=True, sharey="row"
    )
    for which, (name, networks) in enumerate(runs.items()):
        above, below = axes[which], axes[which + len(runs)]
        draw_against_k(above, k, networks, "accuracy", border, color=style.COLOURS[which], linewidth=1.5)
        draw_against_k(below, k, networks, "steps", border, color=style.COLOURS[which], linewidth=1.5)
        above.set(title=learnt_title(name, networks), xlabel=" ")
        below.set_ylim(0, n_steps + 0.5)
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set_ylabel("steps")
    return figure


@style.slide
def draw_fractions(table: DataFrame, label: str) -> Figure:
    """Draw the fractions of networks that crashed, and of those that learnt, against lambda_p: a
    line for each loss.

    The table is that of `rises`; a row of panels for each size, all with the same axes.
    """
    sizes = table["size"].unique()
    figure, axes = style.panels(2 * len(sizes), width=4.6, height=3.0, rows=len(sizes), sharex=True, sharey=True)
    pairs = [(size, outcome) for size in sizes for outcome in ("crashed", "learnt")]
    for ax, (size, outcome) in zip(axes, pairs, strict=True):
        for which, (loss, runs) in enumerate(table[table["size"] == size].groupby("loss", sort=False)):
            fraction = (runs["outcome"] == outcome).groupby(runs["lambda_p"]).mean()
            ax.plot(fraction.index, fraction, **style.look(which, markersize=8), label=loss)
        ax.set(title=f"{size}: {outcome}", xlabel=r"$\lambda_p$", ylabel=label, ylim=(-0.04, 1.04))
        ax.set_xticks(sorted(table["lambda_p"].unique()))
    return style.legend(figure, columns=3)
