"""Figures of networks that think along a line of places: steps down, places across.

What can be known begins under the black stairs; dashes stand under the row of the step at which a line halts.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean, median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from ponder_course.common import measures, style, verdicts
from ponder_course.common.lines import LineParityTask
from ponder_course.common.store import Row
from ponder_course.common.style import Line, Points
from ponder_course.light_cone import beating_the_clock as clock
from ponder_course.light_cone import experiment
from ponder_utils.pondernet import PonderNet

Grid = Sequence[Line]  # [steps, places]
Run = Sequence[float | None]  # [needs]: the value at i is of lines that need i + 1, None or nan where there were none
ByPrice = Mapping[str, Sequence[Run]]
LEVEL, BUDGET = 0.2, 0.99  # where PonderNet halts in this lesson, and where ACT does
PALE = ListedColormap(["#EEF4F8", style.SKY])


def stairs(ax: Axes, steps: Line | Tensor, color: str = style.LIMIT, **look: Any) -> None:
    """Draw as a staircase a step for each place, above its row; by default in the colour of what they need."""
    edges = np.repeat(np.arange(len(steps) + 1), 2)[1:-1] + 0.5
    ax.plot(edges, np.repeat(np.asarray(steps, float), 2) - 0.5, color=color, linewidth=2.4, **look)


def write_above(ax: Axes, digits: Line, up: float = 4, **font: Any) -> None:
    """Write a digit above each place of a panel, so many points above its edge."""
    for place, digit in enumerate(digits, start=1):
        style.beside(ax, f"{digit:.0f}", (place, 0.5), (0, up), ha="center", **font)


@style.slide
def above_the_limit(lambda_ps: Line, theory: Mapping[str, Line], runs: Points) -> Figure:
    """Draw steps above L against the prior's lambda_p: two lines of theory, and a circle for every run."""
    figure, (ax,) = style.panels(1, width=7.4, height=4.4)
    for which, (label, line) in enumerate(theory.items()):
        ax.plot(lambda_ps, line, color=style.BLACK, linewidth=1.8, linestyle="-:"[which])
        ax.text(lambda_ps[0] + (0.01, 0)[which], (1.0, 0.25)[which] * line[0], label, va="center")
    x, y = np.transpose(runs)
    ax.scatter(x, y, s=44, zorder=3, facecolor="none", edgecolor=style.PONDERNET)
    style.beside(ax, "a network", (x[y.argmax()], y.max()), (8, 0), va="center", color=style.DARK_GREEN)
    ax.set(xlabel=r"$\lambda_p$", ylabel="steps above $L$", ylim=(0, None))
    return figure


def steps_above(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return (lambda_p, mean steps above L on 16 places) of those stored runs that had N = 20."""
    return [(row["lambda_p"], experiment.lateness(row["tests"]["16"])) for row in rows if row["N"] == 20]


def steps_above_in_theory(
    above: Points, steps_in_theory: Callable[[float, int, int], float]
) -> tuple[list[float], dict[str, list[float]]]:
    """Return every lambda_p of the networks, and theory's steps above L there: equation 2, and cut off at N = 20.

    steps_in_theory: (lambda_p, L, N) -> mean steps.
    """
    lambda_ps = sorted({lambda_p for lambda_p, _ in above})
    needs = LineParityTask.needed_steps(experiment.fresh(LineParityTask(16))[0]).amax(1).tolist()
    cut_off = [mean(steps_in_theory(lambda_p, L, 20) - L for L in needs) for lambda_p in lambda_ps]
    by_equation = [(1 - lambda_p) / lambda_p for lambda_p in lambda_ps]
    return lambda_ps, {"equation 2": by_equation, "dotted: the same,\ncut off at N = 20": cut_off}


def against_theory(above: Points, lambda_ps: Line, theory: Mapping[str, Line]) -> dict[float, float]:
    """Return for each lambda_p how far the median network is from the last line of theory: 0.1 is 10 % above."""
    *_, expected = theory.values()
    simulated = [[steps for at, steps in above if at == lambda_p] for lambda_p in lambda_ps]
    return {at: median(steps) / e - 1 for at, steps, e in zip(lambda_ps, simulated, expected, strict=True)}


class Votes(NamedTuple):
    """How the places of one line vote on halting."""

    no: Grid  # 1 for a veto, 0 for none, or in between
    bits: Sequence[int]  # [places]
    halts: int  # the step
    need: int  # L
    title: str
    wrong: Sequence[Sequence[float]] = ()  # 1 where an answer is wrong, else 0; as `no`


def summary(rows: Sequence[Row]) -> dict[str, str]:
    """Return a row of the evidence's tables: who has learnt and speaks by halting, and when these halt. rows: runs."""
    learnt = [row for row in rows if clock.has_learnt(row)]
    speakers = [row for row in learnt if clock.speaks(row)]
    tests = [clock.at_own_length(row)["rules"]["threshold"] for row in speakers]
    fixed = [max(clock.at_own_length(row)["by_step"][: row["places"] - 1]) for row in speakers]
    return {
        "networks": str(len(rows)),
        "have learnt": str(len(learnt)),
        "speak": str(len(speakers)),
        "their steps": verdicts.span([one["steps"] for one in tests]),
        "halt before L": verdicts.span([one["early"] for one in tests], ".0%"),
        "right then": verdicts.span([one["right_early"] for one in tests], ".1%"),
        "best fixed step before L": verdicts.span(fixed, ".0%"),
    }


@style.slide
def news_of(differs: Sequence[Tensor], flipped: int) -> Figure:
    """Draw which answers change when the bit at a place (from 0) is flipped, and when news of it can be at each place.

    differs: of the network that keeps the law, and perhaps of one that breaks it, [steps, places] of bool each.
    """
    figure, axes = style.panels(len(differs), width=4.4 if len(differs) > 1 else 6.4, height=3.9, sharey=True)
    for ax, grid, whose in zip(axes, differs, ("", ", with gossip"), strict=False):
        style.steps_down(ax, grid, cmap=PALE, vmin=0, vmax=1)
        stairs(ax, [abs(i - flipped) + 1 for i in range(grid.shape[1])], label="light cone: news arrives")
        ax.set(title=f"bit {flipped + 1} is flipped{whose}", ylim=(len(grid) + 0.5, 0.5))
    axes[0].set_ylabel("step $n$")
    axes[0].fill_between([], [], color=style.SKY, label="logit has changed")
    return style.legend(figure, columns=2)


@style.slide
def think(
    model: PonderNet, task: Any, x: Tensor, titles: Sequence[str], cap: int, names: tuple[str, str]
) -> tuple[Figure, list[int]]:
    """Draw the answer of every place (1 is dark) at every step, wrong ones crossed, and return how late lines halt.

    A panel for each line of x, [lines, 2, places]. Inputs of at most 24 places stand above, the names of both rows
    before the first.
    """
    y, need = task.answers(x), task.needed_steps(x).cpu()
    y_hat = measures.think(model, x, cap).y_hat
    halts = model.predict(x, "threshold", q=LEVEL, max_steps=cap).steps.tolist()
    rows, places = min(cap, max(*halts, int(need.max())) + 3), x.shape[2]
    answers, wrong = y_hat[:rows].sigmoid().cpu(), ((y_hat > 0) != (y > 0.5))[:rows].cpu()
    width = min(4.8, 10 / len(x)) if len(x) > 1 else min(10, max(7.6, 3 + 0.3 * places))
    figure, axes = style.panels(len(x), width=width, height=4.6, sharey=len(x) > 1)
    for i, ax in enumerate(axes):
        step, place = np.nonzero(wrong[:, i].numpy())
        cross: dict[str, Any] = {"marker": "x", "color": style.WRONG, "linewidth": 1.7, "label": "wrong answer"}
        cross["path_effects"] = [withStroke(linewidth=3.4, foreground="white")]
        ax.scatter(place + 1, step + 1, s=42 if places < 40 else 10, **cross)
        style.steps_down(ax, answers[:, i], cmap="Blues", vmin=-0.1, vmax=1.6)
        stairs(ax, need[i], label="light cone: now the place can be sure")
        dashes: dict[str, Any] = {
            "color": style.HALTING,
            "linewidth": 3.2,
            "linestyle": "--",
            "label": "the line halts",
        }
        dashes["path_effects"] = [withStroke(linewidth=6.4, foreground="white")]
        ax.axhline(halts[i] + 0.5, **dashes)
        ax.set(xlim=(0.5, places + 0.5), ylim=(rows + 0.5, 0.5))
        ax.set_title(titles[i], pad=40 if places <= 24 else None)
        for name, up, digits in zip(names, (19, 3), x[i].tolist(), strict=True):
            if places <= 24 and i == 0:
                style.beside(ax, name, (0.5, 0.5), (-4, up), ha="right")
            if places <= 24:
                write_above(ax, digits, up, fontsize=16)
    axes[0].set_ylabel("step $n$")
    return style.legend(figure, columns=3), [step - L for step, L in zip(halts, need.amax(1).tolist(), strict=True)]


def in_words(late: Sequence[int]) -> str:
    """What the picture shows of halting, from the steps by which each line halts after L."""
    if min(late) < 0:
        return "A line halts before all of its places can be sure"
    words = [f"{n} step{'s' * (n != 1)} late" if n else "in time" for n in late]
    if words[0] == words[-1]:
        return f"Both lines halt {words[0]}"
    return f"The left line halts {words[0]}, the right one {words[-1]}"


def one_of_20_lines(model: PonderNet, line: int, places: int) -> Figure:
    """Draw what a network thinks of one of 20 random lines of so many places, in twice as many steps at most."""
    task, device = LineParityTask(places), next(model.parameters()).device
    x = task.batch(20, torch.Generator(device).manual_seed(3))[0][[line]]
    return think(model, task, x, [f"a line of {places} places"], 2 * places, ("bit", "reset"))[0]


def half_and_whole(model: PonderNet, task: LineParityTask, x: Tensor, cap: int) -> tuple[Figure, str]:
    """Draw what a network thinks of two of these lines, and say how late they halt.

    The lines are those whose need L is closest to half their places, and to all. x: [lines, 2, places].
    """
    places, need = x.shape[-1], task.needed_steps(x).amax(1)
    shown = x[[int((need - target).abs().argmin()) for target in (places // 2, places)]]
    half, whole = task.needed_steps(shown).amax(1).tolist()
    titles = [f"longest segment: half the line, $L$ = {half}", f"one segment: the whole line, $L$ = {whole}"]
    figure, late = think(model, task, shown, titles, cap, ("bit", "reset"))
    known = torch.arange(1, cap + 1)[:, None, None] >= task.needed_steps(shown).cpu()  # [N, 2, places]
    wrong = ((measures.think(model, shown, cap).y_hat > 0) != (task.answers(shown) > 0.5)).cpu()
    mistakes = "" if (wrong & known).any() else "Wrong only until the news arrives.\n"
    return figure, mistakes + in_words(late)


def _measured(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Return the needs that occurred among the lines, and what was measured there."""
    values = np.array(run, float)
    there = np.flatnonzero(~np.isnan(values))
    return there + 1, values[there]


def _above(runs: Sequence[Run], beyond: int = 0) -> list[float]:
    """Return the steps above the need of every run, where more than `beyond` are needed."""
    return [late for need, steps in map(_measured, runs) for late in (steps - need)[need > beyond]]


def long_enough(run: Run, border: int) -> bool:
    """Whether a run is nowhere a step too early beyond the border, and on average less than 3 too late."""
    late = _above([run], border)
    return min(late) > -1 and mean(late) < 3


def in_short(taken: Mapping[str, Sequence[tuple[Run, int]]], needs: Sequence[int], right: str) -> pd.DataFrame:
    """Return a row for each kind of network: the steps that it takes at some needs, and how many lines are right.

    taken: (steps by need, right lines) of each network; right: the name of the last column.
    """
    rows: dict[str, dict[str, str]] = {}
    for kind, networks in taken.items():
        rows[kind] = {}
        for L in needs:
            steps = [taking for run, _ in networks if (taking := run[L - 1]) is not None]
            rows[kind][f"steps at L = {L}"] = verdicts.span(steps, ".1f")
        rows[kind][right] = verdicts.span([n for _, n in networks], "d")
    return pd.DataFrame.from_dict(rows, orient="index")


@style.slide
def steps_against_need(runs: Sequence[Run], act: ByPrice, border: int) -> Figure:
    """Draw steps against the steps that are needed, a curve for each run.

    The diagonal is an oracle that is told L; below it the longest segment's end cannot know its answer. border: the
    longest need in training.
    """
    figure, (ax,) = style.panels(1, width=9.2, height=5.4)
    longest = max(map(len, runs))
    for run in runs:
        ax.plot(*_measured(run), color=style.PONDERNET, linewidth=3.4, alpha=0.95)
    n = np.arange(1, longest + 1)
    ax.plot(n, n, color=style.LIMIT, linewidth=1.2, zorder=2.5)
    ax.fill_between(n, 0, n, color="#EEEEEE", linewidth=0)
    bold: dict[str, Any] = {"ha": "right", "fontweight": "bold"}
    words = f"PonderNet, on\naverage {mean(_above(runs)):+.1f} steps"
    ax.text(0.82 * longest, 0.37 * longest, words, color=style.DARK_GREEN, **bold)
    ends: dict[str, float] = {}
    for (price, curves), dashes in zip(act.items(), ("--", ":"), strict=False):
        for run in curves:
            ax.plot(*_measured(run), color=style.ACT, linewidth=1.8, linestyle=dashes, zorder=1.9)
        if curves:
            ends[f"ACT, {price}"] = min(_measured(run)[1][-1] for run in curves)
    for label, y in zip(ends, style.apart([*ends.values()], 0.06 * longest), strict=True):
        ax.text(1.02 * longest, y, label, color=style.DARK_PURPLE, va="center", fontweight="bold")
    along: dict[str, Any] = {"rotation": 45, "rotation_mode": "anchor", "transform_rotates_text": True}
    ax.text(0.32 * longest, 0.23 * longest, "an oracle, told $L$", va="center", **along)
    ax.text(0.72 * longest, 0.16 * longest, "too early: the longest segment's\nend cannot know its answer", ha="center")
    ax.axvline(border + 0.5, color=style.GREY, linewidth=1.6, linestyle="--")
    ax.text(border, 1.03 * longest, "trained", color=style.DARK_GREY, ha="right")
    ax.text(border + 1.2, 1.03 * longest, "never seen in training", color=style.DARK_GREY)
    ax.set(xlabel="steps that the line needs, $L$", ylabel="steps that the network takes")
    ax.set(xlim=(1, longest), ylim=(0, 1.12 * ax.dataLim.y1))
    return figure


def first_at(curve: Line, level: float) -> int | None:
    """Return the first step, from 1, at which a curve reaches the level."""
    return next((n for n, value in enumerate(curve, 1) if value >= level), None)


@style.slide
def leaks(units: Sequence[Line], lambdas: Sequence[Line], need: int) -> Figure:
    """Draw what has been spent on one line by each step: ACT's sum, and PonderNet's probability of having halted.

    A curve for each network, thick for the first of each kind. A ring stands where it stops; there it ends. need: L.
    """
    figure, (ax,) = style.panels(1, width=8.4, height=4.2)
    act = [(added_up(curve), first_at(added_up(curve), BUDGET)) for curve in units]
    pondernet = [(halted_by(curve), first_at(curve, LEVEL)) for curve in lambdas]
    ring: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "markersize": 11, "markeredgewidth": 2}
    for networks, colour in ((act, style.ACT), (pondernet, style.PONDERNET)):
        for i, (spent, stop) in enumerate(networks):
            stop = stop or len(spent)
            ax.plot(range(1, stop + 1), spent[:stop], color=colour, linewidth=1.2 if i else 2.6)
            ax.plot(stop, spent[stop - 1], color=colour, **ring)
    ax.axvline(need, color=style.LIMIT, linewidth=2)
    style.beside(ax, f"$L$ = {need}", (need, 0.55), (-6, 0), ha="right")
    bold: dict[str, Any] = {"fontweight": "bold", "va": "center"}
    ax.text(2, 0.95, "ACT: spent of its budget", color=style.DARK_PURPLE, **bold)
    ax.text(0.5 * need, 0.08, "PonderNet: probability of having halted", color=style.DARK_GREEN, ha="center", **bold)
    ax.set(xlabel="step $n$", ylabel="up to this step", xlim=(1, need + 4), ylim=(-0.05, 1.1), yticks=(0, 0.5, 1))
    return figure


def added_up(units: Line) -> list[float]:
    """ACT's running sum, 1 at most."""
    return np.minimum(np.cumsum(units), 1.0).tolist()


def halted_by(lambdas: Line) -> list[float]:
    """PonderNet's probability of having halted by each step."""
    return (1 - np.cumprod(1 - np.array(lambdas))).tolist()


def when_they_stop(units: Line, lambdas: Line, need: int) -> str:
    """The finding: when ACT and PonderNet stop, and what PonderNet has spent a step before the news."""
    spent = halted_by(lambdas)[: need - 1]
    act, ponder = (first_at(added_up(units), BUDGET), first_at(lambdas, LEVEL))
    stops = (f"stops at step {step}" if step else "never stops" for step in (act, ponder))
    halted = f"Until step {need - 1} PonderNet has halted with a probability of {spent[-1]:.2f}"
    return f"ACT {next(stops)}, PonderNet {next(stops)}.\n{halted}"


class Bought(NamedTuple):
    """What halting buys in one test."""

    title: str
    curves: Sequence[Line]  # [runs, N] right if all stop at step n
    halting: Points  # (steps, right) of each run
    limits: Mapping[str, tuple[Line, Line]]  # "best clock" and "same step", at best: (steps, right); or none known
    end: float  # of the x axis

    def same(self) -> float:
        """What runs get right at the same step for all, at the mean steps of their halting; the mean over runs."""
        pairs = zip(self.curves, self.halting, strict=True)
        return mean(measures.same_for_all(curve, steps) for curve, (steps, _) in pairs)

    def gain(self) -> float:
        """What halting adds, in points of 100; the mean over runs."""
        return 100 * (mean(right for _, right in self.halting) - self.same())


def bought_on_lines(tests: Sequence[dict[int, Row]], places: int, rule: str) -> Bought:
    """Return what halting by a rule buys on lines of so many places. tests: of each network, as by `measured`."""
    probs = LineParityTask(places).best_probs(experiment.fresh(LineParityTask(places))[0], places)  # [steps, lines]
    same_step = range(1, places + 1), probs.mean(1).tolist()
    curves = [test[places]["by_step"] for test in tests if places in test]
    steps, right = (experiment.values(tests, places, rule, what) for what in ("steps", "right"))
    limits = {"best clock": measures.best_halting(probs), "same step": same_step}
    return Bought(f"{places} places", curves, list(zip(steps, right, strict=True)), limits, 1.3 * places)


def bought_on_digits(rows: Sequence[Row]) -> list[Bought]:
    """Return what the quantile rule buys these runs of lesson 04, if there are any."""
    halting = [row["rules"]["quantile"] for row in rows]
    same = [row["by_step_within"] for row in rows]
    return [Bought("digits (lesson 04)", same, halting, {}, 10)] if rows else []


def what_halting_buys(tests: Sequence[Bought]) -> str:
    """Return in a sentence what halting adds where needs are known, and elsewhere."""
    known = [test.gain() for test in tests if test.limits]
    others = [test.gain() for test in tests if not test.limits]
    if min(known) <= 0:
        return "Halting buys nothing here"
    points = " and ".join(sorted({f"{gain:.0f}" for gain in known}))
    sentence = f"Halting buys these networks {points} points on lines"
    for gain in others:
        sentence += ", nothing on digits" if abs(gain) < 0.5 else f", {gain:.0f} points on digits"
    return sentence


@style.slide
def bought(tests: Sequence[Bought]) -> Figure:
    """Draw right answers against mean steps; an arrow from the same step for all to halting."""
    figure, axes = style.panels(len(tests), width=3.3, height=3.8, sharey=True)
    for ax, test in zip(axes, tests, strict=True):
        n = range(1, len(test.curves[0]) + 1)
        style.lines(ax, n, test.curves, color=style.GREY, linewidth=1)
        for line, dashes in zip(test.limits.values(), "-:", strict=False):
            ax.plot(*line, color=style.LIMIT, linewidth=1.8, linestyle=dashes)
        x, y = np.transpose(test.halting)
        ax.scatter(x, y, s=60, color=style.HALTING, zorder=3)
        steps, right = np.mean(test.halting, axis=0)
        gain = test.gain()
        if gain > 2:
            arrow = {"arrowstyle": "-|>", "color": style.HALTING, "linewidth": 2.4}
            ax.annotate("", (steps, right - 0.02), (steps, test.same()), arrowprops=arrow)
        points = f"{gain:+.0f} points" if abs(gain) >= 0.5 else "0 points"
        ax.text(0.97 * test.end, 0.3, points, ha="right", fontweight="bold")
        ax.set(title=test.title, xlabel="mean steps", xlim=(0, test.end), ylim=(0, 1.25))
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    end = tests[0].end
    axes[0].text(0.02 * end, 1.09, "oracle", color=style.LIMIT, va="center")
    axes[0].text(0.44 * end, 0.64, "same step", color="#777777", va="center")
    dotted = (0.6 * end, np.interp(0.6 * end, *tests[0].limits["same step"]))
    looks: dict[str, Any] = {"ha": "right", "va": "center", "arrowprops": {"arrowstyle": "-", "linewidth": 0.8}}
    axes[0].annotate("bound, same step for all", dotted, (0.98 * end, 1.19), color=style.LIMIT, **looks)
    at = np.mean(tests[1].halting, axis=0)[0] + 0.04 * tests[1].end
    axes[1].text(at, 1.09, "halts by itself", color=style.DARK_ORANGE, va="center")
    style.percent_axis(axes[0], ylabel="right answers")
    return figure
