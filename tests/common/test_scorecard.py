"""The card of oracles, of which all numbers are known, and of answers that are counted by hand."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import TASKS

from examples.scorecard import of_tiny_recursive_model, tokens_of
from ponder_course.common.lines import AdditionTask, LineParityTask
from ponder_course.common.measures import at_step
from ponder_course.common.scorecard import compare, scorecard

LINES = LineParityTask(9)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


KNOWN = {"lines": LINES, "addition": AdditionTask(9, None)}
KNOWN |= {name: TASKS[name] for name in ("mazes", "forests", "sudoku")}


def needs_of(task, x, y, whole):
    """The needs of what is asked, place by place or sample by sample, as a list."""
    rows = zip(task.needed_steps(x).reshape(len(y), -1).tolist(), y.reshape(len(y), -1).tolist(), strict=True)
    asked = [[need for need, target in zip(*row, strict=True) if target >= 0] for row in rows]
    return [max(row) for row in asked if row] if whole else [need for row in asked for need in row]


def oracle(task, late, whole):
    """Right from its need on; halts this much after the need, or before."""

    def network(x, N):
        y = task.answers(x)
        need, n = task.needed_steps(x), torch.arange(1, N + 1).view(-1, *[1] * y.ndim)
        steps = torch.where(y >= 0, need, 1)
        steps = steps.reshape(len(y), -1).amax(1) if whole else steps
        return torch.where(n >= need, y, 1 - y).long(), (steps + late).clamp(1, N)

    return network


@settings(max_examples=40)
@given(st.sampled_from(sorted(KNOWN)), st.integers(-4, 4), st.booleans(), st.integers(0, 10**6))
def test_an_oracle_gets_exactly_its_numbers(name, late, whole, seed):
    task = KNOWN[name]
    (card,) = scorecard(oracle(task, late, whole), [task], max_steps=100, n_samples=6, seed=seed)
    x, y = task.batch(6, seeded(seed))
    needs, found = needs_of(task, x, y, whole), card.halting
    halt_at = [max(1, need + late) for need in needs]
    n = len(needs)
    assert found.early == pytest.approx(sum(a < b for a, b in zip(halt_at, needs, strict=True)) / n)
    assert found.in_time == pytest.approx(sum(a == b for a, b in zip(halt_at, needs, strict=True)) / n)
    assert found.late == pytest.approx(sum(a > b for a, b in zip(halt_at, needs, strict=True)) / n)
    assert (found.never, found.right_when_early) == (0, 0 if found.early else None)
    assert (found.steps, found.needed) == pytest.approx((sum(halt_at) / n, sum(needs) / n))
    if late >= 0:
        assert found.correlation == pytest.approx(float(len(set(needs)) > 1))
    of_units = card.samples if whole else card.places
    assert of_units.halted == pytest.approx(1 - found.early)
    for right, all_needs in ((card.places, needs_of(task, x, y, False)), (card.samples, needs_of(task, x, y, True))):
        known = [sum(need <= step for need in all_needs) / len(all_needs) for step in range(1, 101)]
        assert right.by_step == pytest.approx(known)
        assert (right.best, right.best_step, right.last) == (1, max(all_needs), 1)
        assert right.overthinking == 0
        assert right.underthinking == 1 - right.halted
    assert (card.n_places, card.n_samples) == (len(needs_of(task, x, y, False)), len(needs_of(task, x, y, True)))


def test_who_forgets_and_never_halts_by_hand():
    y, need = torch.tensor([[1, 0]]), torch.tensor([[1, 3]])
    answers = torch.tensor([[[1, 1]], [[1, 0]], [[0, 0]]])  # right: the first place, both, the second
    card = compare(answers, torch.tensor([[1, 0]]), y, need)  # the second never halts: its answer is the last
    assert card.places.by_step == [0.5, 1, 0.5]
    assert card.samples.by_step == [0, 1, 0]
    assert (card.places.best_step, card.places.overthinking, card.places.underthinking) == (2, 0.5, 0)
    assert (card.places.halted, card.samples.halted) == (1, 1)
    assert (card.halting.never, card.halting.in_time, card.halting.steps, card.halting.needed) == (0.5, 0.5, 2.5, 2)
    card = compare(answers, None, y, need)
    assert card.halting is card.places.halted is card.places.underthinking is None


def test_samples_in_which_nothing_is_asked_do_not_count_and_a_task_must_ask_for_what_can_be_right():
    y = torch.tensor([[1, -1], [-1, -1], [0, 1]])
    need, answers = torch.tensor([[1, 9], [9, 9], [2, 3]]), torch.tensor([[[1, 0], [0, 0], [0, 0]]])
    card = compare(answers, torch.tensor([1, 1, 1]), y, need)
    assert (card.n_samples, card.n_places) == (2, 3)
    assert (card.places.halted, card.samples.halted) == pytest.approx((2 / 3, 1 / 2))
    assert (card.halting.in_time, card.halting.early, card.halting.needed) == (0.5, 0.5, 2)
    with pytest.raises(ValueError, match="y must ask"):
        compare(answers, None, torch.full_like(y, -1), need)
    with pytest.raises(ValueError, match=r"y must hold whole numbers; got 0\.5"):
        compare(answers, None, y / 2, need)


def test_early_is_no_fault_where_another_need_is_given():
    def at_once(x, N):
        return LINES.answers(x).bool().expand(N, -1, -1), torch.ones(len(x), dtype=torch.int64)

    assert scorecard(at_once, [LINES])[0].halting.right_when_early == 1
    (card,) = scorecard(at_once, [LINES], needed=lambda x: torch.ones_like(LINES.needed_steps(x)))
    assert card.halting.in_time == 1


ANSWERS, STEPS = torch.ones(5, 3, 9, dtype=torch.bool), torch.ones(3, dtype=torch.int64)


@pytest.mark.parametrize(
    ("returned", "error", "named"),
    [
        (ANSWERS, TypeError, "network must return a pair.* got Tensor"),
        ((ANSWERS[:4], STEPS), ValueError, r"answers must have shape \[5, 3, 9\]; got \[4, 3, 9\]"),
        ((ANSWERS.float(), STEPS), TypeError, r"answers must be decided.* got torch\.float32"),
        ((ANSWERS, 5 * STEPS + 1), ValueError, r"steps must be in \[0, 5\]; got 6 to 6"),
    ],
)
def test_what_a_network_may_not_return_is_named(returned, error, named):
    with pytest.raises(error, match=named):
        scorecard(lambda x, N: returned, [LINES], max_steps=5, n_samples=3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_tiny_recursive_model_halts_where_its_own_predict_does():
    package = pytest.importorskip("tiny_recursive_model")
    network = package.MLPMixer1D(dim=16, depth=1, seq_len=9)
    model = package.TinyRecursiveModel(
        dim=16, num_tokens=4, network=network, num_refinement_blocks=2, num_latent_refinements=2
    )
    x, _ = LINES.batch(50, seeded())
    with torch.no_grad():
        model.to_halt_pred[1].weight.normal_()
        answers, steps = of_tiny_recursive_model(model)(x, 6)
        wanted, at = model.predict(tokens_of(x), max_deep_refinement_steps=6)
    steps = torch.where(steps == 0, 6, steps)
    assert torch.equal(steps, at)
    assert torch.equal(at_step(answers, steps[:, None].expand_as(wanted)), wanted)
