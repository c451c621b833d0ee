"""Small networks of lesson 08 and its evidence."""

from functools import partial

from network import N, Network, cross_entropies

from ponder_course.alone_and_together import experiment
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.training import of_asked
from ponder_evidence.alone_and_together import inference
from ponder_evidence.alone_and_together.reader import ReaderStep
from ponder_utils import EncodedStep, PonderLoss, PonderNet

NETWORKS = {
    f"08 forests, {memory}": Network(
        lambda memory=memory: PonderNet(experiment.make_step(memory, 6, 16), N),
        partial(ForestTask(6).batch, 12),
        of_asked(PonderLoss(cross_entropies, 0.8)),
    )
    for memory in ("initial", "current")
}
NETWORKS["08 inference"] = Network(
    lambda: PonderNet(EncodedStep(inference.Embedding(24, 8), ReaderStep(8, 24)), N),
    partial(inference.InferenceTask().batch, 12),
    PonderLoss(cross_entropies, 0.2),
)
TASKS = {"forests": ForestTask(12), "inference": inference.InferenceTask()}
