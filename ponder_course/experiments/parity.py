"""Parity of a whole vector: networks that ponder, ACT and fixed depths, and how their steps depend on the input."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ponder_utils.act import ACT
from ponder_utils.cells import RNNCell
from ponder_utils.evaluation import Score, binary_correct, evaluate, modes_kept
from ponder_course import results
from ponder_course.results import rounded
from ponder_utils.halting import expected_steps
from ponder_utils.losses import ACTLoss, LossTerms, PonderLoss
from ponder_utils.pondernet import PonderNet, PonderOutput
from ponder_utils.steps import RNNStep
from ponder_utils.supervision import FixedDepthLoss
from ponder_utils.tasks import ParityTask
from ponder_utils.training import cool_down, train
from ponder_utils.training.many import train_many

Setting = dict[str, Any]
Draw = Callable[[torch.Generator], tuple[Tensor, Tensor]]  # a batch of inputs and targets
BETA, GRID = 0.01, {"lr": 7e-3, "clip": 0.1, "N": 20}
SIZES: dict[str, Setting] = {
    "small": {"elements": 6, "k_max": 6, "hidden": 64, "batch": 64, "updates": 1000},
    "large": {"elements": 8, "k_max": 8, "hidden": 128, "batch": 128, "updates": 2000},
}
FORMS = ("log space", "log space, reversed", "textbook")
LAMBDA_PS = (0.1, 0.3, 0.5, 0.7, 0.9)
FAR: Setting = GRID | {"elements": 12, "k_max": 8, "hidden": 128, "batch": 128, "updates": 5000}  # tested beyond k = 8
TAU = 1e-4  # ACT's time penalty, at which the runs of lesson 01 learn


def cross_entropy(y_hat: Tensor, y: Tensor) -> Tensor:
    """Of the logits, one loss for each sample."""
    return binary_cross_entropy_with_logits(y_hat, y, reduction="none")


def textbook_p(halt_logits: Tensor) -> Tensor:
    """p_n as a product, out of log space: where a factor rounds to 0, so do all later p_n. [N, batch] -> [N, batch]."""
    lambda_n = halt_logits.sigmoid()
    survival = (1 - lambda_n[:-1]).cumprod(0)  # after steps 1 to N - 1
    return torch.cat([lambda_n[:1], lambda_n[1:-1] * survival[:-1], survival[-1:]])


class TextbookLoss(nn.Module):
    """The loss as known implementations have it: `textbook_p`, and `kl_div(p.log(), p_G)`, which is KL(p_G || p).

    The prior is cut off at N and does not sum to 1.
    """

    p_G: Tensor  # [N]

    def __init__(self, lambda_p: float, max_steps: int) -> None:
        super().__init__()
        self.register_buffer("p_G", lambda_p * (1 - lambda_p) ** torch.arange(max_steps))

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch] -> three scalars."""
        p, p_G = textbook_p(output.halt_logits), self.p_G[:, None]
        reconstruction = (p * cross_entropy(output.y_hat, y.expand_as(output.y_hat))).sum(0).mean()
        divergence = (p_G * (p_G.log() - p.log())).sum(0).mean()
        return LossTerms(reconstruction + BETA * divergence, reconstruction, divergence)


LOSSES: dict[str, Callable[[float, int], nn.Module]] = {  # (lambda_p, N) -> loss
    "log space": lambda lambda_p, N: PonderLoss(cross_entropy, lambda_p, N, BETA),
    "log space, reversed": lambda lambda_p, N: PonderLoss(cross_entropy, lambda_p, N, BETA, direction="p_G||p"),
    "textbook": TextbookLoss,
    "last step": lambda _, N: FixedDepthLoss(cross_entropy, every_step=False),
    "every step": lambda _, N: FixedDepthLoss(cross_entropy, every_step=True),
}
FIXED = ("last step", "every step")  # those that answer after N steps, whatever the input


def act(elements: int, hidden: int, N: int) -> ACT:
    """ACT around the tanh cell of the papers, for vectors of so many elements."""
    return ACT(RNNCell(elements + 1, hidden), max_updates=N)


def one_time_step(draw: Draw) -> Draw:
    """The same batches as ACT wants them, as sequences of one time step: [1, batch, elements], [1, batch]."""

    def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        x, y = draw(generator)
        return x[None], y[None]

    return batch


def right(y_hat: Tensor, y: Tensor) -> float:
    """The share of right answers."""
    return binary_correct(y_hat, y).float().mean().item()


def probes(elements: int) -> list[tuple[Tensor, Tensor]]:
    """A thousand inputs with exactly k non-zero elements for each k (every few k if there are many), and targets."""
    generator = torch.Generator().manual_seed(12)
    return [ParityTask(elements, k, k).batch(1000, generator) for k in tested_k(elements)]


def tested_k(elements: int) -> list[int]:
    """The numbers of non-zero elements that are tested."""
    return list(range(1, elements + 1, max(1, elements // 16)))


def measure(model: PonderNet, elements: int, fixed: bool = False) -> dict[str, list[float]]:
    """Accuracy and expected steps for each k, halting sampled (exactly); or, `fixed`, of the last step's answer."""
    return by_k([told(evaluate(model, x, y), fixed) for x, y in probes(elements)])


def told(score: Score, fixed: bool) -> tuple[float, float]:
    """Accuracy and expected steps, as for `measure`."""
    return (score.accuracy_by_step[-1], float(len(score.p))) if fixed else (score.accuracy, score.steps)


def told_of_act(model: ACT, x: Tensor, y: Tensor) -> tuple[float, float]:
    """Accuracy and updates made, N(t). x: [1, batch, elements], y: [1, batch]."""
    output = model.predict(x)
    return right(output.y_hat, y), output.n_updates.float().mean().item()


def by_k(pairs: Sequence[tuple[float, float]]) -> dict[str, list[float]]:
    """Accuracy and steps, one of each for every k."""
    accuracy, steps = map(list, zip(*pairs, strict=True))
    return {"accuracy": accuracy, "steps": steps}


@torch.no_grad()
def about_ones(model: PonderNet, elements: int) -> dict[str, Any]:
    """What the expected steps hang on, over 20,000 inputs whose k is drawn uniformly.

    "by_ones": [elements + 1] their mean where so many elements are +1. "explained": the share of their variance that is
    between inputs of different k, and that between inputs of different numbers of +1.
    """
    x, _ = ParityTask(elements).batch(20_000, torch.Generator().manual_seed(14))
    steps = torch.cat([expected_steps(model(some).log_p) for some in x.split(2000)]).double()
    k, ones = x.abs().sum(1).long(), (x == 1).sum(1)
    return {
        "by_ones": _means(steps, ones).tolist(),
        "explained": {"k": _between(steps, k), "ones": _between(steps, ones)},
    }


def _means(values: Tensor, groups: Tensor) -> Tensor:
    """The mean over each group 0, 1, ...; nan where it is empty."""
    return torch.bincount(groups, values) / torch.bincount(groups)


def _between(values: Tensor, groups: Tensor) -> float:
    """The share of the variance that is between groups; 0 if there is no variance."""
    whole = values.var(correction=0)
    return (_means(values, groups)[groups].var(correction=0) / whole).item() if whole else 0.0


def run(settings: list[Setting], ones: bool = False, checkpoint_dir: str | None = None) -> list[dict[str, Any]]:
    """Train networks that differ in nothing but lambda_p and seed, all at once, and `measure` each.

    A setting names a loss of `LOSSES`; "stopped" is the update at which a number was not finite, or 0. ones: tell
    `about_ones`, too.
    """
    its, models, loss_fns = settings[0], [], []
    task, updates = ParityTask(its["elements"], 1, its["k_max"]), its["updates"]
    for setting in settings:
        torch.manual_seed(setting["seed"])
        models.append(PonderNet(RNNStep(its["elements"], its["hidden"]), its["N"]))
        loss_fns.append(LOSSES[its["loss"]](setting["lambda_p"], its["N"]))
    table = train_many(
        models, loss_fns, lambda g: task.batch(its["batch"], g), updates, lr=its["lr"], clip=its["clip"],
        seeds=[setting["seed"] for setting in settings], schedule=cool_down(updates),
        log_every=max(1, updates // 20), checkpoint_dir=checkpoint_dir, progress=False,
    )  # fmt: skip
    stopped = {row["network"]: row["update"] for row in table if row["stopped"]}
    fixed = its["loss"] in FIXED
    return [
        {"stopped": stopped.get(i, 0), **measure(model, its["elements"], fixed)}
        | (about_ones(model, its["elements"]) if ones else {})
        for i, model in enumerate(models)
    ]


def run_at_the_border(
    loss: str, elements: int, k_max: int, hidden: int, batch: int, updates: int, N: int, lr: float, clip: float,
    seed: int, tau: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """Train one network, ACT or one of a fixed depth, and measure it for each k.

    by_step: [k, N] right if every input stopped at step n; not of ACT.
    """
    torch.manual_seed(seed)
    task = ParityTask(elements, 1, k_max)
    options: dict[str, Any] = {"lr": lr, "clip": clip, "seed": seed, "schedule": cool_down(updates), "progress": False}
    draw = partial(task.batch, batch)
    if loss == "ACT":
        network = act(elements, hidden, N)
        train(network, ACTLoss(cross_entropy, tau), one_time_step(draw), updates, **options)
        return rounded(measure_act(network, elements))
    model = PonderNet(RNNStep(elements, hidden), N)
    train(model, LOSSES[loss](0.2, N), draw, updates, **options)
    scores = [evaluate(model, x, y) for x, y in probes(elements)]
    found = by_k([told(score, loss in FIXED) for score in scores])
    return rounded({**found, "by_step": [score.accuracy_by_step for score in scores]})


def measure_act(model: ACT, elements: int) -> dict[str, list[float]]:
    """Accuracy and updates made, N(t), for each k, on a single time step."""
    with modes_kept(model):
        model.eval()
        return by_k([told_of_act(model, x[None], y[None]) for x, y in probes(elements)])


def settings(experiment: str) -> list[Setting]:
    """The settings of an experiment of `RUNS`, seed by seed."""
    return [setting | {"seed": seed} for setting, seeds in _changes(experiment) for seed in seeds]


def _changes(experiment: str) -> list[tuple[Setting, range]]:
    """What the networks of an experiment differ in, and their seeds."""
    ten = range(10)
    if experiment == "prior":
        grid = product(SIZES.values(), LAMBDA_PS, FORMS)
        return [(GRID | size | {"lambda_p": lambda_p, "loss": loss}, ten) for size, lambda_p, loss in grid]
    if experiment == "again":  # one setting of that grid, with other seeds
        return [(GRID | SIZES["large"] | {"lambda_p": 0.3, "loss": "log space, reversed"}, range(10, 30))]
    if experiment == "ones":  # two settings of that grid, with the same seeds
        forms = [(form, lambda_p) for form in FORMS[:2] for lambda_p in (0.1, 0.3)]
        return [(GRID | SIZES["large"] | {"lambda_p": lambda_p, "loss": form}, ten) for form, lambda_p in forms]
    if experiment == "beyond":
        kinds: list[Setting] = [{"loss": "log space"}, {"loss": "last step", "N": 4}, {"loss": "last step"}]
        return [(FAR | {"lambda_p": 0.2} | kind, ten) for kind in kinds]
    if experiment == "border":
        return [(FAR | kind, ten) for kind in ({"loss": "ACT", "tau": TAU}, {"loss": "every step"})]
    raise ValueError(f"experiment must be one of {', '.join(RUNS)}; got {experiment!r}")


RUNS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {  # and how `run_grid` calls it
    "prior": (run, {"together": ["lambda_p", "seed"], "checkpointed": True}),
    "again": (run, {"together": ["lambda_p", "seed"], "checkpointed": True}),
    "ones": (partial(run, ones=True), {"together": ["lambda_p", "seed"], "checkpointed": True}),
    "beyond": (run, {"together": ["lambda_p", "seed"], "checkpointed": True}),
    "border": (run_at_the_border, {}),
}


def runs_of(experiment: str, mode: str, folder: str | Path, workers: int) -> list[dict[str, Any]]:
    """The runs of an experiment: those "stored" in a folder, one for each kind of network that is only a "smoke" test,
    or all of its "class", of which those that the folder lacks are made and stored there.
    """
    file, wanted = Path(folder, f"03_parity_{experiment}_class.jsonl"), settings(experiment)
    kinds = {(its["loss"], its["N"]): its for its in reversed(wanted)}
    short = [its | {"updates": 10} for its in kinds.values()]
    call, options = RUNS[experiment]
    return results.runs_of(mode, call, wanted, short, file, workers=workers, name=experiment, **options)


def learnt(row: dict[str, Any], least: float = 0.99) -> bool:
    """Did this run finish, and is it right that often in the mean over the k that it was trained on?"""
    trained = [
        accuracy for k, accuracy in zip(tested_k(row["elements"]), row["accuracy"], strict=True) if k <= row["k_max"]
    ]
    return not row.get("stopped") and mean(trained) >= least


def parted(rows: Sequence[Setting], least: float = 0.99) -> tuple[list[Setting], list[Setting]]:
    """The runs that have learnt, and the others."""
    return [row for row in rows if learnt(row, least)], [row for row in rows if not learnt(row, least)]


def rises(rows: Sequence[Setting]) -> tuple[list[float], int, int]:
    """The `rise` of each run that learnt; and how many did not though they finished, and how many crashed."""
    fine, failed = parted(rows)
    crashed = sum(bool(row.get("stopped")) for row in failed)
    return [rise(row) for row in fine], len(failed) - crashed, crashed


def rise(row: dict[str, Any], last: int | None = None, first: int = 1) -> float:
    """Steps at k = last (the largest there is) less those at k = first."""
    ks = tested_k(row["elements"])
    return row["steps"][-1 if last is None else ks.index(last)] - row["steps"][ks.index(first)]
