"""The stored map of lesson 03, beside the network whose weights are kept."""

import sys
from pathlib import Path

import pytest
import torch
from stored_runs import stored

from ponder_course.parity.figures import worst_at_fixed_steps
from ponder_evidence.parity.experiment import map_of_answers
from ponder_utils.tasks import ParityTask

sys.path.append(str(Path(__file__).resolve().parents[3] / "book" / "live"))
import live_networks


def test_the_map_is_that_of_the_network_whose_weights_are_kept():
    model, (_, setting, _) = live_networks.load("parity"), live_networks.stored("parity")
    x, y = ParityTask(8).batch(200, torch.Generator().manual_seed(15))
    halts, right = map_of_answers(model, x, y)
    odd = y[model(x).log_p.argmax(0).argsort(stable=True)].int().tolist()
    row = worst_at_fixed_steps([setting | result for setting, result in stored("03_parity_map_class")])
    assert (row["seed"], row["halts"], row["odd"]) == (setting["seed"], halts, odd)
    same = torch.tensor(row["right_at"]) == torch.tensor(right)
    assert same.double().mean().item() == pytest.approx(1, abs=0.002)  # another CPU may round a logit near 0 otherwise
