"""Figures of lesson 03: when networks halt as they learn, how they answer, and what their steps depend on."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame, Series, concat

from ponder_course.common import style
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import (
    ANSWER,
    BLACK,
    GREY,
    HALTING,
    Line,
    legend,
    look,
    panels,
    percent_axis,
    slide,
    step_axis,
)
from ponder_course.common.verdicts import count, interval, span, welch
from ponder_course.parity.experiment import METHODS, N, accuracy_within, has_learnt

UNDECIDED = "#777777"
AMBERS = ("#F0C14B", "#C98A00", "#7A4E00")  # of halting: for each of three k, or of three caps
Compared = Mapping[float, Sequence[tuple[float, float]]]  # {lambda_p: (accuracy by itself, at the best fixed step)}
WRONG_PALE = "#F6CDB5"
RIGHT_OR_WRONG = ListedColormap((WRONG_PALE, ANSWER))
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
        ax.text(0.97, height, pace(lines), transform=ax.transAxes, ha="right", fontsize=19, fontweight="bold")
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
def steps_by_k(rows: Sequence[Row], ks: Sequence[int]) -> Figure:
    """Draw the steps of networks by k, with the change from the first k to the last; not learnt is light grey.

    Each row has "steps", for each k, and "learnt".
    """
    figure, (ax,) = panels(1, width=7.2, height=3.6)
    top = 1.08 * max(max(row["steps"]) for row in rows)
    last, width = ks[-1], ks[-1] - ks[0]
    heights = style.apart([row["steps"][-1] for row in rows], top / 10)
    for which, (row, height) in enumerate(zip(rows, heights, strict=True)):
        ax.plot(ks, row["steps"], **network_look(which, HALTING if row["learnt"] else style.NOT_LEARNT))
        ax.plot([last, last + 0.07 * width], [row["steps"][-1], height], color=GREY, linewidth=1)
        change = signed(row["steps"][-1] - row["steps"][0])
        ax.text(last + 0.07 * width, height, change, color=BLACK, va="center")
    ax.set(xlabel="elements that are not 0 ($k$)", ylabel="expected steps", xticks=ks[:: 1 + len(ks) // 10])
    ax.set(xlim=(None, last + 0.22 * width), ylim=(0, max(top, heights[-1] + 1)))
    return figure


def signed(change: float) -> str:
    """The change with its sign, and a minus as long as a plus."""
    return f"{round(change, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")  # + 0.0: no minus before 0


def what_the_seed_does(more: Sequence[float]) -> str:
    """Return in a sentence how much more networks take that differ in their seed alone, from the least to the most.

    more: steps at the largest k minus steps at k = 1, of each network.
    """
    low, high = signed(min(more)), signed(max(more))
    return f"Longer on harder inputs? From {low} to {high} steps,\nin networks that differ only in their seed"


def cost_of_harder_inputs(more: Sequence[float], k: int) -> str:
    """Return the answer to the lesson's second bet: what the largest k costs all networks."""
    change = f"{signed(min(more))} to {signed(max(more))}"
    return f"Bet 2: k = {k} instead of k = 1 changes the steps of your {len(more)} networks by {change}"


@slide
def draw_own_time(own: float, by_step: Line) -> Figure:
    """Draw how often a network is right if all inputs stop at the same step, [N], and if it halts by itself."""
    figure, (ax,) = panels(1, width=8.4, height=4.0)
    n = step_axis(ax, len(by_step), ylabel="right answers")
    ax.plot(n, by_step, color=ANSWER, marker="o", markersize=6)
    ax.axhline(own, color=HALTING, linewidth=4)
    ax.axhline(0.5, color=GREY, linestyle=":", linewidth=1.6)
    best, end = max(by_step), len(by_step)
    bold: dict[str, Any] = {"fontweight": "bold", "fontsize": 17}
    right = bold | {"x": end, "ha": "right", "va": "top"}
    ax.text(y=own - 0.03, s=f"halting by itself: {own:.0%}", color=style.DARK_ORANGE, **right)
    above = min(best + 0.03, own - 0.12)  # below the line of its own halting
    text = f"all stop at the same step: at best {best:.0%}, at step {by_step.index(best) + 1}"
    ax.text(by_step.index(best) + 1, above, text, color=ANSWER, va="bottom", **bold)
    ax.text(4, 0.485, "a guess", color=style.DARK_GREY, va="top", **bold)
    ax.set(ylim=(0.4, 1.04), yticks=[0.5, 0.75, 1], xlim=(0.3, end + 0.7), xticks=[1, *range(5, end + 1, 5)])
    ax.yaxis.set_major_formatter("{x:.0%}")
    return figure


@slide
def draw_best_fixed_steps(stored: Compared, mine: Sequence[tuple[float, float]], lambda_p: float) -> Figure:
    """Draw how often networks are right at their best fixed step: stored ones by prior, and the reader's own.

    Each is a pair of accuracies: by itself, and at its best fixed step. Those that gain by their own halting are full,
    and counted above. The amber lines are how often they are right by themselves.
    """
    columns = [(f"{prior:g}", "stored", pairs) for prior, pairs in sorted(stored.items())]
    columns.append((f"{lambda_p:g}", "yours", mine))
    figure, (ax,) = panels(1, width=8.4, height=4.0)
    rng = np.random.default_rng(0)
    for place, (_, whose, pairs) in enumerate(columns):
        for own, fixed in pairs:
            face = ANSWER if own - fixed >= GAIN else "white"
            ax.plot(place + rng.uniform(-0.3, 0.3), fixed, "o", color=ANSWER, markersize=7, markerfacecolor=face)
            ax.plot([place - 0.37, place + 0.37], [own, own], color=HALTING, linewidth=2, alpha=0.7, zorder=1)
        ax.text(place, 1.04, f"{count_gains([pairs])}\n{whose}", ha="center", va="bottom", fontweight="bold")
    for face, text in ((ANSWER, f"loses {100 * GAIN:.0f} points or more"), ("white", "loses less")):
        ax.plot([], [], "o", color=ANSWER, markersize=7, markerfacecolor=face, label=text)
    ax.axhline(0.5, color=GREY, linestyle=":", linewidth=1.6)
    ax.text(len(columns) - 0.55, 0.51, "a guess", color=style.DARK_GREY, ha="right", va="bottom")
    ax.set(xlabel=r"$\lambda_p$ of the prior", ylabel="right at the best fixed step", ylim=(0.45, 1.18))
    ax.set(xlim=(-0.5, len(columns) - 0.5), yticks=[0.5, 0.6, 0.7, 0.8, 0.9, 1])
    ax.set_xticks(range(len(columns)), [f"{prior}{' (yours)' * (whose == 'yours')}" for prior, whose, _ in columns])
    for place in range(1, len(columns)):
        ax.axvline(place - 0.5, color=GREY, linewidth=0.8)
    ax.grid(visible=False, axis="x")
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.legend(loc="lower left", bbox_to_anchor=(0.45, 0.08))
    return figure


def count_gains(groups: Iterable[Sequence[tuple[float, float]]]) -> str:
    """Return how many networks gain by halting by themselves, such as "3 of 20"."""
    return count([own - fixed for found in groups for own, fixed in found], GAIN)


def own_and_fixed(rows: Iterable[Row]) -> Compared:
    """Return the accuracy of each stored run that has learnt by itself, and at its best fixed step."""
    compared: dict[float, list[tuple[float, float]]] = {}
    for row in sorted(filter(has_learnt, rows), key=lambda row: (row["lambda_p"], row["seed"])):
        compared.setdefault(row["lambda_p"], []).append((mean(row["accuracy"]), max(right_by_step(row))))
    return compared


def right_by_step(row: Row) -> list[float]:
    """Return how often a stored run is right if all inputs stop at step n, for each n, over all k alike."""
    return [mean(of_k) for of_k in zip(*row["by_step"], strict=True)]  # by_step: [k, N]


def worst_at_fixed_steps(rows: Iterable[Row]) -> Row | None:
    """Return the stored run that has learnt and is least right at its best fixed step."""
    return min(filter(has_learnt, rows), key=lambda row: max(right_by_step(row)), default=None)


def how_many_lose(mine: Sequence[tuple[float, float]], compared: Compared) -> str:
    """Return in a sentence how many networks lose five points at their best fixed step, the reader's and stored ones.

    Each is a pair of accuracies: by itself, and at its best fixed step.
    """
    yours = f"{count_gains([mine])} of yours"
    if not compared:
        return f"{yours} lose 5 points or more at their best fixed step"
    stored = f"{count_gains(compared.values())} stored networks"
    return f"{stored}, and {yours},\nlose 5 points or more at their best fixed step"


@slide
def draw_map(halts: Sequence[int], odd: Sequence[int], right: Sequence[Sequence[int]]) -> Figure:
    """Draw at which steps inputs, sorted by where they halt, are right (blue); the amber line is where they halt.

    Below stands how many are right at each step; at the left, how many inputs halt together, if they are 5 % or more,
    and how many later than these; at the right, how many of those that halt together are odd, and how many even.
    halts: [batch], from the first; odd: [batch], 1 for odd inputs, which come first of those that halt together, and
    else 0; right: [batch, N], 1 where an answer is right, and else 0.
    """
    figure, (ax, below) = panels(2, rows=2, width=8.4, height=3.1, sharex=True, height_ratios=(4, 1))
    n_inputs, N, y = len(right), len(right[0]), np.arange(len(right)) + 0.5
    extent = (0.5, N + 0.5, n_inputs + 0.5, 0.5)
    ax.imshow(right, cmap=RIGHT_OR_WRONG, vmin=0, vmax=1, extent=extent, aspect="auto", interpolation="nearest")
    ax.vlines(halts, y, y + 1, color=HALTING, linewidth=9, antialiased=False)
    groups = Counter(halts)
    sizes = np.array([*groups.values()])
    large = [step for step, n in groups.items() if n >= 0.05 * n_inputs]
    later = sum(n for step, n in groups.items() if step > max(large, default=0))
    names = [f"{groups[step]} halt at step {step}" if step in large else "" for step in groups]
    ax.set_yticks(sizes.cumsum() - sizes / 2 + 0.5, names)
    ax.hlines(sizes.cumsum()[:-1] + 0.5, 0.5, N + 0.5, color="white", linewidth=2)
    if later:
        ax.text(0.3, n_inputs - later / 2, f"{later} halt later", ha="right", va="center", fontsize=14.5)
    first = 0.5  # the upper edge of a block
    for (step, is_odd), n in Counter(zip(halts, odd, strict=True)).items():
        if step in large:
            ax.text(N + 0.7, first + n / 2, f"{n} {'odd' if is_odd else 'even'}", va="center", fontsize=14.5)
            ax.hlines(first, 0.5, N + 0.5, color="white", linewidth=1)
        first += n
    ax.tick_params(left=False, bottom=False)
    ax.grid(visible=False)
    for colour, label in ((ANSWER, "right"), (WRONG_PALE, "wrong"), (HALTING, "halts here by itself")):
        ax.bar(0, 0, color=colour, label=label)
    ax.set_ylim(n_inputs + 0.5, 0.5)
    below.plot(step_axis(below, N, xlabel="stopped after step $n$"), np.mean(right, axis=0), "o-", color=ANSWER)
    below.set(xlim=(0.5, N + 0.5), xticks=[1, *range(5, N + 1, 5)])
    percent_axis(below, ylabel="right, of all", ylim=(0, 1), yticks=(0, 0.5, 1))
    return legend(figure, columns=3)


def most_frequent(halts: Sequence[int], odd: Sequence[int], right: Sequence[Sequence[int]]) -> list[str]:
    """Return a line for each of the two most frequent cases of `draw_map`: parity, step of halting, first 3 answers."""
    word, lines = ("even", "odd"), []
    answers = [tuple(word[good == is_odd] for good in of_one[:3]) for is_odd, of_one in zip(odd, right, strict=True)]
    for (is_odd, step, said), n in Counter(zip(odd, halts, answers, strict=True)).most_common(2):
        lines.append(f"{n} {word[is_odd]} inputs: answers {', '.join(said)} at steps 1 to 3; they halt at step {step}")
    return lines


def learnt_by_method(rows: Sequence[Row]) -> list[str]:
    """Return a line for each method at the paper's size: how many learn it, if any do with their steps at k = 1, 64."""
    lines = []
    for name in METHODS:
        of_method = matching(rows, network=name)
        good = [row["steps"] for row in of_method if accuracy_within(row) >= 0.95]
        ends = "  ".join(span([steps[k - 1] for steps in good], ".0f") for k in (1, 64))
        steps = f"; steps at k = 1 and 64:  {ends}" if good else ""
        lines.append(f"{name}: {len(good)} of {len(of_method)} learn it{steps}")
    return lines
