"""What the scorecard measures of a network on a task; first it checks what the network returns, and trains it."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ponder_course.common.measures import at_step, halting_report, mean
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_course.scorecard.tasks import Questions, Size, Task
from ponder_course.ways_to_stop.regret import utility
from ponder_course.who_leaves_early.experiment import TASK as PROGRAMS
from ponder_utils import FixedDepthLoss, PonderLoss, PonderOutput, halting_log_probs, rules
from ponder_utils._check import described

# (x, n_loops) -> logits [n_loops, batch, *places, answers]; or these and halting logits, [n_loops, batch] where all
# places of a sample halt together, [n_loops, batch, *places] where each halts by itself.
Network = Callable[[Tensor, int], Any]
Ready = Callable[[Tensor, Tensor], Tensor]  # logits, halting logits of one loop -> whose answer is taken
BATCH, BATCHES = 32, (1, 8, 64)  # of training, and those that are timed
Candidates = list[tuple[str, dict[str, Any]]]
HEAD: Candidates = [("threshold", {"q": q}) for q in (0.2, 0.5, 0.8)]
HEAD += [("quantile", {"q": q}) for q in (0.2, 0.5, 0.8)]
CERTAINTY: Candidates = [("confidence", {"q": q, "classes": True}) for q in (0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)]
SETTLING: Candidates = [("settled", {"tolerance": nats, "classes": True}) for nats in (0.1, 0.03, 0.01, 1e-3, 1e-4)]


class Refused(ValueError):
    """What a network returned is not what the scorecard can measure."""


class Looped(nn.Module):
    """A network whose output is checked. `has_head`: it says itself when to stop; `together`: all places at once."""

    def __init__(self, network: Network, task: Task) -> None:
        super().__init__()
        self.network, self.task = network, task
        self.has_head = self.together = False

    def forward(self, x: Tensor, n_loops: int | None = None) -> PonderOutput:
        """Return answers and halting logits, 0 without a head. TypeError or Refused if they are not as `Network`."""
        n = n_loops or self.task.n_loops
        returned = self.network(x, n)
        logits, halt = returned if isinstance(returned, tuple | list) else (returned, None)
        places = list(x.shape[:-1])  # and the batch before them
        for name, values, allowed in (
            ("logits", logits, [[n, *places, self.task.n_answers]]),
            ("halting logits", halt, [[n, places[0]], [n, *places]]),
        ):
            if values is None and name == "halting logits":
                continue
            if not isinstance(values, Tensor) or not values.is_floating_point():
                raise TypeError(f"{name} must be a floating-point tensor; got {described(values)}")
            if values.ndim and len(values) < n and list(values.shape[1:]) == allowed[0][1:]:
                raise Refused(f"{name}: {n} loops were asked for, the network gave {len(values)}")
            if list(values.shape) not in allowed:
                wanted = " or ".join(map(str, allowed))
                raise Refused(f"{name} must have shape {wanted}, loops first; got {list(values.shape)}")
            if not values.isfinite().all():
                raise Refused(f"{name} must be finite; in {self.task.name}, {n} loops, some are inf or nan")
        self.has_head = halt is not None
        self.together = self.has_head and halt.ndim == 2
        halt = logits.new_zeros(n, *places) if halt is None else halt
        return PonderOutput(logits, halt, halting_log_probs(halt))


@torch.no_grad()
def check(model: Looped) -> None:
    """Ask a few questions. TypeError or Refused if the network answers in other shapes, by chance, or looks ahead."""
    model.eval()
    x = model.task.trained.draw(3, torch.Generator().manual_seed(0)).x
    other = x.clone()
    other[:, -1] = x[:, -2]
    model(x[:1], model.task.n_loops)  # so many will be asked for
    whole, again, other_end = model(x, 5), model(x, 5), model(other, 5)
    fewer_loops, alone = model(x, 3), model(x[:1], 5)
    for name, number in (("logits", 0), ("halting logits", 1)):
        values = whole[number]
        for expected, got, why in (
            (values, again[number], "are not the same twice. There may be no chance, such as dropout"),
            (values[:3], fewer_loops[number], "look ahead: with 3 loops in all they are not the first 3 of 5"),
            (values[:, :1], alone[number], "of a sample change if other samples are asked with it"),
        ):
            if not torch.allclose(expected, got, atol=1e-4):
                raise Refused(f"{name} {why}")
        by_token = model.task.is_text and values.ndim > 2
        if by_token and not torch.allclose(other_end[number][:, :, :-1], values[:, :, :-1], atol=1e-4):
            raise Refused(f"{name} look ahead: in a text no token may read a later one")


def doubts(model: Looped) -> list[str]:
    """Return what makes one doubt a head, in words that follow "the halting logits". Ask after training."""
    halt_logits = model.eval()(model.task.trained.draw(BATCH, torch.Generator().manual_seed(0)).x).halt_logits
    if not model.has_head:
        return []
    sentences = {
        "have no gradient, so no training reaches them": not halt_logits.requires_grad,
        "are the same whatever is asked, at every loop": halt_logits.min() == halt_logits.max(),
        "all lie between 0 and 1; if they are probabilities, give logits, before the sigmoid": (
            halt_logits.min() >= 0 and halt_logits.max() <= 1
        ),
    }
    return [sentence for sentence, holds in sentences.items() if holds]


def loss_of(model: Looped, prior: float) -> Callable[[PonderOutput, Tensor], Any]:
    """Return the loss: PonderNet's, or without a head the mean over all loops."""
    with_head, without = partial(PonderLoss, prior=prior, beta=0.03), partial(FixedDepthLoss, every_step=True)
    loss_class = with_head if model.has_head else without
    if not model.together:
        of_each = loss_class(nn.CrossEntropyLoss(reduction="none"))
        return lambda output, y: of_each(output, y, y >= 0)

    def of_sample(y_hat: Tensor, y: Tensor) -> Tensor:
        losses = cross_entropy(y_hat.movedim(-1, 1), y, reduction="none", ignore_index=-1)
        return losses.flatten(1).sum(1) / (y >= 0).flatten(1).sum(1).clamp(min=1)

    of_samples = loss_class(of_sample)
    return lambda output, y: of_samples(output, y.clamp(min=-1))


def train(model: Looped, updates: int, seed: int, own_training: Callable | None = None) -> Row:
    """Train a network, and return its budget. With a head: first patient, then in a hurry, as in lesson 09.

    own_training: (network, task, batches, updates), as a file may have it; batches(generator) draws x and y.
    """
    budget = {"parameters": sum(weight.numel() for weight in model.parameters()), "updates": updates, "examples": 0}

    def batches(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        budget["examples"] += BATCH
        return model.task.trained.draw(BATCH, generator)[:2]

    start = time.process_time()
    if updates and own_training:
        own_training(model.train().network, model.task, batches, updates)
    elif updates:
        patient = (updates + 2) // 3
        fit(model, loss_of(model, 0.2), batches, patient, lr=3e-3, seed=seed)
        fit(model.train(), loss_of(model, 0.8), batches, updates - patient, lr=3e-3, seed=seed + 1)
    by = "loaded" if not updates else "its own training" if own_training else "the scorecard"
    return budget | {"seconds": round(time.process_time() - start, 1), "by": by}


def stops(output: PonderOutput, asked: Tensor, together: bool, rule: str, parameters: Row) -> Tensor:
    """Return the loop at which each answer is taken, or 0: int64 [batch, *places]. asked: bool [batch, *places]."""
    function = partial(rules.RULES[rule], **parameters)
    steps = torch.zeros_like(asked, dtype=torch.int64)
    if not together:
        steps[asked] = function(output.at(asked))
        return steps
    sure = torch.zeros(output.y_hat.shape[-1])
    sure[0] = 100.0  # so that all agree at places where nothing is asked
    y_hat = torch.where(asked[..., None], output.y_hat, sure)
    of_samples = function(PonderOutput(y_hat, output.halt_logits, output.log_p))
    return steps + of_samples.view(-1, *[1] * (asked.ndim - 1))


def report(right: Tensor, steps: Tensor, questions: Questions, together: bool) -> Row:
    """Return right answers, loops and the need. right: [N, batch, *places]; steps: [batch, *places], 0 for never."""
    asked = (questions.y >= 0).flatten(1)  # [batch, places]
    loops, need = torch.where(steps == 0, len(right), steps).flatten(1), questions.need.flatten(1)
    correct = at_step(right.flatten(2), loops)
    row = {"right": mean(correct[asked])}
    if together:  # a sample needs what its last answer needs, and is right if all are
        need, loops = torch.where(asked, need, 0).amax(1), loops[:, 0]
        correct, asked = (correct | ~asked).all(1), asked.any(1)
    loops, need, correct = loops[asked], need[asked], correct[asked]
    early = loops < need
    return {
        **row,
        **halting_report(loops, need),
        "late": mean(loops > need),
        "right_when_early": mean(correct[early]) if early.any() else None,
    }


@torch.no_grad()
def measure(model: Looped, size: Size, n_samples: int, seed: int, chosen: dict[str, Any] | None = None) -> Row:
    """Return what each rule makes of a network at one size, and how right it is if all stop at the same loop.

    N is twice the largest need. chosen: for each rule its name and parameters; None: each is chosen on these questions.
    """
    questions = size.draw(n_samples, torch.Generator().manual_seed(seed))
    asked = questions.y >= 0
    N = 2 * int(questions.need[asked].max())
    output = model.eval()(questions.x, N)
    right = output.y_hat.argmax(-1) == questions.y
    fixed: Candidates = [("fixed", {"step": n}) for n in range(1, N + 1)]
    candidates = {"own head": HEAD, "certainty": CERTAINTY, "settling": SETTLING, "the same for all": fixed}
    if not model.has_head:
        candidates.pop("own head")
    best = {}
    for name in candidates:
        rows = []
        for rule, parameters in candidates[name] if chosen is None else [chosen[name]]:
            steps = stops(output, asked, model.together, rule, parameters)
            row: Row = {"rule": [rule, parameters]}
            rows.append(row | report(right, steps, questions, model.together))
        best[name] = max(rows, key=lambda row: utility((row["right"], row["steps"])))
    return {"by_loop": right[:, asked].double().mean(1).tolist(), "rules": best}


@torch.no_grad()
def measure_leaving(model: Looped, in_earnest: Callable, n_samples: int, seed: int) -> dict[str, Row]:
    """Return how a reader of programs does if tokens leave on paper alone, and if they do in earnest.

    A token leaves at lambda_n >= 1/2; without a head, once it is certain to 0.9. in_earnest: see docs/scorecard.md.
    """
    questions = model.task.larger.draw(n_samples, torch.Generator().manual_seed(seed))
    N = 4 * int(questions.need.max())

    def ready(y_hat: Tensor, halt_logits: Tensor) -> Tensor:
        return halt_logits >= 0 if model.has_head else y_hat.softmax(-1).amax(-1) >= 0.9

    output = model.eval()(questions.x, N)
    is_ready = ready(output.y_hat, output.halt_logits)
    loops = torch.where(is_ready.any(0), is_ready.byte().argmax(0) + 1, N)
    right = output.y_hat.argmax(-1) == questions.y
    rows = {"on paper": report(right, loops, questions, together=False)}
    answers, loops = in_earnest(model.network, questions.x, N, ready)
    late = questions._replace(need=PROGRAMS.needed_loops(questions.x, loops))
    rows["in earnest"] = report((answers == questions.y).expand(N, -1, -1), loops, late, together=False)
    return rows


@torch.no_grad()
def seconds(model: Looped) -> Row:
    """Return the CPU seconds of all loops of a batch, the best of three, by the size of the batch."""
    best = {}
    for n in BATCHES:
        x, times = model.task.trained.draw(n, torch.Generator().manual_seed(0)).x, []
        for _ in range(3):
            start = time.process_time()
            model.network(x, model.task.n_loops)
            times.append(time.process_time() - start)
        best[str(n)] = float(f"{min(times):.3g}")
    return best
