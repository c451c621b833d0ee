"""Graves' tasks along sequences (ACT, Secs. 3.2 to 3.4), at sizes that one core carries: who learns them, and how.

An LSTM reads, and thinks at every time step: with ACT; as often as is given; with PonderNet, which draws when to
stop; or with a loss at every step, stopped when it is sure. All grow up on easy time steps first (`Curriculum`).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, pad

from ponder_course.common.measures import correlation, mean
from ponder_course.common.parity import fix_depth
from ponder_course.common.runs import rounded
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_evidence.adding_a_column.sequence_tasks import END, NO_TARGET, LogicTask, RunningSumTask, SortTask
from ponder_evidence.curriculum import Curriculum
from ponder_evidence.muon import MuonAndAdam
from ponder_utils.act import ACT
from ponder_utils.losses import ACTLoss, FixedDepthLoss, PonderLoss
from ponder_utils.rules import halting_steps
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import RecurrentStep
from ponder_utils.training import train

KINDS = ("ACT", "fixed", "PonderNet", "every step")
HALTING_BIAS = -3.0  # at first: a network begins by thinking for long
SURE = 0.9  # stops a network with a loss at every step


@dataclass(frozen=True)
class Problem:
    """A task of Graves', smaller, and how wide inputs and answers are. The level is that of its `difficulty`."""

    task: str  # "logic", "addition" or "sort"
    length: int  # of the longest sequence: vectors, or numbers to be sorted
    levels: int  # the hardest time step: gates, digits, or numbers to be sorted

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of an input, places of an answer, and classes of a place: 1 for a bit."""
        return {
            "logic": (2 + 10 * self.levels, 1, 1),
            "addition": (10 * self.levels, self.levels + 1, END + 1),
            "sort": (2, 1, self.length),
        }[self.task]

    def at(self, level: int) -> LogicTask | RunningSumTask | SortTask:
        """Return the task whose time steps are at most so hard."""
        if self.task == "sort":
            return SortTask(level)
        return LogicTask(self.length, level) if self.task == "logic" else RunningSumTask(self.length, level)

    def draw(
        self, level: int, generator: torch.Generator, batch_size: int = 128, length: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Draw sequences of one length, itself drawn if none is given, up to a level: x [T, batch, ...], y [T, ...].

        No sum is drawn of a single number, after which nothing is asked.
        """
        shortest, longest = 1 if self.task == "logic" else 2, level if self.task == "sort" else self.length
        if length is None:
            length = int(torch.randint(shortest, longest + 1, (), generator=generator))
        x, y = self.at(level).batch(batch_size, generator, length)
        x = pad(x, (0, self.sizes[0] - x.shape[2]))
        return x, self._with_ends(y) if self.task == "addition" else y

    def _with_ends(self, y: Tensor) -> Tensor:
        wide = pad(y, (0, self.sizes[1] - y.shape[2]), value=END)
        return wide.where(y[:, :, :1] >= 0, NO_TARGET)

    def criterion(self, y_hat: Tensor, y: Tensor) -> Tensor:
        """Return the loss of each answer, summed over places, and 0 where nothing is asked: [n, ...] -> [n]."""
        if self.task == "logic":
            return binary_cross_entropy_with_logits(y_hat, y.clamp(min=0), reduction="none") * (y >= 0)
        logits = y_hat.reshape(-1, self.sizes[2])
        losses = cross_entropy(logits, y.flatten(), reduction="none", ignore_index=NO_TARGET)
        return losses.view(len(y), -1).sum(1)

    def judge(self, y_hat: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return which answers are wrong at one place or more, and which are asked: bool [T, batch] each."""
        if self.task == "logic":
            return ((y_hat > 0) != (y > 0.5)) & (y >= 0), y >= 0
        classes = y_hat.unflatten(2, self.sizes[1:]).argmax(3)  # [T, batch, places]
        y = y.view_as(classes)
        return (classes != y).any(2) & (y[:, :, 0] >= 0), y[:, :, 0] >= 0


def lstm_with_act(n_inputs: int, hidden: int, n_outputs: int, N: int, halting_bias: float) -> ACT:
    """Return an untrained network of Graves', with a cap of N steps."""
    model = ACT(nn.LSTMCell(n_inputs + 1, hidden), n_outputs, max_steps=N)
    nn.init.constant_(model.halting.bias, halting_bias)
    return model


def network(problem: Problem, kind: str, hyperparameter: float, hidden: int, N: int) -> ACT | PonderSequence:
    """Return an untrained network. The hyperparameter of the kind "fixed" is the number of steps; see `learn`."""
    n_inputs, n_places, n_classes = problem.sizes
    if kind in ("PonderNet", "every step"):
        step = RecurrentStep(nn.LSTMCell(n_inputs + 1, hidden), n_places * n_classes, HALTING_BIAS)
        return PonderSequence(step, N, "halted" if kind == "PonderNet" else "last")
    steps = int(hyperparameter) if kind == "fixed" else N
    model = lstm_with_act(n_inputs, hidden, n_places * n_classes, steps, HALTING_BIAS)
    if kind == "fixed":  # the last step has all the weight
        fix_depth(model, steps)
    return model


def think(model: ACT | PonderSequence, problem: Problem, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the answers y_hat [T, batch, ...], and steps [T, batch], of a network that stops by itself."""
    if isinstance(model, ACT):
        output = model(x)
        return output.y_hat, output.steps
    if model.carry == "halted":
        found = model.predict(x, "sample", generator=torch.Generator().manual_seed(0))
        return found.y_hat, found.steps
    output = model(x)  # [N, T * batch]
    classes = problem.task != "logic"
    shaped = output._replace(y_hat=output.y_hat.unflatten(-1, problem.sizes[1:])) if classes else output
    steps = halting_steps(shaped, "confidence", q=SURE, classes=classes)
    y_hat = output.y_hat[steps - 1, torch.arange(len(steps))]
    return y_hat.unflatten(0, x.shape[:2]), steps.view(x.shape[:2])


def learn(
    problem: Problem,
    kind: str,
    hyperparameter: float,
    seed: int,
    *,
    updates: int,
    hidden: int = 64,
    N: int = 8,
    lr: float = 2e-3,
    raise_at: float = 0.97,
) -> tuple[ACT | PonderSequence, list[list[float]]]:
    """Train a network, and return it with the level and the accuracy at every 50th update.

    The hyperparameter of "ACT" is tau, charged in the second half; of "fixed", the number of steps; of "PonderNet",
    lambda_p; of "every step", nothing. In the second half the learning rate cools down.
    """
    torch.manual_seed(seed)
    model = network(problem, kind, hyperparameter, hidden, N)
    optimizer = MuonAndAdam(model, lr)

    def accuracy(model: Any, x: Tensor, y: Tensor) -> float:
        with torch.no_grad():
            wrong, asked = problem.judge(think(model, problem, x)[0], y)
        return 1 - (wrong.sum() / asked.sum().clamp(min=1)).item()

    first = 2 if problem.task == "sort" else 1
    lessons = Curriculum(problem.draw, accuracy, problem.levels, first=first, raise_at=raise_at)
    generator = torch.Generator().manual_seed(seed)

    def batches(_: torch.Generator) -> tuple[Tensor, Tensor]:
        x, y = lessons(generator)
        return x, y if isinstance(model, ACT) else y.flatten(0, 1)

    def loss(tau: float) -> nn.Module:
        if kind == "PonderNet":
            return PonderLoss(problem.criterion, hyperparameter, beta=0.01)
        return FixedDepthLoss(problem.criterion, True) if kind == "every step" else ACTLoss(problem.criterion, tau)

    options: Row = {"optimizer": optimizer, "clip": 1.0, "evaluate": lessons.evaluate, "log_every": 50}
    options |= {"progress": False}
    rows = train(model, loss(0.0), batches, updates // 2, **options)
    tau = hyperparameter if kind == "ACT" else 0.0
    rows += fit(model, loss(tau), batches, updates - updates // 2, **options)[1]
    return model, [[row["K"], row["accuracy"]] for row in rows]


@torch.no_grad()
def measure(model: ACT | PonderSequence, problem: Problem, n_test: int = 2000) -> Row:
    """Return what a network does on sequences of its own: all as long as the longest, or of 2 to so many numbers.

    sequence_error: the fraction with a wrong answer in them, as Graves counts. For each level: error, the fraction of
    answers that are wrong of those before which the sequence was right (for sort: of sequences); steps, their mean.
    steps_by_time: mean steps at each time step of the longest sequences. follows: correlation of steps and level.
    """
    lengths = range(2, problem.length + 1) if problem.task == "sort" else [problem.length]
    generator = torch.Generator().manual_seed(10**6)
    parts = []
    for length in lengths:
        x, y = problem.draw(problem.levels, generator, n_test // len(lengths), length)
        y_hat, steps = think(model, problem, x)
        wrong, asked = problem.judge(y_hat, y)
        right_before = torch.cat([torch.zeros_like(wrong[:1]), wrong[:-1]]).cumsum(0) == 0
        counts = wrong.any(0).expand_as(wrong) if problem.task == "sort" else wrong
        judged = asked if problem.task == "sort" else asked & right_before
        parts.append([problem.at(problem.levels).difficulty(x), counts, judged, steps.float()])
    level, wrong, judged, all_steps = (
        torch.cat([part.flatten() for part in values]) for values in zip(*parts, strict=True)
    )
    errors = torch.cat([counts.any(0) if problem.task != "sort" else counts[0] for _, counts, _, _ in parts])
    levels = range(2 if problem.task == "sort" else 1, problem.levels + 1)
    return {
        "sequence_error": mean(errors),
        "error": [mean(wrong[judged & (level == d)]) for d in levels],
        "steps": [mean(all_steps[level == d]) for d in levels],
        "steps_by_time": steps.float().mean(1).tolist(),
        "mean_steps": mean(all_steps),
        "follows": correlation(level, all_steps),
    }


def run(
    task: str, length: int, levels: int, kind: str, hyperparameter: float, seed: int, n_test: int = 2000, **how: Any
) -> Row:
    """Train a network and measure it; course: level and accuracy at every 50th update. See `learn` and `measure`."""
    problem = Problem(task, length, levels)
    model, course = learn(problem, kind, hyperparameter, seed, **how)
    return rounded(measure(model, problem, n_test) | {"course": course})
