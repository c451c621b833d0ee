"""An LSTM that thinks about what it has read, on sequences of different lengths.

An `nn.LSTM` reads the sequence once, before the first step; then an `nn.LSTMCell` thinks on until it halts. The task:
the largest of one to eight digits. The input is a tuple of digits and lengths.

    python -m examples.lstm
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from ponder_utils import EncodedStep, PonderLoss, PonderNet, RecurrentStep, train

N_PLACES, N_DIGITS = 8, 10
Inputs = tuple[Tensor, Tensor]  # digits [batch, places], 0 after the end, and lengths [batch]


class Reader(nn.Module):
    """Read each sequence up to its end."""

    def __init__(self, n_hidden: int) -> None:
        super().__init__()
        self.digits = nn.Embedding(N_DIGITS, n_hidden)
        self.lstm = nn.LSTM(n_hidden, n_hidden, batch_first=True)

    def forward(self, x: Inputs) -> Tensor:
        """Return what the LSTM knows at the end of each sequence: [batch, hidden]."""
        digits, lengths = x
        packed = pack_padded_sequence(self.digits(digits), lengths, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return h[-1]  # of the last layer


def largest_digit(batch_size: int, generator: torch.Generator) -> tuple[Inputs, Tensor]:
    """Draw sequences of 1 to 8 digits; the target is the largest digit of each, [batch], int64."""
    lengths = torch.randint(1, N_PLACES + 1, (batch_size,), generator=generator)
    digits = torch.randint(N_DIGITS, (batch_size, N_PLACES), generator=generator)
    digits[torch.arange(N_PLACES) >= lengths[:, None]] = 0
    return (digits, lengths), digits.amax(1)


def main(n_updates: int = 150) -> float:
    """Train on fresh sequences; print and return how often the network is right on others."""
    torch.manual_seed(0)
    step = EncodedStep(Reader(32), RecurrentStep(nn.LSTMCell(32, 32), n_outputs=N_DIGITS))
    model = PonderNet(step, max_steps=4)
    loss_fn = PonderLoss(nn.CrossEntropyLoss(reduction="none"), prior=0.4)
    train(model, loss_fn, lambda generator: largest_digit(128, generator), n_updates, lr=1e-2, clip=1.0)

    x, y = largest_digit(1000, torch.Generator().manual_seed(1))
    prediction = model.eval().predict(x)
    accuracy = (prediction.y_hat.argmax(1) == y).float().mean().item()
    print(f"the largest digit: right on {accuracy:.1%}, after {prediction.steps.float().mean():.1f} steps on average")
    return accuracy


if __name__ == "__main__":
    main()
