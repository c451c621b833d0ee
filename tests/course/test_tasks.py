"""What holds of every task."""

import pytest
import torch
from networks import TASKS
from torch.utils._pytree import tree_leaves

tasks = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def same(batch, other):
    return all(map(torch.equal, tree_leaves(batch), tree_leaves(other)))


@tasks
def test_the_generator_alone_decides_and_without_one_torchs_own_seed(task):
    torch.manual_seed(0)
    first, again, other = (task.batch(16, seeded(seed)) for seed in (5, 5, 6))
    assert same(first, again)
    assert not same(first[0], other[0])
    state = torch.get_rng_state()
    task.batch(16, seeded(5))
    assert torch.equal(torch.get_rng_state(), state)
    drawn = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        drawn.append((*task.batch(16), *task.batch(16)))
    assert same(*drawn[:2])
    assert not same(drawn[0][0], drawn[2][0])
    assert not same(drawn[0][0], drawn[0][2])


@tasks
def test_wrong_batch_sizes_and_generators_are_named(task):
    for size, error in ((0, ValueError), (2.0, TypeError)):
        with pytest.raises(error, match=f"batch_size .* {size}"):
            task.batch(size)
    for seed in (0, 3, 0.5, "0", torch.tensor(1)):
        with pytest.raises(TypeError, match="generator"):
            task.batch(4, generator=seed)
