"""How the stored runs of lesson 03 were made: networks that ponder, ACT and fixed depths, on parity."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from ponder_course.common.measures import mean
from ponder_course.common.parity import Draw, act, cross_entropy, inputs_by_k, measure, one_time_step, tested_k
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_course.parity.experiment import has_learnt
from ponder_evidence.runs import Experiment, grid
from ponder_utils.evaluation import evaluate
from ponder_utils.halting import PonderOutput, expected_steps
from ponder_utils.losses import ACTLoss, FixedDepthLoss, LossTerms, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import RNNStep
from ponder_utils.tasks import ParityTask
from ponder_utils.training import NonFiniteError

FORMS = ("log space", "log space, reversed", "textbook")  # of PonderNet's loss
LAMBDA_PS = (0.1, 0.3, 0.5, 0.7, 0.9)
BETA = 0.01
TAU = 1e-4  # ACT's time penalty, at which the runs of lesson 01 learn
RECIPE: Row = {"lr": 7e-3, "clip": 0.1, "N": 20}
SIZES: dict[str, Row] = {
    "small": {"elements": 6, "k_max": 6, "hidden": 64, "batch": 64, "updates": 1000},
    "large": {"elements": 8, "k_max": 8, "hidden": 128, "batch": 128, "updates": 2000},
}
FAR: Row = RECIPE | {"elements": 12, "k_max": 8, "hidden": 128, "batch": 128, "updates": 5000}  # tested beyond k = 8


def textbook_p(halt_logits: Tensor) -> Tensor:
    """Return p_n as a product of probabilities: where a factor rounds to 0, so do all later p_n. [N, batch] twice."""
    lambda_n = halt_logits.sigmoid()
    survival = (1 - lambda_n[:-1]).cumprod(0)  # after steps 1 to N - 1
    return torch.cat([lambda_n[:1], lambda_n[1:-1] * survival[:-1], survival[-1:]])


def textbook_loss(output: PonderOutput, y: Tensor, lambda_p: float) -> LossTerms:
    """Return the loss of known implementations: `textbook_p`, and `kl_div(p.log(), p_G)`, which is KL(p_G || p).

    The prior is cut off at N and does not sum to 1. y: [batch].
    """
    p = textbook_p(output.halt_logits)  # [N, batch]
    n = torch.arange(1, len(p) + 1, device=p.device)
    p_G = (lambda_p * (1 - lambda_p) ** (n - 1))[:, None]
    reconstruction = (p * cross_entropy(output.y_hat, y.expand_as(output.y_hat))).sum(0).mean()
    divergence = (p_G * (p_G.log() - p.log())).sum(0).mean()
    return LossTerms(reconstruction + BETA * divergence, reconstruction, divergence)


FIXED = ("last step", "every step")  # losses of networks that answer after N steps, whatever the input
LOSSES: dict[str, Callable[[Any], Callable[[Any, Tensor], Any]]] = {  # lambda_p, or ACT's tau -> loss
    "log space": lambda lambda_p: PonderLoss(cross_entropy, lambda_p, BETA),
    "log space, reversed": lambda lambda_p: PonderLoss(cross_entropy, lambda_p, BETA, direction="p_G||p"),
    "textbook": lambda lambda_p: partial(textbook_loss, lambda_p=lambda_p),
    "last step": lambda _: FixedDepthLoss(cross_entropy, every_step=False),
    "every step": lambda _: FixedDepthLoss(cross_entropy, every_step=True),
    "ACT": lambda tau: ACTLoss(cross_entropy, tau),
}


def run(checkpoint_dir: str | None = None, more: Callable[[Any, int], Row] | None = None, **setting: Any) -> Row:
    """Train on k = 1 to k_max of the elements and `measure` at each of `tested_k`.

    The setting has "loss", a name of `LOSSES`, with its lambda_p or tau; the names of `FAR`; and a seed.
    more: network, elements -> what else is measured. "stopped": the update at which a number was not finite, or 0.
    """
    torch.manual_seed(setting["seed"])
    loss, elements, stopped = setting["loss"], setting["elements"], 0
    batches: Draw = partial(ParityTask(elements, 1, setting["k_max"]).batch, setting["batch"])
    model: nn.Module
    if loss == "ACT":
        model, batches = act(elements, setting["hidden"], setting["N"]), partial(one_time_step, batches)
    else:
        model = PonderNet(RNNStep(elements, setting["hidden"]), setting["N"])
    loss_fn = LOSSES[loss](setting.get("tau" if loss == "ACT" else "lambda_p"))
    options = {name: setting[name] for name in ("lr", "clip", "seed")}
    try:
        fit(model, loss_fn, batches, setting["updates"], checkpoint_dir=checkpoint_dir, config=setting, **options)
    except NonFiniteError as error:
        stopped = error.update
    result = {"stopped": stopped, **measure(model, inputs_by_k(elements), loss in FIXED)}
    return result | (more(model, elements) if more else {})


@torch.no_grad()
def steps_by_ones(model: PonderNet, elements: int) -> Row:
    """Return what the expected steps depend on, over 20,000 inputs whose k is drawn uniformly.

    "by_ones": [elements + 1], the mean steps where so many elements are +1. "explained": the fraction of the variance
    of the steps that is between inputs of different "k", and that between inputs with different numbers of "ones".
    """
    x, _ = ParityTask(elements).batch(20_000, torch.Generator().manual_seed(14))
    steps = torch.cat([expected_steps(model(part).log_p) for part in x.split(2000)]).double()
    table = pd.DataFrame({"steps": steps, "k": x.abs().sum(1), "ones": (x == 1).sum(1)})
    variance = table["steps"].var(ddof=0)
    explained = {}
    for count in ("k", "ones"):
        group_mean = table.groupby(count)["steps"].transform("mean")
        explained[count] = group_mean.var(ddof=0) / variance if variance else 0.0
    by_ones = table.groupby("ones")["steps"].mean().reindex(range(elements + 1))
    return {"by_ones": by_ones.tolist(), "explained": explained}


@torch.no_grad()
def map_of_answers(model: PonderNet, x: Tensor, y: Tensor) -> tuple[list[int], list[list[int]]]:
    """Return the most probable steps of inputs, [batch], in their order, and 1 where an input is right, [batch, N]."""
    output = model(x)
    steps, order = (output.log_p.argmax(0) + 1).sort(stable=True)
    right = (output.y_hat > 0) == (y > 0.5)  # [N, batch]
    return steps.tolist(), right.T[order].int().tolist()


def by_step(model: nn.Module, elements: int) -> Row:
    """Return, but for ACT, "by_step" [k, N], the accuracy if all stopped at step n."""
    if not isinstance(model, PonderNet):
        return {}
    return {"by_step": [evaluate(model, x, y).accuracy_by_step for x, y in inputs_by_k(elements)]}


def run_at_the_border(checkpoint_dir: str | None = None, **setting: Any) -> Row:
    """Return what `run` does and `by_step`, to 4 places."""
    return rounded(run(checkpoint_dir, by_step, **setting))


def run_with_map(checkpoint_dir: str | None = None, **setting: Any) -> Row:
    """Return what `run_at_the_border` does, and of 200 inputs with any k the `map_of_answers`, "odd" and "likeliest".

    These are the targets, in the map's order, and the largest p_n of an input, on average.
    """

    def more(model: PonderNet, elements: int) -> Row:
        x, y = ParityTask(elements).batch(200, torch.Generator().manual_seed(15))
        halts, right = map_of_answers(model, x, y)
        with torch.no_grad():
            log_p = model(x).log_p
        likeliest = mean(log_p.exp().amax(0))
        odd = y[log_p.argmax(0).argsort(stable=True)].int().tolist()  # in the order of the map
        return by_step(model, elements) | {"halts": halts, "right_at": right, "odd": odd, "likeliest": likeliest}

    return rounded(run(checkpoint_dir, more, **setting))


def _grid(name: str, call: Callable[..., Row], settings: list[Row], seeds: Iterable[int] = range(10)) -> Experiment:
    wanted = seeded(settings, seeds)
    return grid(f"03_parity_{name}_class", call, wanted, {"updates": 10}, n_short=3, checkpointed=True)


GRID = [
    RECIPE | size | {"lambda_p": lambda_p, "loss": form}
    for size, lambda_p, form in product(SIZES.values(), LAMBDA_PS, FORMS)
]
LARGE = [setting for setting in GRID if setting["elements"] == 8 and setting["loss"] != "textbook"]
AGAIN = [setting for setting in LARGE if setting["lambda_p"] == 0.3 and setting["loss"] == "log space, reversed"]
# "odd" came later: the stored run of seed 10 has it from its network, that of lesson 03's live figure; a test compares.
SETTING_OF_MAP = RECIPE | SIZES["large"] | {"lambda_p": 0.1, "loss": "log space"}
BEYOND: list[Row] = [{"loss": "log space"}, {"loss": "last step", "N": 4}, {"loss": "last step"}]
BORDER: list[Row] = [{"loss": "ACT", "tau": TAU}, {"loss": "every step"}]
EXPERIMENTS = {
    "prior": _grid("prior", run, GRID),
    "again": _grid("again", run, AGAIN, range(10, 30)),
    "ones": _grid("ones", partial(run, more=steps_by_ones), [row for row in LARGE if row["lambda_p"] < 0.5]),
    "beyond": _grid("beyond", run, [FAR | {"lambda_p": 0.2} | change for change in BEYOND]),
    "border": _grid("border", run_at_the_border, [FAR | change for change in BORDER]),
    "fixed": _grid("fixed", run_at_the_border, [row for row in LARGE if row["loss"] == "log space"]),
    "map": _grid("map", run_with_map, [SETTING_OF_MAP], range(10, 13)),
}


def rise(row: Row, last: int | None = None, first: int = 1) -> float:
    """Return the steps at k = last (None: the largest there is) less those at k = first."""
    ks = tested_k(row["elements"])
    return row["steps"][-1 if last is None else ks.index(last)] - row["steps"][ks.index(first)]


def by_seed(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each setting and seed of lesson 03: with the mean accuracy and steps of its runs that learnt.

    A setting that was run again with the same seed need not give the same network, but is no further seed either. Where
    none of the runs has learnt, the first stands for all.
    """
    repeats: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        repeats.setdefault((row["elements"], row["loss"], row["lambda_p"], row["seed"]), []).append(row)
    averaged = []
    for same in repeats.values():
        learnt = [row for row in same if has_learnt(row)] or same[:1]
        means = {name: np.mean([row[name] for row in learnt], axis=0).tolist() for name in ("accuracy", "steps")}
        averaged.append(learnt[0] | means)
    return averaged


def outcomes(rows: Sequence[Row]) -> pd.DataFrame:
    """Return a table of the runs, ordered by its first three columns: size, loss, lambda_p.

    Then come outcome: "learnt", "not learnt" or "crashed"; steps: the mean over k; rise: nan unless learnt.
    """
    sizes, table = {size["elements"]: name for name, size in SIZES.items()}, []
    for row in sorted(rows, key=lambda row: (row["elements"], FORMS.index(row["loss"]), row["lambda_p"])):
        outcome = "crashed" if row["stopped"] else "learnt" if has_learnt(row) else "not learnt"
        change = rise(row) if outcome == "learnt" else float("nan")
        table.append((sizes[row["elements"]], row["loss"], row["lambda_p"], outcome, fmean(row["steps"]), change))
    return pd.DataFrame(table, columns=["size", "loss", "lambda_p", "outcome", "steps", "rise"])
