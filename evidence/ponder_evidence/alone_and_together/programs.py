"""Programs as text: statements that copy variables, read by a causal looped layer; and plain text, for contrast."""

from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.alone_and_together.lesson import SleepyStep
from ponder_course.common.measures import at_step, by_group, halting_report, mean
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit, of_asked
from ponder_course.who_leaves_early.lesson import CausalStep, Statements
from ponder_course.who_leaves_early.task import DIGITS, N_QUESTIONS, N_VARIABLES, ProgramTask, two_chains
from ponder_evidence.runs import grid
from ponder_utils._check import check_choice
from ponder_utils.halting import expected_steps
from ponder_utils.losses import FixedDepthLoss, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps
from ponder_utils.steps import EncodedStep

MAX_DEPTH, N = 7, 14
TEST_STEPS = 20
LOOPS, CONTEXT, TEXT_SIZE = 6, 64, 96  # of plain text


class SleepyCausalStep(SleepyStep, CausalStep):
    """The same, whose tokens sleep in training."""


def learn(
    seed: int, max_depth: int = MAX_DEPTH, size: int = 64, batch: int = 16, updates: int = 1000, lr: float = 3e-3
) -> PonderNet:
    """Train a network on programs whose variables stand at most max_depth variables above a digit."""
    torch.manual_seed(seed)
    task = ProgramTask(max_depth=max_depth)
    layer = SleepyCausalStep(size, DIGITS)
    model = PonderNet(EncodedStep(Statements(task.n_variables + DIGITS + 1, size), layer), N)
    loss = PonderLoss(nn.CrossEntropyLoss(reduction="none"), 0.8, beta=0.03)
    return fit(model, of_asked(loss), partial(task.batch, batch), updates, lr=lr, seed=seed)[0]


@torch.no_grad()
def measure(model: PonderNet, x: Tensor, q: float = 0.5) -> Row:
    """Return how right the statements and questions of programs x are, and in how many steps, each halted at its own.

    "all": {"right", "programs", "steps", "needed", "early", "correlation"}; "statements" and "questions": by depth of
    the variable that is set or asked for, {"n", "right", "steps", "needed"}. "certainty": {q: [right, steps]} if each
    halts when its answer has this probability. "programs_by_step": the fraction right throughout at step n, [N].
    """
    task = ProgramTask(N_VARIABLES, N_QUESTIONS)
    y, needed = task.answers(x), task.needed_steps(x)
    is_question = x[:, :, 0] == N_VARIABLES + DIGITS
    depth = task.arrows(x) - 1 - is_question.long()
    output = model.eval()(x, max_steps=TEST_STEPS)
    right = output.y_hat.argmax(-1) == y  # [N, programs, statements]
    steps = halting_steps(output, "threshold", q=q)
    halted = at_step(right, steps)
    measures: Row = {
        "all": {"right": mean(halted), "programs": mean(halted.all(1)), **halting_report(steps, needed)},
        "programs_by_step": right.all(2).double().mean(1).tolist(),
        "certainty": {},
    }
    for value in (0.9, 0.99):
        stop = halting_steps(output, "confidence", q=value, classes=True)
        measures["certainty"][value] = [mean(at_step(right, stop)), mean(stop)]
    for kind, of_kind in (("statements", ~is_question), ("questions", is_question)):
        groups = depth.where(of_kind, -1)
        measures[kind] = by_group(groups, right=halted, steps=steps, needed=needed)
        measures[kind].pop(-1, None)
        for row in measures[kind].values():
            row["needed"] = int(row["needed"])  # the same for all
    return measures


def test_programs() -> Tensor:
    """Return 400 programs of any depth, and 100 in which each variable copies the one before: [500, statements, 2]."""
    generator = torch.Generator().manual_seed(100)
    x, _ = ProgramTask().batch(400, generator)
    chains, _ = ProgramTask().batch(100, generator)
    chains[:, 1:N_VARIABLES, 1] = chains[:, : N_VARIABLES - 1, 0]
    return torch.cat([x, chains])


def example() -> Tensor:
    """Return a program with far variables, and four of them that are set to a digit: x [1, statements, 2]."""
    x, _ = ProgramTask().batch(300, torch.Generator().manual_seed(1))
    arrows = ProgramTask().arrows(x)
    four_digits = (arrows == 1).sum(1) == 4
    return x[(arrows[:, N_VARIABLES:].amax(1) * four_digits).argmax()][None]


def run(seed: int, **setting: Any) -> Row:
    """Train a network on programs, and measure it; "example": the steps that it takes in that program."""
    model = learn(seed, **setting)
    taken = model.eval().predict(example(), "threshold", max_steps=TEST_STEPS).steps[0].tolist()
    return rounded(measure(model, test_programs()) | {"example": taken})


def run_two_chains(seed: int, **setting: Any) -> Row:
    """Train such a network, and measure it on texts of two chains, where no digit is used more than the other."""
    texts = two_chains(ProgramTask(), 400, torch.Generator().manual_seed(101))
    return rounded(measure(learn(seed, **setting), texts))


def documentation() -> tuple[Tensor, str]:
    """Return the topics of Python's own documentation, as this installation has them, and the characters they use.

    int64 [characters], each the index of a character; what is not ASCII is "?". From `pydoc_data.topics`.
    """
    topics = import_module("pydoc_data.topics").topics
    text = "\n".join(topics[name] for name in sorted(topics)).encode("ascii", "replace").decode()
    characters = "".join(sorted(set(text)))
    place = {character: i for i, character in enumerate(characters)}
    return torch.tensor([place[character] for character in text]), characters


def windows(text: Tensor, n_windows: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
    """Draw windows of a text, and the character after each of theirs: x and y, int64 [n_windows, CONTEXT] each."""
    first = torch.randint(len(text) - CONTEXT, (n_windows, 1), generator=generator)
    at = first + torch.arange(CONTEXT)
    return text[at], text[at + 1]


class Characters(nn.Module):
    """Characters and where they stand in their window, as vectors."""

    def __init__(self, n_characters: int, size: int) -> None:
        super().__init__()
        self.characters, self.places = nn.Embedding(n_characters, size), nn.Embedding(CONTEXT, size)

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, CONTEXT] -> [batch, CONTEXT, size]."""
        return self.characters(x) + self.places.weight


def run_text(
    seed: int, loss: str, loops: int = LOOPS, size: int = TEXT_SIZE, updates: int = 500, batch: int = 8
) -> Row:
    """Train a looped layer to guess the next character of nine tenths of the text, and test it on the last tenth.

    loss: "halting", PonderNet's; "every", the mean of the losses after all loops; or "last", that after the last loop.
    Returns "by_loop", mean loss in nats after each loop, [loops]; "p", the mean halting distribution, [loops];
    "steps", the mean number of loops under p_n, and "expected", the mean loss under it.
    """
    check_choice("loss", loss, ("halting", "every", "last"))
    torch.manual_seed(seed)
    text, characters = documentation()
    cut = len(text) * 9 // 10
    step = EncodedStep(Characters(len(characters), size), CausalStep(size, len(characters), n_heads=4))
    model, criterion = PonderNet(step, loops), nn.CrossEntropyLoss(reduction="none")
    without_halting = FixedDepthLoss(criterion, every_step=loss == "every")
    loss_fn = PonderLoss(criterion, 0.5, beta=0.01) if loss == "halting" else without_halting
    fit(model, of_asked(loss_fn), partial(windows, text[:cut], batch), updates, lr=3e-3, seed=seed)
    x, y = windows(text[cut:], 300, torch.Generator().manual_seed(100))
    with torch.no_grad():
        output = model(x)
        nats = torch.stack([criterion(answer.flatten(0, 1), y.flatten()) for answer in output.y_hat])  # [loops, all]
    p = output.log_p.flatten(1).exp()
    measures = {"by_loop": nats.mean(1).tolist(), "p": p.mean(1).tolist(), "steps": mean(expected_steps(output.log_p))}
    return rounded(measures | {"expected": mean((p * nats).sum(0))})


KINDS: list[Row] = [{"loss": "halting", "loops": LOOPS}, {"loss": "every", "loops": LOOPS}]
KINDS.append({"loss": "last", "loops": 1})
TEXT = seeded(KINDS, 3, seed_by_seed=True)
TEXT.append({"loss": "last", "loops": LOOPS, "seed": 0})  # which does not learn

EXPERIMENTS = {
    "main": grid("08_programs_main", run, seeded([{}], 2), {"updates": 5}),
    "two_chains": grid("08_programs_two_chains", run_two_chains, seeded([{}], 2), {"updates": 5}),
    "text": grid("08_programs_text", run_text, TEXT, {"updates": 5}, n_short=len(KINDS)),
}
