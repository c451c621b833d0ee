"""This course's own reader of programs, as lesson 13 stored it. Run with --updates 0: it is loaded."""

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from ponder_course.common.store import CLONE
from ponder_course.scorecard.measure import Ready
from ponder_course.scorecard.tasks import Task
from ponder_course.who_leaves_early.experiment import untrained
from ponder_course.who_leaves_early.lesson import read


class Reading(nn.Module):
    """Lesson 13's reader, awake."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = untrained(seed=0)
        stored = load_file(CLONE / "results" / "13_who_leaves_early_networks.safetensors")
        first = {name[2:]: weights for name, weights in stored.items() if name.startswith("0.")}
        self.reader.load_state_dict(first)

    def forward(self, x: Tensor, n_loops: int) -> tuple[Tensor, Tensor]:
        """Return logits of the digits, and of halting: x [batch, tokens, 2]."""
        h = self.reader.statements(x)
        y_hat, halt_logits = [], []
        for _ in range(n_loops):
            h = self.reader.step.layer(h, h)
            answer, halt = self.reader.step.read(h)
            y_hat.append(answer)
            halt_logits.append(halt)
        return torch.stack(y_hat), torch.stack(halt_logits)


def network(task: Task) -> Reading:
    """Return the network; for programs."""
    return Reading()


def in_earnest(network: Reading, x: Tensor, n_loops: int, ready: Ready) -> tuple[Tensor, Tensor]:
    """Return digits and loops if whoever is ready leaves, and others read what it left: [batch, tokens] each."""
    return read(network.reader, x, n_loops, in_earnest=True, ready=ready)
