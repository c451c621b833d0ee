"""The headlines of lesson 04 and of its evidence, and its findings, computed again from the stored runs."""

import numpy as np
from headlines import FINDINGS, mean_with_interval, stored


def test_findings_04_what_halting_costs():
    runs = stored("04_mnist_rotation_closer")
    conv = {setting["seed"]: result for setting, result in runs if setting["network"] == "conv" and setting["N"] == 10}
    fixed = {setting["seed"]: result for setting, result in runs if setting["network"] == "conv" and setting["N"] == 5}
    halted = {seed: result["rules"]["quantile"][1] for seed, result in conv.items()}
    costs = [100 * (fixed[seed]["by_step"][-1] - right) for seed, right in halted.items()]
    sampled = [100 * (right - conv[seed]["rules"]["sample"][1]) for seed, right in halted.items()]
    middle, ends = mean_with_interval(costs, ".2f").removesuffix(", 10 runs").split(" ", 1)
    assert f"is {middle} points {ends}" in FINDINGS
    assert f"and {np.mean(sampled):.1f} points less again when it is sampled" in FINDINGS
