"""Networks that add a column of numbers, one at each time step, and are tested on longer and wider columns."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.common.measures import by_group, halting_report, mean
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_course.light_cone.lesson import loss_of_line
from ponder_utils.halting import PonderOutput
from ponder_utils.losses import FixedDepthLoss, PonderLoss
from ponder_utils.pondernet import Prediction
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import Step

# Smallest and largest width, numbers, N, columns in a batch, updates, learning rate, lambda_p, beta: it begins by
# thinking long, on few places; the price comes late. N is the widest and 2 more.
PHASES = (
    (3, 5, 2, 7, 64, 400, 5e-3, 0.15, 0.1),
    (4, 6, 4, 8, 64, 600, 5e-3, 0.15, 0.1),
    (4, 12, 4, 14, 32, 600, 4e-3, 0.8, 0.03),
    (8, 16, 8, 18, 32, 300, 2e-3, 0.8, 0.03),
)
WIDTH, WIDE = 16, 64  # the widest in training, and four times that
LENGTH = 8  # numbers in a column, at most, in training
CHANNELS, NOISE = 48, 0.1


class ColumnStep(Step):
    """Every place hears from its two neighbours: h_{n+1} = tanh(W_h [h_n left, here, right] + W_x x), and votes.

    A `LocalStep` with channels last, which takes two thirds of the time. The whole halts when its last place is ready.
    """

    def __init__(self, channels: int, noise: float = 0.0) -> None:
        super().__init__()
        self.from_x = nn.Linear(2, channels)  # a digit, and the flag
        self.from_h = nn.Linear(3 * channels, channels)
        self.heads = nn.Linear(channels, 2)
        self.noise = noise

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x: [batch, 2, width] -> what each step reads, and a state of zeros: [batch, width, channels] each."""
        z = self.from_x(x.mT)
        return z, torch.zeros_like(z)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        around = nn.functional.pad(h, (0, 0, 1, 1))
        h = torch.tanh(self.from_h(torch.cat([around[:, :-2], h, around[:, 2:]], dim=2)) + z)
        if self.training and self.noise:
            h = h + self.noise * torch.randn_like(h)
        return h

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, width] and a_n [batch]."""
        y_hat, vote = self.heads(h).unbind(2)
        return y_hat, vote.amin(1)


def loss_of_columns(loss: nn.Module) -> Any:
    """Return the loss over all time steps, each a sample of its own: targets y [T, batch, width]."""
    return lambda output, y: loss(output, y.flatten(0, 1))


def draw_batch(
    widths: tuple[int, int], numbers: int, n_columns: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Draw columns of one width, from the narrowest to the widest: x and y as of `ColumnTask`."""
    narrow, widest = widths
    width = torch.randint(narrow, widest + 1, (), generator=generator, device=generator.device)
    return ColumnTask(int(width), numbers).batch(n_columns, generator)


def learn(
    seed: int,
    carry: str = "halted",
    always: bool = False,
    channels: int = CHANNELS,
    phases: Any = PHASES,
    prices: Any = None,
) -> PonderSequence:
    """Train a network, phase by phase; with other prices (lambda_p, beta) in all phases, if they are given.

    always: without halting. It learns from the answers at all steps, and passes on the state of step N.
    """
    torch.manual_seed(seed)
    return fit_phases(ColumnStep(channels, NOISE), seed, phases, carry, always, prices)


def fit_phases(
    step: Step, seed: int, phases: Any = PHASES, carry: str = "halted", always: bool = False, prices: Any = None
) -> PonderSequence:
    """Train a step by the recipe of `learn`, and return its network."""
    for narrow, widest, numbers, N, batch, updates, lr, lambda_p, beta in phases:
        loss: nn.Module = PonderLoss(loss_of_line, *(prices or (lambda_p, beta)))
        if always:
            loss = FixedDepthLoss(loss_of_line, every_step=True)
        model = PonderSequence(step, N, "last" if always else carry)
        draw = partial(draw_batch, (narrow, widest), numbers, batch)
        fit(model.train(), loss_of_columns(loss), draw, updates, lr=lr, seed=seed)
    return PonderSequence(step, N, carry).eval()


def halt(
    model: PonderSequence, x: Tensor, N: int, rule: str = "threshold", **parameters: Any
) -> tuple[Prediction, Tensor]:
    """Return what a network answers to columns x, and which of its whole sums are right: bool [T, batch]."""
    answer = model.eval().predict(x, rule, max_steps=N, **parameters)
    return answer, ((answer.y_hat > 0) == (ColumnTask.answers(x) > 0.5)).all(2)


def measure(model: PonderSequence, x: Tensor, N: int, rule: str = "threshold", **parameters: Any) -> Row:
    """Return how right a network is on columns x [T, batch, 1, width], and in how many steps, by a halting rule.

    "right": the fraction of whole sums that are right, at each time step, [T]; "sums" is their mean, and "columns" the
    fraction of columns without a wrong sum. "steps", "needed", "early", "correlation" leave out the first number, which
    needs no carry; so does "by_need", {need: [sums, mean steps, fraction right]}.
    """
    needed = ColumnTask.needed_steps(x)
    answer, right = halt(model, x, N, rule, **parameters)
    steps, need = answer.steps[1:], needed[1:]
    by_need = by_group(need, steps=steps, right=right[1:])
    return {
        "right": right.double().mean(1).tolist(),
        "sums": mean(right),
        "columns": mean(right.all(0)),
        **halting_report(steps, need),
        "by_need": {n: [*row.values()] for n, row in by_need.items()},
    }


def draw_columns(width: int, numbers: int, n_columns: int, rate: float | None = None) -> Tensor:
    """Draw the columns of a test: x [numbers, n_columns, 1, width]."""
    return ColumnTask(width, numbers, rate).batch(n_columns, torch.Generator().manual_seed(100))[0]


class Votes(Step):
    """A `ColumnStep` that gives the vote of each place in place of the answers."""

    def __init__(self, step: ColumnStep) -> None:
        super().__init__()
        self.step = step

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """As the step does it."""
        return self.step.encode(x)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """As the step does it."""
        return self.step.move(z, h)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vote of each place, [batch, width], and a_n [batch], the least of them."""
        votes = self.step.heads(h)[:, :, 1]
        return votes, votes.amin(1)


@torch.no_grad()
def votes(model: PonderSequence, x: Tensor, N: int) -> PonderOutput:
    """Return what a network does at columns x in N steps at each number, with the votes of the places as answers."""
    return PonderSequence(Votes(model.step), N).eval()(x, "threshold", q=0.5)


def votes_at_the_last(model: PonderSequence, x: Tensor, N: int) -> list[Tensor]:
    """Return how the places vote at the last number of each of the columns x, until it halts: [steps, width] each."""
    steps = halt(model, x, N, q=0.5)[0].steps[-1].tolist()
    at_the_last = votes(model, x, N).y_hat[:, -len(steps) :]
    return [at_the_last[:n, column] for column, n in enumerate(steps)]


def has_learnt(row: Row) -> bool:
    """Return whether a network that was measured has 99 % of the sums right at the width and length of training."""
    return row["trained"]["right"][LENGTH - 1] >= 0.99
