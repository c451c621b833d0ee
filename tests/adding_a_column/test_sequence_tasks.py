"""Graves' tasks along sequences, against loops written from the paper's words, a sequence and a time step at a time."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.research.adding_a_column.sequence_tasks import LogicTask, RunningSumTask, SortTask

seeds = st.integers(0, 10**6)

# "Binary truth tables for the logic task", for (P, Q) = TT, TF, FT, FF
TABLE = """NOR F F F T
Xq F F T F
ABJ F T F F
XOR F T T F
NAND F T T T
AND T F F F
XNOR T F F T
if/then T F T T
then/if T T F T
OR T T T F"""


def truth(gate, p, q):
    """The answer of the gate with this number, 0 to 9."""
    answers = TABLE.splitlines()[gate].split()[1:]
    return answers[[(True, True), (True, False), (False, True), (False, False)].index((p, q))] == "T"


def sequences(task, seed, length=None, batch_size=5):
    """x and y, sequence by sequence: lists of time steps."""
    x, y = task.batch(batch_size, torch.Generator().manual_seed(seed), length)
    assert x.dtype == torch.float32
    assert x.shape[:2] == y.shape[:2]
    return list(zip(x.transpose(0, 1).tolist(), y.transpose(0, 1).tolist(), strict=True))


def chunks_of(numbers):
    """Which element of each chunk of ten is set, up to the first empty chunk; behind it, all are empty."""
    chunks = [numbers[i : i + 10] for i in range(0, len(numbers), 10)]
    found = []
    while chunks and any(chunks[0]):
        chunk = chunks.pop(0)
        assert sorted(chunk) == [0.0] * 9 + [1.0]
        found.append(chunk.index(1.0))
    assert not any(map(any, chunks))
    return found


def takes_part(x, y):
    """Which time steps belong to a sequence, and are not behind an end: bool [T, batch]."""
    return (x != 0).any(2) | (y.reshape(*y.shape[:2], -1) >= 0).any(2)


def used(xs):
    """How many time steps a sequence has before nothing but zeros comes."""
    return max(t + 1 for t, x in enumerate(xs) if any(x))


@given(seeds, st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_logic_answers_are_those_of_gates_applied_one_by_one(seed, max_length, max_gates, same_length):
    task = LogicTask(max_length, max_gates)
    for xs, ys in sequences(task, seed, max_length if same_length else None):
        assert len(xs) == max_length
        assert len(xs[0]) == 2 + 10 * max_gates
        length = used(xs)
        assert not same_length or length == max_length
        last = None
        for t in range(length):
            gates = chunks_of(xs[t][2:])
            assert 1 <= len(gates) <= max_gates
            assert set(xs[t][:2]) <= {0.0, 1.0}
            if t == 0:
                b = [xs[t][0] == 1.0, xs[t][1] == 1.0]
            else:
                assert xs[t][0] == 0.0  # "b_0 is implicit, and its place in the input is always 0"
                b = [last, xs[t][1] == 1.0]
            for i, gate in enumerate(gates, start=1):
                b.append(truth(gate, b[i], b[i - 1]))
            last = b[-1]
            assert ys[t] == float(last)
        assert all(y == -1.0 for y in ys[length:])


@given(seeds, st.integers(1, 10), st.integers(1, 7), st.booleans())
def test_sums_are_those_of_python(seed, max_length, max_digits, same_length):
    task = RunningSumTask(max_length, max_digits)
    for xs, ys in sequences(task, seed, max_length if same_length else None):
        assert len(xs) == max_length
        assert len(xs[0]) == 10 * max_digits
        length = used(xs)
        total = 0
        for t in range(length):
            digits = chunks_of(xs[t])
            assert 1 <= len(digits) <= max_digits
            total += int("".join(map(str, reversed(digits))))
            written = [int(digit) for digit in reversed(str(total))]
            answer = written + [10] * (max_digits + 1 - len(written))
            assert ys[t] == (answer if t else [-1] * (max_digits + 1))
        assert all(set(y) == {-1} for y in ys[length:])


@given(seeds, st.integers(2, 9), st.booleans())
def test_sorted_numbers_ascend(seed, max_length, same_length):
    for xs, ys in sequences(SortTask(max_length), seed, max_length if same_length else None):
        n = [flag for _, flag in xs].index(1.0) + 1
        assert 2 <= n <= max_length
        assert len(xs) == len(ys) == 2 * max_length
        assert sum(flag for _, flag in xs) == 1.0
        assert all(x == [0.0, 0.0] for x in xs[n:])
        assert ys[:n] == [-1] * n  # "the targets were required only after all inputs"
        numbers = [value for value, _ in xs[:n]]
        assert ys[n : 2 * n] == sorted(range(n), key=numbers.__getitem__)
        assert set(ys[2 * n :]) <= {-1}


@given(seeds, st.sampled_from([LogicTask(4, 3), RunningSumTask(4, 3), SortTask(5)]))
def test_what_takes_part_and_how_hard_it_is(seed, task):
    x, y = task.batch(6, torch.Generator().manual_seed(seed))
    part, difficulty = takes_part(x, y), task.difficulty(x)
    assert part.shape == difficulty.shape == x.shape[:2]
    for row, (xs, _) in enumerate(sequences(task, seed, batch_size=6)):
        n = used(xs)
        length = 2 * n if isinstance(task, SortTask) else n
        assert part[:, row].tolist() == [t < length for t in range(len(xs))]
        for t in range(len(xs)):
            first = 2 if isinstance(task, LogicTask) else 0
            hard = n if isinstance(task, SortTask) else len(chunks_of(xs[t][first:]))
            assert difficulty[t, row] == hard


def test_sizes_are_the_papers_by_default():
    logic, addition, sort = LogicTask(), RunningSumTask(), SortTask()
    assert [part.shape for part in logic.batch(2)] == [(10, 2, 102), (10, 2)]
    assert [part.shape for part in addition.batch(2)] == [(5, 2, 50), (5, 2, 6)]
    assert [part.shape for part in sort.batch(2)] == [(30, 2, 2), (30, 2)]


def test_types_do_not_depend_on_the_default_and_a_seed_is_no_generator():
    for task in (LogicTask(3, 2), RunningSumTask(3, 2), SortTask(4)):
        usual = task.batch(4)
        torch.set_default_dtype(torch.float64)
        try:
            assert [part.dtype for part in task.batch(4)] == [part.dtype for part in usual]
        finally:
            torch.set_default_dtype(torch.float32)
        with pytest.raises(TypeError, match="generator must be"):
            task.batch(4, generator=0)


@pytest.mark.parametrize("task", [LogicTask(3, 4), RunningSumTask(3, 4), SortTask(4)])
def test_lengths_and_difficulties_are_drawn_evenly_and_by_the_generator_alone(task):
    x, y = task.batch(4000, torch.Generator().manual_seed(1))
    again = task.batch(4000, torch.Generator().manual_seed(1))
    assert torch.equal(x, again[0])
    assert torch.equal(y, again[1])
    lengths = takes_part(x, y).sum(0)
    counts = lengths.unique(return_counts=True)[1] / 4000
    assert len(counts) == 3  # 1 to 3, or twice 2 to 4
    assert (counts - 1 / 3).abs().max() < 0.03
    hard = task.difficulty(x)[takes_part(x, y)]
    assert hard.unique().tolist() == ([2, 3, 4] if isinstance(task, SortTask) else [1, 2, 3, 4])
    if not isinstance(task, SortTask):
        counts = hard.unique(return_counts=True)[1] / len(hard)
        assert (counts - 1 / 4).abs().max() < 0.03


def test_all_gates_and_digits_occur_as_often():
    x, _ = LogicTask(2, 3).batch(4000, torch.Generator().manual_seed(2))
    counts = x[:, :, 2:12].sum((0, 1))
    assert (counts / counts.sum() - 0.1).abs().max() < 0.015
    x, _ = RunningSumTask(2, 2).batch(4000, torch.Generator().manual_seed(2))
    counts = x[:, :, :10].sum((0, 1))
    assert (counts / counts.sum() - 0.1).abs().max() < 0.015


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: LogicTask(0), ValueError, "max_length must be an integer >= 1; got 0"),
        (lambda: LogicTask(3, 1.5), TypeError, "max_gates must be an integer >= 1; got 1.5"),
        (lambda: RunningSumTask(11), ValueError, r"max_length must be an integer in \[1, 10\]; got 11"),
        (lambda: RunningSumTask(2, 0), ValueError, r"max_digits must be an integer in \[1, 17\]; got 0"),
        (lambda: RunningSumTask(2, 18), ValueError, r"max_digits must be an integer in \[1, 17\]; got 18"),
        (lambda: SortTask(1), ValueError, "max_length must be an integer >= 2; got 1"),
        (lambda: SortTask(5).batch(1, length=1), ValueError, r"length must be an integer in \[2, 5\]; got 1"),
        (lambda: LogicTask(5).batch(0), ValueError, "batch_size must be an integer >= 1; got 0"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
