"""A network that is right and hardly adapts: what `diagnose` says of it, and what a higher price changes.

From a node of a small graph follow the pointers, over 0 to 6 hops, to a node that points to itself, and name its
colour. Where that node is marked, no pointer need be followed, and the need does not vary. See docs/tuning.md.

    python -m examples.tune
"""

import copy

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from ponder_utils import Heads, PonderLoss, PonderNet, Step, cool_down, diagnose, train

N_NODES, N_COLOURS, MOST_HOPS = 12, 6, 6
N_FEATURES = 2 * N_NODES + N_COLOURS + 1
Inputs = tuple[Tensor, Tensor, Tensor]


def graphs(batch_size: int, generator: torch.Generator, marked: bool = False) -> tuple[Inputs, Tensor, Tensor]:
    """Draw graphs of 4 to 12 nodes, the colour at the end of the path, and the number of hops to it [batch].

    x: nodes [batch, 12, features], of which each has its name, the name it points to, its colour, and a mark; the name
    of the first [batch]; and which nodes there are, bool [batch, 12]. Half of the nodes beside the path point to
    themselves, as its last node does. marked: whether that has a mark.
    """
    n_nodes = torch.randint(4, N_NODES + 1, (batch_size, 1), generator=generator)
    hops = torch.randint(MOST_HOPS + 1, (batch_size, 1), generator=generator).minimum(n_nodes - 1)
    place = torch.arange(N_NODES).expand(batch_size, -1)  # the path is 0, 1, ..., hops
    elsewhere = (place + 1 + (torch.rand(place.shape, generator=generator) * (n_nodes - 1)).long()) % n_nodes
    is_end = (place == hops) | ((place > hops) & (torch.rand(place.shape, generator=generator) < 0.5))
    target = torch.where(is_end, place, torch.where(place < hops, place + 1, elsewhere))
    names = torch.rand(place.shape, generator=generator).argsort(1)
    colours = torch.randint(N_COLOURS, place.shape, generator=generator)
    features = [one_hot(names, N_NODES), one_hot(names.gather(1, target), N_NODES), one_hot(colours, N_COLOURS)]
    nodes = torch.cat([*features, (place == hops)[:, :, None] & marked], dim=2).float()
    return (nodes, names[:, 0], place < n_nodes), colours.gather(1, hops)[:, 0], hops[:, 0]


class Reader(Step):
    """A GRU that in each step reads from all nodes by attention."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.first = nn.Embedding(N_NODES, size)
        self.key = nn.Linear(N_FEATURES, size)
        self.value = nn.Linear(N_FEATURES, size)
        self.query = nn.Linear(size, size)
        self.cell = nn.GRUCell(size, size)
        self.heads = Heads(size, N_COLOURS)

    def encode(self, x: Inputs) -> tuple[Inputs, Tensor]:
        """Return keys and values of the nodes, and which there are; and a first state that knows the first name."""
        nodes, name, is_there = x
        return (self.key(nodes), self.value(nodes), is_there), self.first(name)

    def move(self, z: Inputs, h: Tensor) -> Tensor:
        """Return the next state [batch, size]."""
        keys, values, is_there = z
        match = (keys @ self.query(h)[:, :, None]).squeeze(2).masked_fill(~is_there, -torch.inf)
        return self.cell((match.softmax(1)[:, None] @ values).squeeze(1), h)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, colours] and a_n [batch]."""
        return self.heads(h)


def show(title: str, model: PonderNet, loss: PonderLoss, marked: bool = False) -> list[float]:
    """Print the diagnosis on 2,000 other graphs, and what two rules do there; return mean steps by hops."""
    x, y, hops = graphs(2000, torch.Generator().manual_seed(1), marked)
    print(f"\n{title}\n{diagnose(model, [(x, y)], loss)}")
    for rule, q in (("threshold", 0.2), ("quantile", 0.5)):
        prediction = model.eval().predict(x, rule, q=q)
        right = (prediction.y_hat.argmax(1) == y).float().mean()
        steps = [prediction.steps[hops == n].float().mean().item() for n in range(MOST_HOPS + 1)]
        print(f"{rule}, q={q}: right on {right:.1%}; steps for 0 to 6 hops", " ".join(f"{n:.1f}" for n in steps))
    return steps


def main(n_updates: int = 500, seed: int = 0) -> float:
    """Train at a low price; go on at this price and at a higher one; return how many steps 6 hops take more than 0."""
    criterion = nn.CrossEntropyLoss(reduction="none")
    low, high = PonderLoss(criterion, prior=0.25, beta=0.01), PonderLoss(criterion, prior=0.5, beta=0.1)

    def fit(model: PonderNet, loss: PonderLoss, lr: float, marked: bool = False) -> None:
        def draw(generator: torch.Generator) -> tuple[Inputs, Tensor]:
            return graphs(128, generator, marked)[:2]

        train(model, loss, draw, n_updates, lr=lr, clip=1.0, seed=seed, schedule=cool_down(n_updates), progress=False)

    torch.manual_seed(seed)
    model = PonderNet(Reader(64), max_steps=10)
    other = copy.deepcopy(model)
    fit(model, low, 3e-3)
    show("beta = 0.01, lambda_p = 0.25", model, low)
    control = copy.deepcopy(model)
    fit(control, low, 1e-3)
    show("trained once more, as before", control, low)
    fit(model, high, 1e-3)
    steps = show("or trained once more with beta = 0.1, lambda_p = 0.5", model, high)
    fit(other, low, 3e-3, marked=True)
    show("beta = 0.01, lambda_p = 0.25, where the end is marked", other, low, marked=True)
    return steps[-1] - steps[0]


if __name__ == "__main__":
    torch.set_num_threads(1)  # faster, for a network this small
    main()
