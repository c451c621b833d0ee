"""The layer of the Universal Transformer (Dehghani et al. 2018, arXiv:1807.03819), with a halting step for every token.

The task is that of `examples.transformer`: is a string of brackets balanced? But here every token answers, and halts by
itself, so targets and losses have a place for each, and a mask leaves out the padding.

    python -m examples.universal_transformer
"""

from typing import Any

import torch
from torch import Tensor, nn

from examples.transformer import Inputs, brackets
from ponder_course.common.attention import TransformerStep
from ponder_utils import EncodedStep, PonderLoss, PonderNet, Step, cool_down, train

Tokens = Any  # [batch, tokens, size], or a pair of these and where they are padding
State = tuple[Tokens, int]  # with the number of the next step


class UniversalStep(Step):
    """A `TransformerStep` to whose states it is added, before each step, where they stand and which step this is.

    A = LN(H + P_n + attention(H + P_n)),  H' = LN(A + MLP(A)), Eqs. 4-5, without dropout. A token that has halted still
    thinks, and is read as it is now; in the paper its state is copied on from the step at which it halted. Arguments as
    for `TransformerStep`; size is even.
    """

    def __init__(self, size: int, n_outputs: int = 1, n_heads: int = 1) -> None:
        super().__init__()
        if size % 2:
            raise ValueError(f"size must be even; got {size}")
        self.layer = TransformerStep(size, n_outputs, n_heads)

    def encode(self, x: Tensor | tuple[Tensor, Tensor]) -> tuple[Tokens, State]:
        """x: as for `TransformerStep`. The state is that of the tokens, and the number of the next step."""
        z, h = self.layer.encode(x)
        return z, (h, 1)

    def move(self, z: Tokens, h: State) -> State:
        """Return the next state."""
        inner, n = h
        if isinstance(inner, Tensor):
            return self.layer.move(z, inner + place_and_step(inner, n)), n + 1
        tokens, padding = inner
        return self.layer.move(z, (tokens + place_and_step(tokens, n), padding)), n + 1

    def read(self, h: State) -> tuple[Tensor, Tensor]:
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


class Embedding(nn.Module):
    """The strings of `brackets` as tokens [batch, places, size], and where they are padding."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(3, size)

    def forward(self, x: Inputs) -> tuple[Tensor, Tensor]:
        """Return both, as `TransformerStep` takes them."""
        return self.tokens(x["tokens"]), x["padding"]


def batch(batch_size: int, generator: torch.Generator) -> tuple[Inputs, Tensor, Tensor]:
    """Draw strings, for every token the target of its string, 1.0 or 0.0, and which are tokens: [batch, places]."""
    x, y = brackets(batch_size, generator)
    return x, y[:, None].expand(x["padding"].shape), ~x["padding"]


def main(n_updates: int = 300) -> float:
    """Train on fresh strings; print and return how often a token is right on others."""
    torch.manual_seed(0)
    model = PonderNet(EncodedStep(Embedding(32), UniversalStep(32, n_heads=4)), max_steps=4)
    loss = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), prior=0.4)
    schedule = cool_down(n_updates)
    train(model, loss, lambda generator: batch(64, generator), n_updates, lr=3e-3, clip=1.0, schedule=schedule)

    x, y, asked = batch(1000, torch.Generator().manual_seed(1))
    prediction = model.eval().predict(x, mask=asked)
    accuracy = ((prediction.y_hat > 0) == (y > 0.5))[asked].float().mean().item()
    steps = prediction.steps[asked].float().mean().item()
    print(f"balanced or not: {accuracy:.1%} of tokens are right, after {steps:.1f} steps on average")
    return accuracy


if __name__ == "__main__":
    main()
