"""The best known public implementation: labml-nn, as the package registry has it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

try:
    from labml_nn.adaptive_computation.parity import ParityDataset
    from labml_nn.adaptive_computation.ponder_net import ParityPonderGRU, ReconstructionLoss, RegularizationLoss
except ImportError as error:
    raise SystemExit("labml-nn is missing, with which we compare: make bench, or pip install -e .[bench]") from error


class Labml:
    """labml-nn's parity experiment: its network, losses, data set and published settings, in a plain loop."""

    def __init__(self, n_elements: int = 8, n_hidden: int = 64, max_steps: int = 20, lr: float = 3e-4) -> None:
        self.model = ParityPonderGRU(n_elements, n_hidden, max_steps)
        self.reconstruction, self.regularization = (
            ReconstructionLoss(nn.BCEWithLogitsLoss(reduction="none")),
            RegularizationLoss(0.2, max_steps),
        )
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.batches = endless(DataLoader(ParityDataset(128 * 500, n_elements), batch_size=128))

    def iteration(self) -> None:
        """One update, its batch included."""
        x, y = next(self.batches)
        p, y_hat, _, _ = self.model(x)
        loss = self.reconstruction(p, y_hat, y.to(torch.float)) + 0.01 * self.regularization(p)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    @torch.no_grad()
    def accuracy(self, x: Tensor, y: Tensor) -> float:
        """Of sampled halting, in expectation."""
        p, y_hat, _, _ = self.model(x)
        return (p * ((y_hat > 0) == (y > 0.5))).sum(0).mean().item()


def endless(loader: DataLoader) -> Iterator:
    """One epoch after the other."""
    return itertools.chain.from_iterable(itertools.repeat(loader))
