"""How a network is scored, how often it is right and after how many steps, and why it halts when it does."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils._check import check_type
from ponder_utils.halting import PonderOutput, expected_steps, make_log_prior
from ponder_utils.losses import PonderLoss, apply_mask
from ponder_utils.states import map_states

Correct = Callable[[Tensor, Tensor], Tensor]  # y_hat, y [N, batch, ...] -> bool [N, batch]

MOST = 0.95  # "nearly all": the others may be mistakes, or have wrong labels
FLAT = 0.5  # steps "hardly differ" if they vary less than half as much as the cheapest: nearer to one for all
STEP = 1.0  # less is neither late nor worth a halting: a network cannot halt between two steps


def binary_correct(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return whether the logit y_hat is on the side of y: bool. Never if it is NaN, or y not in [0, 1]."""
    return ((y_hat > 0) == (y > 0.5)) & (y >= 0) & (y <= 1) & ~y_hat.isnan()


def class_correct(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return whether the largest logit of y_hat [..., classes] is that of class y: bool [...]. Never if one is NaN."""
    return (y_hat.argmax(-1) == y) & ~y_hat.isnan().any(-1)


class Score(NamedTuple):
    """Means over all answers that are asked: one for each sample, or one for each of its places if each halts alone."""

    accuracy: float  # expected over the halting step: sum_n p_n [right at step n]
    steps: float  # expected steps, sum_n n p_n
    accuracy_by_step: list[float]  # [N] if one always stopped at step n
    p: list[float]  # [N] mean halting distribution


@contextmanager
def preserve_modes(model: nn.Module) -> Iterator[None]:
    """Put every part of the model back into the mode it was in, whatever the block does."""
    modes = {module: module.training for module in model.modules()}
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training


def batch_on_device(name: str, batch: Any, device: torch.device | None) -> tuple[Any, ...]:
    """Return (x, y) or (x, y, mask) on a device; ValueError if a batch of the argument of this name is neither."""
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        came = f"{len(batch)} parts" if isinstance(batch, tuple | list) else type(batch).__name__
        raise ValueError(f"{name} must give batches (x, y) or (x, y, mask); got {came}")
    return map_states(lambda part: part.to(device), tuple(batch))


@torch.no_grad()
def over_batches(model: nn.Module, name: str, batches: Iterable[Any], measure: Callable[..., Any]) -> list[Any]:
    """Return measure(output, y), or measure(output, y, mask), of each batch, in evaluation mode on its device."""
    device = next((weight.device for weight in model.parameters()), None)
    measured = []
    with preserve_modes(model):
        model.eval()
        for batch in batches:
            x, *targets = batch_on_device(name, batch, device)
            output = check_type("what model returns", model(x), PonderOutput)
            measured.append(measure(output, *targets))
    return measured


def evaluate(
    model: nn.Module, x: Any, y: Tensor | None = None, correct: Correct = binary_correct, mask: Tensor | None = None
) -> Score:
    """Score a network x -> `PonderOutput`, in evaluation mode, on the device of its parameters.

    x, y: inputs, and targets [batch, ...]. Without y, x gives batches (x, y) or (x, y, mask), as a `DataLoader` does.
    correct: whether answers are right; NaN never is, whatever it says. mask: bool [batch] or [batch, *places], or None.
    ValueError if `correct` returns another shape, there is not one target per sample, or nothing is asked.
    """
    check_type("correct", correct, Callable, "callable as correct(y_hat, y)")
    if y is None and mask is not None:
        raise ValueError("mask goes with y; where x gives batches, each is (x, y, mask)")
    batches = x if y is None else [(x, y, mask)]
    by_batch = over_batches(model, "without y, x", batches, partial(_scored, correct))
    if sum(log_p.shape[1] for _, log_p in by_batch) == 0:
        raise ValueError("evaluate needs an answer that is asked; got none in x, or a mask that is true nowhere")
    right, log_p = (torch.cat(parts, dim=1) for parts in zip(*by_batch, strict=True))  # [N, answers]
    p = log_p.exp()
    accuracy = (p * right).sum(0).mean().item()
    return Score(accuracy, expected_steps(log_p).mean().item(), right.mean(1).tolist(), p.mean(1).tolist())


def _scored(correct: Correct, output: PonderOutput, y: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return whether each asked answer is right, 0.0 or 1.0, and its log p_n: [N, answers] each."""
    output, y = apply_mask(output, y, mask)
    y_hat, log_p = output.y_hat, output.log_p
    if correct in (binary_correct, class_correct):
        shape, highest = (y_hat.shape[1:], 1) if correct is binary_correct else (y_hat.shape[1:-1], y_hat.shape[-1] - 1)
        if y.shape != shape:
            raise ValueError(f"y must have the shape of the answers, {list(shape)}; got {list(y.shape)}")
        is_target = (y >= 0) & (y <= highest)  # which NaN is not
        if correct is class_correct:
            is_target &= y == y.floor()
        if not is_target.all():
            wanted = f"{'a number' if correct is binary_correct else 'a whole number'} in [0, {highest}]"
            raise ValueError(f"y must be {wanted} where no mask leaves it out; got {y[~is_target][0]:g}")
    right = correct(y_hat, y.expand(len(log_p), *y.shape)).to(log_p.dtype)
    if right.shape != log_p.shape:
        raise ValueError(f"correct must return one value per answer, {[*log_p.shape]}; got {[*right.shape]}")
    is_nan = y_hat[..., None].isnan().flatten(log_p.ndim).any(-1)
    return right.masked_fill(is_nan, 0.0).flatten(1), log_p.flatten(1)


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
        late, early = varies and self.lateness[2] > STEP, self.lateness[2] < -STEP
        few_early = self.lateness[1] < -STEP and not early
        table = {
            "Nearly all halt at step 1: begin with halting_bias=-2, or lower beta or lambda_p.": at_1,
            "Nearly all halt at step N, and for most it is the cheapest: raise N, or the price.": at_N and improves,
            "Steps hardly differ, and half or more are late: raise lambda_p, lower beta, train on.": flat and late,
            "Steps hardly differ: lower beta, raise lambda_p; does the loss average over the batch?": flat and not late,
            "Half or more are late: raise lambda_p; try rule threshold, q below lambda_p.": late and not flat,
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

    batches: of (x, y) or (x, y, mask). The price of step n + 1 after step n is beta log(p_G(n) / p_G(n + 1)).
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
