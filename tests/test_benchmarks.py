import time

import pytest
import torch
from torch import nn

from benchmarks.peers import TextbookACT, TextbookPonderNet, bce, same_act, with_weights_of
from benchmarks.timing import compare, peak_bytes
from ponder_utils import ACT, ACTLoss, GRUStep, ParityTask, PonderLoss, PonderNet, RNNCell, RNNStep

x, y = ParityTask(8).batch(32, torch.Generator().manual_seed(0))


def test_the_ratio_is_ours_over_other():
    row = compare("a / b", lambda: time.sleep(0.002), lambda: time.sleep(0.01), rounds=5, target="<= 0.5")
    assert row["ratio"] < 0.5
    assert row["holds"]
    assert row["quartiles"][0] <= row["ratio"] <= row["quartiles"][1]
    assert not compare("b / a", lambda: time.sleep(0.01), lambda: time.sleep(0.002), rounds=5, target="<= 0.5")["holds"]


def test_peak_memory_is_what_was_held_at_one_time():
    def one_after_the_other():
        for _ in range(3):
            torch.zeros(1000)

    assert 4000 <= peak_bytes(one_after_the_other) < 8000
    assert 12000 <= peak_bytes(lambda: [torch.zeros(1000) for _ in range(3)]) < 16000


@pytest.mark.parametrize(("step", "cell"), [(RNNStep, nn.RNNCell), (GRUStep, nn.GRUCell)])
def test_the_textbook_loop_computes_what_ours_does(step, cell):
    """Otherwise the benchmark would compare two different things."""
    textbook, ours = TextbookPonderNet(cell(8, 16), 16, 6), PonderNet(step(8, 16), 6)
    with_weights_of(textbook.cell, ours.step.cell)
    for kind in ("weight", "bias"):
        its = [getattr(textbook.answer, kind), getattr(textbook.halt, kind)]
        getattr(ours.step.heads, kind).data = torch.cat(its)
    torch.testing.assert_close(textbook.loss(x, y), PonderLoss(bce, 0.2, 6)(ours(x), y).total)


def test_the_textbook_act_computes_what_ours_does():
    textbook, ours = TextbookACT(nn.RNNCell(9, 16), 16), ACT(RNNCell(9, 16))
    nn.init.normal_(textbook.halt.weight, std=0.5)
    nn.init.constant_(textbook.halt.bias, -1.0)
    same_act(textbook, ours)
    assert len(ours(x[None]).n_updates.unique()) > 2
    torch.testing.assert_close(textbook.loss(x, y, 0.01), ACTLoss(bce, 0.01)(ours(x[None]), y[None]).total)
