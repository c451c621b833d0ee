"""Figures of networks that think along a line of places: steps down, places across."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_course.figures.style import BLACK, GREEN, GREY, ORANGE, RED, SKY, Points, legend, look, marks, panels, slide

Line = Sequence[float]
Grid = Sequence[Line]  # [steps, places]
RULE_MARKS = 1, 2, 4  # as `look` counts them; 3 would tinge the grid in a small palette
PALE = ListedColormap(["#EEF4F8", SKY])


def _space_time(ax: Axes, grid: Grid, needed: Line, title: str, **colours: Any) -> None:
    """Draw a grid, its steps from above, and as a staircase the step that each place needs."""
    steps, places = np.shape(grid)
    ax.imshow(np.asarray(grid, float), extent=(0.5, places + 0.5, steps + 0.5, 0.5), aspect="auto",
              interpolation="nearest", **colours)  # fmt: skip
    edges = np.repeat(np.arange(places + 1), 2)[1:-1] + 0.5
    stairs = np.repeat(np.asarray(needed, float), 2) - 0.5
    ax.plot(edges, stairs, color=BLACK, linewidth=2.4, label="light cone: first step that can know")
    ax.set(title=title, xlabel="place", xlim=(0.5, places + 0.5), ylim=(steps + 0.5, 0.5))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=3))
    ax.grid(visible=False)


@slide
def changes(differs: Sequence[Grid], cones: Sequence[Line], titles: Sequence[str]) -> Figure:
    """Draw which answers change when one input is turned, [panels, steps, places]: a panel for each turned place.

    cones: the step at which news of it can be at each place, [panels, places].
    """
    figure, axes = panels(len(differs), width=4.2 if len(differs) > 1 else 6.4, height=3.9, sharey=True)
    for ax, grid, cone, title in zip(axes, differs, cones, titles, strict=True):
        _space_time(ax, grid, cone, title, cmap=PALE, vmin=0, vmax=1)
    axes[0].set_ylabel("step $n$")
    axes[0].fill_between([], [], color=SKY, label="answer has changed")
    return legend(figure, columns=2)


class Thought(NamedTuple):
    """What a network answers along one line."""

    answers: Grid  # [steps, places], from 0 to 1
    right: Grid  # [steps, places] of bool
    needed: Line  # [places]
    halts: int  # the step
    inputs: Grid  # [2, places], digits
    title: str


@slide
def thoughts(shown: Sequence[Thought]) -> Figure:
    """Draw the answer of every place (1 is dark) at every step, wrong ones crossed, and where the line halts.

    The inputs of lines of at most 24 places are printed above.
    """
    places = max(len(thought.needed) for thought in shown)
    width = 4.8 if len(shown) > 1 else min(10, max(7.6, 3 + 0.3 * places))
    figure, axes = panels(len(shown), width=width, height=4.6, sharey=len(shown) > 1)
    for ax, thought in zip(axes, shown, strict=True):
        step, place = np.nonzero(~np.asarray(thought.right, bool))
        size = 30 if len(thought.needed) < 40 else 10
        ax.scatter(place + 1, step + 1, marker="x", s=size, color=RED, linewidth=1, label="wrong answer")
        _space_time(ax, thought.answers, thought.needed, thought.title, cmap="Blues", vmin=-0.1, vmax=1.6)
        ax.axhline(thought.halts + 0.5, color=ORANGE, linewidth=3.2, label="the line halts")
        if len(thought.needed) <= 24:
            _print_above(ax, thought.inputs)
            ax.set_title(thought.title, pad=8 + 13 * len(thought.inputs))
    axes[0].set_ylabel("step $n$")
    return legend(figure, columns=3)


def _print_above(ax: Axes, inputs: Grid) -> None:
    """Write rows of digits above a panel, the first on top."""
    for row, digits in enumerate(inputs):
        offset = (0, 3 + 13 * (len(inputs) - 1 - row))
        for place, digit in enumerate(digits, start=1):
            ax.annotate(f"{digit:.0f}", (place, 0.5), offset, textcoords="offset points", ha="center", fontsize=11)


@slide
def steps_against_need(
    runs: Sequence[Sequence[float | None]], label: str, live: int, border: int,
    failed: Sequence[Sequence[float | None]] = (),
) -> Figure:  # fmt: skip
    """Draw expected steps against the steps that are needed, a thin line for each run.

    Below the diagonal nobody can know; runs that have failed are grey.

    Args:
        runs, failed: [runs, needs]; the value at i is that of lines that need i + 1, None where there were none.
        live: so many of the first runs are darker.
        border: the longest need in training.
    """
    figure, (ax,) = panels(1, width=8.2, height=5.4)
    longest = max(len(run) for run in [*runs, *failed])
    n = np.arange(1, longest + 1)
    for i, run in enumerate(runs):
        style = look(0, marker=None, linewidth=1.3, alpha=0.95 if i < live else 0.45)
        ax.plot(*_measured(run), **style, label=label if i == 0 else None)
    for i, run in enumerate(failed):
        ax.plot(*_measured(run), color=GREY, linewidth=1, label="not learnt" if i == 0 else None)
    ax.plot(n, n, color=BLACK, linewidth=2.4, label="the light cone: first step that can know")
    ax.fill_between(n, 0, n, color="#E8E8E8", linewidth=0)
    ax.annotate("too early to know", (0.62 * longest, 0.36 * longest), ha="center", fontsize=13)
    ax.axvline(border + 0.5, color=GREEN, linewidth=1.6, linestyle="--")
    ax.annotate("trained", (border, longest), color=GREEN, ha="right", va="bottom", fontsize=11)
    ax.annotate("never seen in training", (border + 1.2, longest), color=GREEN, ha="left", va="bottom", fontsize=11)
    ax.set(xlabel="steps that the line needs, $L$", ylabel="expected steps of the network")
    ax.set(xlim=(1, longest), ylim=(0, longest * 1.08))
    ax.legend(loc="lower right")
    return figure


def _measured(run: Sequence[float | None]) -> tuple[list[int], list[float]]:
    """Return the needs that occurred among the lines, and what was measured there."""
    pairs = [(need, value) for need, value in enumerate(run, start=1) if value is not None]
    return [need for need, _ in pairs], [value for _, value in pairs]


@slide
def above_the_limit(lambda_ps: Line, theory: Mapping[str, Line], runs: Mapping[str, Points]) -> Figure:
    """Draw steps above the limit against the prior's lambda_p: lines of theory, and a mark for every run."""
    figure, (ax,) = panels(1, width=7.4, height=4.4)
    for which, (label, line) in enumerate(theory.items()):
        ax.plot(lambda_ps, line, color=BLACK, linewidth=1.8, linestyle=("-", ":")[which % 2], label=label)
    for which, (label, points) in enumerate(runs.items()):
        beside = 0.008 * (which - (len(runs) - 1) / 2)
        marks(ax, [(x + beside, y) for x, y in points], which, 44, label=label, zorder=3)
    ax.set(xlabel=r"$\lambda_p$", ylabel="steps above the limit", ylim=(0, None))
    ax.legend()
    return figure


class Bought(NamedTuple):
    """What halting buys in one test."""

    title: str
    curves: Sequence[Line]  # [runs, N] right if all stop at step n
    halting: Mapping[str, Points]  # {rule: (steps, right) of each run}
    limits: Mapping[str, tuple[Line, Line]]  # {label: (steps, right)}
    end: float  # of the x axis


@slide
def bought(tests: Sequence[Bought]) -> Figure:
    """Draw right answers against mean steps, a panel for each test."""
    figure, axes = panels(len(tests), width=3.5, height=4.0, sharey=True)
    names = list(dict.fromkeys(rule for test in tests for rule in test.halting))
    for ax, test in zip(axes, tests, strict=True):
        for i, curve in enumerate(test.curves):
            n = np.arange(1, len(curve) + 1)
            ax.plot(n, curve, color=SKY, linewidth=1, alpha=0.8, label="the same steps for all" if i == 0 else None)
        for which, (label, line) in enumerate(test.limits.items()):
            ax.plot(*line, color=BLACK, linewidth=1.8, linestyle=("-", ":")[which % 2], label=label)
        for label, points in test.halting.items():
            marks(ax, points, RULE_MARKS[names.index(label)], 44, label=label, zorder=3)
        ax.set(title=test.title, xlabel="mean steps", xlim=(0, test.end), ylim=(0, 1.05))
    axes[0].set_ylabel("right answers")
    return legend(figure, columns=3)


@slide
def against_size(sizes: Line, lines: Mapping[str, Line], runs: Mapping[str, Points], y_label: str) -> Figure:
    """Draw numbers against the number of places, on a logarithmic axis: lines, and a mark for every run."""
    figure, (ax,) = panels(1, width=7.4, height=4.4)
    for which, (label, line) in enumerate(lines.items()):
        ax.plot(sizes, line, color=BLACK, linewidth=1.6, linestyle=("-", "--", ":")[which % 3], label=label)
    for which, (label, points) in enumerate(runs.items()):
        marks(ax, points, which, 44, label=label, zorder=3)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="places", ylabel=y_label, ylim=(0, None))
    ax.set_xticks(list(sizes), [f"{size:g}" for size in sizes])
    ax.legend()
    return figure


@slide
def by_group(values: Mapping[str, Mapping[str, Line]], label: str, limits: tuple[float, float]) -> Figure:
    """Draw a mark for every run, in rows: {row: {series: values}}."""
    figure, (ax,) = panels(1, width=8.2, height=1.2 + 0.42 * len(values))
    series = list(dict.fromkeys(name for row in values.values() for name in row))
    for which, name in enumerate(series):
        shift = 0.16 * (which - (len(series) - 1) / 2)
        points = [(x, y + shift) for y, row in enumerate(values.values()) for x in row.get(name, [])]
        marks(ax, points, which, 36, zorder=3, label=name)
    ax.set(xlabel=label, yticks=range(len(values)), yticklabels=list(values), ylim=(len(values) - 0.5, -0.5))
    ax.set_xlim(*limits)
    return legend(figure, columns=len(series))
