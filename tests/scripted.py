"""Step functions that do what their input says: for tests of what is around a step."""

import torch

from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import Step


class Answers(Step):
    """A step function that reads answers [batch, N, ...] and halting logits [batch, N, ...] from its input, a tuple."""

    def encode(self, x):
        return x, torch.zeros(len(x[0]), dtype=torch.long)

    def forward(self, z, n):
        y_hat, halt_logits = z
        rows = torch.arange(len(n))
        return y_hat[rows, n], n + 1, halt_logits[rows, n]


def predicted(output, rule, **options):
    """What `predict` makes of a network that computes this output."""
    model = PonderNet(Answers(), len(output.y_hat))
    return model.predict((output.y_hat.transpose(0, 1), output.halt_logits.transpose(0, 1)), rule, **options)


def draws(seed, batch_size, max_steps, scale=3):
    """Return random halting logits: [batch, N]."""
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(batch_size, max_steps, generator=generator)
