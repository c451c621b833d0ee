"""The stored map of lesson 03, beside the network whose weights are kept."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from stored_runs import stored

from ponder_course.parity.experiment import map_of_answers
from ponder_course.parity.figures import worst_at_fixed_steps
from ponder_evidence.parity.experiment import SETTING_OF_MAP
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import RNNStep
from ponder_utils.tasks import ParityTask

WEIGHTS = Path(__file__).resolve().parents[3] / "book" / "live" / "weights" / "parity.js"


def test_the_map_is_that_of_the_network_whose_weights_are_kept():
    kept = json.loads(WEIGHTS.read_text(encoding="utf-8").partition("=")[2].strip().rstrip(";"))
    model = PonderNet(RNNStep(SETTING_OF_MAP["elements"], SETTING_OF_MAP["hidden"]), SETTING_OF_MAP["N"])
    for name, weight in kept["weights"].items():
        numbers = np.frombuffer(base64.b64decode(weight["float32"]), "<f4").reshape(weight["shape"])
        model.step.state_dict()[name].copy_(torch.tensor(numbers))
    x, y = ParityTask(8).batch(200, torch.Generator().manual_seed(15))
    halts, right = map_of_answers(model, x, y)
    odd = y[model(x).log_p.argmax(0).argsort(stable=True)].int().tolist()
    row = worst_at_fixed_steps([setting | result for setting, result in stored("03_parity_map_class")])
    assert (row["seed"], row["halts"], row["odd"]) == (kept["setting"]["seed"], halts, odd)
    same = torch.tensor(row["right_at"]) == torch.tensor(right)
    assert same.double().mean().item() == pytest.approx(1, abs=0.002)  # another CPU may round a logit near 0 otherwise
