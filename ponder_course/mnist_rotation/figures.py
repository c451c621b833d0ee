"""Figures of networks that think about images of digits."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from torch import Tensor

from ponder_course.common import style
from ponder_course.common.digits import Split
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import Line, legend, look, marks, panels, slide, spread, step_axis
from ponder_course.common.verdicts import interval, span, verdict
from ponder_course.mnist_rotation import experiment
from ponder_course.mnist_rotation.lesson import RECIPES
from ponder_course.mnist_rotation.readable import NOT_READ, BySteps
from ponder_course.mnist_rotation.task import rotated_by
from ponder_utils.halting import expected_steps, geometric_log_prior
from ponder_utils.pondernet import PonderNet

Runs = Mapping[str, Sequence[Row]]  # {network: runs}, which `experiment.measure` has measured
# The look of networks, and of groups of their runs or answers; red is what is wrong.
LOOKS = {"CNN first": 0, "patches": 1, "right answers": 0, "wrong answers": 1}
LOOKS |= {"loss of each digit": 0, "early mean": 1, "loss of the batch": 2}


def column(rows: Runs, name: str) -> dict[str, list[Line]]:
    """Return what was measured of every run under this name, {network: [runs, ...]}."""
    return {network: [row[name] for row in of_network] for network, of_network in rows.items()}


@slide
def flat_line(rows: Runs, fixed: Runs) -> Figure:
    """Draw the accuracy if a network always stopped at step n, its name at the end of its line.

    Full marks: where a run halts by itself; hollow ones: what runs reach that were trained for N steps alone, `fixed`.
    """
    figure, (ax,) = panels(1, width=8.4, height=4.7)
    curves = column(rows, "by_step")
    longest = max(len(runs[0]) for runs in curves.values())
    for name, runs in curves.items():
        n, which = step_axis(ax, len(runs[0])), LOOKS[name]
        spread(ax, list(n), runs, name, which)
        line, end = ax.lines[-1], (n[-1], np.mean(runs, axis=0)[-1])
        marks(ax, [(row["steps"][0], row["accuracy"][0]) for row in rows[name]], which, 60, full=True, zorder=4)
        marks(ax, [(row["N"], row["accuracy"][0]) for row in fixed[name]], which, 90, zorder=4)
        away, side, height = ((0, -12), "right", "top") if len(n) == longest else ((10, -4), "left", "center")
        bold: dict[str, Any] = {"color": line.get_color(), "fontweight": "bold"}
        style.beside(ax, str(line.get_label()), end, away, ha=side, va=height, **bold)
        line.set_label("_named at its end")
    ax.axhline(0.1, color=style.BLACK, linestyle=":", linewidth=1.4)
    style.beside(ax, "a guess", (longest, 0.1), (0, 4), ha="right")
    ax.scatter([], [], s=60, color=style.GREY, label="filled: halts by itself")
    if any(fixed.values()):
        ax.scatter([], [], s=90, fc="none", ec=style.GREY, label="hollow: trained for exactly this many steps")
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.2))
    ax.set(xlabel="step after which it is stopped", xlim=(0.5, longest + 0.5), xticks=[1, *range(5, longest + 1, 5)])
    style.percent_axis(ax, ylabel="digits read correctly", ylim=(0, 1.04))
    return figure


@slide
def steps_by_first_read(networks: Sequence[BySteps]) -> Figure:
    """Draw the steps that digits take by the step from which on they are read: a line for each network.

    The area of a dot says how many digits there are. At the right stand those that are not read.
    """
    figure, (ax,) = panels(1, width=7.2, height=4.3)
    last = max(max(groups) for groups in networks)
    ax.plot([1, last], [1, last], color=style.LIMIT, linewidth=1.6)
    style.beside(ax, "only the steps it needs", (last - 2, last - 2), (8, -4), va="top")
    for groups in networks:
        counts, steps = zip(*groups.values(), strict=True)
        areas = [1200 * count / sum(counts) for count in counts]
        places = [last + 1 if step == NOT_READ else step for step in groups]
        ax.scatter(places, steps, s=areas, color=style.GREEN, alpha=0.6, linewidth=0)
        read = [step for step in groups if step != NOT_READ]
        ax.plot(read, [groups[step][1] for step in read], color=style.GREEN, linewidth=1.2)
    step_axis(ax, last, xlabel="step from which it stays right")
    ax.set_xticks(range(1, last + 2), [*map(str, range(1, last + 1)), f"wrong\nat {last}"])
    ax.set(ylabel="steps taken", xlim=(0.5, last + 1.5), ylim=(0, None))
    return figure


def lost_at_step_1(rows: Runs) -> dict[str, list[float]]:
    """Return the points of accuracy between the best step and step 1, of every run."""
    curves = column(rows, "by_step")
    return {name: [100 * (max(curve) - curve[0]) for curve in runs] for name, runs in curves.items()}


def with_other_priors(rows: Sequence[Row]) -> dict[str, dict[str, list[Row]]]:
    """Return the runs of each recipe with each prior, and without one, {network: {label: runs}}, the shortest first."""
    found = {}
    for kind, recipe in experiment.RECIPES.items():
        changes: dict[str, Row] = {"no prior": {"beta": 0.0}}
        changes |= {f"{lambda_p}": {"lambda_p": lambda_p} for lambda_p in (0.5, recipe["lambda_p"], 0.1)}
        by_prior = {label: matching(rows, **recipe | change) for label, change in changes.items()}
        found[experiment.NAMES[kind]] = {label: runs for label, runs in by_prior.items() if runs}
    return found


def steps_without_prior(networks: Mapping[str, Runs]) -> list[str]:
    """Return the mean steps of each network without a prior."""
    return [f"{mean(row['steps'][0] for row in runs['no prior']):.1f}" for runs in networks.values()]


def mean_of_prior(row: Row) -> float:
    """Return the mean steps of a run's prior."""
    return expected_steps(geometric_log_prior(row["lambda_p"], row["N"])).item()


@slide
def by_prior(networks: Mapping[str, Runs]) -> Figure:
    """Draw the steps of upright digits by the prior, a panel for each network: a bar for the mean, a mark for each run.

    In each bar stands how many digits are read, and dotted the mean steps of its prior.
    """
    figure, axes = panels(len(networks), width=4.7, height=4.3, sharey=True)
    for ax, (network, runs) in zip(axes, networks.items(), strict=True):
        places = [place + 0.4 * (place > 0) for place in range(len(runs))]  # the first, without a prior, stands alone
        for place, of_prior in zip(places, runs.values(), strict=True):
            values = [row["steps"][0] for row in of_prior]
            ax.bar(place, mean(values), width=0.62, color=style.HALTING, alpha=0.5)
            for where, value in zip(place + np.linspace(-0.2, 0.2, len(values)), values, strict=True):
                ax.plot(where, value, "o", color=style.DARK_ORANGE, markersize=4)
            right = f"{mean(row['accuracy'][0] for row in of_prior):.0%}"
            style.beside(ax, right, (place, 0), (0, 6), ha="center", size=17, weight="bold", color=style.BLACK)
            if of_prior[0]["beta"]:
                height = mean_of_prior(of_prior[0])
                ax.plot([place - 0.42, place + 0.42], [height] * 2, color=style.PRIOR, linestyle=":", linewidth=3)
        ax.set_xticks(places, [*runs])
        ax.set(title=network, xlabel=r"$\lambda_p$ of the prior")
        ax.title.set(fontweight="bold", color=look(LOOKS[network])["color"])
        ax.grid(visible=False, axis="x")
    axes[0].set_ylabel("expected steps")
    axes[0].plot([], [], color=style.PRIOR, linestyle=":", linewidth=3, label="mean steps of the prior itself")
    axes[0].plot([], [], "o", color=style.DARK_ORANGE, markersize=4, label="a network; in the bar: digits read right")
    return legend(figure, columns=2)


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


def right_at(angle: int, runs: Sequence[Row]) -> str:
    """Return how many digits some runs read that are turned by so many degrees, such as "19% to 25%"."""
    return span([row["accuracy"][experiment.ANGLES.index(angle)] for row in runs], ".0%")


def bought_by_rules(trainings: Mapping[str, Sequence[Row]]) -> list[Difference]:
    """Return the points that halting by each rule adds to the patches, below a heading for each training."""
    found = []
    for training, rows in trainings.items():
        found.append(Difference(training))
        for rule in ("sample", "quantile"):
            points = [100 * gain for gain in experiment.gains(rows, rule)]
            found.append(Difference(f"patches, {rule}", "patches", [points]))
    return found


@torch.no_grad()
def one_digit(models: Mapping[str, PonderNet], test: Split, digit: int, degrees: int) -> tuple[Figure, Tensor]:
    """Draw the first eight steps of networks at the first such test image, turned so; return their answers, too.

    A panel for each network, with the prior of its recipe; answers: [networks, 8].
    """
    x = rotated_by(test.x[(test.y == digit).nonzero()[0]], degrees)
    outputs = [model(x) for model in models.values()]
    p = torch.stack([output.log_p[:8, 0].exp() for output in outputs]).cpu()
    answers = torch.stack([output.y_hat[:8, 0].argmax(1) for output in outputs]).cpu()
    recipes = [RECIPES[name] for name in models]
    priors = [geometric_log_prior(recipe.lambda_p, recipe.N)[:8].exp().tolist() for recipe in recipes]
    captions = [f"{name}, {degrees}\N{DEGREE SIGN}" for name in models]
    images = x[:, 0].expand(len(models), -1, -1).cpu()
    return thoughts(images, p.tolist(), answers.tolist(), digit, captions, priors), answers


@slide
def thoughts(
    images: ArrayLike,
    p: Sequence[Line],
    answers: Sequence[Sequence[int]],
    label: int,
    captions: Sequence[str],
    priors: Sequence[Line],
) -> Figure:
    """Draw images, and p_n below with its prior; above each bar stands the answer, and where it is wrong it is hatched.

    images: [panels, height, width], where 0 is paper; p, answers and priors: [panels, N].
    """
    figure, axes = panels(2 * len(p), 2.05 if len(p) > 2 else 4.4, 1.95, rows=2, height_ratios=[3, 4])
    for ax, image, caption in zip(axes, np.asarray(images), captions, strict=False):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[], xlabel=caption)
        ax.spines[:].set(visible=True, color="#BBBBBB")
    for ax, probs, found, prior in zip(axes[len(p) :], p, answers, priors, strict=True):
        top = max(0.5, 1.35 * np.max(p))
        n = step_axis(ax, len(probs), xlim=(0.3, len(probs) + 0.7), ylim=(0, top))
        for step, p_n, answer in zip(n, probs, found, strict=True):
            is_right = answer == label
            (bar,) = ax.bar(step, p_n, color=style.HALTING)
            if not is_right:
                bar.set(facecolor="white", edgecolor=style.HALTING, hatch="////")
            colour = style.ANSWER if is_right else style.WRONG
            style.beside(ax, str(answer), (step, 0.9 * top), (0, 0), ha="center", color=colour, size=16, weight="bold")
        ax.plot(n, prior, "o:", color=style.PRIOR, linewidth=2, markersize=4, label="its prior")
        ax.set_xticks(n[:: max(1, len(n) // 5)])
        ax.grid(visible=False)
    axes[len(p)].set_ylabel("$p_n$")
    axes[len(p)].legend(loc="center right")
    return figure
