"""What holds of every task."""

import pytest
import torch

from ponder_utils import AdditionTask, ColumnTask, ForestTask, LineParityTask, MazeTask, ParityTask, RotationTask
from ponder_utils.tasks.rotation import rotated_within

IMAGES = torch.randint(256, (10, 1, 9, 11), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
TASKS = [
    ParityTask(8),
    LineParityTask(12),
    LineParityTask(12, 0.2),
    AdditionTask(12),
    MazeTask(4),
    ForestTask(12),
    ColumnTask(6, 3),
    RotationTask(IMAGES, torch.arange(10), 90.0),
]
tasks = pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)


def seeded(seed, device="cpu"):
    return torch.Generator(device).manual_seed(seed)


@tasks
def test_the_generator_alone_decides_and_without_one_torchs_own_seed(task):
    torch.manual_seed(0)
    first, again, other = (task.batch(16, seeded(seed)) for seed in (5, 5, 6))
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first[0], other[0])
    state = torch.get_rng_state()
    task.batch(16, seeded(5))
    assert torch.equal(torch.get_rng_state(), state)
    drawn = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        drawn.append((*task.batch(16), *task.batch(16)))
    assert all(map(torch.equal, *drawn[:2]))
    assert not torch.equal(drawn[0][0], drawn[2][0])
    assert not torch.equal(drawn[0][0], drawn[0][2])


@tasks
def test_made_where_the_generator_is_and_not_on_the_default_device(task):
    with torch.device("meta"):
        x, y = task.batch(16, seeded(0))
        needed = task.needed_steps(x) if hasattr(task, "needed_steps") else y
    assert x.device.type == y.device.type == needed.device.type == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@tasks
def test_made_on_the_device(task):
    if isinstance(task, RotationTask):
        task = RotationTask(task.x.cuda(), task.y.cuda(), task.within)
    x, y = task.batch(16, seeded(0, "cuda"))
    assert x.is_cuda
    assert y.is_cuda
    if hasattr(task, "answers"):
        assert torch.equal(task.answers(x.cpu()), y.cpu())
    if hasattr(task, "needed_steps"):
        assert torch.equal(task.needed_steps(x.cpu()), task.needed_steps(x).cpu())


@tasks
def test_batches_are_what_they_are_whatever_the_default_type(task):
    usual = task.batch(4)
    torch.set_default_dtype(torch.float64)
    try:
        doubled = task.batch(4)
    finally:
        torch.set_default_dtype(torch.float32)
    assert [part.dtype for part in doubled] == [part.dtype for part in usual]


@tasks
def test_wrong_batch_sizes_and_generators_are_named(task):
    for size, error in ((0, ValueError), (2.0, TypeError)):
        with pytest.raises(error, match=f"batch_size must be an integer >= 1; got {size}"):
            task.batch(size)
    for seed in (0, 3, 0.5, "0", torch.tensor(1)):
        with pytest.raises(TypeError, match="generator must be"):
            task.batch(4, generator=seed)
        with pytest.raises(TypeError, match="generator must be"):
            rotated_within(IMAGES, 90.0, seed)


INT, RATE, ANGLE = "an integer >= 1", r"a number in \[0, 1\]", r"a number in \[-180, 180\]"


@pytest.mark.parametrize(
    ("task", "arguments", "error", "message"),
    [
        *[
            (task, arguments, error, message)
            for task in (LineParityTask, AdditionTask)
            for arguments, error, message in (
                ((0,), ValueError, f"n_places must be {INT}; got 0"),
                ((8.0,), TypeError, f"n_places must be {INT}; got 8.0"),
                ((8, -0.1), ValueError, f"rate must be {RATE}; got -0.1"),
                ((8, 1.5), ValueError, f"rate must be {RATE}; got 1.5"),
                ((8, float("nan")), ValueError, f"rate must be {RATE}; got nan"),
                ((8, "half"), TypeError, f"rate must be {RATE}; got 'half'"),
            )
        ],
        (ColumnTask, (0, 3), ValueError, f"width must be {INT}; got 0"),
        (ColumnTask, (3, 0), ValueError, f"n_numbers must be {INT}; got 0"),
        (ColumnTask, (3, 3, 1.5), ValueError, f"rate must be {RATE}; got 1.5"),
        (ColumnTask, (3, 3, -0.5), ValueError, f"rate must be {RATE}; got -0.5"),
        (ColumnTask.digits, ([8], 3), ValueError, r"numbers must be an integer in \[0, 7\]; got 8"),
        (ColumnTask.digits, ([1.0], 3), TypeError, "numbers must be an integer"),
        (ColumnTask.digits, ([0], 0), ValueError, f"width must be {INT}; got 0"),
        (ForestTask, (0,), ValueError, f"n_nodes must be {INT}; got 0"),
        (ForestTask, (2.5,), TypeError, f"n_nodes must be {INT}; got 2.5"),
        (ForestTask, (4, -1), ValueError, "max_depth must be an integer >= 0; got -1"),
        (ForestTask, (4, True), TypeError, "max_depth must be an integer >= 0; got True"),
        (
            ForestTask.needed_steps,
            (torch.zeros(1, 3).long(), "then"),
            ValueError,
            "reads must be one of 'start', 'now'",
        ),
        (MazeTask, (1,), ValueError, "n_cells must be an integer >= 2; got 1"),
        (MazeTask, (2.5,), TypeError, "n_cells must be an integer >= 2; got 2.5"),
        (MazeTask, (3, 0), ValueError, r"max_stars must be an integer in \[1, 9\]; got 0"),
        (MazeTask, (2, 5), ValueError, r"max_stars must be an integer in \[1, 4\]; got 5"),
        (MazeTask, (3, 2, 1.5), ValueError, f"loops must be {RATE}; got 1.5"),
        (ParityTask, (0,), ValueError, f"n_elements must be {INT}; got 0"),
        (ParityTask, (8.0,), TypeError, f"n_elements must be {INT}; got 8.0"),
        (ParityTask, (8, 1, 9), ValueError, r"k_max must be an integer in \[0, 8\]; got 9"),
        (ParityTask, (8, 5, 4), ValueError, r"k_min must be an integer in \[0, 4\]; got 5"),
        (ParityTask, (8, -1), ValueError, r"k_min must be an integer in \[0, 8\]; got -1"),
        (RotationTask, (IMAGES, torch.arange(3)), ValueError, r"y must be one label for each .* got \[3\]"),
        (RotationTask, (IMAGES[:0], torch.arange(0)), ValueError, "at least one"),
        (RotationTask, (IMAGES, torch.arange(10), 200), ValueError, f"within must be {ANGLE}; got 200"),
        (RotationTask, (IMAGES.float(), torch.arange(10)), TypeError, "x must be a uint8 tensor .* got torch.float32"),
        (RotationTask, ([[0]], torch.arange(1)), TypeError, "x must be a uint8 tensor .* got list"),
        (RotationTask, (IMAGES, torch.arange(10, device="meta")), ValueError, r"\[10\] on cpu.* got \[10\] on meta"),
    ],
)
def test_wrong_arguments_are_named(task, arguments, error, message):
    with pytest.raises(error, match=message):
        task(*arguments)
