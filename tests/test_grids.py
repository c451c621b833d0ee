from collections import deque

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from ponder_utils.tasks.grids import FloodTask


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def reached(is_open, source):
    """Breadth-first search: {cell: step of arrival}."""
    arrival, queue = {source: 1}, deque([source])
    while queue:
        row, column = queue.popleft()
        for cell in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            inside = all(0 <= i < len(is_open) for i in cell)
            if inside and is_open[cell[0]][cell[1]] and cell not in arrival:
                arrival[cell] = arrival[row, column] + 1
                queue.append(cell)
    return arrival


@given(st.integers(1, 12), st.sampled_from([1e-6, 0.3, 0.5, 0.62, 0.8, 1.0]), st.integers(1, 6), st.integers(0, 10**6))
def test_the_water_comes_as_breadth_first_search_does(side, density, batch_size, seed):
    task = FloodTask(side, density)
    x, y = task.batch(batch_size, seeded(seed))
    assert x.shape == (batch_size, 2, side, side)
    assert y.shape == (batch_size, side, side)
    assert x.dtype == y.dtype == torch.float32
    assert set(x.unique().tolist()) | set(y.unique().tolist()) <= {0.0, 1.0}
    assert torch.equal(task.answers(x), y)
    needed = task.needed_steps(x)
    assert needed.dtype == torch.int64
    for (is_open, at), wet, its in zip(x.tolist(), y.tolist(), needed.tolist(), strict=True):
        (source,) = [(i, j) for i in range(side) for j in range(side) if at[i][j]]
        assert is_open[source[0]][source[1]]
        arrival = reached(is_open, source)
        for i in range(side):
            for j in range(side):
                assert its[i][j] == arrival.get((i, j), 0)
                assert wet[i][j] == ((i, j) in arrival)
    again = task.batch(batch_size, seeded(seed))
    assert torch.equal(x, again[0])
    assert torch.equal(y, again[1])


def test_a_winding_way_and_a_puddle_behind_a_wall():
    is_open = [
        [1, 1, 1, 1, 0],
        [0, 0, 0, 1, 0],
        [1, 1, 1, 1, 0],
        [1, 0, 0, 0, 1],
        [1, 1, 1, 0, 1],
    ]
    x = torch.zeros(1, 2, 5, 5)
    x[0, 0], x[0, 1, 0, 0] = torch.tensor(is_open), 1
    assert FloodTask.needed_steps(x)[0].tolist() == [
        [1, 2, 3, 4, 0],
        [0, 0, 0, 5, 0],
        [9, 8, 7, 6, 0],
        [10, 0, 0, 0, 0],
        [11, 12, 13, 0, 0],
    ]
    assert FloodTask(5).answers(x).sum() == 13


def test_sources_are_anywhere_and_cells_are_open_at_the_density():
    x, _ = FloodTask(4).batch(8000, seeded())
    assert FloodTask(4) == FloodTask(4, 0.62)
    assert chisquare(x[:, 1].sum(0).flatten()).pvalue > 1e-3
    elsewhere = x[:, 0][x[:, 1] == 0]
    assert binomtest(int(elsewhere.sum()), len(elsewhere), 0.62).pvalue > 1e-3
    assert x[:, 0][x[:, 1] > 0].all()


def test_where_all_is_open_the_way_is_the_distance():
    x, y = FloodTask(7, 1.0).batch(20, seeded())
    assert y.all()
    for grid, needed in zip(x, FloodTask.needed_steps(x), strict=True):
        row, column = grid[1].nonzero()[0].tolist()
        away = (torch.arange(7) - row).abs()[:, None] + (torch.arange(7) - column).abs()
        assert torch.equal(needed, away + 1)


def test_without_a_generator_torchs_own_seed_decides():
    drawn = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        drawn.append(FloodTask(6).batch(8)[0])
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_made_where_the_generator_is_and_not_on_the_default_device():
    with torch.device("meta"):
        x, y = FloodTask(6).batch(8, seeded())
    assert x.device.type == y.device.type == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_made_on_the_device():
    x, y = FloodTask(6).batch(8, torch.Generator("cuda").manual_seed(0))
    assert x.is_cuda
    assert y.is_cuda
    assert torch.equal(FloodTask.needed_steps(x.cpu()), FloodTask.needed_steps(x).cpu())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: FloodTask(0), ValueError, "side must be an integer >= 1; got 0"),
        (lambda: FloodTask(4.0), TypeError, "side must be an integer >= 1; got 4.0"),
        (lambda: FloodTask(4, 0), ValueError, r"density must be a number in \(0, 1\]; got 0"),
        (lambda: FloodTask(4, 1.1), ValueError, r"density must be a number in \(0, 1\]; got 1.1"),
        (lambda: FloodTask(4, None), TypeError, "density must be a number .*; got None"),
        (lambda: FloodTask(4).batch(0), ValueError, "batch_size must be an integer >= 1; got 0"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
