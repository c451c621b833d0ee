"""What lesson 11 draws is what one finds line by line, and run by run."""

from functools import partial

import numpy as np
import pytest
import torch

from ponder_course.judges.experiment import JudgedLine, Thought, halting_steps, learn, think
from ponder_course.judges.measured import (
    by_level,
    equals_package,
    halting_leads,
    in_the_end,
    running_on,
    stored_ends,
    stored_ladder,
    table_of,
    thoughts_of,
)
from ponder_course.judges.task import SumTask


def test_around_the_need_lines_are_aligned():
    needed = torch.tensor([3, 5])
    q = torch.rand(8, 2, 2, generator=torch.Generator().manual_seed(0))
    found = halting_leads(Thought(q[:, 0] > 0, q.logit()), needed, before=3, after=4)
    assert [*found] == [-3, -2, -1, 0, 1, 2, 3, 4]
    for away, share in found.items():
        lines = [(need + away - 1, line) for line, need in enumerate(needed.tolist()) if 1 <= need + away <= 8]
        assert share == np.mean([(q[n, 0, line] > q[n, 1, line]).item() for n, line in lines])


def test_thoughts_and_tables_are_of_fresh_lines_of_each_networks_own_values():
    torch.manual_seed(0)
    steps = {"three": [JudgedLine(3, 1).eval()], "two": [JudgedLine(2, 2).eval(), JudgedLine(2, 2).eval()]}
    table = table_of(steps, 6, 8, 50)
    assert [*table.index] == [("three", "network 1"), ("two", "network 1"), ("two", "network 2")]
    for name, networks in steps.items():
        for number, step in enumerate(networks, 1):
            x, y = SumTask(6, n_values=step.n_values).batch(50, torch.Generator().manual_seed(101))
            thought, needed = thoughts_of(step, 6, 8, 50)
            assert torch.equal(thought.right, think(step, x, y, 8).right)
            last = (halting_steps(thoughts_of(step, 6, 8)[0]) == 8).double().mean()
            assert running_on({"one": [step]}, 6, 8).endswith(f"one {last:.0%}")
            assert torch.equal(needed, SumTask.needed_steps(x).amax(1))
            many, _ = thoughts_of(step, 6, 8)
            ends = many.right[halting_steps(many) - 1, range(len(many.right[0]))], many.right[-1]
            halted, at_8 = (f"{right.double().mean():.1%}" for right in ends)
            assert in_the_end([step], 6, 8) == f"right when they halt {halted}, at step 8 {at_8}"
            row = table.loc[(name, f"network {number}")]
            assert float(row["steps taken"]) == pytest.approx(halting_steps(thought).double().mean().item(), abs=0.005)


def test_a_higher_level_halts_later_and_all_lines_of_all_networks_count():
    q = torch.linspace(0.05, 0.95, 10).logit()[:, None, None].expand(10, 1, 4)
    one = Thought((torch.arange(10)[:, None] >= 5).expand(10, 4), q)
    table = by_level([(one, torch.tensor([6, 6, 2, 2])), (one, torch.tensor([6, 6, 6, 6]))], (0.1, 0.5, 0.85))
    assert table["steps taken"].tolist() == ["2.00", "6.00", "10.00"]
    assert table["too early"].tolist() == ["75%", "0%", "0%"]
    assert table["right"].tolist() == ["0.0%", "100.0%", "100.0%"]


def test_the_ends_are_those_of_the_stored_runs_by_kind():
    def row(judge, n_values, discount, right, last):
        return {
            "judge": judge,
            "n_values": n_values,
            "discount": discount,
            "price": 0.0,
            "tests": {"16 places": {"right": right, "at_N": last}},
        }

    rows = [row("TRM", 2, 1.0, 0.7, 0.9), row("HRM", 2, 0.95, 0.99, 0.8), row("HRM", 2, 1.0, 1.0, 0.98)]
    rows[0]["tests"]["16 places"] |= {"yes": [0.9, 0.5]}
    assert stored_ladder(rows) == {2: [[0.9, 0.5]]}
    kinds = {"TRM": [(0.7, 0.9)], "HRM": [(1.0, 0.98)], "HRM, discount": [(0.99, 0.8)]}
    staying = [row("TRM", 2, 1.0, 0.9, 0.97), row("TRM", 5, 1.0, 0.6, 0.5)]
    assert stored_ends(rows, staying, 2) == kinds | {"all lines stay": [(0.9, 0.97)]}
    assert stored_ends([], [], 2) == {}


def test_a_training_that_is_another_is_noticed():
    def other(updates, seed, judge="HRM", discount=0.95, lr=4e-3):
        recipe = {"size": 5, "N": 4, "batch": 128, "lr": lr, "clip": 1.0, "updates": updates}
        return learn(judge, 3, discount, 0.0, seed, recipe, "product", refill=True)

    assert equals_package(other, "HRM", 3, 5, 4)
    assert equals_package(partial(other, judge="TRM"), "TRM", 3, 5, 4)
    assert not equals_package(partial(other, lr=5e-3), "HRM", 3, 5, 4)
    assert not equals_package(partial(other, discount=0.9), "HRM", 3, 5, 4)
