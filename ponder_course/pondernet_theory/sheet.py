"""What a problem sheet of lesson 02 asks to be written, and is run."""

from typing import Any

import torch
from torch import Tensor

from ponder_utils.halting import expected_steps, geometric_log_prior, halting_log_probs

N, BETA = 12, 0.1
NEEDS = torch.arange(1, 7)  # input k needs k steps
LOG_PRIOR = geometric_log_prior(0.4, N).float()
KNOWS = torch.arange(1, N + 1)[:, None] >= NEEDS  # [N, inputs]
Y = torch.tensor([1.0, 0, 1, 0, 1, 0])
Y_HAT = torch.where(KNOWS, 3 * (2 * Y - 1), 0)  # logits: even odds, and then 95 %


def learnt_steps(loss_of: Any) -> list[float]:
    """Learn the halting logits alone by this loss; return how many steps each input is expected to take."""
    a = torch.zeros(N, len(NEEDS), requires_grad=True)
    optimizer = torch.optim.Adam([a], lr=0.1)
    for _ in range(400):
        loss = loss_of(Y_HAT, a, Y, LOG_PRIOR, BETA)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return expected_steps(halting_log_probs(a.detach())).tolist()


def check_ponder_loss(loss_of: Any) -> str:
    """PonderNet's loss from logits alone: the halting of each input goes where its own losses and the prior send it."""

    def loss_at(a: Tensor, rows: Tensor) -> Tensor:
        return loss_of(Y_HAT[:, rows], a[:, rows], Y[rows], LOG_PRIOR, BETA)

    a, rows = torch.randn(N, 6, generator=torch.Generator().manual_seed(0)), torch.arange(6)
    a.requires_grad_()
    loss = loss_at(a, rows)
    assert torch.is_tensor(loss), "the loss of a batch is a tensor, so that it has a gradient"
    assert loss.shape == (), "the loss of a batch is one number, a tensor of shape ()"
    assert torch.allclose(loss_at(a, torch.cat([rows, rows])), loss), "the same batch twice: the mean stays as it was"
    (gradient,) = torch.autograd.grad(loss, a)
    assert not gradient[-1].any(), "step N takes all that is left, whatever its own halting logit is"
    for end in (-200.0, 200.0):
        assert loss_at(torch.full((N, 6), end), rows).isfinite(), f"not finite where all halting logits are {end:.0f}"
    steps = learnt_steps(loss_of)
    learnt = f"input 1 takes {steps[0]:.1f} steps, and input 6 takes {steps[-1]:.1f}"
    assert steps[-1] - steps[0] > 0.5, f"{learnt}: were losses averaged over the batch before p_n weighted them?"
    for one in range(6):
        p = (LOG_PRIOR - torch.where(KNOWS[:, one], 0.0486, 0.6931) / BETA).softmax(0)  # equation 4
        best = (p * torch.arange(1, N + 1)).sum().item()
        assert abs(steps[one] - best) < 0.1, (
            f"input {one + 1} takes {steps[one]:.1f} steps, and {best:.1f} would be best"
        )
    return f"Trained with your loss, {learnt}."
