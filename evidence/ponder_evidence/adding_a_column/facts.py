"""What the texts say of stored adders and of ACT's own tasks, computed from `results/09_*`."""

import math
from statistics import fmean

import numpy as np

from ponder_evidence.stored_facts import from_to, mean_with_interval, results


def learnt(result: dict) -> bool:
    """Whether the eighth sum is right in 99 % of columns: so many numbers it had in training."""
    return result["trained"]["right"][7] >= 0.99


def mean_steps(result: dict) -> float:
    """In columns at the width of training."""
    return result["trained"]["steps"]


def sums_right(result: dict) -> float:
    """There, too."""
    return result["trained"]["sums"]


def above(networks: list[dict], width: str) -> list[float]:
    """Steps computed more than needed, in random digits of a width."""
    waiting = [result["waiting"][width] for result in networks]
    return [each["computed"] - each["needed"] for each in waiting]


def gain(networks: list[dict], width: str) -> float:
    """How many times fewer steps than the worst case, on average."""
    return fmean(int(width) / result["waiting"][width]["computed"] for result in networks)


def adders() -> dict[str, str]:
    """Of the ten networks that pass on the state at which they halt."""
    networks = results("09_columns_main")
    trained, wide, long = ([result[test] for result in networks] for test in ("trained", "wide", "long"))
    whole = [result for result in networks if result["wide"]["sums"] == 1]
    short = sorted(test["sums"] for test in wide if test["sums"] < 1)
    longest = sorted(result["wide and long"]["sums"] for result in networks)
    common = [result["fixed"].index(1.0) + 1 for result in networks if max(result["fixed"]) == 1]
    keep = [result["all N"][-1] for result in networks]
    waiting = [result["waiting"]["128"] for result in networks]
    of_widths = [each for result in networks for each in result["waiting"].values()]
    return {
        "learnt": f"{sum(map(learnt, networks))} of {len(networks)}",
        "networks": f"{len(networks)}",
        "steps": from_to([test["steps"] for test in trained], ".1f"),
        "needed": from_to([test["needed"] for test in trained], ".1f"),
        "long_worst": f"{min(test['sums'] for test in long):.2%}",
        "last_sum_right": f"{sum(test['right'][-1] == 1 for test in long)}",
        "wide_whole": f"{len(whole)} of {len(networks)}",
        "wide_whole_n": f"{len(whole)}",
        "wide_not": f"{len(short)}",
        "wide_right": " ".join(f"{sums:.0%}" for sums in short),
        "wide_and_long_worst": " ".join(f"{sums:.0%}" for sums in longest[:2]),
        "saved": from_to([128 / each["computed"] for each in waiting], ".0f"),
        "correlation": f"{min(test['correlation'] for test in trained):.3f}",
        "wide_early": f"{100 * max(test['early'] for test in wide):.1f}",
        "late_16": from_to(above(networks, "16"), ".1f"),
        "late_128": f"{math.ceil(10 * max(above(networks, '128'))) / 10}",
        "gain": f"{gain(networks, '16'):.1f} {gain(networks, '128'):.1f}",
        "random_right": f"{math.floor(1000 * min(each['sums'] for each in of_widths)) / 10}",
        "all_steps_right": " ".join(f"{right:.0%}" for right in sorted(keep, reverse=True) if right < 1),
        "common_step": from_to(common, "d"),
        "common_step_right": f"{len(common)} of {len(networks)}",
        "common_step_times": f"{min(common) // max(map(mean_steps, networks)):.0f}",
        "all_steps": f"{len(networks[0]['fixed'])}",
        "all_steps_keep": f"{sum(right == 1 for right in keep)}",
        "all_steps_lose": f"{sum(right < 1 for right in keep)} of {len(networks)}",
        "all_steps_lose_n": f"{sum(right < 1 for right in keep)}",
        "lose_and_fail": f"{sum(result['all N'][-1] < 1 and result['wide']['sums'] < 1 for result in networks)}",
    }


def kinds() -> dict[str, str]:
    """Of networks that are trained otherwise."""
    mean, always, price_first = (results(f"09_columns_{name}") for name in ("mean", "always", "price_first"))
    wide = [result["wide"]["sums"] for result in mean]
    return {
        "mean_networks": f"{len(mean)}",
        "mean": f"{sum(map(learnt, mean))}",
        "mean_right": f"{min(map(sums_right, mean)):.1%}",
        "mean_wide_right": from_to(wide, ".0%"),
        "mean_wide": f"{sum(sums == 1 for sums in wide)}",
        "always_networks": f"{len(always)}",
        "always": f"{sum(map(learnt, always))}",
        "always_right": from_to([*map(sums_right, always)], ".0%"),
        "price_first_networks": f"{len(price_first)}",
        "price_first_right": from_to([*map(sums_right, price_first)], ".0%"),
    }


def wrong(name: str, kind: str, value: float) -> list[float]:
    """Wrong sequences, as fractions, network by network."""
    return [run["sequence_error"] for run in results(f"09_act_tasks_{name}", kind=kind, hyperparameter=value)]


def logic() -> dict[str, str]:
    """Of sequences of gates; ACT at a price of 0.1, unless another is named."""
    acts = results("09_act_tasks_logic", kind="ACT", hyperparameter=0.1)
    ponder = results("09_act_tasks_logic", kind="PonderNet", hyperparameter=0.2)
    sure = results("09_act_tasks_logic", kind="every step", hyperparameter=0)
    rises = [run["steps"][-1] - run["steps"][0] for run in acts]
    cheap, expensive = (results("09_act_tasks_logic", kind="ACT", hyperparameter=tau) for tau in (0.03, 0.3))
    fewer = np.subtract(wrong("logic", "fixed", 1), wrong("logic", "ACT", 0.1))
    return {
        "logic_fewer": mean_with_interval(100 * fewer, ".0f"),
        "logic_rise_short": mean_with_interval(rises, ".1f"),
        "logic_cheap": from_to(wrong("logic", "ACT", 0.03), ".1%"),
        "logic_sure": from_to(wrong("logic", "every step", 0), ".0%"),
        "logic_sure_steps": f"{fmean(run['mean_steps'] for run in sure):.0f}",
        "logic_networks": f"{len(acts)}",
        "logic_one_step": from_to(wrong("logic", "fixed", 1), ".0%"),
        "logic_act": from_to(wrong("logic", "ACT", 0.1), ".0%"),
        "logic_six_steps": from_to(wrong("logic", "fixed", 6), ".0%"),
        "logic_rise": mean_with_interval(rises, ".2f"),
        "logic_mean_steps": f"{fmean(run['mean_steps'] for run in acts):.0f}",
        "logic_cheap_steps": f"{fmean(run['mean_steps'] for run in cheap):.0f}",
        "logic_expensive_steps": f"{fmean(run['mean_steps'] for run in expensive):.0f}",
        "logic_expensive": from_to(wrong("logic", "ACT", 0.3), ".0%"),
        "logic_ponder_steps": f"{fmean(run['mean_steps'] for run in ponder):.0f}",
    }


def sums_and_sorting() -> dict[str, str]:
    """Of sums of two numbers, of sorting, and of characters."""
    acts = results("09_act_tasks_addition", kind="ACT", hyperparameter=0.1)
    steps = np.mean([run["steps_by_time"] for run in acts], axis=0)
    one, four, act = (wrong("addition", *kind) for kind in (("fixed", 1), ("fixed", 4), ("ACT", 0.1)))
    fewer = np.subtract(wrong("sort", "fixed", 1), wrong("sort", "ACT", 0.1))
    cheap, expensive = (results("09_act_tasks_characters", tau=tau) for tau in (0.006, 0.1))
    follows = [run["follows"] for run in expensive]
    return {
        "addition_act_fine": from_to(act, ".1%"),
        "addition_act_steps": f"{fmean(run['mean_steps'] for run in acts):.0f}",
        "addition_four_more": mean_with_interval(100 * np.subtract(four, act), ".1f"),
        "addition_ponder": from_to(wrong("addition", "PonderNet", 0.2), ".0%"),
        "addition_sure": from_to(wrong("addition", "every step", 0), ".0%"),
        "addition_3_digits_act": from_to(wrong("addition_3_digits", "ACT", 0.1), ".0%"),
        "addition_3_digits_one_step": from_to(wrong("addition_3_digits", "fixed", 1), ".0%"),
        "sort_one_step_fine": from_to(wrong("sort", "fixed", 1), ".1%"),
        "sort_act_fine": from_to(wrong("sort", "ACT", 0.1), ".1%"),
        "sort_fewer": mean_with_interval(100 * fewer, ".1f"),
        "sort_four_steps_fine": from_to(wrong("sort", "fixed", 4), ".1%"),
        "sort_sure": from_to(wrong("sort", "every step", 0), ".1%"),
        "sort_ponder": from_to(wrong("sort", "PonderNet", 0.2), ".1%"),
        "characters_steps": f"{fmean(run['mean_steps'] for run in cheap):.0f}",
        "characters_expensive_steps": from_to([run["mean_steps"] for run in expensive], ".1f"),
        "characters_follow": f"{max(follows):.2f} {min(follows):.2f}",
        "addition_one_step": from_to(one, ".0%"),
        "addition_four_steps": from_to(four, ".0%"),
        "addition_act": from_to(act, ".0%"),
        "addition_first": f"{steps[0]:.0f}",
        "addition_second": f"{steps[1]:.0f}",
        "sort_act": from_to(wrong("sort", "ACT", 0.1), ".0%"),
        "sort_one_step": from_to(wrong("sort", "fixed", 1), ".0%"),
        "sort_four_steps": from_to(wrong("sort", "fixed", 4), ".0%"),
        "characters_networks": f"{len(cheap)}",
    }


def total(tests: list[dict], count: str) -> int:
    """A count of sums or steps, over several networks."""
    return sum(test[count] for test in tests)


def percent_right(tests: list[dict]) -> str:
    """Of sums, in the network that is right least often, rounded down."""
    worst = min(test["right"] / test["sums"] for test in tests)
    return f"{math.floor(1000 * worst) / 10} %"


def silence() -> dict[str, str]:
    """Of fresh networks beside both needs, with a vote of all places, and with one that must travel."""
    shared, travelling = (results("09_columns_silence", head=head) for head in ("shared", "travelling"))
    trained, wide, long = ([result[test] for result in shared] for test in ("trained", "wide", "long"))
    before = total(wide, "before the cone")
    vetoes = [test["vetoes"] for test in wide]
    pairs = [test["pair"]["steps"] for test in wide]
    far = [result["wide"] for result in travelling]
    return {
        "fresh_networks": f"{len(shared)}",
        "fresh_trained": percent_right(trained),
        "fresh_trained_whole": f"{sum(test['right'] == test['sums'] for test in trained)}",
        "fresh_wide": percent_right(wide),
        "fresh_wide_whole": f"{sum(test['right'] == test['sums'] for test in wide)}",
        "fresh_long": percent_right(long),
        "cone_larger": f"{total(wide, 'cone is larger') / total(wide, 'sums'):.0%}",
        "before_cone": f"{before / total(wide, 'cone is larger'):.0%}",
        "before_cone_n": f"{before:,}",
        "before_cone_wrong": f"{before - total(wide, 'before the cone, right')}",
        "gap": f"{fmean(test['gap'] for test in wide):.0f}",
        "pair_0": from_to([steps[0] for steps in pairs], "d"),
        "pair_1": from_to([steps[1] for steps in pairs], "d"),
        "objects": f"{total(vetoes, 'vetoed') / total(vetoes, 'steps'):.1%}",
        "objects_at_carry": f"{total(vetoes, 'at a carry') / total(vetoes, 'vetoed'):.0%}",
        "travelling": f"{len(travelling)}",
        "travelling_right": from_to([test["right"] / test["sums"] for test in far], ".0%"),
        "travelling_steps": from_to([test["steps"] for test in far], ".0f"),
    }


def facts() -> dict[str, str]:
    """All of them, by name."""
    return adders() | kinds() | silence() | logic() | sums_and_sorting()
