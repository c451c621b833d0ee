"""Small networks of lesson 04."""

import torch
from network import N, Network
from torch import nn

from ponder_course.mnist_rotation.experiment import NAMES, STEPS
from ponder_course.mnist_rotation.task import RotationTask
from ponder_utils import PonderLoss, PonderNet


def digits(generator):
    """Random images, on the generator's device."""
    x = torch.randint(256, (20, 1, 28, 28), dtype=torch.uint8, generator=generator, device=generator.device)
    y = torch.randint(10, (20,), generator=generator, device=generator.device)
    return RotationTask(x, y, 22.5).batch(12, generator)


LOSS = PonderLoss(nn.CrossEntropyLoss(reduction="none"), 0.2)
NETWORKS = {}
for kind, step in STEPS.items():
    NETWORKS[f"04 {NAMES[kind]}"] = Network(lambda step=step: PonderNet(step(), N), digits, LOSS)
IMAGES = torch.randint(256, (10, 1, 9, 11), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
TASKS = {"rotation": RotationTask(IMAGES, torch.arange(10), 90.0)}
