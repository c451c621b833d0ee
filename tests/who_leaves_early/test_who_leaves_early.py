"""Programs mean what Python says they mean; needs and readers, against the slow way: a token at a time."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.who_leaves_early.experiment import measure
from ponder_course.who_leaves_early.lesson import Reader, read
from ponder_course.who_leaves_early.task import DIGITS, ProgramTask, two_chains

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


def needed_slowly(program, n, loops):
    """The need of each token of a text, by sets: which arrows each knows, and which it shows to others."""
    place = {sets: i for i, (sets, _) in enumerate(program[:n])}
    points_at = [place.get(to, i) for i, (_, to) in enumerate(program)]
    ends = [i for i, at in enumerate(points_at) if i == at]  # statements that set a digit
    known = frozen = [[i] for i in range(len(program))]  # the tokens whose arrows are known, along the way
    needed = [1 if i in ends else 0 for i in range(len(program))]
    for loop in range(1, 50):
        # What a token shows in this loop: what it knew after the loop before, or when it left.
        shown = [way if loop - 1 <= loops[i] else frozen[i] for i, way in enumerate(known)]
        frozen = shown
        known = [[*way, *shown[points_at[way[-1]]]] for way in known]
        for i, way in enumerate(known):
            if needed[i] == 0 and set(way) & set(ends):
                needed[i] = loop
    return needed


@given(seeds, st.integers(1, 12), st.integers(1, 3))
def test_the_need_under_leaving_is_that_of_sets_of_arrows(seed, n, n_questions):
    task, generator = ProgramTask(n, n_questions), torch.Generator().manual_seed(seed)
    x, _ = task.batch(3, generator)
    loops = torch.randint(1, 4, x.shape[:2], generator=generator)
    needed = task.needed_loops(x, loops)
    for i, program in enumerate(x.tolist()):
        assert needed[i].tolist() == needed_slowly(program, n, loops[i].tolist())
    assert torch.equal(task.needed_loops(x, torch.full_like(loops, 100)), task.needed_steps(x))


def test_who_leaves_after_one_loop_turns_the_logarithm_into_a_line():
    x, _ = ProgramTask(15, 15).batch(1, torch.Generator().manual_seed(0))
    x[:, 1:15, 1] = x[:, :14, 0]  # one chain
    x[:, 15:, 1] = x[:, :15, 0]
    needed = ProgramTask(15).needed_loops(x, torch.ones(1, 30, dtype=torch.int64))
    assert needed[0, 15:].tolist() == [math.ceil(arrows / 2) for arrows in range(2, 17)]


@given(seeds, st.sampled_from([2, 6, 10]))
def test_of_two_chains_each_has_half_of_the_variables_and_a_digit_of_its_own(seed, n):
    task = ProgramTask(n, 3)
    x = two_chains(task, 4, torch.Generator().manual_seed(seed))
    for digits, arrows in zip(task.answers(x)[:, :n].tolist(), task.arrows(x)[:, :n].tolist(), strict=True):
        assert len({*digits}) == 2
        assert sorted(zip(digits, arrows, strict=True)) == [
            (d, k) for d in sorted({*digits}) for k in range(1, n // 2 + 1)
        ]
    with pytest.raises(ValueError, match="got 3"):
        two_chains(ProgramTask(3), 1)


TASK = ProgramTask(6, 3)
X, _ = TASK.batch(10, torch.Generator().manual_seed(0))


@torch.no_grad()
def untrained_reader():
    """A reader whose tokens leave after different loops: a quarter of those of X after the first."""
    torch.manual_seed(0)
    reader = Reader(6, size=24).eval()
    for weights in reader.step.parameters():
        if weights.ndim > 1:
            torch.nn.init.normal_(weights, std=0.2)
    start = reader.statements(X)
    _, halt_logit = reader.step.read(reader.step.layer(start, start))
    reader.step.heads.bias[-1] -= halt_logit.quantile(0.75)
    return reader


@torch.no_grad()
def test_a_text_read_at_once_is_what_one_reads_token_by_token():
    """As in use: a token looks at the states that those before it had after as many loops, or when they left."""
    reader, cap = untrained_reader(), 7
    digits, loops = read(reader, X, cap, in_earnest=True)
    assert len({*loops.flatten().tolist()}) > 4
    for text, found, left in zip(X, digits, loops, strict=True):
        cache = []  # of each token: its states, before the first loop and after each
        for start, digit, n in zip(reader.statements(text[None])[0], found, left, strict=True):
            states = [start]
            cache.append(states)
            while True:
                seen = torch.stack([of[min(len(states) - 1, len(of) - 1)] for of in cache])
                heard, _ = reader.step.attention(states[-1][None], seen, seen)
                new = reader.step.norm_attention(states[-1] + heard[0])
                states.append(reader.step.norm_mlp(new + reader.step.mlp(new)))
                y_hat, halt_logit = reader.step.read(states[-1])
                if halt_logit >= 0 or len(states) - 1 == cap:
                    break
            assert len(states) - 1 == n
            assert y_hat.argmax() == digit


def test_what_is_measured_adds_up():
    reader, task = untrained_reader(), TASK
    x = two_chains(task, 20, torch.Generator().manual_seed(0))
    row = measure(reader, x, in_earnest=True)
    digits, loops = read(reader, x, 40, in_earnest=True)
    assert row["right"] == pytest.approx((digits == task.answers(x))[:, 6:].double().mean().item())
    assert row["steps"] == pytest.approx(loops[:, 6:].double().mean().item())
    assert (6 * row["statements"] + 3 * row["steps"]) / 9 == pytest.approx(row["tokens"])
    assert sum(part["n"] for part in row["by_arrows"].values()) == 60
    assert sum(part["n"] for part in row["statements_by_arrows"].values()) == 120
    assert row["by_arrows"].keys() <= {2, 3, 4}
