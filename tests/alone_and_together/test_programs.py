"""Programs mean what Python says they mean; no statement reads a later one; text is text."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.research.alone_and_together import programs
from ponder_course.research.alone_and_together.programs import DIGITS, N_QUESTIONS, N_VARIABLES, ProgramTask
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import Step

seeds = st.integers(0, 10**6)


def drawn(seed=0, batch=8, **how):
    return ProgramTask(**how).batch(batch, torch.Generator().manual_seed(seed))


def name(i, n=N_VARIABLES):
    return f"v{i}" if i < n else "?" if i == n + DIGITS else str(i - n)


@given(seeds, st.integers(1, 20), st.integers(0, 5), st.none() | st.integers(0, 6))
def test_answers_arrows_and_needs_are_those_of_python(seed, n, n_questions, max_depth):
    x, y = drawn(seed, 4, n_variables=n, n_questions=n_questions, max_depth=max_depth)
    assert x.shape == (4, n + n_questions, 2)
    assert y.shape == (4, n + n_questions)
    task = ProgramTask(n, n_questions, max_depth)
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


def test_programs_differ_in_depth_and_all_variables_are_asked_for():
    x, _ = drawn(0, 400)
    assert torch.equal(x, drawn(0, 400)[0])
    deepest = ProgramTask().arrows(x)[:, :N_VARIABLES].amax(1)
    assert set(range(3, N_VARIABLES + 1)) <= set(deepest.tolist())
    asked = x[:, N_VARIABLES:, 1].flatten().bincount(minlength=N_VARIABLES).double() / (400 * N_QUESTIONS)
    torch.testing.assert_close(asked, torch.full_like(asked, 1 / N_VARIABLES), atol=0.03, rtol=0)

    arrows = ProgramTask().arrows(programs.test_programs()[400:])[:, :N_VARIABLES]  # chains
    assert torch.equal(arrows, torch.arange(1, N_VARIABLES + 1).expand_as(arrows))


def test_no_statement_hears_of_a_later_one():
    model = programs.learn(0, updates=3)
    x, other = drawn(1, 5)[0], drawn(2, 5)[0]
    mixed = torch.cat([x[:, :7], other[:, 7:]], 1)
    for one, two in zip(model(x), model(mixed), strict=True):
        torch.testing.assert_close(one[:, :, :7], two[:, :, :7])
    assert not torch.equal(model(x).y_hat[:, :, 7:], model(mixed).y_hat[:, :, 7:])


class Reader(Step):
    """Follows programs by hand: right, and sure, from its need on; it halts `late` steps after. Errs on one digit."""

    def __init__(self, late=0, wrong=None):
        super().__init__()
        self.late, self.wrong = late, wrong

    def encode(self, x):
        return x, torch.zeros(*x.shape[:2], 1)

    def forward(self, z, h):
        task = ProgramTask()
        n, needed, digits = h[..., 0] + 1, task.needed_steps(z), task.answers(z)
        knows = n >= needed
        shown = torch.where(knows & (digits != self.wrong), digits, (digits + 1) % DIGITS)
        y_hat = nn.functional.one_hot(shown, DIGITS) * torch.where(knows, 12.0, 1.0)[..., None]
        return y_hat, h + 1, torch.where(n >= needed + self.late, 9.0, -9.0)


@pytest.mark.parametrize(("late", "wrong"), [(0, None), (2, 4)])
def test_a_reader_by_hand_is_measured_as_what_it_does(late, wrong):
    x, needed = programs.test_programs(), ProgramTask().needed_steps(programs.test_programs()).double()
    found = programs.measure(PonderNet(Reader(late, wrong), 3), x)
    right = ProgramTask().answers(x) != wrong if wrong else torch.ones_like(needed)
    assert found["all"]["right"] == pytest.approx(right.double().mean().item())
    assert found["all"]["programs"] == pytest.approx(right.all(1).double().mean().item())
    assert found["all"]["early"] == 0
    assert found["all"]["steps"] == pytest.approx(needed.mean().item() + late)
    assert found["all"]["needed"] == pytest.approx(needed.mean().item())
    assert found["all"]["correlation"] == pytest.approx(1)
    assert found["certainty"][0.99] == pytest.approx([found["all"]["right"], needed.mean().item()])
    parts = []
    for kind, more in (("statements", 1), ("questions", 2)):
        assert list(found[kind]) == list(range(N_VARIABLES))
        for d, part in found[kind].items():
            assert part["needed"] == max(1, math.ceil(math.log2(d + more)))
            assert part["steps"] == part["needed"] + late
            parts.append(part)
    assert sum(part["n"] for part in parts) == needed.numel()
    assert sum(part["right"] * part["n"] for part in parts) == pytest.approx(right.sum().item())
    of_step = [((needed <= n) & (right > 0)).all(1).double().mean().item() for n in range(1, programs.TEST_STEPS + 1)]
    assert found["programs_by_step"] == pytest.approx(of_step)


def test_the_target_of_a_character_is_the_next():
    text = torch.arange(1000)
    x, y = programs.windows(text, 50, torch.Generator().manual_seed(0))
    assert x.shape == y.shape == (50, programs.CONTEXT)
    assert torch.equal(y, x + 1)
    assert torch.equal(x, x[:, :1] + torch.arange(programs.CONTEXT))
    shortest = torch.arange(programs.CONTEXT + 1)
    assert torch.equal(programs.windows(shortest, 2)[1], shortest[1:].expand(2, -1))


def test_each_loss_trains_another_network_and_its_numbers_are_those_of_each_loop():
    last_losses = set()
    for loss in ("halting", "every", "last"):
        found = programs.run_text(0, loss, loops=3, size=16, updates=5)
        assert len(found["by_loop"]) == 3
        assert sum(found["p"]) == pytest.approx(1, abs=1e-3)
        assert found["steps"] == pytest.approx(sum(n * p for n, p in enumerate(found["p"], 1)), abs=1e-3)
        last_losses.add(found["by_loop"][-1])
    assert len(last_losses) == 3
    found = programs.run_text(0, "last", loops=1, size=16, updates=2)
    assert found["p"] == [1.0]
    assert found["expected"] == pytest.approx(found["by_loop"][0], abs=1e-3)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ProgramTask(0), "n_variables .* 0"),
        (lambda: ProgramTask(3, -1), "n_questions .* -1"),
        (lambda: ProgramTask(3, max_depth=-1), "max_depth .* -1"),
        (lambda: programs.run_text(0, "first"), "loss .* 'first'"),
    ],
)
def test_wrong_arguments_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_a_short_run_has_the_steps_of_the_example():
    (row,) = programs.EXPERIMENTS["main"].rows("smoke", "nowhere")
    assert len(row["example"]) == N_VARIABLES + N_QUESTIONS
    assert all(1 <= taken <= programs.TEST_STEPS for taken in row["example"])
