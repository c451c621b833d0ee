"""Figures of Adaptive Computation Time: how it answers to its price."""

import itertools
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MultipleLocator
from pandas import DataFrame
from torch.nn.functional import softplus

from ponder_course.act_background.experiment import changed, learnt_at
from ponder_course.act_background.scripted import halt
from ponder_course.common import style
from ponder_course.common.machines import ARROW
from ponder_course.common.store import Row
from ponder_course.common.style import Line, Points, legend, look, panels, percent_axis, slide


@slide
def budget(lambdas: Line, p: Line) -> Figure:
    """Halting values at one input, and the weights p that fill a budget of 1; the last step is never taken."""
    figure, (ax,) = panels(1, width=7.6, height=4.7)
    style.bare(ax)
    ax.set(xlim=(-0.07, 1.36), ylim=(-0.15, 4.1))
    middle: dict[str, Any] = {"ha": "center", "va": "center"}
    bold: dict[str, Any] = {"fontsize": 20, "weight": "bold", **middle}
    places = [*(np.cumsum(p) - np.divide(p, 2)), 1.22]
    for n, (x, lambda_n) in enumerate(zip(places, lambdas, strict=True), start=1):
        pale = {"edgecolor": style.PALE_GREY, "linestyle": "--"} if n > len(p) else {}
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", **pale}
        ax.text(x, 3.75, f"step {n}", color=style.DARK_GREY if pale else style.BLACK, fontsize=17, bbox=box, **middle)
        if n > 1:
            ax.annotate("", (x - 0.08, 3.75), (places[n - 2] + 0.08, 3.75), arrowprops={**ARROW, "color": style.BLACK})
        if n <= len(p):
            ax.text(x, 3.15, f"{lambda_n:g}", color=style.DARK_ORANGE, **bold)
            ax.annotate("", (x, 2.4), (x, 2.9), arrowprops={**ARROW, "color": style.HALTING, "linewidth": 2})
    for x, p_n in zip(places[:-1], p, strict=True):
        ax.barh(1.95, p_n, 0.7, left=x - p_n / 2, color=style.HALTING, edgecolor="white", linewidth=2)
        ax.text(x, 1.95, f"{p_n:.2g}", **bold)
        thick = {**ARROW, "color": style.ANSWER, "linewidth": 1 + 12 * p_n, "mutation_scale": 14 + 20 * p_n}
        ax.annotate("", (0.35 + 0.3 * x, 0.45), (x, 1.5), arrowprops=thick)
    too_much = sum(lambdas[: len(p)]) - 1
    ax.barh(1.95, too_much, 0.7, left=1, facecolor="none", edgecolor=style.HALTING, linestyle="--", linewidth=1.6)
    ax.barh(1.95, 1, 0.7, facecolor="none", edgecolor=style.BLACK, linewidth=2.4)
    ax.text(places[-2] + 0.06, 3.15, "halting value", color=style.DARK_ORANGE, fontsize=17, va="center")
    ax.text(places[-2] + 0.06, 1.95, "remainder", fontsize=17, va="center")
    ax.text(1 + too_much / 2, 1.95, "no room", color=style.DARK_ORANGE, fontsize=17, **middle)
    ax.text(places[-1], 3.15, "never taken", color=style.DARK_GREY, fontsize=17, **middle)
    ax.text(1, 1.25, "the budget ends at 1", fontsize=17, **middle)
    ax.text(0.5, 0.15, "one answer", color=style.ANSWER, **bold)
    return figure


@slide
def by_setting(table: DataFrame, columns: dict[str, str], x_label: str, log: bool = False) -> Figure:
    """A mark for every run, and a line through the means of those that learnt; the others are light grey.

    Runs of one setting stand side by side, in the order of the table; `log` puts the settings on a log axis. A table
    has a row for each run: kind, setting, learnt, and the columns, {column: label of its y axis}. If there is one kind,
    accuracy has the colour of answers and all else that of halting, and above the first panel stands how many learnt.
    """
    width, height = (8.4, 4.6) if log else (5.0 if len(columns) > 1 else 6.6, 3.9)
    figure, axes = panels(len(columns), width=width, height=height)
    kinds, settings = table["kind"].unique(), sorted(table["setting"].unique())
    several = len(kinds) > 1
    place = {setting: math.log10(setting) if log else float(i) for i, setting in enumerate(settings)}
    near = [b for a, b in itertools.pairwise(settings) if place[b] - place[a] < 0.3]  # no room for labels side by side
    apart = 0.12 if log or several else 0.3  # the marks of one setting, from first to last
    for ax, (column, label) in zip(axes, columns.items(), strict=True):
        for which, kind in enumerate(kinds):
            rows = table[table["kind"] == kind]
            middle = rows["setting"].map(place) + 0.2 * (which - (len(kinds) - 1) / 2)
            of_setting = rows.groupby("setting")["setting"]
            x = middle + apart * ((of_setting.cumcount() + 0.5) / of_setting.transform("size") - 0.5)
            colour = look(which)["color"] if several else style.ANSWER if column == "accuracy" else style.HALTING
            if several or column != "accuracy":  # all who learnt are right alike: no line says more
                means = rows[column].where(rows["learnt"]).groupby(middle).mean().dropna()
                in_legend = look(which, color=colour, linestyle="-", linewidth=1.4, markersize=6, markevery=[])
                ax.plot(means, **in_legend, label=f"{kind}, learnt" if several else "learnt")
            for learnt, group in rows.groupby("learnt"):
                edge = colour if learnt else style.NOT_LEARNT
                dots = {"marker": look(which)["marker"], "facecolor": "none", "edgecolor": edge}
                ax.scatter(x[group.index], group[column], s=40, linewidth=1.6, zorder=3, **dots)
        ax.scatter([], [], s=40, facecolor="none", edgecolor=style.NOT_LEARNT, linewidth=1.6, label="not learnt")
        ends, rim = [*place.values()] or [0.0], 0.25 if log else 0.5
        ax.set(ylabel=label, xlabel=x_label, xlim=(ends[0] - rim, ends[-1] + rim))
        ax.set_xticks([*place.values()], ["\n" * (setting in near) + f"{setting:g}" for setting in settings])
        ax.set_ylim(*((0.45, 1.03) if column == "accuracy" else (0, None)))
    if several:
        return legend(figure, columns=4)
    for setting, learnt in table.groupby("setting")["learnt"]:
        count = f"{learnt.sum()}/{len(learnt)}" + "\n" * (setting in near)
        axes[0].text(place[setting], 1.02, count, transform=axes[0].get_xaxis_transform(), ha="center", va="bottom")
    return figure


@slide
def stories(runs: Mapping[str, Sequence[Row]], expensive: Iterable[Points]) -> Figure:
    """Accuracy above, steps below, while networks train: a column for each story, a line for each run.

    A run has update, accuracy and steps, [points] each. Those that have not learnt are light grey, and above each
    column stands how many have. Expensive: from which update to which thinking has a high price, for each story:
    shaded. Columns are as wide as their time is long, but none is narrower than half the widest. Peaks, two in a
    hundred values at most, are cut off.
    """
    ends = [max((max(run["update"]) for run in group), default=1) for group in runs.values()]
    few = len(runs) < 3
    figure = Figure(figsize=(8.6 if few else 10.0, 5.4), layout=ConstrainedLayoutEngine(wspace=0.06))
    widths = [max(end, max(ends) / 2) for end in ends]
    axes = figure.subplots(2, len(runs), sharex="col", sharey="row", width_ratios=widths, squeeze=False)
    columns = zip(axes.T, runs.items(), ends, expensive, strict=True)
    for (above, below), (story, group), end, spans in columns:
        for ax, column, colour in ((above, "accuracy", style.ANSWER), (below, "steps", style.HALTING)):
            for run in group:
                learns = learnt_at(run) is not None
                shown = {"color": colour, "zorder": 3} if learns else {"color": style.NOT_LEARNT, "zorder": 2}
                ax.plot(run["update"], run[column], linewidth=1.3, **shown)
            for start, stop in spans:
                ax.axvspan(start, stop, color=style.HALTING, alpha=0.15, linewidth=0, zorder=0)
        for start, stop in spans:
            above.text((start + stop) / 2, 0.36, "high price" if few else r"high $\tau$", ha="center", clip_on=True)
        title = f"{textwrap.fill(story, 60 // len(runs))}\n{len(waits(group))} of {len(group)} learn"
        above.set_title(title, fontsize=16 if few else 13)
        above.set_xlabel(" ", fontsize=1)
        below.set(xlabel="batches", xlim=(0, end))
    steps = [n for group in runs.values() for run in group for n in run["steps"]]
    axes[0, 0].set(ylabel="accuracy", ylim=(0.33, 1.03), yticks=(0.5, 0.6, 0.7, 0.8, 0.9, 1.0))
    axes[1, 0].set(ylabel="steps", ylim=(0.8, 1.05 * np.quantile(steps or [2], 0.98)))
    return figure


def as_the_first_unit_grows(rest: Sequence[float], epsilon: float) -> tuple[np.ndarray, ...]:
    """Return the first halting value, N_x, R, their sum, and what its gradient adds up to, [2001] each."""
    unit = torch.linspace(0, 1, 2001, dtype=torch.float64, requires_grad=True)
    weights = [halt([first, *rest], epsilon) for first in unit]
    steps = torch.tensor([len(p) for p in weights])
    remainder = torch.stack([0 * first + p[-1] for first, p in zip(unit, weights, strict=True)])
    cost = steps + remainder
    (slopes,) = torch.autograd.grad(remainder.sum(), unit)
    by_gradient = cost[0] + torch.cat([torch.zeros(1), torch.cumulative_trapezoid(slopes, unit)])
    return tuple(line.detach().numpy() for line in (unit, steps, remainder, cost, by_gradient))


def waits(rows: Sequence[Row], since: int = 0) -> list[int]:
    """Return after how many updates, counted from `since`, each network that learns has learnt."""
    return [update - since for update in map(learnt_at, rows) if update is not None]


@slide
def weight_of_later_states(early: Sequence[Row], fell: int, always: Mapping[float, Sequence[Row]]) -> Figure:
    """Draw the weight of all states but the first while networks learn: charged early until `fell`, or at one price.

    Those that were charged early and have not learnt are light grey. Rows have "update", "accuracy" and "later",
    [points] each; always: {price: rows}.
    """
    figure, (left, right) = panels(2, width=5.0, height=3.8, sharey=True)
    left.axvspan(0, fell, color=style.HALTING, alpha=0.15, linewidth=0, zorder=0)
    for row in early:
        colour = style.NOT_LEARNT if learnt_at(row) is None else style.HALTING
        left.plot(row["update"], row["later"], color=colour)
    for which, (price, rows) in enumerate(always.items()):
        for number, row in enumerate(rows):
            label = rf"$\tau$ = {price:g}" if number == 0 else None
            right.plot(row["update"], row["later"], **look(which, marker=None), label=label)
    left.set(title=f"charged early: {len(waits(early))} of {len(early)} learn", xlabel="batch")
    right.set(title="one price all along", xlabel="batch")
    right.xaxis.set_major_locator(MultipleLocator(500))
    right.legend(loc="center right")
    percent_axis(left, ylabel="weight of all states but the first", ylim=(-0.02, 1.04))
    return figure


CHANGES = ("nothing changed", "a new halting unit", "2 steps for everyone")


def by_change(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the runs by what was changed in them when the price fell."""
    return {name: [row for row in rows if changed(row) == name] for name in CHANGES}


def pulls_on_the_first(y_hat_2: float, tau: float, epsilon: float) -> tuple[np.ndarray, ...]:
    """Return the first of two halting values, and how the price pulls it up, and the answer down, [1101] each.

    The second step is the last. Alone, the first state answers 0, a logit, and the second y_hat_2, where 1 is true.
    """
    unit = torch.linspace(-4, 7, 1101, dtype=torch.float64).sigmoid().requires_grad_()
    weights = [halt([first, 1.0], epsilon) for first in unit]
    steps, remainder, last = (
        torch.stack([0 * first + value(p) for first, p in zip(unit, weights, strict=True)])
        for value in (len, lambda p: p[-1], lambda p: p[1] if len(p) > 1 else 0.0)
    )
    of_price, of_answer = tau * (steps + remainder), softplus(-last * y_hat_2)
    (up,), (down,) = (torch.autograd.grad(loss.sum(), unit) for loss in (of_price, of_answer))
    return tuple(line.detach().numpy() for line in (unit, -up, down))


Pulls = Mapping[str, tuple[Line, Line]]  # {what step 2 knows: (of the price, of the answer)}, [points] each


def _balance(up: Line, down: Line) -> int | None:
    """The first point at which the answer pulls at least as hard as the price, if there is one."""
    found = np.flatnonzero((np.asarray(down) >= up) & (np.asarray(up) > 0))
    return int(found[0]) if len(found) else None


@slide
def tug_of_war(unit: Line, pulls: Pulls, threshold: float, start: float) -> Figure:
    """How the price pulls the first halting value up, and the answer down; arrows say where it moves from the start."""
    figure, axes = panels(len(pulls), width=4.7, height=4.3, sharey=True)
    top = max(max(pull) for pair in pulls.values() for pull in pair)
    arrow = {"arrowstyle": "-|>", "color": style.BLACK, "linewidth": 2, "mutation_scale": 18}
    for ax, (title, (up, down)) in zip(axes, pulls.items(), strict=True):
        ax.axvspan(threshold, unit[-1], color="#E6E6E6", linewidth=0)
        ax.plot(unit, up, color=style.ACT, linewidth=2.8)
        ax.plot(unit, down, color=style.ANSWER, linewidth=2.8)
        style.logit_axis(
            ax, (unit[0], unit[-1]), (0.05, 0.5, 0.9, 0.99, 0.999), r"halting value $\lambda_1$ (logit scale)"
        )
        ax.set_ylim(-0.28 * top, 1.1 * top)
        ax.set_title(title, fontsize=17)
        style.beside(ax, "the price, up", (unit[30], up[30]), (0, 5), color=style.DARK_PURPLE)
        named, where, side = (0.7, (-6, 10), "right") if max(down) > 0 else (0.025, (0, 5), "left")
        point = int(np.searchsorted(unit, named))
        style.beside(ax, "the answer, down", (unit[point], down[point]), where, color=style.ANSWER, ha=side)
        ax.text(0.9968, 0.55 * top, "both\nare 0", ha="center", va="center")
        ax.axvline(start, color=style.BLACK, linestyle=":", linewidth=1.6)
        ax.text(start, -0.22 * top, " start", va="center")
        moves, balance = [(0.04, 0.97)], _balance(up, down)
        if balance is not None:
            ax.plot(unit[balance], up[balance], "o", color=style.BLACK, markersize=9)
            moves = [(0.04, unit[balance] - 0.12), (0.97, unit[balance] + 0.12)]
        for tail, tip in moves:
            ax.annotate("", (tip, -0.14 * top), (tail, -0.14 * top), arrowprops=arrow)
    axes[0].set(ylabel=r"how hard it pulls on $\lambda_1$")
    axes[0].set_yticks(np.arange(0, 1.1 * top, 0.5))
    return figure


@slide
def whose(by_n: Sequence[Row]) -> Figure:
    """How often state n alone is right on inputs that halt at n, and on those that go on: of `whose_answer`."""
    figure, (right,) = panels(1, width=6.6, height=3.8)
    states = DataFrame(by_n).astype(float)
    n, going_on = states["n"], states["right, going on"].mask(1 - states["halt"].cumsum() < 0.01)  # too few go on
    right.bar(n - 0.2, states["right"], 0.38, color=style.ANSWER, label="halt here")
    right.bar(n + 0.2, going_on, 0.38, facecolor="white", edgecolor=style.ANSWER, hatch="//", label="go on")
    right.axhline(0.5, color=style.BLACK, linestyle=":", linewidth=1.4)
    right.set(ylabel="state $n$ alone is right", ylim=(0, 1.3), yticks=(0, 0.5, 1))
    right.legend(loc="upper left", ncols=2)
    right.set_xticks(n, map("{:g}\n{:.0%} halt".format, n, states["halt"]))
    right.set_xlabel("step $n$")
    return figure
