"""Muon: momentum that is made orthogonal before every update, for matrices of weights (Jordan et al. 2024)."""

from typing import Any

import torch
from torch import nn

from ponder_utils._check import check_real


class MuonAndAdam(torch.optim.Optimizer):
    """Muon for the matrices of a network, Adam for all other weights: biases, and heads of one or two outputs.

    A gradient through many steps of thinking grows in a few directions and fades in the others. Muon gives every
    direction of a matrix an update of the same length.

    lr: Adam's learning rate, above 0; ratio: how many times larger Muon's is, above 0, with updates like Adam's at 1.
    """

    def __init__(self, model: nn.Module, lr: float, ratio: float = 1.0) -> None:
        check_real("lr", lr, 0, open_low=True)
        check_real("ratio", ratio, 0, open_low=True)
        matrices, others = list[nn.Parameter](), list[nn.Parameter]()
        for weight in model.parameters():
            is_matrix = weight.ndim == 2 and min(weight.shape) > 2
            (matrices if is_matrix else others).append(weight)
        self.parts: list[torch.optim.Optimizer] = []
        if others:
            self.parts.append(torch.optim.Adam(others, lr=lr, fused=True))
        if matrices:
            muon = torch.optim.Muon(matrices, lr=lr * ratio, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
            self.parts.append(muon)
        super().__init__([group for part in self.parts for group in part.param_groups], {})

    def step(self) -> None:  # type: ignore[override]
        """Make one update."""
        for part in self.parts:
            part.step()

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {str(n): part.state_dict() for n, part in enumerate(self.parts)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """From a checkpoint."""
        for n, part in enumerate(self.parts):
            part.load_state_dict(state[str(n)])
        self.param_groups = [group for part in self.parts for group in part.param_groups]
