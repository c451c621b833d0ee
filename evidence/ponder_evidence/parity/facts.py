"""What the texts say of stored networks on parity, computed from `results/03_*`."""

from collections import Counter
from statistics import fmean

import numpy as np
from scipy import stats

from ponder_evidence.stored_facts import from_to, interval_of_difference, mean_with_interval, results, stored

PRIORS = (0.1, 0.3, 0.5, 0.7, 0.9)
LOSSES = ("log space", "log space, reversed")


def right(result: dict) -> float:
    """The mean over all k."""
    return fmean(result["accuracy"])


def rises(loss: str, lambda_p: float, files: tuple = ("prior", "again", "ones", "fixed")) -> dict[int, list[float]]:
    """Steps at k = 8 less those at k = 1 of each run that learnt, by seed; networks of 128 units, 8 elements."""
    found: dict[int, list[float]] = {}
    for name in files:
        for setting, result in stored(f"03_parity_{name}_class"):
            wanted = setting["elements"], setting["lambda_p"], setting["loss"]
            if wanted == (8, lambda_p, loss) and not result["stopped"] and right(result) >= 0.99:
                found.setdefault(setting["seed"], []).append(result["steps"][7] - result["steps"][0])
    return found


def pair_of(lambda_p: float) -> list[list[float]]:
    """The mean rise of each seed, by the paper's divergence and by the reversed one."""
    return [[fmean(runs) for runs in rises(loss, lambda_p).values()] for loss in LOSSES]


def difference(lambda_p: float) -> str:
    """The reversed one's rise less the paper's, with its interval."""
    paper, reverse = pair_of(lambda_p)
    low, high = interval_of_difference(paper, reverse)
    return f"{fmean(reverse) - fmean(paper):+.2f} [{low:+.2f}, {high:+.2f}]"


def moved(loss: str, lambda_p: float) -> float:
    """How far the mean rise of the same seeds moved when they were trained again, at worst."""
    first = rises(loss, lambda_p, ("prior",))
    moves = [0.0]
    for name in ("ones", "fixed"):
        again = rises(loss, lambda_p, (name,))
        both = first.keys() & again.keys()
        if both:
            moves.append(abs(fmean(again[seed][0] for seed in both) - fmean(first[seed][0] for seed in both)))
    return max(moves)


def in_file(loss: str, lambda_p: float, name: str) -> float:
    """The mean rise of the networks of a file."""
    return fmean(rise for runs in rises(loss, lambda_p, (name,)).values() for rise in runs)


def divergences() -> dict[str, str]:
    """How much more the reversed divergence makes networks think longer on harder inputs."""
    decided: list[str] = []
    undecided: list[str] = []
    for lambda_p in PRIORS:
        paper, reverse = pair_of(lambda_p)
        low, high = interval_of_difference(paper, reverse, level=1 - 0.05 / len(PRIORS))
        (decided if low > 0 or high < 0 else undecided).append(f"{lambda_p:g}")
    paper, reverse = pair_of(0.3)
    of_runs = [rise for runs in rises(LOSSES[1], 0.3).values() for rise in runs]
    return {
        "reversed_more_03": difference(0.3),
        "reversed_more_05": difference(0.5),
        "reversed_more_09": difference(0.9),
        "decided": " ".join(decided),
        "n_decided": f"{len(decided)} of {len(PRIORS)}",
        "undecided": " ".join(undecided),
        "moved": f"{max(moved(loss, lambda_p) for loss in LOSSES for lambda_p in PRIORS):.1f}",
        "rise_01": f"{in_file(LOSSES[1], 0.1, 'prior'):.2f} {in_file(LOSSES[1], 0.1, 'ones'):.2f}",
        "rise_07": f"{in_file(LOSSES[0], 0.7, 'prior'):.2f} {-in_file(LOSSES[0], 0.7, 'fixed'):.2f}",
        "grid_01": f"{in_file(LOSSES[1], 0.1, 'prior') - in_file(LOSSES[0], 0.1, 'prior'):.2f}",
        "rise": mean_with_interval(paper, "+.2f"),
        "rise_reversed": mean_with_interval(reverse, "+.2f"),
        "reversed_fewer": f"{sum(rise < -0.1 for rise in of_runs)}",
    }


def by_itself_and_fixed(name: str) -> list[tuple[float, float, float]]:
    """Of the networks of a file that learnt: how often right by itself, and at the best fixed step; and lambda_p."""
    return [
        (right(result), max(np.mean(result["by_step"], axis=0)), setting["lambda_p"])
        for setting, result in stored(f"03_parity_{name}_class")
        if right(result) >= 0.99 and setting["loss"] == "log space"
    ]


def time_is_part() -> dict[str, str]:
    """Of networks that are right when they halt by themselves, and less at any one step."""
    runs = by_itself_and_fixed("fixed")
    lose = [lambda_p for own, best, lambda_p in runs if own - best >= 0.05]
    found = {
        "fixed_learnt": f"{len(runs)}",
        "fixed_lose": f"{len(lose)}",
        "fixed_lose_at_low_priors": f"{sum(lambda_p in (0.1, 0.3) for lambda_p in lose)}",
    }
    for name in ("fixed", "map"):
        own, best, _ = min(by_itself_and_fixed(name), key=lambda run: run[1])
        found[f"{name}_worst"] = f"{own:.0%} {best:.0%}"
    learnt = [run for run in results("03_parity_map_class") if right(run) >= 0.99]
    hook = min(learnt, key=lambda run: max(np.mean(run["by_step"], axis=0)))
    halted = [of_one[step - 1] for step, of_one in zip(hook["halts"], hook["right_at"], strict=True)]
    passed = sum(there and not of_one[-1] for there, of_one in zip(halted, hook["right_at"], strict=True))
    steps = f"{hook['steps'][0]:.1f} {hook['steps'][-1]:.1f}"
    likeliest = f"{hook['likeliest']:.0%}"
    cases = Counter(zip(hook["odd"], hook["halts"], (tuple(of_one[:3]) for of_one in hook["right_at"]), strict=True))
    alike = [cases[1, 2, (1, 1, 0)], cases[0, 3, (0, 0, 1)]]  # both are told: odd, odd, even
    return found | {
        "map_passes_by": f"{passed} {len(halted)}",
        "map_steps": steps,
        "map_likeliest": likeliest,
        "map_alike": f"{alike[0]} {alike[1]}",
    }


def papers_size() -> dict[str, str]:
    """Of 64 elements and 128 units, with a curriculum and Muon."""
    found = {}
    for name in ("PonderNet", "ACT", "last step", "every step"):
        runs = results("03_papers_size_64", network=name)
        n_learnt = sum(right(run) >= 0.95 for run in runs)
        found[f"papers_size_{name.replace(' ', '_').lower()}"] = f"{n_learnt} of {len(runs)}"
    ponder = results("03_papers_size_64", network="PonderNet")
    failed = [right(run) for run in ponder if right(run) < 0.95]
    return found | {
        "papers_size_steps": f"{np.mean([run['steps'] for run in ponder if right(run) >= 0.95]):.0f}",
        "papers_size_failed": f"{len(failed)}",
        "papers_size_failed_right": from_to(failed, ".0%"),
        "papers_size_act_right": from_to([right(run) for run in results("03_papers_size_64", network="ACT")], ".0%"),
    }


def with_adam() -> dict[str, str]:
    """Of the same with Adam; the two best."""
    runs, found, table = results("03_papers_size_adam"), {}, []
    for bias, name in ((-5, "adam_bias"), (0, "adam_no_bias")):
        of_bias = results("03_papers_size_adam", halting=bias)
        n_learnt = sum(right(run) >= 0.95 for run in of_bias)
        found[name] = f"{n_learnt} of {len(of_bias)}"
        table.append([n_learnt, len(of_bias) - n_learnt])
    alternating, counter = sorted(runs, key=right, reverse=True)[:2]
    swings = results("03_papers_size_best_by_adam")[0]["step_by_step"]["answers"]
    flat_again, counter_again = (results("03_papers_size_best_by_adam_again", seed=seed)[0] for seed in (5, 0))
    slope = np.polyfit(range(25), counter["by_ones"][2]["steps"][:25], 1)[0]
    return found | {
        "adam": f"{sum(right(run) >= 0.95 for run in runs)} of {len(runs)}",
        "adam_p": f"{stats.fisher_exact(table).pvalue:.3f}",
        "adam_best_steps": from_to(alternating["steps"], ".0f"),
        "adam_best_fixed": f"{max(alternating['by_step'][1]):.0%}",
        "adam_best_swings": f"{sum({0, 1} == set(answers) for answers in swings):,} of {len(swings):,}",
        "adam_flat_again": f"{right(flat_again):.0%}",
        "adam_counter_again": f"{right(counter_again):.0%}",
        "adam_counter_steps": f"{counter['steps'][7]:.1f} 8 {counter['steps'][63]:.1f} 64",
        "adam_counter_ones": f"{1 / slope:.0f}",
        "adam_counter_fixed": f"{max(counter['by_step'][1]):.0%}",
    }


def beyond() -> dict[str, str]:
    """Of networks trained on up to 48 of 96 elements."""
    runs = results("03_papers_size_beyond")
    learnt = [run for run in runs if fmean(run["accuracy"][:48]) >= 0.95]
    caps = list(learnt[0]["by_cap"])
    return {
        "beyond_learnt": f"{len(learnt)} of {len(runs)}",
        "beyond_best": f"{max(fmean(run['by_cap'][N]['accuracy'][48:]) for run in learnt for N in caps):.0%}",
        "beyond_caps": " ".join(caps),
    }


def facts() -> dict[str, str]:
    """All of them, by name."""
    return divergences() | time_is_part() | papers_size() | with_adam() | beyond()
