"""Programs mean what Python says they mean."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_evidence.alone_and_together.programs import DIGITS, ProgramTask

seeds = st.integers(0, 10**6)


def name(i, n):
    return f"v{i}" if i < n else "?" if i == n + DIGITS else str(i - n)


@given(seeds, st.integers(1, 20), st.integers(0, 5), st.none() | st.integers(0, 6))
def test_answers_arrows_and_needs_are_those_of_python(seed, n, n_questions, max_depth):
    task = ProgramTask(n, n_questions, max_depth)
    x, y = task.batch(4, torch.Generator().manual_seed(seed))
    assert x.shape == (4, n + n_questions, 2)
    assert y.shape == (4, n + n_questions)
    arrows, needed = task.arrows(x).tolist(), task.needed_steps(x).tolist()
    for i, (program, digits) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        values, value_of = {}, dict(program[:n])
        for (sets, to), digit in zip(program[:n], digits[:n], strict=True):
            assert name(sets, n) not in values  # each variable is set once
            exec(f"{name(sets, n)} = {name(to, n)}", {}, values)  # a NameError if a later statement were copied
            assert values[name(sets, n)] == digit
        for (mark, variable), digit in zip(program[n:], digits[n:], strict=True):
            assert mark == n + DIGITS
            assert values[name(variable, n)] == digit
        for j, (sets, to) in enumerate(program):
            count = 1
            while to < n:
                to = value_of[to]
                count += 1
            assert arrows[i][j] == count
            assert needed[i][j] == max(1, math.ceil(math.log2(count)))
            assert max_depth is None or count <= max_depth + 1 + (sets == n + DIGITS)
