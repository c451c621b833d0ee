import pytest
import torch
from torch import nn

from benchmarks.__main__ import measure
from benchmarks.peers import TextbookACT, TextbookPonderNet, bce, copy_act, copy_cell
from benchmarks.timing import Effort
from ponder_utils import ACT, ACTLoss, GRUStep, ParityTask, PonderLoss, PonderNet, RNNCell, RNNStep

x, y = ParityTask(8).batch(32, torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("step", "cell"), [(RNNStep, nn.RNNCell), (GRUStep, nn.GRUCell)])
def test_the_textbook_loop_computes_what_ours_does(step, cell):
    """Otherwise the benchmark would compare two different things."""
    textbook, ours = TextbookPonderNet(cell(8, 16), 16, 6), PonderNet(step(8, 16), 6)
    copy_cell(textbook.cell, ours.step.cell)
    for kind in ("weight", "bias"):
        heads = [getattr(textbook.answer, kind), getattr(textbook.halt, kind)]
        getattr(ours.step.heads, kind).data = torch.cat(heads)
    torch.testing.assert_close(textbook.loss(x, y), PonderLoss(bce, 0.2)(ours(x), y).total)


def test_the_textbook_act_computes_what_ours_does():
    textbook, ours = TextbookACT(nn.RNNCell(9, 16), 16), ACT(RNNCell(9, 16))
    nn.init.normal_(textbook.halt.weight, std=0.5)
    nn.init.constant_(textbook.halt.bias, -1.0)
    copy_act(textbook, ours)
    assert len(ours(x[None]).steps.unique()) > 2
    torch.testing.assert_close(textbook.loss(x, y, 0.01), ACTLoss(bce, 0.01)(ours(x[None]), y[None]).total)


@pytest.mark.slow
def test_every_row_can_be_measured_and_claims_something_else(tmp_path):
    claims = [row["claim"] for row in measure(tmp_path, Effort(smoke=True))["rows"]]
    assert len(set(claims)) == len(claims) > 15
