import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from ponder_utils.tasks import ParityTask


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
    x, _ = ParityTask(6).batch(60_000, torch.Generator().manual_seed(0))
    k = x.abs().sum(1).long()
    assert set(k.tolist()) == {1, 2, 3, 4, 5, 6}  # without k there is at least one number and up to all
    assert chisquare(torch.bincount(k)[1:]).pvalue > 1e-3
    assert chisquare(x.abs().sum(0)).pvalue > 1e-3
    pairs = x[k == 2].abs() @ torch.tensor([1.0, 2, 4, 8, 16, 32])
    assert chisquare(pairs.unique(return_counts=True)[1]).pvalue > 1e-3
    assert chisquare([(x == 1).sum(), (x == -1).sum()]).pvalue > 1e-3


def test_a_seed_draws_the_batches_that_the_stored_results_were_made_with():
    x, _ = ParityTask(12).batch(3, torch.Generator().manual_seed(7))
    rows = ["".join("-0+"[int(element) + 1] for element in row) for row in x.tolist()]
    assert rows == ["+00+000000-+", "00+-0--00-00", "+00-00000000"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0,), ValueError, "n_elements .*>= 1.* 0"),
        ((8, 1, 9), ValueError, r"k_max .*\[0, 8\].* 9"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        ParityTask(*arguments)
