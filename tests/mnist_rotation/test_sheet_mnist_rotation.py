"""What the problem sheet of lesson 04 asks to derive, computed in another way; and what its checks refuse."""

import itertools

import pytest
from scipy.optimize import linprog
from sheets import check_that_it_refuses

WRONG = {
    "changing": [
        lambda right: (right[0] != right[-1]).float().mean().item(),  # the ends only
        lambda right: (right[1:] != right[:-1]).float().mean().item(),  # of all steps
        lambda right: right.all(0).float().mean().item(),
        lambda right: 1 - right.any(0).float().mean().item(),
        lambda right: right.any(0) & ~right.all(0),  # not a mean
    ],
}


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, answers in WRONG.items() for wrong in answers])
def test_checks_fail_on_plausible_wrong_functions(name, wrong, capsys):
    check_that_it_refuses(wrong, name, "04_mnist_rotation", capsys)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("c", [0.05, 0.3])
def test_both_bounds_are_sharp(n, c):
    """Linear programs over the fractions of inputs with each pattern of right and wrong steps."""
    patterns = list(itertools.product((0, 1), repeat=n))
    sums_to_1 = [[1] * len(patterns)]
    by_step = [[pattern[step] for pattern in patterns] for step in range(n)]
    ends = {"union": [float(any(pattern)) for pattern in patterns]}
    ends["intersection"] = [float(all(pattern)) for pattern in patterns]
    for rates in ([0.9, 0.8, 0.85, 0.7][:n], [0.3] * n, [0.97] * n):
        known = {"A_eq": sums_to_1 + by_step, "b_eq": [1, *rates]}
        assert -linprog([-x for x in ends["union"]], **known).fun == pytest.approx(min(1, sum(rates)))
        smallest = linprog(ends["intersection"], **known).fun
        assert smallest == pytest.approx(max(0, sum(rates) - (n - 1)), abs=1e-9)
    flat = [[a - b for a, b in zip(by_step[0], row, strict=True)] for row in by_step[1:]]
    changes = [[float(len(set(pattern)) > 1) for pattern in patterns]]
    known = {"A_eq": sums_to_1 + flat, "b_eq": [1] + [0] * (n - 1), "A_ub": changes, "b_ub": [c]}
    for end, sign in (("union", 1), ("intersection", -1)):
        loss = [-sign * (x - r) for x, r in zip(ends[end], by_step[0], strict=True)]
        assert -linprog(loss, **known).fun == pytest.approx(c * (1 - 1 / n))
