"""Figures of ways to stop: what they reach, and what they lose to whoever stops in time."""

import math
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from ponder_course.common import style, verdicts
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import (
    BLUE,
    DARK_GREY,
    DARK_ORANGE,
    GREEN,
    LIMIT,
    ORANGE,
    PURPLE,
    legend,
    look,
    panels,
    slide,
)
from ponder_course.light_cone import beating_the_clock as clock
from ponder_course.light_cone import figures as light_cone
from ponder_course.light_cone.experiment import whole_lines_right
from ponder_course.light_cone.local_stoppers import by_hand
from ponder_course.ways_to_stop import regret
from ponder_course.ways_to_stop.experiment import METHODS
from ponder_course.ways_to_stop.regret import Point, Regret, ThreeQuestions
from ponder_utils.pondernet import PonderNet
from ponder_utils.tasks.lines import LineParityTask

FAMILY = {"nothing": BLUE, "a price": ORANGE, "a prior": GREEN, "a judge": PURPLE}  # what training adds
WRITTEN = {ORANGE: DARK_ORANGE, PURPLE: "#A0447C"}  # letters of these colours: pale ones are hard to read
TICKS = (0, 1, 5, 20, 80)  # hundredths of an answer


def _shown(families: Mapping[str, str]) -> dict[str, str]:
    """Return the families by their names in FAMILY: METHODS say "nobody" (pays) where training adds nothing."""
    return {name: "nothing" if family == "nobody" else family for name, family in families.items()}


@slide
def tradeoffs(
    tests: Mapping[str, Mapping[str, Sequence[Sequence[Point]]]],
    families: Mapping[str, str],
    limits: Mapping[str, float],
    labels: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Right answers against mean steps, a panel for each test: a curve for each way to stop, over its parameter.

    tests: {title: {name: for each network [(right, steps) for each value of the parameter]}}; families: {name: what
    training adds}, for the colours; limits: {title: the mean need}: there stands the star of whoever is always right in
    time, behind the curves. labels: {name: points to the right and up} writes names beside the first points of their
    curves in the first panel, where there would be a legend.
    """
    families = _shown(families)
    figure, axes = panels(len(tests), width=10.0 / len(tests), height=4.4, sharey=True)
    for ax, (title, ways) in zip(axes, tests.items(), strict=True):
        drawn = dict.fromkeys(FAMILY, 0)
        for name, networks in ways.items():
            family = families[name]
            style = look(drawn[family], color=FAMILY[family], markersize=5, alpha=0.85)
            drawn[family] += 1
            for i, points in enumerate(networks):
                right, steps = zip(*sorted(points, key=lambda point: (point[1], point[0])), strict=True)
                ax.plot(steps, right, label=name if i == 0 else None, **style)
                if labels and name in labels and i == 0 and ax is axes[0]:
                    _beside(ax, name, (steps[0], right[0]), labels[name], FAMILY[family])
        if title in limits:
            star: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 1.4, "zorder": 1.5}
            size = 34 if labels else 24
            ax.plot(limits[title], 1.0, "*", color=LIMIT, markersize=size, label="the best clock", **star)
            if labels and ax is axes[0]:
                _beside(ax, "the best clock", (limits[title], 1.0), (-12, 24), LIMIT)
        ax.set(title=title, xlabel="mean steps", xlim=(0, None), ylim=(0, 1.15 if labels else 1.06))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("right answers")
    return figure if labels else legend(figure, columns=3)


def _beside(ax: Axes, text: str, point: tuple[float, float], offset: tuple[float, float], colour: str) -> None:
    """Write text beside a point; offset in points, to the right and up. A thin line leads to one that is far away."""
    side = "left" if offset[0] >= 0 else "right"
    lead = {"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 3}
    ax.annotate(text, point, offset, textcoords="offset points", ha=side, va="center",
                color=WRITTEN.get(colour, colour), arrowprops=lead if max(map(abs, offset)) > 12 else None)  # fmt: skip


@slide
def regrets(
    problems: Mapping[str, Mapping[str, Sequence[Regret]]], families: Mapping[str, str], cut: float | None = None
) -> Figure:
    """What each method loses to the best clock, in hundredths of an answer: dots at the means, which stand beside.

    A panel for each problem and a row for each method of the first, in its order. The axis, named once, is linear up to
    1, and logarithmic beyond. Rings: single runs. families: {method: what training adds}, for the colours, which a
    legend names where a family has several methods. What is more than `cut` is an arrow head at the edge.
    """
    families = _shown(families)
    rows = list(next(iter(problems.values())))
    height = 1.5 + (0.42 if len(rows) > 5 else 0.55) * len(rows)
    figure, axes = panels(len(problems), width=10.0 / len(problems), height=height, sharey=True)
    every = 100 * np.array([sum(regret) for panel in problems.values() for runs in panel.values() for regret in runs])
    high = max(1.0, *every) if cut is None else cut
    for ax, (title, methods) in zip(axes, problems.items(), strict=True):
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_title(title, pad=24)  # room for "best clock"
        ax.set_xlabel(" ")
        ax.set_xlim(min(0.0, *every) - 0.15, 1.4 * high)
        ax.set_xticks([tick for tick in TICKS if tick <= 1.4 * high], minor=False)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        ax.axvline(0, color=LIMIT, linewidth=1.4)
        ax.tick_params(axis="y", length=0)
        ax.text(1.02, -0.5, "mean", transform=ax.get_yaxis_transform(), va="bottom", color=DARK_GREY)
        for y, name in enumerate(rows):
            if methods.get(name):
                _draw_runs(ax, y, 100 * np.sum(methods[name], axis=1), FAMILY[families[name]], high)
    axes[0].text(0, -0.5, "best clock", ha="center", va="bottom", color=LIMIT)
    middle = axes[len(axes) // 2]
    middle.set_xlabel("regret, hundredths of an answer (stretched near 0)")
    middle.xaxis.label.set_x(0.5 if len(axes) % 2 else -0.1)  # in the middle of all panels
    middle.xaxis.label.set_in_layout(False)  # as wide as several panels
    axes[0].set(yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.5, -0.5))
    for label, name in zip(axes[0].get_yticklabels(), rows, strict=True):
        label.set_color(WRITTEN.get(FAMILY[families[name]], FAMILY[families[name]]))
    added = [families[name] for name in rows]
    if len(added) > len(set(added)):
        handles = [Patch(color=colour, label=what) for what, colour in FAMILY.items() if what in added]
        title = "what training adds to the loss of the answers:"
        figure.legend(handles=handles, loc="outside lower center", ncols=4, title=title, title_fontsize=13)
    return figure


def _draw_runs(ax: Axes, y: int, runs: np.ndarray, colour: str, high: float) -> None:
    """Draw one row of `regrets`. runs: [runs], the whole regret of each."""
    seen = runs[runs <= high]
    ax.plot(seen, np.full(len(seen), y), "o", color=colour, markerfacecolor="none", markersize=5, alpha=0.8)
    if len(seen) < len(runs):
        ax.plot(1.15 * high, y, ">", color=colour, markersize=6)
    ax.plot(min(runs.mean(), high), y, "o", color=colour, markersize=9)
    ax.text(1.02, y, f"{runs.mean():.1f}", transform=ax.get_yaxis_transform(), va="center",
            color=WRITTEN.get(colour, colour))  # fmt: skip


@style.slide
def draw_signals(
    kinds: Mapping[str, Sequence[style.Line]],
    needs: Mapping[str, int | None],
    stops: Mapping[str, float],
    colours: Mapping[str, str],
    looks_at: Mapping[str, str],
) -> Figure:
    """What each way to stop looks at, over the steps of the same lines: a panel for each way.

    kinds: {title: [lines, N]}; needs: {label of a line: the step at which it can first be known,
    None where it never is}; stops, colours, looks_at: {title: the level to stop at, the colour,
    the name of the y axis}. Where a line has no answer, each is named at its end.
    """
    rows = -(-len(kinds) // 2)
    named = None in needs.values()
    figure, axes = style.panels(
        len(kinds), width=4.3, height=2.9 if rows > 1 else 3.3, rows=rows, sharex=True, sharey=True
    )
    for ax, (title, curves) in zip(axes, kinds.items(), strict=True):
        written = WRITTEN.get(colours[title], colours[title])
        ax.set_title(title, color=written, pad=24)
        ax.set_ylabel(looks_at[title])
        for i, (curve, (label, need)) in enumerate(zip(curves, needs.items(), strict=True)):
            n = style.step_axis(ax, len(curve), xlabel="", ylim=(-0.03, 1.2 if named else 1.05))
            face = "none" if need is None else colours[title]
            dashes = "--" if need is None else "-"
            ax.plot(n, curve, marker=style.MARKERS[i], linestyle=dashes, color=colours[title],
                    markerfacecolor=face, markersize=4.5, linewidth=1.5, label=label)  # fmt: skip
            reached = [step for step in n if curve[step - 1] >= stops[title]]
            for step in reached[:1]:  # a ring: it stops here
                ax.plot(step, curve[step - 1], "o", color=written, markerfacecolor="none",
                        markersize=13, markeredgewidth=2)  # fmt: skip
            if named:
                name, up, va = (label, -6, "top") if need is None else ("an answer", 6, "bottom")
                ax.annotate(name, (n[-1], curve[-1]), (0, up), textcoords="offset points",
                            ha="right", va=va, color=written)  # fmt: skip
            if need is not None:
                ax.axvline(need, color=style.LIMIT, linewidth=1.4)
                ax.annotate(label, (need, ax.get_ylim()[1]), (0, 4), textcoords="offset points",
                            ha="center")  # fmt: skip
        ax.axhline(stops[title], color=style.DARK_GREY, linestyle="--", linewidth=1.2)
        ha = "right" if stops[title] < 0.5 else "left"  # where no curve is
        ax.annotate(f"stops at {stops[title]:g}", (int(ha == "right"), stops[title]),
                    (-3 if ha == "right" else 9, -3), xycoords=ax.get_yaxis_transform(),
                    textcoords="offset points", ha=ha, va="top", color=style.DARK_GREY)  # fmt: skip
        ax.set_yticks([0, 0.5, 1])
    for ax in axes[-2:]:
        ax.set_xlabel("step $n$")
    return figure


def of_lines(
    seen: Mapping[str, tuple[Tensor, float]], lines: Sequence[int]
) -> tuple[dict[str, list[list[float]]], dict[str, float]]:
    """Return what each way to stop looks at on some lines, [lines, N], and the level at which it stops.

    seen: {way: (what it looks at [N, lines], the level)}.
    """
    curves = {way: signal[:, list(lines)].T.tolist() for way, (signal, _) in seen.items()}
    return curves, {way: level for way, (_, level) in seen.items()}


def listed(names: Sequence[str]) -> str:
    """Return the names in one phrase: "a, b and c"."""
    return ", ".join([*names[:-2], " and ".join(names[-2:])])


def jump_in_time(kinds: dict, needs: dict, stops: dict) -> str:
    """The finding: which of them reach their level at the very step L, on all of these lines."""
    exact = []
    for kind, curves in kinds.items():
        reached = [[n for n, value in enumerate(curve, 1) if value >= stops[kind]] for curve in curves]
        if [steps[:1] for steps in reached] == [[need] for need in needs.values()]:
            who = kind.split("'")[0]
            exact.append(who if who in ("certainty", "PonderNet") else f"the {who}")
    names = listed(exact) or "none"
    verb = "reaches its level" if len(exact) < 2 else "reach their levels"
    return f"{names[0].upper()}{names[1:]} {verb} exactly at step $L$"


def bet_1a(late: Mapping[str, Sequence[float]]) -> str:
    """Who stops at L on how many lines, and who is furthest. late: {way: steps after L}."""
    called = {"budget": "the budget", "judge's yes": "the judge"}
    groups: dict[str, list[str]] = {}
    for way, steps in late.items():
        exact = mean(float(step == 0) for step in steps)
        lines = f"about {min(max(round(10 * exact), 1), 9)} of ten"
        lines = {0.0: "none", 1.0: "every line"}.get(exact, lines)
        groups.setdefault(lines, []).append(called.get(way, way))
    verb = "stop" if len(next(iter(groups.values()))) > 1 else "stops"
    parts = [f"{listed(ways)} on {lines}" for lines, ways in groups.items()]
    parts[0] = parts[0].replace(" on ", f" {verb} at $L$ on ", 1)
    away = {way: mean(abs(float(step)) for step in steps) for way, steps in late.items()}
    far = max(away, key=lambda way: away[way])
    return (f"**Bet 1 (a)**, at these levels: {', '.join(parts)}. Furthest from $L$ is "
            f"{called.get(far, far)}, by {away[far]:.1f} steps on average.")  # fmt: skip


LOOKS_AT = {
    "certainty": "the least sure place",
    "budget": r"sum of the $\lambda_n$",
    "PonderNet's head": r"$\lambda_n$",
    "judge's yes": "right by now?",
}


def who_stops(curves: list, level: float) -> str:
    """At which step the second line stops."""
    step = next((n for n, value in enumerate(curves[1], 1) if value >= level), None)
    return "never stops" if step is None else f"stops at step {step}"


def stops_without_an_answer(kinds: Mapping[str, list], stops: Mapping[str, float]) -> str:
    """The finding: at which step certainty, and PonderNet's head, stop a line that has no answer: the second."""
    certainty, head = (who_stops(curves, stops[kind]) for kind, curves in kinds.items())
    return f"No answer: certainty {certainty}, PonderNet's head {head}"


QUESTIONS = {
    "every line\nhas an answer": "lines",
    "three in ten\nhave none": "no answer",
    "only one place\nis asked": "one answer",
}


def kinds_of_question(stored: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    """Return the rows of each kind of question by the title of its panel; those of which there are any."""
    return {title: stored[kind] for title, kind in QUESTIONS.items() if stored[kind]}


def under(
    names: Mapping[str, str], found: Mapping[str, Mapping[str, list[Regret]]]
) -> tuple[dict[str, dict[str, list[Regret]]], dict[str, str]]:
    """Return the regrets of these methods under other names, {panel: {method: of each network}}, and what each pays.

    names: {a method of METHODS: its name in the figure}.
    """
    rows = {}
    for title, panel in found.items():
        rows[title] = {names[name]: panel[name] for name in names if name in panel}
    return rows, {names[name]: METHODS[name].pays for name in names}


FOUR = {
    "certainty (CALM)": "certainty",
    "ACT": "budget (ACT)",
    "PonderNet, threshold": "PonderNet's head",
    "judge of right and wrong (TRM)": "judge",
}


def worst_of_each(found: dict[str, dict]) -> dict[str, float]:
    """What each method loses, in hundredths, on the kind of question where it loses most."""
    worst = {}
    for name in next(iter(found.values())):
        worst[name] = 100 * max(mean(map(sum, panel[name])) for panel in found.values())
    return worst


def none_is_safe(found: dict[str, dict]) -> str:
    """The finding: whether one of the methods loses little on every kind of question."""
    loss, name = min((loss, name) for name, loss in worst_of_each(found).items())
    if loss < 1:
        return f"On none of these kinds of question\n{name} loses a hundredth of an answer"
    least = math.floor(loss)
    return f"None is safe: each loses more than {least} hundredths\non some kind of question"


def who_loses(found: dict[str, dict]) -> str:
    """The finding where one place is asked: which methods lose more than a hundredth of an answer."""
    badly = [name for name, loss in worst_of_each(found).items() if loss > 1]
    return f"Where one place is asked, {listed(badly)} lose\nmore than a hundredth of an answer"


def points(
    measured: Mapping[str, Mapping[str, Row]], ways: Mapping[str, tuple[str, str]], tests: Sequence[str]
) -> dict[str, dict[str, list[Sequence[Point]]]]:
    """Return what `tradeoffs` draws of one network each: {test: {way: [[(right, steps) for each value]]}}.

    measured: {what training adds: what `measure` of the experiment returned}; ways: {name: (what training adds, rule)}.
    """
    return {test: {name: [measured[who][test]["rules"][rule]] for name, (who, rule) in ways.items()} for test in tests}


def steps_to_be_right(ways: Mapping[str, Sequence[Sequence[Point]]], fraction: float = 0.99) -> str:
    """The finding: the fewest mean steps at which certainty, and the same step for all, are right on so many lines."""
    taken = {}
    for name in ("certainty", "same step for all"):
        enough = [steps for right, steps in ways[name][0] if right >= fraction]
        taken[name] = f"{min(enough):.1f} steps" if enough else "more steps than it has"
    return (
        f"{100 * fraction:.0f} % right: certainty takes {taken['certainty']}, "
        f"the same step for all {taken['same step for all']}"
    )


def on_worst_kind(found: dict[str, dict], name: str) -> list[float]:
    """Return the regrets of a method's networks, in hundredths, on the kind of question where it loses most."""
    return max(([100 * sum(loss) for loss in panel[name]] for panel in found.values()), key=mean)


def partly_lucky(chose: Sequence[float], fresh: Sequence[float]) -> str:
    """Say the moral of choosing. Regrets in hundredths of the networks that chose, and of others."""
    return (
        "**To take home:** the best of many settings is partly lucky, so ask fresh networks. On "
        f"its worst kind of question PonderNet's head lost {mean(chose):.1f} hundredths with the "
        f"{len(chose)} networks that chose its settings, and {mean(fresh):.1f} with {len(fresh)} "
        "fresh ones."
    )


def which_loses_least(asked: Mapping[str, ThreeQuestions]) -> str:
    """Say which family loses least if you know the kind of question, and what all lose with one setting for three."""
    for_each = {family: 100 * max(found.rule_for_each) for family, found in asked.items()}
    least = min(for_each, key=lambda family: for_each[family])
    worst = min(100 * max(found.one_setting) for found in asked.values())
    return (
        f"*If you know the kind of question,* **{least}** lose least: at most "
        f"{for_each[least]:.2f} hundredths. *If one setting must do for all three,* what each "
        f"family chose loses {worst:.2f} or more on one of them."
    )


def seemed_best(asked: Mapping[str, ThreeQuestions], choosing: Mapping[str, Sequence[Row]], price: float) -> str:
    """Say which family seemed the best to the networks by which the settings were chosen: `choosing`, by problem."""
    losses = {
        family: 100 * max(regret.mean_regrets(choosing, found.setting, "16 places", price))
        for family, found in asked.items()
    }
    seemed = min(losses, key=lambda family: losses[family])
    return f"With the networks that chose the settings, the best was **{seemed}**: at most {losses[seemed]:.2f}."


class Halts(NamedTuple):
    """When a network halts each line of one segment by itself, and what it would reach at a fixed step."""

    steps: Tensor  # [lines]
    right: Tensor  # [lines]: 1 where the whole line is right then, else 0
    early: Tensor  # bool [lines]: before step L
    fixed: float  # the largest fraction of right lines at a fixed step before L
    agreed: int  # from this step on, of those before L, exactly the right lines meet no objection
    need: int  # L

    @property
    def accuracy(self) -> float:
        """The fraction of lines that are right when they halt."""
        return self.right.mean().item()

    @property
    def stopped(self) -> tuple[int, int]:
        """How many lines halt early, and how many of those are right."""
        return int(self.early.sum()), int(self.right[self.early].sum())


@torch.no_grad()
def halts_of(model: PonderNet, x: Tensor, q: float = 0.2) -> Halts:
    """Return when the network halts each line x [lines, 2, L], all of one segment, at a halting probability of q."""
    y, L = LineParityTask.answers(x), x.shape[2]
    output, by_itself = model(x), model.predict(x, "threshold", q=q)
    right = whole_lines_right(output.y_hat, y)  # [N, lines]
    quiet = output.halt_logits.sigmoid() >= q  # [N, lines]: nobody objects
    return Halts(
        steps=by_itself.steps,
        right=whole_lines_right(by_itself.y_hat, y).float(),
        early=by_itself.steps < L,
        fixed=right.float().mean(1)[: L - 1].max().item(),
        agreed=agree_since(quiet[: L - 1], right[: L - 1]),
        need=L,
    )


def halts_in_words(halts: Halts) -> str:
    """Say how right a network is at the best fixed step before L, and by itself; and what it does before L."""
    early, right = halts.stopped
    return (
        f"best fixed step before {halts.need}: right {halts.fixed:.0%}. By itself: right "
        f"{halts.accuracy:.0%} after {halts.steps.float().mean():.2f} steps; "
        f"{early} of {len(halts.steps)} lines halt early, {right} of them right."
    )


def guess(early: Tensor, bits: Tensor) -> str:
    """Say what is true of all lines that halt early, and of no other. [lines] and [lines, L]."""
    for k in range(1, bits.shape[1]):
        parity = bits[:, :k].sum(1) % 2
        for value in (0, 1):
            if torch.equal(early, parity == value):
                if k == 1:
                    return f"its first bit is {value}"
                return f"its first {k} bits have an {('even', 'odd')[value]} sum"
    return ""


def agree_since(quiet: Tensor, correct: Tensor) -> int:
    """Return from which step on exactly the right lines meet no objection. Both [steps, lines]."""
    same = (quiet == correct).all(1).tolist()
    return max((n for n, equal in enumerate(same, 1) if not equal), default=0) + 1


def bet_2(stopped: Sequence[tuple[int, int]], n_lines: int) -> str:
    """Say what networks do before step L. stopped: (lines that halt, those of them right) of each."""
    halts, correct = ([str(pair[i]) for pair in stopped] for i in (0, 1))
    right_on = "all of these" if halts == correct else f"{' and '.join(correct)} of these"
    return (f"**Bet 2:** before step $L$ the two networks stop {' and '.join(halts)} of the "
            f"{n_lines} lines, and are right on {right_on}.")  # fmt: skip


@torch.no_grad()
def line_and_twin(
    model: PonderNet, x: Tensor, halts: Halts, q: float = 0.2
) -> tuple[list[light_cone.Votes], bool, Tensor]:
    """Return three lines, whether the first two are right when they halt, and which places are right [N, 3, L].

    The lines: of those that halt early the one that halts last; its twin, whose first bit is flipped; and of those that
    are right the one that halts first. x and halts as in `halts_of`.
    """
    latest = int(halts.steps.where(halts.early, 0).argmax())
    earliest = int((halts.steps + halts.need * (1 - halts.right)).argmin())
    shown = torch.cat([x[[latest]], clock.first_bit_turned(x[[latest]]), x[[earliest]]])
    y = LineParityTask.answers(shown)
    no = 1 - clock.votes(model.step, shown, halts.need + 1).sigmoid()  # [steps, 3, L]
    ends = model.predict(shown, "threshold", q=q)
    lines = []
    for i, bits in enumerate(shown[:, 0].int().tolist()):
        line = light_cone.Votes(no[:, i].tolist(), bits, int(ends.steps[i]), halts.need, "")
        lines.append(line._replace(title=f"first bit {bits[0]}: {outcome(line)}"))
    correct = bool(whole_lines_right(ends.y_hat, y)[:2].all())
    return lines, correct, (model(shown).y_hat > 0) == (y > 0.5)


NO = LinearSegmentedColormap.from_list("no", ["#FFFFFF", "#444444"])


@style.slide
def draw_message(lines: Sequence[light_cone.Votes]) -> Figure:
    """Who votes no, until a line halts: a panel for each line, with the bits above.

    The black line of L and the dashes stand above the row of their step; hatched is what comes
    after the line has halted. Bits unlike those of the first line are bold.
    """
    figure, axes = style.panels(len(lines), width=min(4.5, 10.0 / len(lines)), height=4.2)
    for ax, line in zip(axes, lines, strict=True):
        draw_votes(ax, line, lines[0].bits)
    axes[0].set_ylabel("step $n$")
    after = Patch(facecolor="none", edgecolor="#BBBBBB", hatch="//", linewidth=0)
    halts = Line2D([], [], color=style.GREEN, linewidth=4, linestyle="--")
    can_know = Line2D([], [], color=style.LIMIT, linewidth=2.4)
    key = {"dark: votes no": Patch(color="#444444"), "it halts": halts,
           "step $L$": can_know, "after the halt": after}  # fmt: skip
    figure.legend(key.values(), key.keys(), loc="outside lower center", ncols=len(axes) * 2)
    return figure


def draw_votes(ax: Axes, line: light_cone.Votes, first_bits: Sequence[int]) -> None:
    """One line of draw_message."""
    end, middle = len(line.bits) + 0.5, len(line.bits) / 2 + 0.5
    extent = (0.5, end, line.halts + 0.5, 0.5)
    ax.imshow(line.no[: line.halts], extent=extent, aspect="auto", cmap=NO, vmin=0, vmax=1)
    ax.set(xlabel="place", xlim=(0.5, end), ylim=(len(line.no) + 0.5, 0.5))
    ax.set_title(line.title, pad=24)
    ax.axhspan(line.halts + 0.5, len(line.no) + 0.5, facecolor="none", edgecolor="#BBBBBB",
               hatch="//", linewidth=0)  # fmt: skip
    ax.axhline(line.need - 0.5, color=style.LIMIT, linewidth=2.4)
    ax.axhline(line.halts - 0.5, color=style.GREEN, linewidth=4, linestyle="--")
    centred: dict[str, Any] = {"ha": "center", "va": "center"}
    in_time = " = $L$" * (line.halts == line.need)
    ax.text(middle, line.halts, f"halts at {line.halts}{in_time}", weight="bold", **centred)
    if not in_time:
        white = {"facecolor": "white", "edgecolor": "none", "pad": 2}
        ax.text(middle, line.need, f"$L$ = {line.need}", bbox=white, **centred)
    for place, (bit, other) in enumerate(zip(line.bits, first_bits, strict=True), start=1):
        ax.annotate(f"{bit}", (place, 0.5), (0, 4), textcoords="offset points", ha="center",
                    weight="bold" if bit != other else "normal")  # fmt: skip
    ax.grid(visible=False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=3))


def lacking(bits: Sequence[int], halts: int) -> str:
    """What places lack when a line halts and is right, if all of that is odd, or all even."""
    sums = [sum(bits[:k]) % 2 for k in range(1, len(bits) - halts + 1)]
    if len(sums) < 2 or len({*sums}) > 1:
        return ""
    who = [f"place {halts + k} the first {k}" for k in range(2, len(sums) + 1)]
    unheard = ", ".join([f"place {halts + 1} has not heard the first bit", *who])
    return (f"Step {halts}: {unheard}. Each assumes that what it lacks sums to an "
            f"{('even', 'odd')[sums[0]]} number. Here it does, so nobody objects.")  # fmt: skip


def in_words(lines: Sequence[light_cone.Votes]) -> str:
    """What becomes of a line and of its twin, whose first bit is flipped."""
    line, twin = lines
    if line.halts >= line.need:
        return "No line of the network drawn halts early."
    no = [f"{place}" for place, vote in enumerate(twin.no[line.halts - 1], 1) if vote > 0.8]
    if twin.halts <= line.halts or not no:
        return ""
    objects = f"place {no[0]}, which has heard the first bit, is the only one to object, and holds"
    if len(no) > 1:
        objects = f"places {' and '.join(no)}, which have heard the first bit, object, and hold"
    return f"Right panel, step {line.halts}: {objects} up the whole line."


def not_before(line: light_cone.Votes, right: Sequence[Sequence[bool]]) -> str:
    """Why a line does not halt a step before. right: at each step, the answer of each place."""
    step = line.halts - 1
    if step < 1:
        return ""
    wrong = [f"{place}" for place, correct in enumerate(right[step - 1], 1) if not correct]
    no = [f"{place}" for place, vote in enumerate(line.no[step - 1], 1) if vote > 0.8]
    if not wrong or not no:
        return ""
    guess = f"place{'s' * (len(wrong) > 1)} {listed(wrong)} still guess{'es' * (len(wrong) == 1)}"
    objects = f"place{'s' * (len(no) > 1)} {listed(no)} object{'s' * (len(no) == 1)}"
    return f"Section 6, left panel, step {step}: {guess} wrong, and {objects}."


def outcome(line: light_cone.Votes) -> str:
    """How early a line halts."""
    away = abs(line.need - line.halts)
    steps = f"{away} step{'s' * (away != 1)}"
    if line.halts == line.need:
        return "in time"
    return f"{steps} early" if line.halts < line.need else f"{steps} late"


def finding(lines: Sequence[light_cone.Votes], correct: bool) -> str:
    """When a line and its twin halt, and whether both are right then."""
    line, twin = lines
    halts = f"First bit {line.bits[0]}: it halts at step {line.halts}. "
    halts += f"First bit {twin.bits[0]}: at step {twin.halts}"
    return halts + ". Both are right" * correct


def speaking(rows: list[dict]) -> str:
    """How many of these networks, of those that have learnt, halt early and right."""
    learnt = [row for row in rows if clock.has_learnt(row)]
    return f"{sum(map(clock.speaks, learnt))} of {len(learnt)}"


def halt_early_and_right(rows: list[dict]) -> str:
    """Say how many stored networks do as those drawn, on lines as short. rows: of all lengths."""
    short = speaking([row for row in rows if row["places"] <= 8])
    return f"Of the stored networks that have learnt lines of 4, 6 or 8 places, {short} halt early and right."


def no_objection(agreed: Sequence[int], L: int) -> str:
    """Say, a line for each network, from which step on exactly the right lines meet no objection, if before L - 1."""
    lines = ""
    for network, since in enumerate(agreed, 1):
        if since < L - 1:
            lines += f"network {network}: at steps {since} to {L - 1} a line meets no objection "
            lines += "exactly if all its answers are right\n"
    return lines


def early_by_length(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Return for each length L how many stored networks have learnt, and how many halt early and right, and when."""
    table = {}
    for length in sorted({row["places"] for row in rows}):
        here = matching(rows, places=length)
        learnt = [row for row in here if clock.has_learnt(row)]
        speak = [clock.at_own_length(row)["rules"]["threshold"] for row in learnt if clock.speaks(row)]
        table[f"L = {length}"] = {
            "stored networks": len(here),
            "have learnt": len(learnt),
            "halt early and right": len(speak),
            "after steps": verdicts.span([found["steps"] for found in speak]),
        }
    return table


def by_hand_in_words(x: Tensor, y: Tensor, N: int, need: Tensor) -> str:
    """Say how right the three local rules of lesson 05 are on lines x [lines, 2, L], y [lines, L], and when they stop.

    need: the step L of each line.
    """
    stopper = by_hand(x, N)
    answers = stopper.answers[stopper.steps - 1, torch.arange(len(x))]
    right = (answers == (y > 0.5)).all(1).float().mean()
    return (
        f"by hand: right {right:.1%} after {stopper.steps.float().mean():.2f} steps; "
        f"the best clock takes {need.float().mean():.2f}"
    )


def votes_that_travel(rows: list[dict]) -> str:
    """Say how many networks halt early and right whose votes travel one place a step."""
    return f"where votes must travel, one place a step: {speaking(rows)} halt early and right"


NINE = {
    "the same step for all": "same step for all",
    "patience (PABEE)": "patience (PABEE)",
    "rest (Huginn)": "rest (Huginn)",
    "certainty or rest": "certainty or rest",
    "progressive (Deep Thinking), certainty": "progressive, certainty",
    "PonderNet, sampled": "coin, tossed",
    "PonderNet, quantile (PALBERT)": "quantile (PALBERT)",
    "uniform prior, quantile (Ouro)": "uniform prior (Ouro)",
    "judge of the gain (Ouro, 2nd stage)": "gain (Ouro)",
}


FIVE = {**FOUR, "the same step for all": "same step for all"}


def behind(name: str, panel: dict[str, list]) -> float:
    """How far a method is behind the best of its panel, in hundredths."""
    losses_of = {other: 100 * mean(map(sum, runs)) for other, runs in panel.items()}
    return losses_of[name] - min(losses_of.values())


def same_step_behind(found: dict[str, dict]) -> str:
    """The finding: how far the same step for all is behind the best, on lines and on 8 elements."""
    lines, elements = (behind("same step for all", panel) for panel in found.values())
    return f"The same step for all: {lines:.1f} behind the best on lines,\n{elements:.1f} on 8 elements"


@style.slide
def draw_judges(judges: Sequence[Mapping[str, Sequence[float | None]]]) -> Figure:
    """Draw "yes" and "right" of each network against the number of open places, with 2^-k, on a
    logarithmic axis.
    """
    figure, (ax,) = style.panels(1, width=7.4, height=4.4)
    n_open = np.arange(len(judges[0]["yes"]))
    for i, run in enumerate(judges):
        yes, right = (np.array(run[name], float) for name in ("yes", "right"))
        ax.plot(
            n_open,
            yes,
            color=style.PURPLE,
            linewidth=1.1,
            label="the judge's yes" if i == 0 else None,
        )
        ax.plot(n_open, right, "o", color=style.GREY, markersize=4, label="right" if i == 0 else None)
    ax.plot(n_open, 0.5**n_open, color=style.BLACK, linestyle=":", label="a coin for every open place")
    ax.set_yscale("log", base=2)
    ax.set(xlabel="open places", ylabel="probability")
    ax.legend()
    return figure
