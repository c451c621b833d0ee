"""The cells of notebooks/12_words.ipynb that are tagged `source`: change them there, then `make sources`."""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

import ponder_utils as pu
from ponder_course.alone_and_together.lesson import Addresses, NodeStep  # of lesson 08
from ponder_course.words.task import ChainTask


def token(address: Tensor) -> Tensor:  # [batch, size / 2] -> a name, no parent: [batch, 1, size]
    return torch.cat([address, torch.zeros_like(address)], dim=1)[:, None]


class Walker(nn.Module):
    def __init__(self, carried: str, n_nodes: int = 32, size: int = 64) -> None:
        super().__init__()
        self.carried, self.names = carried, Addresses(n_nodes, size)  # "word" or "state"
        self.step = NodeStep(size, n_nodes + 1)  # answers: a name, or STOP

    def carry(self, state: Tensor, next_word: Tensor, right: Tensor | None) -> Tensor:
        if self.carried == "state":
            return state
        name = next_word[:, :-1].argmax(1) if right is None else right  # the likeliest, or given
        return token(self.names.addresses[name])

    def forward(self, inputs: tuple[Tensor, Tensor], N: int | None = None) -> Tensor:
        x, words = inputs  # parents [batch, nodes]; words [batch, given], the one asked first
        text, thought, logits = self.names(x), token(self.names.addresses[words[:, 0]]), []
        for n in range(1, (N or words.shape[1]) + 1):  # also past STOP
            state = self.step.layer(thought, text)  # the thought asks the text
            logits.append(self.step.read(state)[0][:, 0])  # of the next word: [batch, nodes + 1]
            right = words[:, n] if n < words.shape[1] else None
            thought = self.carry(state, logits[-1], right)
        return torch.stack(logits, dim=1)  # [batch, N, nodes + 1]


def loss_of_words(logits: Tensor, y: Tensor) -> Tensor:  # [batch, N, nodes + 1], [batch, N]
    return cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=-1)  # -1: after STOP


def learn(walker: Walker, task: ChainTask, seed: int, updates: int = 1000) -> Walker:
    pu.train(
        walker,
        loss_of_words,
        lambda generator: task.batch(128, generator),
        updates,
        lr=3e-3,  # of Adam
        schedule=pu.cool_down(updates),  # half of them at this rate, then straight down to 0
        clip=1.0,  # the largest norm of a gradient
        seed=seed,
        progress=False,
    )
    return walker.eval()


@torch.no_grad()
def walk(walker: Walker, x: Tensor, N: int) -> tuple[Tensor, Tensor]:
    n_texts, n_nodes = x.shape
    asked = torch.arange(n_nodes).repeat(n_texts)[:, None]  # each node of each text
    logits = walker.eval()((x.repeat_interleave(n_nodes, 0), asked), N)  # no word is given
    stops = logits.argmax(2) == n_nodes  # [questions, N]
    n_words = torch.where(stops.any(1), stops.int().argmax(1), N)  # before the first STOP
    names = torch.cat([asked, logits[:, :, :-1].argmax(2)], dim=1)  # the node, then the likeliest
    last = names.gather(1, n_words[:, None])
    return last.view(n_texts, n_nodes), n_words.view(n_texts, n_nodes)
