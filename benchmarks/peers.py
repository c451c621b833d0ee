"""What we compare with: textbook loops, torchvision's loader, and the matrix products alone."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import MNIST, VisionDataset

from ponder_utils import ACT, GRUCell, RNNCell, geometric_log_prior

bce = nn.BCEWithLogitsLoss(reduction="none")


class TextbookPonderNet(nn.Module):
    """PonderNet as a tutorial writes it: torch's cell on x at every step, products of lambda, then their logarithm."""

    prior: Tensor  # [N]

    def __init__(self, cell: nn.RNNCellBase, n_hidden: int, max_steps: int) -> None:
        super().__init__()
        self.cell = cell
        self.n_hidden = n_hidden
        self.max_steps = max_steps
        self.answer = nn.Linear(n_hidden, 1)
        self.halt = nn.Linear(n_hidden, 1)
        self.register_buffer("prior", geometric_log_prior(0.2, max_steps).exp().float())

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the loss of inputs x [batch, ...] with targets y [batch], a scalar."""
        h = x.new_zeros(len(x), self.n_hidden)
        survival = x.new_ones(len(x))
        p_of_steps, losses_of_steps = [], []
        for n in range(1, self.max_steps + 1):
            h = self.cell(x, h)
            lambda_n = torch.sigmoid(self.halt(h)).squeeze(1) if n < self.max_steps else torch.ones_like(survival)
            p_of_steps.append(survival * lambda_n)
            survival = survival * (1 - lambda_n)
            losses_of_steps.append(bce(self.answer(h).squeeze(1), y))
        p = torch.stack(p_of_steps)
        losses = torch.stack(losses_of_steps)
        divergence = (p * (p.log() - self.prior.log()[:, None])).sum(0)
        return ((p * losses).sum(0) + 0.01 * divergence).mean()


class TextbookACT(nn.Module):
    """ACT on one time step, as a tutorial writes it: the whole batch goes on, masked, until its last sample halts."""

    def __init__(self, cell: nn.RNNCellBase, n_hidden: int, epsilon: float = 0.01, max_steps: int = 100) -> None:
        super().__init__()
        self.cell = cell
        self.n_hidden = n_hidden
        self.epsilon = epsilon
        self.max_steps = max_steps
        self.answer = nn.Linear(n_hidden, 1)
        self.halt = nn.Linear(n_hidden, 1)
        nn.init.ones_(self.halt.bias)

    def loss(self, x: Tensor, y: Tensor, tau: float) -> Tensor:
        """Return the loss of inputs x [batch, ...] with targets y [batch], a scalar."""
        h = x.new_zeros(len(x), self.n_hidden)
        mean = torch.zeros_like(h)
        cost = x.new_zeros(len(x))
        left = x.new_ones(len(x))
        thinking = torch.ones(len(x), dtype=torch.bool)
        for n in range(1, self.max_steps + 1):
            flag = x.new_full((len(x), 1), float(n == 1))
            h = self.cell(torch.cat([x, flag], dim=1), h)
            halt = torch.sigmoid(self.halt(h)).squeeze(1)
            stops = thinking & ((left - halt <= self.epsilon) | (n == self.max_steps))
            weight = torch.where(stops, left, halt) * thinking
            mean = mean + weight[:, None] * h
            cost = cost + thinking + stops * left
            left = left - halt * thinking
            thinking = thinking & ~stops
            if not thinking.any():
                break
        return (bce(self.answer(mean).squeeze(1), y) + tau * cost).mean()


def copy_cell(theirs: nn.RNNCellBase, ours: RNNCell | GRUCell) -> None:
    """Give our cell the weights of torch's; its `weight_hh` has the gates' rows before the candidate's."""
    layers = [ours.gates_from_h, ours.from_h] if isinstance(ours, GRUCell) else [ours.from_h]
    sizes = [len(layer.bias) for layer in layers]
    ours.from_x.weight.data = theirs.weight_ih.detach().clone()
    ours.from_x.bias.data = theirs.bias_ih.detach().clone()
    weights = theirs.weight_hh.detach().split(sizes)
    biases = theirs.bias_hh.detach().split(sizes)
    for layer, weight, bias in zip(layers, weights, biases, strict=True):
        layer.weight.data = weight.t().contiguous()
        layer.bias.data = bias.clone()


def copy_act(textbook: TextbookACT, ours: ACT) -> None:
    """Give our ACT the weights of the textbook's."""
    copy_cell(textbook.cell, ours.cell)
    ours.output.load_state_dict(textbook.answer.state_dict())
    ours.halting.load_state_dict(textbook.halt.state_dict())


class LikeMNIST(MNIST):
    """torchvision's data set, image by image through PIL, on images that need not be fetched."""

    def __init__(self, x: Tensor, y: Tensor, transform: Callable) -> None:
        VisionDataset.__init__(self, root="", transform=transform)
        self.data = x[:, 0]
        self.targets = y


def image_loader(x: Tensor, y: Tensor) -> DataLoader:
    """Return rotated digits as the notebook of the write-ups loads them."""
    turn = transforms.Compose(
        [transforms.RandomRotation(22.5), transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
    )
    return DataLoader(LikeMNIST(x, y, turn), batch_size=128, shuffle=True)


def products_alone(n_elements: int, n_hidden: int, n_gates: int, max_steps: int = 20, batch: int = 128) -> Callable:
    """Return a function that computes the matrix products of one training iteration and nothing else.

    They are those of the forward pass and of the backward pass as autograd does it, with n_gates = 1 or 3 (a GRU).
    """
    x, h = torch.randn(batch, n_elements), torch.randn(batch, n_hidden)
    h_all, answers = torch.randn(max_steps * batch, n_hidden), torch.randn(max_steps * batch, 2)
    gates = [torch.randn(batch, n_hidden * n) for n in ((1,) if n_gates == 1 else (2, 1))]
    from_h = [torch.randn(n_hidden, gate.shape[1]) for gate in gates]
    from_x, heads = torch.randn(n_elements, n_hidden * n_gates), torch.randn(n_hidden, 2)
    grad_z = torch.randn(batch, n_hidden * n_gates)

    def products() -> None:
        _ = x @ from_x, x.t() @ grad_z
        _ = h_all @ heads, answers @ heads.t(), h_all.t() @ answers
        for _ in range(max_steps):
            for weight, gate in zip(from_h, gates, strict=True):
                _ = h @ weight, gate @ weight.t(), h.t() @ gate  # the step, and the gradients of h and of the weights

    return products
