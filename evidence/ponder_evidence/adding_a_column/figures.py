"""Figures of the evidence of lesson 09."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ponder_course.common import style, verdicts
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import legend, lines, panels, slide

LOOKS = {  # kind and hyperparameter: name, colour, dashes
    ("fixed", 1): ("one step", style.SKY, "-"),
    ("fixed", 4): ("four steps", style.PURPLE, "-"),
    ("fixed", 6): ("six steps", style.PURPLE, "-"),
    ("ACT", 0.1): ("ACT", style.HALTING, "-"),
    ("PonderNet", 0.2): ("PonderNet", style.GREEN, "--"),
    ("every step", 0): ("sure", style.DARK_GREY, ":"),
}


@slide
def by_level(rows: Sequence[Row], what: str, first: int = 1, by_time: bool = False) -> Figure:
    """Wrong answers, and steps, by the level of difficulty, or by the time step: a thin line for each run."""
    figure, axes = panels(2, width=4.9, height=3.6)
    steps = ("steps_by_time", 1, 1) if by_time else ("steps", first, 1)
    for (kind, value), (name, colour, dashes) in LOOKS.items():
        group = matching(rows, kind=kind, hyperparameter=value)
        for ax, (measured, begin, factor) in zip(axes, (("error", first, 100), steps), strict=True):
            if not group or (ax is axes[1] and kind == "fixed"):
                continue
            runs = factor * np.array([row[measured] for row in group])
            places = range(begin, begin + runs.shape[1])
            lines(ax, places, runs, color=colour, linewidth=0.6, linestyle=dashes)
            ax.plot(places, runs.mean(0), color=colour, linewidth=2.4, linestyle=dashes, label=name)
            ax.set_xticks(places)
    axes[0].set(xlabel=what, ylabel="wrong answers, %", ylim=(-2, None))
    axes[1].set(xlabel="time step" if by_time else what, ylabel="mean steps", ylim=(0, None))
    return legend(figure, columns=4)


NAMES = {kind: name for kind, (name, *_) in LOOKS.items()}
NAMES |= {("ACT", price): f"ACT, price {price}" for price in (0.03, 0.3)}


def wrong_and_steps(rows: Sequence[Row]) -> pd.DataFrame:
    """Return a table of wrong sequences and of steps, a row for each kind and hyperparameter of NAMES that has runs."""
    table = {}
    for (kind, value), name in NAMES.items():
        if group := matching(rows, kind=kind, hyperparameter=value):
            wrong = [100 * row["sequence_error"] for row in group]
            table[name] = {
                "networks": len(group),
                "wrong sequences, %: mean": f"{verdicts.interval(wrong)[0]:.1f}",
                "and range": verdicts.span(wrong, ".1f"),
                "mean steps": verdicts.span([row["mean_steps"] for row in group], ".2f"),
                "correlation of steps and difficulty": verdicts.span([row["follows"] for row in group], ".2f"),
            }
    return pd.DataFrame(table).T


@slide
def trace_over_text(row: Row) -> Figure:
    """Draw the steps and the entropy at each character of the text that a run has read as its "trace"."""
    read, steps, entropy = (row["trace"][name] for name in ("read", "steps", "entropy"))
    figure, axes = panels(2, width=10, height=2.1, rows=2, sharex=True)
    places = range(len(read))
    axes[0].bar(places, steps, color=style.HALTING, width=0.8)
    axes[0].set(ylabel="steps", yticks=range(max(steps) + 1))
    axes[1].plot(places, entropy, color=style.DARK_GREY, linewidth=1.4)
    axes[1].set(ylabel="entropy, bits", ylim=(0, None), xlim=(-0.6, len(read) - 0.4))
    for place in places:
        if read[place] in " .,":
            axes[1].axvline(place, color=style.PALE_GREY, linewidth=1, zorder=0)
    axes[1].set_xticks(places, list(read), fontsize=12.5)
    axes[1].tick_params(axis="x", length=0)
    for ax in axes:
        ax.grid(axis="x", visible=False)
    return figure


def by_vote(kinds: Mapping[str, Sequence[Row]], places: int) -> pd.DataFrame:
    """Return a table of what networks with each kind of vote do with sums of so many places; ranges over networks."""
    table = {}
    for kind, rows in kinds.items():
        tests = [row["tests"][str(places)] for row in rows]
        pairs = [test["pair"] for test in tests]
        table[kind] = {
            "networks": len(tests),
            "sums right": verdicts.span([test["right"] / test["sums"] for test in tests], ".1%"),
            "steps": verdicts.span([test["steps"] for test in tests], ".1f"),
            "needed": verdicts.span([test["needed"] for test in tests], ".1f"),
            "too early": verdicts.span([test["early"] for test in tests], ".1%"),
            "steps at 11...1 + 0": verdicts.span([pair["steps"][0] for pair in pairs], "d"),
            "steps at 11...1 + 1": verdicts.span([pair["steps"][1] for pair in pairs], "d"),
            "both right": sum(all(pair["right"]) for pair in pairs),
        }
    return pd.DataFrame(table).T
