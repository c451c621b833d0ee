"""Figures of lesson 03: when networks halt as they learn, how they answer, and what their steps depend on."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_course.figures.style import BLACK, COLOURS, GREY, Line, legend, look, panels, slide, step_axis
from ponder_course.store import Row
from ponder_course.verdicts import interval
from ponder_utils.evaluation import Score


def network_look(kind: int, which: int) -> dict[str, Any]:
    """Return the look of a network in every figure: the colour of its kind, a marker and dashes of its own."""
    return look(which, color=COLOURS[kind], markersize=5.5, markerfacecolor="white", linewidth=1.5)


def name_networks(ax: Axes, number: int) -> None:
    """Name this many networks in the legend, in black."""
    for which in range(number):
        ax.plot([], [], **network_look(0, which) | {"color": BLACK}, label=f"network {which}")


@slide
def stopped_at(groups: Mapping[str, Sequence[Score]], lowest: float = 0.38) -> Figure:
    """Draw the accuracy if all inputs stopped at the same step n, and, larger, at the steps where networks halt.

    A panel for each group, {title: scores of its networks}, from the accuracy `lowest` upwards.
    """
    figure, axes = panels(len(groups), width=4.9, height=3.6, sharey=True)
    for kind, (ax, (title, scores)) in enumerate(zip(axes, groups.items(), strict=True)):
        large = {"markersize": 12, "markerfacecolor": COLOURS[kind], "markeredgecolor": "white", "linestyle": ""}
        for which, score in enumerate(scores):
            n = step_axis(ax, len(score.accuracy_by_step), title=title, ylim=(lowest, 1.05))
            ax.plot(n, score.accuracy_by_step, **network_look(kind, which))
            ax.plot([score.steps], [score.accuracy], **network_look(kind, which) | large, zorder=3)
        ax.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.3, label="chance")
    name_networks(axes[0], max(map(len, groups.values())))
    axes[0].plot([], [], "o", color=BLACK, markersize=10, label="large: halting as it wants")
    axes[0].set_ylabel("accuracy")
    return legend(figure, columns=5)


@slide
def rises(table: DataFrame, limits: tuple[float, float], label: str) -> Figure:
    """Draw mean rises with their intervals against lambda_p, a panel for each size and a mark for each loss.

    The table has a row for each run: size, loss, lambda_p, outcome, and rise, which is drawn for those that "learnt";
    fewer than three are crosses, without an interval. Above the axes the others are counted.
    """
    losses, lambda_ps = list(table["loss"].unique()), sorted(table["lambda_p"].unique())
    figure, axes = panels(table["size"].nunique(), width=5.4, height=4.5, sharey=True)
    heights = {"not learnt": 1.03, "crashed": 1.10}
    for ax, (size, runs) in zip(axes, table.groupby("size", sort=False), strict=True):
        ax.axhline(0, color=BLACK, linewidth=1.2)
        above = ax.get_xaxis_transform()  # x in data, y in heights of the axes
        for which, loss in enumerate(losses):
            ax.plot([], [], **look(which, linestyle="-"), label=loss)
        for (loss, lambda_p), group in runs.groupby(["loss", "lambda_p"], sort=False):
            which = losses.index(loss)
            x = lambda_p + 0.05 * (which - (len(losses) - 1) / 2)
            values = group["rise"][group["outcome"] == "learnt"].tolist()
            if len(values) > 2:
                middle, low, high = interval(values)
                ax.plot([x, x], [low, high], color=COLOURS[which], linewidth=2.2)
                ax.plot([x], [middle], **look(which, markersize=8))
            else:
                ax.plot([x] * len(values), values, "x", color=COLOURS[which], markersize=6)
            for outcome, height in heights.items():
                if number := (group["outcome"] == outcome).sum():
                    ax.text(x, height, str(number), color=COLOURS[which], ha="center", fontsize=11, transform=above)
        ax.set(xlabel=r"$\lambda_p$", ylim=limits, xlim=(lambda_ps[0] - 0.1, lambda_ps[-1] + 0.1))
        ax.set_title(size, pad=44)
        ax.set_xticks(lambda_ps)
    for name, height in heights.items():
        axes[0].text(-0.01, height, f"{name}:", ha="right", fontsize=11, transform=axes[0].transAxes)
    axes[0].set_ylabel(label)
    return legend(figure, columns=3)


def draw_against_k(ax: Axes, k: Sequence[int], networks: Sequence[Row], column: str, border: int, **line: Any) -> None:
    """Draw a line for each network, grey if it has not learnt; beyond the border of training the panel is grey.

    networks: "accuracy" and "steps" for each k, and "learnt", True or False.
    """
    for network in networks:
        ax.plot(k, network[column], **line | ({} if network["learnt"] else {"color": GREY, "alpha": 1.0}))
    ax.axvspan(border + 0.5, k[-1] + 0.5, color="#DDDDDD", zorder=0, linewidth=0)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.set(xlim=(k[0] - 0.5, k[-1] + 0.5), xlabel="non-zero elements $k$")
    if column == "accuracy":
        ax.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2)
        ax.set_ylim(0, 1.03)


def learnt_title(name: str, networks: Sequence[Row]) -> str:
    """Return the name, and below it how many of the networks have learnt."""
    return f"{name}\n{sum(network['learnt'] for network in networks)} of {len(networks)} learnt"


@slide
def by_ones(networks: Mapping[str, Sequence[Mapping[str, Line]]], ks: Sequence[int]) -> Figure:
    """Draw steps against the number of elements that are +1: a panel for each network, a line for each k.

    networks: {title: for each k, "steps" and "accuracy", [k + 1] each}; hollow where fewer than 90 % are right.
    """
    figure, axes = panels(len(networks), width=3.6, height=3.3, sharey=True)
    for ax, (title, lines) in zip(axes, networks.items(), strict=True):
        for which, (k, line) in enumerate(zip(ks, lines, strict=True)):
            steps, right = np.asarray(line["steps"]), np.asarray(line["accuracy"]) >= 0.9
            ones = np.arange(len(steps))
            ax.plot(ones, steps, **look(which, linestyle="-", marker=None, linewidth=1.0, alpha=0.6))
            mark = look(which, linestyle="", markersize=7.5 - 1.5 * which)
            ax.plot(ones[right], steps[right], **mark, label=f"$k$ = {k}")
            ax.plot(ones[~right], steps[~right], **mark | {"markerfacecolor": "white"})
        ax.set(title=title, xlabel="elements that are +1", ylim=(0, None))
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes[0].set_ylabel("steps")
    axes[0].plot([], [], "o", color=BLACK, markerfacecolor="white", label="often wrong")
    return legend(figure, columns=5)
