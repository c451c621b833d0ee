"""A transformer encoder that decides how often to apply its layer, on padded sequences.

One layer is applied again and again, as in the Universal Transformer (Dehghani et al. 2018, arXiv:1807.03819). The
task: is a string of brackets balanced? The input is a dict of tokens and a padding mask, as a tokenizer gives it. One
answer is asked for; in lesson 08 every token answers and halts by itself.

    python -m examples.transformer
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ponder_utils import Heads, PonderLoss, PonderNet, Step, cool_down, train

N_PLACES = 12
Inputs = dict[str, Tensor]
State = tuple[Tensor, Tensor]  # of the tokens [batch, places, hidden], and the mask of the padding


class TransformerStep(Step):
    """One step of thought is one pass through the layer; the answer and a_n are read from the mean over all tokens."""

    def __init__(self, n_hidden: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(3, n_hidden)
        self.places = nn.Parameter(torch.randn(N_PLACES, n_hidden))
        self.layer = nn.TransformerEncoderLayer(n_hidden, 4, 2 * n_hidden, dropout=0.0, batch_first=True)
        self.heads = Heads(n_hidden)

    def encode(self, x: Inputs) -> tuple[None, State]:
        """Return nothing that every step needs beside its state, and the first state."""
        return None, (self.tokens(x["tokens"]) + self.places, x["padding"])

    def move(self, z: None, h: State) -> State:
        """Return the next state."""
        tokens, padding = h
        return self.layer(tokens, src_key_padding_mask=padding), padding

    def read(self, h: State) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch] and a_n [batch]."""
        tokens, padding = h
        return self.heads(tokens.masked_fill(padding[:, :, None], 0.0).sum(1) / (~padding).sum(1, keepdim=True))


def brackets(batch_size: int, generator: torch.Generator) -> tuple[Inputs, Tensor]:
    """Draw strings of 2 to 12 brackets, half of them "(", in any order; the target is 1.0 if they are balanced.

    x: "tokens" [batch, places], 0 (padding), 1 for "(" or 2 for ")", and "padding" [batch, places], bool; y: [batch].
    """
    length = 2 * torch.randint(1, N_PLACES // 2 + 1, (batch_size, 1), generator=generator)
    places = torch.arange(N_PLACES).expand(batch_size, -1)
    padding = places >= length
    order = torch.rand(batch_size, N_PLACES, generator=generator).masked_fill(padding, 2.0).argsort(1).argsort(1)
    signs = torch.where(order < length // 2, 1, -1).masked_fill(padding, 0)
    # A string that is begun anew where it is lowest, and goes on from its end to its start, is balanced.
    lowest = signs.cumsum(1).masked_fill(padding, N_PLACES).argmin(1, keepdim=True)
    begun_anew = signs.gather(1, (places + lowest + 1) % length)
    mend = torch.rand(batch_size, 1, generator=generator) < 0.4
    signs = torch.where(mend, begun_anew, signs).masked_fill(padding, 0)
    balanced = (signs.cumsum(1) >= 0).all(1)
    return {"tokens": signs.remainder(3), "padding": padding}, balanced.float()


def learn(step: Step, draw: Callable[[int, torch.Generator], tuple[Inputs, Tensor]], n_updates: int) -> float:
    """Train on fresh strings; print and return how often the network is right on others."""
    model = PonderNet(step, max_steps=4)
    loss_fn = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), prior=0.4)
    schedule = cool_down(n_updates)
    train(model, loss_fn, lambda generator: draw(64, generator), n_updates, lr=3e-3, clip=1.0, schedule=schedule)

    x, y = draw(1000, torch.Generator().manual_seed(1))
    prediction = model.eval().predict(x)
    accuracy = ((prediction.y_hat > 0) == (y > 0.5)).float().mean().item()
    print(f"balanced or not: right on {accuracy:.1%}, after {prediction.steps.float().mean():.1f} steps on average")
    return accuracy


def main(n_updates: int = 150) -> float:
    """Learn to see whether strings of brackets are balanced."""
    torch.manual_seed(0)
    return learn(TransformerStep(32), brackets, n_updates)


if __name__ == "__main__":
    main()
