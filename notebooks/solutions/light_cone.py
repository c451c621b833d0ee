"""Solutions to the exercises of 05_light_cone. Look only after you have tried."""

from torch import Tensor


def steps_needed(resets: list[int]) -> list[int]:
    """As far back as the segment goes, the place itself included."""
    needed: list[int] = []
    for reset in resets:
        needed.append(1 if reset or not needed else needed[-1] + 1)
    return needed


def step_of_news(distance: int, kernel: int) -> int:
    """Step 1 for the place itself, and one more for every `kernel // 2` places, rounded up."""
    return 1 + -(-distance // (kernel // 2))


def gossip(h: Tensor) -> Tensor:
    """A whisper of all places to each: news from anywhere is there one step after it was heard."""
    return 0.01 * h.mean(2, keepdim=True).expand_as(h)
