"""What the texts say of stored mazes, computed from `results/07_*`."""

import math

from ponder_evidence.stored_facts import from_to, results


def tests_of(name: str, test: str) -> list[dict]:
    """What a test measured of each network of a file."""
    return [result[test] for result in results(f"07_{name}") if test in result]


def best(test: dict) -> float:
    """The fraction of whole mazes that is right at the best common step."""
    return max(test["by_step"]["mazes"])


def last(test: dict) -> float:
    """The same at the last step."""
    return test["by_step"]["mazes"][-1]


def off(tests: list[dict]) -> str:
    """How far mean steps are from the need at worst, in %, rounded up."""
    return f"{math.ceil(10_000 * max(abs(test['steps'] / test['needed'] - 1) for test in tests)) / 100:.2f}"


def main_facts() -> dict[str, str]:
    """Of the ten networks of section 1."""
    large, of_20 = tests_of("mazes_main", "30"), tests_of("mazes_main", "20")
    small = [test for side in ("5", "10", "20") for test in tests_of("mazes_main", side)]
    margins = [test["by_margin"] for test in of_20]
    late = {int(m): sum(by_margin[m][2] for by_margin in margins) for m in margins[0]}
    return {
        "right_in_98": f"{sum(test['mazes'] >= 0.98 for test in large)} of {len(large)}",
        "networks": f"{len(large)}",
        "right": from_to([test["mazes"] for test in large], ".0%"),
        "right_lowest": f"{min(test['mazes'] for test in large + small):.0%}",
        "off": off(large),
        "off_small": off([test for side in ("5", "10") for test in tests_of("mazes_main", side)]),
        "places_common_step": f"{min(max(test['by_step']['places']) for test in large):.2%}",
        "common_step": from_to([best(test) for test in large], ".0%"),
        "common_step_small": from_to([best(test) for test in small], ".0%"),
        "lost_at_the_end": from_to([100 * (test["mazes"] - last(test)) for test in of_20], ".0f"),
        "wrong_late": f"{sum(late.values())}",
        "wrong_late_near": f"{sum(n for margin, n in late.items() if margin <= 4)}",
        "loops": from_to([test["mazes"] for test in tests_of("mazes_main", "20, loops")], ".0%"),
    }


def fresh() -> dict[str, str]:
    """Of ten networks that chose nothing."""
    large = tests_of("mazes_fresh", "30")
    every = [test for side in ("5", "10", "20", "30") for test in tests_of("mazes_fresh", side)]
    return {
        "fresh": f"{len(large)}",
        "fresh_right": from_to([test["mazes"] for test in large], ".0%"),
        "fresh_off": off(large),
        "fresh_early": f"{sum(test['n_early'] for test in every)}",
        "fresh_wrong": f"{sum(test['n_wrong'] for test in every)}",
        "fresh_asked": f"{sum(test['n_asked'] for test in every):,}",
        "fresh_common_step": from_to([best(test) for test in large], ".0%"),
    }


def halls() -> dict[str, str]:
    """Of mazes with all passages open, where one network halts too early."""
    worst, *nine = sorted(tests_of("mazes_main", "20, all passages"), key=lambda test: test["places"])
    return {
        "halls_good": f"{len(nine)}",
        "halls_mazes": from_to([test["mazes"] for test in nine], ".0%"),
        "halls_places": f"{math.floor(1000 * min(test['places'] for test in nine)) / 10}",
        "halls_worst_early": f"{worst['early']:.0%}",
        "halls_worst_right": f"{worst['places']:.0%}",
    }


def certainty() -> dict[str, str]:
    """Of networks with a loss at every step, whose places stop when they are sure."""
    sure = tests_of("mazes_certainty", "20")
    by_step = sorted(best(test) for test in sure)
    missed = sorted(1 - test["mazes"] for test in sure)
    return {
        "every_step_good": f"{len(by_step) - 1} of {len(by_step)}",
        "every_step_right": from_to(by_step[1:], ".0%"),
        "every_step_lost": from_to(sorted(100 * (test["mazes"] - last(test)) for test in sure)[1:], ".0f"),
        "certainty_right": " ".join(f"{1 - each:.0%}" for each in missed[-2:]),
        "certainty_as_good": f"{sum(each < 0.02 for each in missed)}",
        "certainty_networks": f"{len(sure)}",
        "certainty_missed": f"{missed[-2]:.0%}",
        "certainty_missed_early": f"{missed[-1]:.0%}",
    }


def other_training() -> dict[str, str]:
    """Of another prior, and of walls that are only a part of the input."""
    prior = tests_of("mazes_prior", "20")
    one = [result["5, one star"] for result in results("07_mazes_one_star")]
    whole = [test for test in one if test["mazes"] == 1]
    several = [tests_of("mazes_through_walls", side) for side in ("5", "10", "20")]
    several.append(tests_of("mazes_one_star", "10"))
    return {
        "low_prior": from_to([test["mazes"] for test in prior], ".0%"),
        "low_prior_threshold": from_to([test["q"] for test in prior], "g"),
        "one_star_whole": f"{len(whole)} of {len(one)}",
        "one_star_steps": from_to([test["steps"] for test in whole], ".2f"),
        "one_star_needed": from_to([test["needed"] for test in one], ".2f"),
        "through_walls_best": f"{max(test['mazes'] for tests in several for test in tests):.0%}",
    }


def paths() -> dict[str, str]:
    """Of the peers' task, mazes of 59 x 59 places."""
    ours = results("07_maze_paths_ours")
    masked = [best(test) for test in tests_of("maze_paths_recall_masked", "30")]
    recall = [best(test) for test in tests_of("maze_paths_recall", "30")]
    return {
        "paths_ours": " ".join(f"{result['30']['mazes']:.0%}" for result in ours),
        "paths_recall": from_to(recall, ".0%"),
        "paths_masked_range": from_to(masked, ".0%"),
        "paths_masked": " ".join(f"{right:.0%}" for right in masked),
    }


def rubble() -> dict[str, str]:
    """Of walls at random."""
    free, quarter, dense = (tests_of("rubble", density) for density in ("0", "0.25", "0.4"))
    on_grid = tests_of("rubble", "pillars, stars anywhere")
    worst, *good = sorted(test["places"] for test in free)
    return {
        "rubble_right": from_to([test["places"] for test in quarter], ".0%"),
        "rubble_on_grid": from_to([test["places"] for test in on_grid], ".0%"),
        "rubble_early": from_to([test["early"] for test in dense], ".0%"),
        "rubble_free": f"{len(good)} of {len(free)}",
        "rubble_free_right": f"{math.floor(100 * good[0])}",
        "rubble_free_worst": f"{worst:.0%}",
    }


def where_it_ends() -> dict[str, str]:
    """Of mazes unlike those of training, by the head and by answers that have left indifference."""
    rows = results("07_mazes_where_it_ends")
    kinds = [kind for kind in rows[0] if kind != "both colours"]
    places = {kind: sorted(row[kind]["head"]["places"] for row in rows) for kind in kinds}
    apart = [abs(row[kind]["head"]["places"] - row[kind]["decided"]["places"]) for row in rows for kind in kinds]
    both = [row["both colours"] for row in rows]
    return {
        "ends_opened": from_to(places["ten walls opened"], ".0%"),
        "ends_opened_early": from_to([row["ten walls opened"]["head"]["early"] for row in rows], ".0%"),
        "ends_rooms_good": f"{math.floor(100 * places['five rooms of 5 x 5'][1])}",
        "ends_rooms_worst": f"{places['five rooms of 5 x 5'][0]:.0%}",
        "ends_wide": from_to(places["corridors two wide"], ".0%"),
        "ends_hall": f"{math.floor(1000 * places['a hall with pillars'][0]) / 10}",
        "ends_apart": f"{math.ceil(10000 * max(apart)) / 100:g}",
        "ends_both": str(both[0]["mazes"]),
        "ends_common": from_to([row["common step"] * row["mazes"] for row in both], ".0f"),
        "ends_by_itself": from_to([row["by itself"] * row["mazes"] for row in both], ".0f"),
    }


def facts() -> dict[str, str]:
    """All of them, by name."""
    return main_facts() | fresh() | halls() | certainty() | other_training() | paths() | rubble() | where_it_ends()
