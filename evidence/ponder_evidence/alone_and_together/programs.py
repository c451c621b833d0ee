"""Programs as text: statements that copy variables, read by a causal looped layer; and plain text, for contrast."""

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.alone_and_together.lesson import Addresses, NodeStep, SleepyStep
from ponder_course.alone_and_together.task import grow
from ponder_course.common.measures import at_step, by_group, halting_report, mean
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit, of_asked
from ponder_evidence.runs import grid
from ponder_utils._check import check_choice, check_int
from ponder_utils.halting import expected_steps
from ponder_utils.losses import FixedDepthLoss, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps
from ponder_utils.steps import EncodedStep

DIGITS = 10
N_VARIABLES, N_QUESTIONS, MAX_DEPTH, N = 16, 4, 7, 14
TEST_STEPS = 20
LOOPS, CONTEXT, TEXT_SIZE = 6, 64, 96  # of plain text


@dataclass(frozen=True)
class ProgramTask:
    """`a=3; b=a; c=b; c?`: which digit has the variable that a statement sets, or that a question names?

    Each statement sets a variable of its own, to a digit or to a variable that an earlier statement has set. Questions
    stand at the end. Each program has its own rates, as a `ForestTask` has: n_variables^-u are digits, u ~ U(1/2, 1);
    of the others sqrt(U(0, 1)) copy the statement before. A variable that would stand more than max_depth variables
    above a digit (None: no limit) is set to a digit instead. TypeError or ValueError unless all numbers are >= 0, and
    n_variables >= 1.
    """

    n_variables: int = N_VARIABLES
    n_questions: int = N_QUESTIONS
    max_depth: int | None = None

    def __post_init__(self) -> None:
        check_int("n_variables", self.n_variables, 1)
        check_int("n_questions", self.n_questions, 0)
        if self.max_depth is not None:
            check_int("max_depth", self.max_depth, 0)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x, what each statement sets and what to, int64 [batch_size, statements, 2]; and y, their digits.

        Variables are 0, ..., n_variables - 1; then come the ten digits, and the question mark, which questions set.
        """
        n, rand = self.n_variables, partial(torch.rand, generator=generator)
        shape = (check_int("batch_size", batch_size, 1), n)
        names = rand(shape).argsort(1)
        is_digit = rand(shape) < n ** -(0.5 + rand(batch_size, 1) / 2)
        in_chain = rand(shape) < rand(batch_size, 1).sqrt()
        source = grow(is_digit, in_chain, rand(shape), self.max_depth)  # an earlier statement, or itself: a digit
        digits = torch.randint(DIGITS, shape, generator=generator)
        set_to = torch.where(source == torch.arange(n), n + digits, names.gather(1, source))
        asked = (rand(batch_size, self.n_questions) * n).long()  # in which variables are asked
        questions = torch.stack([torch.full_like(asked, n + DIGITS), asked], 2)
        x = torch.cat([torch.stack([names, set_to], 2), questions], 1)
        return x, self.answers(x)

    def _follow(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the digit of each statement, and how many arrows lead there: a statement's own is the first."""
        n = self.n_variables
        values = torch.arange(n + DIGITS).repeat(len(x), 1)  # what each variable is set to; a digit is itself
        values.scatter_(1, x[:, :n, 0], x[:, :n, 1])
        here, arrows = x[:, :, 1], torch.ones_like(x[:, :, 1])
        for _ in range(n):
            arrows += here < n
            here = values.gather(1, here)
        return here - n, arrows

    def answers(self, x: Tensor) -> Tensor:
        """Return the digit of each statement and question of x [batch, statements, 2]: int64 [batch, statements]."""
        return self._follow(x)[0]

    def arrows(self, x: Tensor) -> Tensor:
        """Return how many arrows lead from each statement to its digit, `b=a` the first: int64 [batch, statements]."""
        return self._follow(x)[1]

    def needed_steps(self, x: Tensor) -> Tensor:
        """Return the step before which the digit cannot be known, by (1) of lesson 08: int64 [batch, statements].

        A statement knows one arrow, its own: `b=a` leads from b to a. After step n it knows 2^n.
        """
        exact = self.arrows(x).cpu().double().log2()  # not every device has float64
        return exact.ceil().long().clamp(min=1).to(x.device)


class CausalStep(NodeStep):
    """Lesson 08's layer, in which a token reads itself and those before it."""

    def layer(self, h: Tensor, others: Tensor) -> Tensor:
        """Return the next states of h [batch, tokens, size], which ask `others`, of the same shape."""
        later = torch.ones(h.shape[1], h.shape[1], dtype=torch.bool, device=h.device).triu(1)
        heard, _ = self.attention(h, others, others, need_weights=False, attn_mask=later)
        new = self.norm_attention(h + heard)
        return self.norm_mlp(new + self.mlp(new))


class SleepyCausalStep(SleepyStep, CausalStep):
    """The same, whose tokens sleep in training."""


class Statements(nn.Module):
    """A statement is two vectors, one for what it sets and one for what to: each variable, digit and ? has its own."""

    addresses: Tensor

    def __init__(self, n_variables: int, size: int) -> None:
        super().__init__()
        self.register_buffer("addresses", Addresses(n_variables + DIGITS + 1, size).addresses)

    def forward(self, x: Tensor) -> Tensor:
        """x: ids [batch, statements, 2] -> [batch, statements, size]."""
        return self.addresses[x].flatten(2)


def learn(
    seed: int, max_depth: int = MAX_DEPTH, size: int = 64, batch: int = 16, updates: int = 1000, lr: float = 3e-3
) -> PonderNet:
    """Train a network on programs whose variables stand at most max_depth variables above a digit."""
    torch.manual_seed(seed)
    task = ProgramTask(max_depth=max_depth)
    layer = SleepyCausalStep(size, DIGITS)
    model = PonderNet(EncodedStep(Statements(task.n_variables, size), layer), N)
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
    found: Row = {
        "all": {"right": mean(halted), "programs": mean(halted.all(1)), **halting_report(steps, needed)},
        "programs_by_step": right.all(2).double().mean(1).tolist(),
        "certainty": {},
    }
    for value in (0.9, 0.99):
        stop = halting_steps(output, "confidence", q=value, classes=True)
        found["certainty"][value] = [mean(at_step(right, stop)), mean(stop)]
    for kind, of_kind in (("statements", ~is_question), ("questions", is_question)):
        groups = depth.where(of_kind, -1)
        found[kind] = by_group(groups, right=halted, steps=steps, needed=needed)
        found[kind].pop(-1, None)
        for row in found[kind].values():
            row["needed"] = int(row["needed"])  # the same for all
    return found


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


def as_text(x: Tensor) -> list[str]:
    """Return the statements and questions of one program x [statements, 2], such as "b=a" and "b?"."""
    names = [*"abcdefghijklmnopqrstuvwxyz"[:N_VARIABLES], *"0123456789"]
    mark = len(names)
    return [f"{names[to]}?" if sets == mark else f"{names[sets]}={names[to]}" for sets, to in x.tolist()]


def run(seed: int, **setting: Any) -> Row:
    """Train a network on programs, and measure it; "example": the steps that it takes in that program."""
    model = learn(seed, **setting)
    taken = model.eval().predict(example(), "threshold", max_steps=TEST_STEPS).steps[0].tolist()
    return rounded(measure(model, test_programs()) | {"example": taken})


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
    found = {"by_loop": nats.mean(1).tolist(), "p": p.mean(1).tolist(), "steps": mean(expected_steps(output.log_p))}
    return rounded(found | {"expected": mean((p * nats).sum(0))})


KINDS: list[Row] = [{"loss": "halting", "loops": LOOPS}, {"loss": "every", "loops": LOOPS}]
KINDS.append({"loss": "last", "loops": 1})
TEXT = seeded(KINDS, 3, seed_by_seed=True)
TEXT.append({"loss": "last", "loops": LOOPS, "seed": 0})  # which does not learn

EXPERIMENTS = {
    "main": grid("08_programs_main", run, seeded([{}], 2), {"updates": 5}),
    "text": grid("08_programs_text", run_text, TEXT, {"updates": 5}, n_short=len(KINDS)),
}
