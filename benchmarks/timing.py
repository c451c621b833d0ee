"""How a claim about speed is measured: all sides in turn, many times, and the ratio of each round.

Times on a shared machine wander; ratios within one run hold.
"""

from __future__ import annotations

import shutil
import statistics
import sysconfig
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

Row = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Effort:
    """How much work goes into the rows.

    A smoke run takes each measurement twice on networks that have hardly been trained: it shows in seconds that every
    row can be measured, and its numbers mean nothing.
    """

    smoke: bool = False

    def rounds(self, n: int) -> int:
        """Return how often something is timed, n unless this is a smoke run."""
        return 2 if self.smoke else n

    def updates(self, n: int) -> int:
        """Return how many updates a network is trained with, n unless this is a smoke run."""
        return 2 if self.smoke else n

    def sizes(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Return the sizes that are measured: of increasing ones the first two in a smoke run, else all."""
        return sizes[:2] if self.smoke else sizes

    def require(self, accuracy: float, at_least: float) -> None:
        """Raise a RuntimeError if a trained network is not as accurate as this; a smoke run accepts any."""
        if accuracy < at_least and not self.smoke:
            raise RuntimeError(f"the network has not learnt: right on {accuracy:.1%}")


def seconds(call: Callable[[], object]) -> float:
    """Return the wall-clock time of one call, on whatever device it works."""
    start = time.perf_counter()
    call()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def times(calls: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Call everything once, and then time each in every round: [calls][rounds], in seconds. Who goes first changes."""
    for call in calls:
        call()
    found: list[list[float]] = [[] for _ in calls]
    for n in range(rounds):
        for k in range(len(calls)):
            now = (n + k) % len(calls)
            found[now].append(seconds(calls[now]))
    return found


def row_of(claim: str, ours: list[float], other: list[float], target: float | None = None) -> Row:
    """Return a row for the seconds of all rounds; its ratio is the median of ours / other over the rounds.

    Args:
        claim: the row's name, "ours / other".
        ours, other: of at least 2 rounds, as from `times`.
        target: the largest ratio that the project has promised, where it has promised one.
    """
    low, ratio, high = statistics.quantiles([a / b for a, b in zip(ours, other, strict=True)], n=4)
    row: Row = {
        "claim": claim,
        "ours_ms": round(1e3 * statistics.median(ours), 3),
        "other_ms": round(1e3 * statistics.median(other), 3),
        "ratio": round(ratio, 3),
        "quartiles": [round(low, 3), round(high, 3)],
        "rounds": len(ours),
    }
    if target is not None:
        row |= {"target": target, "holds": ratio <= target}
    return row


def can_compile() -> bool:
    """Return whether there is what `torch.compile` needs on a CPU, a C++ compiler and Python's headers."""
    return shutil.which("c++") is not None and Path(sysconfig.get_path("include"), "Python.h").exists()


def peak_bytes(call: Callable[[], object]) -> int:
    """Return the most memory that torch held at one time on the CPU, beyond what it held before the call."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    assert profiler.profiler is not None
    results = profiler.profiler.kineto_results
    assert results is not None
    events = [event for event in results.events() if event.name() == "[memory]"]
    level = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        level += event.nbytes()
        peak = max(peak, level)
    return peak
