"""A known presentation of ACT, trained again with its own settings and scored on every input that it can draw."""

from functools import partial

import torch
from torch import Tensor, nn

from ponder_course.common.parity import cross_entropy, one_time_step, score
from ponder_course.common.store import Row
from ponder_evidence.runs import Experiment
from ponder_utils.act import ACT
from ponder_utils.evaluation import binary_correct
from ponder_utils.losses import ACTLoss
from ponder_utils.training import train


def front(size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw the presentation's inputs: 1 to 7 non-zero elements of 8, which stand in front. [size, 8], [size]."""
    k = torch.randint(1, 8, (size, 1), generator=generator)
    x = (torch.randint(0, 2, (size, 8), generator=generator) * 2 - 1) * (torch.arange(8) < k)
    return x.float(), odd(x)


def odd(x: Tensor) -> Tensor:
    """Return 1 where the number of +1s is odd, else 0: [batch, elements] -> [batch]."""
    return (x == 1).sum(1).remainder(2).float()


def every_front() -> Tensor:
    """Return all inputs that `front` can draw, once each: [254, 8]."""
    fronts = [torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * k).view(-1, k) for k in range(1, 8)]
    return torch.cat([nn.functional.pad(x, (0, 8 - x.shape[1])) for x in fronts])


def run(epochs: int, seed: int) -> Row:
    """Train as the presentation does; score on all inputs every second epoch, and at last on 1,000 sets of 16.

    Return "accuracy" and "steps" [points]; "sixteens" [17], on how many sets 0, 1, ..., 16 were right.
    """
    torch.manual_seed(seed)
    model, everything = ACT(nn.RNNCell(8 + 1, 16), max_steps=100), every_front()
    rows = train(
        model,
        ACTLoss(cross_entropy, 1e-4),
        partial(one_time_step, partial(front, 2)),
        80 * epochs,
        lr=1e-3,
        clip=1e6,
        seed=seed,
        evaluate=partial(score, x=everything, y=odd(everything)),
        log_every=160,
        progress=False,
    )
    x, y = front(16 * 1000, torch.Generator().manual_seed(0))
    with torch.no_grad():
        scores = binary_correct(model(x[None]).y_hat[0], y).view(1000, 16).sum(1)
    logged = {name: [row[name] for row in rows] for name in ("accuracy", "steps")}
    return logged | {"sixteens": torch.bincount(scores, minlength=17).tolist()}


SETTINGS: list[Row] = [{"epochs": 120, "seed": seed} for seed in range(10)]
EXPERIMENTS = {"presentation": Experiment("01_act_presentation_class", run, SETTINGS, [{"epochs": 6, "seed": 0}])}
