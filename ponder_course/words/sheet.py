"""What a problem sheet of lesson 12 asks to be written, and is run."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from ponder_course.alone_and_together.experiment import chains
from ponder_course.alone_and_together.lesson import Addresses, NodeStep
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.training import fit
from ponder_course.words.lesson import loss_of_words, token
from ponder_course.words.task import ChainTask, chain_above

NODES, SIZE = 16, 64


class Scribe(nn.Module):
    """Lesson 12's layer, which writes by the loop that it is given."""

    def __init__(self, write: Any) -> None:
        super().__init__()
        self.write, self.names, self.step = write, Addresses(NODES, SIZE), NodeStep(SIZE, NODES + 1)

    def reader(self, x: Tensor) -> Callable[[Tensor], Tensor]:
        """Return what reads these texts with a name each [batch], and gives logits of the next word [batch, 17]."""
        text = self.names(x)

        def read(name: Tensor) -> Tensor:
            state = self.step.layer(token(self.names.addresses[name]), text)
            return self.step.read(state)[0][:, 0]

        return read

    def forward(self, inputs: tuple[Tensor, Tensor]) -> Tensor:
        """Return the logits of each word, for texts and the right chains: the asked node, and the words after it."""
        x, chain = inputs
        return self.write(self.reader(x), chain[:, 0], chain.shape[1], chain[:, 1:])


def check_loop(write: Any) -> None:
    """A reader that knows the text is led up a chain of five, by its own words or by those that are given."""
    above = torch.tensor([5, 0, 1, 2, 3])  # the word after each node: STOP is 5

    def read(name: Tensor) -> Tensor:
        return one_hot(above[name], 6).float()

    asked = torch.tensor([4, 2])
    logits = write(read, asked, 3, None)
    assert logits.shape == (2, 3, 6), f"two questions, three steps, six words: not {[*logits.shape]}"
    words = logits.argmax(2).tolist()
    assert words == [[3, 2, 1], [1, 0, 5]], (
        f"up a chain of five, nodes 4 and 2 should write 3 2 1 and 1 0 STOP: {words}"
    )
    given = torch.tensor([[1, 4], [4, 0]])
    words = write(read, asked, 3, given).argmax(2).tolist()
    assert words == [[3, 0, 3], [1, 3, 5]], f"where words are given, each step reads the one before it: {words}"
    assert write(read, torch.tensor([0]), 3, None).argmax(2)[0, 0] == 5, "a root writes STOP at once"


def check_write(write: Any) -> str:
    """A walker that writes by this loop is trained on one arrow, and walks up chains of 16 nodes."""
    check_loop(write)
    torch.manual_seed(0)
    task = ChainTask(NODES, 1)
    scribe, _ = fit(Scribe(write), loss_of_words, lambda g: task.batch(128, g), 300, lr=3e-3)
    x = chains(200, NODES, torch.Generator().manual_seed(1))
    last = ForestTask.depths(x).argmax(1)
    _, words = chain_above(x, last, NODES)  # the right ones
    with torch.no_grad():
        written = write(scribe.reader(x), last, NODES, None).argmax(2)
    right = (written == words).all(1).float().mean().item()
    learnt = f"of 200 chains 15 arrows long, {right:.0%} are walked to the end without a slip"
    assert right > 0.8, f"it does not learn: {learnt}"
    return f"Trained on one arrow with your loop, {learnt}."
