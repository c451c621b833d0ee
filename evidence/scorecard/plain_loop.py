"""A layer in a loop that hears its neighbours, without a head: certainty has to stop it. This is the shortest file."""

import torch
from torch import Tensor, nn

from ponder_course.scorecard.tasks import Task


class Loop(nn.Module):
    """Each place hears one place to either side in each loop."""

    def __init__(self, task: Task, size: int = 32) -> None:
        super().__init__()
        self.embed = nn.Embedding(task.n_tokens, size)
        self.own = nn.Linear(size * task.n_symbols, size)
        self.hear = nn.Conv1d(size, size, 3, padding=1)
        self.answer = nn.Linear(size, task.n_answers)

    def forward(self, x: Tensor, n_loops: int) -> Tensor:
        """Return the logits after each loop: x [batch, places, symbols] -> [n_loops, batch, places, answers]."""
        z = self.own(self.embed(x).flatten(-2)).mT  # [batch, size, places]
        h, answers = torch.zeros_like(z), []
        for _ in range(n_loops):
            h = torch.tanh(self.hear(h) + z)
            answers.append(self.answer(h.mT))
        return torch.stack(answers)


def network(task: Task) -> Loop:
    """Return the network, untrained."""
    return Loop(task)
