"""Paths between two stars of a maze: the task of the Deep Thinking nets (2106.04537, 2202.05826), and one like them.

Theirs are 128 channels wide and learn for 50 epochs; ours and a small one of their shape are trained here with equally
many channels, updates and mazes, in phases, and tested on mazes up to 59 places wide, as theirs are.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, relu

from ponder_course.common.measures import at_step
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import Loss, fit, of_asked
from ponder_course.map_of_thought.lesson import MazeStep
from ponder_course.map_of_thought.task import MazeTask
from ponder_evidence.map_of_thought.experiment import by_itself, by_step
from ponder_evidence.runs import Experiment, grid
from ponder_evidence.ways_to_stop.supervision import ProgressiveLoss, ProgressiveNet, ProgressiveOutput
from ponder_utils._check import check_int
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps
from ponder_utils.steps import Step

# Cells on a side, N of ours, of theirs, mazes in a batch, updates.
PHASES = ((3, 12, 4, 32, 800), (5, 24, 8, 32, 500))
# Cells on a side, N of ours, of theirs, how many mazes.
TESTS = {"5": (5, 40, 20, 200), "10": (10, 100, 80, 100), "20": (20, 200, 150, 40), "30": (30, 300, 240, 20)}
DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))


@dataclass(frozen=True)
class PathTask:
    """Is a place on the path between the two stars? Mazes are the trees of `MazeTask`, with stars on two cells.

    The target is 1.0 on the path, its ends included, 0.0 at other open places, and -1 at walls.
    TypeError or ValueError unless n_cells >= 2.
    """

    n_cells: int

    def __post_init__(self) -> None:
        check_int("n_cells", self.n_cells, 2)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, 3, side, side], open places, star one, star two, and y [batch_size, side, side].

        side = 2 n_cells - 1; float32. x is 1.0 where there is an open place, or the star, and 0.0 elsewhere.
        """
        x, _ = MazeTask(self.n_cells).batch(batch_size, generator)
        order = torch.rand(batch_size, self.n_cells**2, generator=generator, device=x.device).argsort(1)
        stars = torch.zeros(batch_size, 2, self.n_cells**2, device=x.device).scatter_(2, order[:, :2, None], 1.0)
        x[:, 1:, ::2, ::2] = stars.view(batch_size, 2, self.n_cells, self.n_cells)
        return x, self.answers(x)

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """Return the targets of mazes x [batch, 3, height, width]: what is left when all dead ends are filled."""
        is_open, is_star = x[:, 0], x[:, 1:].amax(1)
        left = is_open
        for _ in range(is_open[0].numel()):
            ways = sum(_from(left, direction) for direction in DIRECTIONS)
            filled = left * ((ways > 1) | (is_star > 0))
            if torch.equal(filled, left):
                break
            left = filled
        return torch.where(is_open > 0, left, -1.0)

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """Return the steps that each place needs: int64 [batch, height, width]; a wall needs 1.

        At step n a place has heard from the places up to n - 1 away (8 neighbours, through open places only). A wall
        says nothing, so that a place knows only at step 2 which of its neighbours are walls: that nothing follows a
        place d away is known at step d + 2. A branch, what lies in one of the four directions, has been *exhausted*
        when that is known of all of it. A star knows its answer at once, another place

        - when both stars have been heard from,
        - on the path: when a branch has been exhausted in which there is one star; the other is elsewhere;
        - off the path: when all branches but one have been exhausted, and have no star; both are in that one.

        Before, both answers are possible, for all that the place has heard of this maze; only who also knows how large
        mazes are, or that there are no loops, can at times tell earlier.
        """
        is_open = x[:, 0]
        exhausted = (_farthest(is_open, is_open) + 2).clamp(min=2)  # [4, batch, height, width]
        stars = torch.stack([_farthest(is_open, star) for star in x[:, 1:].unbind(1)])  # [2, 4, ...]
        both = stars.amax((0, 1)) + 1
        has_star = stars > 0
        one_star = torch.where(has_star[0] != has_star[1], exhausted, torch.inf).amin(0)
        no_star = torch.where(has_star.any(0), 2, exhausted).amax(0)
        on_path = PathTask.answers(x) == 1
        needed = torch.minimum(both, torch.where(on_path, one_star, no_star))
        return torch.where((is_open > 0) & (x[:, 1:].amax(1) == 0), needed, 1).long()


def _from(values: Tensor, direction: tuple[int, int], outside: float = 0.0) -> Tensor:
    """Return at each place what stands at the next one in this direction: values [..., height, width]."""
    down, right = direction
    height, width = values.shape[-2:]
    return pad(values, (1, 1, 1, 1), value=outside)[..., 1 + down : 1 + down + height, 1 + right : 1 + right + width]


def _farthest(is_open: Tensor, marked: Tensor) -> Tensor:
    """Return how far it is to the farthest marked place in each direction: [4, batch, height, width], -inf if none.

    A step goes to one of 8 neighbours, so that a way around a corner is one shorter.
    """
    is_cell = torch.zeros_like(is_open)
    is_cell[:, ::2, ::2] = 1
    here = torch.where(marked > 0, 0.0, -torch.inf)
    farthest = torch.full((4, *is_open.shape), -torch.inf)
    while True:
        new = []
        for k, direction in enumerate(DIRECTIONS):
            beyond = torch.stack([_from(part, direction, -torch.inf) for part in (here, *farthest)])
            turns = torch.maximum(beyond[1 + (k + 1) % 4], beyond[1 + (k - 1) % 4])
            turns = torch.where(is_cell > 0, -torch.inf, turns)  # a passage ends at a cell, and there ways turn
            ahead = 1 + torch.maximum(beyond[0], beyond[1 + k])
            is_next = _from(is_open, direction) * is_open > 0
            new.append(torch.where(is_next, torch.maximum(ahead, turns), -torch.inf))
        if torch.equal(torch.stack(new), farthest):
            return farthest
        farthest = torch.stack(new)


class RecallStep(Step):
    """A step in the shape of the Deep Thinking nets with recall; 32 channels in place of 128, no biases.

    Each step reads the input again beside the state, through one convolution and two residual blocks: five
    convolutions, so that news goes five places. Walls are a part of the input; with `masked`, news does not enter them.
    There is no halting logit: 0 stands for it.
    """

    def __init__(self, channels: int, masked: bool = False) -> None:
        super().__init__()
        convolution = partial(nn.Conv2d, kernel_size=3, padding=1, bias=False)
        self.projection = convolution(3, channels)
        self.recall = convolution(channels + 3, channels)
        self.blocks = nn.ModuleList([convolution(channels, channels) for _ in range(4)])
        head = [convolution(channels, channels), nn.ReLU(), convolution(channels, 8), nn.ReLU(), convolution(8, 1)]
        self.head = nn.Sequential(*head)
        self.masked = masked

    def encode(self, x: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """x: [batch, 3, height, width] -> what each step reads, and the projected x."""
        mask = x[:, :1] if self.masked else torch.ones_like(x[:, :1])
        return (x, mask), relu(self.projection(x)) * mask

    def move(self, z: tuple[Tensor, Tensor], h: Tensor) -> Tensor:
        """Return the next state."""
        x, mask = z
        h = self.recall(torch.cat([h, x], 1)) * mask
        for first, second in (self.blocks[:2], self.blocks[2:]):
            inner = relu(first(h)) * mask
            h = relu(second(inner) + h) * mask
        return h

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, height, width], and zeros."""
        y_hat = self.head(h)[:, 0]
        return y_hat, torch.zeros_like(y_hat)


def progressive_loss(criterion: nn.Module, alpha: float) -> Loss:
    """Return the progressive loss over the places that are asked."""
    loss = ProgressiveLoss(criterion, alpha)
    return lambda output, y: loss(ProgressiveOutput(output.y_hat[:, y >= 0]), y[y >= 0])


def learn(
    seed: int,
    recall: bool = False,
    masked: bool = False,
    lr: float = 5e-3,
    alpha: float = 0.5,
    channels: int = 32,
    phases: Any = PHASES,
) -> nn.Module:
    """Train a step, phase by phase: ours with PonderNet's loss, one that recalls with the progressive loss."""
    torch.manual_seed(seed)
    step = RecallStep(channels, masked) if recall else MazeStep(channels, 0.1)
    step = step.to(memory_format=torch.channels_last)
    criterion = nn.BCEWithLogitsLoss(reduction="none")
    loss = progressive_loss(criterion, alpha) if recall else of_asked(PonderLoss(criterion, 0.8, beta=0.01))
    for n_cells, ours, theirs, batch, updates in phases:
        model = ProgressiveNet(step, theirs) if recall else PonderNet(step, ours)
        fit(model.train(), loss, partial(PathTask(n_cells).batch, batch), updates, lr=lr, seed=seed)
    return step


@torch.no_grad()
def measure(step: nn.Module, x: Tensor, N: int, halts: bool = True) -> Row:
    """Return what `by_step` says of a step function's answers, and `by_itself` if every place `halts`."""
    y = PathTask.answers(x)
    asked = y >= 0
    output = PonderNet(step, N).eval()(x)
    right = ((output.y_hat > 0) == (y > 0.5)) | ~asked  # [N, mazes, height, width]
    measures: Row = {"by_step": by_step(right, asked)}
    if halts:
        steps = halting_steps(output, "threshold", q=0.5)
        measures |= by_itself(at_step(right, steps), steps, PathTask.needed_steps(x), asked)
    return measures


def run(seed: int, tests: list[str], recall: bool = False, **setting: Any) -> Row:
    """Train a network and measure it: {test: what `measure` returns}, and the seconds of training."""
    start = time.process_time()
    step = learn(seed, recall, **setting)
    measures: Row = {"training_seconds": time.process_time() - start}
    for name in tests:
        n_cells, ours, theirs, n_mazes = TESTS[name]
        x, _ = PathTask(n_cells).batch(n_mazes, torch.Generator().manual_seed(100))
        measures[name] = measure(step, x, theirs if recall else ours, halts=not recall)
    return rounded(measures)


def _grid(name: str, seeds: int, changes: Sequence[Row], tests: Sequence[str]) -> Experiment:
    settings = seeded([change | {"tests": [*tests]} for change in changes], seeds, seed_by_seed=True)
    short = {"tests": ["5"], "phases": [[3, 12, 4, 8, 5], [5, 24, 8, 4, 5]], "channels": 8}
    return grid(f"07_maze_paths_{name}", run, settings, short)


SHORTER: Row = {"recall": True, "lr": 3e-3}
RECALL = SHORTER | {"phases": [[3, 12, 4, 32, 800], [5, 24, 16, 32, 500]]}  # twice the steps: the best of the grid
GRID = [SHORTER | {"lr": 1e-3}, SHORTER | {"lr": 5e-3}, SHORTER | {"alpha": 0.01}, RECALL]
EXPERIMENTS = {
    "ours": _grid("ours", 3, [{}], [*TESTS]),
    "recall": _grid("recall", 3, [RECALL], [*TESTS]),
    "recall_shorter": _grid("recall_shorter", 2, [SHORTER], [*TESTS]),
    "recall_masked": _grid("recall_masked", 3, [RECALL | {"masked": True}], [*TESTS]),
    "recall_grid": _grid("recall_grid", 1, GRID, ["5", "10"]),
}
