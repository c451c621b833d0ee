"""What the texts say of stored networks on rotated digits, computed from `results/04_*`."""

from statistics import fmean

import numpy as np

from ponder_evidence.stored_facts import from_to, mean_and_interval, mean_with_interval, results, stored


def turned() -> dict[str, str]:
    """On digits that lie on their side, those of patches after up to 20 epochs and of CNN first."""
    patches = results("04_mnist_rotation_paper", network="conv", loss="per sample")
    more = [run["steps"][6] - run["steps"][0] for run in patches]  # 90 degrees less upright
    curves = [run["by_step_90"] for run in results("04_mnist_rotation_closer", network="CNN")]
    idle = [100 * (curve[-1] - curve[0]) for curve in curves]
    return {
        "patches_longer": f"{fmean(more):.1f}",
        "patches_longer_low": f"{mean_and_interval(more)[1]:.2f}",
        "idle_at_90": f"{fmean(idle):.1f}",
        "idle_at_90_high": f"{mean_and_interval(idle)[2]:.1f}",
    }


def priors() -> dict[str, str]:
    """Of CNN first with other priors, on upright digits; and of the patches with half their weight of the prior."""
    found: dict[str, str] = {}
    right: list[float] = []
    for name, lambda_p, beta in (("no_prior", 0.2, 0.0), ("05", 0.5, 0.01), ("02", 0.2, 0.01), ("01", 0.1, 0.01)):
        chosen = {"network": "CNN", "loss": "per sample", "within": 22.5, "lambda_p": lambda_p, "beta": beta}
        runs = results("04_mnist_rotation_class", **chosen)
        found[f"steps_{name}"] = from_to([run["steps"][0] for run in runs], ".1f")
        right += [run["accuracy"][0] for run in runs]
    read: list[float] = []
    for name, lambda_p, beta in (("no_prior", 0.3, 0.0), ("05", 0.5, 0.2), ("03", 0.3, 0.2), ("01", 0.1, 0.2)):
        chosen = {"network": "conv", "loss": "per sample", "within": 22.5, "lambda_p": lambda_p, "beta": beta}
        runs = results("04_mnist_rotation_class", **chosen)
        found[f"patches_{name}"] = f"{fmean(run['steps'][0] for run in runs):.1f}"
        read.append(fmean(run["accuracy"][0] for run in runs))
    patches = results("04_mnist_rotation_class", network="conv", beta=0.1)
    late = [run["steps"][0] for run in patches if run["steps"][0] > 9]
    return found | {
        "right_at_any_prior": f"{fmean(right):.0%}",
        "right_at_any_prior_range": from_to(right, ".1%"),
        "patches_read": from_to(read, ".0%"),
        "patches_take_all": f"{len(late)} of {len(patches)}",
    }


def facts() -> dict[str, str]:
    """All of them, by name; patches, ten pairs of seeds."""
    runs = stored("04_mnist_rotation_closer")
    conv, fixed = (
        {setting["seed"]: result for setting, result in runs if (setting["network"], setting["N"]) == ("conv", cap)}
        for cap in (10, 5)
    )
    halted = {seed: result["rules"]["quantile"][1] for seed, result in conv.items()}
    costs = [100 * (fixed[seed]["by_step"][-1] - right) for seed, right in halted.items()]
    sampled = [100 * (right - conv[seed]["rules"]["sample"][1]) for seed, right in halted.items()]
    cnn = results("04_mnist_rotation_closer", network="CNN")
    late = [result["longer"]["late"] for result in conv.values()]
    costs_cnn = [100 * fmean(max(run["by_step"]) - run["rules"][rule][1] for run in cnn) for rule in cnn[0]["rules"]]
    return (
        turned()
        | priors()
        | {
            "halting_costs": mean_with_interval(costs, ".2f"),
            "late": mean_with_interval(late, ".2f"),
            "sampling_costs": f"{np.mean(sampled):.1f}",
            "pairs": f"{len(costs)}",
            "halting_costs_cnn": f"{max(costs_cnn):.2f}",
            "cnns": f"{len(cnn)}",
        }
    )
