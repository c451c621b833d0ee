"""Teachers who dither, chains that are drawn, their gradient and the law of the cliff, against the slow way."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.alone_and_together.task import ForestTask
from ponder_course.price_of_a_word.experiment import untrained
from ponder_course.price_of_a_word.lesson import loss_of_rewards, write
from ponder_course.price_of_a_word.task import DitheringTask, OneChainTask, cliff, way_back
from ponder_course.words.lesson import Walker
from ponder_course.words.task import NO_WORD

seeds = st.integers(0, 10**6)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@given(seeds, st.integers(1, 9), st.integers(1, 7))
def test_a_teacher_writes_the_name_again_or_the_right_word(seed, n_nodes, n_words):
    (x, words), y = DitheringTask(n_nodes, n_words).batch(5, seeded(seed))
    for parents, names, targets in zip(x.tolist(), words.tolist(), y.tolist(), strict=True):
        for word, target, following in itertools.zip_longest(names, targets, names[1:]):
            if target == NO_WORD:
                continue
            above = parents[word]
            assert target in (word, n_nodes if above == word else above)
            assert following in (None, word if target == n_nodes else target)
        after_stop = targets[targets.index(n_nodes) + 1 :] if n_nodes in targets else []
        assert {*after_stop} <= {NO_WORD}


def test_a_teacher_writes_twice_as_many_words_as_are_needed_and_one():
    (x, words), y = DitheringTask(6, 60).batch(20_000, seeded(0))
    depth = ForestTask.depths(x).gather(1, words[:, :1])[:, 0]
    for d in range(4):
        assert (y[depth == d] >= 0).sum(1).double().mean() == pytest.approx(2 * d + 2, abs=0.15)  # with STOP


@torch.no_grad()
def test_the_table_has_what_lesson_12s_walker_says_word_by_word():
    writer = untrained(0)
    walker = Walker("word", 16)
    walker.load_state_dict(writer.state_dict())
    x, _ = ForestTask(16).batch(3, seeded(1))
    words = torch.randint(16, (3, 4), generator=seeded(2))
    torch.testing.assert_close(writer((x, words)), walker((x, words)).log_softmax(2), rtol=1e-4, atol=1e-5)


def test_chains_are_drawn_as_a_plain_loop_draws_them():
    x, _ = ForestTask(5).batch(4, seeded(3))
    log_probs = torch.randn(4, 5, 6, generator=seeded(4)).log_softmax(2)
    asked = torch.tensor([0, 1, 2, 3])
    last, n_words, stopped, log_p = write(log_probs, asked, 2, seeded(5), N=6)
    generator, probs = seeded(5), log_probs.exp()
    words, going, log = [[a, a] for a in asked.tolist()], [[True, True] for _ in x], [[0.0, 0.0] for _ in x]
    counts = [[0, 0] for _ in x]
    for _ in range(7):
        if not any(map(any, going)):
            break
        rows = torch.stack([probs[i, word] for i in range(4) for word in words[i]])
        drawn = rows.multinomial(1, generator=generator).view(4, 2).tolist()
        for i, j in itertools.product(range(4), range(2)):
            if going[i][j]:
                log[i][j] += log_probs[i, words[i][j], drawn[i][j]].item()
                going[i][j] = drawn[i][j] < 5
                if going[i][j]:
                    words[i][j] = drawn[i][j]
                    counts[i][j] += 1
    assert (last.tolist(), n_words.tolist(), (~stopped).tolist()) == (words, counts, going)
    torch.testing.assert_close(log_p, torch.tensor(log))


TREE = torch.tensor([[0, 0, 1]])  # node 2 points at 1, and 1 at the root 0


def every_chain(log_probs, tau, N):
    """The mean reward of node 2, summed over each chain of at most N words, one by one; the others pay for N + 1."""
    total, p_of_all = 0.0, 0.0
    for length in range(N + 1):
        for chain in itertools.product(range(3), repeat=length):
            way = [2, *chain, 3]
            p = sum(log_probs[0, a, b] for a, b in itertools.pairwise(way)).exp()
            total += p * ((way[-2] == 0) - tau * length)
            p_of_all += p
    return total - (1 - p_of_all) * tau * (N + 1)


def test_the_gradient_is_on_average_that_of_the_mean_over_all_chains():
    """On a tree of three nodes, with a baseline that holds an eighth of each reward itself."""
    tau, N, n_chains = 0.3, 3, 8
    logits = torch.randn(1, 3, 4, generator=seeded(0), dtype=torch.float64, requires_grad=True)
    log_probs = logits.log_softmax(2)
    (wanted,) = torch.autograd.grad(every_chain(log_probs, tau, N), logits, retain_graph=True)
    n_texts = 60_000
    last, n_words, stopped, log_p = write(
        log_probs.expand(n_texts, -1, -1), torch.full((n_texts,), 2), n_chains, seeded(1), N
    )
    right = (last == 0) & stopped
    rewards = right.double() - tau * n_words
    (found,) = torch.autograd.grad(loss_of_rewards(rewards, log_p), logits)
    torch.testing.assert_close(-found * n_chains / (n_chains - 1), wanted, rtol=0.03, atol=0.002)


def test_the_law_by_hand():
    assert cliff(torch.tensor([[0, 1, 2]])) == pytest.approx(3 / 4)  # 1 and 2 arrows from node 2, 1 from node 1
    assert way_back(torch.tensor([[0, 1, 2]])) == pytest.approx(1 / 2)
    depth = ForestTask.depths(OneChainTask(16).batch(3, seeded(0))[0])
    assert cliff(depth) == pytest.approx(3 / 17)
    assert way_back(depth) == pytest.approx(1 / 15)


@given(seeds, st.floats(0.05, 0.8))
def test_at_the_cliff_the_mean_reward_of_exact_chains_stops_rising(seed, tau):
    """Its derivative by the probability q of going on vanishes at q = 1 at tau*, and at q = 0 on the way back."""
    depth = ForestTask.depths(ForestTask(8).batch(5, seeded(seed))[0])
    for at, border, n_words in ((1.0, cliff, depth.sum()), (0.0, way_back, (depth == 1).sum())):
        q = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        rewards = [q**d - tau * sum(q**k for k in range(1, d + 1)) for d in depth.flatten().tolist()]
        (slope,) = torch.autograd.grad(sum(rewards), q)
        if n_words:
            assert slope.item() == pytest.approx(n_words.item() * (1 - tau / border(depth)), abs=1e-3)
