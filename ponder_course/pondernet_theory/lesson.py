"""The cells of notebooks/02_pondernet_theory.ipynb that are tagged `source`: change them there, then `make sources`."""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid


def best(losses: Tensor, log_g: Tensor, beta: float) -> Tensor:  # [N, ...] twice -> [N, ...]
    return (log_g - losses / beta).softmax(0)  # (4)


def log_halting(a: Tensor) -> Tensor:  # [N, ...] -> [N, ...]
    zero = torch.zeros_like(a[:1])
    log_lambda = torch.cat([logsigmoid(a[:-1]), zero])  # the last step takes what remains
    log_survival = torch.cat([zero, logsigmoid(-a[:-1]).cumsum(0)])
    return log_lambda + log_survival


def kl(log_p: Tensor, log_q: Tensor) -> Tensor:  # KL(p || q), [N, ...] twice -> [...]
    return (log_p.exp() * (log_p - log_q)).sum(0)


def ponder_loss(log_p: Tensor, losses: Tensor, log_g: Tensor, beta: float) -> Tensor:
    return (log_p.exp() * losses).sum(0) + beta * kl(log_p, log_g)


def ponder(cell: nn.Module, heads: nn.Module, x: Tensor, N: int) -> tuple[Tensor, Tensor]:
    h, answers, logits = None, [], []
    for _ in range(N):
        h = cell(x, h)  # the same weights at every step
        y_hat, a = heads(h)  # an answer and a halting logit for each sample
        answers.append(y_hat)
        logits.append(a)
    return torch.stack(answers), torch.stack(logits)  # [N, batch] each
