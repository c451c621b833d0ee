"""What the judge of lesson 06 says before the answer can be known: how likely all guesses are right."""

import math
from typing import Any

import torch
from torch.nn.functional import logsigmoid

from ponder_course.common.lines import LineParityTask
from ponder_course.common.measures import mean
from ponder_course.common.runs import seeded
from ponder_course.common.store import Row
from ponder_course.light_cone.experiment import fresh
from ponder_course.light_cone.lesson import whole_lines_right
from ponder_evidence.runs import grid
from ponder_evidence.ways_to_stop.experiment import learn
from ponder_evidence.ways_to_stop.problems import PROBLEMS

MOST_OPEN = 10  # open places that are looked at


@torch.no_grad()
def run(seed: int, **recipe: Any) -> Row:
    """Train a judge on the first problem of lesson 06, and compare what it says with how often it is right.

    A place is open at step n if it has not heard the start of its segment. By the number of open places of a line, from
    0 on, over all lines and steps, [MOST_OPEN + 1] each: "count", how many there were; "yes", the mean of lambda_n;
    "log2", the mean of its logarithm; "right", the fraction of whole lines that were right.
    """
    with torch.enable_grad():
        model = learn("lines", "judge", 0.0, seed, recipe)
    x, y = fresh(LineParityTask(recipe["size"]), 4000, seed=101)
    output = model(x)
    n = torch.arange(1, len(output.halt_logits) + 1)[:, None, None]
    n_open = (LineParityTask.needed_steps(x) > n).sum(2)  # [N, lines]
    right = whole_lines_right(output.y_hat, y.expand_as(output.y_hat)).double()
    log2 = logsigmoid(output.halt_logits.double()) / math.log(2)
    columns: Row = {"count": [], "yes": [], "log2": [], "right": []}
    for k in range(MOST_OPEN + 1):
        here = n_open == k
        columns["count"].append(int(here.sum()))
        for name, values in {"yes": log2.exp2(), "log2": log2, "right": right}.items():
            columns[name].append(mean(values[here]) if here.any() else None)
    return columns


SETTINGS = seeded([PROBLEMS["lines"].recipe], 10)
EXPERIMENTS = {"judge": grid("06_judge", run, SETTINGS, {"updates": 5})}
