"""The cells of notebooks/04_mnist_rotation.ipynb that are tagged `source`: change them there, then `make sources`."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import ponder_utils as pu
from ponder_course.common.digits import Split
from ponder_course.mnist_rotation.task import RotationTask
from ponder_utils import EncodedStep, PonderNet, RecurrentStep
from ponder_utils.cells import Cell, FromInput


class ConvEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers = [nn.Conv2d(1, 10, kernel_size=5), nn.MaxPool2d(2), nn.ReLU()]
        layers += [nn.Conv2d(10, 20, kernel_size=5), nn.Dropout2d(0.5), nn.MaxPool2d(2), nn.ReLU()]
        layers += [nn.Flatten(), nn.Linear(20 * 4 * 4, 64), nn.ReLU()]
        # On a CPU, max-pooling takes half as long with the channels last.
        self.layers = nn.Sequential(*layers).to(memory_format=torch.channels_last)

    def forward(self, x: Tensor) -> Tensor:  # [batch, 1, 28, 28] -> [batch, 64]
        return self.layers(x)


class MLPCell(Cell):
    def __init__(self, input_size: int, hidden_size: int, dropout: float) -> None:
        super().__init__(input_size, hidden_size)  # two linear layers: from_x and from_h
        self.dropout = nn.Dropout(dropout)
        self.to_h = nn.Linear(hidden_size, hidden_size)

    def forward(self, x: Tensor | FromInput, h: Tensor | None = None) -> Tensor:
        z = self.encode(x).candidate  # W_x x + b_x + b_h, computed once: [batch, 64]
        between = torch.relu(self.from_h.add_to(z, h))  # z + W_h h
        return torch.relu(self.to_h(self.dropout(between)))  # (1)


class ConvStep(pu.Step):
    def __init__(self, channels: int, patch: int, n_outputs: int) -> None:
        super().__init__()
        self.from_x = nn.Conv2d(1, channels, kernel_size=patch, stride=patch)  # W_x
        self.from_h = nn.Conv2d(channels, channels, kernel_size=3, padding=1)  # W_h
        self.heads = nn.Linear(2 * channels, n_outputs + 1)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:  # [batch, 1, 28, 28]
        z = self.from_x(x)  # once, before the first step
        return z, torch.zeros_like(z)  # and h_1: [batch, channels, 7, 7]

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        return h + torch.relu(self.from_h(h) + z)  # (2)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        places = h.flatten(2)  # [batch, channels, 49]
        out = self.heads(torch.cat([places.mean(2), places.amax(2)], dim=1))
        return out[:, :-1], out[:, -1]  # the answer, and a_n


def cnn_first() -> EncodedStep:
    return EncodedStep(ConvEncoder(), RecurrentStep(MLPCell(64, 64, dropout=0.2), 10))


def patches() -> ConvStep:
    return ConvStep(channels=16, patch=4, n_outputs=10)


STEPS = {"CNN first": cnn_first, "patches": patches}


class Recipe(NamedTuple):
    N: int
    lambda_p: float
    beta: float
    batch: int
    updates: int


RECIPES = {
    "CNN first": Recipe(N=20, lambda_p=0.2, beta=0.01, batch=128, updates=1100),
    "patches": Recipe(N=10, lambda_p=0.3, beta=0.2, batch=64, updates=1500),
}


def untrained(name: str, seed: int) -> PonderNet:
    torch.manual_seed(seed)
    return PonderNet(STEPS[name](), RECIPES[name].N)


def learn(name: str, seed: int, digits: Split, updates: int, lr: float = 3e-3) -> PonderNet:
    model, recipe = untrained(name, seed).to(digits.x.device), RECIPES[name]
    criterion = nn.CrossEntropyLoss(reduction="none")  # a loss for each digit
    loss_fn = pu.PonderLoss(criterion, recipe.lambda_p, recipe.beta)
    task = RotationTask(digits.x, digits.y, within=22.5)
    batches = lambda generator: task.batch(recipe.batch, generator)  # noqa: E731
    how: dict[str, Any] = {"schedule": pu.cool_down(updates), "clip": 0.5, "progress": False}
    pu.train(model, loss_fn, batches, updates, lr=lr, seed=seed, **how)
    return model.eval()
