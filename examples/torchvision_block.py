"""A residual block of torchvision, applied as often as it takes, on handwritten digits.

A ResNet stacks blocks with weights of their own; here one `BasicBlock` is applied again and again (tied weights). The
batches come from a `DataLoader`.

    python -m examples.torchvision_block
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision.models.resnet import BasicBlock

from ponder_course.common.digits import load_digits
from ponder_utils import Heads, PonderLoss, PonderNet, Step, cool_down, train


class BlockStep(Step):
    """One step of thought is one pass through the block; the answer and a_n are read from the state."""

    def __init__(self, channels: int, n_classes: int) -> None:
        super().__init__()
        # Not batch normalisation, whose running means would mix the steps.
        self.block = BasicBlock(channels, channels, norm_layer=partial(nn.GroupNorm, 4))
        self.stem = nn.Conv2d(1, channels, 4, stride=4)
        self.heads = Heads(channels * 7 * 7, n_classes)

    def encode(self, x: Tensor) -> tuple[None, Tensor]:
        """Return what every step needs of the input, here nothing, and the first state. x: [batch, 1, 28, 28]."""
        return None, self.stem(x.float() / 255)

    def move(self, z: None, h: Tensor) -> Tensor:
        """Return the next state [batch, channels, 7, 7]."""
        return self.block(h)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, classes] and a_n [batch]."""
        return self.heads(h.flatten(1))


def main(n_updates: int = 100) -> float:
    """Train on the digits of scikit-learn; print and return how often the network is right on digits held out."""
    torch.manual_seed(0)
    digits = load_digits("digits")
    model = PonderNet(BlockStep(16, n_classes=10), max_steps=4)
    loss_fn = PonderLoss(nn.CrossEntropyLoss(reduction="none"), prior=0.4)
    loader = DataLoader(TensorDataset(*digits.train), batch_size=64, shuffle=True)
    train(model, loss_fn, loader, n_updates, lr=3e-3, clip=1.0, schedule=cool_down(n_updates))

    x, y = digits.test
    # Every digit has an answer, so it may stop as soon as it is sure of one of the ten classes (lesson 06).
    prediction = model.eval().predict(x, "confidence", q=0.9, classes=True)
    accuracy = (prediction.y_hat.argmax(1) == y).float().mean().item()
    print(f"digits: right on {accuracy:.1%}, after {prediction.steps.float().mean():.1f} steps on average")
    return accuracy


if __name__ == "__main__":
    main()
