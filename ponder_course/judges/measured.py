"""What lesson 11 draws of trained networks and of stored runs."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import torch
from torch import Tensor

from ponder_course.common.measures import at_step, mean
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.judges.experiment import JudgedLine, Thought, halting_steps, learn, measure, think
from ponder_course.judges.task import SumTask

Share = Mapping[int, float]  # a fraction of lines, by the step less the steps needed
Ends = Mapping[str, Sequence[tuple[float, float]]]  # by kind, of each network
N_LINES, SEED = 2000, 101  # of the lines that stored networks are tested on
JUDGES: dict[str, Row] = {
    "TRM": {"judge": "TRM"},
    "HRM": {"judge": "HRM", "discount": 1.0, "price": 0.0},
    "HRM, discount": {"judge": "HRM", "discount": 0.95, "price": 0.0},
}


def thoughts_of(
    step: JudgedLine, size: int, N: int, n_lines: int = N_LINES, seed: int = SEED
) -> tuple[Thought, Tensor]:
    """Return what a step says of fresh lines of a size in N steps, and the steps that these need: [lines]."""
    x, y = SumTask(size, n_values=step.n_values).batch(n_lines, torch.Generator().manual_seed(seed))
    return think(step, x, y, N), SumTask.needed_steps(x).amax(1)


def stored_ladder(rows: Sequence[Row]) -> dict[int, list[list[float]]]:
    """Return what TRM's stored judges say of lines of 16 places with 0, 1, ... open: {values: [networks, open]}."""
    yes: dict[int, list[list[float]]] = {}
    for row in sorted(matching(rows, judge="TRM"), key=lambda row: row["n_values"]):
        yes.setdefault(row["n_values"], []).append(row["tests"]["16 places"]["yes"])
    return yes


def halting_leads(thought: Thought, needed: Tensor, before: int = 4, after: int = 10) -> Share:
    """Return for which fraction of lines HRM's value of halting is larger, from some steps before their need to some
    after it; lines that have no such step are left out.
    """
    leads = thought.q_logits[:, 0] > thought.q_logits[:, 1]  # [N, lines]
    away = torch.arange(1, len(leads) + 1)[:, None] - needed
    return {step: mean(leads[away == step]) for step in range(-before, after + 1)}


def stored_ends(rows: Sequence[Row], staying: Sequence[Row], n_values: int) -> Ends:
    """Return how many lines of 16 places with so many values are right when they halt, and at the last step.

    staying: runs of TRM's judge whose lines all stay to the last step in training. {kind: [networks]}, {} of no rows.
    """
    runs = {name: matching(rows, n_values=n_values, **how) for name, how in JUDGES.items()}
    runs["all lines stay"] = matching(staying, n_values=n_values)
    found = {name: [row["tests"]["16 places"] for row in of_kind] for name, of_kind in runs.items() if of_kind}
    return {name: [(test["right"], test["at_N"]) for test in tests] for name, tests in found.items()}


def table_of(networks: Mapping[str, Sequence[JudgedLine]], size: int, N: int, n_lines: int = N_LINES) -> pd.DataFrame:
    """Return a table of what `measure` finds of networks on fresh lines of a size: a row for each."""
    table = {}
    for name, steps in networks.items():
        for number, step in enumerate(steps, 1):
            x, y = SumTask(size, n_values=step.n_values).batch(n_lines, torch.Generator().manual_seed(SEED))
            found = measure(step, x, y, N)
            table[name, f"network {number}"] = {
                "steps taken": f"{found['steps']:.2f}",
                "too early": f"{found['early']:.0%}",
                "right": f"{found['right']:.1%}",
            }
    return pd.DataFrame(table).T


def running_on(networks: Mapping[str, Sequence[JudgedLine]], size: int, N: int) -> str:
    """Say how many lines of a size take all N steps, in each network of each kind."""
    found = []
    for name, steps in networks.items():
        last = [halting_steps(thoughts_of(step, size, N)[0]) == N for step in steps]
        found.append(f"{name} {' and '.join(f'{mean(each):.0%}' for each in last)}")
    return f"lines that run to step {N}: {'; '.join(found)}"


def in_the_end(steps: Sequence[JudgedLine], size: int, N: int) -> str:
    """Say how many lines of a size are right when they halt, and if all take N steps, in each network of a kind."""
    found: dict[str, list[str]] = {"when they halt": [], f"at step {N}": []}
    for step in steps:
        thought, _ = thoughts_of(step, size, N)
        rights = (at_step(thought.right, halting_steps(thought)), thought.right[-1])
        for numbers, right in zip(found.values(), rights, strict=True):
            numbers.append(f"{mean(right):.1%}")
    return "right " + ", ".join(f"{when} {' and '.join(numbers)}" for when, numbers in found.items())


def by_level(thoughts: Sequence[tuple[Thought, Tensor]], levels: Sequence[float]) -> pd.DataFrame:
    """Return a table of halting where Q of halting is above a level, for each level, over the lines of all networks."""
    table = {}
    for level in levels:
        taken, needed, right = [], [], []
        for thought, need in thoughts:
            steps = halting_steps(thought, lambda q: q[0].sigmoid() - level)  # noqa: B023 - called at once
            taken.append(steps)
            needed.append(need)
            right.append(at_step(thought.right, steps))
        early = torch.cat(taken) < torch.cat(needed)
        table[f"{level:g}"] = {
            "steps taken": f"{torch.cat(taken).double().mean():.2f}",
            "too early": f"{early.double().mean():.0%}",
            "right": f"{torch.cat(right).double().mean():.1%}",
        }
    return pd.DataFrame(table).T


def equals_package(
    other: Callable[[int, int], JudgedLine], judge: str, n_values: int, places: int, N: int, discount: float = 0.95
) -> bool:
    """Return whether another training, (updates, seed) -> step, ends with the weights of the package's."""
    recipe = {"size": places, "N": N, "batch": 128, "lr": 4e-3, "clip": 1.0, "updates": N + 5}
    step = learn(judge, n_values, discount, 0.0, 0, recipe, "product", refill=True)
    pairs = zip(step.parameters(), other(N + 5, 0).parameters(), strict=True)
    return all(torch.allclose(a, b) for a, b in pairs)
