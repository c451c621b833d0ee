"""How a claim about speed is measured: both sides in turn, many times, and the ratio of each round.

Times on a shared machine wander; ratios within one run hold.
"""

from __future__ import annotations

import shutil
import statistics
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

Row = dict[str, Any]
ROUNDS = 25


def seconds(call: Callable[[], object]) -> float:
    """Wall-clock time of one call, on whatever device it works."""
    start = time.perf_counter()
    call()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def compare(
    name: str,
    ours: Callable[[], object],
    other: Callable[[], object],
    rounds: int = ROUNDS,
    target: str = "",
) -> Row:
    """Time both sides in turn. The ratio is ours / other, per round; its median is what a claim rests on.

    Args:
        name: of the row, "ours / other".
        ours, other: what is timed; each is called once before.
        rounds: how often.
        target: "<= 0.5" where the project has promised something about the ratio.
    """
    ours()
    other()
    pairs = []
    for n in range(rounds):  # who goes first changes
        first, second = (ours, other) if n % 2 == 0 else (other, ours)
        pair = seconds(first), seconds(second)
        pairs.append(pair if n % 2 == 0 else pair[::-1])
    low, ratio, high = statistics.quantiles([a / b for a, b in pairs], n=4)
    row = {
        "claim": name,
        "ours_ms": round(1e3 * statistics.median(a for a, _ in pairs), 3),
        "other_ms": round(1e3 * statistics.median(b for _, b in pairs), 3),
        "ratio": round(ratio, 3),
        "quartiles": [round(low, 3), round(high, 3)],
        "rounds": rounds,
    }
    if target:
        row |= {"target": target, "holds": ratio <= float(target.removeprefix("<= "))}
    return row


def can_compile() -> bool:
    """Is there what `torch.compile` wants on a CPU, a C++ compiler and Python's headers?"""
    return shutil.which("c++") is not None and Path(sysconfig.get_path("include"), "Python.h").exists()


def peak_bytes(call: Callable[[], object]) -> int:
    """The most memory that torch held at one time on the CPU, beyond what it held before the call."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    events = (event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]")
    level = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        level += event.nbytes()
        peak = max(peak, level)
    return peak
