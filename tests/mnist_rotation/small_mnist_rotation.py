"""Small networks of lesson 04."""

import torch
from network import N, Network

from ponder_course.mnist_rotation.task import RotationTask
from ponder_evidence.mnist_rotation import experiment
from ponder_utils import PonderNet


def digits(generator):
    """Random images, on the generator's device."""
    x = torch.randint(256, (20, 1, 28, 28), dtype=torch.uint8, generator=generator, device=generator.device)
    y = torch.randint(10, (20,), generator=generator, device=generator.device)
    return RotationTask(x, y, 22.5).batch(12, generator)


NETWORKS = {
    f"04 {name}, {kind}": Network(lambda step=step: PonderNet(step(), N), digits, experiment.LOSSES[kind](0.2, 0.01))
    for name, step in experiment.STEPS.items()
    for kind in ("per sample", "batch mean")
}
IMAGES = torch.randint(256, (10, 1, 9, 11), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
TASKS = {"rotation": RotationTask(IMAGES, torch.arange(10), 90.0)}
