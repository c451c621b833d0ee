"""A network that thinks about each token of a stream, with a cache: what it may look up are the thoughts before.

At each token the step repeats: it looks up, by attention, what the earlier tokens had thought when they halted. What
they thought stands in a cache of fixed size, and beside it how many entries it has: a state that grows could not stand
in one batch, since some samples have thought longer than others. The task: has this symbol been there before?

    python -m examples.kv_cache
"""

import torch
from torch import Tensor, nn

from ponder_utils import Heads, PonderLoss, PonderSequence, Step, train

N_TOKENS, N_SYMBOLS = 8, 8
State = tuple[Tensor, Tensor, Tensor]  # thought [batch, size], cache [batch, N_TOKENS, size], entries in it [batch]


class Recall(Step):
    """Look up earlier thoughts, and think on."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.hear = nn.Linear(N_SYMBOLS, size)
        self.attention = nn.MultiheadAttention(size, 1, batch_first=True)
        self.think = nn.Sequential(nn.Linear(3 * size, size), nn.Tanh())
        self.heads = Heads(size)

    def encode(self, x: Tensor) -> tuple[tuple[Tensor, Tensor], State]:
        """x [batch, N_SYMBOLS + 1]: a token, and a flag, 1 at its first step. Return both, and an empty state."""
        zeros = x.new_zeros(x.shape[0], N_TOKENS, self.size)
        return (self.hear(x[:, :-1]), x[:, -1] > 0), (zeros[:, 0], zeros, torch.zeros_like(x[:, -1], dtype=torch.long))

    def move(self, z: tuple[Tensor, Tensor], h: State) -> State:
        """Write the thought at which the token before has halted into the cache, if this is a first step; think on."""
        token, is_first = z
        thought, cache, n_entries = h
        place = torch.arange(N_TOKENS, device=token.device)
        is_new = (place == n_entries[:, None] - 1) & is_first[:, None]
        cache = torch.where(is_new[..., None], thought[:, None], cache)
        n_entries = n_entries + is_first  # with the token itself, which is written when it has halted
        is_unread = place >= (n_entries[:, None] - 1).clamp(min=1)
        looked_up, _ = self.attention(token[:, None], cache, cache, is_unread, need_weights=False)
        return token + self.think(torch.cat([token, looked_up[:, 0], thought], dim=1)), cache, n_entries

    def read(self, h: State) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch] and a_n [batch]."""
        return self.heads(h[0])


def stream(batch_size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw x [N_TOKENS, batch, N_SYMBOLS], one-hot, and whether each has been there before: [N_TOKENS * batch]."""
    symbols = torch.randint(N_SYMBOLS, (N_TOKENS, batch_size), generator=generator)
    one_hot = nn.functional.one_hot(symbols, N_SYMBOLS).float()
    counts = one_hot.cumsum(0).gather(2, symbols[..., None])
    return one_hot, (counts[..., 0] > 1).float().flatten()


def main(n_updates: int = 500) -> float:
    """Train on fresh streams; print and return how often the network is right on others."""
    torch.manual_seed(0)
    model = PonderSequence(Recall(32), max_steps=3)
    loss_fn = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), prior=0.4)
    train(model, loss_fn, lambda generator: stream(64, generator), n_updates, lr=5e-3, clip=1.0)

    x, y = stream(500, torch.Generator().manual_seed(1))
    prediction = model.eval().predict(x)
    accuracy = ((prediction.y_hat.flatten() > 0) == (y > 0.5)).float().mean().item()
    print(f"been here before: right on {accuracy:.1%}, after {prediction.steps.float().mean():.1f} steps a token")
    return accuracy


if __name__ == "__main__":
    main()
