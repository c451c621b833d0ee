"""Stopping lines of `LineParityTask` before the clock: local rules by hand that do, and a bound for all local rules.

Every place answers and votes at each step, from what stands at most n - 1 places away at step n, and the line halts at
the first step at which no place vetoes. Places are counted from 0 here.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from ponder_course.common.lines import LineParityTask, last_barrier


class Stopper(NamedTuple):
    """What all places answer and vote at each step, and when each line halts."""

    answers: Tensor  # bool [N, batch, places]
    vetoes: Tensor  # bool [N, batch, places]
    steps: Tensor  # int64 [batch]; N where there is a veto at every step


def segments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first and the last place of every place's segment: x [batch, 2, places] -> [batch, places] twice."""
    resets = x[:, 1] > 0
    ends = pad(resets[:, 1:], (0, 1), value=True)
    return last_barrier(resets), x.shape[2] - 1 - last_barrier(ends.flip(1)).flip(1)


def by_hand(x: Tensor, n_steps: int) -> Stopper:
    """Stop lines x [batch, 2, places] by three local rules; all answers are right then if n_steps >= L.

    At step n a place hears what is at most n - 1 places away. It hears the end of its segment when it hears the place
    behind it, or the end of the line. The guess that all share: the parity of every segment is n mod 2.
    1. Who has heard the start of its segment counts from there. Who has heard the end only counts back from the guess.
    2. Who has heard both, while others still guess, vetoes a wrong guess.
    3. Who has heard neither vetoes; from step 2 on, so does who has heard the start in this very step, but not the end,
       since possibly nobody has heard both.
    """
    i = torch.arange(x.shape[2], device=x.device)
    start, end = segments(x)
    from_start = LineParityTask.answers(x) > 0.5
    whole = from_start.gather(1, end)
    after = whole ^ from_start  # the parity of the bits from the next place to the end
    answers, vetoes = [], []
    for n in range(1, n_steps + 1):
        guess = torch.full_like(whole, n % 2 == 1)
        heard_start, heard_end = i - start < n, end + 1 - i < n
        open_segment = end - start >= n
        answers.append(torch.where(heard_start, from_start, heard_end & (guess ^ after)))
        wrong_guess = heard_start & heard_end & open_segment & (whole != guess)
        just_heard = (i - start == n - 1) & ~heard_end & (n > 1)
        vetoes.append((~heard_start & ~heard_end) | wrong_guess | just_heard)
    vetoed = torch.stack(vetoes)
    free = ~vetoed.any(2)
    steps = torch.where(free.any(0), free.int().argmax(0) + 1, n_steps)
    return Stopper(torch.stack(answers), vetoed, steps)


def fewest_steps(x: Tensor) -> Tensor:
    """Return a lower bound for the mean steps of lines with these resets, by any local rules that are always right.

    x: [batch, 2, places], whose bits are not looked at -> [batch], float64. It holds even if all places know the resets
    and their own numbers.

    Of the lines, a fraction f has halted so far. First, those that halt at step n are right at step n, which
    `LineParityTask.best_probs` bounds. Second, hold all bits but M *far* ones: no vote at step n hears of two of them,
    and no answer at the end of a segment of one in that segment. Where no place vetoes, their values form a box. Turn a
    free bit of the box: the parity of its segment turns, and the answer at its end does not, so one of the two lines
    has halted before. Hence f grows to 2 f + 2^-M at most.
    """
    _, end = segments(x)
    places = end.shape[1]
    i = torch.arange(places, device=x.device)
    right = LineParityTask.best_probs(x, places).double()
    halted = torch.zeros(len(x), dtype=torch.float64, device=x.device)
    mean_steps = torch.zeros_like(halted)
    for n in range(1, places + 1):
        mean_steps += 1 - halted
        unheard = end - i >= n  # by the end of its segment
        far, last = torch.zeros_like(halted), torch.full_like(end[:, 0], -2 * places)
        for place in range(places):
            chosen = unheard[:, place] & (place - last >= 2 * n - 1)
            far += chosen
            last = torch.where(chosen, place, last)
        halted = torch.minimum(2 * halted + 0.5**far, halted + right[n - 1]).clamp(max=1)
    return mean_steps
