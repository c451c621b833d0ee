"""What a problem sheet of lesson 01 asks to be written, and is run."""

from typing import Any

import torch
from torch import nn

from ponder_course.common.parity import act, cross_entropy, one_time_step, score
from ponder_utils.losses import ACTLoss
from ponder_utils.tasks import ParityTask

PULLS = (1.0, 2.0, -4.0)  # the gradients of three batches


def moved(train: Any) -> tuple[float, list[float]]:
    """Train one number on three batches whose gradients are PULLS; return how far it moved, and the gradients seen."""
    line, seen = nn.Linear(1, 1, bias=False), list[float]()
    start = line.weight.item()
    line.weight.register_post_accumulate_grad_hook(lambda weight: seen.append(weight.grad.item()))
    train(line, [(torch.tensor([[pull]]), torch.zeros(1)) for pull in PULLS], lambda y_hat, _: y_hat.mean())
    return line.weight.item() - start, seen


def check_train(train: Any) -> str:
    """A loop takes a step of Adam for each batch, by the gradient of this batch alone, and ACT learns parity by it."""
    distance, seen = moved(train)
    assert seen, "no loss was sent backward, so there is no gradient"
    assert len(seen) == len(PULLS), f"{len(PULLS)} batches came, but {len(seen)} gradients were computed"
    assert seen == [*PULLS], "the gradients of earlier batches are still in that of a later one: set them to zero"
    assert distance, "the weights have not moved: the optimiser took no step"
    assert abs(distance + 0.0089) < 1e-4, (
        f"with gradients {PULLS} one Adam moves a weight by -0.0089, not by {distance:.4f}: is there one optimiser for "
        "all batches, with a learning rate of 0.005?"
    )
    torch.manual_seed(0)
    model, task, generator = act(3, 32, 6), ParityTask(3), torch.Generator().manual_seed(0)
    loss = ACTLoss(cross_entropy, tau=1e-3)
    batches = (one_time_step(lambda g: task.batch(32, g), generator) for _ in range(300))
    train(model, batches, lambda output, y: loss(output, y).total)
    row = score(model.eval(), *task.batch(1000, generator))
    learnt = f"right on {row['accuracy']:.1%} of inputs, with {row['steps']:.1f} steps"
    assert row["accuracy"] > 0.95, f"ACT does not learn parity with this loop: {learnt}"
    return f"ACT has learnt parity with your loop: {learnt}."
