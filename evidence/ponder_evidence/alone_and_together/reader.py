"""The one reader of a memory, of the evidence on inference."""

from torch import Tensor

from ponder_course.common.attention import TransformerStep, without_padding
from ponder_utils._check import check_type
from ponder_utils.steps import Step


class ReaderStep(Step):
    """One reader asks a memory, with the layer of a `TransformerStep`, whose arguments it takes."""

    def __init__(self, size: int, n_outputs: int = 1, n_heads: int = 1) -> None:
        super().__init__()
        self.reader = TransformerStep(size, n_outputs, n_heads)

    def encode(self, x: tuple[Tensor, ...]) -> tuple[tuple[Tensor, Tensor | None], Tensor]:
        """x: question [batch, size], memory [batch, tokens, size] and, if any is, where it is padding, as above."""
        if not isinstance(x, tuple | list) or len(x) not in (2, 3):
            came = f"{len(x)} parts" if isinstance(x, tuple | list) else type(x).__name__
            raise TypeError(f"x must be question, memory and, if any is padding, where; got {came}")
        question, *rest = x
        z = without_padding("memory", rest, self.reader.attention.embed_dim)
        wanted = [z[0].shape[0], z[0].shape[2]]
        if list(check_type("question", question, Tensor).shape) != wanted:
            raise ValueError(f"question must have shape {wanted}; got {list(question.shape)}")
        return z, question

    def move(self, z: tuple[Tensor, Tensor | None], h: Tensor) -> Tensor:
        """Return the reader's next state [batch, size]."""
        return self.reader.layer(h[:, None], *z).squeeze(1)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch] or [batch, n_outputs], and a_n [batch]."""
        return self.reader.read(h)
