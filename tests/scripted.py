"""Step functions that do what their input says: for tests of what is around a step."""

import torch

from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import Step


class Scripted(Step):
    """A step function that reads its halting logits from its input, and answers with the number of the step.

    It counts the rows it is given: what a prediction costs.
    """

    def __init__(self):
        super().__init__()
        self.rows = 0

    def encode(self, x):  # x: [batch, N] halting logits
        return x, (x.new_zeros(len(x)), x.clone())

    def forward(self, z, h):
        n, copy = h
        assert torch.equal(copy.nan_to_num(), z.nan_to_num())  # input and state leave the batch together
        self.rows += len(z)
        logit = z.gather(1, n.long()[:, None])[:, 0]
        return n + 1, (n + 1, copy), logit


class Answers(Step):
    """A step function that reads answers [batch, N, ...] and halting logits [batch, N, ...] from its input, a tuple."""

    def encode(self, x):
        return x, torch.zeros(len(x[0]), dtype=torch.long)

    def forward(self, z, n):
        y_hat, halt_logits = z
        rows = torch.arange(len(n))
        return y_hat[rows, n], n + 1, halt_logits[rows, n]


def scripted(logits, rule, **options):
    """Return one prediction per row of logits [batch, N], and the number of steps computed."""
    model = PonderNet(Scripted(), logits.shape[1])
    return model.predict(logits, rule, **options), model.step.rows


def predicted(output, rule, **options):
    """What `predict` makes of a network that computes this output."""
    model = PonderNet(Answers(), len(output.y_hat))
    return model.predict((output.y_hat.transpose(0, 1), output.halt_logits.transpose(0, 1)), rule, **options)


def draws(seed, batch_size, max_steps, scale=3):
    """Return random halting logits: [batch, N]."""
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(batch_size, max_steps, generator=generator)
