"""The cells of notebooks/04_mnist_rotation.ipynb that are tagged `source`: change them there, then `make sources`."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

import ponder_utils as pu
from ponder_course.mnist_rotation.task import RotationTask
from ponder_utils import PonderNet


class CNNFirst(pu.Step):
    def __init__(self) -> None:
        super().__init__()
        conv = [nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU()]
        conv += [nn.Conv2d(10, 20, 5), nn.Dropout2d(0.5), nn.MaxPool2d(2), nn.ReLU()]
        self.cnn = nn.Sequential(*conv, nn.Flatten(), nn.Linear(20 * 4 * 4, 64), nn.ReLU())
        self.cnn.to(memory_format=torch.channels_last)  # on a CPU this pools twice as fast
        self.from_x, self.from_h = nn.Linear(64, 64), nn.Linear(64, 64)  # W_x and W_h
        self.dropout, self.to_h = nn.Dropout(0.2), nn.Linear(64, 64)  # d and W_2
        self.heads = nn.Linear(64, 11)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:  # [batch, 1, 28, 28]
        z = self.from_x(self.cnn(x))  # W_x c + b_x: once, before the first step
        return z, torch.zeros_like(z)  # and h_0: [batch, 64] each

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        between = self.dropout(torch.relu(z + self.from_h(h)))
        return torch.relu(self.to_h(between))  # (1)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        out = self.heads(h)
        return out[:, :10], out[:, 10]  # the answer, and a_n


def ponder_loss(output: pu.PonderOutput, y: Tensor, lambda_p: float, beta: float) -> Tensor:
    y_hat, _, log_p = output  # [N, batch, 10], a_n, [N, batch]
    log_prior = pu.geometric_log_prior(lambda_p, len(log_p)).to(log_p)[:, None]
    losses = torch.stack([cross_entropy(answer, y, reduction="none") for answer in y_hat])
    p = log_p.exp()
    return (p * losses + beta * p * (log_p - log_prior)).sum(0).mean()  # (2)


class Recipe(NamedTuple):
    N: int = 20
    lambda_p: float = 0.2
    beta: float = 0.01
    batch: int = 128
    updates: int = 1100
    lr: float = 3e-3  # of Adam; it falls in a line to 0 in the second half of the updates


def untrained(kind: type[pu.Step], seed: int, N: int) -> PonderNet:
    torch.manual_seed(seed)
    return PonderNet(kind(), N)


def learn(kind: type[pu.Step], seed: int, task: RotationTask, how: Recipe) -> PonderNet:
    model = untrained(kind, seed, how.N).to(task.x.device)
    generator = torch.Generator(task.x.device).manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=how.lr, fused=True)
    schedule = pu.cool_down(how.updates)(optimizer)
    for _ in range(how.updates):
        x, y = task.batch(how.batch, generator)
        loss = ponder_loss(model(x), y, how.lambda_p, how.beta)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        schedule.step()
    return model.eval()
