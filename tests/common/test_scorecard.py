"""The card of oracles, of which all numbers are known."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import TASKS

from examples.scorecard import of_hrm, of_ponder_net, of_tiny_recursive_model, tokens_of
from ponder_course.common.lines import AdditionTask, LineParityTask
from ponder_course.common.local import LocalStep
from ponder_course.common.measures import at_step
from ponder_course.common.scorecard import compare, scorecard
from ponder_utils import PonderNet

LINES = LineParityTask(9)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def knows_its_need(task):
    if not hasattr(task, "needed_steps") or not hasattr(task, "answers"):
        return False
    x, y = task.batch(2, seeded())
    return task.needed_steps(x).shape == y.shape and torch.equal(task.answers(x), y)  # not columns, nor what has none


KNOWN = {"lines": LINES, "addition": AdditionTask(9, None)}
KNOWN |= {name: task for name, task in TASKS.items() if knows_its_need(task)}


def needs_of(task, x, y, whole):
    """The needs of what is asked, place by place or sample by sample, as a list."""
    rows = zip(task.needed_steps(x).reshape(len(y), -1).tolist(), y.reshape(len(y), -1).tolist(), strict=True)
    asked = [[need for need, target in zip(*row, strict=True) if target >= 0] for row in rows]
    return [max(row) for row in asked if row] if whole else [need for row in asked for need in row]


def oracle(task, late=0, forgets=None, whole=False, halts=True):
    """Right from its need on, up to before the step at which it forgets; halts this much after the need, or before."""

    def network(x, N):
        y = task.answers(x)
        need, n = task.needed_steps(x), torch.arange(1, N + 1).view(-1, *[1] * y.ndim)
        knows = (n >= need) & (n < (forgets or N + 1))
        if not halts:
            return torch.where(knows, y, 1 - y).long(), None
        steps = torch.where(y >= 0, need, 1)
        steps = steps.reshape(len(y), -1).amax(1) if whole else steps
        return torch.where(knows, y, 1 - y).long(), (steps + late).clamp(1, N)

    return network


@settings(max_examples=40)
@given(st.sampled_from(sorted(KNOWN)), st.integers(-4, 4), st.booleans(), st.integers(0, 10**6))
def test_an_oracle_gets_exactly_its_numbers(name, late, whole, seed):
    task = KNOWN[name]
    (card,) = scorecard(oracle(task, late, whole=whole), [task], max_steps=100, n_samples=6, seed=seed)
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


def test_who_forgets_loses_all_from_the_best_step_to_the_last_and_may_halt_better_than_any():
    (card,) = scorecard(oracle(LINES, forgets=5), [LINES], max_steps=12)
    needs = needs_of(LINES, *LINES.batch(200, seeded()), False)
    known = sum(need <= 4 for need in needs) / len(needs)
    assert (card.places.best, card.places.best_step, card.places.last) == pytest.approx((known, 4, 0))
    assert card.places.overthinking == pytest.approx(known)
    assert card.places.underthinking == pytest.approx(known - card.places.halted)
    (card,) = scorecard(lambda x, N: (LINES.answers(x).long().expand(N, -1, -1), LINES.needed_steps(x)), [LINES])
    assert card.places.underthinking == 0
    (card,) = scorecard(at_its_need_alone, [LINES])
    assert card.places.underthinking < 0


def at_its_need_alone(x, N):
    y, need = LINES.answers(x), LINES.needed_steps(x)
    is_need = torch.arange(1, N + 1)[:, None, None] == need
    return is_need == (y > 0), need


@pytest.mark.parametrize("whole", [False, True])
def test_who_never_halts_has_no_halting_and_who_has_not_halted_in_time_answers_at_the_last_step(whole):
    (card,) = scorecard(oracle(LINES, halts=False), [LINES])
    assert card.halting is card.places.halted is card.places.underthinking is None
    assert card.places.last == 1

    def waits(x, N):
        answers, steps = oracle(LINES, forgets=N, whole=whole)(x, N)
        return answers, torch.zeros_like(steps)

    (card,) = scorecard(waits, [LINES], max_steps=4)  # some of the needs lie beyond
    assert (card.halting.never, card.halting.early, card.halting.late, card.halting.steps) == (1, 0, 0, 5)
    assert card.places.halted == card.places.last == 0


def test_early_is_counted_and_no_fault_if_right_and_another_need_may_be_given():
    def at_once(x, N):
        return LINES.answers(x).bool().expand(N, -1, -1), torch.ones(len(x), dtype=torch.int64)

    small, large = scorecard(at_once, [LINES, LineParityTask(40)])
    assert small.halting.right_when_early == large.halting.right_when_early == 1
    assert 0 < small.halting.early <= large.halting.early
    assert len(small.places.by_step) < len(large.places.by_step)
    (card,) = scorecard(at_once, [LINES], needed=lambda x: torch.ones_like(LINES.needed_steps(x)))
    assert card.halting.in_time == 1


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


ANSWERS, STEPS = torch.ones(5, 3, 9, dtype=torch.bool), torch.ones(3, dtype=torch.int64)


@pytest.mark.parametrize(
    ("returned", "error", "named"),
    [
        (ANSWERS, TypeError, "network must return a pair.* got Tensor"),
        ((ANSWERS[:4], STEPS), ValueError, r"answers must have shape \[5, 3, 9\]; got \[4, 3, 9\]"),
        ((ANSWERS[:, :, :8], None), ValueError, r"answers must have shape \[5, 3, 9\]; got \[5, 3, 8\]"),
        ((ANSWERS.float(), STEPS), TypeError, r"answers must be decided.* got torch\.float32"),
        ((ANSWERS.tolist(), STEPS), TypeError, r"answers must be decided.*\(list\)"),
        ((ANSWERS, STEPS[:2]), ValueError, r"steps must have shape \[3\] or \[3, 9\]; got \[2\]"),
        ((ANSWERS, STEPS.float()), TypeError, r"steps must be whole numbers, or None; got torch\.float32"),
        ((ANSWERS, 2), TypeError, r"steps must be whole numbers, or None; got 2"),
        ((ANSWERS, 5 * STEPS + 1), ValueError, r"steps must be in \[0, 5\]; got 6 to 6"),
        ((ANSWERS, -STEPS), ValueError, r"steps must be in \[0, 5\]; got -1"),
    ],
)
def test_what_a_network_may_not_return_is_named(returned, error, named):
    with pytest.raises(error, match=named):
        scorecard(lambda x, N: returned, [LINES], max_steps=5, n_samples=3)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match=r"max_steps .* 0"):
        scorecard(oracle(LINES), [LINES], max_steps=0)
    with pytest.raises(ValueError, match=r"n_samples .* 0"):
        scorecard(oracle(LINES), [LINES], n_samples=0)
    with pytest.raises(ValueError, match=r"need must .* got \[3\] and \[3, 9\]"):
        scorecard(oracle(LINES), [LINES], n_samples=3, needed=lambda x: STEPS)


def test_a_ponder_net_goes_through(capsys):
    model = PonderNet(LocalStep(2, 8), 5)
    cards = scorecard(of_ponder_net(model), [LINES, LineParityTask(20)], max_steps=6, n_samples=10)
    assert capsys.readouterr().out == "".join(f"{card}\n" for card in cards)
    x, y = LINES.batch(10, seeded())
    output = model.eval()(x, 6)
    assert cards[0].places.by_step == pytest.approx(((output.y_hat > 0) == (y > 0)).float().mean((1, 2)).tolist())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_tiny_recursive_model_goes_through_and_halts_where_its_own_predict_does():
    package = pytest.importorskip("tiny_recursive_model")
    network = package.MLPMixer1D(dim=16, depth=1, seq_len=9)
    model = package.TinyRecursiveModel(
        dim=16, num_tokens=4, network=network, num_refinement_blocks=2, num_latent_refinements=2
    )
    (card,) = scorecard(of_tiny_recursive_model(model), [LINES], max_steps=6)
    assert (card.halting.steps, card.places.halted) == (1, card.places.by_step[0])  # untrained, it halts at once
    halt = model.to_halt_pred[1].weight
    x, _ = LINES.batch(50, seeded())
    with torch.no_grad():
        halt.normal_()
        answers, steps = of_tiny_recursive_model(model)(x, 6)
        wanted, at = model.predict(tokens_of(x), max_deep_refinement_steps=6)
    steps = torch.where(steps == 0, 6, steps)
    assert torch.equal(steps, at)
    assert torch.equal(at_step(answers, steps[:, None].expand_as(wanted)), wanted)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_hrm_goes_through_and_never_halts():
    package = pytest.importorskip("HRM")
    layers = {"dim": 16, "depth": 1, "attn_dim_head": 8, "heads": 2, "use_rmsnorm": True, "rotary_pos_emb": True}
    model = package.HRM(networks=[layers, layers], dim=16, num_tokens=4, reasoning_steps=1)
    (card,) = scorecard(of_hrm(model), [LINES], max_steps=6)
    assert card.halting is None
    x, _ = LINES.batch(50, seeded())
    with torch.no_grad():
        answers, _ = of_hrm(model)(x, 6)
        wanted, _ = model(tokens_of(x), reasoning_steps=6)
    assert torch.equal(answers[-1], wanted.argmax(-1))
    assert not torch.equal(answers[0], wanted.argmax(-1))
