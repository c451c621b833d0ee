"""`make bench` and `make gpu`: a fair comparison, and pages that have the numbers that were measured."""

import json
import re

import pytest
import torch
from torch import nn

from benchmarks import gpu
from benchmarks.__main__ import PAGE, ROOT, TABLE, EachPlaceStep, filled, halt_by_hand, measure
from ponder_utils import GRUStep, ParityTask, PonderNet


@pytest.mark.parametrize(("rule", "q"), [("quantile", 0.5), ("threshold", 0.2)])
def test_the_loop_by_hand_halts_where_predict_does(rule, q):
    torch.manual_seed(0)
    x, _ = ParityTask(8).batch(32, torch.Generator().manual_seed(0))
    for step, inputs in ((GRUStep(8, 16), x), (EachPlaceStep(2, 8), torch.rand(9, 2, 12))):
        nn.init.normal_(step.heads.weight, std=2.0)  # so that some halt early, and some at the last step
        nn.init.constant_(step.heads.bias, -2.0)
        prediction = PonderNet(step, 7).predict(inputs, rule, q=q)
        answer, steps = halt_by_hand(step, inputs, 7, rule, q)
        assert len(steps.unique()) > 2
        assert torch.equal(steps, prediction.steps)
        torch.testing.assert_close(answer, prediction.y_hat)


def test_the_page_has_the_table_that_was_measured():
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, json.loads(TABLE.read_text(encoding="utf-8"))) == page


@pytest.mark.slow
def test_every_row_can_be_measured():
    table = measure(smoke=True)
    assert len(table["rows"]) == 8
    lines = filled("<!--bench--><!--/bench-->", table).splitlines()
    assert lines[3].startswith("| parity, GRU 64 | 1 | ")
    assert [row["updates_per_second"] > 0 for row in gpu.table("cpu", 1, rounds=1)] == [True]


def test_the_page_on_running_has_the_rates_of_the_record():
    record = json.loads(gpu.FILE.read_text(encoding="utf-8"))
    rates = {(row["batch"], row["width"], row["device"]): round(row["updates_per_second"]) for row in record["table"]}
    sizes = [(64, 32, "cuda"), (64, 32, "cpu"), (256, 64, "cuda"), (256, 64, "cpu")]
    page = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    (rate,) = re.findall(r"makes (\d+) updates a second there and (\d+) .* it is (\d+) against (\d+)", page, re.DOTALL)
    assert list(map(int, rate)) == [rates[size] for size in sizes]
