"""`TinyRecursiveModel` of the package tiny-recursive-model, with its own loss of answer and halt."""

from collections.abc import Callable

import torch
from tiny_recursive_model import MLPMixer1D, TinyRecursiveModel
from torch import Tensor, nn

from ponder_course.scorecard.tasks import Task


class Recursive(nn.Module):
    """A loop is one deep refinement, many passes in which all places hear each other; of one size."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        mixer = MLPMixer1D(dim=32, depth=1, seq_len=16)
        self.n_answers = task.n_answers
        self.whole = TinyRecursiveModel(
            dim=32, num_tokens=4, network=mixer, num_refinement_blocks=2, num_latent_refinements=2
        )

    def forward(self, x: Tensor, n_loops: int) -> tuple[Tensor, Tensor]:
        """Return logits, and halting logits [n_loops, batch]."""
        outputs, latents = self.whole.get_initial()
        answers, halts = [], []
        for _ in range(n_loops):
            outputs, latents, logits, halt = self.whole(x[..., 0] + 2 * x[..., 1], outputs, latents)
            answers.append(logits[..., : self.n_answers])
            halts.append(halt.logit(eps=1e-6))
        return torch.stack(answers), torch.stack(halts)


def network(task: Task) -> Recursive:
    """Return the network, untrained."""
    return Recursive(task)


def train(model: Recursive, task: Task, batches: Callable, updates: int) -> None:
    """Train as the package does: a step of the optimizer after each loop, on a loss of answer and of halting."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(0)
    for _ in range(updates):
        x, y = batches(generator)
        outputs, latents = model.whole.get_initial()
        for _ in range(task.n_loops):
            loss, _, outputs, latents, _, _ = model.whole(x[..., 0] + 2 * x[..., 1], outputs, latents, labels=y)
            optimizer.zero_grad()
            (loss / len(x)).backward()
            optimizer.step()
