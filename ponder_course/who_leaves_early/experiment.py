"""What is measured of readers: right digits and loops, on paper and in earnest, on texts that nobody can guess."""

import torch
from torch import Tensor

from ponder_course.common.measures import by_group, mean
from ponder_course.common.store import Row
from ponder_course.who_leaves_early.lesson import Reader, read
from ponder_course.who_leaves_early.task import ProgramTask, two_chains

N_VARIABLES, N_QUESTIONS, MAX_DEPTH = 20, 8, 7  # MAX_DEPTH in training alone
N, FEW = 40, 4  # loops at most; few: as many as Ouro (arXiv:2510.25741) has
TASK = ProgramTask(N_VARIABLES, N_QUESTIONS)


def untrained(seed: int, size: int = 64) -> Reader:
    """Return a network before its training."""
    torch.manual_seed(seed)
    return Reader(N_VARIABLES, size)


def texts_of_the_test(n_texts: int = 200) -> dict[str, Tensor]:
    """Return texts of "two chains", whose digits nobody guesses, and "random" ones, of any depth: {name: x}."""
    generator = torch.Generator().manual_seed(2025)
    return {"two chains": two_chains(TASK, n_texts, generator), "random": TASK.batch(n_texts, generator)[0]}


def example(reader: Reader) -> tuple[list[str], dict[str, tuple[list[int], list[int]]]]:
    """Return a text with a question at the far end of a chain, and {way: (loops, needed)}, a number for each token.

    A statement needs one loop: nobody can know its next word.
    """
    texts = texts_of_the_test()["two chains"]
    farthest = TASK.arrows(texts).amax(1) == N_VARIABLES // 2 + 1
    x, found = texts[farthest][:1], {}
    for way in ("on paper", "in earnest"):
        _, loops = read(reader, x, N, in_earnest=way == "in earnest")
        needed = TASK.needed_loops(x, loops) if way == "in earnest" else TASK.needed_steps(x)
        needed[:, :N_VARIABLES] = 1
        found[way] = loops[0].tolist(), needed[0].tolist()
    return TASK.as_text(x[0]), found


def measure(reader: Reader, x: Tensor, in_earnest: bool) -> Row:
    """Return how right the questions of texts x [texts, tokens, 2] are, and after how many loops tokens leave.

    Of questions: the fraction "right", mean "steps" and "needed", where the need is that of these very leavers, and the
    fractions "early" and "on_time". "statements" and "tokens": mean loops of all statements, and of all tokens.
    "text": loops until the last token of a text has left. "by_arrows": {arrows: n, "right", "steps", "needed", "few",
    the fraction right with FEW loops at most}; "statements_by_arrows": {arrows: n, "steps"}.
    """
    task = ProgramTask(reader.n_variables, x.shape[1] - reader.n_variables)
    digits, loops = read(reader, x, N, in_earnest)
    in_few, _ = read(reader, x, FEW, in_earnest)
    arrows = task.arrows(x)
    needed = task.needed_loops(x, loops) if in_earnest else task.needed_steps(x)
    right, right_in_few = digits == task.answers(x), in_few == task.answers(x)
    is_question = torch.arange(x.shape[1]).expand_as(loops) >= task.n_variables
    of_questions, of_statements = arrows.where(is_question, 0), arrows.where(~is_question, 0)
    by_arrows = by_group(of_questions, right=right, steps=loops, needed=needed, few=right_in_few)
    statements = by_group(of_statements, steps=loops)
    by_arrows.pop(0)
    statements.pop(0)
    steps, needed = loops[is_question], needed[is_question]
    return {
        "right": mean(right[is_question]),
        "steps": mean(steps),
        "needed": mean(needed),
        "early": mean(steps < needed),
        "on_time": mean(steps == needed),
        "statements": mean(loops[~is_question]),
        "tokens": mean(loops),
        "text": mean(loops.amax(1)),
        "by_arrows": by_arrows,
        "statements_by_arrows": statements,
    }
