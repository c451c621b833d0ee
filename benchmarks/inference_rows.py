"""Rows about inference: what halting saves on trained networks, and a table of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file
from torch import Tensor

from benchmarks import labml
from benchmarks.peers import halt_by_hand
from benchmarks.timing import ROOT, Effort, Row, row_of, times
from benchmarks.training_rows import BATCH, N, ponder_loss
from ponder_course.common.lines import LineParityTask
from ponder_course.light_cone.lesson import LocalStep
from ponder_utils import GRUStep, ParityTask, PonderNet, train
from ponder_utils.evaluation import binary_correct

ROUNDS = {1: 15, 8: 15, 128: 25, 1024: 9, 8192: 2}  # by batch size; of the last a round takes a minute
AT_LEAST = 64  # samples, in batches one after the other, so that no row hangs on a single input


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


def on_parity(effort: Effort) -> Trained:
    """Train a GRU until it is right on nearly all inputs."""
    torch.manual_seed(0)
    model, task = PonderNet(GRUStep(8, 64), N), ParityTask(8)
    n_updates = effort.updates(2000)
    train(model, ponder_loss(), lambda g: task.batch(BATCH, g), n_updates, lr=5e-3, clip=0.1, progress=False)
    return Trained("parity, GRU 64", model.eval(), task, "quantile", 0.5)


def on_lines() -> Trained:
    """Return the stored network of lesson 05, trained on lines of 16 places, for lines of 64."""
    weights = load_file(ROOT / "results" / "05_light_cone_networks.safetensors")
    step = EachPlaceStep(2, 32)
    step.load_state_dict({name.removeprefix("0.step."): weights[name] for name in weights if name.startswith("0.")})
    return Trained("line of 64 places", PonderNet(step, 80).eval(), LineParityTask(64), "threshold", 0.3)


def inference_rows(effort: Effort, device: str = "cpu") -> list[Row]:
    """Measure halting by batch size, against all N steps, a loop by hand and, where it is installed, labml-nn."""
    rows = []
    for trained in (on_parity(effort), on_lines()):
        trained.model.to(device)
        for batch_size in effort.sizes(tuple(ROUNDS)):
            rows += halting_rows(trained, batch_size, effort, device)
    return rows


@torch.no_grad()
def halting_rows(trained: Trained, batch_size: int, effort: Effort, device: str) -> list[Row]:
    """Measure one network at one batch size; `steps` is the mean step at which the last place of a sample halts."""
    name, model, task, rule, q = trained
    x, y = (part.to(device) for part in task.batch(max(batch_size, AT_LEAST), torch.Generator().manual_seed(1)))
    prediction = model.predict(x, rule, q=q)
    accuracy = binary_correct(prediction.y_hat, y).float().mean().item()
    effort.require(accuracy, at_least=0.99)
    steps = prediction.steps.view(len(x), -1).amax(1).float().mean().item()
    about: Row = {"network": name, "batch": batch_size, "samples": len(x), "accuracy": round(accuracy, 4)}
    about |= {"steps": round(steps, 2), "cap": model.max_steps, "needed": round(steps / model.max_steps, 3)}

    def timed(*calls: Callable[[Tensor], object]) -> list[list[float]]:
        in_batches = [partial(each, call, x.split(batch_size)) for call in calls]
        return times(in_batches, effort.rounds(ROUNDS[batch_size]))

    by_hand = partial(halt_by_hand, model.step, max_steps=model.max_steps, rule=rule, q=q)
    ours, full, theirs = timed(partial(model.predict, rule=rule, q=q), model, by_hand)
    claim = f"{name}, {rule}, batch {batch_size}: halting / "
    rows = [
        row_of(f"{claim}all {model.max_steps} steps", ours, full),
        row_of(f"{claim}a loop by hand", ours, theirs, 1.1),
    ]
    if isinstance(model.step, GRUStep) and labml.installed():
        sampled, labmls = timed(partial(model.predict, rule="sample"), labml.halting(model))
        rows.append(row_of(f"{name}, sample, batch {batch_size}: halting / labml-nn's", sampled, labmls, 1.1))
    return [row | about for row in rows]


def each(call: Callable[[Tensor], object], batches: tuple[Tensor, ...]) -> None:
    """Call it with every batch."""
    for batch in batches:
        call(batch)


def what_it_buys(rows: list[Row]) -> str:
    """Return the rows of `inference_rows` as a table in Markdown, a line for each network and batch size."""
    lines: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        if "batch" in row:
            lines.setdefault((row["network"], row["batch"]), []).append(row)
    text = ["| network | batch | steps needed | µs a sample | / all N steps | / a loop by hand | / labml-nn |"]
    text.append("| --- | --- | --- | --- | --- | --- | --- |")
    for (network, batch_size), group in lines.items():
        first, *_ = group
        time_of_one = 1e3 * first["ours_ms"] / first["samples"]
        cells = [network, f"{batch_size:,}", f"{first['steps']:.1f} of {first['cap']}", f"{time_of_one:,.0f}"]
        cells += [f"{row['ratio']:.2f}" for row in group]
        cells += ["" for _ in range(len(group), 3)]
        text.append(f"| {' | '.join(cells)} |")
    return "\n".join(text)
