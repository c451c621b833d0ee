"""Figures of ways to stop: what they reach, and what they lose to whoever stops in time."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch
from matplotlib.patheffects import withStroke
from torch import Tensor

from ponder_course.common import style
from ponder_course.common.style import BLUE, LIMIT, Line
from ponder_course.light_cone.figures import Grid, first_at, stairs
from ponder_course.ways_to_stop.regret import METHODS, Regret

Stairs = Line | Tensor | None  # [columns]: a step for each
Seen = Mapping[str, tuple[Sequence[Line], float]]  # {way to stop: (what it looks at [lines, N], the level to stop at)}
Panels = Mapping[str, Mapping[str, Sequence[Regret]]]  # {kind of question: {method: the regret of each network}}
FAMILY = {
    "nothing": BLUE,
    "a price": style.ACT,
    "a prior": style.PONDERNET,
    "a judge": style.DARK_GREY,
}  # what training adds
# Letters of these colours are darker: pale ones are hard to read.
WRITTEN = {style.ACT: style.DARK_PURPLE, style.PONDERNET: style.DARK_GREEN}
TICKS = (0, 1, 5, 20, 80)  # hundredths of an answer
MANY_WRONG = 0.01  # of all lines
SIGNALS = {  # what each way to stop looks at
    "certainty": (BLUE, "the least sure place"),
    "PonderNet's head": (style.PONDERNET, r"$\lambda_n$"),
}
QUESTIONS = {
    "every line has an answer": "lines",
    "three in ten have none": "no answer",
    "only one place is asked": "one answer",
}
SIX = {
    "certainty (CALM)": "certainty",
    "rest (Huginn)": "rest",
    "certainty or rest": "certainty or rest",
    "PonderNet, threshold": "PonderNet's head",
    "ACT": "budget (ACT)",
    "judge of right and wrong (TRM)": "judge",
}
BESIDE_THE_CLOCK = {name: short for name, short in SIX.items() if short in SIGNALS}
FIVE = {name: short for name, short in SIX.items() if "rest" not in short}
FIVE["the same step for all"] = "same step for all"


@style.slide
def regrets(problems: Panels, families: Mapping[str, str], cut: float | None = None) -> Figure:
    """What each method loses to the clock, in hundredths of an answer: dots at the means, which stand beside them.

    A panel for each problem and a row for each method of the first, in its order. The axis, named once, is linear up to
    1, and logarithmic beyond. Rings: single runs. families: {method: what training adds}, for the colours, which a
    legend names where a family has several methods. What is more than `cut` is an arrow head at the edge.
    """
    rows = list(next(iter(problems.values())))
    height = 1.5 + (0.42 if len(rows) > 5 else 0.55) * len(rows)
    figure, axes = style.panels(len(problems), width=10.0 / len(problems), height=height, sharey=True)
    every = [100 * sum(pair) for panel in problems.values() for runs in panel.values() for pair in runs]
    high = max(1.0, *every) if cut is None else cut
    for ax, (title, methods) in zip(axes, problems.items(), strict=True):
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_title(title, pad=24)  # room for "the clock"
        ax.set(xlabel=" ", xlim=(min(0.0, *every) - 0.15, 1.4 * high))
        ax.set_xticks([tick for tick in TICKS if tick <= 1.4 * high], minor=False)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        ax.axvline(0, color=LIMIT, linewidth=1.4)
        ax.tick_params(axis="y", length=0)
        beside: dict[str, Any] = {"transform": ax.get_yaxis_transform()}
        ax.text(1.02, -0.5, "mean", va="bottom", color=style.DARK_GREY, **beside)
        for y, name in enumerate(rows):
            if methods.get(name):
                colour, runs = FAMILY[families[name]], 100 * np.sum(methods[name], axis=1)
                seen = runs[runs <= high]
                ring: dict[str, Any] = {"markerfacecolor": "none", "markersize": 5, "alpha": 0.8}
                ax.plot(seen, np.full(len(seen), y), "o", color=colour, **ring)
                if len(seen) < len(runs):
                    ax.plot(1.15 * high, y, ">", color=colour, markersize=6)
                ax.plot(min(runs.mean(), high), y, "o", color=colour, markersize=9)
                ax.text(1.02, y, f"{runs.mean():.1f}", va="center", color=WRITTEN.get(colour, colour), **beside)
    axes[0].text(0, -0.5, "the clock", ha="center", va="bottom", color=LIMIT)
    middle = axes[len(axes) // 2]
    middle.set_xlabel("regret, hundredths of an answer (stretched near 0)")
    middle.xaxis.label.set_x(0.5 if len(axes) % 2 else -0.1)  # in the middle of all panels
    middle.xaxis.label.set_in_layout(False)  # as wide as several panels
    axes[0].set(yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.5, -0.5))
    added = [families[name] for name in rows]
    for label, family in zip(axes[0].get_yticklabels(), added, strict=True):
        label.set_color(WRITTEN.get(FAMILY[family], FAMILY[family]))
    if len(added) > len(set(added)):
        handles = [Patch(color=colour, label=what) for what, colour in FAMILY.items() if what in added]
        title = "what training adds to the loss of the answers:"
        figure.legend(handles=handles, loc="outside lower center", ncols=4, title=title, title_fontsize=14.5)
    return figure


@style.slide
def signals(seen: Seen, needs: Mapping[str, int]) -> Figure:
    """What each way of SIGNALS looks at, over the steps of the same lines: a panel for each way.

    needs: {label of a line: the step at which it can first be known}.
    """
    figure, axes = style.panels(len(seen), width=4.6, height=3.6, sharex=True, sharey=True)
    for ax, (way, (curves, stop)) in zip(axes, seen.items(), strict=True):
        colour, looks_at = SIGNALS[way]
        ax.set_title(way, color=WRITTEN.get(colour, colour), pad=24)
        for curve, marker, (label, need) in zip(curves, style.MARKERS[: len(curves)], needs.items(), strict=True):
            n = style.step_axis(ax, len(curve), ylabel=looks_at, ylim=(-0.03, 1.05))
            ax.plot(n, curve, color=colour, marker=marker, markersize=4.5, linewidth=1.5, label=label)
            if step := first_at(curve, stop):
                ring: dict[str, Any] = {"markerfacecolor": "none", "markersize": 13, "markeredgewidth": 2}
                ax.plot(step, curve[step - 1], "o", color=WRITTEN.get(colour, colour), **ring)
            ax.axvline(need, color=LIMIT, linewidth=1.4)
            style.beside(ax, label, (need, 1.05), (0, 4), ha="center")
        ax.axhline(stop, color=style.DARK_GREY, linestyle="--", linewidth=1.2)
        x, away, side = (1, -3, "right") if stop < 0.5 else (0, 9, "left")  # where no curve is
        edge: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "color": style.DARK_GREY}
        style.beside(ax, f"stops at {stop:g}", (x, stop), (away, -3), ha=side, va="top", **edge)
        ax.set_yticks([0, 0.5, 1])
        ax.tick_params(labelleft=True)
    return figure


@style.slide
def sure_or_guessed(
    sure: Mapping[str, Grid], needs: Sequence[Stairs], stops: Sequence[Stairs], across: str, apart: bool = False
) -> Figure:
    """How sure answers are at each step, a map for each title: blue is sure, white is a guess.

    sure: {title: [steps, columns]}, where 0.5 is a guess. needs and stops: for each map the step at which each column
    can first be known, and the step at which a rule stops it; None where it never is. across: what the columns are;
    apart: whether white lines stand between them, and the stop of each alone.
    """
    figure, axes = style.panels(len(sure), width=4.6 if len(sure) > 1 else 7.4, height=4.4, sharey=True)
    dashed: dict[str, Any] = {"color": style.HALTING, "linestyle": "--", "label": "here it stops"}
    dashed["path_effects"] = [withStroke(linewidth=5.4, foreground="white")]
    for ax, (title, grid), need, stop in zip(axes, sure.items(), needs, stops, strict=True):
        style.steps_down(ax, grid, cmap="Blues", vmin=0.5, vmax=1.3)
        if need is not None:
            stairs(ax, need, label="now it can be known")
        if stop is not None and apart:
            column = np.arange(1, len(stop) + 1)
            ax.hlines(np.asarray(stop) + 0.5, column - 0.4, column + 0.4, linewidth=2.4, **dashed)
        elif stop is not None:
            stairs(ax, (np.asarray(stop) + 1).tolist(), **dashed)  # under its row
        if apart:
            ax.vlines(np.arange(1.5, len(grid[0])), 0.5, len(grid) + 0.5, color="white", linewidth=2.5)
        ax.set(title=title, xlabel=across, ylim=(len(grid) + 0.9, 0.5))
    axes[0].set_ylabel("step $n$")
    axes[0].fill_between([], [], color="#2F7FBC", label="sure")
    axes[0].fill_between([], [], facecolor="white", edgecolor=style.GREY, label="a guess")
    return style.legend(figure, columns=4)


@style.slide
def beside_the_clock(found: Mapping[str, Sequence[Regret]], price: float) -> Figure:
    """How long before or after L each network stops, on average: the networks of each way of SIGNALS, below each other.

    found: {way: the regret of each network}, at this price of a step. A cross: at least `MANY_WRONG` are wrong. The
    axis is linear up to one step, and logarithmic beyond.
    """
    figure, (ax,) = style.panels(1, width=8.4, height=4.0)
    ax.set_xscale("symlog", linthresh=1.0)
    ax.axvline(0, color=LIMIT, linewidth=1.4)
    lane, middles = 0, []
    for way, runs in found.items():
        colour, _ = SIGNALS[way]
        middles.append(lane + (len(runs) - 1) / 2)
        for run in sorted(runs):
            steps, is_right = run.time / price, run.wrong_answers < MANY_WRONG
            ax.plot(steps, lane, "o" if is_right else "x", color=colour if is_right else style.WRONG, markersize=8)
            if not is_right:
                wrong = f"wrong on {run.wrong_answers:.0%} of the lines"
                style.beside(ax, wrong, (steps, lane), (9, 0), va="center", color=style.WRONG)
            lane += 1
        lane += 1  # a gap
    style.beside(ax, "the oracle", (0, -1), (0, 4), ha="center", color=LIMIT)
    ax.set(yticks=middles, yticklabels=list(found), ylim=(lane - 1, -1), xlim=(-1.3, 14))
    for label, way in zip(ax.get_yticklabels(), found, strict=True):
        label.set_color(WRITTEN.get(SIGNALS[way][0], SIGNALS[way][0]))
    ax.set_xticks([-1, 0, 1, 10], ["1 before", "$L$", "1 after", "10 after"])
    ax.set_xlabel("mean steps, before or after $L$ (stretched near 0)")
    ax.minorticks_off()
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    return figure


def of_lines(signals_of_all: Mapping[str, tuple[Tensor, float]], lines: Sequence[int]) -> Seen:
    """Return what each way looks at on some lines, of what it looks at on all, [N, lines], and its level."""
    return {way: (signal[:, list(lines)].T.tolist(), level) for way, (signal, level) in signals_of_all.items()}


def under(names: Mapping[str, str], found: Panels) -> tuple[dict[str, dict[str, Sequence[Regret]]], dict[str, str]]:
    """Return the regrets of these METHODS under their names in the figure, in this order, and what training adds."""
    rows = {}
    for title, panel in found.items():
        rows[title] = {short: panel[name] for name, short in names.items() if name in panel}
    return rows, {short: METHODS[name].adds for name, short in names.items()}


def losses_of(found: Panels) -> pd.DataFrame:
    """Return the mean regret in hundredths: a column for each kind of question, a row for each method."""
    losses = {}
    for title, panel in found.items():
        losses[title] = {name: 100 * mean(map(sum, runs)) for name, runs in panel.items()}
    return pd.DataFrame(losses)


@style.slide
def in_cells(found: Panels, bad: float) -> Figure:
    """Draw the median regret of each method of the first kind of question, in hundredths, on each kind.

    A cell is the redder the more networks *fail*: lose more than `bad`. Where some do, it says how many.
    """
    methods = list(next(iter(found.values())))
    figure, (ax,) = style.panels(1, width=9.6, height=0.62 * len(methods) + 0.6)
    failed = np.zeros((len(methods), len(found)))
    for column, panel in enumerate(found.values()):
        for name, runs in panel.items():
            losses, row = 100 * np.sum(runs, axis=1), methods.index(name)
            is_bad = losses > bad
            failed[row, column] = is_bad.mean()
            count = f"   {is_bad.sum()} of {len(losses)} fail" if is_bad.any() else ""
            ax.text(column, row, f"{np.median(losses):.1f}{count}", ha="center", va="center")
    reds = LinearSegmentedColormap.from_list("", ["white", style.WRONG])
    ax.imshow(failed, cmap=reds, vmin=0, vmax=1.6, aspect="auto")
    ax.set_xticks(range(len(found)), list(found))
    ax.set_yticks(range(len(methods)), methods)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    return figure


Places = tuple[Line, Sequence[bool], Sequence[bool]]  # of a line: bits, who is right, who objects


def with_twin(lines: Tensor, i: int, right: Tensor, objects: Tensor) -> dict[str, Places]:
    """Return for `wire` the i-th of the lines [batch, 2, places], and that in which only the first bit differs.

    right and objects: at one step, bool [batch, places].
    """
    bits = lines[:, 0].int().tolist()
    twin = bits.index([1 - bits[i][0], *bits[i][1:]])
    return {f"first bit {bits[k][0]}": (bits[k], right[k].tolist(), objects[k].tolist()) for k in (i, twin)}


@style.slide
def wire(lines: Mapping[str, Places], step: int) -> Figure:
    """All places of two lines at a step, blue where the first bit is known, above a wire, amber if one objects."""
    figure, (ax,) = style.panels(1, width=7.6, height=4.9)
    style.bare(ax)
    middle: dict[str, Any] = {"ha": "center", "va": "center_baseline"}
    for row, (title, (bits, right, objects)) in enumerate(lines.items()):
        last, y = len(bits), 2.7 - 2.5 * row
        ax.text(-0.1, y, title.replace(" bit ", "\nbit "), fontsize=17, **middle)
        who = [place for place, says_no in enumerate(objects, start=1) if says_no]
        colour = style.HALTING if who else style.PALE_GREY
        ax.plot([1, last], [y - 1, y - 1], color=colour, linewidth=6)
        for place, is_right in enumerate(right, start=1):
            heard = style.HEARD if place <= step else "white"
            vote = colour if place in who else style.PALE_GREY
            ax.plot([place, place], [y - 1, y], color=vote, linewidth=3, zorder=0)
            ax.scatter(place, y, marker="s", s=1300, edgecolor=style.GREY, facecolor=heard)
            mark, ink = ("\N{CHECK MARK}", style.BLACK) if is_right else ("\N{BALLOT X}", style.WRONG)
            ax.text(place, y, mark, color=ink, fontsize=22, **middle)
        for place in who:
            ax.text(place + 0.12, y - 0.78, "no!", color=style.DARK_ORANGE, fontsize=20, weight="bold")
        verdict = f"place {who[0]} objects:\nthink on" if who else "nobody objects:\nhalt"
        ink = style.DARK_ORANGE if who else style.BLACK
        ax.text(last + 0.7, y - 0.7, verdict, color=ink, fontsize=18, weight="bold", va="center")
    dashed: dict[str, Any] = {"fill": False, "edgecolor": style.GREY, "linestyle": "--"}
    ax.add_patch(FancyBboxPatch((last - 0.4, -0.3), 0.8, 3.5, "round,pad=0.1", **dashed))
    ax.text(last, 3.55, f"place {last} sees the same in both, and guesses", fontsize=17, ha="center")
    ax.set(xlim=(-0.7, 9.3), ylim=(-1.2, 4))
    return figure
