"""Muon: momentum that is made orthogonal before every step, for matrices of weights (Jordan et al. 2024)."""

from typing import Any

import torch
from torch import nn


class MuonAndAdam(torch.optim.Optimizer):
    """Muon for the matrices of a network, Adam for all other weights: biases, and heads of one or two outputs.

    A gradient through many steps of thinking grows in a few directions and fades in the others. Muon gives every
    direction of a matrix a step of the same length, so that all of them learn.

    Args:
        model: the network whose weights are trained.
        lr: Adam's learning rate.
        ratio: how many times larger Muon's is; its steps are as long as Adam's at 1.
    """

    def __init__(self, model: nn.Module, lr: float, ratio: float = 1.0) -> None:
        matrices, others = list[nn.Parameter](), list[nn.Parameter]()
        for weight in model.parameters():
            (matrices if weight.ndim == 2 and min(weight.shape) > 2 else others).append(weight)
        muon = torch.optim.Muon(matrices, lr=lr * ratio, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
        self.parts = [torch.optim.Adam(others, lr=lr, fused=True), muon]
        self.found_inf: torch.Tensor | None = None
        super().__init__([group for part in self.parts for group in part.param_groups], {})

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update, unless `found_inf` is 1. There is no closure, which each part would call for itself."""
        if self.found_inf is None or not self.found_inf:
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
