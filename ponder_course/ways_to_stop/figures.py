"""Figures of ways to stop: what they reach, and what they lose to whoever stops in time."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import ConnectionPatch, Patch
from matplotlib.patheffects import withStroke
from torch import Tensor

from ponder_course.common import style
from ponder_course.common.lines import LineParityTask, flipped
from ponder_course.common.style import BLUE, LIMIT, Line
from ponder_course.light_cone import beating_the_clock as clock
from ponder_course.light_cone.figures import LEVEL, Grid, Votes, first_at, stairs
from ponder_course.ways_to_stop.regret import METHODS, Regret
from ponder_utils.pondernet import PonderNet

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
NO = LinearSegmentedColormap.from_list("no", ["#FFFFFF", "#444444"])
SIGNALS = {  # what each way to stop looks at
    "certainty": (BLUE, "the least sure place"),
    "PonderNet's head": (style.PONDERNET, r"$\lambda_n$"),
}
HEARD, TICK, CROSS = "#BFDDEE", "\N{CHECK MARK}", "\N{BALLOT X}"  # a pale blue; right, and wrong
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
    style.beside(ax, "the clock", (0, -1), (0, 4), ha="center", color=LIMIT)
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


def in_cells(found: Panels, bad: float) -> pd.DataFrame:
    """Return the median regret of each method on each kind of question, and how many networks lose more than `bad`."""
    counted: dict[str, dict[str, str]] = {}
    for title, panel in found.items():
        cells = counted[title] = {}
        for name, runs in panel.items():
            losses = 100 * np.sum(runs, axis=1)
            fail = f" ({(losses > bad).sum()} of {len(losses)} fail)" if (losses > bad).any() else ""
            cells[name] = f"{np.median(losses):.1f}{fail}"
    return pd.DataFrame(counted)


@torch.no_grad()
def line_and_twin(model: PonderNet, x: Tensor) -> list[Votes]:
    """Return how a line x [1, 2, L] of one segment, and its twin with another first bit, vote and halt at LEVEL."""
    need, both = x.shape[2], torch.cat([x, flipped(x, 0)])
    no = 1 - clock.votes(model.step, both, need + 1).sigmoid()  # [steps, 2, L]
    halts = model.predict(both, "threshold", q=LEVEL).steps.tolist()
    wrong = (model(both).y_hat > 0) != (LineParityTask.answers(both) > 0.5)  # [N, 2, L]
    lines = []
    for i, bits in enumerate(both[:, 0].int().tolist()):
        title = f"first bit {bits[0]}: {outcome(need - halts[i])}"
        lines.append(Votes(no[:, i].tolist(), bits, halts[i], need, title, wrong[:, i].tolist()))
    return lines


@style.slide
def message(lines: Sequence[Votes]) -> Figure:
    """Who votes no, and whose answer is wrong, until a line halts: a panel for each line, with the bits above.

    The dashes stand under the row of the halt; hatched is what comes after it. Bits unlike those of the first line are
    bold, and so are the places that object at the step at which the first line halts.
    """
    figure, axes = style.panels(len(lines), width=min(4.5, 10.0 / len(lines)), height=4.2)
    hatched: dict[str, Any] = {"facecolor": "none", "edgecolor": "#BBBBBB", "hatch": "//", "linewidth": 0}
    dashed: dict[str, Any] = {"color": style.HALTING, "linewidth": 4, "linestyle": "--"}
    cross: dict[str, Any] = {"marker": "x", "color": style.WRONG, "linewidth": 2.2, "s": 60}
    centred: dict[str, Any] = {"ha": "center", "va": "center"}
    for ax, line in zip(axes, lines, strict=True):
        style.steps_down(ax, votes_no(line)[: line.halts].astype(float).tolist(), cmap=NO, vmin=0, vmax=1)
        step, wrong_place = np.nonzero(np.reshape(line.wrong[: line.halts], (-1, len(line.bits))))
        ax.scatter(wrong_place + 1, step + 1, **cross)
        ax.set_ylim(len(line.no) + 0.5, 0.5)
        ax.set_title(line.title, pad=24)
        ax.axhspan(line.halts + 0.5, len(line.no) + 0.5, **hatched)
        ax.axhline(line.halts + 0.5, **dashed)
        for objector in objecting(line, lines[0].halts) if line.halts > lines[0].halts else []:
            ax.text(int(objector), lines[0].halts, "no", color="white", weight="bold", **centred)
        middle, in_time = len(line.bits) / 2 + 0.5, line.halts == line.need
        ax.text(middle, line.halts, f"halts at {line.halts}{' = $L$' * in_time}", weight="bold", **centred)
        if not in_time:
            white = {"facecolor": "white", "edgecolor": "none", "pad": 2}
            ax.text(middle, line.need, f"$L$ = {line.need}", bbox=white, **centred)
        for place, (bit, other) in enumerate(zip(line.bits, lines[0].bits, strict=True), start=1):
            weight = "bold" if bit != other else "normal"
            style.beside(ax, f"{bit}", (place, 0.5), (0, 4), ha="center", weight=weight)
    axes[0].set_ylabel("step $n$")
    key = {
        rf"votes no ($\lambda < {LEVEL:g}$)": Patch(color="#444444"),
        "answer wrong": Line2D([], [], linestyle="none", marker="x", color=style.WRONG, markeredgewidth=2.2),
        "it halts": Line2D([], [], **dashed),
        "after the halt": Patch(**hatched),
    }
    figure.legend(key.values(), key.keys(), loc="outside lower center", ncols=len(axes) * 2)
    return figure


@style.slide
def wire(lines: Sequence[Votes]) -> Figure:
    """Answers and votes of all places at the step at which the first line halts: a panel for each line.

    Blue places have heard the first bit. Each vote stands on a line that joins all places. A line joins the last places
    of two panels if neither has heard the first bit.
    """
    step = min(lines[0].halts, len(lines[0].no))
    figure, axes = style.panels(len(lines), width=4.7, height=3.6, sharey=True)
    centred: dict[str, Any] = {"ha": "center", "va": "center_baseline"}
    for ax, line in zip(axes, lines, strict=True):
        style.bare(ax)
        ax.tick_params(length=0)
        objectors = objecting(line, step)
        colour = style.BLACK if objectors else style.HALTING
        correct = np.cumsum(line.bits) % 2
        for place, (bit, other) in enumerate(zip(line.bits, lines[0].bits, strict=True), start=1):
            wrong, says_no = any(line.wrong) and line.wrong[step - 1][place - 1], f"{place}" in objectors
            ax.text(place, 3, f"{bit}", weight="bold" if bit != other else "normal", **centred)
            box: dict[str, Any] = {"marker": "s", "s": 900, "edgecolor": style.GREY}
            ax.scatter(place, 2, facecolor=HEARD if place <= step else "white", **box)
            answer = f"{int(correct[place - 1]) ^ int(wrong)} {CROSS if wrong else TICK}"
            ax.text(place, 2, answer, color=style.WRONG if wrong else style.BLACK, fontsize=14.5, **centred)
            ax.text(place, 1, "no" if says_no else "yes", weight="bold" if says_no else "normal", **centred)
            ax.plot([place, place], [0.3, 0.65], color=style.BLACK if says_no else style.GREY, linewidth=1.5)
        ax.plot([1, len(line.bits)], [0.3, 0.3], color=colour, linewidth=4)
        verdict = f"a no from place {' and '.join(objectors)}: think on" if objectors else "nobody objects: halt"
        ax.text((len(line.bits) + 1) / 2, -0.35, verdict, weight="bold", color=colour, **centred)
        ax.set(title=f"first bit {line.bits[0]}", xlim=(0.3, len(line.bits) + 0.7), ylim=(-0.8, 3.5))
    axes[0].set_yticks([3, 2, 1, 0.3], ["bit", "answer", "vote", "wire"])
    if (end := len(lines[0].bits)) > step and len(lines) == 2:
        look: dict[str, Any] = {"color": style.GREY, "linewidth": 1.5, "clip_on": False}
        bar = ConnectionPatch((end, 1.5), (end, 1.5), "data", "data", axesA=axes[0], axesB=axes[1], **look)
        axes[1].add_artist(bar).set_in_layout(False)
        white = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes[1].text((end + 1) / 2, 1.5, "the last place sees the same", bbox=white, fontsize=12.5, zorder=9, **centred)
        for ax in axes:
            ax.plot([end, end], [1.5, 1.68], **look)
    return figure


def votes_no(line: Votes) -> np.ndarray:
    """Return which places vote no: bool [steps, places]."""
    return np.array(line.no) > 1 - LEVEL


def objecting(line: Votes, step: int) -> list[str]:
    """Return the places that vote no at a step."""
    return [f"{place}" for place in np.flatnonzero(votes_no(line)[step - 1]) + 1]


def outcome(early: int) -> str:
    """How many steps before L a line halts, in words."""
    if not early:
        return "in time"
    return f"{abs(early)} step{'s' * (abs(early) != 1)} {'early' if early > 0 else 'late'}"
