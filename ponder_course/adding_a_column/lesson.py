"""The cells of notebooks/09_adding_a_column.ipynb that are tagged `source`: change them there, then `make sources`."""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim.lr_scheduler import LambdaLR

import ponder_utils as pu
from ponder_course.common.lines import AdditionTask
from ponder_course.light_cone.lesson import LocalStep


@torch.no_grad()
def think(step: LocalStep, x: Tensor, N: int) -> tuple[Tensor, Tensor]:  # x: [sums, 2, places]
    z = step.from_x(x)  # each place reads its own two digits
    h = torch.zeros_like(z)
    answers, votes = [], []
    for _ in range(N):
        h = torch.tanh(step.from_h(h) + z)  # (1)
        y_hat, vote = step.heads(h).unbind(1)  # [sums, places] each
        answers.append(y_hat > 0)
        votes.append(vote)
    return torch.stack(answers), torch.stack(votes)  # [N, sums, places] each


def halts_at(votes: Tensor) -> Tensor:  # [N, sums, places] -> [sums], counted from 1
    a = votes.amin(2)  # the wire takes the lowest vote
    halt = a >= 0  # nobody objects
    halt[-1] = True  # at step N all halt
    return halt.int().argmax(0) + 1


def loss_of_sums(output: pu.PonderOutput, y: Tensor, lambda_p: float, beta: float) -> Tensor:
    y = y.expand_as(output.y_hat)  # the same targets at all N steps
    of_places = binary_cross_entropy_with_logits(output.y_hat, y, reduction="none")
    losses = of_places.mean(2)  # [N, sums]
    log_prior = pu.geometric_log_prior(lambda_p, len(losses)).to(losses)[:, None]  # [N, 1]
    price = output.log_p - log_prior
    return (output.log_p.exp() * (losses + beta * price)).sum(0).mean()  # (2)


def learn(step: pu.Step, task: AdditionTask, N: int, updates: int, seed: int) -> pu.PonderNet:
    model = pu.PonderNet(step, N)
    generator = torch.Generator(next(step.parameters()).device).manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, fused=True)
    schedule = LambdaLR(optimizer, lambda update: min(1, 2 - 2 * update / updates))
    for update in range(updates):
        lambda_p = 0.15 if update < updates / 3 else 0.8  # first patient, then in a hurry
        x, y = task.batch(64, generator)
        loss = loss_of_sums(model(x), y, lambda_p, beta=0.03)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval().cpu()
