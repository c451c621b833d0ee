"""The exercises' checks pass on the solutions, and fail on the stubs and on plausible wrong answers."""

import importlib.util
import math
from pathlib import Path
from statistics import mean

import nbformat
import numpy as np
import pytest
import torch
from torch import Tensor, nn

import ponder_utils
from ponder_course.alone_and_together import experiment as forests
from ponder_course.common import notebook
from ponder_course.map_of_thought.experiment import with_both_colours
from ponder_utils import rules
from ponder_utils.tasks.mazes import distances

ROOT = Path(__file__).resolve().parents[2] / "notebooks"
CASES = [(path, path.stem.partition("_")[2]) for path in sorted(ROOT.glob("*.ipynb"))]


def exercises(path):
    """The stubs and checks of a notebook, by name."""
    names = {"torch": torch, "Tensor": Tensor, "nn": nn, "notebook": notebook, "mean": mean, "pu": ponder_utils}
    names |= {name: getattr(ponder_utils, name) for name in ("LineParityTask", "LocalStep", "PonderNet")}
    names |= {"rules": rules, "PonderOutput": ponder_utils.PonderOutput}
    names |= {"MazeTask": ponder_utils.MazeTask, "shown": first_maze()}
    names |= {"ForestTask": ponder_utils.ForestTask, "forests": forests, "math": math}
    names |= {"ColumnTask": ponder_utils.ColumnTask, "width": 12}
    names["cross_entropy"] = nn.BCEWithLogitsLoss(reduction="none")
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for i, cell in enumerate(cells):
        if "check" in cell.metadata.get("tags", []):
            exec(cells[i - 1].source, names)
            exec(cell.source, names)
    return names


def first_maze():
    """The maze that the reader of lesson 07 colours."""
    x, _ = ponder_utils.MazeTask(5).batch(200, torch.Generator().manual_seed(4))
    return x[with_both_colours(x)[0]]


def without_walls(x):
    return torch.cat([torch.ones_like(x[:, :1]), x[:, 1:]], 1)


def solutions(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "solutions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("path", "name"), CASES, ids=[name for _, name in CASES])
def test_checks_fail_on_the_stubs_and_pass_on_the_solutions(path, name):
    names = exercises(path)
    checks = [check for check in names if check.startswith("check_")]
    assert checks
    for check in checks:
        task = check.removeprefix("check_")
        assert not notebook.attempt(names[check], names[task])
        assert notebook.attempt(names[check], getattr(solutions(name), task))


def bce(y_hat, y):
    return nn.functional.binary_cross_entropy_with_logits(y_hat, y.expand_as(y_hat), reduction="none")


def survivals(lambdas):
    """Of the steps before n."""
    return torch.cat([torch.ones_like(lambdas[:1]), (1 - lambdas[:-1]).cumprod(0)])


def turn_each(x, degrees, generator, draw):
    angle = draw(len(x), generator).mul(degrees).deg2rad()
    c, s, zero = angle.cos(), angle.sin(), torch.zeros(len(x))
    matrix = torch.stack([torch.stack([c, -s, zero], 1), torch.stack([s, c, zero], 1)], 1)
    places = nn.functional.affine_grid(matrix, list(x.shape), align_corners=False)
    return nn.functional.grid_sample(x, places, align_corners=False)


def to_the_edges(height, width, row, column):
    """Places to the farther edge, down or up and right or left."""
    return max(row, height - 1 - row), max(column, width - 1 - column)


def capped(h, epsilon, at_the_cap):
    """Weights of ACT, but for what happens where the cap ends it."""
    for n in range(len(h)):
        if sum(h[: n + 1]) >= 1 - epsilon:
            return [*h[:n], 1 - sum(h[:n])]
    return at_the_cap(h)


act_background = solutions("act_background")
light_cone = solutions("light_cone")
ways_to_stop = solutions("ways_to_stop")
EVEN, RISING = torch.full((3, 4), 1 / 3), torch.arange(12.0).square().view(3, 4)  # p_n, and losses: [N, batch]
UNEVEN = torch.tensor([[0.7, 0.2, 0.1, 0.4], [0.2, 0.2, 0.8, 0.3], [0.1, 0.6, 0.1, 0.3]])


def halting_by_loop(lambdas):
    p, survival = [], 1.0
    for lambda_n in lambdas[:-1]:
        p.append(lambda_n * survival)
        survival = survival * (1 - lambda_n)
    return torch.stack([*p, survival])


WRONG = {
    ("01_act_background", "count_steps"): [
        lambda h, epsilon: (h.cumsum(0) < 1 - epsilon).sum(0) + 1,  # one more than the cap
        lambda h, epsilon: (h[:-1].cumsum(0) < 1 - epsilon).sum(0),  # counted from 0
        lambda h, epsilon: (h[:-1] < 1 - epsilon).sum(0) + 1,  # no running sum
        lambda h, epsilon: (h[:-1].cumsum(0) < 1).sum(0) + 1,  # no epsilon
        lambda h, epsilon: (h[:-1].cumsum(0) <= 1 - epsilon).sum(0) + 1,  # more than enough
        lambda h, epsilon: (h[:-1].cumsum(0) < 1 - epsilon).sum() + 1,  # one number for the batch
        lambda h, epsilon: None,
    ],
    ("01_act_background", "weights_with_cap"): [
        lambda h, epsilon: [h_n / sum(h) for h_n in h] if sum(h) else h,  # renormalised
        lambda h, epsilon: [*h[:-1], 1 - sum(h[:-1])],  # never halts early
        lambda h, epsilon: [1.0],
        lambda h, epsilon: capped(h, epsilon, lambda h: [h_n + (1 - sum(h)) / len(h) for h_n in h]),  # spread evenly
        lambda h, epsilon: capped(h, epsilon, lambda h: [h_n / (sum(h) or 1) for h_n in h]),  # renormalised at the cap
        lambda h, epsilon: capped(h, epsilon, lambda h: [1 - sum(h[1:]), *h[1:]]),  # to the first
        lambda h, epsilon: capped(h, epsilon, lambda h: [*h, 1 - sum(h)]),  # one weight more
        lambda h, epsilon: None,
    ],
    ("01_act_background", "missing_for_one_fewer"): [
        lambda h, epsilon: 0.0,
        lambda h, epsilon: max(0.0, 1 - epsilon - h[0]),  # for a single step
        lambda h, epsilon: max(0.0, 1 - sum(h[:-1])),  # no epsilon
        lambda h, epsilon: max(0.0, 1 - epsilon - sum(h[:-1])),  # for one below the cap
        lambda h, epsilon: None,
    ],
    ("02_pondernet_theory", "halting_probs"): [
        lambda lambdas: lambdas * survivals(lambdas),  # the last step not forced
        lambda lambdas: lambdas * survivals(lambdas) / (lambdas * survivals(lambdas)).sum(0),  # renormalised instead
        lambda lambdas: lambdas * (1 - lambdas).cumprod(0) / (1 - lambdas),  # 0 / 0 at a sure step
        lambda lambdas: lambdas / lambdas.sum(0),
        lambda lambdas: torch.cat([lambdas[:-1], 1 - lambdas[:-1].sum(0, keepdim=True)]),  # ACT's weights
    ],
    ("02_pondernet_theory", "divergence"): [
        lambda log_p, g: nn.functional.kl_div(g[:, None].expand_as(log_p), log_p.exp(), reduction="none").sum(
            0
        ),  # nan gradient
        lambda log_p, g: nn.functional.kl_div(g[:, None].expand_as(log_p), log_p, log_target=True, reduction="sum"),
        lambda log_p, g: (log_p.exp() * (log_p - g[:, None])).mean(0),  # a mean over steps
        lambda log_p, g: (log_p.exp() * (g[:, None] - log_p)).sum(0),  # the sign
        lambda log_p, g: (log_p.exp() * (log_p.exp().log() - g[:, None])).sum(0),  # out of log space
        lambda log_p, g: (g.exp()[:, None] * (g[:, None] - log_p)).sum(0),  # reversed still
    ],
    ("02_pondernet_theory", "my_setting"): [
        lambda: (0.1, 0.4),
        lambda: (0.01, 0.4),  # the easy input does not feel beta
        lambda: (0.01, 0.1),
        lambda: (1.0, 0.7),  # the prior, guesses and all
        lambda: (0.2, 0.7),
        lambda: (0.7, 0.05),  # the wrong way round
        lambda: (-0.05, 0.7),
        lambda: None,
    ],
    ("02_pondernet_theory", "averages_too_early"): [
        lambda loss: True,
        lambda loss: False,
        lambda loss: loss(EVEN, RISING).ndim == 0,  # they all give one number
        lambda loss: not torch.isclose(loss(EVEN, RISING), (EVEN * RISING).sum(0).mean()),  # and no sum, then
        lambda loss: torch.isclose(loss(EVEN, RISING), loss(EVEN.roll(1, 1), RISING)),  # all have the same p
        lambda loss: torch.isclose(loss(UNEVEN, RISING), loss(UNEVEN.roll(1, 1), RISING.roll(1, 1))),  # both dealt
        lambda loss: torch.isclose(loss(UNEVEN, RISING), loss(UNEVEN.roll(1, 0), RISING)),  # steps for samples
    ],
    ("04_mnist_rotation", "right_if_stopped"): [
        lambda y_hat, y: (y_hat.argmax(2) == y).sum(1),  # counts
        lambda y_hat, y: (y_hat.argmax(2) == y).float().mean(0),  # for each digit
        lambda y_hat, y: (y_hat.argmax(2) == y).float().mean(),  # over the steps, too
        lambda y_hat, y: (y_hat.argmax(2) == y).float().cummax(0).values.mean(1),  # right at this step or before
        lambda y_hat, y: y_hat.softmax(2)[:, torch.arange(len(y)), y].mean(1),  # the probability of the right answer
        lambda y_hat, y: y_hat.argmax(2) == y,
    ],
    ("04_mnist_rotation", "turned_within"): [
        lambda x, d, g: turn_each(x, d, g, lambda n, g: torch.rand(n, generator=g)),  # one way only
        lambda x, d, g: turn_each(x, d, g, lambda n, g: torch.rand(n, generator=g) - 0.5),  # half as far
        lambda x, d, g: turn_each(x, d, g, lambda n, g: torch.randn(n, generator=g)),  # normal, not uniform
        lambda x, d, g: turn_each(x, d, g, lambda n, g: torch.randint(0, 2, (n,), generator=g) * 2.0 - 1),  # exactly d
        lambda x, d, g: x,
    ],
    ("04_mnist_rotation", "steps_of_right_answers"): [
        lambda p, right: ((p * right).sum(0) * (torch.arange(1.0, 7)[:, None] * p).sum(0)).sum() / (p * right).sum(),
        lambda p, right: (torch.arange(1.0, 7)[:, None] * p * right).sum(0).mean(),  # not divided by what is kept
        lambda p, right: (torch.arange(0.0, 6)[:, None] * p * right).sum() / (p * right).sum(),  # counted from 0
        lambda p, right: (torch.arange(1.0, 7)[:, None] * p * right).sum(0) / (p * right).sum(0),  # one for each image
        lambda p, right: ((torch.arange(1.0, 7)[:, None] * p * right).sum(0) / (p * right).sum(0)).nanmean(),
    ],
    ("04_mnist_rotation", "steps_to_know_all"): [
        lambda height, width, kernel, *place: 1 + max(to_the_edges(height, width, *place)),  # kernel of 3
        lambda height, width, kernel, *place: math.ceil(
            max(to_the_edges(height, width, *place)) / (kernel // 2)
        ),  # from 0
        lambda height, width, kernel, *place: 1 + math.ceil(max(height, width) / 2 / (kernel // 2)),  # the centre's
        lambda height, width, kernel, *place: 1 + max(to_the_edges(height, width, *place)) // (kernel // 2),  # floor
        lambda height, width, kernel, *place: (
            1 + math.ceil(sum(to_the_edges(height, width, *place)) / (kernel // 2))  # no diagonals
        ),
    ],
    ("04_mnist_rotation", "same_for_all"): [
        lambda by_step, steps: by_step[int(steps) - 1],  # rounded down
        lambda by_step, steps: by_step[min(round(steps), len(by_step)) - 1],
        lambda by_step, steps: by_step[int(steps)] if int(steps) < len(by_step) else by_step[-1],  # from 0
        lambda by_step, steps: by_step[int(steps) - 1] * (1 - steps % 1) + by_step[int(steps)] * (steps % 1),  # the end
        lambda by_step, steps: mean(by_step[: int(steps)]),
        lambda by_step, steps: None,
    ],
    ("05_light_cone", "steps_needed"): [
        lambda resets: [sum(resets[: i + 1]) for i in range(len(resets))],  # which segment it is
        lambda resets: [len(resets)] * len(resets),  # enough for any line
        lambda resets: list(range(1, len(resets) + 1)),  # to the start of the line
        lambda resets: [n - 1 for n in light_cone.steps_needed(resets)],  # distance, not steps
        lambda resets: max(light_cone.steps_needed(resets)),  # of the line
        lambda resets: None,
    ],
    ("05_light_cone", "step_of_news"): [
        lambda distance, kernel: distance + 1,  # a kernel of 3
        lambda distance, kernel: 1 + distance // (kernel // 2),  # rounded down
        lambda distance, kernel: math.ceil(distance / (kernel // 2)),  # from 0
        lambda distance, kernel: 1 + math.ceil(distance / kernel),  # the whole width to one side
    ],
    ("05_light_cone", "gossip"): [
        lambda h: torch.zeros_like(h),
        lambda h: h,
        lambda h: h.mean(1, keepdim=True).expand_as(h),  # over channels
        lambda h: 0.1 * torch.ones_like(h),
        lambda h: torch.randn_like(h),  # by chance
        lambda h: h / 0,
    ],
    ("07_map_of_thought", "slowest_place"): [
        lambda: (9, 5, 7),  # the distance: one step less
        lambda: (8, 4, 8),  # counted from 0
        lambda: (2, 1, 8),  # a wall
        lambda: (1, 1, 7),  # needs long, but others longer
    ],
    ("07_map_of_thought", "steps_through_walls"): [
        lambda x: ponder_utils.MazeTask.needed_steps(x),  # round the corners
        lambda x: ponder_utils.MazeTask.needed_steps(torch.ones_like(x)),  # stars everywhere
        lambda x: ponder_utils.MazeTask.needed_steps(x.index_fill_(1, torch.tensor(0), 1.0)),  # changes the mazes
        lambda x: ponder_utils.MazeTask.needed_steps(without_walls(x)) - 1,  # distances
    ],
    ("08_alone_and_together", "steps_needed"): [
        lambda depth: (max(1, depth), max(1, math.ceil(math.log2(max(1, depth))))),  # right, and not sure of it
        lambda depth: (depth, math.ceil(math.log2(depth + 1))),  # a root that takes no step
        lambda depth: (depth + 1, 1 + math.ceil(math.log2(depth + 1))),  # the start is a step
        lambda depth: (max(1, depth), max(1, math.log2(depth + 1))),  # no whole steps
        lambda depth: (max(1, depth), max(1, round(math.log2(depth + 1)))),  # the nearest
        lambda depth: max(1, depth),  # alone only
    ],
    ("08_alone_and_together", "felt_at"): [
        lambda k: (max(1, k), max(1, math.ceil(math.log2(max(1, k))))),  # k arrows
        lambda k: (k + 1, max(1, math.ceil(math.log2(k + 1)))),  # the need of what stands above it
        lambda k: (max(1, k), max(1, math.floor(math.log2(k + 1)))),  # rounded down
        lambda k: (k, math.ceil(math.log2(k + 1))),  # before the first step
        lambda k: (max(1, k), max(1, k)),  # alone, twice
    ],
    ("09_adding_a_column", "my_column"): [
        lambda width: [0, 2**width - 1, 0, 1],  # four numbers
        lambda width: [0, 2**width - 1, 1, 0, 0],  # it stops at the third
        lambda width: [2**width - 1, 1, 2**width - 1, 1, 0],  # it stops twice
        lambda width: [0, 0, 2**width, 1, 0],  # a digit too many
        lambda width: [0, 0, 2**8 - 1, 1, 0],  # no ten steps
        lambda width: [1, 1, 2**width - 4, 1, 0],  # a carry that meets a 0 at once
    ],
    ("09_adding_a_column", "carry_prob"): [
        lambda k: 0.25 * 0.5**k,  # the first move is free
        lambda k: 0.5**k,  # begins at every other place
        lambda k: 0.25 * 0.5 ** (k - 1) * 0.5,  # and ends just there
        lambda k: 0.25 * 0.25 ** (k - 1),  # goes on at one place in four
    ],
    ("05_light_cone", "oracle_accuracy"): [
        lambda right, need: right.float().mean().item(),
        lambda right, need: right.float().mean(1)[need - 1].max().item(),
        lambda right, need: right[need.clamp(max=8), torch.arange(len(need))].float().mean().item(),  # a step late
        lambda right, need: right[-1].float().mean().item(),  # all steps
        lambda right, need: right[need - 1].float().mean().item(),  # of all lines at each line's step
    ],
    ("06_ways_to_stop", "odds"): [
        lambda needed, n: 0.5 ** (needed >= n).sum(1),  # open for a step longer
        lambda needed, n: 0.5 ** (needed <= n).sum(1),  # known for open
        lambda needed, n: 0.5 ** (needed.amax(1) - n).clamp(min=0),  # the longest segment alone
        lambda needed, n: (needed <= n).float().mean(1),  # the fraction that is known
        lambda needed, n: 0.5 * (needed > n).sum(1),
        lambda needed, n: 0.5 ** (needed > n).sum(0),  # lines for places
    ],
    ("06_ways_to_stop", "patient"): [
        lambda y_hat, t: ways_to_stop.patient(y_hat, t) - 1,  # counted from 0
        lambda y_hat, t: ways_to_stop.patient(y_hat, t - 1) if t > 1 else torch.ones(30, dtype=torch.long),  # t answers
        lambda y_hat, t: ways_to_stop.patient(y_hat[..., :1], t),  # one place
        lambda y_hat, t: ways_to_stop.patient(y_hat.sum(-1, keepdim=True), t),  # of the sum
        lambda y_hat, t: torch.full((30,), len(y_hat)),  # never
    ],
    ("06_ways_to_stop", "mine"): [
        lambda y_hat: y_hat.abs().amin(-1).argmax(0) + 1,  # the surest of all steps
        lambda y_hat: ways_to_stop.mine(y_hat) - 1,  # counted from 0
        lambda y_hat: torch.full((30,), round(ways_to_stop.mine(y_hat).float().mean().item())),  # the same for all
        lambda y_hat: ways_to_stop.mine(y_hat) + 0.5,
        lambda y_hat: (ways_to_stop.mine(y_hat) - 1).clamp(min=1),  # one step before it knows
        lambda y_hat: None,
    ],
    ("03_parity", "right_without_one"): [
        lambda k, n_elements: 0.5,
        lambda k, n_elements: 1 - k / n_elements,  # no luck
        lambda k, n_elements: 1 - 1 / (2 * n_elements),  # whatever k is
        lambda k, n_elements: 0.5 if k == n_elements else 1.0,
        lambda k, n_elements: None,
    ],
    ("03_parity", "steps_needed"): [
        lambda lambda_p, eps: round(1 / lambda_p),
        lambda lambda_p, eps: math.ceil(math.log(eps) / math.log(1 - lambda_p)),  # at equality one too few
        lambda lambda_p, eps: math.floor(math.log(eps) / math.log1p(-lambda_p)),  # one too few
        lambda lambda_p, eps: math.ceil(math.log(eps) / math.log1p(-lambda_p)) + 1,  # one too many
        lambda lambda_p, eps: math.ceil(math.log(1 - eps) / math.log1p(-lambda_p)),  # eps mistaken for 1 - eps
    ],
    ("03_parity", "when_to_halt"): [
        lambda x: (x == 1).sum(1),  # no step 0
        lambda x: 1 + (x == 1).sum(1).remainder(2),  # even and odd exchanged
        lambda x: 2 + (x == -1).sum(1),  # the other sign
        lambda x: 2 + x.abs().sum(1),  # k
        lambda x: 2 + (x == 1).sum(),  # one number for the batch
        lambda x: None,
    ],
    ("03_parity", "quantile_step"): [
        lambda log_p, q: log_p.argmax(0) + 1,  # the most probable step
        lambda log_p, q: (log_p.exp().cumsum(0) < q).sum(0),  # counted from 0
        lambda log_p, q: (log_p.exp().cumsum(0) < q).sum(0) + 1,  # a CDF of 0.9999999
        lambda log_p, q: (log_p.exp() < q).sum(0).clamp(max=len(log_p) - 1) + 1,  # p_n for the CDF
        lambda log_p, q: (log_p.exp().cumsum(0) >= q).float().argmax(0) + 1,  # nowhere reached: the first step
        lambda log_p, q: (log_p.exp().cumsum(0)[:-1] <= q).sum(0) + 1,  # more than q
    ],
}


@pytest.mark.parametrize(
    ("stem", "task", "wrong"), [(*place, wrong) for place, answers in WRONG.items() for wrong in answers]
)
def test_checks_fail_on_plausible_wrong_answers(stem, task, wrong):
    names = exercises(ROOT / f"{stem}.ipynb")
    assert not notebook.attempt(names[f"check_{task}"], wrong)


RIGHT = {
    ("02_pondernet_theory", "halting_probs"): [
        halting_by_loop,
        lambda lambdas: halting_by_loop(lambdas.double()),
        lambda lambdas: halting_by_loop(lambdas).tolist(),
        lambda lambdas: ponder_utils.halting_log_probs(lambdas.logit(1e-7)).exp(),
    ],
    ("02_pondernet_theory", "divergence"): [
        lambda log_p, g: (log_p.exp() * (log_p - g[:, None])).sum(0),
        lambda log_p, g: ponder_utils.kl_divergence(log_p.float(), g),
        lambda log_p, g: torch.stack([sum(b.exp() * (b - c) for b, c in zip(a, g, strict=True)) for a in log_p.T]),
    ],
    ("02_pondernet_theory", "my_setting"): [
        lambda: (0.05, 0.7),
        lambda: [0.01, 1],
        lambda: (torch.tensor(0.02), torch.tensor(0.65, dtype=torch.float64)),
    ],
    ("02_pondernet_theory", "averages_too_early"): [
        lambda loss: torch.isclose(loss(UNEVEN, RISING), loss(UNEVEN.roll(1, 1), RISING)),
        lambda loss: torch.allclose(loss(UNEVEN.double(), RISING.double().flip(1)), loss(UNEVEN, RISING).double()),
        lambda loss: torch.func.grad(loss)(UNEVEN, RISING).std(1).max().item() < 1e-6,
        lambda loss: bool(loss(torch.eye(2), torch.eye(2)) == loss(torch.eye(2), 1 - torch.eye(2))),
    ],
    ("03_parity", "right_without_one"): [
        lambda k, n_elements: torch.tensor(1 - k / (2 * n_elements), dtype=torch.float64),
        lambda k, n_elements: (n_elements - k) / n_elements + k / n_elements * 0.5,
    ],
    ("03_parity", "steps_needed"): [
        lambda lambda_p, eps: next(n for n in range(1, 1000) if (1 - lambda_p) ** n < eps),
        lambda lambda_p, eps: torch.tensor(next(n for n in range(1, 1000) if 1 - (1 - lambda_p) ** n > 1 - eps)),
    ],
    ("03_parity", "when_to_halt"): [
        lambda x: 2 - (x == 1).sum(1).remainder(2),
        lambda x: 20.0 - (x == 1).double().sum(1),  # earlier with each +1
        lambda x: [1 if sum(element == 1 for element in row) % 2 else 2 for row in x.tolist()],
    ],
    ("03_parity", "quantile_step"): [
        lambda log_p, q: (log_p.exp().cumsum(0)[:-1] < q).sum(0).double() + 1,
        lambda log_p, q: [
            next((n for n in range(1, len(log_p)) if sum(column[:n]) >= q), len(log_p))
            for column in log_p.exp().T.tolist()
        ],
        lambda log_p, q: torch.cat([log_p.exp().cumsum(0)[:-1], torch.ones_like(log_p[:1])]).ge(q).int().argmax(0) + 1,
    ],
    ("01_act_background", "count_steps"): [
        lambda h, epsilon: [  # a loop, and a list
            next((n for n in range(1, len(h)) if sum(column[:n]) >= 1 - epsilon), len(h)) for column in h.T.tolist()
        ],
        lambda h, epsilon: act_background.count_steps(h, epsilon).double(),
        lambda h, epsilon: (h.cumsum(0) < 1 - epsilon).sum(0).clamp(max=len(h) - 1) + 1,
    ],
    ("01_act_background", "weights_with_cap"): [
        lambda h, epsilon: tuple(act_background.weights_with_cap(h, epsilon)),
        lambda h, epsilon: torch.tensor(act_background.weights_with_cap(h, epsilon)),  # float32
        lambda h, epsilon: capped(h, epsilon, lambda h: [*h[:-1], 1 - sum(h[:-1])]),
    ],
    ("01_act_background", "missing_for_one_fewer"): [
        lambda h, epsilon: torch.tensor(act_background.missing_for_one_fewer(h, epsilon)),
        lambda h, epsilon: (h[0] < 1 - epsilon) * (1 - epsilon - sum(h[: len(capped(h, epsilon, list)) - 1])),
    ],
    ("04_mnist_rotation", "steps_to_know_all"): [
        lambda height, width, kernel, *place: 1 + math.ceil(max(to_the_edges(height, width, *place)) / (kernel // 2)),
        lambda height, width, kernel, *place: (
            1 + torch.tensor(max(to_the_edges(height, width, *place)) / (kernel // 2)).ceil()
        ),
    ],
    ("04_mnist_rotation", "right_if_stopped"): [
        lambda y_hat, y: (y_hat.argmax(-1) == y).double().mean(1),
        lambda y_hat, y: [sum(int(a == b) for a, b in zip(row.argmax(1), y, strict=True)) / len(y) for row in y_hat],
    ],
    ("04_mnist_rotation", "turned_within"): [
        lambda x, d, g: turn_each(x, d, g, lambda n, g: 2 * torch.rand(n, generator=g) - 1),
        lambda x, d, g: torch.cat(
            [turn_each(image[None], d, g, lambda n, g: 1 - 2 * torch.rand(n, generator=g)) for image in x]
        ),
        lambda x, d, g: turn_each(x, d, g, lambda n, g: torch.empty(n).uniform_(-1, 1, generator=g)).double(),
    ],
    ("04_mnist_rotation", "steps_of_right_answers"): [
        lambda p, right: (
            sum(float(p[n, i]) * (n + 1) for n in range(len(p)) for i in range(p.shape[1]) if right[n, i])
            / float(p[right].sum())
        ),  # a Python float
        lambda p, right: (torch.arange(1, len(p) + 1)[:, None] * p.double() * right).sum() / (p.double() * right).sum(),
        lambda p, right: torch.tensor([((right.nonzero()[:, 0] + 1.0) * p[right]).sum() / p[right].sum()]),
    ],
    ("04_mnist_rotation", "same_for_all"): [
        lambda by_step, steps: np.interp(steps, range(1, len(by_step) + 1), by_step),
        lambda by_step, steps: torch.tensor(np.interp(steps, range(1, len(by_step) + 1), by_step)),
        lambda by_step, steps: (
            (math.floor(steps) + 1 - steps) * by_step[math.floor(steps) - 1]
            + (steps - math.floor(steps)) * by_step[min(math.floor(steps), len(by_step) - 1)]
        ),
    ],
    ("06_ways_to_stop", "odds"): [
        lambda needed, n: torch.where(needed > n, 0.5, 1.0).double().prod(1),
        lambda needed, n: [math.prod(0.5 if steps > n else 1 for steps in line) for line in needed.tolist()],
        lambda needed, n: (-math.log(2) * (needed > n).sum(1)).exp(),
    ],
    ("06_ways_to_stop", "patient"): [
        lambda y_hat, t: ways_to_stop.patient(y_hat.double(), t).double(),
        lambda y_hat, t: [
            next(
                (n for n in range(t + 1, len(y_hat)) if len({*map(tuple, line[n - t - 1 : n].tolist())}) == 1),
                len(y_hat),
            )
            for line in (y_hat > 0).transpose(0, 1)
        ],
    ],
    ("06_ways_to_stop", "mine"): [
        lambda y_hat: ways_to_stop.first((y_hat.abs() > 2).all(-1)).tolist(),
        lambda y_hat: ways_to_stop.patient(y_hat, 2).double(),
        lambda y_hat: ways_to_stop.mine(y_hat.double()),
        lambda y_hat: [3] * 30,  # the same step for all is a rule, too
    ],
    ("05_light_cone", "steps_needed"): [
        lambda resets: torch.tensor(light_cone.steps_needed(resets)),
        lambda resets: torch.tensor(light_cone.steps_needed(resets), dtype=torch.float64),
        lambda resets: tuple(i + 1 - max(j for j in range(i + 1) if resets[j]) for i in range(len(resets))),
    ],
    ("05_light_cone", "step_of_news"): [
        lambda distance, kernel: 1 + math.ceil(distance / (kernel // 2)),
        lambda distance, kernel: torch.tensor(distance).div(kernel // 2).ceil() + 1,
    ],
    ("05_light_cone", "gossip"): [
        lambda h: h.mean(2, keepdim=True),  # broadcasts
        lambda h: 0.1 * h.roll(1, dims=2),
        lambda h: nn.functional.pad(h, (0, 2))[..., 2:],  # to the left only
        lambda h: 0.1 * h.flip(2),
        lambda h: h.mean(),
    ],
    ("07_map_of_thought", "slowest_place"): [lambda: (3, 5, 8), lambda: (9, 9, 8)],
    ("07_map_of_thought", "steps_through_walls"): [
        lambda x: ponder_utils.MazeTask.needed_steps(without_walls(x)),
        lambda x: distances(torch.ones_like(x[:, 0]), x[:, 1] + x[:, 2]) + 1,
    ],
    ("08_alone_and_together", "steps_needed"): [
        lambda depth: np.array([max(depth, 1), np.ceil(np.log2(depth + 1)).clip(1)], dtype=np.int64),
        lambda depth: torch.tensor([max(depth, 1), max(1, depth.bit_length())], dtype=torch.float64),
        lambda depth: [max(1, depth), next(n for n in range(1, 99) if 2**n >= depth + 1)],
        lambda depth: (max(1.0, float(depth)), max(1.0, math.ceil(math.log2(depth + 1)))),
    ],
    ("08_alone_and_together", "felt_at"): [
        lambda k: [np.int64(max(k, 1)), np.float64(max(1, int(k).bit_length()))],
        lambda k: torch.tensor([max(k, 1), next(n for n in range(1, 99) if 2**n > k)]),
        lambda k: (max(1, k), max(1, math.ceil(math.log2(k + 1)))),
    ],
    ("09_adding_a_column", "my_column"): [
        lambda width: torch.tensor([2**width - 1, 0, 0, 1, 0]),
        lambda width: (0, 0, 2**width - 1, 1, 0),
        lambda width: np.array([1, 2**width - 2, 0, 1.0, 2**width - 1]),
        lambda width: [2, 2**width - 4, 0, 2, 1],
    ],
    ("09_adding_a_column", "carry_prob"): [
        lambda k: 2.0 ** -(k + 1),
        lambda k: torch.tensor(0.5, dtype=torch.float64) ** (k + 1),
        lambda k: float(np.prod([0.25, *[0.5] * (k - 1)])),
    ],
    ("05_light_cone", "oracle_accuracy"): [
        lambda right, need: torch.stack([right[n - 1, i] for i, n in enumerate(need)]).double().mean(),
        lambda right, need: sum(bool(right[n - 1, i]) for i, n in enumerate(need.tolist())) / len(need),
        lambda right, need: right.gather(0, need[None] - 1).float().mean(),
    ],
}


@pytest.mark.parametrize(
    ("stem", "task", "right"), [(*place, right) for place, answers in RIGHT.items() for right in answers]
)
def test_checks_accept_any_right_form(stem, task, right):
    names = exercises(ROOT / f"{stem}.ipynb")
    assert notebook.attempt(names[f"check_{task}"], right)


def test_attempt_survives_whatever_an_answer_does(capsys):
    def check(answer):
        assert answer(2).shape == (3,)

    def bad(x):
        raise ValueError("two\nlines")

    for answer in (None, lambda x: None, lambda x: [1], lambda x: torch.zeros(2), bad):
        assert not notebook.attempt(check, answer)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all(line.startswith("Not yet: ") for line in lines)
    assert lines[-1] == "Not yet: ValueError: two lines"


def test_attempt_says_what_is_wrong(capsys):
    def check(answer):
        if answer != 3:
            raise AssertionError(f"expected 3, got {answer}")

    assert notebook.attempt(check, 3)
    assert not notebook.attempt(check, 4)
    assert capsys.readouterr().out == "Right.\nNot yet: expected 3, got 4\n"
