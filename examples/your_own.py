"""A step, a rule and a task of your own, each the shortest that works.

python -m examples.your_own
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ponder_utils import Heads, PonderLoss, PonderNet, PonderOutput, Step, train


@dataclass(frozen=True)
class SumTask:
    """Is the sum of these numbers positive? A task is whatever draws a batch from a generator."""

    n_numbers: int

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, n_numbers] and y [batch_size], 1.0 for yes and 0.0 for no."""
        x = torch.randn(batch_size, self.n_numbers, generator=generator)
        return x, (x.sum(1) > 0).float()


class ResidualStep(Step):
    """h_n = h_{n-1} + tanh(W [x, h_{n-1}] + b). A step says how the state moves, and what is read from it."""

    def __init__(self, n_inputs: int, n_hidden: int) -> None:
        super().__init__()
        self.n_hidden = n_hidden
        self.change = nn.Linear(n_inputs + n_hidden, n_hidden)
        self.heads = Heads(n_hidden)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what every step needs of the input, here all of it, and the first state [batch, hidden]."""
        return x, x.new_zeros(x.shape[0], self.n_hidden)

    def move(self, x: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        return h + torch.tanh(self.change(torch.cat([x, h], dim=1)))

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch] and a_n [batch]."""
        return self.heads(h)


def twice_sure(output: PonderOutput, q: float = 0.9) -> Tensor:
    """Halt at the first step that is sure of its answer, where the step before it was sure, too.

    A rule reads the steps so far, and returns for each sample the step that it takes, or 0 where it goes on.
    """
    sure = output.y_hat.abs().sigmoid() >= q  # [n, batch]
    before = torch.cat([torch.zeros_like(sure[:1]), sure[:-1]])
    twice = sure & before
    return torch.where(twice.any(0), twice.byte().argmax(0) + 1, 0)


def main(n_updates: int = 200) -> float:
    """Train the step on the task and stop by the rule; print and return how often that is right."""
    torch.manual_seed(0)
    task = SumTask(n_numbers=5)
    model = PonderNet(ResidualStep(5, 16), max_steps=8)
    loss_fn = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), prior=0.3)
    train(model, loss_fn, lambda generator: task.batch(64, generator), n_updates, lr=1e-2, clip=1.0)

    x, y = task.batch(1000, torch.Generator().manual_seed(1))
    prediction = model.eval().predict(x, twice_sure, q=0.95)
    accuracy = ((prediction.y_hat > 0) == (y > 0.5)).float().mean().item()
    print(f"positive or not: right on {accuracy:.1%}, after {prediction.steps.float().mean():.1f} steps on average")
    return accuracy


if __name__ == "__main__":
    main()
