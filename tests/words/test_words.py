"""Chains of words, walkers and what is measured of them, against the slow way: a node, a word and a text at a time."""

import itertools
import math
from statistics import fmean
from types import SimpleNamespace

import pytest
import torch
from exercises import test_of_answers
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.alone_and_together.task import ForestTask
from ponder_course.words.experiment import Rereader, measure, texts_of_all_depths
from ponder_course.words.lesson import Walker, loss_of_words, token
from ponder_course.words.task import NO_WORD, ChainTask, chain_above

N_NODES, N_WORDS = 8, 5
seeds = st.integers(0, 10**6)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def climb(parents, node):  # the root last
    way = [node]
    while parents[way[-1]] != way[-1]:
        way.append(parents[way[-1]])
    return way


@given(seeds, st.integers(1, 12), st.integers(0, 8), st.integers(1, 10))
def test_a_chain_and_its_right_words_are_those_of_a_climb(seed, n_nodes, max_depth, n_words):
    (x, chain), y = ChainTask(n_nodes, max_depth).batch(2, seeded(seed))
    again = chain_above(x, chain[:, 0], max_depth + 1)
    assert torch.equal(torch.stack(again), torch.stack([chain, y]))
    assert ((y == n_nodes).sum(1) == 1).all()
    for node in range(n_nodes):
        chain, y = chain_above(x, torch.tensor([node, node]), n_words)
        assert chain.dtype == y.dtype == torch.int64
        for parents, names, words in zip(x.tolist(), chain.tolist(), y.tolist(), strict=True):
            way = climb(parents, node)
            assert names == [*way, *n_words * way[-1:]][:n_words]
            assert words == [*way[1:], n_nodes, *n_words * [NO_WORD]][:n_words]


def make(carried, kind=Walker):
    torch.manual_seed(0)
    return kind(carried, N_NODES, 16).eval()


TEXTS, _ = ForestTask(N_NODES).batch(6, seeded(1))
WORDS = torch.randint(N_NODES, (6, N_WORDS), generator=seeded(2))  # that need not be right


def test_who_rereads_its_words_reads_at_each_step_the_text_and_all_words_so_far():
    walker = make("word", Rereader)
    names = walker.names.addresses[WORDS]
    tokens = torch.cat([names, torch.zeros_like(names)], dim=2)
    read = torch.cat([walker.names(TEXTS), tokens], dim=1)
    hidden = torch.ones(N_WORDS, N_NODES + N_WORDS).triu(N_NODES + 1).bool()
    step = walker.step
    new = step.norm_attention(tokens + step.attention(tokens, read, read, attn_mask=hidden)[0])
    in_parallel = step.heads(step.norm_mlp(new + step.mlp(new)))[0]
    torch.testing.assert_close(walker((TEXTS, WORDS)), in_parallel)
    assert (in_parallel - make("word")((TEXTS, WORDS))).abs().max() > 0.01


def test_who_carries_its_state_puts_it_through_the_layer_again():
    walker = make("state")
    state = token(walker.names.addresses[WORDS[:, 0]])
    for logits in walker((TEXTS, WORDS)).unbind(1):
        state = walker.step.layer(state, walker.names(TEXTS))
        torch.testing.assert_close(logits, walker.step.heads(state)[0][:, 0])
    assert (logits - make("word")((TEXTS, WORDS))[:, -1]).abs().max() > 0.01


def test_the_loss_is_the_mean_over_words_up_to_stop():
    _, y = ChainTask(6, 3).batch(20, seeded(0))
    logits = torch.randn(20, 4, 7, generator=seeded(1))
    by_hand = []
    for log_probs, words in zip(logits.log_softmax(2).tolist(), y.tolist(), strict=True):
        by_hand += [-log_probs[n][words[n]] for n in range(words.index(6) + 1)]
    assert 20 < len(by_hand) < 80
    assert loss_of_words(logits, y).item() == pytest.approx(fmean(by_hand), rel=1e-5)


def test_what_is_measured_is_what_one_finds_question_by_question():
    x, N = texts_of_all_depths(5, 15), 6
    noise = torch.randn(150, N, 6)

    def say(inputs, N):
        """The right word, or STOP, is likelier than others."""
        texts, asked = inputs
        _, y = chain_above(texts, asked[:, 0], N)
        return noise + 2 * nn.functional.one_hot(y.clamp(min=0), 6)

    logits = say((x.repeat_interleave(5, 0), torch.arange(5).repeat(30)[:, None]), N)
    got = measure(SimpleNamespace(eval=lambda: say), x, N)
    by_depth = {depth: [] for depth in range(5)}
    for question, words in enumerate(logits.argmax(2).tolist()):
        parents, node = x[question // 5].tolist(), question % 5
        said = [*words, 5][: [*words, 5].index(5)]
        way = climb(parents, node)
        by_depth[len(way) - 1].append(([node, *said][-1] == way[-1], len(said) == len(way) - 1, len(said)))
    rows = [*itertools.chain.from_iterable(by_depth.values())]
    assert len({row[:2] for row in rows}) == 4
    assert got["right"] == pytest.approx(fmean(row[0] for row in rows))
    for depth, found in got["by_depth"].items():
        right, on_time, words = map(fmean, zip(*by_depth[depth], strict=True))
        slow = {"nodes": len(by_depth[depth]), "right": right, "on_time": on_time, "words": words}
        assert found == pytest.approx(slow)


def loops(depth):
    return max(1, math.ceil(math.log2(depth + 1)))


WRONG = {
    "cost": [
        lambda d, n: ((d, d), (loops(d), loops(d) * n)),  # STOP costs nothing
        lambda d, n: ((d + 1, d + 1), (loops(d), loops(d))),  # one node alone
        lambda d, n: ((d + 1, d + 1), (math.ceil(math.log2(d + 1)), math.ceil(math.log2(d + 1)) * n)),  # a root: none
        lambda d, n: ((d + 1, d + 1), (max(1, math.ceil(math.log2(max(d, 1)))), loops(d) * n)),  # only to name
        lambda d, n: ((d + 1, (d + 1) * n), (loops(d), loops(d) * n)),  # each word computes the text anew
    ],
}
RIGHT = {
    "cost": [lambda d, n: torch.tensor([[d + 1, d + 1], [loops(d), n * loops(d)]])],
}
test_answers_of_exercises = test_of_answers("12_words", WRONG, RIGHT)
