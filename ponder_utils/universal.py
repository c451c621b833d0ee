"""The layer of the Universal Transformer (Dehghani et al. 2018, arXiv:1807.03819), as a step."""

from typing import Any

import torch
from torch import Tensor

from ponder_utils._check import check_int
from ponder_utils.attention import TransformerStep
from ponder_utils.steps import Step


class UniversalStep(Step):
    """A `TransformerStep` to whose states it is added, before each step, where they stand and which step this is.

    A = LN(H + P_n + attention(H + P_n)),  H' = LN(A + MLP(A)), Eqs. 4-5, without dropout. A token that has halted still
    thinks, and is read as it is now; in the paper its state is copied on from the step at which it halted. Arguments as
    for `TransformerStep`; size is even.
    """

    def __init__(self, size: int, n_outputs: int = 1, n_heads: int = 1) -> None:
        super().__init__()
        if check_int("size", size, 1) % 2:
            raise ValueError(f"size must be even; got {size}")
        self.layer = TransformerStep(size, n_outputs, n_heads)

    def encode(self, x: Tensor | tuple[Tensor, Tensor]) -> tuple[Any, tuple[Any, int]]:
        """x: as for `TransformerStep`. The state is that of the tokens, and the number of the next step."""
        z, h = self.layer.encode(x)
        return z, (h, 1)

    def move(self, z: Any, h: tuple[Any, int]) -> tuple[Any, int]:
        """Return the next state."""
        inner, n = h
        if isinstance(inner, Tensor):
            return self.layer.move(z, inner + place_and_step(inner, n)), n + 1
        tokens, padding = inner
        return self.layer.move(z, (tokens + place_and_step(tokens, n), padding)), n + 1

    def read(self, h: tuple[Any, int]) -> tuple[Tensor, Tensor]:
        """Return y_hat_n and a_n, as `TransformerStep` does."""
        return self.layer.read(h[0])


def place_and_step(tokens: Tensor, n: int) -> Tensor:
    """Return P_n [tokens, size] for tokens [batch, tokens, size] at step n, both counted from 1 (Eqs. 6-7).

    P_n[i, 2j] = sin(i / w) + sin(n / w), P_n[i, 2j + 1] = cos(i / w) + cos(n / w), w = 10000^(2j / size).
    """
    _, n_tokens, size = tokens.shape
    w = 10000 ** (torch.arange(0, size, 2, device=tokens.device) / size)
    angle = torch.tensor([*range(1, n_tokens + 1), n], device=tokens.device)[:, None] / w  # [tokens + 1, size / 2]
    waves = torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1).to(tokens.dtype)
    return waves[:-1] + waves[-1]
