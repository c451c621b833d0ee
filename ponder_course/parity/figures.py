"""Figures of lesson 03: when networks halt as they learn, how they answer, and what their steps depend on."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import Series, concat

from ponder_course.common import style
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
from ponder_course.common.verdicts import count
from ponder_course.parity.experiment import N, has_learnt

AMBERS = ("#F0C14B", "#C98A00", "#7A4E00")  # of halting: for each of three k, or of three caps
Compared = Mapping[float, Sequence[tuple[float, float]]]  # {lambda_p: (accuracy by itself, at the best fixed step)}
WRONG_PALE = "#F6CDB5"
RIGHT_OR_WRONG = ListedColormap((WRONG_PALE, ANSWER))
GAIN = 0.05  # "at no fixed step": at least five points fewer right answers at the best of them


def network_look(which: int, colour: str) -> dict[str, Any]:
    """Return the look of a network in every figure: a marker and dashes of its own."""
    return look(which, color=colour, markersize=5.5, markerfacecolor="white", linewidth=1.5)


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


@slide
def film(logged: Sequence[Row], moments: Sequence[int], prior: Line, hard_k: int) -> Figure:
    """Draw p_n of easy inputs (filled) and of hard ones (dashed) beside the prior (dotted), while a network learns.

    A panel for each of four moments. logged: "update"; p_n, [N], of "easy" and "hard" inputs; and how many answers are
    right, "easy right" and "hard right".
    """
    last = min(len(prior), 10)
    figure, axes = panels(4, width=3.7, height=2.5, rows=2, sharex=True, sharey=True)
    for ax, moment in zip(axes, moments, strict=True):
        row = logged[moment]
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


@slide
def steps_by_k(networks: Sequence[Line], ks: Sequence[int]) -> Figure:
    """Draw the steps of networks, [networks, ks], by k, with the change from the first k to the last."""
    figure, (ax,) = panels(1, width=7.2, height=3.6)
    top = 1.08 * max(map(max, networks))
    last, width = ks[-1], ks[-1] - ks[0]
    heights = style.apart([steps[-1] for steps in networks], top / 10)
    for which, (steps, height) in enumerate(zip(networks, heights, strict=True)):
        ax.plot(ks, steps, **network_look(which, HALTING))
        ax.plot([last, last + 0.07 * width], [steps[-1], height], color=GREY, linewidth=1)
        ax.text(last + 0.07 * width, height, signed(steps[-1] - steps[0]), color=BLACK, va="center")
    ax.set(xlabel="elements that are not 0 ($k$)", ylabel="expected steps", xticks=ks[:: 1 + len(ks) // 10])
    ax.set(xlim=(None, last + 0.22 * width), ylim=(0, max(top, heights[-1] + 1)))
    return figure


def signed(change: float) -> str:
    """The change with its sign, and a minus as long as a plus."""
    return f"{round(change, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")  # + 0.0: no minus before 0


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
def draw_best_fixed_steps(stored: Compared, ours: Sequence[tuple[float, float]], lambda_p: float) -> Figure:
    """Draw how often networks are right at their best fixed step: stored ones by prior, and the lesson's own.

    Each is a pair of accuracies: by itself, and at its best fixed step. Those that gain by their own halting are full,
    and counted above. The amber lines are how often they are right by themselves.
    """
    columns = [(f"{prior:g}", "stored", pairs) for prior, pairs in sorted(stored.items())]
    columns.append((f"{lambda_p:g}", "ours", ours))
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
    ax.set_xticks(range(len(columns)), [f"{prior}{' (ours)' * (whose == 'ours')}" for prior, whose, _ in columns])
    for place in range(1, len(columns)):
        ax.axvline(place - 0.5, color=GREY, linewidth=0.8)
    ax.grid(visible=False, axis="x")
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.legend(loc="lower left", bbox_to_anchor=(0.45, 0.08))
    return figure


def count_gains(groups: Iterable[Sequence[tuple[float, float]]]) -> str:
    """Return how many networks gain by halting by themselves, such as "3 of 20"."""
    return count([own - fixed for runs in groups for own, fixed in runs], GAIN)


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


@slide
def draw_map(halts: Sequence[int], odd: Sequence[int], right: Sequence[Sequence[int]]) -> Figure:
    """Draw at which steps inputs are right (blue), sorted by where they halt; the amber line is where they halt.

    Below stands how many are right at each step; at the left, how many inputs halt together, if they are 5 % or more,
    and how many later than these; at the right, how many of those that halt together are odd, and how many even.
    Of those that halt together, odd inputs come first. halts: [batch]; odd: [batch], 1 for odd inputs, and else 0;
    right: [batch, N], 1 where an answer is right, and else 0.
    """
    in_order = sorted(zip(halts, odd, right, strict=True), key=lambda one: (one[0], -one[1], one[2][::-1]))
    halts, odd, right = zip(*in_order, strict=True)
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
