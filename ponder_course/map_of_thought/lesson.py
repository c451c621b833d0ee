"""The cells of notebooks/07_map_of_thought.ipynb that are tagged `source`: change them there, then `make sources`."""

from functools import partial

import torch
from torch import Tensor, nn

import ponder_utils as pu
from ponder_course.map_of_thought.task import MazeTask
from ponder_utils import PonderNet


class MazeStep(pu.Step):
    def __init__(self, channels: int, noise: float = 0.0) -> None:
        super().__init__()
        self.from_x = nn.Conv2d(3, channels, 1)  # W_x: each place by itself
        self.from_h = nn.Conv2d(channels, channels, 3, padding=1)  # W_h: with its neighbours
        self.heads = nn.Conv2d(channels, 2, 1)  # at each place: an answer and a halting logit
        self.noise = noise

    def encode(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        z = self.from_x(x)  # [mazes, 3, height, width] -> [mazes, channels, height, width]
        return z, (torch.zeros_like(z), x[:, :1])  # h_0, and which places are open

    def move(self, z: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        h = torch.tanh(self.from_h(state[0]) + z)
        h = h + self.noise * torch.randn_like(h) if self.training else h
        return h * state[1], state[1]  # (1)

    def read(self, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        y_hat, a = self.heads(state[0]).unbind(1)  # [mazes, height, width] each
        return y_hat, torch.where(state[1][:, 0] > 0, a, 30.0)  # a wall halts at once


ponder_loss = pu.PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), prior=0.8, beta=0.03)


def loss_of_places(output: pu.PonderOutput, y: Tensor) -> pu.losses.LossTerms:
    asked = y >= 0  # [mazes, height, width]
    of_places = output.at(asked)  # its parts, such as y_hat, are [N, places] now
    return ponder_loss(of_places, y[asked])  # (2)


def untrained(seed: int, N: int = 150) -> PonderNet:
    torch.manual_seed(seed)
    return PonderNet(MazeStep(32, noise=0.1), N)


def learn(seed: int, updates: tuple[int, int], device: torch.device) -> PonderNet:
    model = untrained(seed).to(device)
    phases = ((3, 12, 5e-3), (5, 24, 2e-3))  # cells on a side, N, learning rate
    for (n_cells, N, lr), n_updates in zip(phases, updates, strict=True):
        pu.train(
            PonderNet(model.step, N),
            loss_of_places,
            partial(MazeTask(n_cells).batch, 32),  # mazes in a batch
            n_updates,
            lr=lr,  # of Adam, which begins anew in each phase
            schedule=pu.cool_down(n_updates),  # after half of the updates lr falls in a line to 0
            clip=1.0,  # the largest norm of the gradient
            seed=seed,
            progress=False,
        )
    return model.cpu().eval()


@torch.no_grad()
def halt(model: PonderNet, x: Tensor, N: int, level: float = 0.5) -> tuple[Tensor, Tensor]:
    z, state = model.step.encode(x)
    y_hat = torch.zeros_like(x[:, 0])  # [mazes, height, width]
    steps = torch.zeros_like(y_hat, dtype=torch.long)  # 0: has not halted
    for n in range(1, N + 1):
        answers, state, halt_logits = model.step(z, state)
        ready = (halt_logits.sigmoid() >= level) | (n == N)
        now = ready & (steps == 0)
        y_hat = torch.where(now, answers, y_hat)
        steps = torch.where(now, n, steps)
        if (steps > 0).all():
            break
    return y_hat, steps
