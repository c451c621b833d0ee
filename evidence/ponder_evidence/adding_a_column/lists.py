"""Lists of numbers: a network adds one after the other, halts at each, and hands its state on to the next.

What was found before the lesson had two numbers only: does the same wire work where a sum must be held as well?
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from ponder_course.common.lines import AdditionTask
from ponder_course.common.measures import mean
from ponder_course.common.store import Row
from ponder_course.light_cone.lesson import loss_of_line
from ponder_utils.losses import PonderLoss
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import Step
from ponder_utils.training import cool_down, train

PHASES = (  # digits, numbers in a list, N, lists in a batch, updates, learning rate, lambda_p, beta
    ((3, 5), 2, 7, 64, 400, 5e-3, 0.15, 0.1),
    ((4, 6), 4, 8, 64, 600, 5e-3, 0.15, 0.1),
    ((4, 12), 4, 14, 32, 600, 4e-3, 0.8, 0.03),
    ((8, 16), 8, 18, 32, 300, 2e-3, 0.8, 0.03),
)
SHORT = [[[3, 4], 2, 6, 8, 3, 5e-3, 0.15, 0.1], [[3, 5], 3, 6, 8, 3, 3e-3, 0.8, 0.03]]  # shows that it runs
TESTS = {"trained": (16, 16), "wide": (64, 16), "long": (16, 100)}  # digits, numbers in a list


def draw_lists(width: int, n_numbers: int, n_lists: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw lists of numbers and their running sums, least significant place first: float32, in {0, 1}.

    x: [n_numbers, n_lists, 1, width]; y, without a carry out of the last place: [n_numbers, n_lists, width]. The
    first number is uniform. Of any other number and the sum before it, the digits agree at a rate of their own,
    width^-u with u ~ U(0, 1): a carry travels on where they differ, so that some travel far.
    """
    shape, device = (n_numbers, n_lists, width), generator.device
    rate = width ** -torch.rand(n_numbers, n_lists, 1, generator=generator, device=device)
    rate[0] = 0.5
    agree = torch.rand(shape, generator=generator, device=device) < rate
    total = torch.zeros(n_lists, width, device=device)
    numbers, sums = [], []
    for agrees in agree:
        number = torch.where(agrees, total, 1 - total)
        total = AdditionTask.answers(torch.stack([total, number], dim=1))
        numbers.append(number)
        sums.append(total)
    return torch.stack(numbers)[:, :, None], torch.stack(sums)


def needed_steps(x: Tensor, y: Tensor) -> Tensor:
    """Return how far the longest carry of each number of a list travels, and 1 more: int64 [n_numbers, n_lists]."""
    before = torch.cat([torch.zeros_like(y[:1]), y[:-1]])
    pairs = torch.stack([before, x[:, :, 0]], dim=2)
    needed = AdditionTask.needed_steps(pairs.flatten(0, 1), guess=0).amax(1)
    return needed.unflatten(0, y.shape[:2])


class ColumnStep(Step):
    """Lesson 05's step with a state of 48 numbers, and a flag: 1 at the first step of each number, 0 at the others."""

    def __init__(self, channels: int = 48, noise: float = 0.1) -> None:
        super().__init__()
        self.from_x = nn.Linear(2, channels)
        self.from_h = nn.Linear(3 * channels, channels)
        self.heads = nn.Linear(channels, 2)  # at each place: an answer and a vote
        self.noise = noise

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what each place reads, and the state before the first number: x [lists, 2, width]."""
        z = self.from_x(x.mT)  # [lists, width, channels]
        return z, torch.zeros_like(z)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        around = pad(h, (0, 0, 1, 1))
        h = torch.tanh(self.from_h(torch.cat([around[:, :-2], h, around[:, 2:]], 2)) + z)
        return h + self.noise * torch.randn_like(h) if self.training else h

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [lists, width], and a_n [lists]: the least vote of all places."""
        y_hat, votes = self.heads(h).unbind(2)
        return y_hat, votes.amin(1)


def train_phase(step: Step, seed: int, phase: Sequence) -> None:
    """Train a step on lists of random widths, by one of the PHASES."""
    (narrow, widest), numbers, N, batch, updates, lr, lambda_p, beta = phase
    loss = PonderLoss(loss_of_line, lambda_p, beta)

    def draw_batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        width = int(torch.randint(narrow, widest + 1, (), generator=generator, device=generator.device))
        return draw_lists(width, numbers, batch, generator)

    train(
        PonderSequence(step, N).train(),
        lambda output, y: loss(output, y.flatten(0, 1)),
        draw_batch,
        updates,
        lr=lr,
        schedule=cool_down(updates),
        clip=1.0,
        seed=seed,
        progress=False,
    )


def run(seed: int, channels: int = 48, phases: Sequence = PHASES, n_lists: int = 100) -> Row:
    """Train a network phase by phase, and test it: counts of "sums", of those "right" and halted "early", mean "steps".

    "early": in fewer steps than the need. The first number of a list, which needs no carry, is left out.
    """
    torch.manual_seed(seed)
    step = ColumnStep(channels)
    for phase in phases:
        train_phase(step, seed, phase)
    found: Row = {}
    for name, (width, numbers) in TESTS.items():
        n = n_lists // 4 if name == "long" else n_lists
        x, y = draw_lists(width, numbers, n, torch.Generator().manual_seed(100))
        answer = PonderSequence(step, width + 10).eval().predict(x, "threshold", q=0.5)
        right = ((answer.y_hat > 0) == (y > 0.5)).all(2)[1:]
        steps, needed = answer.steps[1:], needed_steps(x, y)[1:]
        early = int((steps < needed).sum())
        found[name] = {"sums": right.numel(), "right": int(right.sum()), "early": early, "steps": mean(steps)}
    return found
