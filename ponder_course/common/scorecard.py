"""How right is a looped network of your own, and when does it halt, on tasks whose needed steps can be computed?

What "need" means is a matter of the task, and of who hears whom in a step:

    LineParityTask  (common.lines): how many places it is since the last reset, that place included. Nobody can know
        earlier who knows only itself at step 1 and hears one place to either side at each further step: its light
        cone. A convolution that reads the input of its neighbours at step 1 is a step earlier.
    AdditionTask  (common.lines): likewise, from where the carry comes. A network may guess "no carry" and be right
        earlier: `needed=partial(AdditionTask.needed_steps, guess=0)` is the need beside that guess.
    MazeTask  (map_of_thought.task): the distance to the nearest star through open places, and 1 more. Nobody can know
        earlier who hears the eight places around it, if walls pass nothing on. Where walls are only a part of the
        input, news goes through them.
    ForestTask  (alone_and_together.task): ceil(log2(depth + 1)). Nobody can know earlier who reads one other node a
        step, whose name it knows, and learns what that node knows by now. If it learns only what that node knew at the
        start: `needed=partial(ForestTask.needed_steps, memory="initial")`. Several heads or layers may be earlier.
    SudokuTask  (sudoku.task): the round in which elimination knows the cell. This belongs to a rule, not to a wiring:
        who knows a better rule, or applies this one several times a step, is earlier.

A network in which every place hears everyone at once, or which applies several layers in a step, may rightly be earlier
than any of these: then "early" is no fault, and the need says only how far the news has to come. So the card says how
many of the early answers are right. Where all places of a sample halt together, the moment of halting may carry a part
of the answer even if places hear only their neighbours (lesson 09).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from ponder_course.common.measures import at_step, by_group, halting_report, mean
from ponder_utils._check import check_int, check_type

# (x, N) -> what it answers after each step, [N, batch, *places], and the step at which it halts, or None
Network = Callable[[Any, int], tuple[Tensor, Tensor | None]]
EARLY, IN_TIME, LATE, NEVER = -1, 0, 1, 2


class Task(Protocol):
    """Draws x and y [batch, *places], whole numbers, below 0 where nothing is asked; and the need, int64."""

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Any, Tensor]:
        """Return x and y."""

    def needed_steps(self, x: Any) -> Tensor:
        """Return the step before which nobody can know the answer."""


@dataclass(frozen=True)
class Right:
    """Which fraction is right. The best step is chosen by the samples on which it is measured."""

    by_step: list[float]  # [N] if all stop at step n
    halted: float | None  # if they stop when they halt; None if the network never halts by itself

    @property
    def best(self) -> float:
        """At the best fixed step."""
        return max(self.by_step)

    @property
    def best_step(self) -> int:
        """The best fixed step, from 1; of equals the first."""
        return self.by_step.index(self.best) + 1

    @property
    def last(self) -> float:
        """At step N."""
        return self.by_step[-1]

    @property
    def overthinking(self) -> float:
        """What is lost from the best fixed step to the last."""
        return self.best - self.last

    @property
    def underthinking(self) -> float | None:
        """What halting loses beside the best fixed step; below 0 where it is better than any fixed step."""
        return None if self.halted is None else self.best - self.halted


@dataclass(frozen=True)
class Halting:
    """When answers halt beside their need: the answers of all places, or whole samples where these halt as one."""

    steps: float  # mean; N + 1 for an answer that has not halted
    needed: float  # mean
    correlation: float  # of both; 0 where one of them does not vary
    early: float  # fractions, which sum to 1
    in_time: float
    late: float
    never: float  # not within N steps: the answer is that of step N
    right_when_early: float | None  # of the early ones, the fraction that is right; None if there are none


@dataclass(frozen=True)
class Card:
    """What is said of one task; `print` shows it."""

    name: str
    n_samples: int  # in which something is asked
    n_places: int  # that are asked, in all of them
    places: Right
    samples: Right  # right at all places that are asked
    halting: Halting | None  # None if the network never halts by itself

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.n_places} places in {self.n_samples} samples, {len(self.places.by_step)} steps"]
        for name, right in (("places", self.places), ("samples", self.samples)):
            halted = "" if right.halted is None else f"when it halts {right.halted:.1%}, "
            under = "" if right.underthinking is None else f", underthinking {right.underthinking:.1%}"
            at_steps = f"at step {right.best_step}, the best, {right.best:.1%}, at the last {right.last:.1%}"
            lines.append(f"  {name} right: {halted}{at_steps}; overthinking {right.overthinking:.1%}{under}")
        if self.halting is None:
            return "\n".join([*lines, "  never halts by itself"])
        found = self.halting
        of_these = "" if found.right_when_early is None else f" (of these right: {found.right_when_early:.1%})"
        lines.append(f"  halts early {found.early:.1%}{of_these}, in time {found.in_time:.1%}, late {found.late:.1%}")
        lines[-1] += f", never {found.never:.1%}"
        lines.append(
            f"  {found.steps:.2f} steps where {found.needed:.2f} are needed; correlation {found.correlation:.3f}"
        )
        return "\n".join(lines)


@torch.no_grad()
def scorecard(
    network: Network,
    tasks: Sequence[Task],
    max_steps: int | None = None,
    n_samples: int = 200,
    seed: int = 0,
    needed: Callable[[Any], Tensor] | None = None,
) -> list[Card]:
    """Measure a network on fresh samples of each task, print a card for each, and return them.

    Args:
        network: (x, N) -> answers, steps. x is as the task draws it, on the CPU. Answers are decided, in the form of
            the task's y, such as `y_hat > 0` or `y_hat.argmax(-1)`: bool or whole numbers, [N, batch, *places]. steps
            are whole numbers, 1 to N, or 0 for what has not halted: [batch] or [batch, *places]; None if the network
            never halts by itself.
        tasks: that of the trained size, and larger ones.
        max_steps: N; None: twice the largest need of the samples, so that overthinking can be seen.
        needed: x -> the need, in the shape of y, for another wiring than the task has in mind; None: the task's own.
    TypeError or ValueError if what network and `needed` return is not as above, or a task asks for nothing.
    """
    check_int("n_samples", n_samples, 1)
    if max_steps is not None:
        check_int("max_steps", max_steps, 1)
    cards = []
    for task in tasks:
        x, y = task.batch(n_samples, torch.Generator().manual_seed(seed))
        need = task.needed_steps(x) if needed is None else needed(x)
        _check_task(y, need)
        N = 2 * int(need[y >= 0].max()) if max_steps is None else max_steps
        returned = network(x, N)
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            raise TypeError(f"network must return a pair, answers and steps; got {type(returned).__name__}")
        answers, steps = returned
        _check_answers(answers, y.shape, N)
        cards.append(compare(answers, steps, y, need, str(task)))
        print(cards[-1])
    return cards


def compare(answers: Tensor, steps: Tensor | None, y: Tensor, need: Tensor, name: str = "") -> Card:
    """Return the card of answers and steps, as `scorecard` has them of a network; y and need as of a `Task`."""
    _check_task(y, need)
    right = _check_answers(answers, y.shape, None) == y
    N, shape = len(right), y.shape
    right, y, need = right.reshape(N, len(y), -1), y.reshape(len(y), -1), need.reshape(len(y), -1)
    asked = y >= 0  # [samples, places]
    rows = asked.any(1)
    right, asked, need = right[:, rows], asked[rows], need[rows]
    halted_places, halted_samples, halting = None, None, None
    if steps is not None:
        steps = _check_steps(steps, shape, N)[rows]
        together = steps.ndim == 1
        at_places = steps[:, None].expand_as(asked) if together else steps.flatten(1)
        halted = at_step(right, torch.where(at_places == 0, N, at_places))
        whole = (halted | ~asked).all(1)
        halted_places, halted_samples = mean(halted[asked]), mean(whole)
        if together:
            halting = _halting(steps, (need * asked).amax(1), whole, N)
        else:
            halting = _halting(at_places[asked], need[asked], halted[asked], N)
    places = Right(right[:, asked].double().mean(1).tolist(), halted_places)
    samples = Right((right | ~asked).all(2).double().mean(1).tolist(), halted_samples)
    return Card(name, len(asked), int(asked.sum()), places, samples, halting)


def _halting(steps: Tensor, needed: Tensor, right: Tensor, N: int) -> Halting:
    never = steps == 0
    taken = torch.where(never, N + 1, steps)
    found = by_group(torch.where(never, NEVER, (taken - needed).sign()), right=right)
    fraction = {kind: row["n"] / len(steps) for kind, row in found.items()}
    report = halting_report(taken, needed)
    return Halting(
        steps=report["steps"],
        needed=report["needed"],
        correlation=report["correlation"],
        early=fraction.get(EARLY, 0.0),
        in_time=fraction.get(IN_TIME, 0.0),
        late=fraction.get(LATE, 0.0),
        never=fraction.get(NEVER, 0.0),
        right_when_early=found[EARLY]["right"] if EARLY in found else None,
    )


def _check_task(y: Tensor, need: Tensor) -> None:
    if y.ndim < 1 or need.shape != y.shape:
        raise ValueError(f"need must have the shape of y, [batch, *places]; got {list(need.shape)} and {list(y.shape)}")
    if not (y >= 0).any():
        raise ValueError("y must ask for something; got none that is at least 0")
    broken = y[y != y.floor()]
    if len(broken):
        raise ValueError(f"y must hold whole numbers; got {broken[0]:g}")


def _check_whole(name: str, values: Any, allowed: str, bools: bool) -> Tensor:
    dtype = check_type(name, values, Tensor, allowed).dtype
    if dtype.is_floating_point or dtype.is_complex or (dtype == torch.bool and not bools):
        raise TypeError(f"{name} must be {allowed}; got {dtype}")
    return values.cpu()


def _check_answers(answers: Any, shape: Sequence[int], N: int | None) -> Tensor:
    answers = _check_whole("answers", answers, "decided, bool or whole numbers, such as y_hat > 0", bools=True)
    if answers.shape[1:] != shape or len(answers) != (N or max(1, len(answers))):
        raise ValueError(f"answers must have shape {[N or 'N', *shape]}; got {list(answers.shape)}")
    return answers


def _check_steps(steps: Any, shape: torch.Size, N: int) -> Tensor:
    steps = _check_whole("steps", steps, "whole numbers, or None", bools=False).long()
    if steps.shape not in (shape[:1], shape):
        raise ValueError(f"steps must have shape {list(shape[:1])} or {list(shape)}; got {list(steps.shape)}")
    if not ((steps >= 0) & (steps <= N)).all():
        raise ValueError(f"steps must be in [0, {N}]; got {steps.min()} to {steps.max()}")
    return steps
