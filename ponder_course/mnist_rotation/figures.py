"""Figures of networks that think about images of digits."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ponder_course.common import style
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import BLACK, GREY, Line, Points, legend, look, marks, panels, slide, spread, step_axis
from ponder_course.common.verdicts import interval, span, verdict
from ponder_course.mnist_rotation import experiment

# The look of the first, second and third network of a figure: not in the red of what is wrong.
LOOKS = (0, 2, 3)


def look_of(name: str, position: int) -> int:
    """Return which look a network has, by its place in the figure: wrong answers and the early mean are red."""
    return 1 if name.startswith(("wrong", "early mean")) else LOOKS[position]


@slide
def flat_line(
    curves: Mapping[str, Sequence[Line]], own: Mapping[str, Points], fixed: Mapping[str, Points], live: int,
    chance: float,
) -> Figure:  # fmt: skip
    """Draw the accuracy if a network always stopped at step n, its name at the end of its line.

    curves: {network: [runs, N]}; the first `live` runs are darker. own and fixed: {network: (steps, accuracy) of each
    run} where it halts by itself, full marks, and where it was trained for that number of steps alone, hollow marks.
    """
    figure, (ax,) = panels(1, width=8.4, height=4.7)
    longest = max(len(runs[0]) for runs in curves.values())
    for which, (name, runs) in zip(LOOKS[: len(curves)], curves.items(), strict=True):
        n = step_axis(ax, len(runs[0]))
        spread(ax, list(n), runs, name, which, live)
        marks(ax, own[name], which, 60, full=True, zorder=4)
        if fixed.get(name):
            marks(ax, fixed[name], which, 90, zorder=4)
        at_the_edge = len(n) == longest
        x, y, side, height = (0, -12, "right", "top") if at_the_edge else (10, -4, "left", "center")
        end = (n[-1], np.mean(runs, axis=0)[-1])
        label, colour = str(ax.lines[-1].get_label()), look(which)["color"]
        ax.lines[-1].set_label("_named at its end")
        text = ax.annotate(label, end, (x, y), textcoords="offset points", ha=side, va=height)
        text.set(color=colour, fontweight="bold")
    ax.axhline(chance, color=BLACK, linestyle=":", linewidth=1.4)
    ax.annotate("a guess", (longest, chance), (0, 4), textcoords="offset points", ha="right")
    ax.scatter([], [], s=60, facecolor=GREY, edgecolor=GREY, label="full: left to itself")
    if any(map(len, fixed.values())):
        ax.scatter([], [], s=90, facecolor="none", edgecolor=GREY, label="hollow: trained for this many steps alone")
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.2))
    ax.set(xlabel="step after which it is stopped", ylabel="digits read correctly", ylim=(0, 1.04))
    ax.set(xlim=(0.5, longest + 0.5), yticks=np.linspace(0, 1, 6))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_xticks([1, *range(5, longest + 1, 5)])
    return figure


def at_each_step(rows: Mapping[str, Sequence[Row]], names: Mapping[str, str]) -> dict[str, list[Line]]:
    """Return {network's name: [runs, N]}: the accuracy if all stop at step n. rows: {kind: runs}."""
    return {name: [row["by_step"] for row in rows[kind]] for kind, name in names.items()}


def left_to_themselves(rows: Mapping[str, Sequence[Row]], names: Mapping[str, str]) -> dict[str, Points]:
    """Return the steps and accuracy of each run that halts by itself, on upright digits."""
    return {name: [(row["steps"][0], row["accuracy"][0]) for row in rows[kind]] for kind, name in names.items()}


def of_one_depth(stored: Sequence[Row], names: Mapping[str, str]) -> dict[str, Points]:
    """Return the steps and accuracy of the stored runs that were trained for this number of steps alone."""
    found: dict[str, Points] = {}
    for kind, name in names.items():
        fixed = [(n, row) for n in experiment.DEPTHS[kind] for row in matching(stored, **experiment.fixed(kind, n))]
        found[name] = [(n, row["accuracy"][0]) for n, row in fixed]
    return found


def what_the_flat_line_says(curves: Sequence[Line]) -> str:
    """Return in a sentence what the step changes of the CNN, from its runs, [runs, N]."""
    changes = [100 * (max(curve) - min(curve)) for curve in curves]
    if max(changes) < 1:
        return "Stop it after step 1 or after step 20: CNN first reads just as well"
    return f"CNN first: the step changes up to {max(changes):.1f} points"


def losses_at_step_1(by_step: Mapping[str, Sequence[Line]]) -> list[str]:
    """Return a line of text for each network: the points between its best step and step 1."""
    losses = {name: [100 * (max(curve) - curve[0]) for curve in curves] for name, curves in by_step.items()}
    return [f"  {name}: {span(points, '.1f')}" for name, points in losses.items()]


@slide
def over_angles(
    angles: Sequence[float], groups: Sequence[Mapping[str, Sequence[Line]]], labels: Sequence[str], border: float,
    live: int = 0, sharey: bool = False,
) -> Figure:  # fmt: skip
    """Draw numbers that depend on the angle, a panel for each group: {network: [runs, angles]}.

    Beyond the border all is grey; the first `live` runs of each network are darker; wrong answers are red.
    """
    figure, axes = panels(len(groups), width=4.2, height=3.6, sharey=sharey)
    for ax, group, label in zip(axes, groups, labels, strict=True):
        for position, (name, runs) in enumerate(group.items()):
            spread(ax, angles, runs, name, look_of(name, position), live)
        ax.axvspan(border, max(angles), color="#EEEEEE", zorder=0)
        ax.set(xlabel="turned by so many degrees", ylabel=label, xlim=(min(angles), max(angles)))
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 3, 4.5, 9, 10]))
    for ax in axes:  # when all are drawn: they may share their axis
        ax.set_ylim(bottom=0)
    return legend(figure, columns=2)


def by_angle(rows: Mapping[str, Sequence[Row]], names: Mapping[str, str]) -> list[dict[str, list[Line]]]:
    """Return the accuracy and the steps at every angle, {network's name: [runs, angles]} each. rows: {kind: runs}."""
    return [
        {name: [row[column] for row in rows[kind]] for kind, name in names.items()} for column in ("accuracy", "steps")
    ]


def what_the_angles_say(rows: Mapping[str, Sequence[Row]]) -> str:
    """Return in a sentence whether every run falls in accuracy and the mean steps stay, up to 90 degrees."""
    falls = min(row["accuracy"][0] - min(row["accuracy"]) for of_kind in rows.values() for row in of_kind)
    rises = max(np.mean(experiment.sideways(of_kind)) for of_kind in rows.values())
    if falls > 0.2 and rises <= 0:
        return "Up to 90 degrees accuracy falls, and the mean steps do not rise"
    return "Accuracy and steps, by angle"


def right_upright_and_sideways(rows: Mapping[str, Sequence[Row]], names: Mapping[str, str]) -> list[str]:
    """Return a line of text for each network at 0 and at 90 degrees: how many digits it reads."""
    places = [(kind, angle, experiment.ANGLES.index(angle)) for kind in names for angle in (0, 90)]
    right = [span([row["accuracy"][at] for row in rows[kind]], ".0%") for kind, _, at in places]
    return [
        f"{names[kind]}, {angle} degrees: {found} right" for (kind, angle, _), found in zip(places, right, strict=True)
    ]


class Difference(NamedTuple):
    """A row of `forest`. Without a group it is a heading."""

    label: str
    group: str = ""
    panels: Sequence[Line] = ()  # the values of each panel


@slide
def forest(
    rows: Sequence[Difference], x_labels: Sequence[str], groups: Sequence[str], left: str = "", right: str = ""
) -> Figure:
    """Draw differences, panel by panel: a mark for every run, the mean with its 95 % interval, and a line at 0.

    Each of the groups has its colour and mark, named below unless the rows name it. left and right say what a
    difference on that side of 0 means; in a single panel the verdict stands beside its row. Few rows are drawn larger.
    """
    few = len(rows) < 9
    width, height = (4.8 if len(x_labels) > 1 else 8.2 if few else 9.4), (0.68 if len(rows) < 6 else 0.36 + 0.12 * few)
    small, large = (50, 120) if few else (22, 62)  # marks
    figure, axes = panels(len(x_labels), width=width, height=1.7 + height * len(rows), sharex=True, sharey=True)
    looks = {group: look_of(group, position) for position, group in enumerate(groups)}
    colours = [look(looks[row.group])["color"] if row.group else BLACK for row in rows]
    for panel, (ax, x_label) in enumerate(zip(axes, x_labels, strict=True)):
        for y, (row, colour) in enumerate(zip(rows, colours, strict=True)):
            if not row.group or not len(row.panels[panel]):
                continue
            which, values = looks[row.group], row.panels[panel]
            marks(ax, [(value, y + 0.22) for value in values], which, small, zorder=2, alpha=0.7)
            mean, low, high = interval(values)
            ax.plot([low, high], [y - 0.08] * 2, color=colour, linewidth=3, zorder=3, solid_capstyle="butt")
            marks(ax, [(mean, y - 0.08)], which, large, full=True, zorder=4)
            if left and len(x_labels) == 1:
                found = verdict(values, what=(right, left)).partition(":")[0]
                ax.annotate(found, (1.02, y), xycoords=("axes fraction", "data"), va="center", color=colour)
        ax.axvline(0, color=BLACK, linewidth=1.2)
        ax.set(xlabel=x_label, ylim=(len(rows) - 0.4, -0.7))
        ax.grid(visible=False, axis="y")
        ax.xaxis.set_major_locator(MaxNLocator(5))
    axes[0].set_yticks(range(len(rows)), [row.label for row in rows])
    for text, row, colour in zip(axes[0].get_yticklabels(), rows, colours, strict=True):
        text.set(fontweight="normal" if row.group else "bold", color=colour)
    for group, which in looks.items():
        if any(row.group == group for row in rows):
            marks(axes[0], [], which, 62, full=True, label=group)
    for x, side, meaning in ((0.02, "left", left), (0.98, "right", right)):
        axes[0].annotate(meaning, (x, 1.01), ha=side, xycoords="axes fraction", color="#555555")
    named = all(row.label.startswith(row.group) for row in rows)
    return figure if named else legend(figure, columns=len(groups))


TRAINED_FOR = {"smoke": "a few seconds", "class": "two epochs or so", "paper": "20 epochs, and this session"}


def found_in(row: Difference) -> str:
    """Return the verdict on a row's first panel: "more", "fewer", "undecided" or "too few runs"."""
    return verdict(row.panels[0]).partition(":")[0]


def four_verdicts(trainings: Mapping[str, Mapping[str, Sequence[Row]]], names: Mapping[str, str]) -> list[Difference]:
    """Return steps sideways less upright: a row for each kind of network and training, {training: {kind: runs}}."""
    return [
        Difference(f"{name},\n{training}", name, [experiment.sideways(rows[kind])])
        for kind, name in names.items()
        for training, rows in trainings.items()
    ]


def longer_or_shorter(rows: Sequence[Difference]) -> str:
    """Return in a sentence what becomes of the CNN's change of steps, from the rows of its two trainings."""
    first, then = map(found_in, rows[:2])
    if first == "fewer" and then != "fewer":
        return "Longer or shorter? Train on, and the fall of CNN first is gone"
    return f"Longer or shorter? CNN first: {first}, then {then}"


def two_losses(short: Sequence[Row], long: Sequence[Row]) -> list[Difference]:
    """Return the write-ups' change of steps of the CNN by its loss, in stored runs of both lengths of training."""
    trainings = {"two epochs or so": short, "up to 20 epochs": long}
    early = [experiment.VARIANTS["loss of the batch"], experiment.LONG["loss of the batch, KL reversed"]]
    return [
        Difference(f"{loss},\n{training}", loss, [experiment.wider(matching(rows, **recipe))])
        for loss, recipes in {"loss of each digit": [experiment.CNN] * 2, "early mean": early}.items()
        for (training, rows), recipe in zip(trainings.items(), recipes, strict=True)
    ]


def what_the_losses_do(rows: Sequence[Difference]) -> str:
    """Return in a sentence whether the steps fall with the early mean alone."""
    each, early = (
        [found_in(row) for row in rows if row.group == loss] for loss in ("loss of each digit", "early mean")
    )
    if set(early) == {"fewer"} and set(each) != {"fewer"}:
        return "With the early mean the steps fall, however long it trains"
    return "The two losses cannot be told apart"


def bought_by_rules(trainings: Mapping[str, Sequence[Row]]) -> list[Difference]:
    """Return the points that halting by each rule adds to the patches, below a heading for each training."""
    found = []
    for training, rows in trainings.items():
        found.append(Difference(training))
        for rule in ("sample", "quantile", "most_probable"):
            points = [100 * gain for gain in experiment.gains(rows, rule)]
            found.append(Difference(f"patches, {rule.replace('_', ' ')}", "patches", [points]))
    return found


def what_rules_buy(rows: Sequence[Difference]) -> str:
    """Return in a sentence whether a rule beats the same number of steps for all."""
    if "more" in [found_in(row) for row in rows if row.group]:
        return "A rule beats the same number of steps for all"
    return "No rule beats the same number of steps for all"


def what_was_learnt(table: pd.DataFrame) -> str:
    """Return in a sentence whether all networks of a log read, and in several steps."""
    ends = table.groupby(["kind", "network"]).last()
    if ends["accuracy"].min() < 0.8 or ends["steps"].min() < 2:
        return "Not both have learnt to read in several steps"
    return "Both learn to read, and both take several steps"


@style.slide
def draw_learning(table: pd.DataFrame) -> Figure:
    """Draw logged accuracy and steps: a line for each network, and where its kind ends."""
    titles = {"accuracy": "right answers", "steps": "expected steps"}
    tops = {"accuracy": 1.1, "steps": 1.1 * table["steps"].max()}
    figure, axes = style.panels(len(titles), width=4.1, height=3.5)
    for ax, (column, title) in zip(axes, titles.items(), strict=True):
        last = table.groupby(["kind", "network"], sort=False).last().groupby("kind", sort=False)
        ends = last[column].agg(["mean", "min", "max"]).assign(update=last["update"].mean())
        for which, (kind, rows) in zip(LOOKS, table.groupby("kind", sort=False), strict=False):
            line = style.look(which, marker=None, linewidth=1.4)
            for _, network in rows.groupby("network"):
                ax.plot(network["update"], network[column], **line)
            mean, low, high, update = ends.loc[kind]
            number = f"{mean:.0%}" if mean <= 1 else f"{mean:.1f}"
            y, dy = (high, 4) if mean == ends["mean"].max() else (low, -4)
            text = ax.annotate(f"{kind}: {number}", (update, y), (8, dy), textcoords="offset points")
            text.set(color=line["color"], fontweight="bold", va="center")
        last_update = int(table["update"].max())
        ax.set(title=title, xlabel="update", xlim=(0, 1.85 * last_update), ylim=(0, tops[column]))
        ax.set_xticks([0, last_update // 2, last_update])
    axes[0].set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0%", "20%", "40%", "60%", "80%", "100%"])
    return figure


@style.slide
def draw_beside_prior(p: Mapping[str, Sequence[style.Line]], priors: Mapping[str, style.Line]) -> Figure:
    """Draw p_n of several networks and their mean, {kind: [networks, N]}, beside the prior, [N].

    The title of a panel says the mean steps of both.
    """
    figure, axes = style.panels(len(p), width=4.1, height=3.7, sharey=True)
    for ax, (kind, networks) in zip(axes, p.items(), strict=True):
        n, mean = style.step_axis(ax, len(priors[kind])), np.mean(networks, axis=0)
        title = f"{kind}: {n @ mean:.1f} steps\nprior: {n @ np.asarray(priors[kind]):.1f}"
        ax.bar(n, mean, color=style.HALTING, alpha=0.5, label="$p_n$, mean")
        for i, p_n in enumerate(networks):
            label = "$p_n$, each network" if i == 0 else None
            ax.plot(n, p_n, color=style.HALTING, linewidth=1, label=label)
        prior: dict[str, Any] = {"color": style.PRIOR, "marker": "o", "markersize": 4, "linestyle": ":"}
        ax.plot(n, priors[kind], **prior, label="$p_G(n)$, prior")
        ax.set(title=title, xlim=(0.3, len(n) + 0.7))
    axes[0].set_ylabel("probability to halt at $n$")
    return style.legend(figure, columns=3)


def how_near_the_prior(p: Mapping[str, Sequence[style.Line]], priors: Mapping[str, style.Line]) -> str:
    """Return in a sentence whether the CNN halts where its prior puts it, at half the patches' distance or less."""
    away = {name: np.abs(np.mean(p[name], axis=0) - priors[name]).sum() / 2 for name in p}  # total variation
    if 2 * away["CNN first"] < away["patches"]:
        return "CNN first halts about where its prior puts it"
    return "Neither network halts where its prior puts it"


Image = Sequence[style.Line]  # [height, width], 0 is paper


class Thought(NamedTuple):
    """What a network answers to one image at each step."""

    image: Image
    p: style.Line  # [N]
    answers: Sequence[int]  # [N]
    label: int  # the right answer
    caption: str


def _bars(ax: Axes, thought: Thought) -> None:
    p, right = np.asarray(thought.p), np.asarray(thought.answers) == thought.label
    n = style.step_axis(ax, len(p), xlim=(0.3, len(p) + 0.7))
    ax.bar(n[right], p[right], color=style.HALTING)
    ax.bar(n[~right], p[~right], color="white", edgecolor=style.HALTING, hatch="////")
    for step, p_n, answer, is_right in zip(n, p, thought.answers, right, strict=True):
        text = ax.annotate(str(answer), (step, p_n), (0, 2), textcoords="offset points")
        text.set(ha="center", color=style.ANSWER if is_right else style.WRONG)
        text.set(fontsize=14, fontweight="bold")
    ax.set_xticks(n[:: max(1, len(n) // 5)])
    ax.grid(visible=False)


@style.slide
def draw_thoughts(shown: Sequence[Thought]) -> Figure:
    """Draw images, and p_n below; on each bar stands the answer, and wrong bars are hatched."""
    count = len(shown)
    width = 2.05 if count > 2 else 4.4
    figure, axes = style.panels(2 * count, width, 1.95, rows=2, height_ratios=[3, 4])
    top = max(0.5, 1.3 * max(max(thought.p) for thought in shown))
    for above, below, thought in zip(axes[:count], axes[count:], shown, strict=True):
        above.imshow(np.asarray(thought.image), cmap="gray_r", vmin=0, vmax=1)
        above.set(xticks=[], yticks=[], xlabel=thought.caption)
        above.spines[:].set(visible=True, color="#BBBBBB")
        _bars(below, thought)
        below.set_ylim(0, top)
    axes[count].set_ylabel("$p_n$")
    return figure
