"""The cells of notebooks/14_price_of_a_word.ipynb that are tagged `source`: change them there, then `make sources`."""

import torch
from torch import Tensor

from ponder_course.alone_and_together.task import ForestTask  # of lesson 08
from ponder_course.words.lesson import Walker  # of lesson 12


class Writer(Walker):  # .names, .step: lesson 12's
    def next_words(self, x: Tensor) -> Tensor:  # parents [texts, nodes] -> a table for each text
        names = self.names.addresses.expand(len(x), -1, -1)
        thoughts = torch.cat([names, torch.zeros_like(names)], dim=2)  # each name, as a word
        logits, _ = self.step.read(self.step.layer(thoughts, self.names(x)))
        return logits.log_softmax(2)  # [texts, nodes, nodes + 1]: of what follows each name

    def forward(self, inputs: tuple[Tensor, Tensor], N: int | None = None) -> Tensor:
        x, words = inputs  # the words are given, as in lesson 12's training
        return self.next_words(x)[torch.arange(len(x))[:, None], words]  # [texts, words, nodes + 1]


def write(
    log_probs: Tensor, asked: Tensor, n_chains: int, generator: torch.Generator, N: int = 40
) -> tuple[Tensor, ...]:
    n_nodes, text = log_probs.shape[1], torch.arange(len(asked))[:, None]
    word = asked[:, None].repeat(1, n_chains)  # one node asked in each text: [texts, chains]
    going = torch.ones_like(word, dtype=torch.bool)
    n_words, log_p = torch.zeros_like(word), torch.zeros(word.shape)
    probs = log_probs.detach().exp()
    for _ in range(N + 1):
        of_next = probs[text, word].flatten(0, 1)  # [texts * chains, nodes + 1]
        drawn = of_next.multinomial(1, generator=generator).view_as(word)
        log_p = log_p + log_probs[text, word, drawn] * going
        going = going & (drawn < n_nodes)  # n_nodes is STOP
        word = torch.where(going, drawn, word)
        n_words = n_words + going
        if not going.any():
            break
    return word, n_words, ~going, log_p  # the last name, words, has it said STOP, log p(chain)


def loss_of_rewards(rewards: Tensor, log_p: Tensor) -> Tensor:  # [texts, chains] each
    advantage = rewards - rewards.mean(dim=1, keepdim=True)
    return -(advantage * log_p).mean()


def reward(
    writer: Writer, task: ForestTask, tau: float, seed: int, updates: int, batch: int = 24
) -> Writer:
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(writer.parameters(), lr=1e-3)
    for _ in range(updates):
        x, roots = task.batch(batch, generator)
        asked = torch.randint(x.shape[1], (batch,), generator=generator)
        last, n_words, stopped, log_p = write(writer.next_words(x), asked, 8, generator)
        right = (last == roots.gather(1, asked[:, None])) & stopped
        loss = loss_of_rewards(right.float() - tau * n_words, log_p)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(writer.parameters(), 1.0)  # the largest norm
        optimizer.step()
    return writer
