"""The best known public implementation: labml-nn, as the package registry has it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from importlib.util import find_spec

import torch
from torch import nn
from torch.utils.data import DataLoader

from benchmarks.peers import copy_cell, copy_heads
from ponder_utils import PonderNet


def installed() -> bool:
    """Return whether labml-nn is there; `make bench` installs it."""
    return find_spec("labml_nn") is not None


class Labml:
    """labml-nn's parity experiment: its network, losses, data set and published settings, in a plain loop."""

    def __init__(self, n_elements: int = 8, n_hidden: int = 64, max_steps: int = 20, lr: float = 3e-4) -> None:
        try:
            from labml_nn.adaptive_computation.parity import ParityDataset
            from labml_nn.adaptive_computation.ponder_net import ParityPonderGRU, ReconstructionLoss, RegularizationLoss
        except ImportError as error:
            raise SystemExit("labml-nn is missing: pip install -e ./course-package[bench]") from error
        self.model = ParityPonderGRU(n_elements, n_hidden, max_steps)
        self.reconstruction = ReconstructionLoss(nn.BCEWithLogitsLoss(reduction="none"))
        self.regularization = RegularizationLoss(0.2, max_steps)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.batches = endless(DataLoader(ParityDataset(128 * 500, n_elements), batch_size=128))

    def iteration(self) -> None:
        """Make one update; drawing the batch is part of it."""
        x, y = next(self.batches)
        p, y_hat, _, _ = self.model(x)
        loss = self.reconstruction(p, y_hat, y.to(torch.float)) + 0.01 * self.regularization(p)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()


def halting(ours: PonderNet) -> nn.Module:
    """Return labml-nn's network with the weights of ours, a `GRUStep`. It samples until all have halted."""
    from labml_nn.adaptive_computation.ponder_net import ParityPonderGRU

    cell = ours.step.cell
    network = ParityPonderGRU(cell.input_size, cell.hidden_size, ours.max_steps)
    copy_cell(cell, network.gru)
    copy_heads(ours.step.heads, network.output_layer, network.lambda_layer)
    network.is_halt = True
    return network


def endless(loader: DataLoader) -> Iterator:
    """Yield the batches of one epoch after the other."""
    return itertools.chain.from_iterable(itertools.repeat(loader))
