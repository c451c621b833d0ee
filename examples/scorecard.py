"""A looped network of your own on the course's tasks: is it right when it halts, and does it halt when it can know?

The card asks for one function, x and N -> answers after each of N steps, and the step at which they halt. Here it is
written for the course's PonderNet, and for the `TinyRecursiveModel` of the package tiny-recursive-model.

    python -m examples.scorecard
"""

from typing import Any

import torch
from torch import Tensor

from ponder_course.common.lines import LineParityTask
from ponder_course.common.scorecard import Network, scorecard
from ponder_course.light_cone.lesson import LocalStep, loss_of_line
from ponder_utils import PonderLoss, PonderNet, cool_down, train
from ponder_utils.rules import quantile


def of_ponder_net(model: PonderNet, q: float = 0.5) -> Network:
    """Return the function of a PonderNet that answers yes or no at each place, and halts as a whole, by a quantile."""

    def network(x: Tensor, max_steps: int) -> tuple[Tensor, Tensor]:
        output = model.eval()(x, max_steps)
        return output.y_hat > 0, quantile(output, q)

    return network


def tokens_of(x: Tensor) -> Tensor:
    """Return lines [batch, 2, places] as tokens [batch, places], of 0 to 3: bit + 2 reset."""
    return (x[:, 0] + 2 * x[:, 1]).long()


def of_tiny_recursive_model(model: Any) -> Network:  # noqa: ANN401 - of a package that is not required
    """Return the function of a `TinyRecursiveModel` on `LineParityTask`, a token for each place.

    A step is one deep refinement, many passes through a network in which all places hear each other: so the need of a
    line is no bound for it.
    """

    def network(x: Tensor, max_steps: int) -> tuple[Tensor, Tensor]:
        outputs, latents = model.eval().get_initial()
        answers, halts = [], []
        for _ in range(max_steps):
            outputs, latents, y_hat, halt_prob = model(tokens_of(x), outputs, latents)
            answers.append(y_hat.argmax(-1))
            halts.append(halt_prob >= 0.5)
        halted = torch.stack(halts)  # [N, batch]
        return torch.stack(answers), torch.where(halted.any(0), halted.byte().argmax(0) + 1, 0)

    return network


def main(n_updates: int = 300) -> float:
    """Train a PonderNet on lines of 16 places, print its cards; return the fraction of places right when it halts."""
    torch.manual_seed(0)
    task = LineParityTask(16)
    model = PonderNet(LocalStep(2, 32, noise=0.1), max_steps=20)
    loss = PonderLoss(loss_of_line, prior=0.2, beta=0.01)
    schedule = cool_down(n_updates)
    train(model, loss, lambda generator: task.batch(64, generator), n_updates, lr=5e-3, clip=1.0, schedule=schedule)
    cards = scorecard(of_ponder_net(model), [task, LineParityTask(64)])
    return cards[0].places.halted or 0.0


if __name__ == "__main__":
    main()
