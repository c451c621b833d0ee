"""`torch.compile` in place, `module.compile()`: the same networks, the same checkpoints."""

import pytest
import torch
from torch import nn

from benchmarks.timing import can_compile
from ponder_utils.checkpoints import load_weights
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import GRUStep, RNNStep
from ponder_utils.tasks import ParityTask
from ponder_utils.training import train

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor"),  # torch's own, and hidden by it elsewhere
    pytest.mark.skipif(not can_compile(), reason="torch.compile needs a C++ compiler and Python's headers"),
]
TASK = ParityTask(6)


@pytest.mark.parametrize("step", [RNNStep, GRUStep])
def test_a_compiled_network_learns_the_same(tmp_path, step):
    def make():
        torch.manual_seed(0)
        return PonderNet(step(6, 16), 6), PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), 0.3)

    def learn(model, loss, n_updates, **options):
        return train(
            model, loss, lambda g: TASK.batch(32, g), n_updates, lr=1e-2, log_every=20, progress=False, **options
        )

    (plain, loss), (compiled, compiled_loss) = make(), make()
    compiled.compile(fullgraph=True)
    compiled_loss.compile(fullgraph=True)
    rows = learn(plain, loss, 60)
    again = learn(compiled, compiled_loss, 60, checkpoint_dir=tmp_path)
    assert [row["total"] for row in again] == pytest.approx([row["total"] for row in rows], rel=1e-3)
    assert rows[-1]["total"] != pytest.approx(rows[0]["total"], rel=1e-2)
    x, _ = TASK.batch(50, torch.Generator().manual_seed(1))
    fresh, loss = make()
    load_weights(fresh, tmp_path / "last.pt")  # the names of the weights are as without it
    compiled.eval()
    fresh.eval()
    for rule in ("quantile", "most_probable"):
        for got, wanted in zip(compiled.predict(x, rule), fresh.predict(x, rule), strict=True):
            torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(compiled.expectation(x).y_hat, fresh.expectation(x).y_hat)
    learn(fresh, loss, 80, checkpoint_dir=tmp_path)  # nor does going on need it
