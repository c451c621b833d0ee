"""Parity at the papers' sizes, 64 and 96 elements: who learns it, in how many steps, and who goes beyond the border."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ponder_utils.evaluation import evaluate
from ponder_course import results
from ponder_course.experiments.parity import FIXED, LOSSES, Setting, act, by_k, cross_entropy, told, told_of_act
from ponder_course.results import rounded
from ponder_utils.losses import ACTLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import RNNStep
from ponder_utils.tasks import ParityTask
from ponder_utils.training import adam, train
from ponder_utils.curriculum import Curriculum
from ponder_utils.muon import MuonAndAdam

# What all networks share: Muon, a unit for each element, a start with few non-zero elements and long thought.
RECIPE: Setting = {
    "hidden": 128, "N": 20, "batch": 256, "updates": 16_000, "lr": 7e-4, "muon": 3.0, "clip": 0.3, "gain": 6.0,
    "halting": -5.0, "first": 1, "raise_at": 0.8, "patience": 20,
}  # fmt: skip
SIZES: dict[str, Setting] = {"64": {"elements": 64, "k_max": 64}, "96": {"elements": 96, "k_max": 48}}
METHODS: dict[str, float] = {"PonderNet": 0.1, "ACT": 1e-4, "last step": 0.1, "every step": 0.1}  # and their knobs
CHANGES: dict[str, Setting] = {  # one thing of the recipe each
    "no curriculum": {"first": 64},
    "Adam alone": {"muon": None, "lr": 1.5e-3},
    "first weights of nn.Linear": {"gain": None},
    "short thought at first": {"halting": 0.0},
}
KNOBS = {"PonderNet": (0.02, 0.3, 0.5, 0.9), "ACT": (0.0, 1e-3, 1e-2)}  # beside those of METHODS
LOOK_EVERY, LOOKS, CHECKPOINT_EVERY = 50, 100, 2000  # updates; points of a curve that are kept; updates
PROBED = (8, 16, 32, 64)  # k at which accuracy and steps are taken apart


class Method(NamedTuple):
    """A network, what it learns from, and how it is judged."""

    model: nn.Module
    loss_fn: Callable[[Any, Tensor], Any]
    score: Callable[[Any, Tensor, Tensor], tuple[float, float]]  # inputs, targets -> right answers, mean steps


def method(
    name: str, knob: float, elements: int, hidden: int, N: int, gain: float | None, halting: float
) -> Method:  # fmt: skip
    """One of "PonderNet", with the knob lambda_p, "ACT", with the knob its time penalty, and those of `parity.FIXED`.

    gain: with it each element begins with a unit of its own, which reads that element alone, with this weight; None for
    the first weights of `nn.Linear`. halting: the first bias of the halting logit, with which a network begins by
    thinking for long if it is low.
    """
    model: Any
    if name == "ACT":
        model = act(elements, hidden, N)
        cell, bias = model.cell, model.halting.bias
        made = Method(model, ACTLoss(cross_entropy, knob), told_of_act)
    else:
        model = PonderNet(RNNStep(elements, hidden), N)
        loss_fn = LOSSES["log space" if name == "PonderNet" else name](knob, N)
        cell, bias = model.step.cell, model.step.heads.bias
        made = Method(model, loss_fn, lambda its, x, y: told(evaluate(its, x, y), name in FIXED))
    with torch.no_grad():
        if gain is not None:
            cell.from_x.weight[:, :elements] = gain * torch.eye(hidden, elements)
        bias[-1] = halting
    return made


@torch.no_grad()
def by_hand(elements: int, N: int = 3, sharp: float = 8.0) -> PonderNet:
    """A network, built and not trained, that answers rightly from step 2 on, whatever k: two steps are enough.

    It has two units for each element. The first sees whether that element is +1, so that step 1 leaves it near 1 or -1;
    the other, one of a row, sees at step 2 whether so many are. The answer adds every odd one and takes off every even.
    """
    model = PonderNet(RNNStep(elements, 2 * elements), N)
    for weight in model.parameters():
        weight.zero_()
    cell, heads = model.step.cell, model.step.heads  # type: ignore[attr-defined]
    count = torch.arange(1, elements + 1)
    cell.from_x.weight[:elements] = 2 * sharp * torch.eye(elements)
    cell.from_x.bias[:elements] = -sharp
    cell.from_h.weight[:elements, elements:] = sharp / 2
    cell.from_x.bias[elements:] = sharp * (elements / 2 - count + 0.5)
    heads.weight[0, elements:] = sharp / 2 * (2 * (count % 2) - 1)
    heads.bias[0] = sharp / 2 * (elements % 2 - 1)
    return model


def with_ones(elements: int, k: int, ones: int, batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Inputs with k non-zero elements, of which so many are +1, and their targets, which are all the same."""
    values = torch.tensor([1.0] * ones + [-1.0] * (k - ones) + [0.0] * (elements - k), device=generator.device)
    order = torch.rand(batch, elements, generator=generator, device=generator.device).argsort(1)
    return values[order], torch.full((batch,), float(ones % 2), device=generator.device)


def run(
    network: str, knob: float, elements: int, k_max: int, hidden: int, N: int, batch: int, updates: int, lr: float,
    muon: float | None, clip: float, gain: float | None, halting: float, first: int, raise_at: float, patience: int,
    seed: int, compiled: bool = False, checkpoint_dir: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Train a network on k = 1 to k_max of the elements, and measure it at every k. On a GPU if there is one.

    A curriculum begins with k = 1 to `first`. The learning rate falls by 0.7, down to a thirtieth, whenever the
    curriculum has stood still for `patience` judgements, of which there is one every LOOK_EVERY updates. `muon`: by how
    much larger than Adam's steps those of Muon are; None for Adam alone. `compiled` takes torch.compile, which wants a
    C++ compiler, for all but ACT, whose batches shrink.

    Result: "curve", what was seen on the way, [points] each: update; K, the level, and "accuracy" at k = 1 to K;
    "whole" and "steps", right answers and mean steps at k = 1 to k_max; lr. And at the end, for each k, [elements]:
    "accuracy" and "steps"; for each k of `PROBED`, "by_step", [N], right answers if everyone stopped at step n, not of
    ACT, and "by_ones", [k + 1] each, "accuracy" and "steps" by how many elements are +1.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(seed)
    model, loss_fn, score = method(network, knob, elements, hidden, N, gain, halting)
    model.to(device)

    def to_network(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return (x[None], y[None]) if network == "ACT" else (x, y)  # to ACT, a sequence of one time step

    def draw(lowest: int, highest: int, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        return to_network(*ParityTask(elements, lowest, highest).batch(size, generator))

    def right(_: nn.Module, x: Tensor, y: Tensor) -> float:
        return score(model, x, y)[0]

    curriculum = Curriculum(
        lambda K, generator: draw(1, K, batch, generator), right, k_max, first=first, raise_at=raise_at
    )
    whole = draw(1, k_max, 1000, torch.Generator(device).manual_seed(13))

    def look(_: nn.Module) -> dict[str, float]:
        share, steps = score(model, *whole)
        return {**curriculum.judge(model), "whole": share, "steps": steps}

    rows = train(
        torch.compile(model) if compiled and network != "ACT" else model,  # type: ignore[arg-type]
        loss_fn, curriculum, updates, lr=lr, clip=clip, seed=seed, evaluate=look, monitor="K",
        optimizer=adam if muon is None else partial(MuonAndAdam, ratio=muon), log_every=LOOK_EVERY,
        schedule=lambda o: ReduceLROnPlateau(o, "max", 0.7, patience, threshold=0, min_lr=lr / 30),
        checkpoint_dir=checkpoint_dir, checkpoint_every=CHECKPOINT_EVERY, progress=False,
    )  # fmt: skip
    kept = rows[:: -max(1, len(rows) // LOOKS)][::-1]  # the last of them for certain
    curve = {name: [row[name] for row in kept] for name in ("update", "K", "accuracy", "whole", "steps", "lr")}
    generator = torch.Generator(device).manual_seed(12)
    by_each_k = by_k([score(model, *draw(k, k, 500, generator)) for k in range(1, elements + 1)])
    probed = [k for k in PROBED if k <= elements]
    by_step = (
        [evaluate(model, *draw(k, k, 1000, generator)).accuracy_by_step for k in probed]
        if isinstance(model, PonderNet)
        else []
    )
    by_ones = [
        by_k([score(model, *to_network(*with_ones(elements, k, ones, 100, generator))) for ones in range(k + 1)])
        for k in probed
    ]
    return rounded({"curve": curve, **by_each_k, "by_step": by_step, "by_ones": by_ones})


def settings(experiment: str) -> list[Setting]:
    """What an experiment consists of.

    "64" and "96", the sizes: five seeds of each of METHODS, first one network of each, then the next seed of all; and
    at 64 three more of PonderNet, so that five at least have learnt.
    "recipe": at 64 elements, each of CHANGES alone, three seeds of PonderNet; and without a curriculum one
    network of each other method. "knobs": at 64 elements, two seeds of each of KNOBS, of PonderNet and of ACT; at 96
    five of PonderNet at the smallest lambda_p, which leaves it all its steps.
    ValueError if there is no such experiment.
    """
    if experiment in SIZES:
        more = [_setting("64", "PonderNet", seed) for seed in range(5, 8)] if experiment == "64" else []
        return [_setting(experiment, network, seed) for seed in range(5) for network in METHODS] + more
    if experiment == "recipe":
        changed = [_setting("64", "PonderNet", seed, change) for seed in range(3) for change in CHANGES.values()]
        others = [name for name in METHODS if name != "PonderNet"]
        return changed + [_setting("64", name, 0, CHANGES["no curriculum"]) for name in others]
    if experiment == "knobs":
        pairs = [(network, knob) for network, knobs in KNOBS.items() for knob in knobs]
        slow = [_setting("96", "PonderNet", seed, {"knob": KNOBS["PonderNet"][0]}) for seed in range(5)]
        return [_setting("64", network, seed, {"knob": knob}) for seed in range(2) for network, knob in pairs] + slow
    raise ValueError(f"experiment must be one of {', '.join([*SIZES, 'recipe', 'knobs'])}; got {experiment!r}")


def _setting(size: str, network: str, seed: int, change: Setting | None = None) -> Setting:
    return RECIPE | SIZES[size] | {"network": network, "knob": METHODS[network], "seed": seed} | (change or {})


def within(row: dict[str, Any]) -> float:
    """The share of right answers over the k that a run was trained on."""
    return mean(row["accuracy"][: row["k_max"]])


def beyond(row: dict[str, Any]) -> float:
    """And over the larger k."""
    return mean(row["accuracy"][row["k_max"] :])


def by_pace(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs, from those of the fewest steps at k = 16 to those of the most."""
    return sorted(rows, key=lambda row: row["steps"][15])


def clock(row: dict[str, Any]) -> tuple[float, float]:
    """By how much steps differ at k = 16 and 32 with as many +1s, up to 12; and at k = 32 with 2 and with 12 of them.

    Of a clock, whose time is the count, the first is small and the second large.
    """
    at_16, at_32 = (its["steps"] for its in row["by_ones"][1:3])
    return mean(abs(a - b) for a, b in zip(at_16[:13], at_32[:13], strict=True)), abs(at_32[2] - at_32[12])


def extremes(rows: Sequence[dict[str, Any]]) -> dict[str, dict[int, tuple[list[float], list[float]]]]:
    """{title: {k: (steps, accuracy)}} where 0, 1, 2, ... elements are +1, for the first three k of `PROBED`.

    Of the ACT that halts earliest, and of the PonderNets that halt earliest and latest. The title says which share is
    right over all k.
    """
    told = {}
    for network, ends in (("ACT", ("earliest",)), ("PonderNet", ("earliest", "latest"))):
        paces = by_pace(results.chosen(rows, network=network))
        for end, row in zip(ends, (paces[0], paces[-1]) if paces else (), strict=False):
            its = zip(PROBED[:3], row["by_ones"], strict=False)
            told[f"{network}, the {end}\n{within(row):.0%} right over all $k$"] = {
                k: (one["steps"], one["accuracy"]) for k, one in its
            }
    return told


def runs_of(experiment: str, mode: str, folder: str | Path, workers: int) -> list[dict[str, Any]]:
    """The runs of an experiment: those "stored" in a folder, short ones of the first settings for "smoke", or all, of
    which those that the folder lacks are made and stored there; a run that is killed goes on.
    """
    wanted = settings(experiment)
    short = [its | {"updates": 100, "batch": 16} for its in wanted[: len(METHODS)]]
    file = Path(folder, f"03_papers_size_{experiment}.jsonl")
    call = partial(run, compiled=mode == "paper")
    return results.runs_of(mode, call, wanted, short, file, workers=workers, checkpointed=True, name=experiment)
