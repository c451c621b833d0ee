"""Tasks on lines against plain Python: one line, one place, one integer at a time."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from ponder_utils.tasks import AdditionTask, LastPlaceTask, LineParityTask, NoisyLineParityTask, UnanswerableTask
from ponder_utils.tasks.lines import to_digits, to_number

TASKS = (LineParityTask, AdditionTask)
tasks = pytest.mark.parametrize("task", TASKS)
RATES = (None, 0, 1, 0.1, 0.5)
lines = given(st.integers(1, 40), st.sampled_from(RATES), st.integers(1, 8), st.integers(0, 10**6))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(task, n_places, rate, batch_size, seed):
    """x and y as lists of lists of integers, one line after the other."""
    x, y = task(n_places, rate).batch(batch_size, seeded(seed))
    return x, list(zip(x.long().tolist(), y.long().tolist(), strict=True))


@tasks
@lines
def test_batches_have_the_shapes_and_numbers_that_are_told(task, n_places, rate, batch_size, seed):
    x, y = task(n_places, rate).batch(batch_size, seeded(seed))
    assert x.shape == (batch_size, 2, n_places)
    assert y.shape == (batch_size, n_places)
    assert x.dtype == y.dtype == torch.float32
    assert set(x.unique().tolist()) | set(y.unique().tolist()) <= {0.0, 1.0}
    assert torch.equal(task.answers(x), y)
    need = task.needed_steps(x)
    assert need.shape == y.shape
    assert need.dtype == torch.int64
    if task is LineParityTask:
        assert x[:, 1, 0].all()
    for ours, theirs in zip((x, y), task(n_places, rate).batch(batch_size, seeded(seed)), strict=True):
        assert torch.equal(ours, theirs)


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
def test_sums_are_those_of_pythons_integers(n_places, rate, batch_size, seed):
    _, samples = drawn(AdditionTask, n_places, rate, batch_size, seed)
    for (first, second), y in samples:
        assert to_number(y) == (to_number(first) + to_number(second)) % 2**n_places


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


@given(st.integers(1, 80).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, 2**n - 1))))
def test_numbers_and_their_digits(case):
    n_places, number = case
    digits = to_digits(number, n_places)
    assert digits.dtype == torch.float32
    assert "".join(str(int(digit)) for digit in digits.flip(0)) == format(number, f"0{n_places}b")
    assert to_number(digits) == to_number(digits.tolist()) == number


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), *[st.integers(0, 2**n - 1)] * 2)))
def test_any_two_numbers_are_added(case):
    n_places, a, b = case
    y = AdditionTask.answers(torch.stack([to_digits(a, n_places), to_digits(b, n_places)])[None])
    assert to_number(y[0]) == (a + b) % 2**n_places


def barriers(task, x):
    return x[:, 1, 1:] > 0 if task is LineParityTask else x[:, 0] == x[:, 1]


@tasks
@pytest.mark.parametrize("rate", [0, 0.1, 0.5, 0.9, 1])
def test_coins_are_fair_and_barriers_come_at_the_rate(task, rate):
    x, _ = task(21, rate).batch(5000, seeded())
    stand = barriers(task, x).flatten()
    for digits in (x[:, :1] if task is LineParityTask else x).unbind(1):
        assert binomtest(int(digits.sum()), digits.numel(), 0.5).pvalue > 1e-4
    if rate in (0, 1):
        assert stand.all() if rate else not stand.any()
    else:
        assert binomtest(int(stand.sum()), len(stand), rate).pvalue > 1e-4


def test_numbers_to_be_added_are_uniform_unless_told_otherwise():
    assert AdditionTask(8) == AdditionTask(8, 0.5)
    x, _ = AdditionTask(2).batch(16_000, seeded())
    counts = (x.flatten(1) @ torch.tensor([1.0, 2, 4, 8])).long().bincount(minlength=16)
    assert all(binomtest(int(count), 16_000, 1 / 16).pvalue > 1e-4 for count in counts)


@tasks
def test_without_a_rate_stretches_have_every_length(task):
    """Of 20,000 lines each length has at least 1 %; with one rate for all lines, whichever, some length has not."""

    def smallest_share(rate):
        x, _ = task(16, rate).batch(20_000, seeded())
        longest = task.needed_steps(x).amax(1)
        low = 1 if task is LineParityTask else 2  # the first carry, too, comes from a place before: the edge
        counts = longest.bincount(minlength=16 + low)[low:]
        assert len(counts) == 16
        assert counts.sum() == 20_000
        return counts.min() / 20_000

    assert smallest_share(None) >= 0.01
    for rate in (0, 0.1, 0.2, 0.3, 0.5, 1):
        assert smallest_share(rate) < 0.01


@tasks
def test_without_a_rate_each_line_draws_one_between_1_in_n_places_and_1(task):
    x, _ = task(400, None).batch(2000, seeded())
    u = -barriers(task, x).float().mean(1).log() / math.log(400)
    thirds = torch.histc(u, 3, 0, 1) / 2000
    assert (thirds - 1 / 3).abs().max() < 0.06  # few barriers tell little of the rate
    assert LineParityTask(8).rate is None


@tasks
def test_other_seeds_other_lines_and_without_a_generator_torchs_own_decides(task):
    drawn = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        drawn.append(task(12).batch(16)[0])
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    assert not torch.equal(task(12).batch(16, seeded(1))[0], task(12).batch(16, seeded(2))[0])


@tasks
def test_made_where_the_generator_is_and_not_on_the_default_device(task):
    with torch.device("meta"):
        x, y = task(8).batch(16, seeded())
        needed = task.needed_steps(x)
    assert x.device.type == y.device.type == needed.device.type == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@tasks
def test_made_on_the_device(task):
    x, y = task(8, None).batch(16, torch.Generator("cuda").manual_seed(0))
    assert x.is_cuda
    assert y.is_cuda
    assert torch.equal(task.answers(x.cpu()), y.cpu())
    assert torch.equal(task.needed_steps(x.cpu()), task.needed_steps(x).cpu())


@lines
def test_chances_halve_every_2n_places_of_a_segment_that_is_longer_than_n(n_places, rate, batch_size, seed):
    x, samples = drawn(LineParityTask, n_places, rate, batch_size, seed)
    chances = LineParityTask.best_chances(x, n_places + 2)
    assert chances.shape == (n_places + 2, batch_size)
    for row, ((_, resets), _) in enumerate(samples):
        lengths = [len(part) + 1 for part in "".join(map(str, resets[1:])).split("1")]
        for n in range(1, n_places + 3):
            coins = sum(len(range(n + 1, length + 1, 2 * n)) for length in lengths)
            assert chances[n - 1, row] == 0.5**coins


PLACES = 5
BITS = list(itertools.product((0, 1), repeat=PLACES))
RESETS = [(1, *rest) for rest in itertools.product((0, 1), repeat=PLACES - 1)]


def all_lines(resets):
    """Every pattern of bits, between these resets: x [32, 2, 5] and y [32, 5]."""
    x = torch.tensor([[bits, resets] for bits in BITS], dtype=torch.float32)
    return x, LineParityTask.answers(x).long().tolist()


@pytest.mark.parametrize("resets", RESETS)
def test_best_chances_are_at_most_those_of_the_best_guess_at_the_end_of_each_segment(resets):
    x, y = all_lines(resets)
    ends = [place for place in range(PLACES) if place == PLACES - 1 or resets[place + 1]]
    for n, chances in enumerate(LineParityTask.best_chances(x, PLACES + 1), start=1):
        product = 1.0
        for end in ends:
            seen: dict[tuple, list[int]] = {}  # the targets of all lines that look alike from here
            for bits, targets in zip(BITS, y, strict=True):
                seen.setdefault(bits[max(end - n + 1, 0) : end + n], []).append(targets[end])
            product *= sum(max(its.count(0), its.count(1)) for its in seen.values()) / len(BITS)
        assert (chances <= product).all()
        assert (chances == product).all() or LineParityTask.needed_steps(x).max() > 3 * n


@pytest.mark.parametrize("resets", RESETS)
def test_no_strategy_of_one_step_beats_the_best_chances(resets):
    """All 4^5: each place answers with a function of its own bit, and may know of all resets."""
    x, y = all_lines(resets)
    target = torch.tensor(y).T  # [places, lines]
    functions = torch.tensor(list(itertools.product((0, 1), repeat=2)))  # the answers to 0 and to 1
    right = functions[:, x[:, 0].T.long()] == target  # [functions, places, lines]
    together = right[:, 0]
    for place in range(1, PLACES):
        together = (together[:, None] & right[None, :, place]).flatten(0, 1)
    assert together.shape == (4**PLACES, 2**PLACES)
    best, told = together.float().mean(1).max(), LineParityTask.best_chances(x, 1)[0, 0]
    assert best == told


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        *[
            case
            for task in TASKS
            for case in (
                (lambda task=task: task(0), ValueError, "n_places must be an integer >= 1; got 0"),
                (lambda task=task: task(8.0), TypeError, r"n_places must be an integer >= 1; got 8.0 \(float\)"),
                (lambda task=task: task(8, -0.1), ValueError, r"rate must be a number in \[0, 1\]; got -0.1"),
                (lambda task=task: task(8, 1.5), ValueError, r"rate must be a number in \[0, 1\]; got 1.5"),
                (lambda task=task: task(8, math.nan), ValueError, r"rate must be a number in \[0, 1\]; got nan"),
                (lambda task=task: task(8, "half"), TypeError, "rate must be a number .*; got 'half'"),
                (lambda task=task: task(8).batch(0), ValueError, "batch_size must be an integer >= 1; got 0"),
                (lambda task=task: task(8).batch(2.0), TypeError, "batch_size must be an integer >= 1; got 2.0"),
            )
        ],
        (lambda: to_digits(8, 3), ValueError, r"number must be an integer in \[0, 7\]; got 8"),
        (lambda: to_digits(-1, 3), ValueError, r"number must be an integer in \[0, 7\]; got -1"),
        (lambda: to_digits(1.0, 3), TypeError, r"number must be an integer in \[0, 7\]; got 1.0"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@lines
def test_the_last_place_is_asked_alone(n_places, rate, batch_size, seed):
    whole, one = LineParityTask(n_places, rate), LastPlaceTask(n_places, rate)
    (x, y), (same, answer) = (its.batch(batch_size, seeded(seed)) for its in (whole, one))
    assert torch.equal(x, same)
    assert torch.equal(answer, y[:, -1])
    assert torch.equal(one.needed_steps(x), whole.needed_steps(x)[:, -1])
    for n, chances in enumerate(one.best_chances(x, n_places), start=1):
        assert chances.tolist() == [1.0 if n >= need else 0.5 for need in one.needed_steps(x).tolist()]


@lines
def test_a_teacher_who_errs_knows_the_same_answers(n_places, rate, batch_size, seed):
    task = NoisyLineParityTask(n_places, rate)
    x, _ = task.batch(batch_size, seeded(seed))
    assert x.shape == (batch_size, 3, n_places)
    assert torch.equal(task.answers(x), LineParityTask.answers(x[:, :2]))
    assert torch.equal(task.needed_steps(x), LineParityTask.needed_steps(x[:, :2]))
    assert (x[:, 2] == x[:, 2, :1]).all()
    assert ((x[:, 2] >= 0) & (x[:, 2] <= 0.4)).all()


def test_a_teacher_errs_as_often_as_told_and_each_place_for_itself():
    x, y = NoisyLineParityTask(50, most=0.4).batch(4000, seeded())
    errs, u = y != NoisyLineParityTask.answers(x), x[:, 2, 0]
    for low in (0.0, 0.1, 0.2, 0.3):
        rows = (u >= low) & (u < low + 0.1)
        assert errs[rows].double().mean().item() == pytest.approx(low + 0.05, abs=0.005)
    pairs = torch.stack([errs[:, 0], errs[:, 1]]).double()
    rate = u.double()
    assert (pairs[0] * pairs[1]).mean().item() == pytest.approx((rate * rate).mean().item(), abs=0.01)
    never = NoisyLineParityTask(9, most=0.0).batch(50, seeded())
    assert torch.equal(never[1], LineParityTask.answers(never[0]))


def test_a_rate_of_errors_outside_its_range_is_refused():
    with pytest.raises(ValueError, match=r"most must be a number in \[0, 1\]; got -0.1"):
        NoisyLineParityTask(4, most=-0.1)


@lines
def test_what_nobody_can_know_needs_one_step(n_places, rate, batch_size, seed):
    task = UnanswerableTask(n_places, rate, share=0.5)
    x, y = task.batch(batch_size, seeded(seed))
    known, whole = task.answerable(x), LineParityTask(n_places, rate)
    assert torch.equal(x[:, 2], (~known).float()[:, None].expand(-1, n_places))
    assert torch.equal(y[known], whole.answers(x[known, :2]))
    need = task.needed_steps(x)
    assert torch.equal(need[known], whole.needed_steps(x[known, :2]))
    assert (need[~known] == 1).all()
    chances = task.best_chances(x, n_places)
    torch.testing.assert_close(chances[:, known], whole.best_chances(x[known, :2], n_places))
    assert (chances[:, ~known] == 0.5**n_places).all()


def test_as_many_lines_as_asked_have_no_answer_and_their_targets_are_coins():
    x, y = UnanswerableTask(20).batch(4000, seeded())
    known = UnanswerableTask.answerable(x)
    assert binomtest(int((~known).sum()), 4000, 0.3).pvalue > 1e-4
    right = (y == UnanswerableTask.answers(x))[~known]
    assert binomtest(int(right.sum()), right.numel(), 0.5).pvalue > 1e-4
    with pytest.raises(ValueError, match=r"share must be a number in \[0, 1\]; got 2"):
        UnanswerableTask(4, share=2)
