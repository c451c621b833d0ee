import json

import pytest
import torch
from torch import nn

from benchmarks.__main__ import HERE, PAGE, filled, measure, verdict
from benchmarks.inference_rows import EachPlaceStep
from benchmarks.peers import TextbookACT, TextbookPonderNet, bce, copy_act, copy_cell, copy_heads, halt_by_hand
from benchmarks.timing import Effort, row_of
from ponder_utils import ACT, ACTLoss, GRUStep, ParityTask, PonderLoss, PonderNet, RNNCell, RNNStep

x, y = ParityTask(8).batch(32, torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("step", "cell"), [(RNNStep, nn.RNNCell), (GRUStep, nn.GRUCell)])
def test_the_textbook_loop_computes_what_ours_does(step, cell):
    """Otherwise the benchmark would compare two different things."""
    textbook, ours = TextbookPonderNet(cell(8, 16), 16, 6), PonderNet(step(8, 16), 6)
    copy_cell(ours.step.cell, textbook.cell)
    copy_heads(ours.step.heads, textbook.answer, textbook.halt)
    torch.testing.assert_close(textbook.loss(x, y), PonderLoss(bce, 0.2)(ours(x), y).total)


def test_the_textbook_act_computes_what_ours_does():
    textbook, ours = TextbookACT(nn.RNNCell(9, 16), 16), ACT(RNNCell(9, 16))
    nn.init.normal_(ours.halting.weight, std=0.5)
    nn.init.constant_(ours.halting.bias, -1.0)
    copy_act(ours, textbook)
    assert len(ours(x[None]).steps.unique()) > 2
    torch.testing.assert_close(textbook.loss(x, y, 0.01), ACTLoss(bce, 0.01)(ours(x[None]), y[None]).total)


@pytest.mark.parametrize(("rule", "q"), [("quantile", 0.5), ("threshold", 0.2)])
def test_the_loop_by_hand_halts_where_predict_does(rule, q):
    torch.manual_seed(0)
    for step, inputs in ((GRUStep(8, 16), x), (EachPlaceStep(2, 8), torch.rand(9, 2, 12))):
        nn.init.normal_(step.heads.weight, std=2.0)  # so that some halt early, and some at the last step
        nn.init.constant_(step.heads.bias, -2.0)
        prediction = PonderNet(step, 7).predict(inputs, rule, q=q)
        answer, steps = halt_by_hand(step, inputs, 7, rule, q)
        assert len(steps.unique()) > 2
        assert torch.equal(steps, prediction.steps)
        torch.testing.assert_close(answer, prediction.y_hat)


def test_labmls_network_computes_what_ours_does():
    labml = pytest.importorskip("benchmarks.labml")
    pytest.importorskip("labml_nn")
    ours = PonderNet(GRUStep(8, 16), 6)
    theirs = labml.halting(ours)
    theirs.is_halt = False
    p, y_hat, _, _ = theirs(x)
    output = ours(x)
    torch.testing.assert_close((p, y_hat), (output.log_p.exp(), output.y_hat))


def test_what_is_missed_stands_in_a_line():
    fast, slow = row_of("ours / a", [1, 1], [2, 2], 0.6), row_of("ours / b", [3, 3], [2, 2], 1.0)
    assert verdict([fast]) == ""
    assert verdict([fast, slow]) == "MISSED: ours / b: 1.5 > 1.0"


def test_the_page_has_the_table_that_was_measured():
    page = PAGE.read_text(encoding="utf-8")
    if "still to be measured" in page:
        pytest.skip("make bench has not been run with these rows")
    assert filled(page, json.loads((HERE / "latest.json").read_text(encoding="utf-8"))) == page


@pytest.mark.slow
def test_every_row_can_be_measured_and_claims_something_else(tmp_path):
    table = measure(tmp_path, Effort(smoke=True))
    claims = [row["claim"] for row in table["rows"]]
    assert len(set(claims)) == len(claims) > 10
    network, batch, steps, *_ = filled("<!--bench--><!--/bench-->", table).splitlines()[3].strip("| ").split(" | ")
    assert (network, batch) == ("parity, GRU 64", "1")
    assert steps.endswith(" of 20")
