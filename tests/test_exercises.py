"""The exercises' checks pass on the solutions, and fail on the stubs and on plausible wrong answers."""

import importlib.util
import math
from pathlib import Path
from statistics import mean

import nbformat
import pytest
import torch
from torch import Tensor, nn

import ponder_utils
from ponder_utils import notebook

ROOT = Path(__file__).resolve().parents[1] / "notebooks"
CASES = [(path, path.stem.partition("_")[2]) for path in sorted(ROOT.glob("*.ipynb"))]


def exercises(path):
    """The stubs and checks of a notebook, by name."""
    names = {"torch": torch, "Tensor": Tensor, "nn": nn, "notebook": notebook, "mean": mean, "pu": ponder_utils}
    names |= {name: getattr(ponder_utils, name) for name in ("LineParityTask", "LocalStep", "PonderNet")}
    names["cross_entropy"] = nn.BCEWithLogitsLoss(reduction="none")
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for i, cell in enumerate(cells):
        if "check" in cell.metadata.get("tags", []):
            exec(cells[i - 1].source, names)
            exec(cell.source, names)
    return names


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


light_cone = solutions("light_cone")

WRONG = {
    ("01_act_background", "count_updates"): [
        lambda h, epsilon: (h.cumsum(0) < 1 - epsilon).sum(0) + 1,  # one more than the cap
        lambda h, epsilon: (h[:-1].cumsum(0) < 1 - epsilon).sum(0),  # counted from 0
        lambda h, epsilon: (h[:-1] < 1 - epsilon).sum(0) + 1,  # no running sum
        lambda h, epsilon: (h[:-1].cumsum(0) < 1).sum(0) + 1,  # no epsilon
    ],
    ("01_act_background", "weights_with_cap"): [
        lambda h, epsilon: [h_n / sum(h) for h_n in h] if sum(h) else h,  # renormalised
        lambda h, epsilon: [*h[:-1], 1 - sum(h[:-1])],  # never halts early
        lambda h, epsilon: [1.0],
    ],
    ("01_act_background", "missing_for_one_fewer"): [
        lambda h, epsilon: 0.0,
        lambda h, epsilon: max(0.0, 1 - epsilon - h[0]),  # for a single update
        lambda h, epsilon: max(0.0, 1 - sum(h[:-1])),  # no epsilon
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
    ("02_pondernet_theory", "uniform_divergence"): [
        lambda log_p: -(log_p.exp() * log_p).sum(0),  # the entropy
        lambda log_p: math.log(len(log_p)) - (log_p.exp() * log_p).sum(0),  # plus the entropy
        lambda log_p: math.log2(len(log_p)) + (log_p.exp() * log_p).sum(0) / math.log(2),  # in bits
        lambda log_p: math.log(len(log_p)) + (log_p.exp() * log_p.exp().log()).sum(0),  # nan
        lambda log_p: math.log(len(log_p)) + torch.xlogy(log_p.exp(), log_p.exp()).sum(0),  # nan in the gradient
        lambda log_p: (math.log(len(log_p)) + (log_p.exp() * log_p).sum(0)).mean(),  # one number for the batch
        lambda log_p: -(math.log(len(log_p)) + log_p).mean(0),  # reversed
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
    ("05_light_cone", "oracle_accuracy"): [
        lambda right, need: right.float().mean().item(),
        lambda right, need: right.float().mean(1)[need - 1].max().item(),
        lambda right, need: right[need.clamp(max=8), torch.arange(len(need))].float().mean().item(),  # a step late
        lambda right, need: right[-1].float().mean().item(),  # all steps
        lambda right, need: right[need - 1].float().mean().item(),  # of all lines at each line's step
    ],
    ("03_parity", "steps_needed"): [
        lambda lambda_p, eps: round(1 / lambda_p),
        lambda lambda_p, eps: math.floor(math.log(eps) / math.log1p(-lambda_p)),  # one too few
        lambda lambda_p, eps: math.ceil(math.log(eps) / math.log1p(-lambda_p)) + 1,  # one too many
        lambda lambda_p, eps: math.ceil(math.log(1 - eps) / math.log1p(-lambda_p)),  # eps mistaken for 1 - eps
    ],
    ("03_parity", "reconstruction"): [
        lambda y_hat, log_p, y: (log_p.exp() * bce(y_hat, y).mean()).sum(0).mean(),  # the mean too early
        lambda y_hat, log_p, y: (log_p.exp() * bce(y_hat, y)).mean(),  # a mean over steps
        lambda y_hat, log_p, y: (log_p.exp() * bce(y_hat, y)).sum(),  # no mean
        lambda y_hat, log_p, y: (log_p * bce(y_hat, y)).sum(0).mean(),  # log p for p
    ],
    ("03_parity", "quantile_step"): [
        lambda log_p, q: log_p.argmax(0) + 1,  # the most probable step
        lambda log_p, q: (log_p.exp().cumsum(0) < q).sum(0),  # counted from 0
        lambda log_p, q: (log_p.exp().cumsum(0) < q).sum(0) + 1,  # a CDF of 0.9999999
        lambda log_p, q: (log_p.exp() < q).sum(0).clamp(max=len(log_p) - 1) + 1,  # p_n for the CDF
    ],
}


@pytest.mark.parametrize(
    ("stem", "task", "wrong"), [(*place, wrong) for place, answers in WRONG.items() for wrong in answers]
)
def test_checks_fail_on_plausible_wrong_answers(stem, task, wrong):
    names = exercises(ROOT / f"{stem}.ipynb")
    assert not notebook.attempt(names[f"check_{task}"], wrong)


RIGHT = {
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
