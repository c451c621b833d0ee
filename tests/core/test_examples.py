import pytest

from examples import (
    kv_cache,
    transformer,
    tune,
    your_own,
)


@pytest.mark.parametrize(
    ("example", "at_least"),
    [
        pytest.param(transformer, 0.95, marks=pytest.mark.slow),
        pytest.param(kv_cache, 0.95, marks=pytest.mark.slow),
        pytest.param(tune, 4, marks=pytest.mark.slow),  # more steps on the hardest inputs, and not a fraction
        (your_own, 0.95),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_example_learns_its_task(example, at_least):
    assert example.main() >= at_least
