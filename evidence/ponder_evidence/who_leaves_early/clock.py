"""What leaving saves on one core, by the size of the batch: a token at a time, as in use, behind a text."""

import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.who_leaves_early.experiment import TASK
from ponder_course.who_leaves_early.lesson import CausalStep
from ponder_course.who_leaves_early.task import DIGITS
from ponder_evidence.runs import grid

SIZE, READ = 64, 64  # numbers of a state; tokens whose states each token reads
BATCHES = (1, 8, 64, 256)


def loops_of_tokens() -> Tensor:
    """Return after how many loops tokens of random texts leave: statements after one, questions when they can know."""
    x, _ = TASK.batch(500, torch.Generator().manual_seed(13))
    loops = torch.ones_like(x[:, :, 0])
    loops[:, TASK.n_variables :] = TASK.needed_loops(x, loops)[:, TASK.n_variables :]
    return loops.flatten()


def loop(step: CausalStep, h: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Take one loop of one token in each row: h [rows, 1, SIZE], keys and values [rows, READ, SIZE]."""
    attention = step.attention
    query = linear(h, attention.in_proj_weight[:SIZE], attention.in_proj_bias[:SIZE])
    new = step.norm_attention(h + attention.out_proj(scaled_dot_product_attention(query, keys, values)))
    new = step.norm_mlp(new + step.mlp(new))
    step.read(new)
    return new


def ways(step: CausalStep, loops: Tensor) -> dict[str, Callable[[], None]]:
    """Return by name what computes one token in each row, that leave after so many loops [rows].

    "all five": nobody leaves before; "the last": all wait for the last; "taken out": who has left costs nothing, not
    even the moving of the others, as if one knew who leaves first; "copied": the states of the others and what they
    read are copied together each time that somebody leaves.
    """
    rows = len(loops)
    h, keys, values = torch.randn(rows, 1, SIZE), torch.randn(rows, READ, SIZE), torch.randn(rows, READ, SIZE)
    here = [int((loops >= n).sum()) for n in range(1, int(loops.max()) + 1)]  # rows that take loop n

    def together(n_loops: int) -> None:
        state = h
        for _ in range(n_loops):
            state = loop(step, state, keys, values)

    def taken_out() -> None:
        state = h
        for n_rows in here:
            state = loop(step, state[:n_rows], keys[:n_rows], values[:n_rows])

    def copied() -> None:
        state, left_over, k, v = h, loops, keys, values
        for n, n_rows in enumerate(here):
            if n_rows < len(state):
                stay = (left_over > n).nonzero()[:, 0]
                state, left_over, k, v = state[stay], left_over[stay], k[stay], v[stay]
            state = loop(step, state, k, v)

    return {
        "all five": lambda: together(5),
        "the last": lambda: together(len(here)),
        "taken out": taken_out,
        "copied": copied,
    }


@torch.no_grad()
def run(seed: int, rounds: int = 60) -> Row:
    """Return CPU microseconds for a token: {batch: {way: mean over rounds}}. In each round all of them take turns."""
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    step, of_tokens = CausalStep(SIZE, DIGITS).eval(), loops_of_tokens()
    spent: dict[int, dict[str, float]] = {batch: {} for batch in BATCHES}
    for turn in range(rounds + 1):  # the first warms up
        for batch, of_batch in spent.items():
            loops = of_tokens[torch.randint(len(of_tokens), (batch,), generator=generator)]
            for way, compute in ways(step, loops).items():
                start = time.process_time()
                compute()
                passed = time.process_time() - start
                of_batch[way] = of_batch.get(way, 0.0) + passed * (turn > 0)
    microseconds = {
        batch: {way: 1e6 * total / rounds / batch for way, total in of_batch.items()}
        for batch, of_batch in spent.items()
    }
    return rounded({"microseconds": microseconds})


EXPERIMENTS = {"clock": grid("13_leavers_clock", run, seeded([{}], 5), {"rounds": 1})}
