"""The one reader of a memory, of the evidence on inference."""

from torch import Tensor

from ponder_course.alone_and_together.lesson import NodeStep
from ponder_utils.steps import Step


class ReaderStep(Step):
    """One reader asks a memory, with lesson 08's layer."""

    def __init__(self, size: int, n_outputs: int) -> None:
        super().__init__()
        self.reader = NodeStep(size, n_outputs)

    def encode(self, x: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """x: question [batch, size] and memory [batch, tokens, size]; the question is the first state."""
        question, memory = x
        return memory, question

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the reader's next state [batch, size]."""
        return self.reader.layer(h[:, None], z).squeeze(1)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, n_outputs] and a_n [batch]."""
        return self.reader.read(h)
