"""Lines of which some have no answer, against lines that all have one."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.common.lines import LineParityTask
from ponder_course.ways_to_stop.problems import UnanswerableTask

RATES = (None, 0, 1, 0.1, 0.5)
lines = given(st.integers(1, 40), st.sampled_from(RATES), st.integers(1, 8), st.integers(0, 10**6))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@lines
def test_what_nobody_can_know_needs_one_step(n_places, rate, batch_size, seed):
    task = UnanswerableTask(n_places, rate, fraction=0.5)
    x, y = task.batch(batch_size, seeded(seed))
    known, whole = task.answerable(x), LineParityTask(n_places, rate)
    assert torch.equal(x[:, 2], (~known).float()[:, None].expand(-1, n_places))
    assert torch.equal(y[known], whole.answers(x[known, :2]))
    need = task.needed_steps(x)
    assert torch.equal(need[known], whole.needed_steps(x[known, :2]))
    assert (need[~known] == 1).all()
    probs = task.best_probs(x, n_places)
    torch.testing.assert_close(probs[:, known], whole.best_probs(x[known, :2], n_places))
    assert (probs[:, ~known] == 0.5**n_places).all()
