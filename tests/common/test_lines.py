"""Tasks on lines against plain Python: one line, one place, one integer at a time."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.common.lines import AdditionTask, LineParityTask, flipped
from ponder_course.light_cone.lesson import whole_lines_right

RATES = (None, 0, 1, 0.1, 0.5)
lines = given(st.integers(1, 40), st.sampled_from(RATES), st.integers(1, 8), st.integers(0, 10**6))


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def to_digits(number, n_places):
    return [float(digit) for digit in format(number, f"0{n_places}b")[::-1]]


def drawn(task, n_places, rate, batch_size, seed):
    """Draw x, and x and y as lists of lists of integers, one line after the other."""
    x, y = task(n_places, rate).batch(batch_size, seeded(seed))
    return x, list(zip(x.long().tolist(), y.long().tolist(), strict=True))


@pytest.mark.parametrize("task", [LineParityTask, AdditionTask])
@lines
def test_batches_are_drawn_by_the_seed_with_their_answers(task, n_places, rate, batch_size, seed):
    (x, y), (again, _) = (task(n_places, rate).batch(batch_size, seeded(seed)) for _ in range(2))
    assert x.shape == (batch_size, 2, n_places)
    assert torch.equal(x, again)
    assert torch.equal(task.answers(x), y)


@lines
def test_parity_is_what_one_gets_on_a_walk_along_the_segment(n_places, rate, batch_size, seed):
    x, samples = drawn(LineParityTask, n_places, rate, batch_size, seed)
    needed = LineParityTask.needed_steps(x).tolist()
    for ((bits, resets), y), need in zip(samples, needed, strict=True):
        odd = length = 0
        for place in range(n_places):
            if resets[place]:
                odd = length = 0
            odd, length = (odd + bits[place]) % 2, length + 1
            assert (y[place], need[place]) == (odd, length)


@lines
def test_carries_are_passed_on_from_place_to_place(n_places, rate, batch_size, seed):
    x, samples = drawn(AdditionTask, n_places, rate, batch_size, seed)
    for row, ((first, second), _) in enumerate(samples):
        carry, away, slow = 0, 2, []  # the edge is one place before the first, which needs a step of its own
        for a, b in zip(first, second, strict=True):
            slow.append((carry, away))
            carry, away = (a + b + carry) // 2, 2 if a == b else away + 1
        assert AdditionTask.carries(x)[row].tolist() == [carry for carry, _ in slow]
        for guess in (None, 0, 1):
            needed = [1 if carry == guess else away for carry, away in slow]
            assert AdditionTask.needed_steps(x, guess)[row].tolist() == needed


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), *[st.integers(0, 2**n - 1)] * 2)))
def test_any_two_numbers_are_added(case):
    n_places, a, b = case
    y = AdditionTask.answers(torch.tensor([[to_digits(a, n_places), to_digits(b, n_places)]]))
    assert y[0].tolist() == to_digits((a + b) % 2**n_places, n_places)


@lines
def test_the_best_probs_halve_every_2n_places_of_a_segment_that_is_longer_than_n(n_places, rate, batch_size, seed):
    x, samples = drawn(LineParityTask, n_places, rate, batch_size, seed)
    probs = LineParityTask.best_probs(x, n_places + 2)
    assert probs.shape == (n_places + 2, batch_size)
    for row, ((_, resets), _) in enumerate(samples):
        lengths = [len(part) + 1 for part in "".join(map(str, resets[1:])).split("1")]
        for n in range(1, n_places + 3):
            coins = sum(len(range(n + 1, length + 1, 2 * n)) for length in lengths)
            assert probs[n - 1, row] == 0.5**coins


def test_whole_lines_right_by_hand():
    y = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    y_hat = torch.tensor([[0.1, -9.0], [2.0, -0.1], [-3.0, -0.2]])
    assert whole_lines_right(y_hat, y).tolist() == [True, False, True]
    assert whole_lines_right(torch.stack([y_hat, -y_hat]), y.expand(2, 3, 2)).sum(1).tolist() == [2, 0]


@lines
def test_a_flipped_bit_turns_the_answers_of_its_segment_from_there_on(n_places, rate, batch_size, seed):
    x, y = LineParityTask(n_places, rate).batch(batch_size, seeded(seed))
    place = seed % n_places
    other = flipped(x, place)
    assert torch.equal(other[:, 1:], x[:, 1:])
    assert (other != x).nonzero()[:, 2].tolist() == [place] * batch_size
    behind = LineParityTask.needed_steps(x) > torch.arange(n_places) - place
    assert torch.equal(LineParityTask.answers(other) != y, behind & (torch.arange(n_places) >= place))
