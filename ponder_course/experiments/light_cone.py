"""Networks that think along a line of places: how a lesson trains them, and what it wants to know of them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from ponder_utils import rules
from ponder_utils.evaluation import binary_correct, evaluate, halting_steps, modes_kept
from ponder_course.results import rounded
from ponder_utils.halting import expected_steps
from ponder_utils.local import LocalStep
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.tasks import AdditionTask, LineParityTask
from ponder_utils.training import cool_down, train

# A network's setting; an experiment says what it changes. Trained on lines of 16 places.
RECIPE: dict[str, Any] = {
    "task": "parity", "N": 20, "lambda_p": 0.4, "beta": 0.01, "direction": "p||p_G", "vote": "least", "residual": False,
    "noise": 0.1, "updates": 1000, "lr": 5e-3,
}  # fmt: skip
N_PLACES, CHANNELS, BATCH = 16, 32, 64
CARRIES: dict[str, Any] = {"task": "addition, long carries", "beta": 0.03}
TASKS: dict[str, Callable[[int], Any]] = {
    "parity": LineParityTask,
    "addition": AdditionTask,
    "addition, long carries": lambda n_places: AdditionTask(n_places, rate=None),
}
RULES: dict[str, Callable[..., rules.HaltingRule]] = {
    "most probable": rules.most_probable,
    **{f"quantile {q}": partial(rules.quantile, q=q) for q in (0.5, 0.9, 0.99)},
    **{f"threshold {q}": partial(rules.threshold, q=q) for q in (0.05, 0.1, 0.2)},
}


def mean_over_places(y_hat: Tensor, y: Tensor) -> Tensor:
    """Cross-entropy of the logits, averaged over the places of each line: y_hat, y [batch, places] -> [batch]."""
    return binary_cross_entropy_with_logits(y_hat, y, reduction="none").mean(1)


def whole_lines_right(y_hat: Tensor, y: Tensor) -> Tensor:
    """Is the answer right at every place? y_hat, y: [..., places] -> bool [...]."""
    return binary_correct(y_hat, y).all(-1)


def learn(
    task: str, N: int, lambda_p: float, beta: float, direction: str, vote: str, residual: bool, noise: float,
    updates: int, lr: float, seed: int,
) -> PonderNet:  # fmt: skip
    """Train a network of a `RECIPE`."""
    torch.manual_seed(seed)
    model = PonderNet(LocalStep(2, CHANNELS, vote=vote, residual=residual, noise=noise), N)
    loss_fn = PonderLoss(mean_over_places, lambda_p, N, beta, direction=direction)
    draw = TASKS[task](N_PLACES).batch
    train(model, loss_fn, lambda g: draw(BATCH, g), updates, lr=lr, schedule=cool_down(updates), seed=seed,
          log_every=updates, progress=False)  # fmt: skip
    return model.eval()


def fresh(task: Any, n_lines: int = 1000, seed: int = 0) -> tuple[Tensor, Tensor]:
    """The lines that networks are tested on, the same on every device."""
    return task.batch(n_lines, torch.Generator().manual_seed(seed))


def watch(task: Any) -> Callable[[PonderNet], dict[str, float]]:
    """For `train`: accuracy (whole lines right, sampled) and steps, on 500 lines that nothing is learnt from."""
    x, y = fresh(task, 500, seed=1)

    def score(model: PonderNet) -> dict[str, float]:
        device = next(model.parameters()).device
        its = evaluate(model, x.to(device), y.to(device), whole_lines_right)
        return {"accuracy": its.accuracy, "steps": its.steps}

    return score


@torch.no_grad()
def measure(model: PonderNet, task: Any, N: int, n_lines: int, seed: int = 0) -> dict[str, Any]:
    """A network of the lines' tasks, its cap on steps set to N, on fresh lines.

    right: share of whole lines, steps: mean number, before: share that halts before the needed step, all for each rule;
    by_step: [N] right if every line stops at step n; by_need: expected steps of lines that need 1, 2, ... (None
    where there are none); corr: of expected steps and need; waiting, ready: mean lambda_n before the needed step, and
    from there on.
    """
    device = next(model.parameters()).device
    x, y = (part.to(device) for part in fresh(task, n_lines, seed))
    need = task.needed_steps(x).amax(1)
    longer = PonderNet(model.step, N)
    with modes_kept(longer):
        y_hat, halt_logits, log_p = output = longer.eval()(x)
    right = whole_lines_right(y_hat, y.expand_as(y_hat)).float()  # [N, lines]
    n, p, taken = torch.arange(1, N + 1, device=device), log_p.exp(), expected_steps(log_p)
    early = n[:, None] < need
    lambda_n = halt_logits.sigmoid()[:-1]  # that of the last step has no influence
    by_rule = {"sample": {"right": (p * right).sum(0), "steps": taken, "before": (p * early).sum(0)}}
    for name, rule in RULES.items():
        steps = halting_steps(output, rule)
        by_rule[name] = {"right": right.gather(0, steps[None] - 1), "steps": steps, "before": steps < need}
    return {
        "rules": {rule: {name: its.float().mean().item() for name, its in of.items()} for rule, of in by_rule.items()},
        "by_step": right.mean(1).tolist(),
        "by_need": [
            taken[need == k].mean().item() if (need == k).any() else None for k in range(1, int(need.max()) + 1)
        ],
        "corr": {name: _correlation(taken, its) for name, its in _needs(task, x).items()},
        "need": need.float().mean().item(),
        "waiting": lambda_n[early[:-1]].mean().item(),
        "ready": lambda_n[~early[:-1]].mean().item(),
    }


# Places of the lines that a network is tested on, N, and how many lines; the first are as those of training.
TESTS = {16: (20, 2000), 32: (40, 1000), 64: (80, 1000), 256: (300, 200)}


def run(**setting: Any) -> dict[str, Any]:
    """Train a network of this setting, and measure it: {"tests": {places: what `measure` tells}}.

    Those that add are tested on uniform numbers, too: "uniform".
    """
    model = learn(**setting)

    def tests(task: str) -> dict[int, Any]:
        made = {places: measure(model, TASKS[task](places), N, lines) for places, (N, lines) in TESTS.items()}
        for long in ("by_step", "by_need"):  # of few lines and many steps
            del made[max(TESTS)][long]
        return made

    made = {"tests": tests(setting["task"])}
    if setting["task"] != "parity":
        made["uniform"] = tests("addition")
    return rounded(made)


# Every experiment: what it changes in the recipe, and for how many seeds.
EXPERIMENTS: dict[str, list[tuple[dict[str, Any], int]]] = {
    "main": [({}, 10)],
    "addition": [
        (CARRIES, 10),
        (CARRIES | {"residual": True}, 10),
        (CARRIES | {"task": "addition"}, 5),
        (CARRIES | {"task": "addition", "residual": True}, 5),
    ],
    "vote": [({"vote": "pooled"}, 10), ({"vote": "pooled", "lambda_p": 0.2}, 5)],
    "noise": [({"noise": 0.0}, 10), ({"noise": 0.0, "updates": 3000}, 5), ({"noise": 0.3}, 5)],
    "prior": [({"lambda_p": lambda_p}, 5) for lambda_p in (0.1, 0.2, 0.3, 0.6, 0.8)]
    + [({"lambda_p": lambda_p, "N": 40}, 5) for lambda_p in (0.1, 0.2)],
    "beta": [({"beta": beta}, 5) for beta in (0.001, 0.1)],
    "reversed": [({"direction": "p_G||p", "lambda_p": lambda_p}, 5) for lambda_p in (0.2, 0.4, 0.8)],
}


def settings(experiment: str) -> list[dict[str, Any]]:
    """The settings of an experiment, seed by seed."""
    return [RECIPE | change | {"seed": seed} for change, seeds in EXPERIMENTS[experiment] for seed in range(seeds)]


def measured(rows: Sequence[dict[str, Any]], where: str = "tests") -> list[dict[int, dict[str, Any]]]:
    """What stored runs were measured to be: {places: what `measure` tells} for each."""
    return [{int(places): test for places, test in row[where].items()} for row in rows]


def values(tests: Sequence[dict[int, dict[str, Any]]], places: int, rule: str, what: str) -> list[float]:
    """right, steps, before (see `measure`), or gain (see `gain`), of every network tested on so many places."""
    chosen = [test[places] for test in tests if places in test]
    return [gain(test, rule) if what == "gain" else test["rules"][rule][what] for test in chosen]


def lateness(test: dict[str, Any], rule: str = "sample") -> float:
    """Mean steps above the limit, for one network and one number of places."""
    return test["rules"][rule]["steps"] - test["need"]


def by_rule(tests: Sequence[dict[int, dict[str, Any]]]) -> dict[str, dict[int, tuple[float, float]]]:
    """{rule: {places: (right, steps)}}, means of the networks, for the numbers of places that all were tested on."""
    common = sorted(set.intersection(*map(set, tests)))

    def mean(places: int, rule: str, what: str) -> float:
        return sum(values(tests, places, rule, what)) / len(tests)

    rules = tests[0][common[0]]["rules"]
    return {rule: {n: (mean(n, rule, "right"), mean(n, rule, "steps")) for n in common} for rule in rules}


def told(table: dict[str, dict[int, tuple[float, float]]]) -> dict[str, dict[str, str]]:
    """`by_rule` in words: right / steps."""
    return {
        rule: {f"{n} places": f"{right:.1%} / {steps:.1f}" for n, (right, steps) in its.items()}
        for rule, its in table.items()
    }


def between(by_step: Sequence[float], steps: float) -> float:
    """The share that is right at a mean number of steps in [1, N]: some take the number below, others that above."""
    low = max(1, min(int(steps), len(by_step) - 1))
    return by_step[low - 1] + (steps - low) * (by_step[min(low, len(by_step) - 1)] - by_step[low - 1])


def gain(test: dict[str, Any], rule: str) -> float:
    """What halting by this rule adds to the share of right lines, beside the same mean number of steps for all."""
    its = test["rules"][rule]
    return its["right"] - between(test["by_step"], its["steps"])


def _needs(task: Any, x: Tensor) -> dict[str, Tensor]:
    """The steps that each line needs; of additions, also if the first guess is that no carry comes, or one does."""
    if not isinstance(task, AdditionTask):
        return {"all": task.needed_steps(x).amax(1)}
    guesses = {"all": None, "carries": 0, "no carries": 1}
    return {name: task.needed_steps(x, guess).amax(1) for name, guess in guesses.items()}


def _correlation(a: Tensor, b: Tensor) -> float:
    return torch.corrcoef(torch.stack([a.float(), b.float()]))[0, 1].item()
