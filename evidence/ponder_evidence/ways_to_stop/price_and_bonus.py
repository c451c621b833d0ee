"""A plain price of steps, and a bonus of entropy: the two halves of PonderNet's divergence, apart.

beta KL(p || p_G) is, but for a constant, a price of beta ln(1 / (1 - lambda_p)) for each expected step, and a bonus of
beta for the entropy of p. Here both are set on their own, the bonus may fall to 0 while the network learns, and the
expectation over steps may be replaced by two draws.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import Loss, fit
from ponder_course.ways_to_stop.regret import CHOOSING
from ponder_evidence.runs import Experiment
from ponder_evidence.ways_to_stop.experiment import TRAININGS
from ponder_evidence.ways_to_stop.measuring import measure
from ponder_evidence.ways_to_stop.problems import PROBLEMS
from ponder_utils._check import check_int, check_real
from ponder_utils.halting import PonderOutput
from ponder_utils.losses import Criterion, CriterionLoss, LossTerms
from ponder_utils.pondernet import PonderNet

PRICES, BONUSES = (0.0025, 0.005, 0.01, 0.02, 0.04), (0.001, 0.003, 0.01)
PRICE, BONUS = 0.005, 0.01  # the referee's price; the beta of lesson 06


class PricedLoss(CriterionLoss):
    """sum_n p_n (loss_n + price n) - bonus H(p), averaged over the batch; price and bonus >= 0.

    With `updates`, the bonus falls in a line, and is 0 from that many calls on: a loss for one training.
    """

    def __init__(self, criterion: Criterion, price: float, bonus: float = 0.0, updates: int | None = None) -> None:
        super().__init__(criterion)
        self.price = check_real("price", price, 0, open_low=False)
        self.bonus = check_real("bonus", bonus, 0, open_low=False)
        self.updates = None if updates is None else check_int("updates", updates, 1)
        self.calls = 0

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars: total, of the answers, and what is added."""
        left = 1.0 if self.updates is None else max(0.0, 1 - self.calls / self.updates)
        self.calls += 1
        p, n = output.log_p.exp(), torch.arange(1, len(output.log_p) + 1, device=output.log_p.device)
        reconstruction = (p * self.loss_by_step(output.y_hat, y)).sum(0).mean()
        log_p = output.log_p.clamp(min=torch.finfo(p.dtype).min)  # 0 log 0 is 0
        added = (p * (self.price * n[:, None] + left * self.bonus * log_p)).sum(0).mean()
        return LossTerms(reconstruction + added, reconstruction, added)


class DrawnLoss(CriterionLoss):
    """The cost loss_n + price n at two steps that are drawn from p, with REINFORCE for the halting head.

    Each draw's baseline is the cost of the other one, so its gradient is in the mean that of `PricedLoss` without a
    bonus (Kool et al. 2019, "Buy 4 REINFORCE samples, get a baseline for free!").
    """

    def __init__(self, criterion: Criterion, price: float) -> None:
        super().__init__(criterion)
        self.price = check_real("price", price, 0, open_low=False)

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars, of which only the first has the head's gradient."""
        return self.of_draws(output, y, torch.multinomial(output.log_p.detach().exp().T, 2, replacement=True).T)

    def of_draws(self, output: PonderOutput, y: Tensor, draws: Tensor) -> LossTerms:
        """The terms for draws [2, batch], which are steps from 0."""
        losses = self.loss_by_step(output.y_hat, y).gather(0, draws)
        prices = self.price * (draws + 1.0)
        ahead = (losses + prices).diff(dim=0).detach()[0]  # how much more the second costs than the first
        log_p = output.log_p.gather(0, draws)
        surrogate = ahead * log_p.diff(dim=0)[0] / 2
        reconstruction, price = losses.mean(), prices.mean()
        surrogate = (surrogate - surrogate.detach()).mean()  # a gradient, and no value
        return LossTerms(reconstruction + price + surrogate, reconstruction, price)


# (criterion, hyperparameter, updates of the training) -> loss; the values of the hyperparameter
Kind = tuple[Callable[[Criterion, float, int], Loss], tuple[float, ...]]
KINDS: dict[str, Kind] = {
    "a price": (lambda criterion, price, _: PricedLoss(criterion, price), PRICES),
    "a price and a bonus": (lambda criterion, bonus, _: PricedLoss(criterion, PRICE, bonus), BONUSES),
    "a price, and a bonus that ends": (
        lambda criterion, price, updates: PricedLoss(criterion, price, BONUS, updates),
        (PRICE, 2 * PRICE),
    ),
    "a price, two draws": (lambda criterion, price, _: DrawnLoss(criterion, price), (PRICE, 2 * PRICE)),
}
QUESTIONS = ("lines", "no answer", "one answer", "8 elements")


def run(problem: str, training: str, hyperparameter: float, seed: int, **recipe: Any) -> Row:
    """Train a PonderNet with one of KINDS and measure it as in lesson 06's table.

    {"tests": as `measure` returns them, "cpu_seconds": of the training}.
    """
    start = time.process_time()
    asked, (loss, _) = PROBLEMS[problem], KINDS[training]
    torch.manual_seed(seed)
    model = PonderNet(asked.step(), recipe["N"])
    draw = partial(asked.task(recipe["size"]).batch, recipe["batch"])
    options = {name: recipe[name] for name in ("updates", "lr", "clip")}
    model, _ = fit(model, loss(asked.criterion, hyperparameter, recipe["updates"]), draw, seed=seed, **options)
    seconds = time.process_time() - start
    measures = measure(model, asked.task, asked.tests, TRAININGS["PonderNet"].rules, asked.correct)
    return rounded({"tests": measures, "cpu_seconds": seconds})


def settings_of(seeds: range) -> list[Row]:
    """Return the settings of all KINDS on all QUESTIONS, seed by seed."""
    settings = []
    for problem in QUESTIONS:
        for training, (_, values) in KINDS.items():
            common = PROBLEMS[problem].recipe | {"problem": problem, "training": training}
            settings += [common | {"hyperparameter": value} for value in values]
    return seeded(settings, seeds, seed_by_seed=True)


SETTINGS = settings_of(CHOOSING)
ONE_OF_EACH = {(setting["problem"], setting["training"]): setting for setting in reversed(SETTINGS)}
SHORT = [setting | {"updates": 5, "batch": 8} for setting in ONE_OF_EACH.values()]
EXPERIMENTS = {"price and bonus": Experiment("06_price_and_bonus", run, SETTINGS, SHORT)}
