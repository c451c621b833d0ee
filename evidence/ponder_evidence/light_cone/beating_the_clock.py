"""The experiments behind "beating the clock": the step at which a line halts may carry a bit of its answer."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from ponder_course.common.lines import LineParityTask, all_of_one_segment
from ponder_course.common.measures import at_step, mean, think
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_course.light_cone.beating_the_clock import votes
from ponder_course.light_cone.lesson import LocalStep, loss_of_line, whole_lines_right
from ponder_evidence.light_cone.experiment import BATCH, CHANNELS
from ponder_evidence.runs import Experiment, grid
from ponder_utils import rules
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet

# A network's setting; an experiment says what it changes.
RECIPE: Row = {"places": 6, "lines": "one segment", "N": 10, "lambda_p": 0.8, "beta": 0.03, "head": "shared"}
RECIPE |= {"noise": 0.1, "updates": 3000, "lr": 5e-3}


LINES: dict[str, Callable[[int], LineParityTask]] = {
    "one segment": partial(LineParityTask, rate=0.0),
    "lesson 05": LineParityTask,
}
RULES: dict[str, Callable[..., Tensor]] = {
    "threshold": partial(rules.threshold, q=0.2),
    "most probable": rules.most_probable,
    "certainty": partial(rules.confidence, q=0.9, classes=False),
    "high certainty": partial(rules.confidence, q=0.99, classes=False),
}


def fresh_lines(lines: str, places: int) -> Tensor:
    """Return all lines of one segment of at most 12 places, else 4,096 that are drawn: x."""
    if lines == "one segment" and places <= 12:
        return all_of_one_segment(places)
    return LINES[lines](places).batch(4096, torch.Generator().manual_seed(0))[0]


def longest_segment(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first place of each line's longest segment, the first of equals, and its length L: [lines] each."""
    length, end = LineParityTask.needed_steps(x).max(1)
    return end - length + 1, length


def first_bit_turned(x: Tensor) -> Tensor:
    """Return the lines with the bit at the first place of their longest segment turned."""
    start, _ = longest_segment(x)
    line, turned = torch.arange(len(x)), x.clone()
    turned[line, 0, start] = 1 - turned[line, 0, start]
    return turned


class TravellingVote(LocalStep):
    """A `LocalStep` that halts when its last place says so, and a veto reaches that place by one place a step.

    The last place takes the least of all votes that it has heard: the one of a place i steps away is i steps old. So
    halting at step n depends on the places up to n - 1 away from the last one, and on nothing beyond.
    """

    def encode(self, x: Tensor) -> tuple[Tensor, Any]:
        """As `LocalStep` does it; the state is (h, answers, the least vote heard): the last two [batch, places]."""
        z, h = super().encode(x)
        nothing = torch.full_like(h[:, 0], torch.inf)
        return z, (h, nothing, nothing)

    def move(self, z: Tensor, h: Any) -> Any:
        """Return the next state."""
        state, _, heard = h
        state = super().move(z, state)
        y_hat, votes = self.heads(state).unbind(1)
        return state, y_hat, torch.minimum(votes, pad(heard[:, :-1], (1, 0), value=torch.inf))

    def read(self, h: Any) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, places], and a_n [batch]: the least vote that the last place has heard."""
        _, y_hat, heard = h
        return y_hat, heard[:, -1]


HEADS: dict[str, Callable[..., LocalStep]] = {"shared": LocalStep, "travelling": TravellingVote}


def learn(
    *, places: int, lines: str, N: int, lambda_p: float, beta: float, head: str, noise: float, **setting: Any
) -> PonderNet:
    """Train a network of a `RECIPE`."""
    torch.manual_seed(setting["seed"])
    model = PonderNet(HEADS[head](2, CHANNELS, noise=noise), N)
    loss = PonderLoss(loss_of_line, lambda_p, beta)
    return fit(model, loss, partial(LINES[lines](places).batch, BATCH), **setting)[0]


def beside_the_clock(steps: Tensor, right: Tensor, chance: Tensor, need: Tensor) -> Row:
    """Return how a halting rule does beside the best clock, which halts each line when it can be known.

    steps, need: [lines]; right: bool [N, lines]; chance [N, lines]: how likely a line is right at a fixed step at most.
    """
    early = steps < need
    right_then, chance_then = at_step(right, steps), at_step(chance, steps)
    shares: Row = {"right": mean(right_then), "steps": mean(steps), "early": mean(early)}
    for name, values in {"right_early": right_then, "chance_early": chance_then}.items():
        shares[name] = mean(values[early]) if early.any() else None
    return shares


def measure(model: PonderNet, x: Tensor, N: int) -> Row:
    """Measure a network on lines x, its cap on steps set to N."""
    y, need = LineParityTask.answers(x), LineParityTask.needed_steps(x).amax(1)
    output, chance = think(model, x, N), LineParityTask.best_probs(x, N)
    right = whole_lines_right(output.y_hat, y.expand_as(output.y_hat))  # [N, lines]
    turned = think(model, first_bit_turned(x), N)
    measures: Row = {"need": mean(need), "by_step": right.float().mean(1).tolist(), "rules": {}}
    v = torch.rand(len(x), generator=torch.Generator().manual_seed(1))
    with_sample: dict[str, rules.Rule] = {**RULES, "sample": partial(rules.sample, v=v)}
    for name, rule in with_sample.items():
        steps = rules.halting_steps(output, rule)
        moved = (rules.halting_steps(turned, rule) != steps)[steps < need]
        measures["rules"][name] = beside_the_clock(steps, right, chance, need)
        measures["rules"][name]["moved"] = mean(moved) if len(moved) else None
    return measures


def who_vetoes(model: PonderNet, x: Tensor, N: int) -> Row:
    """Return what the votes in the longest segments do, where all of these are equally long.

    "felt": how far lambda at each of its places feels, on average, a turn of the bit at its first: [N][L]. "pair": the
    first line that halts early by "threshold", and the same with that bit turned: their bits, their steps, and lambda
    at each place [2][N][places].
    """
    mine, other = votes(model.step, x, N), votes(model.step, first_bit_turned(x), N)  # [N, lines, places]
    start, length = longest_segment(x)
    places = start[:, None] + torch.arange(int(length[0]))  # [lines, L]
    felt = (mine.sigmoid() - other.sigmoid()).abs()
    measures: Row = {"felt": felt.gather(2, places.expand(N, *places.shape)).mean(1).tolist()}
    steps = rules.halting_steps(think(model, x, N), RULES["threshold"])
    early = (steps < length).nonzero()[:, 0]
    if len(early):
        line = early[0]
        pair = torch.stack([x[line], first_bit_turned(x[line : line + 1])[0]])
        measures["pair"] = {
            "bits": pair[:, 0].int().tolist(),
            "lambda": votes(model.step, pair, N).sigmoid().transpose(0, 1).tolist(),
            "steps": rules.halting_steps(think(model, pair, N), RULES["threshold"]).tolist(),
        }
    return measures


def run(**setting: Any) -> Row:
    """Train a network of this setting; measure it on lines as long and twice as long, and look at its votes."""
    model = learn(**setting)
    lines, places, N = setting["lines"], setting["places"], setting["N"]
    tests = {k * places: measure(model, fresh_lines(lines, k * places), k * N) for k in (1, 2)}
    result: Row = {"tests": tests}
    if setting["head"] == "shared":
        x = fresh_lines(lines, places)
        _, length = longest_segment(x)
        asked = places if lines == "one segment" else places // 2
        result["votes"] = who_vetoes(model, x[length == asked], N)
    return rounded(result)


def _grid(name: str, changes: Sequence[Row], n_seeds: int) -> Experiment:
    settings = seeded([RECIPE | change for change in changes], n_seeds, seed_by_seed=True)
    return grid(f"05_beating_the_clock_{name}", run, settings, {"updates": 5}, n_short=len(changes))


# The prior's price of a step is beta ln(1 / (1 - lambda_p)), and an undecided place costs ln(2) / places: from 8 places
# on a step costs 0.56 of that.
LENGTHS: list[Row] = [
    {"places": 4, "N": 8, "updates": 1500},
    {"places": 6, "N": 10, "updates": 1500},
    {"places": 8, "N": 12},
    {"places": 12, "N": 16, "beta": 0.02},
    {"places": 16, "N": 20, "beta": 0.015},
]


SIX = LENGTHS[1]


PRICES: list[Row] = [{"lambda_p": 0.4}, {"lambda_p": 0.6}, {"beta": 0.01}, {"beta": 0.1}, {"noise": 0.0}]


MIXED: Row = {"lines": "lesson 05", "places": 16, "N": 20}


MIXED_PRICES = [MIXED | {"beta": 0.01, "updates": 1000}, MIXED | {"beta": 0.02, "updates": 2000}]


LOCAL_MIXED = MIXED | {"N": 24, "lambda_p": 0.4, "beta": 0.01, "updates": 1000, "head": "travelling"}


EXPERIMENTS = {
    "lengths": _grid("lengths", LENGTHS, 20),
    "high_price": _grid("high_price", [length | {"beta": 0.03} for length in LENGTHS[3:]], 4),
    "price": _grid("price", [SIX | change for change in PRICES], 20),
    "local_head": _grid("local_head", [length | {"head": "travelling"} for length in LENGTHS[:3]], 20),
    "lines": _grid("lines", MIXED_PRICES, 20),
    "local_head_lines": _grid("local_head_lines", [LOCAL_MIXED], 10),
}
