"""Measure what halting saves, beside all N steps and beside a loop by hand, in one run on one thread: make bench.

python -m benchmarks            in minutes: latest.json, and its table in docs/package.md
python -m benchmarks --smoke    two small batches, in seconds, and no file changed: shows only that all runs
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from ponder_course.common.lines import LineParityTask
from ponder_course.light_cone.lesson import LocalStep
from ponder_utils import GRUStep, ParityTask, PonderLoss, PonderNet, Step, __version__, train
from ponder_utils.checkpoints import atomic_write
from ponder_utils.evaluation import binary_correct

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "benchmarks" / "latest.json"
PAGE = ROOT / "docs" / "package.md"
ROUNDS = {1: 15, 8: 15, 128: 25, 1024: 9, 8192: 2}  # by batch size; of the last a round takes a minute
AT_LEAST = 64  # samples, in batches one after the other, so that no row hangs on a single input

Row = dict[str, Any]


class EachPlaceStep(LocalStep):
    """A `LocalStep` on a line of which every place halts by itself."""

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n and a_n, [batch, places] each."""
        y_hat, halt_logit = self.heads(h).unbind(1)
        return y_hat, halt_logit


class Trained(NamedTuple):
    """A trained network, its task, and the rule that stops it."""

    name: str
    model: PonderNet
    task: Any
    rule: str
    q: float


def on_parity(n_updates: int) -> Trained:
    """Train a GRU until it is right on nearly all inputs."""
    torch.manual_seed(0)
    model, task = PonderNet(GRUStep(8, 64), 20), ParityTask(8)
    loss_fn = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), 0.2)
    train(model, loss_fn, lambda g: task.batch(128, g), n_updates, lr=5e-3, clip=0.1, progress=False)
    return Trained("parity, GRU 64", model.eval(), task, "quantile", 0.5)


def on_lines() -> Trained:
    """Return the stored network of lesson 05, trained on lines of 16 places, for lines of 64."""
    weights = load_file(ROOT / "results" / "05_light_cone_networks.safetensors")
    step = EachPlaceStep(2, 32)
    step.load_state_dict({name.removeprefix("0.step."): weights[name] for name in weights if name.startswith("0.")})
    return Trained("line of 64 places", PonderNet(step, 80).eval(), LineParityTask(64), "threshold", 0.3)


@torch.no_grad()
def halt_by_hand(step: Step, x: Tensor, max_steps: int, rule: str, q: float) -> tuple[Tensor, Tensor]:
    """Halt as one writes it after reading the paper: the whole batch goes on until the last sample, or place, halts.

    rule: "quantile" or "threshold". Returns the answers, and the steps that they come from.
    """
    z, h = step.encode(x)
    survival: Any = 1.0
    answer: Any = 0.0
    steps: Any = 0
    for n in range(1, max_steps + 1):
        y_hat, h, halt_logit = step(z, h)
        lambda_n = torch.sigmoid(halt_logit) if n < max_steps else torch.ones_like(halt_logit)
        survival = survival * (1 - lambda_n)
        halts = lambda_n >= q if rule == "threshold" else survival <= 1 - q
        halts = halts & (steps == 0)
        answer = torch.where(halts, y_hat, answer)
        steps = torch.where(halts, n, steps)
        if (steps > 0).all():
            break
    return answer, steps


def times(calls: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Call everything once, and then time each in every round: [calls][rounds], in seconds. Who goes first changes."""
    for call in calls:
        call()
    seconds: list[list[float]] = [[] for _ in calls]
    for n in range(rounds):
        for k in range(len(calls)):
            now = (n + k) % len(calls)
            start = time.perf_counter()
            calls[now]()
            seconds[now].append(time.perf_counter() - start)
    return seconds


def row_of(claim: str, ours: list[float], other: list[float]) -> Row:
    """Return a row for the seconds of 2 rounds or more; its ratio is the median of ours / other over the rounds."""
    low, ratio, high = statistics.quantiles([a / b for a, b in zip(ours, other, strict=True)], n=4)
    return {
        "claim": claim,
        "ours_ms": round(1e3 * statistics.median(ours), 3),
        "other_ms": round(1e3 * statistics.median(other), 3),
        "ratio": round(ratio, 3),
        "quartiles": [round(low, 3), round(high, 3)],
        "rounds": len(ours),
    }


def each(call: Callable[[Tensor], object], batches: tuple[Tensor, ...]) -> None:
    """Call it with every batch."""
    for batch in batches:
        call(batch)


@torch.no_grad()
def halting_rows(trained: Trained, batch_size: int, rounds: int) -> list[Row]:
    """Measure one network at one batch size; `steps` is the mean step at which the last place of a sample halts."""
    name, model, task, rule, q = trained
    x, y = task.batch(max(batch_size, AT_LEAST), torch.Generator().manual_seed(1))
    prediction = model.predict(x, rule, q=q)
    steps = prediction.steps.view(len(x), -1).amax(1).float().mean().item()
    about: Row = {
        "network": name,
        "batch": batch_size,
        "samples": len(x),
        "accuracy": round(binary_correct(prediction.y_hat, y).float().mean().item(), 4),
        "steps": round(steps, 2),
        "cap": model.max_steps,
        "needed": round(steps / model.max_steps, 3),
    }
    by_hand = partial(halt_by_hand, model.step, max_steps=model.max_steps, rule=rule, q=q)
    calls = (partial(model.predict, rule=rule, q=q), model, by_hand)
    ours, full, theirs = times([partial(each, call, x.split(batch_size)) for call in calls], rounds)
    claim = f"{name}, {rule}, batch {batch_size}: halting / "
    rows = [row_of(f"{claim}all {model.max_steps} steps", ours, full), row_of(f"{claim}a loop by hand", ours, theirs)]
    return [row | about for row in rows]


def measure(smoke: bool) -> Row:
    """Return the table: two rows for each network and batch size. A smoke run's numbers mean nothing."""
    torch.set_num_threads(1)
    rows = []
    for trained in (on_parity(2 if smoke else 2000), on_lines()):
        for batch_size in (1, 8) if smoke else ROUNDS:
            rows += halting_rows(trained, batch_size, 2 if smoke else ROUNDS[batch_size])
            print(f"{trained.name}, batch {batch_size}", flush=True)
    made_with = {
        "version": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "device": "cpu",
        "threads": torch.get_num_threads(),
    }
    return {"made_with": made_with, "rows": rows}


def what_it_buys(rows: list[Row]) -> str:
    """Return the rows as a table in Markdown, a line for each network and batch size."""
    text = ["| network | batch | steps needed | µs a sample | / all N steps | / a loop by hand |"]
    text.append("| --- | --- | --- | --- | --- | --- |")
    for full, by_hand in zip(rows[::2], rows[1::2], strict=True):
        time_of_one = 1e3 * full["ours_ms"] / full["samples"]
        cells = [full["network"], f"{full['batch']:,}", f"{full['steps']:.1f} of {full['cap']}", f"{time_of_one:,.0f}"]
        cells += [f"{full['ratio']:.2f}", f"{by_hand['ratio']:.2f}"]
        text.append(f"| {' | '.join(cells)} |")
    return "\n".join(text)


def filled(page: str, table: Row) -> str:
    """Return the page with the table between its markers; ValueError unless each of them stands there once."""
    before, rest = page.split("<!--bench-->")
    _, after = rest.split("<!--/bench-->")
    made_with = table["made_with"]
    machine = f"One thread of {made_with['machine']}; torch {made_with['torch']}."
    return f"{before}<!--bench-->\n{what_it_buys(table['rows'])}\n\n{machine}\n<!--/bench-->{after}"


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
    smoke = parser.parse_args().smoke
    table = measure(smoke)
    print(what_it_buys(table["rows"]))
    if smoke:
        return
    with atomic_write(TABLE) as draft:
        draft.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")


if __name__ == "__main__":
    main()
