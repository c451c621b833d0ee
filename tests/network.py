"""What a lesson says of a small network of its own, for the tests of all networks in `networks`."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import nn

from ponder_utils import ParityTask

N = 6
PARITY = partial(ParityTask(8).batch, 12)
cross_entropy = nn.BCEWithLogitsLoss(reduction="none")


class Network(NamedTuple):
    model: Callable[[], nn.Module]
    batch: Callable[[torch.Generator], tuple[Any, torch.Tensor]]
    loss: Callable[[Any, torch.Tensor], Any]
