"""Chains of words, walkers and what is measured of them, against the slow way: a node, a word and a text at a time."""

import itertools
from functools import partial
from statistics import fmean
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stored_runs import results
from torch import nn

from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.store import plain
from ponder_course.words.experiment import CARRIED, Walker, loss_of_words, measure, texts_of_all_depths, walk
from ponder_course.words.task import NO_WORD, ChainTask, chain_above, equal_chains
from ponder_evidence.words.experiment import EXPERIMENTS

N_NODES, N_WORDS = 8, 5
seeds = st.integers(0, 10**6)
rereading = pytest.mark.parametrize("rereads", [False, True])


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


@pytest.mark.parametrize(
    ("error", "name", "call"),
    [
        (TypeError, "n_nodes", lambda: ChainTask(2.0, 1)),
        (ValueError, "max_depth", lambda: ChainTask(4, -1)),
        (ValueError, "n_chains", lambda: equal_chains(2, 8, 3)),
        (ValueError, "carried", lambda: Walker("words")),
    ],
)
def test_what_makes_no_sense_is_refused(error, name, call):
    with pytest.raises(error, match=name):
        call()


@given(seeds, st.integers(1, 5), st.integers(1, 6))
def test_equal_chains_are_chains_of_one_length_and_hold_every_node(seed, n_chains, length):
    x = equal_chains(3, n_chains * length, n_chains, seeded(seed))
    assert x.dtype == torch.int64
    for parents in x.tolist():
        ways = [climb(parents, node) for node in range(n_chains * length)]
        assert sorted(len(way) - 1 for way in ways) == sorted(n_chains * [*range(length)])
        assert len({*parents}) == n_chains * max(1, length - 1)  # nobody is the parent of two


def make(carried, rereads=False):
    torch.manual_seed(0)
    return Walker(carried, N_NODES, 16, rereads).eval()


TEXTS, _ = ForestTask(N_NODES).batch(6, seeded(1))
WORDS = torch.randint(N_NODES, (6, N_WORDS), generator=seeded(2))  # that need not be right


def test_who_carries_words_is_at_each_step_a_fresh_network_that_is_asked_the_word():
    walker = make("word")
    logits = walker((TEXTS, WORDS))
    assert logits.shape == (6, N_WORDS, N_NODES + 1)
    for n in range(N_WORDS):
        torch.testing.assert_close(logits[:, n : n + 1], walker((TEXTS, WORDS[:, n : n + 1])))


def test_who_rereads_its_words_reads_at_each_step_the_text_and_all_words_so_far():
    walker = make("word", rereads=True)
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
    state = walker.token(walker.names.addresses[WORDS[:, 0]])
    for logits in walker((TEXTS, WORDS)).unbind(1):
        state = walker.step.layer(state, walker.names(TEXTS), None)
        torch.testing.assert_close(logits, walker.step.heads(state)[0][:, 0])
    assert (logits - make("word")((TEXTS, WORDS))[:, -1]).abs().max() > 0.01


@rereading
def test_only_words_are_read_as_they_are_given(rereads):
    for carried in CARRIED:
        walker = make(carried, rereads)
        differs = walker((TEXTS, WORDS)) - walker((TEXTS, WORDS[:, :1]), N_WORDS)
        assert (differs.abs().max() > 0.01) == (carried == "word")


@rereading
def test_the_mean_of_words_is_the_word_where_one_is_certain(rereads):
    logits = {}
    for carried in ("word", "mean"):
        walker = make(carried, rereads)
        for weights in walker.step.heads.parameters():
            weights.data.mul_(1e5)
        logits[carried] = walker((TEXTS, WORDS[:, :1]), N_WORDS) / 1e5
    torch.testing.assert_close(logits["mean"], logits["word"])


@rereading
def test_where_no_word_is_given_it_reads_its_own(rereads):
    walker = make("word", rereads)
    logits = walker((TEXTS, WORDS[:, :2]), N_WORDS)
    own = logits[..., :-1].argmax(2)
    read = torch.cat([WORDS[:, :2], own[:, 1:-1]], dim=1)
    torch.testing.assert_close(walker((TEXTS, read)), logits)


def test_the_loss_is_the_mean_over_words_up_to_stop():
    _, y = ChainTask(6, 3).batch(20, seeded(0))
    logits = torch.randn(20, 4, 7, generator=seeded(1))
    by_hand = []
    for log_probs, words in zip(logits.log_softmax(2).tolist(), y.tolist(), strict=True):
        by_hand += [-log_probs[n][words[n]] for n in range(words.index(6) + 1)]
    assert 20 < len(by_hand) < 80
    assert loss_of_words(logits, y).item() == pytest.approx(fmean(by_hand), rel=1e-5)


def drawn(parents, node, N, noise=1.0):
    """Logits of N words that depend on text and node: STOP is common, and so is the right word."""
    n_nodes = len(parents)
    number = sum(parent * n_nodes**i for i, parent in enumerate(parents))
    logits = torch.randn(N, n_nodes + 1, generator=seeded(number * n_nodes + node))
    _, y = chain_above(torch.tensor([parents]), torch.tensor([node]), N)
    return noise * logits + 2 * nn.functional.one_hot(y[0].clamp(min=0), n_nodes + 1)


def scripted(logits):
    def forward(inputs, N):
        questions = zip(inputs[0].tolist(), inputs[1][:, 0].tolist(), strict=True)
        return torch.stack([logits(parents, node, N) for parents, node in questions])

    return SimpleNamespace(eval=lambda: forward)


def test_what_is_measured_is_what_one_finds_question_by_question():
    x, N = texts_of_all_depths(5, 15), 6
    words, n_words = walk(scripted(drawn), x, N)
    got = measure(scripted(drawn), x, N)
    by_depth = {depth: [] for depth in range(5)}
    for text, parents in enumerate(x.tolist()):
        for node in range(5):
            said = []
            for logits in drawn(parents, node, N).tolist():
                if logits[5] == max(logits):
                    break
                said.append(logits.index(max(logits[:5])))
            assert n_words[text, node] == len(said)
            assert words[: len(said), text, node].tolist() == said
            way = climb(parents, node)
            row = ([node, *said][-1] == way[-1], len(said) == len(way) - 1, len(said))
            by_depth[len(way) - 1].append(row)
    rows = [*itertools.chain.from_iterable(by_depth.values())]
    assert len({row[:2] for row in rows}) == 4
    assert {0, N} <= {row[2] for row in rows}
    assert got["right"] == pytest.approx(fmean(row[0] for row in rows))
    for depth, found in got["by_depth"].items():
        means = map(fmean, zip(*by_depth[depth], strict=True))
        slow = {"nodes": len(by_depth[depth]), **dict(zip(("right", "on_time", "words"), means, strict=True))}
        assert found == pytest.approx(slow)


def test_who_says_the_right_words_is_right_and_on_time():
    got = measure(scripted(partial(drawn, noise=0)), texts_of_all_depths(6, 5), 8)
    assert got["right"] == 1
    for depth in range(6):
        assert got["by_depth"][depth] | {"nodes": 0} == {"nodes": 0, "right": 1, "on_time": 1, "words": depth}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_run_of_each_experiment_is_made_and_equals_itself(name):
    once, again = (EXPERIMENTS[name].run(**EXPERIMENTS[name].short[-1]) | {"cpu_seconds": 0} for _ in range(2))
    assert once == again == plain(once)


def test_whoever_names_the_root_of_a_chain_of_32_has_walked_all_of_it():
    ends = [run["by_depth"]["31"] for run in results("12_words_main", carried="word")]
    assert len(ends) == 30
    for end in ends:
        assert end["right"] == end["on_time"]
