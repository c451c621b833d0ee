"""Figures of columns of numbers: which digits are carried, and how long a network thinks at each number."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Polygon
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from torch import Tensor

from ponder_course.adding_a_column import experiment as columns
from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.common import style, verdicts
from ponder_course.common.machines import ARROW
from ponder_course.common.store import Row
from ponder_course.common.style import Line, bare, beyond, curves, legend, lines, panels, percent_axis, slide, step_axis
from ponder_utils.sequences import PonderSequence

ByNeed = Mapping[int, float]  # a number for each need


@slide
def machine(numbers: Sequence[str] = ("001011", "000100", "010001"), steps: Sequence[int] = (1, 1, 6)) -> Figure:
    """Numbers, so many steps at each; the votes of all places on a wire, and the state that goes to the next number."""
    figure, (ax,) = panels(1, width=9.0, height=4.0)
    n_places = len(numbers[0])
    rows = np.arange(n_places)
    near = [(row, other) for row in rows for other in (row - 1, row, row + 1) if 0 <= other < n_places]
    x = 0.0
    wire: dict[str, Any] = {"color": style.DARK_ORANGE, "linewidth": 1.4, "markersize": 5, "zorder": 2}
    for t, (number, n_steps) in enumerate(zip(numbers, steps, strict=True), start=1):
        ax.text(x + (n_steps - 1) / 2, n_places + 1.8, f"number {t}", ha="center", va="bottom", fontweight="bold")
        ax.annotate("", (x, -0.4), (x, -1.5), arrowprops=ARROW | {"color": style.BLUE, "linewidth": 1.4})
        ax.text(x, -1.6, "reads" if t == 1 else "reads on", color=style.BLUE, ha="center", va="top")
        for n in range(1, n_steps + 1):
            ax.scatter([x] * n_places, rows, s=260, facecolor="white", edgecolor=style.GREY, zorder=3)
            for row, digit in enumerate(reversed(number)):
                ax.text(x, row, digit, ha="center", va="center_baseline", color=style.BLUE, zorder=4)
            ax.plot([x + 0.31] * (n_places + 1), [*rows, n_places - 0.1], "o-", markevery=[*rows], **wire)
            says = "yes" if n == n_steps else "no"
            ax.text(x + 0.31, n_places - 0.1, says, ha="center", va="bottom", color=style.DARK_ORANGE)
            ax.text(x, n_places + 0.9, f"{n}", ha="center", va="bottom")
            colour, far = (style.PALE_GREY, 1.0) if n < n_steps else (style.HALTING, 1.85)
            if (t, n) != (len(steps), n_steps):
                ax.plot([x + 0.17, x + far - 0.17], np.transpose(near), color=colour, linewidth=1.4, zorder=1)
            x += far
    ax.text(-0.45, n_places + 0.9, "step $n$ =", ha="right", va="bottom")
    ax.text(-0.45, n_places - 0.1, "halt?", ha="right", va="bottom", color=style.DARK_ORANGE)
    bare(ax)
    ax.set(xlim=(-1.8, x - 1.2), ylim=(-2.5, n_places + 2.8), ylabel="place")
    ax.set_yticks([0, n_places - 1], ["1", str(n_places)])
    ax.tick_params(length=0)
    return figure


@slide
def trace(
    numbers: ArrayLike, sums: ArrayLike, travelled: ArrayLike, steps: Line, needed: Line, right: ArrayLike
) -> Figure:
    """Draw a column of numbers with the carries, and under each number the steps that a network took beside the need.

    numbers, sums (as the network has them), travelled (how far the carry into a place has come), right: [T, width],
    the least significant place first; it is drawn at the right. steps and needed: [T].
    """
    numbers, sums, travelled, right = (np.asarray(part).astype(int) for part in (numbers, sums, travelled, right))
    n_times, width = numbers.shape
    size: dict[str, Any] = {"width": max(6.0, 0.95 * n_times + 1.6), "height": 0.16 * width + 1.2}
    figure, (above, below) = panels(2, rows=2, height_ratios=(0.62 * width, 4.2), sharex=True, **size)
    digit: dict[str, Any] = {"ha": "center", "va": "center", "family": "monospace"}
    for t, place in np.ndindex(n_times, width):
        above.text(t - 0.2, place, str(numbers[t, place]), color=style.DARK_GREY, **digit)
        colour = style.ANSWER if right[t, place] else style.WRONG
        above.text(t + 0.16, place, str(sums[t, place]), color=colour, fontweight="bold", **digit)
    arrow: dict[str, Any] = ARROW | {"mutation_scale": 10, "color": style.HALTING, "linewidth": 2.2}
    for t, far in enumerate(travelled):
        goes_on = np.append(far[1:] > far[:-1], False)
        for i, end in enumerate(np.flatnonzero((far > 0) & ~goes_on)):  # where a carry ends
            x = t + (0.36, 0.46)[i % 2]  # and the next may begin
            above.add_patch(FancyArrowPatch((x, end - far[end]), (x, end + 0.15), **arrow))
    above.set(ylim=(-0.8, width - 0.2), ylabel="place")
    above.set_yticks([0, width - 1], ["1", str(width)])
    above.tick_params(length=0)
    above.grid(visible=False)
    above.spines["left"].set_visible(False)
    at = np.arange(n_times)
    below.bar(at - 0.17, steps, 0.34, color=style.HALTING)
    below.bar(at + 0.17, needed, 0.34, color=style.LIMIT)
    below.set(xlabel="number", ylabel="steps", xlim=(-0.6, n_times - 0.4), ylim=(0, 1.45 * max(*steps, *needed)))
    below.set_xticks(at, [str(t + 1) for t in at])
    below.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
    name: dict[str, Any] = {"transform": below.transAxes, "va": "top", "fontweight": "bold", "backgroundcolor": "white"}
    below.text(0.02, 0.99, "steps taken", color=style.DARK_ORANGE, **name)
    below.text(0.98, 0.99, "steps needed", color=style.LIMIT, ha="right", **name)
    below.grid(visible=False, axis="x")
    return figure


def trace_of(model: PonderSequence, x: Tensor, N: int) -> tuple[Figure, list[int], list[int], int]:
    """Draw the trace of a network on one column x [T, 1, 1, width], halting at lambda_n >= 0.5, within N steps.

    Returns the figure, the steps needed and taken at each number, and how many sums are right.
    """
    found, _ = columns.halt(model, x, N, q=0.5)
    sums = found.y_hat[:, 0] > 0
    right = sums == (ColumnTask.answers(x)[:, 0] > 0.5)
    needed, taken = ColumnTask.needed_steps(x)[:, 0].tolist(), found.steps[:, 0].tolist()
    figure = trace(x[:, 0, 0], sums, ColumnTask.travelled(x)[:, 0], taken, needed, right)
    return figure, needed, taken, int(right.all(1).sum())


def any_column(model: PonderSequence, x: Tensor, N: int) -> Callable[[int], tuple[Figure, str]]:
    """Return what draws one of the columns x [T, columns, 1, width], counted from 1, and says which, for `explore`."""
    return lambda column: (trace_of(model, x[:, column - 1 : column], N)[0], f"Column {column}.")


def long_and_short(x: Tensor) -> int:
    """Return which of the columns x [T, columns, 1, width] has the most needs of 8 and more beside those of 1 or 2."""
    needs = ColumnTask.needed_steps(x)
    return int(((needs[1:] >= 8).sum(0) * (needs[1:] <= 2).sum(0)).argmax())


def thinks_longest(needed: Sequence[int], taken: Sequence[int]) -> str:
    """The finding: how many steps a network takes where it needs the most."""
    longest = int(np.argmax(needed))
    steps = f"{taken[longest]} steps at number {longest + 1}, which needs {needed[longest]}"
    where = "where" if taken[longest] == max(taken) else "elsewhere than where"
    return f"It thinks longest {where} the carry travels farthest:\n{steps}"


@slide
def against_need(networks: Sequence[ByNeed], border: int, not_learnt: Sequence[ByNeed] = ()) -> Figure:
    """Draw mean steps minus the need, a line for each network; grey beyond a border.

    Those that do not keep to the need, as `keeps_to_the_need` has it, are red.
    """
    figure, (ax,) = panels(1, width=8.2, height=4.6)
    last = max(map(max, networks))
    beyond(ax, border, last)
    ax.text(border + 1, 0.97, "beyond training", transform=ax.get_xaxis_transform(), color=style.DARK_GREY, va="top")
    ax.axhline(0, color=style.LIMIT, linewidth=1.4, zorder=4)
    for network in networks:
        colour = style.HALTING if keeps_to_the_need(network, border) else style.WRONG
        curves(ax, [less_the_need(network)], color=colour, linewidth=1.4)
    curves(ax, map(less_the_need, not_learnt), color=style.NOT_LEARNT, linewidth=1.2, zorder=0)
    ax.text(0.03, 0.05, "below 0: halts too early", color=style.WRONG, transform=ax.transAxes)
    ax.set(xlabel="steps needed", ylabel="steps taken, minus steps needed", xlim=(0.5, last + 0.5))
    return figure


def less_the_need(network: ByNeed) -> ByNeed:
    """How many steps more than the need a network takes, by need."""
    return {need: steps - need for need, steps in network.items()}


def keeps_to_the_need(network: ByNeed, border: int) -> bool:
    """Whether a network is never farther than two steps from a need beyond the border, in the mean."""
    return all(abs(late) <= 2 for need, late in less_the_need(network).items() if need > border)


@slide
def by_time(kinds: Mapping[str, Sequence[Line]], border: int) -> Figure:
    """Draw the fraction of right sums at each number of long columns, a line for each network of one or two kinds.

    Numbers beyond the border, the longest columns of training, are grey.
    """
    figure, (ax,) = panels(1, width=8.6, height=4.0)
    last = max(len(line) for networks in kinds.values() for line in networks)
    looks = ((style.HALTING, "-", 3), (style.DARK_GREY, "--", 2))
    for (name, networks), (colour, dashes, above) in zip(kinds.items(), looks, strict=False):
        n = range(1, len(networks[0]) + 1)
        lines(ax, n, networks, name, color=colour, linestyle=dashes, zorder=above, linewidth=1.6)
    beyond(ax, border, last)
    ax.set(xlabel="numbers added so far", xlim=(1, last + 0.5))
    percent_axis(ax, ylabel="sums right", ylim=(-0.03, 1.05))
    return legend(figure, columns=len(kinds))


@slide
def answers_and_objections(numbers: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """Draw what all places answer to a number, step by step until it halts, and who objects: a panel for each number.

    numbers: {the number's name: (answers, 0 or 1, and votes, below 0 for an objection: [steps, width] each)}. Red: it
    differs from the last step's answer. A frame is around the last place at the first step at which a number halts.
    """
    figure, axes = panels(len(numbers), width=4.9, height=4.3, sharex=True, sharey=True)
    lengths = [len(np.asarray(votes)) for _, votes in numbers.values()]
    first, last = min(lengths), max(lengths)
    colours = ListedColormap(["#F0F0F0", "#E6D5B0"])  # pale, for the digits upon it
    for ax, (name, (answers, votes)) in zip(axes, numbers.items(), strict=True):
        objects, digits = np.asarray(votes).T < 0, np.asarray(answers).T
        width, steps = objects.shape
        box = (0.5, steps + 0.5, 0.5, width + 0.5)
        ax.imshow(objects, cmap=colours, vmin=0, vmax=1, extent=box, origin="lower", aspect="auto")
        for (place, n), digit in np.ndenumerate(digits):
            ink = style.BLACK if digit == digits[place, -1] else style.WRONG
            ax.text(n + 1, place + 1, f"{digit}", color=ink, ha="center", va="center_baseline", fontweight="bold")
        for n, says_no in enumerate(objects.any(0), start=1):
            ax.text(n, 0, "no" if says_no else "yes", ha="center", va="center_baseline", fontsize=12.5)
        corners = [(first + i, width + j) for i, j in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))]
        ax.add_patch(Polygon(corners, fill=False, edgecolor=style.BLUE, linewidth=3))
        step_axis(ax, last, xlim=(0.5, last + 0.5), title=name)
        ax.set(ylim=(-0.5, width + 0.6))
        ax.grid(visible=False)
        ax.set_yticks([0, 1, width], ["halt?", "1", str(width)])
    axes[0].set_ylabel("place")
    return figure


@torch.no_grad()
def answers_at_the_last(model: PonderSequence, x: Tensor, N: int) -> list[list[list[int]]]:
    """Return what the places answer at the last number of each of the columns x, 0 or 1: [steps][width] each."""
    steps = columns.halt(model, x, N, q=0.5)[0].steps[-1].tolist()
    at_the_last = model.eval()(x, "threshold", max_steps=N, q=0.5).y_hat[:, -len(steps) :] > 0
    return [at_the_last[:n, column].int().tolist() for column, n in enumerate(steps)]


def same_answer(numbers: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> str:
    """The finding: what the last place answers at the first step at which a number halts, and who objects."""
    step, says, who = min(len(np.asarray(votes)) for _, votes in numbers.values()), [], []
    for answers, votes in numbers.values():
        no = [f"{place}" for place, vote in enumerate(np.asarray(votes)[step - 1], 1) if vote < 0]
        says.append(f"{np.asarray(answers)[step - 1, -1]}")
        who.append(f"place{'s' * (len(no) > 1)} {' and '.join(no)}" if no else "nobody")
    digits = f"{says[0]} in both sums" if len({*says}) == 1 else " and ".join(says)
    return f"At step {step} the last place answers {digits}.\nOn the left {who[0]} objects; on the right {who[1]}"


@slide
def objections(votes: Mapping[str, ArrayLike]) -> Figure:
    """Draw which places object to halting, a panel for each number, step by step until it halts.

    votes: {the number's name: the vote of each place [steps, width], below 0 for an objection}.
    """
    figure, axes = panels(len(votes), width=4.6, height=4.4, sharex=True, sharey=True)
    last = max(len(np.asarray(of_number)) for of_number in votes.values())
    colours = ListedColormap([style.PALE_GREY, style.DARK_ORANGE])
    for ax, (name, of_number) in zip(axes, votes.items(), strict=True):
        objects = np.asarray(of_number).T < 0
        width, steps = objects.shape
        box = (0.5, steps + 0.5, 0.5, width + 0.5)
        ax.imshow(objects, cmap=colours, vmin=0, vmax=1, extent=box, origin="lower", aspect="auto")
        ax.text(0.97, 0.05, f"{name}\nnobody objects at step {steps}", ha="right", va="bottom", transform=ax.transAxes)
        step_axis(ax, last, xlim=(0.5, last + 0.5))
        ax.grid(visible=False)
        ax.set_yticks([1, width], ["1", str(width)])
    axes[0].set_ylabel("place")
    axes[-1].text(0.03, 0.95, "brown: objects\ngrey: does not object", transform=axes[-1].transAxes, va="top")
    return figure


def steps_by_need(row: Row, at_least: int = 1) -> dict[int, float]:
    """Return the mean steps for each need that so many numbers have, in the test on wide columns."""
    found = row["wide"]["by_need"].items()
    return {int(need): steps for need, (numbers, steps, _) in found if numbers >= at_least}


def measured(model: PonderSequence, sizes: Mapping[str, tuple[int, int, int]]) -> Row:
    """Return what `columns.measure` says of a network in each test, {name: (digits, numbers, columns)}.

    "all N": the fraction of right sums at each number of the "long" columns, if every number takes N steps.
    """
    row: Row = {}
    for name, size in sizes.items():
        row[name] = columns.measure(model, columns.draw_columns(*size), size[0] + 10, q=0.5)
    N = sizes["long"][0] + 10
    row["all N"] = columns.measure(model, columns.draw_columns(*sizes["long"]), N, "fixed", step=N)["right"]
    return row


def sums_and_steps(rows: Sequence[Row], widths: Mapping[str, int]) -> pd.DataFrame:
    """Return a table with a row for each network and test: {name of the test: its digits}."""
    table = {}
    for i, row in enumerate(rows, 1):
        for name, digits in widths.items():
            part = row[name]
            table[f"network {i}, {digits} digits"] = {
                "sums right": f"{part['sums']:.2%}",
                "steps needed": f"{part['needed']:.2f}",
                "steps taken": f"{part['steps']:.2f}",
                "too early": f"{part['early']:.2%}",
            }
    return pd.DataFrame(table).T


def sums_by_kind(kinds: Mapping[str, Sequence[Row]], wide: int) -> pd.DataFrame:
    """Return a table of right sums in each test, and mean steps, over all stored networks of each kind, if any."""
    tests = {f"{columns.WIDTH} digits": "trained", f"{wide} digits": "wide", "100 numbers": "long"}
    table = {}
    for kind, rows in kinds.items():
        if rows:
            sums = {label: verdicts.span([row[test]["sums"] for row in rows], ".0%") for label, test in tests.items()}
            steps = verdicts.span([row["trained"]["steps"] for row in rows], ".1f")
            table[kind] = {"networks": str(len(rows)), **sums, "mean steps": steps}
    return pd.DataFrame(table).T
