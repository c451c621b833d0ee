import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from ponder_utils.tasks.parity import ParityTask


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 40), st.integers(1, 50), st.integers(0, 10**6))
def test_batches_are_as_defined(n_elements, k_a, k_b, batch_size, seed):
    k_min, k_max = sorted((min(k_a, n_elements), min(k_b, n_elements)))
    x, y = ParityTask(n_elements, k_min, k_max).batch(batch_size, torch.Generator().manual_seed(seed))
    assert x.shape == (batch_size, n_elements)
    assert x.dtype == y.dtype == torch.float32
    assert set(x.unique().tolist()) <= {-1.0, 0.0, 1.0}
    k = x.abs().sum(1)
    assert ((k >= k_min) & (k <= k_max)).all()
    for row, target in zip(x.tolist(), y.tolist(), strict=True):
        assert row.count(1.0) % 2 == target


def test_numbers_places_and_signs_are_uniform():
    x, _ = ParityTask(6, 1, 6).batch(60_000, torch.Generator().manual_seed(0))
    k = x.abs().sum(1).long()
    assert chisquare(torch.bincount(k)[1:]).pvalue > 1e-3
    assert chisquare(x.abs().sum(0)).pvalue > 1e-3
    pairs = x[k == 2].abs() @ torch.tensor([1.0, 2, 4, 8, 16, 32])
    assert chisquare(pairs.unique(return_counts=True)[1]).pvalue > 1e-3
    assert chisquare([(x == 1).sum(), (x == -1).sum()]).pvalue > 1e-3


def test_same_seed_same_batch():
    a, b = (ParityTask(8).batch(16, torch.Generator().manual_seed(5)) for _ in range(2))
    assert all(torch.equal(one, two) for one, two in zip(a, b, strict=True))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_made_on_the_device():
    x, y = ParityTask(8).batch(16, torch.Generator("cuda").manual_seed(0))
    assert x.is_cuda
    assert y.is_cuda


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ParityTask(0), ValueError, "n_elements must be an integer >= 1; got 0"),
        (lambda: ParityTask(8.0), TypeError, "n_elements must be an integer >= 1; got 8.0"),
        (lambda: ParityTask(8, 1, 9), ValueError, r"k_max must be an integer in \[0, 8\]; got 9"),
        (lambda: ParityTask(8, 5, 4), ValueError, r"k_min must be an integer in \[0, 4\]; got 5"),
        (lambda: ParityTask(8, -1), ValueError, r"k_min must be an integer in \[0, 8\]; got -1"),
        (lambda: ParityTask(8).batch(0), ValueError, "batch_size must be an integer >= 1; got 0"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(("k_min", "k_max"), [(0, 3), (2, 5), (6, 6), (5, 6)])
def test_every_number_from_k_min_to_k_max_is_drawn(k_min, k_max):
    x, _ = ParityTask(6, k_min, k_max).batch(1000, torch.Generator().manual_seed(0))
    assert set(x.abs().sum(1).tolist()) == set(range(k_min, k_max + 1))


def test_without_k_there_is_at_least_one_number_and_up_to_all():
    assert ParityTask(6) == ParityTask(6, 1, 6)


def test_without_a_generator_torchs_own_seed_decides():
    task, drawn = ParityTask(8), []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        drawn += [(task.batch(16)[0], *task.batch(16))]
    assert all(torch.equal(a, b) for a, b in zip(*drawn[:2], strict=True))
    assert not torch.equal(drawn[0][0], drawn[2][0])


def test_made_where_the_generator_is_and_not_on_the_default_device():
    with torch.device("meta"):
        x, y = ParityTask(8).batch(16, torch.Generator("cpu").manual_seed(0))
    assert x.device.type == y.device.type == "cpu"


def test_a_seed_draws_the_batches_that_the_stored_results_were_made_with():
    x, _ = ParityTask(12).batch(3, torch.Generator().manual_seed(7))
    rows = ["".join("-0+"[int(element) + 1] for element in row) for row in x.tolist()]
    assert rows == ["+00+000000-+", "00+-0--00-00", "+00-00000000"]
