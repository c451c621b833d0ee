"""Stored runs of lesson 07: how its networks were trained and measured."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.common.measures import at_step, by_group, halting_report, mean
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit, of_asked
from ponder_course.map_of_thought.lesson import MazeStep
from ponder_course.map_of_thought.task import MazeTask, distances
from ponder_evidence.runs import Experiment, grid
from ponder_utils.losses import FixedDepthLoss, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps

# Cells on a side, N, mazes in a batch, updates, learning rate: at 5e-3 the second phase may spoil what was learnt.
PHASES = ((3, 12, 32, 1200, 5e-3), (5, 24, 32, 300, 2e-3))
LARGE = 20
FAR = 20  # steps by which the other colour is farther, or more; or there is none


QS = {"confidence": (0.6, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999), "threshold": (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)}


TESTS = {  # mazes, the cap N, how many
    "5": (MazeTask(5), 24, 200),
    "10": (MazeTask(10), 60, 100),
    "20": (MazeTask(LARGE), 170, 100),
    "30": (MazeTask(30), 260, 50),
    "20, loops": (MazeTask(LARGE, loops=0.2), 170, 50),
    "20, all passages": (MazeTask(LARGE, loops=1.0), 170, 50),
    "5, one star": (MazeTask(5, max_stars=1), 24, 200),
    "10, one star": (MazeTask(10, max_stars=1), 60, 100),
}


class ThroughWalls(MazeStep):
    """Lesson 07's step with walls that are nothing but a part of the input: news goes through them."""

    def move(self, z: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the next state."""
        h, is_open = state
        h, _ = super().move(z, (h, torch.ones_like(is_open)))
        return h, is_open


def learn(
    seed: int,
    halting: bool = True,
    max_stars: int = 3,
    through_walls: bool = False,
    lambda_p: float = 0.8,
    beta: float = 0.03,
    channels: int = 32,
    phases: Any = PHASES,
) -> PonderNet:
    """Train a network, phase by phase; without `halting`, on the mean loss of its answers at all steps."""
    torch.manual_seed(seed)
    step = (ThroughWalls if through_walls else MazeStep)(channels, 0.1)
    criterion = nn.BCEWithLogitsLoss(reduction="none")
    loss = PonderLoss(criterion, lambda_p, beta) if halting else FixedDepthLoss(criterion, every_step=True)
    for n_cells, N, batch, updates, lr in phases:
        draw, model = partial(MazeTask(n_cells, max_stars).batch, batch), PonderNet(step, N)
        fit(model.train(), of_asked(loss), draw, updates, lr=lr, seed=seed)
    return model


def by_step(right: Tensor, asked: Tensor) -> dict[str, list[float]]:
    """Return how many places and whole mazes are right if all stop at step n, [N] each: right [N, *asked.shape]."""
    return {
        "places": right[:, asked].float().mean(1).tolist(),
        "mazes": right.flatten(2).all(2).float().mean(1).tolist(),
    }


def by_itself(right: Tensor, steps: Tensor, needed: Tensor, asked: Tensor) -> Row:
    """Return how many places and whole mazes are right when every place halts by itself, and the `halting_report`.

    All are [mazes, height, width]; by_need: {need: [places, their mean steps]}. Only places that are asked count.
    """
    taken, need = steps[asked].float(), needed[asked]
    by_need = by_group(need, steps=taken)
    return {
        "places": mean(right[asked]),
        "mazes": mean(right.flatten(1).all(1)),
        **halting_report(taken, need.float()),
        "by_need": {n: [*row.values()] for n, row in by_need.items()},
    }


@torch.no_grad()
def measure(model: PonderNet, x: Tensor, N: int, rule: str = "threshold", q: float = 0.5) -> Row:
    """Return what `by_itself` says of places that halt by a rule, what `by_step` says, and where answers are wrong.

    by_margin: {how much farther the other colour is, at most FAR: [places, wrong when halted, wrong at step N]}.
    """
    y = MazeTask.answers(x)
    asked = y >= 0
    output = model.eval()(x, max_steps=N)
    steps = halting_steps(output, rule, q=q)
    right = ((output.y_hat > 0) == (y > 0.5)) | ~asked  # [N, mazes, height, width]
    halted = at_step(right, steps)
    margin = (distances(x[:, 0], x[:, 1]) - distances(x[:, 0], x[:, 2])).abs().clamp(max=FAR)[asked]
    wrong = torch.stack([torch.ones_like(margin), ~halted[asked], ~right[-1][asked]])
    by_margin = {m: wrong[:, margin == m].sum(1).tolist() for m in range(1, FAR + 1)}
    measures = by_itself(halted, steps, MazeTask.needed_steps(x), asked)
    return measures | {"by_step": by_step(right, asked), "by_margin": by_margin}


def choose_q(model: PonderNet, rule: str) -> float:
    """Return the value of a rule with which most mazes of 10 x 10 cells are right; of several, that of fewest steps."""
    x, _ = MazeTask(10).batch(100, torch.Generator().manual_seed(99))
    by_q = {q: measure(model, x, 60, rule, q) for q in QS[rule]}
    return max(QS[rule], key=lambda q: (by_q[q]["mazes"], -by_q[q]["steps"]))


def run(seed: int, tests: list[str], rule: str = "threshold", q: float | None = 0.5, **setting: Any) -> Row:
    """Train a network and measure it: {test: what `measure` returns}; without q, or by another rule, `choose_q`."""
    model, measures = learn(seed, **setting), {}
    if q is None or rule != "threshold":
        q = choose_q(model, rule)
    for name in tests:
        task, N, n_mazes = TESTS[name]
        x, _ = task.batch(n_mazes, torch.Generator().manual_seed(100))
        measures[name] = measure(model, x, N, rule, q) | {"q": q}
    return rounded(measures)


def _grid(name: str, seeds: int, tests: list[str], *changes: Row) -> Experiment:
    settings = seeded([change | {"tests": tests} for change in changes or [{}]], seeds)
    phases = [[3, 12, 8, 5, 5e-3], [5, 24, 4, 5, 2e-3]]
    return grid(f"07_mazes_{name}", run, settings, {"tests": tests[:1], "phases": phases, "channels": 8})


SAME_RATE, ONE_PHASE = [[3, 12, 32, 1200, 5e-3], [5, 24, 32, 300, 5e-3]], [[5, 24, 32, 1500, 5e-3]]


RECIPES: list[Row] = [{"phases": SAME_RATE}, {"phases": ONE_PHASE}, {"channels": 16}]


PRIORS: list[Row] = [{"lambda_p": 0.4, "beta": beta, "q": None} for beta in (0.01, 0.03)]


THROUGH_WALLS = {"through_walls": True}


EXPERIMENTS = {
    "main": _grid("main", 10, ["5", "10", "20", "30", "20, loops", "20, all passages"]),
    "certainty": _grid("certainty", 5, ["5", "10", "20"], {"halting": False, "rule": "confidence"}),
    "one_star": _grid("one_star", 5, ["5, one star", "10, one star", "10"], THROUGH_WALLS | {"max_stars": 1}),
    "through_walls": _grid("through_walls", 5, ["5", "10", "20"], THROUGH_WALLS),
    "prior": _grid("prior", 3, ["5", "20"], *PRIORS),
    "recipes": _grid("recipes", 3, ["5", "20"], *RECIPES),
}
