"""A bound for all local rules that stop lines before the clock."""

import torch
from torch import Tensor

from ponder_course.common.lines import LineParityTask
from ponder_course.light_cone.local_stoppers import segments


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
