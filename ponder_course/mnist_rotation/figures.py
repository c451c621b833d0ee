"""Figures of networks that think about images of digits."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from ponder_course.common import style
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import Line, legend, lines, look, marks, panels, slide, spread, step_axis
from ponder_course.common.verdicts import interval, span, verdict
from ponder_course.mnist_rotation import experiment

Runs = Mapping[str, Sequence[Row]]  # {network: runs}, which `experiment.measure` has measured
# The look of networks, and of groups of their runs or answers; red is what is wrong.
LOOKS = {"CNN first": 0, "patches": 2, "right answers": 0, "wrong answers": 1}
LOOKS |= {"loss of each digit": 0, "early mean": 1, "loss of the batch": 3}


def column(rows: Runs, name: str) -> dict[str, list[Line]]:
    """Return what was measured of every run under this name, {network: [runs, ...]}."""
    return {network: [row[name] for row in of_network] for network, of_network in rows.items()}


@slide
def learning(logs: Mapping[str, Sequence[Sequence[Row]]]) -> Figure:
    """Draw the accuracy and the steps in the logs of each network, {network: [runs, evaluations]}, and where they end.

    A line for each run; the number beside the lines is the mean of their ends.
    """
    looks = {network: look(LOOKS[network], marker=None, linewidth=1.4) for network in logs}
    figure, last = style.learning(logs, lambda network, _: looks[network])
    axes = figure.axes
    for ax, name, form in zip(axes, ("accuracy", "steps"), (".0%", ".1f"), strict=True):
        ends = {network: [log[-1][name] for log in runs] for network, runs in logs.items()}
        highest = max(map(mean, ends.values()))
        for network, runs in logs.items():
            end = mean(ends[network])
            y, up = (max(ends[network]), 4) if end == highest else (min(ends[network]), -4)
            place = mean(log[-1]["update"] for log in runs), y
            text = f"{network}: {end:{form}}"
            style.beside(ax, text, place, (8, up), va="center", color=looks[network]["color"], fontweight="bold")
        ax.set_xlim(0, 1.85 * last)
    style.percent_axis(axes[0], ylim=(0, 1.1))
    axes[1].set_ylim(0, 1.1 * max(row["steps"] for runs in logs.values() for log in runs for row in log))
    return figure


def what_was_learnt(logs: Mapping[str, Sequence[Sequence[Row]]]) -> str:
    """Return in a sentence whether all networks read in the end, and in several steps."""
    ends = [log[-1] for runs in logs.values() for log in runs]
    if all(end["accuracy"] >= 0.8 and end["steps"] >= 2 for end in ends):
        return "Both learn to read, and both take several steps"
    return "Not both have learnt to read in several steps"


@slide
def flat_line(rows: Runs, fixed: Runs, live: int = 0) -> Figure:
    """Draw the accuracy if a network always stopped at step n, its name at the end of its line.

    The first `live` runs are darker. Full marks: where a run halts by itself; hollow ones: what runs reach that were
    trained for N steps alone, `fixed`.
    """
    figure, (ax,) = panels(1, width=8.4, height=4.7)
    curves = column(rows, "by_step")
    longest = max(len(runs[0]) for runs in curves.values())
    for name, runs in curves.items():
        n, which = step_axis(ax, len(runs[0])), LOOKS[name]
        spread(ax, list(n), runs, name, which, live)
        line, end = ax.lines[-1], (n[-1], np.mean(runs, axis=0)[-1])
        marks(ax, [(row["steps"][0], row["accuracy"][0]) for row in rows[name]], which, 60, full=True, zorder=4)
        marks(ax, [(row["N"], row["accuracy"][0]) for row in fixed[name]], which, 90, zorder=4)
        away, side, height = ((0, -12), "right", "top") if len(n) == longest else ((10, -4), "left", "center")
        bold: dict[str, Any] = {"color": line.get_color(), "fontweight": "bold"}
        style.beside(ax, str(line.get_label()), end, away, ha=side, va=height, **bold)
        line.set_label("_named at its end")
    ax.axhline(0.1, color=style.BLACK, linestyle=":", linewidth=1.4)
    style.beside(ax, "a guess", (longest, 0.1), (0, 4), ha="right")
    ax.scatter([], [], s=60, color=style.GREY, label="full: left to itself")
    if any(fixed.values()):
        ax.scatter([], [], s=90, fc="none", ec=style.GREY, label="hollow: trained for this many steps alone")
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.2))
    ax.set(xlabel="step after which it is stopped", xlim=(0.5, longest + 0.5), xticks=[1, *range(5, longest + 1, 5)])
    style.percent_axis(ax, ylabel="digits read correctly", ylim=(0, 1.04))
    return figure


def what_the_flat_line_says(curves: Sequence[Line]) -> str:
    """Return in a sentence what the step changes of the CNN, from its runs, [runs, N]."""
    change = max(100 * (max(curve) - min(curve)) for curve in curves)
    if change < 1:
        return "Stop it after step 1 or after step 20: CNN first reads just as well"
    return f"CNN first: the step changes up to {change:.1f} points"


def losses_at_step_1(curves: Sequence[Line]) -> str:
    """Return the points between the best step and step 1 of some runs, [runs, N], such as "0.0 to 0.2"."""
    return span([100 * (max(curve) - curve[0]) for curve in curves], ".1f")


@slide
def beside_prior(p: Mapping[str, Sequence[Line]], priors: Mapping[str, Line]) -> Figure:
    """Draw p_n of several networks and their mean, {kind: [networks, N]}, beside the prior, [N].

    The title of a panel says the mean steps of both.
    """
    figure, axes = panels(len(p), width=4.1, height=3.7, sharey=True)
    for ax, (kind, networks) in zip(axes, p.items(), strict=True):
        n, average = step_axis(ax, len(priors[kind])), np.mean(networks, axis=0)
        ax.bar(n, average, color=style.HALTING, alpha=0.5, label="$p_n$, mean")
        lines(ax, list(n), networks, "$p_n$, each network", color=style.HALTING, linewidth=1)
        ax.plot(n, priors[kind], **look(0, color=style.PRIOR, markersize=4, linestyle=":"), label="$p_G(n)$, prior")
        title = f"{kind}: {n @ average:.1f} steps\nprior: {n @ np.asarray(priors[kind]):.1f}"
        ax.set(title=title, xlim=(0.3, len(n) + 0.7))
    axes[0].set_ylabel("probability to halt at $n$")
    return legend(figure, columns=3)


def how_near_the_prior(p: Mapping[str, Sequence[Line]], priors: Mapping[str, Line]) -> str:
    """Return in a sentence whether the CNN halts where its prior puts it, at half the patches' distance or less."""
    away = {name: np.abs(np.mean(p[name], axis=0) - priors[name]).sum() / 2 for name in p}  # total variation
    if 2 * away["CNN first"] < away["patches"]:
        return "CNN first halts about where its prior puts it"
    return "Neither network halts where its prior puts it"


class Difference(NamedTuple):
    """A row of `forest`. Without a group it is a heading."""

    label: str
    group: str = ""
    panels: Sequence[Line] = ()  # the values of each panel


def word(changes: Sequence[float], what: tuple[str, str] = ("more", "fewer")) -> str:
    """Return the verdict on changes, without its numbers: "more", "fewer", "undecided" or "too few runs"."""
    return verdict(changes, what=what).partition(":")[0]


@slide
def forest(rows: Sequence[Difference], x_labels: Sequence[str], left: str = "", right: str = "") -> Figure:
    """Draw differences, panel by panel: a mark for every run, the mean with its 95 % interval, and a line at 0.

    left and right say what a difference on that side of 0 means; in a single panel the verdict stands beside its row.
    Few rows are drawn larger.
    """
    few = len(rows) < 9
    width, height = (4.8 if len(x_labels) > 1 else 8.2 if few else 9.4), (0.68 if len(rows) < 6 else 0.36 + 0.12 * few)
    small, large = (50, 120) if few else (22, 62)  # marks
    figure, axes = panels(len(x_labels), width=width, height=1.7 + height * len(rows), sharex=True, sharey=True)
    axes[0].set_yticks(range(len(rows)), [row.label for row in rows])
    for y, (row, label) in enumerate(zip(rows, axes[0].get_yticklabels(), strict=True)):
        if not row.group:
            label.set_fontweight("bold")
            continue
        which = LOOKS[row.group]
        colour = look(which)["color"]
        label.set_color(colour)
        for ax, values in zip(axes, row.panels, strict=True):
            if not len(values):
                continue
            marks(ax, [(value, y + 0.22) for value in values], which, small, zorder=2, alpha=0.7)
            middle, low, high = interval(values)
            ax.plot([low, high], [y - 0.08] * 2, color=colour, linewidth=3, zorder=3, solid_capstyle="butt")
            marks(ax, [(middle, y - 0.08)], which, large, full=True, zorder=4)
            if left and len(axes) == 1:
                found = word(values, (right, left))
                ax.annotate(found, (1.02, y), xycoords=("axes fraction", "data"), va="center", color=colour)
    for ax, x_label in zip(axes, x_labels, strict=True):
        ax.axvline(0, color=style.BLACK, linewidth=1.2)
        ax.set(xlabel=x_label, ylim=(len(rows) - 0.4, -0.7))
        ax.grid(visible=False, axis="y")
        ax.xaxis.set_major_locator(MaxNLocator(5))
    for x, side, meaning in ((0.02, "left", left), (0.98, "right", right)):
        axes[0].annotate(meaning, (x, 1.01), ha=side, xycoords="axes fraction", color="#555555")
    return figure


TRAINED_FOR = {"smoke": "a few seconds", "class": "two epochs or so", "paper": "20 epochs, and this session"}


def four_verdicts(first: str, rows: Runs, long: Runs) -> list[Difference]:
    """Return the steps that turning by 90 degrees adds, a row for each network and training; first: how long it was."""
    found = []
    for name, runs in rows.items():
        found.append(Difference(f"{name},\n{first}", name, [experiment.turning_adds(runs)]))
        found.append(Difference(f"{name},\nup to 20 epochs", name, [experiment.turning_adds(long[name])]))
    return found


def longer_or_shorter(rows: Sequence[Difference]) -> str:
    """Return in a sentence what becomes of the CNN's change of steps, from the rows of its two trainings."""
    first, then = [word(row.panels[0]) for row in rows[:2]]
    if first == "fewer" and then != "fewer":
        return "Longer or shorter? Train on, and the fall of CNN first is gone"
    return f"Longer or shorter? CNN first: {first}, then {then}"


@slide
def over_angles(
    groups: Sequence[Mapping[str, Sequence[Line]]], labels: Sequence[str], live: int = 0, sharey: bool = False
) -> Figure:
    """Draw numbers that depend on the angle, a panel for each group: {network: [runs, ANGLES]}.

    Beyond the angles of training all is grey; the first `live` runs of each network are darker.
    """
    figure, axes = panels(len(groups), width=4.2, height=3.6, sharey=sharey)
    angles = experiment.ANGLES
    for ax, group, label in zip(axes, groups, labels, strict=True):
        for name, runs in group.items():
            spread(ax, angles, runs, name, LOOKS[name], live)
        ax.axvspan(experiment.RANGES[0], angles[-1], color="#EEEEEE", zorder=0)
        ax.set(xlabel="turned by so many degrees", ylabel=label, xlim=(angles[0], angles[-1]))
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 3, 4.5, 9, 10]))
    for ax in axes:  # when all are drawn: they may share their axis
        ax.set_ylim(bottom=0)
    return legend(figure, columns=2)


def what_the_angles_say(rows: Runs) -> str:
    """Return in a sentence whether every run falls in accuracy and the mean steps stay, up to 90 degrees."""
    falls = min(row["accuracy"][0] - min(row["accuracy"]) for runs in rows.values() for row in runs)
    if falls > 0.2 and all(mean(experiment.turning_adds(runs)) <= 0 for runs in rows.values()):
        return "Up to 90 degrees accuracy falls, and the mean steps do not rise"
    return "Accuracy and steps, by angle"


def right_at(angle: int, runs: Sequence[Row]) -> str:
    """Return how many digits some runs read that are turned by so many degrees, such as "19% to 25%"."""
    return span([row["accuracy"][experiment.ANGLES.index(angle)] for row in runs], ".0%")


def two_losses(short: Sequence[Row], long: Sequence[Row]) -> list[Difference]:
    """Return the write-ups' change of steps of the CNN by its loss, in stored runs of both lengths of training."""
    runs = {
        "loss of each digit,\ntwo epochs or so": matching(short, **experiment.CNN),
        "loss of each digit,\nup to 20 epochs": matching(long, **experiment.CNN),
        "early mean,\ntwo epochs or so": matching(short, **experiment.CNN | {"loss": "batch mean"}),
        "early mean,\nup to 20 epochs": matching(long, **experiment.CNN | {"loss": "batch mean, KL reversed"}),
    }
    return [Difference(label, label.partition(",")[0], [experiment.range_adds(rows)]) for label, rows in runs.items()]


def what_the_losses_do(rows: Sequence[Difference]) -> str:
    """Return in a sentence whether the steps fall with the early mean alone, from the rows of `two_losses`."""
    falls = [word(row.panels[0]) == "fewer" for row in rows]
    if all(falls[2:]) and not all(falls[:2]):
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
    beaten = "more" in [word(row.panels[0]) for row in rows if row.group]
    return f"{'A' if beaten else 'No'} rule beats the same number of steps for all"


@slide
def thoughts(
    images: ArrayLike, p: Sequence[Line], answers: Sequence[Sequence[int]], label: int, captions: Sequence[str]
) -> Figure:
    """Draw images, and p_n below; on each bar stands the answer, and where it is not the label the bar is hatched.

    images: [panels, height, width], where 0 is paper; p and answers: [panels, N].
    """
    figure, axes = panels(2 * len(p), 2.05 if len(p) > 2 else 4.4, 1.95, rows=2, height_ratios=[3, 4])
    for ax, image, caption in zip(axes, np.asarray(images), captions, strict=False):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[], xlabel=caption)
        ax.spines[:].set(visible=True, color="#BBBBBB")
    for ax, probs, found in zip(axes[len(p) :], p, answers, strict=True):
        n = step_axis(ax, len(probs), xlim=(0.3, len(probs) + 0.7), ylim=(0, max(0.5, 1.3 * np.max(p))))
        for step, p_n, answer in zip(n, probs, found, strict=True):
            is_right = answer == label
            (bar,) = ax.bar(step, p_n, color=style.HALTING)
            if not is_right:
                bar.set(facecolor="white", edgecolor=style.HALTING, hatch="////")
            colour = style.ANSWER if is_right else style.WRONG
            style.beside(ax, str(answer), (step, p_n), (0, 2), ha="center", color=colour, size=14, weight="bold")
        ax.set_xticks(n[:: max(1, len(n) // 5)])
        ax.grid(visible=False)
    axes[len(p)].set_ylabel("$p_n$")
    return figure
