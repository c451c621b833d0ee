"""Paired associative inference (PonderNet, Sec. 3.3), from ids of items: which of two is in one chain with the cue?"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.common.measures import at_step
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_evidence.alone_and_together.reader import ReaderStep
from ponder_evidence.runs import grid
from ponder_utils._check import check_generator, check_int
from ponder_utils.evaluation import class_correct
from ponder_utils.halting import expected_steps
from ponder_utils.losses import FixedDepthLoss, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps
from ponder_utils.steps import EncodedStep

N = 8  # the paper tries 7 to 10
UPDATES, BATCH_SIZE, LR, SIZE = 3000, 64, 1e-3, 64
N_TEST = 6000


@dataclass(frozen=True)
class InferenceTask:
    """Chains A-B-C-D of items, new ones in each episode, of which only pairs of neighbours are shown.

    Asked is about a cue and two choices further on: the match in its chain, and a lure, at the same place of another.
    The distance from cue to match is 1 to length - 1, each as often. TypeError or ValueError unless n_chains >= 2,
    length >= 2, and n_items is enough for all chains.
    """

    n_items: int = 24
    n_chains: int = 4
    length: int = 4

    def __post_init__(self) -> None:
        check_int("n_chains", self.n_chains, 2)
        check_int("length", self.length, 2)
        check_int("n_items", self.n_items, self.n_chains * self.length)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Draw x: ids of the cue and two choices [batch_size, 3], and pairs [batch_size, pairs, 2], in any order.

        y: id of the match, int64 [batch_size], which is as often the first choice as the second.
        """
        check_int("batch_size", batch_size, 1)
        draw = partial(torch.rand, batch_size, generator=generator, device=check_generator(generator))
        ids = draw(self.n_items).argsort(1)[:, : self.n_chains * self.length]
        chains = ids.view(batch_size, self.n_chains, self.length)
        pairs = chains.unfold(2, 2, 1).flatten(1, 2)  # [batch, pairs, 2]
        order = draw(pairs.shape[1]).argsort(1)
        pairs = pairs.gather(1, order[:, :, None].expand(-1, -1, 2))
        distance = 1 + (draw() * (self.length - 1)).long()
        place = (draw() * (self.length - distance)).long()
        which = draw(self.n_chains).argsort(1)[:, :2]  # the cue's chain, and the lure's
        rows = torch.arange(batch_size, device=ids.device)
        cue = chains[rows, which[:, 0], place]
        choices = chains[rows[:, None], which, (place + distance)[:, None]]  # [batch, 2], the match first
        mixed = torch.where(draw(1) < 0.5, choices, choices.flip(1))
        return (torch.cat([cue[:, None], mixed], 1), pairs), choices[:, 0]

    @staticmethod
    def needed_steps(x: tuple[Tensor, Tensor]) -> Tensor:
        """Return how many pairs lead from the cue to a choice, read one after another: int64 [batch]."""
        asked, pairs = x
        here, needed = asked[:, :1], torch.zeros_like(asked[:, 0])
        for hop in range(1, pairs.shape[1] + 1):
            after = (pairs[:, :, 0] == here).long()  # the pair that begins where we are, if any
            here = torch.where(after.any(1, keepdim=True), (pairs[:, :, 1] * after).sum(1, keepdim=True), -1)
            needed = torch.where((here == asked[:, 1:]).any(1), hop, needed)
        return needed


class Embedding(nn.Module):
    """Ids of cue, choices and pairs -> question [batch, size] and memory [batch, pairs, size], for a `ReaderStep`."""

    def __init__(self, n_items: int, size: int) -> None:
        super().__init__()
        self.asked = nn.ModuleList(nn.Embedding(n_items, size) for _ in range(3))
        self.paired = nn.ModuleList(nn.Embedding(n_items, size) for _ in range(2))

    def forward(self, x: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """x: ids [batch, 3] and [batch, pairs, 2]."""
        asked, pairs = x
        question = torch.stack([table(asked[:, i]) for i, table in enumerate(self.asked)])
        memory = torch.stack([table(pairs[:, :, i]) for i, table in enumerate(self.paired)])
        return question.sum(0), memory.sum(0)


def learn(
    seed: int, halting: bool = True, lambda_p: float = 0.2, beta: float = 0.01, updates: int = UPDATES
) -> PonderNet:
    """Train a network to name the match; without `halting`, on the mean loss of its answers at all steps."""
    torch.manual_seed(seed)
    task = InferenceTask()
    model = PonderNet(EncodedStep(Embedding(task.n_items, SIZE), ReaderStep(SIZE, task.n_items)), N)
    criterion = nn.CrossEntropyLoss(reduction="none")
    loss = PonderLoss(criterion, lambda_p, beta) if halting else FixedDepthLoss(criterion, every_step=True)
    return fit(model, loss, partial(task.batch, BATCH_SIZE), updates, lr=LR, seed=seed)[0]


@torch.no_grad()
def measure(model: PonderNet, n_test: int = N_TEST) -> Row:
    """Return, for every distance from cue to match, 1 to 3, what the network does on trials of its own: lists of 3.

    by_step: how often it is right if it stops at step n, [N] each. p: its mean halting distribution, [N] each.
    expected: {"right", "steps"} under that distribution, as the paper halts; early: the probability to halt before the
    need. confidence: {"right", "steps"}, each trial halted when it is sure of its answer by 0.9.
    """
    task = InferenceTask()
    x, y = task.batch(n_test, torch.Generator().manual_seed(100))
    need = task.needed_steps(x)
    output = model(x)
    p, right = output.log_p.exp(), class_correct(output.y_hat, y).float()  # [N, trials]
    sure = halting_steps(output, "confidence", q=0.9, classes=True)
    too_early = torch.arange(1, N + 1)[:, None] < need

    def by_distance(values: Tensor) -> list[Any]:
        return [values[..., need == d].mean(-1).tolist() for d in range(1, task.length)]

    return {
        "by_step": by_distance(right),
        "p": by_distance(p),
        "expected": {"right": by_distance((p * right).sum(0)), "steps": by_distance(expected_steps(output.log_p))},
        "early": by_distance((p * too_early).sum(0)),
        "confidence": {"right": by_distance(at_step(right, sure)), "steps": by_distance(sure.float())},
    }


def run(seed: int, n_test: int = N_TEST, **setting: Any) -> Row:
    """Train a network and measure it."""
    return rounded(measure(learn(seed, **setting), n_test))


SHORT = {"updates": 5, "n_test": 60}
EXPERIMENTS = {
    "main": grid("08_inference_main", run, seeded([{}], 5), SHORT),
    "every_step": grid("08_inference_every_step", run, seeded([{"halting": False}], 5), SHORT),
}
