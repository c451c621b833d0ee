"""What holds of every task."""

import pytest
import torch

from ponder_utils import AdditionTask, ColumnTask, ForestTask, LineParityTask, MazeTask, ParityTask, RotationTask
from ponder_utils.tasks.rotation import rotated_within

IMAGES = torch.zeros(3, 1, 8, 8, dtype=torch.uint8)
TASKS = [
    ParityTask(6), LineParityTask(6), AdditionTask(6), MazeTask(3), ForestTask(6), ColumnTask(6, 3),
    RotationTask(IMAGES, torch.arange(3), 90.0),
]  # fmt: skip
tasks = pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)


@tasks
@pytest.mark.parametrize("seed", [0, 3, 0.5, "0", torch.tensor(1)])
def test_a_seed_is_no_generator(task, seed):
    with pytest.raises(TypeError, match="generator must be"):
        task.batch(4, generator=seed)


def test_nor_is_it_for_rotations():
    with pytest.raises(TypeError, match="generator must be"):
        rotated_within(IMAGES, 90.0, 0)


@tasks
def test_batches_are_what_they_are_whatever_the_default_type(task):
    usual = task.batch(4)
    torch.set_default_dtype(torch.float64)
    try:
        doubled = task.batch(4)
    finally:
        torch.set_default_dtype(torch.float32)
    assert [part.dtype for part in doubled] == [part.dtype for part in usual]
