"""What the exercises of lesson 06 are checked for; each assertion says what is wrong with an answer."""

from typing import Any

import torch

from ponder_utils.halting import PonderOutput, halting_log_probs
from ponder_utils.rules import halting_steps


def check_odds(answer: Any) -> None:
    """Thirty lines, at three steps."""
    needed = torch.randint(1, 9, (30, 6), generator=torch.Generator().manual_seed(0))
    for n in (1, 4, 8):
        wanted = [0.5 ** sum(steps > n for steps in line) for line in needed.tolist()]
        got = torch.as_tensor(answer(needed, n)).tolist()
        close = [abs(a - b) < 1e-6 for a, b in zip(wanted, got, strict=True)]
        assert all(close), f"step {n}: {wanted[:3]} ..., not {got[:3]} ..."


def check_mine(answer: Any) -> None:
    """A step for each line, which later steps and other lines do not change."""
    y_hat = 3 * torch.randn(8, 30, 4, generator=torch.Generator().manual_seed(0))
    steps = torch.as_tensor(answer(y_hat))
    assert steps.shape == (30,), f"one number for each of 30 lines; got {list(steps.shape)}"
    assert all(n in range(1, 9) for n in steps.tolist()), f"steps from 1 to 8; got {steps.tolist()}"
    for i, n in enumerate(steps.long().tolist()):
        for later in (0.1, 9.0):  # faint answers, and sure ones
            other = y_hat.clone()
            other[n:, i], other[:, :i], other[:, i + 1 :] = later, -0.1, 5.0
            again = torch.as_tensor(answer(other)).tolist()[i]
            assert again == n, f"line {i} halts at {n}, or {again} if later steps, other lines vary"


def check_patient(answer: Any) -> None:
    """The same steps as by the package's rule."""
    for seed, n_steps in ((0, 9), (1, 9), (2, 1)):
        y_hat = torch.randn(n_steps, 30, 2, generator=torch.Generator().manual_seed(seed)) + 0.8
        a = torch.zeros(n_steps, 30)
        output = PonderOutput(y_hat, a, halting_log_probs(a))
        for t in (1, 2, 3):
            wanted = halting_steps(output, "unchanged", t=t, classes=False).tolist()
            got = torch.as_tensor(answer(y_hat, t)).tolist()
            assert got == wanted, f"t = {t}: {wanted[:6]} ..., not {got[:6]} ..."
