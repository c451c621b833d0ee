"""What lesson 05 measures of networks that think along a line of places."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from ponder_course.common.lines import AdditionTask, LineParityTask, flipped
from ponder_course.common.measures import correlation, mean, same_for_all, think
from ponder_course.common.store import Row
from ponder_course.light_cone.lesson import loss_of_line, whole_lines_right
from ponder_utils import rules
from ponder_utils.act import act_average
from ponder_utils.halting import expected_steps
from ponder_utils.pondernet import PonderNet

CARRIES: Row = {"task": "addition, long carries", "beta": 0.03}  # of the networks that learn to add
RULES: dict[str, rules.Rule] = {
    "most probable": rules.most_probable,
    **{f"quantile {q}": partial(rules.quantile, q=q) for q in (0.5, 0.9, 0.99)},
    **{f"threshold {q}": partial(rules.threshold, q=q) for q in (0.05, 0.1, 0.2)},
}
# Places of the lines that a network is tested on, N, and how many lines; the first are as those of training.
TESTS = {16: (20, 2000), 32: (40, 1000), 64: (80, 1000), 256: (300, 200)}


def fresh(task: Any, n_lines: int = 1000, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return the lines that networks are tested on, the same on every device."""
    return task.batch(n_lines, torch.Generator().manual_seed(seed))


def mean_by_need(steps: Tensor, need: Tensor, largest: int) -> list[float]:
    """Return the mean steps of the lines that need 1, 2, ..., `largest`: nan where there are none."""
    return [steps[need == L].float().mean().item() for L in range(1, largest + 1)]


@torch.no_grad()
def changed(model: PonderNet, x: Tensor, place: int) -> Tensor:
    """Return which answers change on some of the lines when the bit at a place (from 0) is flipped: [N, places]."""
    return (model(x).y_hat != model(flipped(x, place)).y_hat).any(1)


@torch.no_grad()
def measure(model: PonderNet, task: Any, N: int, n_lines: int) -> Row:
    """Measure a network on fresh lines of a task, its cap on steps set to N."""
    device = next(model.parameters()).device
    x, y = (part.to(device) for part in fresh(task, n_lines))
    need = task.needed_steps(x).amax(1)  # [lines]
    output = think(model, x, N)
    right = whole_lines_right(output.y_hat, y.expand_as(output.y_hat)).float()  # [N, lines]
    early = torch.arange(1, N + 1, device=device)[:, None] < need  # [N, lines]
    halting = {"sample": output.log_p.exp()}  # [N, lines] each: the probability to halt at each step
    for name, rule in RULES.items():
        halting[name] = one_hot(rules.halting_steps(output, rule) - 1, N).T.float()
    steps, lambda_n = expected_steps(output.log_p), output.halt_logits.sigmoid()[:-1]  # the last has no influence
    groups = [steps[need == n] for n in range(1, int(need.max()) + 1)]  # of lines that need 1, 2, ...
    needs = {"all": task.needed_steps(x)}
    if isinstance(task, AdditionTask):  # also if the first guess is no carry, or a carry
        needs |= {"carries": task.needed_steps(x, guess=0), "no carries": task.needed_steps(x, guess=1)}
    return {
        "rules": {name: under_rule(p, right, early) for name, p in halting.items()},
        "by_step": right.mean(1).tolist(),  # if every line stops at step n
        "by_need": [group.mean().item() if len(group) else None for group in groups],
        "corr": {name: correlation(steps, by_place.amax(1), math.nan) for name, by_place in needs.items()},
        "need": mean(need),
        "waiting": lambda_n[early[:-1]].mean().item(),  # before the needed step
        "ready": lambda_n[~early[:-1]].mean().item(),  # and from there on
    }


def under_rule(p: Tensor, right: Tensor, early: Tensor) -> dict[str, float]:
    """Return the fraction of right lines, the mean steps, and the fraction too early. p and all: [N, lines]."""
    n = torch.arange(1, len(p) + 1, device=p.device)[:, None]
    by_line = {"right": p * right, "steps": n * p, "before": p * early}
    return {name: values.sum(0).mean().item() for name, values in by_line.items()}


def measure_act(model: PonderNet, task: LineParityTask, N: int, n_lines: int) -> Row:
    """Measure a network that learnt with ACT's loss on fresh lines, with N steps at most: by budget, and by the unit.

    "by_need" and the like have a value for each need from 1 on: mean steps (nan: no line), right lines, and lines.
    """
    device = next(model.parameters()).device
    x, y = (part.to(device) for part in fresh(task, n_lines))
    need = task.needed_steps(x).amax(1)  # [lines]
    output = think(model, x, N)
    act = act_average(output)
    steps, unit = act.steps[0].float(), output.halt_logits.sigmoid()  # [lines], [N, lines]
    right = whole_lines_right(act.y_hat[0], y)  # [lines]
    waiting = torch.arange(1, N + 1, device=device)[:, None] < need
    groups = [need == L for L in range(1, x.shape[2] + 1)]
    return {
        "by_need": [steps[group].mean().item() for group in groups],
        "right_by_need": [right[group].sum().item() for group in groups],
        "lines_by_need": [group.sum().item() for group in groups],
        "right": right.float().mean().item(),
        "unit while waiting": unit[waiting].median().item(),
    }


def at_sizes(measure: Callable[..., Row], model: PonderNet, caps: dict[int, int], n_lines: int) -> dict[int, Row]:
    """Measure a network on lines of several lengths, {places: N}, and return {places: measures}."""
    return {places: measure(model, LineParityTask(places), N, n_lines) for places, N in caps.items()}


def measured(rows: Sequence[Row], where: str = "tests") -> list[dict[int, Row]]:
    """Return what `measure` found of each of the stored runs, {places: measures}."""
    return [{int(places): test for places, test in row[where].items()} for row in rows]


def values(tests: Sequence[dict[int, Row]], places: int, rule: str, what: str) -> list[float]:
    """Return right, steps, before (see `under_rule`), or gain (see `gain`), of all networks tested there."""
    there = [test[places] for test in tests if places in test]
    return [gain(test, rule) if what == "gain" else test["rules"][rule][what] for test in there]


def lateness(test: Row, rule: str = "sample") -> float:
    """Return the mean steps above the limit, for one network and one number of places."""
    return test["rules"][rule]["steps"] - test["need"]


def gain(test: Row, rule: str) -> float:
    """Return what halting by this rule adds to the right lines, beside the same mean number of steps for all."""
    halted = test["rules"][rule]
    return halted["right"] - same_for_all(test["by_step"], halted["steps"])


@torch.no_grad()
def both_averages(model: PonderNet, x: Tensor, y: Tensor, N: int) -> tuple[float, float, float]:
    """Return ACT's loss of the average answer, the average of its losses, and its weight before step L, on lines x, y.

    All three with ACT's own weights. The lines need L steps, as many as they have places.
    """
    output = think(model, x, N)
    losses = torch.stack([loss_of_line(y_hat, y) for y_hat in output.y_hat])  # [N, lines]
    early = (torch.arange(1, N + 1, device=x.device) < x.shape[2]).float()[:, None].expand_as(losses)
    answer, of_losses, before = (
        act_average(output._replace(y_hat=part)).y_hat[0] for part in (output.y_hat, losses, early)
    )
    return mean(loss_of_line(answer, y)), mean(of_losses), mean(before)
