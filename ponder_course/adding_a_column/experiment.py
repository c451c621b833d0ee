"""What lesson 09 measures of networks that add two numbers."""

import torch
from torch import Tensor

from ponder_course.common.lines import AdditionTask
from ponder_course.common.measures import by_group, halting_report, mean
from ponder_course.common.store import Row
from ponder_course.light_cone.lesson import whole_lines_right
from ponder_utils.pondernet import PonderNet, Prediction

TESTS = (16, 64)  # places of a test


def binary(a: int, b: int, places: int) -> Tensor:
    """Return one sum of two numbers, least significant place first: x [1, 2, places]."""
    digits = [[number >> place & 1 for place in range(places)] for number in (a, b)]
    return torch.tensor([digits], dtype=torch.float32)


def ones_plus(places: int) -> Tensor:
    """Return the sums 11...1 + 0 and 11...1 + 1: x [2, 2, places]."""
    return torch.cat([binary(2**places - 1, last, places) for last in (0, 1)])


def needed_steps(x: Tensor) -> Tensor:
    """Return the need of sums x [sums, 2, places]: as far as the longest carry travels, and 1 more; int64 [sums].

    It is that of a machine whose places answer "no carry" until one comes.
    """
    return AdditionTask.needed_steps(x, guess=0).amax(1)


def until_halt(answers: Tensor, votes: Tensor, steps: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return the answers, 0 or 1, and the votes of each sum up to its halt: [steps, places] each.

    answers and votes: [N, sums, places]; steps: [sums].
    """
    return [(answers[:n, i].int(), votes[:n, i]) for i, n in enumerate(steps.tolist())]


def halt(model: PonderNet, x: Tensor, N: int) -> tuple[Prediction, Tensor]:
    """Return what a network answers where no place objects, and which sums are right: bool [sums]."""
    answer = model.eval().predict(x, "threshold", max_steps=N, q=0.5)
    return answer, whole_lines_right(answer.y_hat, AdditionTask.answers(x))


def measure(model: PonderNet, places: int, n_sums: int) -> Row:
    """Return how right a network is on so many sums, and in how many steps beside the need.

    "cone": sums that need more by lesson 05's cone, where a place must itself hear that no carry comes. "before the
    cone": how many of them halt before that, "of these wrong", and "gap": by how many steps in the mean, None where
    none does. "by_need": {need: [sums, mean steps, fraction right]}.
    """
    x, _ = AdditionTask(places, rate=None).batch(n_sums, torch.Generator().manual_seed(0))
    answer, right = halt(model, x, places + 16)
    need, cone = needed_steps(x), AdditionTask.needed_steps(x).amax(1)
    before = (cone > need) & (answer.steps < cone)
    by_need = by_group(need, steps=answer.steps, right=right)
    return {
        "sums": n_sums,
        "right": int(right.sum()),
        **halting_report(answer.steps, need),
        "cone": int((cone > need).sum()),
        "before the cone": int(before.sum()),
        "of these wrong": int((before & ~right).sum()),
        "gap": mean((cone - answer.steps)[before]) if before.any() else None,
        "by_need": {n: [*row.values()] for n, row in by_need.items()},
    }


def two_sums(model: PonderNet, places: int) -> Row:
    """Return the "steps" of 11...1 + 0 and of 11...1 + 1, and whether each is "right"."""
    answer, right = halt(model, ones_plus(places), places + 16)
    return {"steps": answer.steps.tolist(), "right": right.tolist()}
