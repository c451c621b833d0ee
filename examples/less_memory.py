"""A network that trains with less memory: it keeps one state in every few, and computes the others again.

Training keeps the states of all N steps for the backward pass. Of every `segment` steps this keeps the first state and
the answers alone (`torch.utils.checkpoint`), so that memory grows with N / segment + segment, which is smallest at
about segment = sqrt(N). The price is a second forward pass. Answers and gradients stay the same.

    python -m examples.less_memory
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

from ponder_utils import GRUStep, ParityTask, PonderLoss, PonderNet, PonderOutput, Step, halting_log_probs
from ponder_utils.steps import unroll


class CheckpointedNet(PonderNet):
    """A PonderNet whose states within a segment of so many steps are computed again for the gradient."""

    def __init__(self, step: Step, max_steps: int, segment: int) -> None:
        super().__init__(step, max_steps)
        self.segment = segment

    def forward(self, x: Tensor, max_steps: int | None = None) -> PonderOutput:
        """Run all N steps, segment by segment."""
        z, h = self.step.encode(x)
        y_hats, halt_logits = [], []
        for segment in torch.arange(max_steps or self.max_steps).split(self.segment):
            y_hat, h, halt_logit = checkpoint(self.take_segment, z, h, len(segment), use_reentrant=False)
            y_hats.append(y_hat)
            halt_logits.append(halt_logit)
        all_logits = torch.cat(halt_logits)
        return PonderOutput(torch.cat(y_hats), all_logits, halting_log_probs(all_logits))

    def take_segment(self, z: object, h: object, n_steps: int) -> tuple[Tensor, object, Tensor]:
        """Take so many steps; return answers, the state after them, and halting logits."""
        y_hat, states, halt_logits = unroll(self.step, z, h, n_steps)
        return y_hat, states[-1], halt_logits


def peak_bytes(call: Callable[[], object]) -> int:
    """Return the most memory that torch held at one time on the CPU, beyond what it held before the call."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    assert profiler.profiler is not None
    results = profiler.profiler.kineto_results
    assert results is not None
    events = [event for event in results.events() if event.name() == "[memory]"]
    level = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        level += event.nbytes()
        peak = max(peak, level)
    return peak


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
    segments = peak(CheckpointedNet(step, max_steps, segment))
    print(f"N = {max_steps}: {plain / 2**20:.1f} MB, in segments of {segment} steps {segments / 2**20:.1f} MB")
    return plain / segments


if __name__ == "__main__":
    main()
