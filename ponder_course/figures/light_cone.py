"""Figures of networks that think along a line of places: steps down, places across."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_course.figures import BLACK, GREEN, ORANGE, RED, SKY, Line, Points, legend, look, marks, panels, slide

Grid = Sequence[Line]  # [steps, places]
RULE_MARKS = 1, 2, 4  # as `look` counts them; 3 would tinge the grid in a small palette
PALE = ListedColormap(["#EEF4F8", SKY])


def _space_time(ax: Axes, shown: Grid, needed: Line, title: str) -> None:
    """Rows are steps, from above; the staircase is the step that each place needs."""
    steps, places = np.shape(shown)
    edges = np.repeat(np.arange(places + 1), 2)[1:-1] + 0.5
    ax.plot(
        edges,
        np.repeat(np.asarray(needed, float), 2) - 0.5,
        color=BLACK,
        linewidth=2.4,
        label="light cone: first step that can know",
    )
    ax.set(title=title, xlabel="place", xlim=(0.5, places + 0.5), ylim=(steps + 0.5, 0.5))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=3))
    ax.grid(visible=False)


def _pixels(ax: Axes, grid: Grid, **settings: Any) -> None:
    steps, places = np.shape(grid)
    ax.imshow(np.asarray(grid, float), extent=(0.5, places + 0.5, steps + 0.5, 0.5), aspect="auto",
              interpolation="nearest", **settings)  # fmt: skip


@slide
def changes(differs: Sequence[Grid], cones: Sequence[Line], titles: Sequence[str]) -> Figure:
    """Which answers change when one input is turned: a panel for each place that is turned. [panels, steps, places]

    The cones say at which step news of it can be at each place, [panels, places].
    """
    figure, axes = panels(len(differs), width=4.2 if len(differs) > 1 else 6.4, height=3.9, sharey=True)
    for ax, grid, cone, title in zip(axes, differs, cones, titles, strict=True):
        _pixels(ax, grid, cmap=PALE, vmin=0, vmax=1)
        _space_time(ax, grid, cone, title)
    axes[0].set_ylabel("step $n$")
    axes[0].fill_between([], [], color=SKY, label="answer has changed")
    return legend(figure, columns=2)


@slide
def thoughts(
    answers: Sequence[Grid], right: Sequence[Grid], needed: Sequence[Line], halts: Sequence[int],
    inputs: Sequence[Grid], titles: Sequence[str],
) -> Figure:  # fmt: skip
    """Single lines: the answer of every place (1 is dark) at every step, wrong ones marked, and where the line halts.

    answers, right: [lines, steps, places]; needed: [lines, places]; inputs: [lines, 2, places], digits that are printed
    above.
    """
    count, places = len(answers), max(len(line) for line in needed)
    alone = min(10, max(7.6, 3 + 0.3 * places))
    figure, axes = panels(count, width=4.8 if count > 1 else alone, height=4.6, sharey=count > 1)
    for ax, grid, ok, need, halt, digits, title in zip(
        axes, answers, right, needed, halts, inputs, titles, strict=True
    ):
        _pixels(ax, grid, cmap="Blues", vmin=-0.1, vmax=1.6)
        n, place = np.nonzero(~np.asarray(ok, bool))
        ax.scatter(
            place + 1, n + 1, marker="x", s=30 if len(need) < 40 else 10, color=RED, linewidth=1, label="wrong answer"
        )
        _space_time(ax, grid, need, title)
        ax.axhline(halt + 0.5, color=ORANGE, linewidth=3.2, label="the line halts")
        if len(need) <= 24:
            for row, values in enumerate(digits):
                for i, value in enumerate(values):
                    offset = (0, 3 + 13 * (len(digits) - 1 - row))
                    ax.annotate(
                        f"{value:.0f}", (i + 1, 0.5), offset, textcoords="offset points", ha="center", fontsize=11
                    )
            ax.set_title(title, pad=8 + 13 * len(digits))
    axes[0].set_ylabel("step $n$")
    return legend(figure, columns=3)


@slide
def steps_against_need(
    groups: Mapping[str, Sequence[Line]], live: int, border: int, theory: Mapping[str, float] | None = None,
    failed: Sequence[Line] = (),
) -> Figure:  # fmt: skip
    """Expected steps against the steps that are needed, a thin line for each run; below the diagonal nobody can know.

    groups: {label: [runs, n_places]}, the value at i is that of lines that need i + 1; the first `live` runs of the
    first group are darker. The border is the longest need in training. Theory: {label: steps above the diagonal}. Runs
    that have failed are grey.
    """
    figure, (ax,) = panels(1, width=8.2, height=5.4)
    longest = max(len(run) for runs in [*groups.values(), failed] for run in runs)
    n = np.arange(1, longest + 1)
    for which, (label, runs) in enumerate(groups.items()):
        for i, run in enumerate(runs):
            style = look(
                which, marker=None, linestyle="-", linewidth=1.3, alpha=0.95 if which == 0 and i < live else 0.45
            )
            ax.plot(*_measured(run), **style, label=label if i == 0 else None)
    for i, run in enumerate(failed):
        ax.plot(*_measured(run), color="#999999", linewidth=1, label="not learnt" if i == 0 else None)
    ax.plot(n, n, color=BLACK, linewidth=2.4, label="the light cone: first step that can know")
    ax.fill_between(n, 0, n, color="#E8E8E8", linewidth=0)
    ax.annotate("too early to know", (0.62 * longest, 0.36 * longest), ha="center", fontsize=13)
    for which, (label, above) in enumerate((theory or {}).items()):
        ax.plot(n, n + above, color=BLACK, linewidth=1.4, linestyle=("--", ":", "-.")[which % 3], label=label)
    ax.axvline(border + 0.5, color=GREEN, linewidth=1.6, linestyle="--")
    ax.annotate("trained", (border, longest), color=GREEN, ha="right", va="bottom", fontsize=11)
    ax.annotate("never seen in training", (border + 1.2, longest), color=GREEN, ha="left", va="bottom", fontsize=11)
    ax.set(
        xlabel="steps that the line needs, $L$",
        ylabel="expected steps of the network",
        xlim=(1, longest),
        ylim=(0, longest * 1.08),
    )
    ax.legend(loc="lower right")
    return figure


def _measured(run: Sequence[float | None]) -> tuple[list[int], list[float]]:
    """The needs that occurred among the lines, and what was measured there."""
    pairs = [(need, value) for need, value in enumerate(run, start=1) if value is not None]
    return [need for need, _ in pairs], [value for _, value in pairs]


@slide
def above_the_limit(
    lambda_ps: Line, theory: Mapping[str, Line], runs: Mapping[str, Sequence[tuple[float, float]]]
) -> Figure:
    """Steps above the limit against the prior's lambda_p: lines of theory, and a mark for every run."""
    figure, (ax,) = panels(1, width=7.4, height=4.4)
    for which, (label, line) in enumerate(theory.items()):
        ax.plot(lambda_ps, line, color=BLACK, linewidth=1.8, linestyle=("-", ":")[which % 2], label=label)
    for which, (label, points) in enumerate(runs.items()):
        marks(ax, [(x + 0.008 * (which - (len(runs) - 1) / 2), y) for x, y in points], which, 44, label=label, zorder=3)
    ax.set(xlabel=r"$\lambda_p$", ylabel="steps above the limit", ylim=(0, None))
    ax.legend()
    return figure


@slide
def bought(
    tests: Sequence[tuple[str, Sequence[Line], Mapping[str, Points], Mapping[str, tuple[Line, Line]], float]],
) -> Figure:
    """Right answers against mean steps, a panel for each test.

    A test has a title; curves, [runs, N], of what is right if all stop at step n; marks, {rule: [(steps, right), ...]};
    limits, {label: (steps, right)}; and where its x axis ends.
    """
    figure, axes = panels(len(tests), width=3.5, height=4.0, sharey=True)
    names = list(dict.fromkeys(rule for _, _, halting, _, _ in tests for rule in halting))
    for ax, (title, curves, halting, limits, end) in zip(axes, tests, strict=True):
        for i, curve in enumerate(curves):
            n = np.arange(1, len(curve) + 1)
            ax.plot(n, curve, color=SKY, linewidth=1, alpha=0.8, label="the same steps for all" if i == 0 else None)
        for which, (label, line) in enumerate(limits.items()):
            ax.plot(*line, color=BLACK, linewidth=1.8, linestyle=("-", ":")[which % 2], label=label)
        for label, points in halting.items():
            marks(ax, points, RULE_MARKS[names.index(label)], 44, label=label, zorder=3)
        ax.set(title=title, xlabel="mean steps", xlim=(0, end), ylim=(0, 1.05))
    axes[0].set_ylabel("right answers")
    return legend(figure, columns=3)


@slide
def against_size(
    sizes: Line, lines: Mapping[str, Line], runs: Mapping[str, Sequence[tuple[float, float]]], y_label: str
) -> Figure:
    """Numbers against the number of places, on a logarithmic axis: lines, and a mark for every run."""
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
def by_group(values: Mapping[str, Mapping[str, Line]], label: str, limits: tuple[float, float] | None = None) -> Figure:
    """A mark for every run, in rows: {row: {series: values}}."""
    figure, (ax,) = panels(1, width=8.2, height=1.2 + 0.42 * len(values))
    series = list(dict.fromkeys(name for row in values.values() for name in row))
    for y, row in enumerate(values.values()):
        for which, name in enumerate(series):
            shift = 0.16 * (which - (len(series) - 1) / 2)
            marks(ax, [(x, y + shift) for x in row.get(name, [])], which, 36, zorder=3)
    for which, name in enumerate(series):
        marks(ax, [], which, 36, label=name)
    ax.set(xlabel=label, yticks=range(len(values)), yticklabels=list(values), ylim=(len(values) - 0.5, -0.5))
    if limits:
        ax.set_xlim(*limits)
    return legend(figure, columns=len(series))
