"""A known presentation of ACT, trained again with its own settings and scored on every input that it can draw."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils.act import ACT
from ponder_utils.evaluation import binary_correct
from ponder_course.experiments.parity import cross_entropy, one_time_step, right
from ponder_utils.losses import ACTLoss
from ponder_utils.training import train


def front(size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The presentation's inputs: 1 to 7 non-zero elements of 8, which stand in front. [size, 8], [size]."""
    k = torch.randint(1, 8, (size, 1), generator=generator)
    x = (torch.randint(0, 2, (size, 8), generator=generator) * 2 - 1) * (torch.arange(8) < k)
    return x.float(), odd(x)


def odd(x: Tensor) -> Tensor:
    """Is the number of +1s odd? [batch, elements] -> [batch]."""
    return (x == 1).sum(1).remainder(2).float()


def every_front() -> Tensor:
    """All inputs that `front` can draw, once each: [254, 8]."""
    signs = [torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * k).view(-1, k) for k in range(1, 8)]
    return torch.cat([nn.functional.pad(its, (0, 8 - its.shape[1])) for its in signs])


def run(epochs: int, seed: int) -> dict[str, list[Any]]:
    """A known presentation's training, scored every second epoch on all inputs, and at last on 1,000 sets of 16.

    Result: "accuracy" and "n_updates" [points]; "sixteens" [17], on how many sets 0, 1, ..., 16 were right.
    """
    torch.manual_seed(seed)
    model, everything = ACT(nn.RNNCell(8 + 1, 16), max_updates=100), every_front()
    loss = ACTLoss(cross_entropy, 1e-4, "accumulated")

    @torch.no_grad()
    def score(model: nn.Module) -> dict[str, float]:
        output = model(everything[None])
        return {"right": right(output.y_hat[0], odd(everything)), "thinks": output.n_updates.float().mean().item()}

    rows = train(model, loss, one_time_step(partial(front, 2)), 80 * epochs, lr=1e-3, clip=1e6,
                 seed=seed, evaluate=score, monitor="right", log_every=160, progress=False)  # fmt: skip
    x, y = front(16 * 1000, torch.Generator().manual_seed(0))
    with torch.no_grad():
        scores = binary_correct(model(x[None]).y_hat[0], y).view(1000, 16).sum(1)
    return {"accuracy": [row["right"] for row in rows], "n_updates": [row["thinks"] for row in rows],
            "sixteens": torch.bincount(scores, minlength=17).tolist()}  # fmt: skip
