"""`PonderTransformer` of the package ponder-transformer, on lines and columns; its block and its head, in a loop."""

import torch
from ponder_transformer import PonderTransformer
from torch import Tensor, nn

from ponder_course.scorecard.tasks import Task


class Pondering(nn.Module):
    """All places hear each other; the mean of all places halts a sample."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.n_answers = task.n_answers
        self.whole = PonderTransformer(num_tokens=4, dim=32, max_seq_len=64, causal=False, dim_head=16, heads=2)

    def forward(self, x: Tensor, n_loops: int) -> tuple[Tensor, Tensor]:
        """Return logits, and halting logits [n_loops, batch]."""
        h = self.whole.token_emb(x[..., 0] + 2 * x[..., 1]) + self.whole.pos_emb.weight[: x.shape[1]]
        answers, halts = [], []
        for _ in range(n_loops):
            h, halt = self.whole.block(h)
            answers.append(self.whole.to_logits(h)[..., : self.n_answers])
            halts.append(halt)
        return torch.stack(answers), torch.stack(halts)


def network(task: Task) -> Pondering:
    """Return the network, untrained."""
    return Pondering(task)
