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

    def __init__(self, cell: nn.Module, n_hidden: int, max_steps: int) -> None:
        super().__init__()
        self.cell, self.max_steps, self.n_hidden = cell, max_steps, n_hidden
        self.answer, self.halt = nn.Linear(n_hidden, 1), nn.Linear(n_hidden, 1)
        self.register_buffer("prior", geometric_log_prior(0.2, max_steps).exp().float())

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """x: [batch, ...], y: [batch] -> scalar."""
        h, survival = x.new_zeros(len(x), self.n_hidden), x.new_ones(len(x))
        p, losses = [], []
        for n in range(1, self.max_steps + 1):
            h = self.cell(x, h)
            lambda_n = torch.sigmoid(self.halt(h)).squeeze(1) if n < self.max_steps else torch.ones_like(survival)
            p.append(survival * lambda_n)
            survival = survival * (1 - lambda_n)
            losses.append(bce(self.answer(h).squeeze(1), y))
        p, losses = torch.stack(p), torch.stack(losses)
        divergence = (p * (p.log() - self.prior.log()[:, None])).sum(0)
        return ((p * losses).sum(0) + 0.01 * divergence).mean()


class TextbookACT(nn.Module):
    """ACT on one time step, as a tutorial writes it: the whole batch goes on, masked, until its last sample halts."""

    def __init__(self, cell: nn.Module, n_hidden: int, epsilon: float = 0.01, max_updates: int = 100) -> None:
        super().__init__()
        self.cell, self.n_hidden, self.epsilon, self.max_updates = cell, n_hidden, epsilon, max_updates
        self.answer, self.halt = nn.Linear(n_hidden, 1), nn.Linear(n_hidden, 1)
        nn.init.ones_(self.halt.bias)

    def loss(self, x: Tensor, y: Tensor, tau: float) -> Tensor:
        """x: [batch, ...], y: [batch] -> scalar."""
        h, mean = x.new_zeros(len(x), self.n_hidden), 0.0
        left, going, cost = x.new_ones(len(x)), torch.ones(len(x), dtype=torch.bool), x.new_zeros(len(x))
        for n in range(1, self.max_updates + 1):
            flag = x.new_full((len(x), 1), float(n == 1))
            h = self.cell(torch.cat([x, flag], dim=1), h)
            halt = torch.sigmoid(self.halt(h)).squeeze(1)
            stops = going & ((left - halt <= self.epsilon) | (n == self.max_updates))
            weight = torch.where(stops, left, halt) * going
            mean, cost = mean + weight[:, None] * h, cost + going + stops * left
            left, going = left - halt * going, going & ~stops
            if not going.any():
                break
        return (bce(self.answer(mean).squeeze(1), y) + tau * cost).mean()


def with_weights_of(theirs: nn.RNNCellBase, cell: RNNCell | GRUCell) -> RNNCell | GRUCell:
    """Our cell with the weights of torch's; `weight_hh` has the gates' rows before the candidate's."""
    layers = [cell.from_h] if cell.n_gates == 1 else [cell.gates_from_h, cell.from_h]
    for kind in ("weight", "bias"):
        getattr(cell.from_x, kind).data = getattr(theirs, f"{kind}_ih").detach().clone()
        parts = getattr(theirs, f"{kind}_hh").detach().split([len(layer.bias) for layer in layers])
        for layer, part in zip(layers, parts, strict=True):
            getattr(layer, kind).data = part.t().contiguous() if kind == "weight" else part.clone()
    return cell


def same_act(textbook: TextbookACT, ours: ACT) -> None:
    """Give our ACT the weights of the textbook's."""
    with_weights_of(textbook.cell, ours.cell)
    ours.output.load_state_dict(textbook.answer.state_dict())
    ours.halting.load_state_dict(textbook.halt.state_dict())


class LikeMNIST(MNIST):
    """torchvision's data set, image by image through PIL, on images that need not be fetched."""

    def __init__(self, x: Tensor, y: Tensor, transform: Callable) -> None:
        VisionDataset.__init__(self, root="", transform=transform)
        self.data, self.targets = x[:, 0], y


def image_loader(x: Tensor, y: Tensor) -> DataLoader:
    """Rotated digits as the notebook of the write-ups loads them."""
    turn = transforms.Compose(
        [transforms.RandomRotation(22.5), transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
    )
    return DataLoader(LikeMNIST(x, y, turn), batch_size=128, shuffle=True)


def products_alone(n_elements: int, n_hidden: int, n_gates: int, max_steps: int = 20, batch: int = 128) -> Callable:
    """The matrix products of one training iteration, forward and backward as autograd does them, and nothing else."""
    x, h = torch.randn(batch, n_elements), torch.randn(batch, n_hidden)
    h_all, answers = torch.randn(max_steps * batch, n_hidden), torch.randn(max_steps * batch, 2)
    gates = [torch.randn(batch, n_hidden * n) for n in ((1,) if n_gates == 1 else (2, 1))]
    from_h = [torch.randn(n_hidden, gate.shape[1]) for gate in gates]
    from_x, heads = torch.randn(n_elements, n_hidden * n_gates), torch.randn(n_hidden, 2)
    grad_z = torch.randn(batch, n_hidden * n_gates)

    def products() -> None:
        x @ from_x, x.t() @ grad_z
        h_all @ heads, answers @ heads.t(), h_all.t() @ answers
        for _ in range(max_steps):
            for weight, gate in zip(from_h, gates, strict=True):
                h @ weight, gate @ weight.t(), h.t() @ gate  # the step, and the gradients of h and of the weights

    return products
