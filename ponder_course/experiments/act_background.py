"""Networks that pay for thinking: ACT and fixed depths on parity, and what becomes of a price that comes too early."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, repeat
from statistics import mean
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor, nn

from ponder_utils.act import ACT
from ponder_utils.cells import RNNCell, begin, hidden
from ponder_utils.evaluation import binary_correct
from ponder_course.experiments.parity import act, cross_entropy, one_time_step, right, tested_k
from ponder_utils.losses import ACTLoss, ACTLossTerms
from ponder_utils.tasks import ParityTask
from ponder_utils.training import cool_down, train

# Sizes and training that all networks share; N is the cap on updates of the state, M in the lesson.
RECIPE: dict[str, Any] = {"elements": 8, "hidden": 128, "N": 20, "lr": 7e-3, "clip": 0.1, "updates": 2000}
DEPTHS = [1, 2, 4, 10]
TAUS = [1e-4, 1e-3, 1e-2, 2e-2, 3e-2, 1e-1]
CHEAP, DEAR = TAUS[0], TAUS[-1]
BATCH = 128
LEARNT = 0.95  # accuracy from which on a network counts as one that has learnt the task
Prices = Sequence[Sequence[float]]  # (time penalty, for how many batches), one after the other


class FixedDepth(nn.Module):
    """The same cell, the same number of times for every input, and the answer of the last state."""

    def __init__(self, inputs: int, hidden: int, depth: int) -> None:
        super().__init__()
        self.cell, self.output, self.depth = RNNCell(inputs, hidden), nn.Linear(hidden, 1), depth

    def forward(self, x: Tensor) -> Tensor:
        """x: [1, batch, inputs], a sequence of one -> logits [1, batch]."""
        z, s = self.cell.start(x[0]), None
        for _ in range(self.depth):
            s = self.cell(z, s)
        return self.output(s)[None, :, 0]


def draw(elements: int) -> Callable[[torch.Generator], tuple[Tensor, Tensor]]:
    """Generator -> (x, y), a batch of parity as a sequence of one time step: [1, batch, elements], [1, batch]."""
    return one_time_step(partial(ParityTask(elements).batch, BATCH))


def run(
    kind: str, knob: float, elements: int, hidden: int, N: int, lr: float, clip: float, updates: int, seed: int,
    device: str = "cpu",
) -> dict[str, list[float]]:  # fmt: skip
    """Train a network and score it on a thousand inputs for every k: {"accuracy", "n_updates"}, [len(tested_k)] each.

    The kind is "fixed depth", with the knob its depth, or "ACT", with the knob tau. Or "charged late", cheap for half
    of the training, then at tau, or "charged early", the other way round; these at a constant learning rate.
    """
    torch.manual_seed(seed)
    half = updates // 2
    prices = {
        "ACT": [(knob, updates)],
        "charged late": [(CHEAP, half), (knob, updates - half)],
        "charged early": [(knob, half), (CHEAP, updates - half)],
    }
    model: nn.Module = FixedDepth(elements, hidden, int(knob)) if kind == "fixed depth" else act(elements, hidden, N)
    model.to(device)
    loss_fn = answer_loss if kind == "fixed depth" else charge(prices[kind])
    train(model, loss_fn, draw(elements), updates, lr=lr, clip=clip, seed=seed,
          schedule=None if "charged" in kind else cool_down(updates), progress=False)  # fmt: skip
    scores, generator = [], torch.Generator(device).manual_seed(12)
    for k in tested_k(elements):
        x, y = ParityTask(elements, k, k).batch(1000, generator)
        with torch.no_grad():
            output = model(x[None])
        fixed = isinstance(model, FixedDepth)
        taken = knob if fixed else output.n_updates.float().mean().item()
        scores.append((right(output if fixed else output.y_hat, y[None]), float(taken)))
    accuracy, n_updates = zip(*scores, strict=True)
    return {"accuracy": list(accuracy), "n_updates": list(n_updates)}


def answer_loss(y_hat: Tensor, y: Tensor) -> ACTLossTerms:
    """The loss of a network that pays nothing."""
    loss = cross_entropy(y_hat, y).mean()
    return ACTLossTerms(loss, loss, torch.zeros_like(loss))


def charge(prices: Prices) -> Callable[[Any, Tensor], ACTLossTerms]:
    """ACT's loss, whose time penalty changes as training goes on: one call is one batch."""
    taus = chain.from_iterable(repeat(tau, int(updates)) for tau, updates in prices)
    return lambda output, y: ACTLoss(cross_entropy, next(taus))(output, y)


def follow(
    prices: Prices, elements: int, hidden: int, N: int, lr: float, clip: float, seed: int, reset: bool = False,
    depth: int = 0, device: str = "cpu",
) -> dict[str, Any]:  # fmt: skip
    """Train ACT at a constant learning rate while its price changes, and watch it on two thousand inputs.

    When the first price ends, to `reset` is to give it a new halting unit, as at the start; a `depth` takes the choice
    from it: from then on it makes so many updates, and answers with the last.

    Result: "update" [points], how many batches it has seen, and at each of them "accuracy", "thinks", the mean number
    of updates of the state, and "one", the share of inputs with a single update; "whose", what `whose_answer` tells of
    the trained network.
    """
    torch.manual_seed(seed)
    model = act(elements, hidden, N).to(device)
    x, y = ParityTask(elements).batch(2000, torch.Generator(device).manual_seed(13))

    @torch.no_grad()
    def watch(model: nn.Module) -> dict[str, float]:
        output = model(x[None])
        n = output.n_updates.float()
        return {"accuracy": right(output.y_hat[0], y), "thinks": n.mean().item(), "one": (n == 1).float().mean().item()}

    drawn, new_batch = 0, draw(elements)

    def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        nonlocal drawn
        if reset and drawn == prices[0][1]:
            model.halting.reset_parameters()
            nn.init.ones_(model.halting.bias)
        if depth and drawn == prices[0][1]:
            model.max_updates = depth
            nn.init.zeros_(model.halting.weight)
            nn.init.constant_(model.halting.bias.requires_grad_(False), -30)
            model.halting.weight.requires_grad_(False)
        drawn += 1
        return new_batch(generator)

    updates = int(sum(its for _, its in prices))
    before = {"update": 0, **watch(model)}
    rows = train(model, charge(prices), batch, updates, lr=lr, clip=clip, seed=seed, evaluate=watch,
                 log_every=max(1, min(100, updates // 20)), progress=False)  # fmt: skip
    made = {name: [round(row[name], 4) for row in [before, *rows]] for name in ("update", "accuracy", "thinks", "one")}
    return made | {"whose": whose_answer(model, x, y)}


@torch.no_grad()
def whose_answer(model: ACT, x: Tensor, y: Tensor) -> dict[str, Any]:
    """Whose answer ACT gives: right answers of the average, and of states alone. x: [batch, inputs], y: [batch].

    average, last: right answers of the weighted average, and of each input's last state alone; remainder: its mean
    weight; by_n: for n = 1, 2, ... the share of inputs that halt there, how many of these state n alone gets right,
    their mean remainder, and how many it gets right of those that go on (None where there are none).
    """
    output = model(x[None])
    N, R, by_n = output.n_updates[0], output.remainder[0], []
    state, last = None, torch.zeros(len(x), dtype=torch.bool, device=x.device)
    for n in range(1, int(N.max()) + 1):
        state = model.cell(begin(model.cell, nn.functional.pad(x, (0, 1), value=float(n == 1))), state)
        ok = binary_correct(model.output(hidden(state))[:, 0], y)
        halts, goes_on = N == n, N > n  # noqa: SIM300
        last = torch.where(halts, ok, last)
        by_n.append({"n": n, "halt": _mean(halts), "right": _mean(ok[halts]), "remainder": _mean(R[halts]),
                     "right, going on": _mean(ok[goes_on])})  # fmt: skip
    average = binary_correct(output.y_hat[0], y)
    return {"average": _mean(average), "last": _mean(last), "remainder": _mean(R), "by_n": by_n}


def _mean(values: Tensor) -> float | None:
    return round(values.float().mean().item(), 5) if len(values) else None


def stories(updates: int) -> dict[str, list[list[float]]]:
    """Four ways to charge for thinking: {name: prices}. After an early price there is time to recover."""
    half = updates // 2
    return {
        "always cheap": [[CHEAP, updates]],
        "charged late": [[CHEAP, half], [DEAR, updates - half]],
        "charged early": [[DEAR, half], [CHEAP, 3 * half]],
        "always dear": [[DEAR, updates]],
    }


# The grids of `run`: knobs, for ten seeds each. Then what the runs of `follow` differ in, and for how many seeds.
GRIDS: dict[str, Sequence[float]] = {"fixed_depth": DEPTHS, "ACT": TAUS, "charged_late": [3e-2, 1e-1],
                                 "charged_early": [3e-2, 1e-1]}  # fmt: skip
CONTROLS: list[tuple[dict[str, Any], int]] = [
    *(({"prices": prices}, 5) for prices in stories(RECIPE["updates"]).values()),
    ({"prices": [[1e-3, 2000]]}, 5),  # whose answer
    ({"prices": [[DEAR, 1000], [CHEAP, 3000]], "reset": True}, 5),  # the halting unit made new when the price falls
    ({"prices": [[DEAR, 1000], [CHEAP, 3000]], "depth": 2}, 5),  # from then on two updates for everyone
    ({"prices": [[DEAR, 0], [CHEAP, 1500]], "depth": 2}, 5),  # the same from the start
    ({"prices": [[3e-2, 1000], [CHEAP, 3000]]}, 5),  # early, and less
]


def settings(grid: str) -> list[dict[str, Any]]:
    """The settings of a grid, seed by seed."""
    return [RECIPE | {"kind": grid.replace("_", " "), "knob": knob, "seed": seed} for knob in GRIDS[grid]
            for seed in range(10)]  # fmt: skip


def controls() -> list[dict[str, Any]]:
    """The settings of all controls, seed by seed."""
    sizes = {name: value for name, value in RECIPE.items() if name != "updates"}
    return [sizes | change | {"seed": seed} for change, seeds in CONTROLS for seed in range(seeds)]


def changed(row: dict[str, Any]) -> str:
    """What `follow` changed in a network when its first price ended."""
    if row.get("reset"):
        return "a new halting unit"
    return f"{row['depth']} updates for everyone" if row.get("depth") else "nothing changed"


def dear(prices: Prices) -> list[tuple[float, float]]:
    """From which batch to which the price is high."""
    ends = [sum(its for _, its in prices[: i + 1]) for i in range(len(prices))]
    return [(end - its, end) for end, (tau, its) in zip(ends, prices, strict=True) if tau == DEAR and its]


def learnt_at(row: dict[str, Any], least: float = LEARNT) -> int | None:
    """The batch from which on a followed network stays right on so many, at every later look; None if there is none.

    Read from rows of `follow`.
    """
    below = [i for i, accuracy in enumerate(row["accuracy"]) if accuracy < least]
    first = below[-1] + 1 if below else 0
    return row["update"][first] if first < len(row["update"]) else None


def table(live: Sequence[dict[str, Any]], stored: Sequence[dict[str, Any]]) -> DataFrame:
    """A row for each result of `run`: kind, setting, accuracy, updates (means over k), learnt, live."""
    rows = [(row, True) for row in live] + [(row, False) for row in stored]
    return DataFrame(
        [
            (
                row["kind"],
                row["knob"],
                mean(row["accuracy"]),
                mean(row["n_updates"]),
                mean(row["accuracy"]) >= LEARNT,
                of,
            )
            for row, of in rows
        ],
        columns=["kind", "setting", "accuracy", "updates", "learnt", "live"],
    )
