"""A step that trains with less memory: it keeps one state in every few, and computes the others again.

Training keeps the states of all N steps for the backward pass. Of every `segment` steps this keeps the first state and
the answers alone (`torch.utils.checkpoint`), so that memory grows with N / segment + segment, which is smallest at
about segment = sqrt(N). The price is a second forward pass. Answers and gradients stay the same.

    python -m examples.less_memory
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from benchmarks.timing import peak_bytes
from ponder_utils import GRUStep, ParityTask, PonderLoss, PonderNet
from ponder_utils.steps import start, unroll


class CheckpointedStep(nn.Module):
    """Any step function, whose states within a segment of so many steps are computed again for the gradient."""

    def __init__(self, step: Callable, segment: int) -> None:
        super().__init__()
        self.step = step
        self.segment = segment

    def start(self, x: object) -> tuple[object, object]:
        """Start the step."""
        return start(self.step, x)

    def forward(self, z: object, h: object) -> tuple[Tensor, object, Tensor]:
        """Take one step."""
        return self.step(z, h)

    def unroll(self, z: object, h: object, n_steps: int) -> tuple[Tensor, object, Tensor]:
        """Take n steps, segment by segment."""
        y_hats, halt_logits = [], []
        for done in range(0, n_steps, self.segment):
            n = min(self.segment, n_steps - done)
            y_hat, h, halt_logit = checkpoint(unroll, self.step, z, h, n, use_reentrant=False)
            y_hats.append(y_hat)
            halt_logits.append(halt_logit)
        return torch.cat(y_hats), h, torch.cat(halt_logits)


def main(max_steps: int = 100, segment: int = 10) -> float:
    """Print how much memory a training iteration takes at its peak; return how many times less it is with segments."""
    torch.manual_seed(0)
    step = GRUStep(8, 64)
    loss_fn = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), prior=0.2)
    x, y = ParityTask(8).batch(128)

    def peak(model: PonderNet) -> int:
        def iteration() -> None:
            loss_fn(model(x), y).total.backward()

        iteration()  # once before, so that the memory of the gradients is not counted
        return peak_bytes(iteration)

    plain = peak(PonderNet(step, max_steps))
    segments = peak(PonderNet(CheckpointedStep(step, segment), max_steps))
    print(f"N = {max_steps}: {plain / 2**20:.1f} MB, in segments of {segment} steps {segments / 2**20:.1f} MB")
    return plain / segments


if __name__ == "__main__":
    main()
