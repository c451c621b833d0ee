"""Silence as a message: networks that add a column halt long before their last place can know that no carry comes.

Two needs. `ColumnTask.needed_steps` is that of a machine that answers "no carry" until one comes: the longest carry,
and one step more. `cone_steps` is that of the cone of lesson 05: the first step at which every place can know its own
digit, whatever the machine. Where the cone's need is larger, a place is right about what it cannot know, because the
halting, a vote of all places, tells it that nobody has objected.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from ponder_course.adding_a_column.experiment import WIDE, WIDTH, draw_columns, halt, votes
from ponder_course.adding_a_column.lesson import PHASES, ColumnStep
from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.common.measures import correlation, mean
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_evidence.adding_a_column.training import fit_phases
from ponder_utils.sequences import PonderSequence


def cone_steps(x: Tensor) -> Tensor:
    """Return the first step at which each place can know its digit of the sum: int64 [T, batch, width].

    At step n a place knows the new number up to n - 1 places away, and, most generously, the running sum at all places,
    which it may have heard while it thought about earlier numbers. What it does not know of the new number may be
    anything. Then the carry into a place is known as soon as it sees a place below with two equal digits, which makes
    a carry or ends it, or as soon as no place beyond what it sees holds a 1 of the running sum, without which no carry
    can be made there. Before that both digits of the sum are possible, so one answer is wrong in one of two columns.
    """
    sums = ColumnTask.answers(x)
    before = torch.cat([torch.zeros_like(sums[:1]), sums[:-1]])
    width = x.shape[3]
    places = torch.arange(width, device=x.device)
    equal = torch.where(before == x[:, :, 0], places, -width)
    nearest = pad(equal, (1, 0), value=-width)[..., :-1].cummax(2).values  # below each place, with two equal digits
    lowest = torch.where(before > 0, places, width).amin(2, keepdim=True)  # the lowest 1 of the running sum
    return 1 + torch.minimum(places - nearest, (places - lowest).clamp(min=0))


class TravellingVote(ColumnStep):
    """A `ColumnStep` that halts when its last place says so; a veto reaches that place by one place a step.

    The last place takes the least of all votes that it has heard since the number came: the one of a place i places
    away is i steps old. So halting at step n depends on the new number up to n - 1 places away from the last place.
    """

    def encode(self, x: Tensor) -> tuple[Any, Any]:
        """As `ColumnStep` does it; beside it the flag, [batch, 1]. The state is (h, the least vote heard)."""
        z, h = super().encode(x)
        return (z, x[:, 1, :1] > 0), (h, torch.full_like(h[:, :, 0], torch.inf))

    def move(self, z: Any, h: Any) -> Any:
        """Return the next state."""
        reads, is_new = z
        state, heard = h
        state = super().move(reads, state)
        heard = torch.where(is_new, torch.inf, pad(heard[:, :-1], (1, 0), value=torch.inf))
        return state, torch.minimum(self.heads(state)[:, :, 1], heard)

    def read(self, h: Any) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, width], and a_n [batch]: the least vote that the last place has heard."""
        state, heard = h
        return self.heads(state)[:, :, 0], heard[:, -1]


HEADS: dict[str, type[ColumnStep]] = {"shared": ColumnStep, "travelling": TravellingVote}


def learn(seed: int, head: str = "shared", channels: int = 48, phases: Any = PHASES) -> PonderSequence:
    """Train a network by the lesson's recipe, with the lesson's vote of all places, or with one that must travel."""
    torch.manual_seed(seed)
    return fit_phases(HEADS[head](channels), seed, phases)


def beside_both_needs(model: PonderSequence, x: Tensor, N: int) -> Row:
    """Return how a network halts on columns x beside both needs, in counts of sums; the first number is left out.

    "early": before the longest carry has arrived; "before the cone": before every place can know; and how many of each
    are right. "gap": by how many steps these halt before the cone on average. Correlations of the steps with each need.
    """
    answer, right = halt(model, x, N, q=0.5)
    steps, right = answer.steps[1:], right[1:]
    carry, cone = ColumnTask.needed_steps(x)[1:], cone_steps(x).amax(2)[1:]
    found: Row = {"sums": steps.numel(), "right": int(right.sum()), "steps": mean(steps)}
    found |= {"cone is larger": int((cone > carry).sum()), "carry": mean(carry), "cone": mean(cone)}
    before = steps < cone
    for name, early in {"early": steps < carry, "before the cone": before}.items():
        found[name] = int(early.sum())
        found[f"{name}, right"] = int((early & right).sum())
    found["gap"] = mean((cone - steps)[before]) if before.any() else None
    return found | {"with carry": correlation(steps, carry), "with cone": correlation(steps, cone)}


@torch.no_grad()
def one_pair(model: PonderSequence, width: int) -> Row:
    """Return what a network does at 11...1 + 0 and 11...1 + 1, which differ in the first place alone.

    "steps" of both; at the step at which the first halts: the largest difference between the answers of their last
    places, "answers apart", and the halting logits of both, "halting".
    """
    x = torch.cat([ColumnTask.digits([2**width - 1, last], width) for last in (0, 1)], dim=1)
    answer, right = halt(model, x, width + 10, q=0.5)
    steps = answer.steps[1].tolist()
    output, _ = model.unroll(x, rule="threshold", max_steps=width + 10, q=0.5)
    y_hat, halting = output.y_hat[:, 2:], output.halt_logits[:, 2:]  # of the second number
    n = steps[0] - 1
    apart = (y_hat[n, 0, -1] - y_hat[n, 1, -1]).abs().item()
    return {"steps": steps, "right": right[1].tolist(), "answers apart": apart, "halting": halting[n].tolist()}


@torch.no_grad()
def vetoes(model: PonderSequence, x: Tensor, N: int) -> dict[str, int]:
    """Return who votes against halting while a carry travels, in counts of steps; with a vote of all places alone.

    "steps" at which a carry has not arrived yet. "vetoed": the least vote of all places is against halting (below 0).
    "at a carry": this least vote is cast where a carry stands that has not arrived, or at the next place.
    """
    output = votes(model, x, N)
    travelled = ColumnTask.travelled(x).flatten(0, 1)  # [T * batch, width], as the votes of each step
    ends = (travelled > 0) & (pad(travelled, (0, 1))[:, 1:] <= travelled)  # where a carry arrives for good
    far = torch.where(ends, travelled, 0)
    count = {"steps": 0, "vetoed": 0, "at a carry": 0}
    for n, (ready, least) in enumerate(zip(output.y_hat, output.halt_logits, strict=True), start=1):
        on_the_way = far >= n  # at step n it stands n - 1 places from where it was made
        number, end = on_the_way.nonzero(as_tuple=True)
        place = end - far[number, end] + n - 1
        stands = torch.zeros_like(on_the_way)
        stands[number, place] = True
        stands[number, place + 1] = True
        waits = on_the_way.any(1)
        vetoed = waits & (least < 0)
        count["steps"] += int(waits.sum())
        count["vetoed"] += int(vetoed.sum())
        count["at a carry"] += int((vetoed & stands.gather(1, ready.argmin(1, keepdim=True))[:, 0]).sum())
    return count


def run(n_columns: int = 100, **setting: Any) -> Row:
    """Train a network of this setting, and hold it against both needs: {test: counts of sums}.

    The tests: as wide as in training, four times as wide, and columns of 100 numbers.
    """
    model = learn(**setting)
    tests = {"trained": (WIDTH, 16, n_columns), "wide": (WIDE, 16, n_columns), "long": (WIDTH, 100, n_columns // 4)}
    found: Row = {}
    for name, (width, numbers, n) in tests.items():
        x = draw_columns(width, numbers, n)
        found[name] = beside_both_needs(model, x, width + 10)
        if name != "long":
            found[name]["pair"] = one_pair(model, width)
            if setting["head"] == "shared":
                found[name]["vetoes"] = vetoes(model, x, width + 10)
    return rounded(found)


HEADS_AND_SEEDS = seeded([{"head": "shared"}], range(30, 40)) + seeded([{"head": "travelling"}], range(30, 35))
