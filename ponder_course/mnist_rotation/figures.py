"""Figures of networks that think about images of digits."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from ponder_course.common import style
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import Line, legend, look, marks, panels, slide, spread, step_axis
from ponder_course.common.verdicts import interval, span, verdict
from ponder_course.mnist_rotation import experiment
from ponder_course.mnist_rotation.readable import NOT_READ, BySteps
from ponder_utils.halting import expected_steps, geometric_log_prior

Runs = Mapping[str, Sequence[Row]]  # {network: runs}, which `experiment.measure` has measured
# The look of networks, and of groups of their runs or answers; red is what is wrong.
LOOKS = {"CNN first": 0, "patches": 1, "right answers": 0, "wrong answers": 1}
LOOKS |= {"loss of each digit": 0, "early mean": 1, "loss of the batch": 2}


def column(rows: Runs, name: str) -> dict[str, list[Line]]:
    """Return what was measured of every run under this name, {network: [runs, ...]}."""
    return {network: [row[name] for row in of_network] for network, of_network in rows.items()}


@slide
def when_it_stops(image: ArrayLike, p: Line) -> Figure:
    """Draw an image [height, width], where 0 is paper, and how many digits stop at each step, p [N]."""
    figure, (left, right) = panels(2, width=4.4, height=3.4, width_ratios=[1, 1.9])
    left.imshow(np.asarray(image), cmap="gray_r", vmin=0, vmax=1)
    left.set(xticks=[], yticks=[])
    left.spines[:].set(visible=True, color="#BBBBBB")
    right.bar(step_axis(right, len(p)), p, color=style.HALTING)
    right.text(1, p[0], f"{p[0]:.0%}", ha="center", va="bottom")
    right.set(title="digits that stop at each step", xticks=[1, *range(5, len(p) + 1, 5)], yticks=[])
    right.grid(visible=False)
    return figure


def stopped_at(ax: Axes, name: str, runs: Sequence[Row], fixed: Sequence[Row] = ()) -> None:
    """Draw the accuracy of networks that are stopped at step n for every digit: a thin line each, a thick one the mean.

    Hollow marks: what runs reach that were trained for N steps alone, `fixed`.
    """
    curves = [row["by_step"] for row in runs]
    n = step_axis(ax, len(curves[0]))
    spread(ax, list(n), curves, name, LOOKS[name])
    marks(ax, [(row["N"], row["accuracy"][0]) for row in fixed], LOOKS[name], 90, zorder=4)
    ax.axhline(0.1, color=style.BLACK, linestyle=":", linewidth=1.4)
    style.beside(ax, "a guess", (len(n), 0.1), (0, 4), ha="right")
    ticks = [1, *range(5, len(n) + 1, 5)] if len(n) > 10 else n
    ax.set(xlabel="step after which all are stopped", xlim=(0.3, len(n) + 0.7), xticks=ticks)
    style.percent_axis(ax, ylabel="digits read correctly", ylim=(0, 1.06))


@slide
def flat_line(runs: Sequence[Row]) -> Figure:
    """Draw *CNN first*, `stopped_at` each step, with a ring at the first step and at the last."""
    figure, (ax,) = panels(1, width=8.4, height=4.2)
    stopped_at(ax, "CNN first", runs)
    middle = np.mean([row["by_step"] for row in runs], axis=0)
    for step, aside in ((1, 28), (len(middle), -28)):
        point = (step, middle[step - 1])
        ax.scatter(*point, s=320, facecolor="none", edgecolor=style.BLUE, linewidth=2.5, zorder=4)
        style.beside(ax, f"{point[1]:.0%}", point, (aside, -36), ha="center", color=style.BLUE, fontsize=20)
    return figure


@slide
def needed_and_alike(runs: Sequence[Row], fixed: Sequence[Row], networks: Sequence[BySteps]) -> Figure:
    """Draw *patches*, `stopped_at` each step, below what its middle place knows of; beside it the steps digits take."""
    figure, (left, right) = panels(2, width=5.6, height=5.0)
    stopped_at(left, "patches", runs, fixed)
    left.set_ylim(0, 1.24)
    for row in fixed[:1]:
        line = {"arrowstyle": "-", "color": style.GREY, "shrinkB": 8}
        point = (row["N"], row["accuracy"][0])
        style.beside(left, "trained for one\nstep alone", point, (100, -20), va="center", arrowprops=line)
    away = np.abs(np.arange(-3, 4))
    away = np.maximum(away[:, None], away)  # steps from the middle to each place
    for step in range(1, 5):
        known = left.inset_axes((step - 0.4, 1.1, 0.8, 0.11), transform=left.transData)
        known.imshow(away < step, cmap=ListedColormap(["#CCECE3", style.GREEN]), vmin=0, vmax=1, aspect="auto")
        known.set(xticks=[], yticks=[])
    left.annotate("what the middle\nplace knows of", (4.6, 1.155), annotation_clip=False, va="center")
    _steps_by_first_read(right, networks)
    return figure


def _steps_by_first_read(ax: Axes, networks: Sequence[BySteps]) -> None:
    """Draw the steps that digits take by the step from which on they are read: a line for each network.

    The area of a dot says how many digits there are. At the right stand those that are not read.
    """
    last = max(max(groups) for groups in networks)
    ax.plot([1, last], [1, last], color=style.LIMIT, linewidth=1.6)
    style.beside(ax, "stopped as soon\nas it is right", (last - 2, last - 2), (10, -4), va="top")
    for groups in networks:
        counts, steps = zip(*groups.values(), strict=True)
        areas = [1200 * count / sum(counts) for count in counts]
        places = [last + 1 if step == NOT_READ else step for step in groups]
        ax.scatter(places, steps, s=areas, color=style.GREEN, alpha=0.6, linewidth=0)
        read = [step for step in groups if step != NOT_READ]
        ax.plot(read, [groups[step][1] for step in read], color=style.GREEN, linewidth=1.2)
    step_axis(ax, last, xlabel="step from which a digit stays right")
    ax.set_xticks(range(1, last + 2), [*map(str, range(1, last + 1)), f"wrong\nat {last}"])
    ax.set(ylabel="steps taken", xlim=(0.5, last + 1.5), ylim=(0, None))


def lost_at_step_1(runs: Sequence[Row]) -> list[float]:
    """Return the points of accuracy between the best step and step 1, of every run."""
    return [100 * (max(row["by_step"]) - row["by_step"][0]) for row in runs]


def with_other_priors(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the runs of *CNN first* without a prior, and with each, {label: runs}, the shortest prior first."""
    changes: dict[str, Row] = {"no prior": {"beta": 0.0}}
    for lambda_p in (0.5, experiment.CNN["lambda_p"], 0.1):
        changes[f"{lambda_p}"] = {"lambda_p": lambda_p}
    return {label: matching(rows, **experiment.CNN | change) for label, change in changes.items()}


def mean_of_prior(row: Row) -> float:
    """Return the mean steps of a run's prior."""
    return expected_steps(geometric_log_prior(row["lambda_p"], row["N"])).item()


@slide
def by_prior(runs: Mapping[str, Sequence[Row]]) -> Figure:
    """Draw the steps of upright digits by the prior: a bar for the mean, a mark for each run.

    In each bar stands how many digits are read, and dotted the mean steps of its prior.
    """
    figure, (ax,) = panels(1, width=7.6, height=4.3)
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
    ax.set(xlabel=r"$\lambda_p$ of the prior", ylabel="steps taken")
    ax.grid(visible=False, axis="x")
    ax.plot([], [], color=style.PRIOR, linestyle=":", linewidth=3, label="mean steps of the prior itself")
    ax.plot([], [], "o", color=style.DARK_ORANGE, markersize=4, label="a network; in the bar: digits read right")
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
                verdict = word(values, (right, left))
                ax.annotate(verdict, (1.02, y), xycoords=("axes fraction", "data"), va="center", color=colour)
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
    differences = []
    for name, runs in rows.items():
        differences.append(Difference(f"{name},\n{first}", name, [experiment.turning_adds(runs)]))
        differences.append(Difference(f"{name},\nup to 20 epochs", name, [experiment.turning_adds(long[name])]))
    return differences


def right_at(angle: int, runs: Sequence[Row]) -> str:
    """Return how many digits some runs read that are turned by so many degrees, such as "19% to 25%"."""
    return span([row["accuracy"][experiment.ANGLES.index(angle)] for row in runs], ".0%")


def bought_by_rules(trainings: Mapping[str, Sequence[Row]]) -> list[Difference]:
    """Return the points that halting by each rule adds to the patches, below a heading for each training."""
    differences = []
    for training, rows in trainings.items():
        differences.append(Difference(training))
        for rule in ("sample", "quantile"):
            points = [100 * gain for gain in experiment.gains(rows, rule)]
            differences.append(Difference(f"patches, {rule}", "patches", [points]))
    return differences
