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

QUESTION = N_VARIABLES + DIGITS
seeds = st.integers(0, 10**6)


def drawn(seed=0, batch=8, **how):
    return ProgramTask(**how).batch(batch, torch.Generator().manual_seed(seed))


def name(i, n=N_VARIABLES):
    return f"v{i}" if i < n else "?" if i == n + DIGITS else str(i - n)


@given(seeds, st.integers(1, 20), st.integers(0, 5), st.none() | st.integers(0, 6))
def test_answers_are_what_python_computes(seed, n, n_questions, max_depth):
    x, y = drawn(seed, 4, n_variables=n, n_questions=n_questions, max_depth=max_depth)
    assert x.shape == (4, n + n_questions, 2)
    assert y.shape == (4, n + n_questions)
    for program, digits in zip(x.tolist(), y.tolist(), strict=True):
        values = {}
        for (sets, to), digit in zip(program[:n], digits[:n], strict=True):
            assert name(sets, n) not in values  # each variable is set once
            exec(f"{name(sets, n)} = {name(to, n)}", {}, values)  # a NameError if a later statement were copied
            assert values[name(sets, n)] == digit
        for (mark, variable), digit in zip(program[n:], digits[n:], strict=True):
            assert mark == n + DIGITS
            assert values[name(variable, n)] == digit


@given(seeds, st.integers(0, 6))
def test_arrows_and_need_are_those_of_a_loop(seed, max_depth):
    x, _ = drawn(seed, 4, max_depth=max_depth)
    task = ProgramTask()
    arrows, needed = task.arrows(x), task.needed_steps(x)
    for i, program in enumerate(x.tolist()):
        value_of = dict(program[:N_VARIABLES])
        for j, (sets, to) in enumerate(program):
            count = 1
            while to < N_VARIABLES:
                to = value_of[to]
                count += 1
            assert arrows[i, j] == count
            assert needed[i, j] == max(1, math.ceil(math.log2(count)))
            assert count <= max_depth + 1 + (sets == QUESTION)


def test_programs_differ_in_depth_and_are_drawn_again_from_the_same_seed():
    x, _ = drawn(0, 400)
    assert torch.equal(x, drawn(0, 400)[0])
    deepest = ProgramTask().arrows(x)[:, :N_VARIABLES].amax(1)
    assert set(range(3, N_VARIABLES + 1)) <= set(deepest.tolist())
    asked = x[:, N_VARIABLES:, 1].flatten().bincount(minlength=N_VARIABLES).double() / (400 * N_QUESTIONS)
    torch.testing.assert_close(asked, torch.full_like(asked, 1 / N_VARIABLES), atol=0.03, rtol=0)


def test_test_programs_hold_chains():
    x = programs.test_programs()
    assert torch.equal(x, programs.test_programs())
    arrows = ProgramTask().arrows(x[400:])[:, :N_VARIABLES]
    assert torch.equal(arrows, torch.arange(1, N_VARIABLES + 1).expand_as(arrows))


def test_the_example_is_one_program_with_near_and_far_variables():
    x = programs.example()
    assert x.shape == (1, N_VARIABLES + N_QUESTIONS, 2)
    arrows = ProgramTask().arrows(x)[0]
    assert (arrows == 1).sum() == 4
    assert arrows.max() > programs.MAX_DEPTH + 2
    assert len(arrows[N_VARIABLES:].unique()) > 2


def test_a_program_is_written_as_python_has_it():
    x = torch.tensor([[0, N_VARIABLES + 3], [2, 0], [QUESTION, 2]])
    assert programs.as_text(x) == ["a=3", "c=a", "c?"]


def test_a_statement_is_two_vectors_at_right_angles():
    torch.manual_seed(0)
    encode = programs.Statements(4, 32)
    x, _ = drawn(0, 3, n_variables=4, n_questions=2)
    sets, to = encode(x).split(16, dim=2)
    torch.testing.assert_close(encode.addresses @ encode.addresses.T, 16 * torch.eye(15), atol=1e-4, rtol=0)
    for i in range(3):
        for j in range(6):
            assert torch.equal(sets[i, j], encode.addresses[x[i, j, 0]])
            assert torch.equal(to[i, j], encode.addresses[x[i, j, 1]])


def test_no_statement_hears_of_a_later_one():
    model = programs.learn(0, updates=3)
    x, other = drawn(1, 5)[0], drawn(2, 5)[0]
    for cut in (1, 7, N_VARIABLES):
        mixed = torch.cat([x[:, :cut], other[:, cut:]], 1)
        for one, two in zip(model(x), model(mixed), strict=True):
            torch.testing.assert_close(one[:, :, :cut], two[:, :, :cut])
        assert not torch.equal(model(x).y_hat[:, :, cut:], model(mixed).y_hat[:, :, cut:])


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


@pytest.mark.parametrize("late", [0, 2])
def test_who_halts_when_it_can_know_is_right_everywhere(late):
    x, needed = programs.test_programs(), ProgramTask().needed_steps(programs.test_programs()).double()
    found = programs.measure(PonderNet(Reader(late), 3), x)
    assert found["all"]["right"] == found["all"]["programs"] == 1
    assert found["all"]["early"] == 0
    assert found["all"]["steps"] == pytest.approx(needed.mean().item() + late)
    assert found["all"]["needed"] == pytest.approx(needed.mean().item())
    assert found["all"]["correlation"] == pytest.approx(1)
    assert found["certainty"][0.99] == pytest.approx([1, needed.mean().item()])
    for kind, more in (("statements", 1), ("questions", 2)):
        assert list(found[kind]) == list(range(N_VARIABLES))
        for d, part in found[kind].items():
            assert part["needed"] == max(1, math.ceil(math.log2(d + more)))
            assert part["steps"] == part["needed"] + late
    assert sum(part["n"] for kind in ("statements", "questions") for part in found[kind].values()) == needed.numel()
    of_step = [(needed <= n).all(1).double().mean().item() for n in range(1, programs.TEST_STEPS + 1)]
    assert found["programs_by_step"] == pytest.approx(of_step)


def test_wrong_answers_are_counted_where_they_are():
    x = programs.test_programs()
    found = programs.measure(PonderNet(Reader(wrong=4), 3), x)
    is_four = ProgramTask().answers(x) == 4
    assert found["all"]["right"] == pytest.approx(1 - is_four.double().mean().item())
    assert found["all"]["programs"] == pytest.approx((~is_four.any(1)).double().mean().item())
    by_depth = [part for kind in ("statements", "questions") for part in found[kind].values()]
    right = sum(part["right"] * part["n"] for part in by_depth)
    assert right == pytest.approx((~is_four).sum().item())


def test_the_documentation_is_that_of_this_python():
    text, characters = programs.documentation()
    assert len(set(characters)) == len(characters)
    read = "".join(characters[i] for i in text[:5000].tolist())
    assert text.unique().tolist() == list(range(len(characters)))
    from pydoc_data.topics import topics

    first = topics[min(topics)].encode("ascii", "replace").decode()
    assert read.startswith(first[:5000])
    assert len(text) == sum(map(len, topics.values())) + len(topics) - 1


def test_the_target_of_a_character_is_the_next():
    text = torch.arange(1000)
    x, y = programs.windows(text, 50, torch.Generator().manual_seed(0))
    assert x.shape == y.shape == (50, programs.CONTEXT)
    assert torch.equal(y, x + 1)
    assert torch.equal(x, x[:, :1] + torch.arange(programs.CONTEXT))
    shortest = torch.arange(programs.CONTEXT + 1)
    assert torch.equal(programs.windows(shortest, 2)[1], shortest[1:].expand(2, -1))


@pytest.mark.parametrize("loss", ["halting", "every", "last"])
def test_text_is_learnt_and_its_losses_are_those_of_each_loop(loss):
    found = programs.run_text(0, loss, loops=3, size=16, updates=40)
    _, characters = programs.documentation()
    assert len(found["by_loop"]) == len(found["p"]) == 3
    assert sum(found["p"]) == pytest.approx(1, abs=1e-3)
    assert found["steps"] == pytest.approx(sum(n * p for n, p in enumerate(found["p"], 1)), abs=1e-3)
    assert found["by_loop"][-1] < 0.9 * math.log(len(characters))
    assert min(found["by_loop"]) - 0.5 < found["expected"] < max(found["by_loop"]) + 0.5


def test_each_loss_trains_another_network():
    found = [
        programs.run_text(0, loss, loops=3, size=16, updates=2)["by_loop"] for loss in ("halting", "every", "last")
    ]
    assert all(a != b for a, b in zip(found, found[1:] + found[:1], strict=True))


def test_one_loop_is_one_loop():
    found = programs.run_text(0, "last", loops=1, size=16, updates=2)
    assert found["p"] == [1.0]
    assert found["steps"] == 1.0
    assert found["expected"] == pytest.approx(found["by_loop"][0], abs=1e-3)


def test_every_experiment_runs():
    for experiment in programs.EXPERIMENTS.values():
        rows = experiment.rows("smoke", "nowhere")
        assert len(rows) == len(experiment.short)
        if "example" in rows[0]:
            assert len(rows[0]["example"]) == N_VARIABLES + N_QUESTIONS
            assert all(1 <= taken <= programs.TEST_STEPS for taken in rows[0]["example"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ProgramTask(0), "n_variables must be an integer >= 1; got 0"),
        (lambda: ProgramTask(3, -1), "n_questions must be an integer >= 0; got -1"),
        (lambda: ProgramTask(3, max_depth=-1), "max_depth must be an integer >= 0; got -1"),
        (lambda: ProgramTask().batch(0), "batch_size must be an integer >= 1; got 0"),
        (lambda: programs.run_text(0, "first"), "loss must be one of 'halting', 'every', 'last'; got 'first'"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
