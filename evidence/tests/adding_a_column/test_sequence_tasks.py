"""Graves' tasks along sequences, against loops written from the paper's words, a sequence and a time step at a time."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_evidence.adding_a_column.sequence_tasks import LogicTask

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


def difficulties(task, seed, length):
    """How hard each time step is, sequence by sequence."""
    x, _ = task.batch(5, torch.Generator().manual_seed(seed), length)
    return task.difficulty(x).T.tolist()


def used(xs):
    """How many time steps a sequence has before nothing but zeros comes."""
    return max(t + 1 for t, x in enumerate(xs) if any(x))


@given(seeds, st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_logic_answers_are_those_of_gates_applied_one_by_one(seed, max_length, max_gates, same_length):
    task = LogicTask(max_length, max_gates)
    difficulty = difficulties(task, seed, max_length if same_length else None)
    for row, (xs, ys) in enumerate(sequences(task, seed, max_length if same_length else None)):
        assert len(xs) == max_length
        assert len(xs[0]) == 2 + 10 * max_gates
        length = used(xs)
        assert not same_length or length == max_length
        last = None
        for t in range(length):
            gates = chunks_of(xs[t][2:])
            assert 1 <= len(gates) == difficulty[row][t] <= max_gates
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
