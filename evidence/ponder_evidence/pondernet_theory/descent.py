"""What the evidence of lesson 02 trains: closed forms, one update of a head, dead steps, networks of four signs."""

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus
from torch.nn.utils import parameters_to_vector

from ponder_utils.halting import expected_steps, geometric_log_prior, halting_log_probs, kl_divergence
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import RNNStep

PAPERS, REVERSED = "p||p_G", "p_G||p"


def loss_of_each(log_p: Tensor, losses: Tensor, log_prior: Tensor, beta: float, direction: str = PAPERS) -> Tensor:
    """Return PonderNet's loss (Eq. 3) of each sample: [N, ...] twice and [N] -> [...]."""
    return (log_p.exp() * losses).sum(0) + beta * kl_divergence(log_p, log_prior, direction)


def surprise(log_weights: Tensor, losses: Tensor) -> Tensor:
    """Return -log of the mixed probability of the truth, by these weights: [N, ...] twice."""
    return -(log_weights - losses).logsumexp(0)


def closed_form(losses: Tensor, log_prior: Tensor, beta: float, direction: str) -> Tensor:
    """Return the best p for fixed losses (lesson 02, equations 4 and 7), [N, cases].

    losses: [N, cases], log_prior: [N].
    """
    if direction == PAPERS:
        return (log_prior[:, None] - losses / beta).softmax(0)
    prior, low = log_prior.exp()[:, None], -losses.min(0).values
    high = low + beta
    for _ in range(100):  # the sum of p falls as mu rises
        mu = (low + high) / 2
        too_large = (beta * prior / (losses + mu)).sum(0) > 1
        low, high = torch.where(too_large, mu, low), torch.where(too_large, high, mu)
    return beta * prior / (losses + mu)


def update(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    """Make one update."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def one_update(states: Tensor, divergence: Callable[[Tensor], Tensor]) -> dict[str, str | int]:
    """Update a head once that reads answer and halting logit from states [N, batch, 3].

    divergence: from halting logits [N, batch] to a number. Returns "loss", and how many entries are
    not finite, of the gradient, of the clipped gradient, and of Adam's new parameters.
    """
    head = nn.Linear(3, 2)
    with torch.no_grad():
        head.weight.copy_(torch.tensor([[0.1, 0.2, -0.3], [1.0, 0.1, 0.1]]))  # answer; halting logit
        head.bias.zero_()
    y_hat, a = head(states).unbind(2)
    loss = (halting_log_probs(a).exp() * softplus(-y_hat)).sum(0).mean() + 0.01 * divergence(a)
    optimizer = torch.optim.Adam(head.parameters())

    def not_finite(values: Iterable[Tensor]) -> int:
        return int((~parameters_to_vector(values).isfinite()).sum())

    loss.backward()
    gradient = [parameter.grad for parameter in head.parameters() if parameter.grad is not None]
    row: dict[str, str | int] = {
        "loss": f"{loss:.4f}",
        "not finite: gradient": not_finite(gradient),
    }
    nn.utils.clip_grad_norm_(head.parameters(), 1.0)
    row["clipped"] = not_finite(gradient)
    optimizer.step()
    row["parameters, of 8"] = not_finite(head.parameters())
    return row


def fit(losses: Tensor, log_prior: Tensor, settings: Sequence[tuple[str, float]], updates: int) -> list[Tensor]:
    """Return the p [N, cases] that Adam finds for each (direction, beta). losses: [N, cases],
    log_prior: [N].

    All are fitted at once, since they share no parameter; every coin begins with a prior of 0.2.
    """
    a = torch.full((len(settings), *losses.shape), math.log(0.25), dtype=losses.dtype, requires_grad=True)
    optimizer = torch.optim.Adam([a], lr=0.2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, updates)
    for _ in range(updates):
        log_p = halting_log_probs(a.transpose(0, 1)).transpose(0, 1)  # [settings, N, cases]
        total = torch.zeros(())
        for log_p_fit, (direction, beta) in zip(log_p, settings, strict=True):
            total = total + loss_of_each(log_p_fit, losses, log_prior, beta, direction).sum()
        update(optimizer, total)
        schedule.step()
    return [*log_p.exp().detach()]


GUESS, SOLVED = math.log(2), 0.05  # what a step loses before and after an input is solved

# Inputs that need 1 to 6 of 12 steps, as in section 5 of lesson 02.
CAP, NEEDS, INPUTS = 12, torch.arange(1, 7), torch.eye(6)
GIVEN = torch.where(torch.arange(1, CAP + 1)[:, None] < NEEDS, GUESS, SOLVED)  # losses [N, inputs]
LOG_PRIOR, BETA = geometric_log_prior(0.4, CAP).float(), 0.05


def first_update(
    loss_of: Callable[[], Tensor],
    done: Callable[[], bool],
    optimizer: torch.optim.Optimizer,
    patience: int,
) -> int | None:
    """Return the number of updates after which it is done, or None if that takes too many."""
    for number in range(patience):
        if done():
            return number
        update(optimizer, loss_of())
    return None


def revive_logits(direction: str, rule: str, patience: int) -> int | None:
    """Return the updates until the best of eight steps, dead at first, has p_3 > 0.1, or None.

    The logits are free; the rule is "gradient descent" or "Adam".
    """
    losses, log_prior = torch.full((8,), 0.7, dtype=torch.float64), geometric_log_prior(0.2, 8)
    lambdas = torch.full((8,), 0.2, dtype=torch.float64)
    losses[2], lambdas[2] = SOLVED, 1e-6
    a = lambdas.logit().requires_grad_()
    optimizer = torch.optim.SGD([a], lr=1.0) if rule == "gradient descent" else torch.optim.Adam([a], lr=0.01)

    def loss_of() -> Tensor:
        return loss_of_each(halting_log_probs(a), losses, log_prior, 0.1, direction)

    return first_update(loss_of, lambda: bool(halting_log_probs(a)[2].exp() > 0.1), optimizer, patience)


def halts_too_early(seed: int) -> PonderNet:
    """Return a network that halts five `INPUTS` as is best, the sixth at step 1 but for 1e-6."""
    best = closed_form(GIVEN, LOG_PRIOR, BETA, PAPERS)
    wanted = (best / best.flip(0).cumsum(0).flip(0))[:-1].clamp(1e-3, 1 - 1e-3).logit()  # halting logits
    torch.manual_seed(seed)
    network = PonderNet(RNNStep(6, 32), CAP)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(300):
        logits = network(INPUTS).halt_logits[:-1]
        update(optimizer, ((logits - wanted)[:, :5] ** 2).mean() + (logits[0, 5] - math.log(1e6)) ** 2)
    return network


def revive_network(start: PonderNet, direction: str, rule: str, noisy: bool, patience: int) -> int | None:
    """Return the updates until a copy takes over 3 steps for the sixth input, or None.

    Noisy: each loss is multiplied at each update by a random number of mean 1, drawn from the
    exponential distribution.
    """
    network, generator = copy.deepcopy(start), torch.Generator().manual_seed(0)
    sgd = rule == "gradient descent"
    parameters = network.parameters()
    optimizer = torch.optim.SGD(parameters, lr=0.5) if sgd else torch.optim.Adam(parameters, lr=5e-3)

    def loss_of() -> Tensor:
        factor = torch.empty_like(GIVEN).exponential_(generator=generator) if noisy else 1.0
        return loss_of_each(network(INPUTS).log_p, GIVEN * factor, LOG_PRIOR, BETA, direction).mean()

    @torch.no_grad()
    def done() -> bool:
        return bool(expected_steps(network(INPUTS).log_p)[5] > 3)

    return first_update(loss_of, done, optimizer, patience)


def learn_parity(beta: float, seed: int, log_prior: Tensor, updates: int) -> dict[str, Tensor]:
    """Train on the parity of 4 signs, all 16 inputs; return what bounds what, in nats, and the
    expected steps, [16].

    log_prior: [N], of as many steps as the network may take.
    """
    signs = torch.tensor([*itertools.product((-1.0, 1.0), repeat=4)])
    parity = (signs > 0).sum(1).remainder(2).float()
    log_g = log_prior.float()[:, None]
    torch.manual_seed(seed)
    network = PonderNet(RNNStep(4, 32), len(log_prior))
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    for _ in range(updates + 1):
        y_hat, _, log_p = network(signs)
        losses = binary_cross_entropy_with_logits(y_hat, parity.expand_as(y_hat), reduction="none")
        update(optimizer, loss_of_each(log_p, losses, log_prior, beta).mean())
    log_p, losses = log_p.detach(), losses.detach()
    best = (log_g - losses / beta).log_softmax(0)
    return {
        "the loss": loss_of_each(log_p, losses, log_prior, beta),
        "the bound (beta = 1)": loss_of_each(log_p, losses, log_prior, 1),
        "averaged with the prior": surprise(log_g, losses),
        "averaged with p": surprise(log_p, losses),
        "KL(p || best p)": (log_p.exp() * (log_p - best)).sum(0),
        "expected steps": expected_steps(log_p),
    }
