"""Stored runs of lesson 13: readers on paper and in earnest, taught with leavers and by controls, and rules."""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ponder_course.common.measures import mean
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.who_leaves_early.experiment import (
    MAX_DEPTH,
    N_QUESTIONS,
    N_VARIABLES,
    N,
    measure,
    texts_of_the_test,
    untrained,
)
from ponder_course.who_leaves_early.lesson import Reader, by_head, learn, leave, read, teach
from ponder_course.who_leaves_early.task import ProgramTask
from ponder_evidence.runs import grid

TRAINING = ProgramTask(N_VARIABLES, N_QUESTIONS, MAX_DEPTH)
UPDATES, MORE = 1500, 200  # of the first training, and of teaching


def leave_unheard(left: Tensor, survival: Tensor, h: Tensor, lambda_n: Tensor) -> tuple[Tensor, Tensor]:
    """Return what `leave` does, but nobody's halting learns from those who read them; their states do."""
    return leave(left, survival, h, lambda_n.detach())


class Settled:
    """Ready when the answer's distribution has moved by at most so many nats of KL since the loop before."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.before: Tensor | None = None

    def __call__(self, y_hat: Tensor, halt_logit: Tensor) -> Tensor:
        """y_hat [texts, tokens, digits] -> bool [texts, tokens]."""
        log_probs, before = y_hat.log_softmax(-1), self.before
        self.before = log_probs
        if before is None:
            return torch.zeros_like(halt_logit, dtype=torch.bool)
        return (log_probs.exp() * (log_probs - before)).sum(-1) <= self.tolerance


def certain(q: float) -> Callable[[Tensor, Tensor], Tensor]:
    """Return what is ready when the likeliest digit has a probability of q or more."""
    return lambda y_hat, halt_logit: y_hat.softmax(-1).amax(-1) >= q


def by_rule(reader: Reader, x: Tensor) -> dict[str, Row]:
    """Return for each rule, in earnest, the fraction of questions "right" and mean loops of all "tokens".

    "all 3": each token takes three loops.
    """
    ways: dict[str, tuple[int, Any]] = {"head": (N, by_head)}
    ways |= {f"certain {q}": (N, certain(q)) for q in (0.5, 0.9, 0.99)}
    ways |= {f"settled {tolerance}": (N, Settled(tolerance)) for tolerance in (0.1, 0.01, 0.001)}
    ways |= {f"all {n}": (n, certain(2.0)) for n in range(1, 7)}  # nobody ever is: all leave at the cap
    y, found = ProgramTask(reader.n_variables).answers(x), {}
    for rule, (cap, ready) in ways.items():
        digits, loops = read(reader, x, cap, in_earnest=True, ready=ready)
        right = (digits == y)[:, reader.n_variables :]
        found[rule] = {"right": mean(right), "tokens": mean(loops)}
    return found


def both_ways(reader: Reader, x: Tensor) -> dict[str, Row]:
    """Return what is measured "on paper" and "in earnest"."""
    return {"on paper": measure(reader, x, in_earnest=False), "in earnest": measure(reader, x, in_earnest=True)}


def run(seed: int, updates: int = UPDATES, more: int = MORE, n_texts: int = 200) -> Row:
    """Train a reader, teach copies of it, each in its own way, and measure all on the same texts.

    "plain": as it was trained; "taught": with leavers; "longer": as many updates more, without leavers; "no gradient":
    with leavers who learn nothing from their readers. For each, `both_ways` on texts of two chains. "random": the same
    on random texts, of "plain" and "taught". "rules": `by_rule` of "plain", on random texts. "cpu_seconds": of the
    first training, and of teaching.
    """
    start = time.process_time()
    plain = untrained(seed)
    learn(plain, TRAINING, seed, updates)
    trained = time.process_time()
    kinds = {"plain": plain, "taught": teach(plain, TRAINING, seed, more)}
    seconds = [trained - start, time.process_time() - trained]
    kinds["longer"] = teach(plain, TRAINING, seed, more, leave=None)
    kinds["no gradient"] = teach(plain, TRAINING, seed, more, leave=leave_unheard)
    texts = texts_of_the_test(n_texts)
    found: Row = {name: both_ways(reader, texts["two chains"]) for name, reader in kinds.items()}
    found["random"] = {name: both_ways(kinds[name], texts["random"]) for name in ("plain", "taught")}
    found["rules"] = by_rule(plain, texts["random"])
    return rounded(found | {"cpu_seconds": seconds})


SHORT: Row = {"updates": 3, "more": 2, "n_texts": 20}
FRESH = range(1, 11)  # seed 0 was seen while the recipe was set
EXPERIMENTS = {"main": grid("13_leavers_main", run, seeded([{}], FRESH), SHORT)}
