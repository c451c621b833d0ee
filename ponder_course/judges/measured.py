"""What lesson 11 draws of trained networks and of stored runs."""

from collections.abc import Mapping, Sequence

import pandas as pd
import torch
from torch import Tensor

from ponder_course.common.measures import at_step, mean
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.judges.experiment import Thought, measure, think
from ponder_course.judges.lesson import JudgedLine
from ponder_course.judges.task import SumTask

Share = Mapping[int, float]  # a fraction of lines, by the step less the steps needed
Ends = Mapping[str, Sequence[tuple[float, float]]]  # by kind, of each network
N_LINES, SEED = 2000, 101  # of the lines that stored networks are tested on
COLUMNS = {  # of what is measured: its title in a table, and how it is written
    "steps": ("steps taken", ".2f"),
    "early": ("too early", ".0%"),
    "right": ("right when they halt", ".1%"),
}


def fresh(step: JudgedLine, size: int, n_lines: int = N_LINES) -> tuple[Tensor, Tensor]:
    """Return lines of a size for a step: x [n_lines, 2, size], y [n_lines, size]."""
    return SumTask(size, n_values=step.n_values).batch(n_lines, torch.Generator().manual_seed(SEED))


def thoughts_of(step: JudgedLine, size: int, N: int, n_lines: int = N_LINES) -> tuple[Thought, Tensor]:
    """Return what a step says of fresh lines of a size in N steps, and the steps that these need: [lines]."""
    x, y = fresh(step, size, n_lines)
    return think(step, x, y, N), SumTask.needed_steps(x).amax(1)


def stored_ladder(rows: Sequence[Row]) -> dict[int, list[list[float]]]:
    """Return what TRM's stored judges say of lines of 16 places with 0, 1, ... open: {values: [networks, open]}."""
    yes: dict[int, list[list[float]]] = {}
    for row in sorted(matching(rows, judge="TRM"), key=lambda row: row["n_values"]):
        yes.setdefault(row["n_values"], []).append(row["tests"]["16 places"]["yes"])
    return yes


def halting_leads(step: JudgedLine) -> Share:
    """Return for which fraction of fresh lines of 16 places HRM's value of halting is larger, around their need."""
    return leads_around(*thoughts_of(step, 16, 20))


def leads_around(thought: Thought, needed: Tensor, before: int = 4, after: int = 10) -> Share:
    """Return that fraction from some steps before the lines' need to some after it; lines without such a step are left
    out.
    """
    leads = thought.q_logits[:, 0] > thought.q_logits[:, 1]  # [N, lines]
    away = torch.arange(1, len(leads) + 1)[:, None] - needed
    return {step: mean(leads[away == step]) for step in range(-before, after + 1)}


def stored_ends(rows: Sequence[Row], staying: Sequence[Row], n_values: int) -> Ends:
    """Return how many lines of 16 places with so many values are right when they halt, and at the last step.

    By TRM's rule; staying: runs whose lines all stay to the last step in training. {kind: [networks]}, {} of no rows.
    """
    kinds = {"in training halted lines left": matching(rows, judge="TRM", n_values=n_values)}
    kinds["in training all lines stayed"] = matching(staying, n_values=n_values)
    tests = {name: [row["tests"]["16 places"] for row in of_kind] for name, of_kind in kinds.items() if of_kind}
    return {name: [(test["right"], test["at_N"]) for test in of_kind] for name, of_kind in tests.items()}


def table_of(networks: Mapping[str, Sequence[JudgedLine]], *names: str) -> pd.DataFrame:
    """Return a table of what `measure` finds of networks on fresh lines of 16 places: a row for each, a column for each
    of the names, which are in COLUMNS.
    """
    table = {}
    for kind, steps in networks.items():
        for number, step in enumerate(steps, 1):
            measures = measure(step, *fresh(step, 16), 20)
            row = {COLUMNS[name][0]: format(measures[name], COLUMNS[name][1]) for name in names}
            table[kind, f"network {number}"] = row
    return pd.DataFrame(table).T


def by_level(steps: Sequence[JudgedLine], levels: Sequence[float]) -> pd.DataFrame:
    """Return a table of halting where Q of halting is above a level, for each level, over the lines of all networks."""
    thoughts = [thoughts_of(step, 16, 20) for step in steps]
    table = {}
    for level in levels:
        taken, needed, right = [], [], []
        for thought, need in thoughts:
            halts = thought.q_logits[:, 0].sigmoid() > level  # [N, lines]
            halts[-1] = True
            taken.append(halts.int().argmax(0) + 1)
            needed.append(need)
            right.append(at_step(thought.right, taken[-1]))
        early = torch.cat(taken) < torch.cat(needed)
        table[f"{level:g}"] = {
            "steps taken": f"{torch.cat(taken).double().mean():.2f}",
            "too early": f"{early.double().mean():.0%}",
            "right": f"{torch.cat(right).double().mean():.1%}",
        }
    return pd.DataFrame(table).T
