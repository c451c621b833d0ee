"""`HRM_ACT` of the package hrm-pytorch, with its own losses of answer, halt and going on; for lines."""

from collections.abc import Callable

import torch
from HRM import HRM_ACT
from torch import Tensor, nn

from ponder_course.scorecard.tasks import Task

SEGMENT = 5  # loops before each step of the optimizer; gradients see the last of them


class Reasoning(nn.Module):
    """A loop is one reasoning step, two passes of the lower network and one of the higher; all places hear each other.

    The package halts where it expects more from halting than from going on. So the halting logit is the difference.
    """

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.n_answers = task.n_answers
        layers = {"dim": 32, "depth": 1, "heads": 2, "attn_dim_head": 16, "rotary_pos_emb": True}
        self.whole = HRM_ACT(networks=[layers, dict(layers)], dim=32, num_tokens=4, max_reasoning_steps=SEGMENT)

    def forward(self, x: Tensor, n_loops: int) -> tuple[Tensor, Tensor]:
        """Return logits, and halting logits [n_loops, batch]: x [batch, places, 2]."""
        hiddens, answers, halts = None, [], []
        for _ in range(n_loops):
            logits, hiddens = self.whole(
                x[..., 0] + 2 * x[..., 1], hiddens, max_reasoning_steps=1, adaptive_compute=False
            )
            halt, go_on = self.whole.to_q_halt_continue(hiddens[-1])
            answers.append(logits[..., : self.n_answers])
            halts.append(halt - go_on)
        return torch.stack(answers), torch.stack(halts)


def network(task: Task) -> Reasoning:
    """Return the network, untrained."""
    return Reasoning(task)


def train(model: Reasoning, task: Task, batches: Callable, updates: int) -> None:
    """Train as the package's page shows: on the same batch again, with the state that was reached before."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(0)
    for _ in range(updates):
        x, y = batches(generator)
        hiddens = None
        for _ in range(task.n_loops // SEGMENT):
            loss, hiddens, _ = model.whole(x[..., 0] + 2 * x[..., 1], hiddens, labels=y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
