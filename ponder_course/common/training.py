"""One way to train a network in all lessons."""

from collections.abc import Callable
from typing import Any, TypeVar

from torch import Tensor, nn

from ponder_course.common.store import Row
from ponder_utils.training import Batches, cool_down, train

Network = TypeVar("Network", bound=nn.Module)
Loss = Callable[[Any, Tensor], Any]  # (output of a network, y) -> a scalar, or terms with a `total`


def fit(
    model: Network, loss_fn: Loss, batches: Batches, updates: int, *, lr: float | None = None, **options: Any
) -> tuple[Network, list[Row]]:
    """Train a network with a learning rate that cools down; return it, in evaluation mode, and its log.

    What evaluates within the network stays so; for another phase of a training, give model.train().
    The options are those of `train`. Where none says otherwise, gradients are clipped to a norm of 1, there is no bar,
    and the log has the last update alone.
    """
    defaults: Row = {"schedule": cool_down(updates), "clip": 1.0, "log_every": updates, "progress": False}
    log = train(model, loss_fn, batches, updates, lr=lr, **defaults | options)
    return model.eval(), log


def of_asked(loss: nn.Module) -> Loss:
    """Return the loss over the answers that are asked, each a sample of its own: those whose target is at least 0."""
    return lambda output, y: loss(output, y, y >= 0)
