"""Figures of lesson 03: when networks halt as they learn, how they answer, and what their steps depend on."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean
from textwrap import fill
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame, Series, concat
from torch import Tensor

from ponder_course.common import style
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import ANSWER, BLACK, GREY, HALTING, Line, legend, look, panels, slide, step_axis
from ponder_course.common.verdicts import count, interval, span, welch
from ponder_course.parity.experiment import FORMS, LAMBDA_PS, METHODS, N, accuracy_within, by_seed, has_learnt, outcomes
from ponder_utils.evaluation import Score
from ponder_utils.pondernet import PonderNet

Networks = Mapping[str, Sequence[Row]]  # {title: networks}; each has "accuracy" and "steps" for each k, and "learnt"
UNDECIDED = "#777777"
AMBERS = ("#F0C14B", "#C98A00", "#7A4E00")  # of halting: for each of three k, or of three caps
Compared = Mapping[float, Sequence[tuple[float, float]]]  # {lambda_p: (accuracy by itself, at the best fixed step)}
GAIN = 0.05  # "at no fixed step": at least five points fewer right answers at the best of them


def network_look(which: int, colour: str) -> dict[str, Any]:
    """Return the look of a network in every figure: a marker and dashes of its own."""
    return look(which, color=colour, markersize=5.5, markerfacecolor="white", linewidth=1.5)


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


def rises_of_large(rows: Sequence[Row], titles: Sequence[str]) -> DataFrame:
    """Return the table of `rises` for the large networks with either divergence, a row for each setting and seed.

    titles: of the paper's divergence, and of the reversed.
    """
    table = outcomes(by_seed(rows)).replace({"loss": dict(zip(FORMS, (*titles, "textbook"), strict=True))})
    return table[(table["size"] == "large") & (table["loss"] != "textbook")]


def rises_and_difference(table: DataFrame, titles: tuple[str, str]) -> Figure:
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


def pace(lines: Sequence[Mapping[str, Line]]) -> str:
    """Return what a network does with its "steps" by the number of +1s: "a counter", "takes all 20", or none: "".

    A counter's steps fall or rise with that number,
    by a quarter of the cap at least, and nine tenths of their variance lie between different numbers, whatever k is.
    """
    steps = concat([Series(line["steps"]) for line in lines])
    if (steps >= 0.95 * N).mean() >= 0.9:
        return f"takes all {N}"
    by_count = steps.groupby(level=0).transform("mean")
    moves = abs(by_count.iloc[0] - by_count.iloc[-1]) >= N / 4
    return "a counter" if moves and by_count.var() >= 0.9 * steps.var() else ""


@slide
def by_ones(networks: Mapping[str, Sequence[Mapping[str, Line]]]) -> Figure:
    """Draw steps against the number of elements that are +1: a panel for each network, a line for each probed k.

    networks: {title: for each k, "steps" and "accuracy", [k + 1] each}; hollow where fewer than 90 % are right. In the
    panel stands the network's `pace`.
    """
    figure, axes = panels(len(networks), width=3.3, height=3.6, sharey=True)
    for ax, (title, lines) in zip(axes, networks.items(), strict=True):
        for line, marker, colour, size in zip(lines, style.MARKERS, AMBERS, (7.5, 6.0, 4.5), strict=False):
            steps, right = np.asarray(line["steps"]), np.asarray(line["accuracy"]) >= 0.9
            ones = np.arange(len(steps))
            ax.plot(ones, steps, color=colour, linewidth=1.0, alpha=0.6)
            mark: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "", "markersize": size}
            ax.plot(ones[right], steps[right], **mark, label=f"$k$ = {len(steps) - 1}")
            ax.plot(ones[~right], steps[~right], **mark, markerfacecolor="white")
        height = 0.2 if lines[-1]["steps"][-1] > lines[-1]["steps"][0] + 1 else 0.62  # below a line that rises
        ax.text(0.97, height, pace(lines), transform=ax.transAxes, ha="right", fontsize=17, fontweight="bold")
        ax.set(title=title, xlabel="elements that are +1")
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes[0].set_ylabel("steps")
    axes[0].set_ylim(bottom=0)  # the axes are shared: after all panels are drawn
    axes[0].plot([], [], "o", color=BLACK, markerfacecolor="white", label="often wrong")
    return legend(figure, columns=5)


def widest_gap(logged: Sequence[Row]) -> int:
    """Return at which moment easy inputs are furthest ahead of hard ones in right answers."""
    return int(np.argmax([row["easy right"] - row["hard right"] for row in logged]))


def nearest_to_prior(logged: Sequence[Row], prior: Line) -> int:
    """Return the moment at which both distributions are closest to the prior."""
    both = np.array([[row["easy"], row["hard"]] for row in logged])
    return int(np.abs(both - prior).sum((1, 2)).argmin())


@slide
def film(logged: Sequence[Row], moment: int, prior: Line, hard_k: int) -> Figure:
    """Draw p_n of easy inputs (filled) and of hard ones (dashed) beside the prior (dotted), while a network learns.

    A panel for the start, when it is nearest to the prior, this moment, and the end. logged: "update"; p_n, [N], of
    "easy" and "hard" inputs; and how many answers are right, "easy right" and "hard right".
    """
    last = min(len(prior), 10)
    figure, axes = panels(4, width=3.7, height=2.5, rows=2, sharex=True, sharey=True)
    for ax, at in zip(axes, (0, nearest_to_prior(logged, prior), moment, -1), strict=True):
        row = logged[at]
        n = step_axis(ax, len(prior), xlim=(0.5, last + 0.5), ylim=(0, 1.05), title=f"{row['update']:,} updates")
        ax.fill_between(n, row["easy"], color=HALTING, alpha=0.35, linewidth=0)
        ax.plot(n, row["easy"], color=HALTING)
        ax.plot(n, row["hard"], color=style.DARK_ORANGE, linestyle="--")
        ax.plot(n, prior, color=style.PRIOR, linestyle=":", linewidth=2.5)
        ax.set_xticks(range(1, last + 1, 3))
        bold: dict[str, Any] = {"fontweight": "bold", "transform": ax.transAxes, "ha": "right", "va": "top"}
        ax.text(1, 0.97, f"easy, $k$ = 1: {row['easy right']:.0%}", color="#B87F00", **bold)
        ax.text(1, 0.81, f"hard, $k$ = {hard_k}: {row['hard right']:.0%}", color=style.DARK_ORANGE, **bold)
    axes[0].text(3.2, prior[2] + 0.02, "prior", color="#777777", fontweight="bold", va="bottom")
    for left, above in zip(axes[::2], axes[:2], strict=True):
        left.set_ylabel("$p_n$")
        above.set_xlabel(" ")
    return figure


def in_which_order(logged: Sequence[Row], moment: int, prior: Line) -> str:
    """Return in a sentence whether, after the prior, the hump comes on easy inputs first, as at this moment."""
    row = logged[moment]
    first_easy = max(row["easy"]) > max(row["hard"]) and row["easy right"] - row["hard right"] > 0.1
    if first_easy and 0 < nearest_to_prior(logged, prior) < moment:
        return "First to the prior, then a hump: on easy inputs first"
    return "The mass moves from step 1"


@slide
def draw_steps(
    groups: Networks, column: str, counts: Sequence[int], label: str, at_the_end: Callable[[Row], str]
) -> Figure:
    """Draw a column of steps against a count of the input; networks that have not learnt are light grey."""
    figure, axes = panels(len(groups), width=4.0, height=3.4, sharey=True)
    top = 1.08 * max(max(row[column]) for rows in groups.values() for row in rows)
    last, width = counts[-1], counts[-1] - counts[0]
    for ax, (title, rows) in zip(axes, groups.items(), strict=True):
        heights = style.apart([row[column][-1] for row in rows], top / 10)
        texts = [at_the_end(row) for row in rows]
        for which, (row, height, text) in enumerate(zip(rows, heights, texts, strict=True)):
            ax.plot(counts, row[column], **network_look(which, HALTING if row["learnt"] else style.NOT_LEARNT))
            ax.plot([last, last + 0.07 * width], [row[column][-1], height], color=GREY, linewidth=1)
            ax.text(last + 0.07 * width, height, text, color=BLACK, va="center")
        ax.set(title=title, xlabel=label, ylim=(0, max(top, heights[-1] + 1)), xticks=counts[:: 1 + len(counts) // 10])
        ax.set_xlim(None, last + (0.09 + 0.04 * max(map(len, texts))) * width)
    axes[0].set_ylabel("expected steps")
    return figure


def steps_by_k(groups: Networks, ks: Sequence[int]) -> Figure:
    """Draw steps by k, with the change from the first k to the last."""
    label = "elements that are not 0 ($k$)"
    return draw_steps(groups, "steps", ks, label, lambda row: signed(row["steps"][-1] - row["steps"][0]))


def steps_by_ones(groups: Networks, elements: int) -> Figure:
    """Draw steps by the number of +1s, with the variance that this number and k explain."""
    ones, end = range(elements + 1), "{ones:.0%}, $k$ {k:.0%}"
    return draw_steps(groups, "by_ones", ones, "elements that are +1", lambda row: end.format(**row["explained"]))


def signed(change: float) -> str:
    """The change with its sign, and a minus as long as a plus."""
    return f"{change:+.1f}".replace("-", "\N{MINUS SIGN}")


def what_the_seed_does(more: Mapping[str, Sequence[float]]) -> str:
    """Return in a sentence how far apart networks are that differ in their seed alone, for the kind furthest apart.

    more: {kind: steps at the largest k less steps at k = 1, of each network}.
    """
    low, high = max(((min(changes), max(changes)) for changes in more.values()), key=lambda ends: ends[1] - ends[0])
    if high - low < 0.5:
        return f"{signed(low)} to {signed(high)} steps on harder inputs:\nthe seed hardly matters"
    return f"Longer on harder inputs?\nFrom {signed(low)} to {signed(high)} steps, by seed alone"


def cost_of_harder_inputs(more: Mapping[str, Sequence[float]], k: int) -> str:
    """Return the answer to the lesson's first bet: what the largest k costs all networks."""
    changes = sorted(itertools.chain(*more.values()))
    cost = f"{signed(changes[0])} to {signed(changes[-1])} steps"
    return f"Bet 1: k = {k} instead of k = 1 costs your {len(changes)} networks {cost}"


def what_the_ones_explain(here: Networks, stored: Iterable[Row]) -> str:
    """Return in a sentence in how many networks the number of +1s explains more of the steps than k does."""
    groups = itertools.chain(*here.values()), stored
    more = [[row["explained"]["ones"] - row["explained"]["k"] for row in rows] for rows in groups]
    return "The +1s explain more than k does\nin {} networks here, {} stored".format(*(count(of, 0) for of in more))


@slide
def draw_own_time(own: float, by_step: Line, p: Line, stored: Compared) -> Figure:
    """Draw the accuracy at each fixed step beside that of a network's own halting, and p, where it halts, [N].

    At the right the best fixed step of stored networks, if any: those that gain by their own halting, amber, are full,
    and counted.
    """
    figure = Figure(figsize=(8.8, 4.5), layout="constrained")
    widths = [1.75, 1] if stored else [1]
    left, *right = figure.subplots(1, len(widths), sharey=True, squeeze=False, width_ratios=widths)[0]
    n = step_axis(left, len(by_step), title="one network", ylabel="right answers")
    left.bar(n, p, color=HALTING, alpha=0.55)
    left.plot(n, by_step, color=ANSWER, marker="o", markersize=6)
    left.axhline(own, color=HALTING, linewidth=4)
    left.axhline(0.5, color=GREY, linestyle=":", linewidth=1.6)
    best, end = max(by_step), len(by_step)
    at, height = by_step.index(best) + 1, min(best, own - 0.2)  # below the line of its own halting
    bold: dict[str, Any] = {"fontweight": "bold", "fontsize": 15}
    below = bold | {"ha": "right", "va": "top"}
    left.text(end, own - 0.025, f"halting by itself: {own:.0%}", color=style.DARK_ORANGE, **below)
    left.text(at + 1.5, height, f"all stop at step {at}: {best:.0%}", color=ANSWER, va="bottom", **bold)
    left.text(end, 0.465, "a coin", color=style.DARK_GREY, **below)
    left.text(at + 2.2, 0.13, "where it halts, $p_n$", color=style.DARK_ORANGE, fontsize=15)
    left.set(ylim=(0, 1.06), yticks=[0, 0.25, 0.5, 0.75, 1], xlim=(0.3, end + 0.7), xticks=[1, *range(5, end + 1, 5)])
    left.yaxis.set_major_formatter("{x:.0%}")
    for ax in right:
        draw_best_fixed_steps(ax, stored)
    return figure


def draw_best_fixed_steps(ax: Axes, stored: Compared) -> None:
    """Draw the right panel of `draw_own_time`."""
    rng = np.random.default_rng(0)
    centred: dict[str, Any] = {"ha": "center", "va": "center"}
    for place, found in enumerate(stored.values()):
        for own, fixed in found:
            face = ANSWER if own - fixed >= GAIN else "white"
            ax.plot(place + rng.uniform(-0.25, 0.25), fixed, "o", color=ANSWER, markersize=6, markerfacecolor=face)
            ax.plot([place - 0.32, place + 0.32], [own, own], color=HALTING, linewidth=2, alpha=0.7)
        text = count_gains([found]).replace(" of ", " of\n")
        ax.text(place, 0.13, text, fontweight="bold", **centred)
    ax.text((len(stored) - 1) / 2, 0.34, "lose 5 points or more\nat any fixed step:", **centred)
    ax.set(title=f"stored: {count_gains(stored.values())}", xlabel=r"$\lambda_p$ of the prior")
    ax.set_xticks(range(len(stored)), [f"{lambda_p:g}" for lambda_p in stored])


def count_gains(groups: Iterable[Sequence[tuple[float, float]]]) -> str:
    """Return how many networks gain by halting by themselves, such as "3 of 20"."""
    return count([own - fixed for found in groups for own, fixed in found], GAIN)


def own_and_fixed(rows: Iterable[Row]) -> Compared:
    """Return the accuracy of each stored run that has learnt by itself, and at its best fixed step."""
    compared: dict[float, list[tuple[float, float]]] = {}
    for row in sorted(filter(has_learnt, rows), key=lambda row: (row["lambda_p"], row["seed"])):
        best = max(map(mean, zip(*row["by_step"], strict=True)))  # by_step: [k, N]
        compared.setdefault(row["lambda_p"], []).append((mean(row["accuracy"]), best))
    return compared


def what_own_time_gains(mine: Score, compared: Compared) -> str:
    """Return in a sentence what a network of the reader gains by halting by itself, else how many stored ones do."""
    own, best = mine.accuracy, max(mine.accuracy_by_step)
    if own - best >= GAIN:
        return f"{own:.0%} right when it halts by itself, at most {best:.0%} at any one step"
    if not compared:
        return f"Here one step does for all: {best:.0%} right, by itself {own:.0%}"
    yours = f"Yours: one step for all gets {best:.0%}, halting by itself {own:.0%}."
    return f"{yours}\nStored: {count_gains(compared.values())} lose five points or more at any fixed step"


@slide
def draw_learning(logs: Mapping[str, Sequence[Sequence[Row]]]) -> Figure:
    """Draw accuracy and steps over training: a line for each network, dashed for the second kind.

    logs: {kind: for each network, a row for each evaluation, with update, accuracy and steps}.
    """
    colours, dashes = {"accuracy": ANSWER, "steps": HALTING}, dict(zip(logs, style.DASHES, strict=False))
    figure, end = style.learning(logs, lambda kind, column: {"color": colours[column], "linestyle": dashes[kind]}, 3.6)
    accuracy, steps = figure.axes
    accuracy.legend(loc="lower right")
    every = [log for networks in logs.values() for log in networks]
    ends = [log[-1]["steps"] for log in every]
    gap = 0.07 * max(row["steps"] for log in every for row in log)
    for value, height in zip(ends, style.apart(ends, gap), strict=True):
        steps.plot([end, 1.06 * end], [value, height], color=GREY, linewidth=0.8)
        steps.text(1.07 * end, height, f"{value:.1f}", va="center")
    steps.set(xlim=(0, 1.2 * end), ylim=(0, None))
    return figure


def least_and_most_right(
    stopped: Mapping[str, Sequence[Score]], networks: Mapping[str, Sequence[PonderNet]], titles: Mapping[str, str]
) -> dict[str, PonderNet]:
    """Return the networks that are right least and right most often at the last step, {title: network}."""
    each = [(kind, i, score) for kind, scores in stopped.items() for i, score in enumerate(scores)]
    in_order = sorted(each, key=lambda network: network[2].accuracy_by_step[-1])
    return {f"network {i}, {titles[kind]}": networks[kind][i] for kind, i, _ in (in_order[0], in_order[-1])}


@slide
@torch.no_grad()
def on_their_way(shown: Mapping[str, PonderNet], x: Tensor, odd: float, prior: float) -> tuple[Figure, str, str]:
    """Draw one input, [1, elements], on its way through the steps of two networks, say which, and where it stays right.

    A column for each network: above the answer, P(odd), below lambda_n and p_n. The right answer and the prior's coin
    are dotted.
    """
    figure, axes = panels(4, width=3.8, height=2.1, rows=2, sharex=True, sharey=True)
    stays = []
    for (title, model), above, below in zip(shown.items(), axes[:2], axes[2:], strict=True):
        output = model(x)
        answer, p = output.y_hat.sigmoid()[:, 0], output.log_p.exp()[:, 0]
        stays.append(bool(((answer > 0.5) == bool(odd))[p.argmax() :].all()))  # right, from the most probable step on
        n = step_axis(below, len(p), ylim=(-0.05, 1.08))
        above.set(title=title, xlabel=" ")
        above.axhline(odd, color=style.LIMIT, linestyle=":", label="right answer")
        above.plot(n, answer, **look(0, markersize=5, color=ANSWER), label="answer")
        below.axhline(prior, color=style.PRIOR, linestyle=":", label=r"$\lambda_p$")
        below.bar(n, p.tolist(), color=HALTING, label="$p_n$")
        coins = look(1, markersize=5, linestyle="-", color=style.DARK_ORANGE, markerfacecolor="white")
        below.plot(n, output.halt_logits.sigmoid()[:, 0], **coins, label=r"$\lambda_n$")
    axes[0].set_ylabel("P(odd)")
    axes[2].set_ylabel("probability")
    finding = "Left the answer passes by, right it stays" if stays == [False, True] else "One input, two networks"
    signs = " ".join({-1: "\N{MINUS SIGN}", 0: "0", 1: "+"}[round(element)] for element in x[0].tolist())
    text = f"One input: {signs}. Left the network that is right least often at step {len(p)}, "
    return legend(figure, columns=5), f"{text}right the one that is right most often there.", finding


def learnt_by_method(rows: Sequence[Row]) -> list[str]:
    """Return a line of text for each method at the paper's size: how many learn it, and their steps at k = 1 and 64."""
    lines = []
    for name in METHODS:
        of_method = matching(rows, network=name)
        good = [row["steps"] for row in of_method if accuracy_within(row) >= 0.95]
        ends = "  ".join(span([steps[k - 1] for steps in good], ".0f") for k in (1, 64))
        lines.append(f"{name}: {len(good)} of {len(of_method)} learn it; steps at k = 1 and 64:  {ends}")
    return lines
