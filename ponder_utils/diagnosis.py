"""Why does a network halt when it does? Its steps, beside those where loss and price are least: docs/tuning.md."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils._check import check_type
from ponder_utils.evaluation import over_batches
from ponder_utils.halting import PonderOutput, expected_steps, make_log_prior
from ponder_utils.losses import PonderLoss, apply_mask

MOST = 0.95  # "nearly all": the others may be mistakes, or have wrong labels
FLAT = 0.5  # steps "hardly differ" if they vary less than half as much as the cheapest: nearer to one for all
STEP = 1.0  # less is neither late nor worth a halting: a network cannot halt between two steps


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` measures over all answers that are asked. Losses and prices are in the criterion's unit."""

    steps: list[float]  # expected, sum_n n p_n: mean, and quantiles 5 %, 50 %, 95 %, as of the next two
    cheapest: list[float]  # argmin_n of loss and price, which knows the target: a lucky guess makes a step cheap
    lateness: list[float]  # steps - cheapest
    halting: list[float]  # fractions of the answers whose median of p_n is step 1, and step N
    logits: list[float]  # the least and the largest a_n
    losses: list[float]  # [N] mean loss after each step
    prices: list[float]  # [N - 1] of each further step
    one_step: int  # the cheapest, if all take the same
    saving: float  # by how much loss and price are less on average, if each takes its cheapest step and not one_step

    def findings(self) -> list[str]:
        """Return what follows from the numbers, and what to change."""
        if len(self.losses) == 1:
            return ["There is one step alone, and nothing to decide: raise N."]
        if self.logits[0] >= 0 and self.logits[1] <= 1:
            return ["All halting logits lie in [0, 1]: does the step return a probability in their place?"]
        at_1, at_N = (fraction >= MOST for fraction in self.halting)
        improves = self.cheapest[2] == len(self.losses)
        varies = self.saving > STEP * max(self.prices)
        flat = varies and self.steps[3] - self.steps[1] < FLAT * (self.cheapest[3] - self.cheapest[1])
        late, early = self.lateness[2] > STEP, self.lateness[2] < -STEP
        few_early = self.lateness[1] < -STEP and not early
        table = {
            "Nearly all halt at step 1: begin with halting_bias=-2, or lower beta or lambda_p.": at_1,
            "Nearly all halt at step N, and for most it is the cheapest: raise N, or the price.": at_N and improves,
            "Steps hardly differ, and half or more are late: raise beta or lambda_p, train longer.": flat and late,
            "Steps hardly differ: lower beta, raise lambda_p; does the loss average over the batch?": flat and not late,
            "Half or more are late: raise beta or lambda_p; try rule threshold, q below lambda_p.": late and not flat,
            "Half or more are early: lower beta or lambda_p, or train longer.": early,
            "A few are early: see by difficulty whether they give up, before you raise the price.": few_early,
            "One step for all is as good, to within the price of a step: do not ponder.": not varies,
        }
        return [sentence for sentence, follows in table.items() if follows]

    def __str__(self) -> str:
        lines = [f"{'':9}    mean     5 %    50 %    95 %"]
        for name in ("steps", "cheapest", "lateness"):
            lines.append(f"{name:9}" + "".join(f"{value:8.2f}" for value in getattr(self, name)))
        lines.append("median of p_n: at step 1 {:.0%} of the answers, at step N {:.0%}".format(*self.halting))
        lines.append("loss after each step: " + " ".join(f"{loss:.3f}" for loss in self.losses))
        prices = sorted({f"{price:.4f}" for price in self.prices}) or ["none"]
        lines.append("price of a further step: " + " to ".join(prices))
        lines.append(f"cheapest step for all: {self.one_step}; each answer at its own would save {self.saving:.4f}")
        return "\n".join(lines + [f"- {sentence}" for sentence in self.findings()])


def diagnose(model: nn.Module, batches: Iterable[Any], loss: PonderLoss) -> Diagnosis:
    """Measure halting, in evaluation mode, beside this loss: that of training, or one with another price.

    model, batches: as for `evaluate`, of (x, y) or (x, y, mask). The price of step n + 1 after step n is
    beta log(p_G(n) / p_G(n + 1)), for a geometric prior beta log(1 / (1 - lambda_p)).
    ValueError if there is no batch, one in which nothing is asked, or a reversed divergence.
    """
    prior = check_type("loss", loss, PonderLoss).regularization
    if prior.direction != "p||p_G":
        raise ValueError(f"loss must have direction 'p||p_G', in which a step has a price; got {prior.direction!r}")

    def measure(output: PonderOutput, y: Tensor, mask: Tensor | None = None) -> list[Tensor]:
        everywhere = torch.ones_like(output.halt_logits[0], dtype=torch.bool)
        output, y = apply_mask(output, y, everywhere if mask is None else mask)
        by_step = loss.reconstruction.loss_by_step(output.y_hat, y)
        return [part.cpu().double() for part in (by_step, output.halt_logits, output.log_p)]

    by_batch = over_batches(model, "batches", batches, measure)
    if not by_batch:
        raise ValueError("batches must give at least one (x, y) or (x, y, mask); got none")
    losses, halt_logits, log_p = (torch.cat(parts, dim=1) for parts in zip(*by_batch, strict=True))  # [N, answers]
    if not losses.isfinite().all():
        raise ValueError("loss must be finite at each step of each answer; got inf or nan")
    log_prior = make_log_prior(prior.prior, len(losses))
    paid = loss.beta * (log_prior[0] - log_prior)  # up to each step: [N]
    costs = losses + paid[:, None]
    cheapest, steps = costs.argmin(0) + 1, expected_steps(log_p)
    medians = rules.halting_steps(PonderOutput(losses, halt_logits, log_p), "quantile", q=0.5)
    return Diagnosis(
        steps=_spread(steps),
        cheapest=_spread(cheapest),
        lateness=_spread(steps - cheapest),
        halting=[(medians == step).double().mean().item() for step in (1, len(losses))],
        logits=[halt_logits.min().item(), halt_logits.max().item()],
        losses=losses.mean(1).tolist(),
        prices=paid.diff().tolist(),
        one_step=int(costs.mean(1).argmin()) + 1,
        saving=(costs.mean(1).min() - costs.amin(0).mean()).item(),
    )


def _spread(values: Tensor) -> list[float]:
    """Return mean and quantiles 5 %, 50 %, 95 %."""
    quantiles = values.double().quantile(torch.tensor([0.05, 0.5, 0.95], dtype=torch.float64))
    return [values.double().mean().item(), *quantiles.tolist()]
