"""The lessons' networks, small, each with its batches and its loss: what every device must be able to run."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import nn

from ponder_course.act_background.experiment import FixedDepth
from ponder_course.act_background.measurements import act, cross_entropy, one_time_step
from ponder_course.alone_and_together import experiment as forests
from ponder_course.common.training import of_asked
from ponder_course.light_cone import experiment as light_cone
from ponder_course.map_of_thought import experiment as mazes
from ponder_course.research.alone_and_together import inference
from ponder_course.research.mnist_rotation import experiment as mnist_rotation
from ponder_course.ways_to_stop import experiment as ways_to_stop
from ponder_course.ways_to_stop.problems import PROBLEMS, SAME_QUESTION
from ponder_utils import (
    ACTLoss,
    AdditionTask,
    ColumnTask,
    EncodedStep,
    ForestTask,
    GRUStep,
    LineParityTask,
    LocalStep,
    MazeTask,
    ParityTask,
    PonderLoss,
    PonderNet,
    PonderSequence,
    ReaderStep,
    RecurrentStep,
    RNNStep,
    RotationTask,
    UniversalStep,
)

N = 6
PARITY = partial(ParityTask(8).batch, 12)


class Network(NamedTuple):
    model: Callable[[], nn.Module]
    batch: Callable[[torch.Generator], tuple[Any, torch.Tensor]]
    loss: Callable[[Any, torch.Tensor], Any]
    classes: bool = False  # answers are logits of classes
    by_value: str = ""  # "forward" or "loss": the first part whose shapes depend on values


def digits(generator):
    """Random images, on the generator's device."""
    x = torch.randint(256, (20, 1, 28, 28), dtype=torch.uint8, generator=generator, device=generator.device)
    y = torch.randint(10, (20,), generator=generator, device=generator.device)
    return RotationTask(x, y, 22.5).batch(12, generator)


def of_lesson_06(problem, training):
    """A network of lesson 06: the problem, and how it is trained."""
    asked, how = PROBLEMS[problem], ways_to_stop.TRAININGS[training]
    value = (*how.values, *how.more_values)[0]
    network = how.network

    def model():
        step = asked.step()
        if training == "gain":
            step = ways_to_stop.JudgedStep(step, asked.judge())
        return network(step, N)

    task = asked.task(asked.recipe["size"])
    by_value = "forward" if training == "progressive" else ""  # it draws how many steps it takes
    return Network(model, partial(task.batch, 12), how.loss(asked, value), by_value=by_value)


def columns(generator):
    x, y = ColumnTask(5, 3).batch(12, generator)
    return x, y.flatten(0, 1)


def universal(generator):
    x = torch.randn(4, 5, 8, generator=generator, device=generator.device)
    padding = torch.arange(5, device=x.device).expand(4, 5) > 3
    return (x, padding), (x.sum(2) > 0).float()


cross_entropies = nn.CrossEntropyLoss(reduction="none")
NETWORKS = {
    "01 ACT": Network(
        lambda: act(8, 16, N), partial(one_time_step, PARITY), ACTLoss(cross_entropy, 1e-3), by_value="forward"
    ),
    "01 fixed depth": Network(
        lambda: FixedDepth(8, 16, 3), partial(one_time_step, PARITY), ACTLoss(cross_entropy, 0.0)
    ),
    "02 uniform prior": Network(
        lambda: PonderNet(RNNStep(8, 16), N), PARITY, PonderLoss(cross_entropy, "uniform", direction="p_G||p")
    ),
    "03 RNN": Network(lambda: PonderNet(RNNStep(8, 16), N), PARITY, PonderLoss(cross_entropy, 0.3)),
    "03 GRU": Network(lambda: PonderNet(GRUStep(8, 16), N), PARITY, PonderLoss(cross_entropy, 0.3, repair="remainder")),
    "03 LSTM": Network(lambda: PonderNet(RecurrentStep(nn.LSTMCell(8, 16)), N), PARITY, PonderLoss(cross_entropy, 0.3)),
    **{
        f"04 {name}, {kind}": Network(
            lambda step=step: PonderNet(step(), N), digits, mnist_rotation.LOSSES[kind](0.2, 0.01), classes=True
        )
        for name, step in mnist_rotation.STEPS.items()
        for kind in ("per sample", "batch mean")
    },
    **{
        f"05 {task}, {vote}, residual {residual}": Network(
            lambda vote=vote, residual=residual: PonderNet(LocalStep(2, 8, vote=vote, residual=residual, noise=0.1), N),
            partial(light_cone.TASKS[task](7).batch, 12),
            PonderLoss(light_cone.mean_over_places, 0.4),
        )
        for task, vote, residual in (("parity", "least", False), ("addition", "pooled", True))
    },
    **{f"06 {problem}": of_lesson_06(problem, "PonderNet") for problem in PROBLEMS if problem not in SAME_QUESTION},
    **{f"06 {training}": of_lesson_06("lines", training) for training in ways_to_stop.TRAININGS},
    "07 mazes": Network(
        lambda: PonderNet(mazes.MazeStep(8, 0.1), N),
        partial(MazeTask(3).batch, 12),
        of_asked(PonderLoss(cross_entropy, 0.8)),
        by_value="loss",
    ),
    **{
        f"08 forests, {reads}": Network(
            lambda reads=reads: PonderNet(forests.make_step(reads, 6, 16), N),
            partial(ForestTask(6).batch, 12),
            of_asked(PonderLoss(cross_entropies, 0.8)),
            classes=True,
            by_value="loss",
        )
        for reads in ("start", "now")
    },
    "08 inference": Network(
        lambda: PonderNet(EncodedStep(inference.Embedding(24, 8), ReaderStep(8, 24)), N),
        partial(inference.InferenceTask().batch, 12),
        PonderLoss(cross_entropies, 0.2),
        classes=True,
    ),
    **{
        f"09 columns, {carry}": Network(
            lambda carry=carry: PonderSequence(LocalStep(2, 8), N, carry),
            columns,
            PonderLoss(light_cone.mean_over_places, 0.4),
        )
        for carry in ("mean", "last")
    },
    "the Universal Transformer": Network(
        lambda: PonderNet(UniversalStep(8), N),
        universal,
        of_asked(PonderLoss(cross_entropy, 0.4)),
        by_value="loss",
    ),
}
TASKS = {
    "parity": ParityTask(8), "line parity": LineParityTask(7), "addition": AdditionTask(7), "mazes": MazeTask(3),
    "forests": ForestTask(6), "columns": ColumnTask(5, 3), "inference": inference.InferenceTask(),
    **{problem: asked.task(8) for problem, asked in PROBLEMS.items() if problem not in SAME_QUESTION},
}  # fmt: skip
