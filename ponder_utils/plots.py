"""Figures of the course, each with the sentence that reads it.

Colours are those of Okabe & Ito, which colour-blind readers can tell apart; markers and line styles repeat what they
say. The face is opaque white, so that a figure reads the same on a dark page. Nothing here touches pyplot's state.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import PIL.Image
from IPython.display import Image, Markdown, display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

BLUE, ORANGE, GREEN, PURPLE, RED, SKY, BLACK = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000",
)  # fmt: skip
COLOURS = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
STYLE = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "text.color": "black",
    "axes.labelcolor": "black",
    "xtick.color": "black",
    "ytick.color": "black",
    "axes.edgecolor": "#555555",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "axes.axisbelow": True,
    "axes.titlesize": "medium",
    "legend.frameon": False,
    "legend.fontsize": "small",
    "lines.linewidth": 1.8,
}


def show(figure: Figure, sentence: str) -> None:
    """Display a figure with its sentence: as alternative text for who cannot see it, and below it for all."""
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=144, transparent=False)
    PIL.Image.open(drawn).convert("RGB").quantize(64).save(small, format="png", optimize=True)  # a quarter of the bytes
    width = int(figure.get_figwidth() * 96)
    display(Image(small.getvalue(), alt=sentence, width=width), Markdown(sentence))


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Draw in the course's style, whatever the reader's own settings are."""

    @functools.wraps(draw)
    def in_style(*args: Any, **kwargs: Any) -> Figure:
        with mpl.rc_context({**mpl.rcParamsDefault, **STYLE}):
            return draw(*args, **kwargs)

    return in_style


def panels(n: int, width: float = 3.4, height: float = 3.0, **options: Any) -> tuple[Figure, list[Axes]]:
    """A row of n panels; sizes in inches."""
    figure = Figure(figsize=(width * n, height), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(1, n, **options)))


def spread(
    ax: Axes, x: Sequence[float], runs: Sequence[Sequence[float]], label: str, which: int = 0, live: int = 0
) -> None:
    """A thin line for every run and a thick one for their mean: runs is [runs, points].

    `which` picks colour, marker and dashes; the first `live` runs, those of this session, are drawn darker.
    """
    colour, dashes = COLOURS[which], DASHES[which % len(DASHES)]
    for i, line in enumerate(runs):
        ax.plot(x, line, color=colour, alpha=0.9 if i < live else 0.3, linewidth=0.9, linestyle=dashes)
    label = f"{label} (mean of {len(runs)})" if len(runs) > 1 else label
    marker = MARKERS[which] if len(x) <= 25 else None
    ax.plot(x, np.mean(runs, axis=0), color=colour, marker=marker, markersize=4, linestyle=dashes, label=label)


@styled
def learning_curves(
    groups: dict[str, Sequence[Sequence[dict[str, float]]]],
    columns: dict[str, str],
    level: dict[str, float] | None = None,
) -> Figure:
    """Logged rows against the update: a panel for each column, a line for each run.

    Args:
        groups: {kind of network: runs, each a list of logged rows}.
        columns: {name in the rows: title of the panel}.
        level: {name in the rows: a value to mark by a dotted line}.
    """
    figure, axes = panels(len(columns), width=3.0)
    for ax, (name, title) in zip(axes, columns.items(), strict=True):
        for which, (kind, runs) in enumerate(groups.items()):
            for i, rows in enumerate(runs):
                x, y = [row["update"] for row in rows], [row[name] for row in rows]
                label = kind if i == 0 else None
                ax.plot(x, y, color=COLOURS[which], linestyle=DASHES[which], alpha=0.8, linewidth=1.2, label=label)
        if level and name in level:
            ax.axhline(level[name], color=BLACK, linestyle=":", linewidth=1.2)
        ax.set(title=title, xlabel="update")
        ax.set_xlim(left=0)
        ax.xaxis.set_major_locator(MaxNLocator(4))
    axes[0].legend()
    return figure


@styled
def halting_distribution(p: Sequence[Sequence[float]], prior: Sequence[float], labels: Sequence[str]) -> Figure:
    """p_n of several networks [networks, N] beside the prior they were drawn to [N]."""
    figure, axes = panels(len(p), sharey=True)
    n = np.arange(1, len(prior) + 1)
    for ax, p_n, label in zip(axes, p, labels, strict=True):
        ax.bar(n, p_n, color=BLUE, label="$p_n$, learnt")
        ax.plot(n, prior, color=RED, marker="s", markersize=4, linestyle="--", label="$p_G(n)$, prior")
        ax.set(title=label, xlabel="step $n$")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("probability to halt at $n$")
    axes[0].legend()
    return figure


@styled
def accuracy_by_step(by_seed: Sequence[Sequence[float]], sampled: Sequence[float], chance: float) -> Figure:
    """Accuracy if one always stopped at step n [seeds, N], beside that of sampled halting [seeds]."""
    figure, (ax,) = panels(1, width=6)
    n = np.arange(1, len(by_seed[0]) + 1)
    spread(ax, n, by_seed, "always stopping at step $n$")
    ax.axhline(np.mean(sampled), color=RED, linestyle="--", label="halting sampled from $p_n$")
    ax.axhline(chance, color=BLACK, linestyle=":", label="chance")
    ax.set(xlabel="step $n$", ylabel="accuracy", ylim=(0, 1.03))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="lower right")
    return figure


@styled
def by_difficulty(
    k: Sequence[int],
    groups: Sequence[dict[str, Sequence[Sequence[float]]]],
    labels: Sequence[str],
    border: float | None = None,
    live: int = 0,
) -> Figure:
    """Numbers that depend on the difficulty k, with the spread over runs, and the border of the training range.

    Args:
        k: difficulties, the x axis.
        groups: one dict for each panel, {network: [runs, len(k)]}.
        labels: of the panels' y axes.
        border: training ended at this k; what lies beyond is grey.
        live: so many runs of each network, the first, are of this session; they are drawn darker.
    """
    figure, axes = panels(len(groups), width=4.6, height=3.5)
    for ax, group, label in zip(axes, groups, labels, strict=True):
        for which, (name, runs) in enumerate(group.items()):
            spread(ax, k, runs, name, which, live)
        if border is not None:
            ax.axvspan(border + 0.5, k[-1] + 0.5, color="#EEEEEE", zorder=0)
        ax.set(xlabel="non-zero elements $k$", ylabel=label, xlim=(k[0] - 0.5, k[-1] + 0.5))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend()
    return figure


@styled
def by_lambda_p(
    lambda_ps: Sequence[float],
    measured: Sequence[dict[str, dict[bool, Sequence[tuple[float, float]]]]],
    labels: Sequence[str],
    theory: Sequence[dict[str, Sequence[float]]],
) -> Figure:
    """Numbers that depend on lambda_p: a mark for every run, full if it is of this session, beside lines of theory.

    Args:
        lambda_ps: the settings, the x axis.
        measured: one dict for each panel, {group: {of this session?: [(lambda_p, value), ...]}}.
        labels: of the panels' y axes.
        theory: one dict for each panel, {label: a value for each of lambda_ps}.
    """
    figure, axes = panels(len(labels), width=4.8, height=3.7)
    for ax, groups, label, lines in zip(axes, measured, labels, theory, strict=True):
        for which, (name, runs) in enumerate(groups.items()):
            shift = 0.03 * (which - (len(groups) - 1) / 2)  # groups side by side
            for live in (False, True):
                x, y = np.reshape(runs.get(live, []), (-1, 2)).T
                face = COLOURS[which] if live else "none"
                ax.scatter(
                    x + shift, y, s=26, marker=MARKERS[which], facecolor=face, edgecolor=COLOURS[which], zorder=3
                )
            ax.scatter([], [], s=26, marker=MARKERS[which], color=COLOURS[which], label=name)
        for which, (name, y) in enumerate(lines.items()):
            ax.plot(lambda_ps, y, color=BLACK, linewidth=1.2, linestyle=DASHES[which + 1], label=name)
        ax.set(xlabel=r"$\lambda_p$", ylabel=label, xticks=list(lambda_ps))
    axes[-1].legend()
    return figure


@styled
def traces(
    answers: Sequence[Sequence[float]], halting: Sequence[Sequence[float]], p: Sequence[Sequence[float]],
    titles: Sequence[str], targets: Sequence[float],
) -> Figure:  # fmt: skip
    """Single inputs on their way through the steps: P(odd) after each step, lambda_n and p_n, each [inputs, N]."""
    figure, axes = panels(len(titles), sharey=True)
    n = np.arange(1, len(p[0]) + 1)
    for ax, answer, lambda_n, p_n, title, target in zip(axes, answers, halting, p, titles, targets, strict=True):
        ax.bar(n, p_n, color=SKY, label="$p_n$")
        ax.plot(n, answer, color=BLUE, marker="o", markersize=4, label="answer, P(odd)")
        ax.plot(n, lambda_n, color=RED, marker="s", markersize=3, linestyle="--", label=r"$\lambda_n$")
        ax.axhline(target, color=BLACK, linestyle=":", linewidth=1.2, label="target")
        ax.set(title=title, xlabel="step $n$", ylim=(-0.03, 1.03))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
