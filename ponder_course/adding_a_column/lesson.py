"""The cells of notebooks/09_adding_a_column.ipynb that are tagged `source`: change them there, then `make sources`."""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, pad

import ponder_utils as pu
from ponder_course.adding_a_column.task import ColumnTask


class ColumnStep(pu.Step):
    def __init__(self, channels: int = 48, noise: float = 0.1) -> None:
        super().__init__()
        self.from_x = nn.Linear(2, channels)  # W_x: of the digit and the flag
        self.from_h = nn.Linear(3 * channels, channels)  # W_h: of left, here and right
        self.heads = nn.Linear(channels, 2)  # at each place: an answer and a vote
        self.noise = noise  # a sum must withstand small errors

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:  # [columns, 2, width]
        z = self.from_x(x.mT)  # [columns, width, channels]
        return z, torch.zeros_like(z)  # and h_1 of the first number

    def move(self, z: Tensor, h: Tensor) -> Tensor:  # [columns, width, channels] each
        around = pad(h, (0, 0, 1, 1))
        h = torch.tanh(self.from_h(torch.cat([around[:, :-2], h, around[:, 2:]], 2)) + z)  # (1)
        return h + self.noise * torch.randn_like(h) if self.training else h

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        y_hat, vote = self.heads(h).unbind(2)
        return y_hat, vote.amin(1)  # it halts when the slowest place is ready


def loss_of_sum(y_hat: Tensor, y: Tensor) -> Tensor:  # [sums, width] twice -> [sums]
    return binary_cross_entropy_with_logits(y_hat, y, reduction="none").mean(1)


PHASES = (  # digits, numbers in a list, N, lists in a batch, updates, learning rate, lambda_p, beta
    ((3, 5), 2, 7, 64, 400, 5e-3, 0.15, 0.1),
    ((4, 6), 4, 8, 64, 600, 5e-3, 0.15, 0.1),
    ((4, 12), 4, 14, 32, 600, 4e-3, 0.8, 0.03),
    ((8, 16), 8, 18, 32, 300, 2e-3, 0.8, 0.03),
)


def train_phase(
    step: pu.Step, seed: int, phase: tuple, carry: str = "halted", loss: nn.Module | None = None
) -> None:
    (narrow, widest), numbers, N, batch, updates, lr, lambda_p, beta = phase
    loss = loss or pu.PonderLoss(loss_of_sum, lambda_p, beta)

    def draw_batch(
        generator: torch.Generator,
    ) -> tuple[Tensor, Tensor]:  # every batch has a width of its own
        some = torch.randint(narrow, widest + 1, (), generator=generator, device=generator.device)
        return ColumnTask(int(some), numbers).batch(batch, generator)

    model = pu.PonderSequence(step, N, carry).train()
    pu.train(
        model,
        lambda output, y: loss(output, y.flatten(0, 1)),
        draw_batch,
        updates,
        lr=lr,
        schedule=pu.cool_down(updates),
        clip=1.0,
        seed=seed,
        progress=False,
    )
