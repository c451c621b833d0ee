"""The cells of notebooks/03_parity.ipynb that are tagged `source`: change them there, then `make sources`."""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim.lr_scheduler import LambdaLR

import ponder_utils as pu
from ponder_utils import ParityTask, PonderNet, RNNStep


def untrained(seed: int, elements: int = 8, hidden: int = 128, N: int = 20) -> PonderNet:
    torch.manual_seed(seed)
    return PonderNet(RNNStep(elements, hidden), N)


def ponder_loss(
    output: pu.PonderOutput, y: Tensor, lambda_p: float = 0.3, beta: float = 0.01
) -> Tensor:
    y_hat, _, log_p = output  # y_hat and log_p: [N, batch]
    log_prior = pu.geometric_log_prior(lambda_p, len(log_p)).to(log_p)[:, None]  # [N, 1]
    losses = binary_cross_entropy_with_logits(y_hat, y.expand_as(y_hat), reduction="none")
    reconstruction = (log_p.exp() * losses).sum(0)  # [batch]
    divergence = (log_p.exp() * (log_p - log_prior)).sum(0)  # [batch]
    return (reconstruction + beta * divergence).mean()


def learn(
    model: PonderNet, task: ParityTask, seed: int, updates: int = 2000, lr: float = 7e-3
) -> PonderNet:
    generator = torch.Generator(next(model.parameters()).device).manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr)
    # The learning rate stays for half of the updates, and then falls in a line to 0.
    schedule = LambdaLR(optimizer, lambda update: min(1, 2 - 2 * update / updates))
    for _ in range(updates):
        x, y = task.batch(128, generator)
        loss = ponder_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        schedule.step()
    return model.cpu().eval()


@torch.no_grad()
def two_ways(model: PonderNet, x: Tensor, y: Tensor) -> tuple[float, list[float]]:
    output = model(x)
    right = ((output.y_hat > 0) == (y > 0.5)).float()  # [N, batch]
    by_itself = (output.log_p.exp() * right).sum(0).mean()
    at_step = right.mean(1)  # [N]: all inputs stop at step n
    return by_itself.item(), at_step.tolist()
