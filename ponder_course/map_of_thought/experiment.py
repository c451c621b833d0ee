"""Networks that are trained on small mazes, where every place halts by itself, and tested on larger ones."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.common.measures import at_step, by_group, halting_report, mean
from ponder_course.common.store import Row
from ponder_course.common.training import fit, of_asked
from ponder_course.map_of_thought.task import MazeTask, distances
from ponder_utils.losses import FixedDepthLoss, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps
from ponder_utils.steps import Step

# Cells on a side, N, mazes in a batch, updates, learning rate: at 5e-3 the second phase may spoil what was learnt.
PHASES = ((3, 12, 32, 1200, 5e-3), (5, 24, 32, 300, 2e-3))
LAMBDA_P, BETA = 0.8, 0.03
FAR = 20  # steps by which the other colour is farther, or more; or there is none


class MazeStep(Step):
    """Every place of a maze hears from the eight around it, answers, and halts, by its own state alone.

    News goes through open places only; with `through_walls`, walls are nothing but a part of the input.
    """

    def __init__(self, channels: int, noise: float = 0.0, through_walls: bool = False) -> None:
        super().__init__()
        self.from_x = nn.Conv2d(3, channels, 1)
        self.from_h = nn.Conv2d(channels, channels, 3, padding=1)
        self.heads = nn.Conv2d(channels, 2, 1)
        self.noise, self.through_walls = noise, through_walls

    def encode(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """x: [batch, 3, height, width] -> what each step reads; and zeros, beside which places are open."""
        z = self.from_x(x)
        return z, (torch.zeros_like(z), x[:, :1])

    def move(self, z: Tensor, h: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the next state."""
        state, is_open = h
        state = torch.tanh(self.from_h(state) + z)
        if self.training:
            state = state + self.noise * torch.randn_like(state)
        return state if self.through_walls else state * is_open, is_open

    def read(self, h: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Return y_hat_n and a_n, [batch, height, width] each; a wall halts at once."""
        state, is_open = h
        y_hat, a = self.heads(state).unbind(1)
        return y_hat, torch.where(is_open[:, 0] > 0, a, 30.0)


def with_both_colours(x: Tensor) -> list[int]:
    """Return which mazes have stars of both colours, those first whose places are divided most evenly."""
    y = MazeTask.answers(x).flatten(1)
    smaller = torch.minimum((y == 0).sum(1), (y == 1).sum(1))
    return [int(i) for i in smaller.argsort(descending=True, stable=True) if smaller[i] > 0]


def learn(
    seed: int,
    halting: bool = True,
    max_stars: int = 3,
    through_walls: bool = False,
    lambda_p: float = LAMBDA_P,
    beta: float = BETA,
    channels: int = 32,
    phases: Any = PHASES,
) -> PonderNet:
    """Train a network, phase by phase; without `halting`, on the mean loss of its answers at all steps."""
    torch.manual_seed(seed)
    step = MazeStep(channels, 0.1, through_walls)
    criterion = nn.BCEWithLogitsLoss(reduction="none")
    loss = PonderLoss(criterion, lambda_p, beta) if halting else FixedDepthLoss(criterion, every_step=True)
    for n_cells, N, batch, updates, lr in phases:
        draw, model = partial(MazeTask(n_cells, max_stars).batch, batch), PonderNet(step, N)
        fit(model.train(), of_asked(loss), draw, updates, lr=lr, seed=seed)
    return model


def by_step(right: Tensor, asked: Tensor) -> dict[str, list[float]]:
    """Return how many places and whole mazes are right if all stop at step n, [N] each: right [N, *asked.shape]."""
    return {
        "places": right[:, asked].float().mean(1).tolist(),
        "mazes": right.flatten(2).all(2).float().mean(1).tolist(),
    }


def by_itself(right: Tensor, steps: Tensor, needed: Tensor, asked: Tensor) -> Row:
    """Return how many places and whole mazes are right when every place halts by itself, and the `halting_report`.

    All are [mazes, height, width]; by_need: {need: [places, their mean steps]}. Only places that are asked count.
    """
    taken, need = steps[asked].float(), needed[asked]
    by_need = by_group(need, steps=taken)
    return {
        "places": mean(right[asked]),
        "mazes": mean(right.flatten(1).all(1)),
        **halting_report(taken, need.float()),
        "by_need": {n: [*row.values()] for n, row in by_need.items()},
    }


@torch.no_grad()
def measure(model: PonderNet, x: Tensor, N: int, rule: str = "threshold", q: float = 0.5) -> Row:
    """Return what `by_itself` says of places that halt by a rule, what `by_step` says, and where answers are wrong.

    by_margin: {how much farther the other colour is, at most FAR: [places, wrong when halted, wrong at step N]}.
    """
    y = MazeTask.answers(x)
    asked = y >= 0
    output = model.eval()(x, max_steps=N)
    steps = halting_steps(output, rule, q=q)
    right = ((output.y_hat > 0) == (y > 0.5)) | ~asked  # [N, mazes, height, width]
    halted = at_step(right, steps)
    margin = (distances(x[:, 0], x[:, 1]) - distances(x[:, 0], x[:, 2])).abs().clamp(max=FAR)[asked]
    wrong = torch.stack([torch.ones_like(margin), ~halted[asked], ~right[-1][asked]])
    by_margin = {m: wrong[:, margin == m].sum(1).tolist() for m in range(1, FAR + 1)}
    found = by_itself(halted, steps, MazeTask.needed_steps(x), asked)
    return found | {"by_step": by_step(right, asked), "by_margin": by_margin}
