"""`torch.compile` in place, `module.compile()`: the same networks, the same checkpoints."""

import pytest
import torch
from torch import nn
from torch._dynamo.testing import CompileCounter

from benchmarks.timing import can_compile
from examples.universal_transformer import UniversalStep
from ponder_course.common.local import LocalStep
from ponder_utils.attention import TransformerStep
from ponder_utils.checkpoints import load_weights
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import GRUStep, RecurrentStep
from ponder_utils.tasks import ParityTask
from ponder_utils.training import train

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor"),  # torch's own, and hidden by it elsewhere
    pytest.mark.skipif(not can_compile(), reason="torch.compile needs a C++ compiler and Python's headers"),
]
TASK = ParityTask(6)


def test_a_compiled_network_learns_the_same(tmp_path):
    def make():
        torch.manual_seed(0)
        return PonderNet(GRUStep(6, 16), 6), PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), 0.3)

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
    torch.testing.assert_close(compiled.expectation(x).y_hat, fresh.expectation(x).y_hat)
    learn(fresh, loss, 80, checkpoint_dir=tmp_path)  # nor does going on need it


SIZES = (16, 9, 5)  # the last batches of a loader are smaller
NETWORKS = {
    "GRU": (lambda: PonderNet(GRUStep(3, 4), 3), lambda n: torch.randn(n, 3), 0),
    "LSTM": (lambda: PonderNet(RecurrentStep(nn.LSTMCell(3, 4)), 3), lambda n: torch.randn(n, 3), 0),
    "places": (lambda: PonderNet(LocalStep(2, 4), 3), lambda n: torch.randn(n, 2, 6), 0),
    "tokens": (lambda: PonderNet(TransformerStep(8), 3), lambda n: padded(n), 0),
    "universal": (lambda: PonderNet(UniversalStep(8), 3), lambda n: padded(n), 0),
    "sequence": (lambda: PonderSequence(GRUStep(4, 4), 3, "mean"), lambda n: torch.randn(2, n, 3), 1),
}


def padded(n):
    return torch.randn(n, 6, 8), torch.arange(6).expand(n, -1) >= 4


def graphs_of(module, inputs):
    """Compile whole, run, and return how many graphs were made."""
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(module, backend=counter, fullgraph=True)
    for arguments in inputs:
        compiled(*arguments)
    return counter.frame_count


@pytest.mark.parametrize("name", NETWORKS)
def test_forward_is_exported_with_a_free_batch_and_one_graph_of_it_serves_all_sizes(name):
    make, draw, dimension = NETWORKS[name]
    assert graphs_of(make(), [(draw(n),) for n in SIZES]) == 2  # the first is of one size: torch waits for a second
    model, x = make().eval(), draw(5)
    batch = {dimension: torch.export.Dim("batch", min=2, max=64)}
    shapes = tuple(batch for _ in x) if isinstance(x, tuple) else batch
    exported = torch.export.export(model, (x,), dynamic_shapes=(shapes,)).module()
    for n in SIZES:
        x = draw(n)
        for found, wanted in zip(exported(x), model(x), strict=True):
            torch.testing.assert_close(found, wanted)
