"""Parity at the papers' sizes, 64 and 96 elements: who learns it, in how many steps, and who goes beyond the border."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from statistics import mean
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ponder_course.common.parity import act, measure, score
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import Loss, fit
from ponder_course.parity.experiment import METHODS, N
from ponder_evidence.curriculum import Curriculum
from ponder_evidence.muon import MuonAndAdam
from ponder_evidence.parity.experiment import FIXED, LOSSES
from ponder_evidence.runs import Experiment, grid
from ponder_utils.evaluation import evaluate
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import RNNStep
from ponder_utils.tasks import ParityTask

# What all networks share: Muon, a unit for each element, a start with few non-zero elements and long thought.
RECIPE: Row = {"hidden": 128, "N": N, "batch": 256, "updates": 16_000, "clip": 0.3}
RECIPE["lr"] = 7e-4  # falls by 0.7 whenever the curriculum has stood still for `patience` evaluations
RECIPE["muon"] = 3.0  # how much larger Muon's updates are than Adam's; None for Adam alone
RECIPE["gain"] = 6.0  # first weight of each element to a unit of its own; None for the first weights of nn.Linear
RECIPE["halting"] = -5.0  # first bias of the halting logit: a network begins by thinking for long if it is low
RECIPE |= {"first": 1, "raise_at": 0.8, "patience": 20}  # the curriculum begins with k = 1 to `first`
SIZES: dict[str, Row] = {"64": {"elements": 64, "k_max": 64}, "96": {"elements": 96, "k_max": 48}}
HYPERPARAMETERS = {"PonderNet": (0.02, 0.3, 0.5, 0.9), "ACT": (0.0, 1e-3, 1e-2)}  # beside those of METHODS
ABLATIONS: dict[str, Row] = {  # one thing of the recipe each
    "no curriculum": {"first": 64},
    "Adam alone": {"muon": None, "lr": 1.5e-3},
    "first weights of nn.Linear": {"gain": None},
    "short thought at first": {"halting": 0.0},
}
# The papers' optimizer, PonderNet's batch; until the curriculum has stood still for so many evaluations.
ADAM: Row = {"muon": None, "lr": 1e-3, "batch": 128, "updates": 32_000, "stop_after": 200}
EVALUATE_EVERY, CHECKPOINT_EVERY, COMPILE_FROM = 50, 2000, 1000  # updates
CURVE_POINTS = 100  # of a training that are kept, or a few more
PROBED_K = (8, 16, 32, 64)  # at which accuracy and steps are taken apart


def build(setting: Row) -> tuple[nn.Module, Loss]:
    """Return a network with its first weights, and its loss. The setting is as for `run`."""
    network, elements, hidden = setting["network"], setting["elements"], setting["hidden"]
    model: Any
    if network == "ACT":
        model = act(elements, hidden, setting["N"])
        cell, halting_bias = model.cell, model.halting.bias
    else:
        model = PonderNet(RNNStep(elements, hidden), setting["N"])
        cell, halting_bias = model.step.cell, model.step.heads.bias
    with torch.no_grad():
        if setting["gain"] is not None:
            cell.from_x.weight[:, :elements] = setting["gain"] * torch.eye(hidden, elements)
        halting_bias[-1] = setting["halting"]
    return model, LOSSES["log space" if network == "PonderNet" else network](setting["hyperparameter"])


def inputs_with_ones(elements: int, k: int, ones: int, batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return inputs with k non-zero elements, of which so many are +1, and their targets, which are all the same."""
    values = torch.tensor([1.0] * ones + [-1.0] * (k - ones) + [0.0] * (elements - k), device=generator.device)
    order = torch.rand(batch, elements, generator=generator, device=generator.device).argsort(1)
    return values[order], torch.full((batch,), float(ones % 2), device=generator.device)


def run(checkpoint_dir: str | None = None, **setting: Any) -> Row:
    """Train a network on a curriculum and `probe` it. On a GPU if there is one.

    The setting has "network", one of METHODS, with its hyperparameter; the names of RECIPE and SIZES; and a seed. It
    may have "caps", for `probe_caps`; "shown", the inputs of `step_by_step`; and "stop_after", how many evaluations
    the curriculum may stand still.
    Result: "curve", [points] each, what was seen on the way: update; K, the level, and "accuracy" at k = 1 to K;
    "whole" and "steps", accuracy and mean steps at k = 1 to k_max; lr. And at the end what `probe` returns.
    """
    torch.manual_seed(setting["seed"])
    model, loss_fn = build(setting)
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    rows = train_on_curriculum(setting, model, loss_fn, checkpoint_dir)
    kept = rows[:: -max(1, len(rows) // CURVE_POINTS)][::-1]  # the last of them for certain
    curve = {name: [row[name] for row in kept] for name in ("update", "K", "accuracy", "whole", "steps", "lr")}
    elements, fixed = setting["elements"], setting["network"] in FIXED
    measures = probe(model, elements, fixed)
    if isinstance(model, PonderNet) and "caps" in setting:
        measures["by_cap"] = probe_caps(model, elements, fixed, setting["caps"])
    if isinstance(model, PonderNet) and "shown" in setting:
        measures["step_by_step"] = step_by_step(model, elements, setting["shown"])
    return rounded({"curve": curve, **measures})


def train_on_curriculum(setting: Row, model: nn.Module, loss_fn: Loss, checkpoint_dir: str | None) -> list[Row]:
    """Train a network and return the logged rows. Long trainings are compiled, which takes a C++ compiler."""
    network, updates, lr = setting["network"], setting["updates"], setting["lr"]
    generator = torch.Generator(next(model.parameters()).device).manual_seed(13)
    whole = ParityTask(setting["elements"], 1, setting["k_max"]).batch(1000, generator)
    score_model = partial(score, model, fixed=network in FIXED)  # never the compiled one

    def draw(K: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        x, y = ParityTask(setting["elements"], 1, K).batch(setting["batch"], generator)
        return (x[None], y[None]) if network == "ACT" else (x, y)

    levels = {name: setting[name] for name in ("first", "raise_at")}
    curriculum = Curriculum(draw, lambda _, x, y: score_model(x, y)["accuracy"], setting["k_max"], **levels)

    def evaluate_all(_: nn.Module) -> Row:
        scores = score_model(*whole)
        return {**curriculum.evaluate(model), "whole": scores["accuracy"], "steps": scores["steps"]}

    if setting["muon"] is None:
        optimizer: torch.optim.Optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)
    else:
        optimizer = MuonAndAdam(model, lr, ratio=setting["muon"])
    plateau = {"mode": "max", "factor": 0.7, "patience": setting["patience"], "threshold": 0, "min_lr": lr / 30}
    options: Row = {"optimizer": optimizer, "schedule": partial(ReduceLROnPlateau, **plateau), "evaluate": evaluate_all}
    options |= {"monitor": "K", "patience": setting.get("stop_after"), "log_every": EVALUATE_EVERY}
    options |= {"checkpoint_dir": checkpoint_dir, "checkpoint_every": CHECKPOINT_EVERY, "config": setting}
    compiled: Any = torch.compile(model) if updates >= COMPILE_FROM and network != "ACT" else model  # ACT's shrink
    return fit(compiled, loss_fn, curriculum, updates, clip=setting["clip"], seed=setting["seed"], **options)[1]


def probe(model: nn.Module, elements: int, fixed: bool) -> Row:
    """Return "accuracy" and "steps" for each k, [elements], and two lists with an entry for each k of PROBED_K.

    "by_step": [N], the accuracy if every input stopped at step n, empty for ACT. "by_ones": "accuracy" and "steps" by
    how many elements are +1, [k + 1] each.
    """
    generator = torch.Generator(next(model.parameters()).device).manual_seed(12)
    tasks = {k: ParityTask(elements, k, k) for k in range(1, elements + 1)}
    result = measure(model, [task.batch(500, generator) for task in tasks.values()], fixed)
    result |= {"by_step": [], "by_ones": []}
    probed = [k for k in PROBED_K if k <= elements]
    if isinstance(model, PonderNet):
        for k in probed:
            result["by_step"].append(evaluate(model, *tasks[k].batch(1000, generator)).accuracy_by_step)
    for k in probed:
        batches = [inputs_with_ones(elements, k, ones, 100, generator) for ones in range(k + 1)]
        result["by_ones"].append(measure(model, batches, fixed))
    return result


def probe_caps(model: PonderNet, elements: int, fixed: bool, caps: Sequence[int]) -> dict[int, Row]:
    """Return "accuracy" and "steps" for each k, [elements], of a PonderNet that may take more steps: {N: of each}."""
    generator = torch.Generator(next(model.parameters()).device).manual_seed(14)
    batches = [ParityTask(elements, k, k).batch(500, generator) for k in range(1, elements + 1)]
    return {N: measure(PonderNet(model.step, N).eval(), batches, fixed) for N in caps}


@torch.no_grad()
def step_by_step(model: PonderNet, elements: int, inputs: int, k: int = 16) -> Row:
    """Return the "targets" of some inputs, [inputs], the "answers" of each step, [inputs, N], all 0 or 1, and the most
    probable halting "steps", [inputs]. The inputs have k non-zero elements, or all if there are fewer.
    """
    generator = torch.Generator(next(model.parameters()).device).manual_seed(15)
    x, y = ParityTask(elements, min(k, elements), min(k, elements)).batch(inputs, generator)
    output = model(x)
    answers, steps = (output.y_hat > 0).int().T, output.log_p.argmax(0) + 1
    return {"targets": y.int().tolist(), "answers": answers.tolist(), "steps": steps.tolist()}


def accuracy_beyond(row: Row) -> float:
    """Return the accuracy over the larger k."""
    return mean(row["accuracy"][row["k_max"] :])


def _settings(size: str, networks: Iterable[str], *changes: Row) -> list[Row]:
    """Return the settings of these networks, each with each of the changes of the recipe."""
    return [
        RECIPE | SIZES[size] | {"network": network, "hyperparameter": METHODS[network]} | change
        for network, change in product(networks, changes or [{}])
    ]


def _grid(name: str, settings: list[Row]) -> Experiment:
    short = {"updates": 100, "batch": 16}
    return grid(f"03_papers_size_{name}", run, settings, short, n_short=len(METHODS), checkpointed=True)


PONDERNET = ["PonderNet"]
by_seed = partial(seeded, seed_by_seed=True)  # first one network of each setting, then the next seed of all
ABLATED = _settings("64", PONDERNET, *ABLATIONS.values())
NO_CURRICULUM = _settings("64", [network for network in METHODS if network != "PonderNet"], {"first": 64})
OTHERS = [
    setting
    for network, values in HYPERPARAMETERS.items()
    for setting in _settings("64", [network], *({"hyperparameter": value} for value in values))
]
BY_ADAM = [
    ADAM | {"hyperparameter": lambda_p, "halting": bias} for lambda_p, bias in product((0.05, 0.1, 0.4), (-5.0, 0.0))
]
BEST_BY_ADAM = [BY_ADAM[3] | {"shown": 1000, "seed": 5}, BY_ADAM[4] | {"shown": 1000, "seed": 0}]
SLOW = {"hyperparameter": 0.02}  # leaves it all its steps
RISING = ADAM | {"hyperparameter": 0.4}  # has the rise of steps that the paper has
BEYOND = _settings("96", ["last step"]) + _settings("96", PONDERNET, SLOW, RISING)
EXPERIMENTS = {
    # three seeds were added after a look at five, so that five networks at least would have learnt
    "64": _grid("64", by_seed(_settings("64", METHODS), 5) + seeded(_settings("64", PONDERNET), range(5, 8))),
    "96": _grid("96", by_seed(_settings("96", METHODS), 5)),
    "recipe": _grid("recipe", by_seed(ABLATED, 3) + seeded(NO_CURRICULUM, 1)),
    "hyperparameters": _grid("hyperparameters", by_seed(OTHERS, 2) + seeded(_settings("96", PONDERNET, SLOW), 5)),
    "adam": _grid("adam", by_seed(_settings("64", PONDERNET, *BY_ADAM), 8)),
    "best_by_adam": _grid("best_by_adam", _settings("64", PONDERNET, *BEST_BY_ADAM)),
    # the same on another day: a rounding error changes the course of so many updates
    "best_by_adam_again": _grid("best_by_adam_again", _settings("64", PONDERNET, *BEST_BY_ADAM)),
    "beyond": _grid("beyond", by_seed([setting | {"caps": [20, 40, 60]} for setting in BEYOND], 3)),
}
