"""What the texts say of words, loops, dots and votes, from `results/12_*`, and of certainty in other lessons."""

from statistics import median
from typing import Any

from ponder_evidence.stored_facts import from_to, results

LEARNT = 0.99  # of the nodes of a depth


def at_depth(name: str, depth: int, what: str = "right", **wanted: Any) -> list[float]:
    """A number of each network of a file, of the nodes of one depth."""
    return [run["by_depth"][str(depth)][what] for run in results(f"12_words_{name}", **wanted)]


def words_and_states() -> dict[str, str]:
    """Of networks that carry a word or their state, by the depth of their training."""
    ends = at_depth("main", 31, carried="word", max_depth=1)
    found = {
        "networks": f"{len(ends)}",
        "word_1_31": from_to(ends, ".0%"),
        "nodes_31": from_to(at_depth("main", 31, "nodes"), "d"),
        "word_1_median": f"{median(ends):.0%}",
        "word_1_worst": f"{min(ends):.0%}",
        "word_1_learnt": f"{sum(right >= LEARNT for right in ends)}",
    }
    for deepest in (2, 4):
        found[f"word_{deepest}_31"] = from_to(at_depth("main", 31, carried="word", max_depth=deepest), ".0%")
    words = [at_depth("main", depth, "words", carried="state", max_depth=1) for depth in range(1, 32)]
    found["state_1_words"] = from_to([number for numbers in words for number in numbers], ".1f")
    for deepest in (1, 2, 4):
        found[f"state_{deepest}_31"] = from_to(at_depth("main", 31, carried="state", max_depth=deepest), ".0%")
    for n in (4, 8):
        found[f"state_2_at_{n}"] = from_to(at_depth("main", n, carried="state", max_depth=2), ".0%")
    learnt = [right >= LEARNT for right in at_depth("main", 31, carried="state", max_depth=4)]
    return found | {"state_4_learnt": f"{sum(learnt)}"}


def controls() -> dict[str, str]:
    """Of the mean of all names, slots, thoughts that are read again, and lesson 08's training on shallow trees."""
    found = {}
    for deepest in (1, 2, 4):
        found[f"mean_{deepest}_31"] = from_to(at_depth("mean", 31, max_depth=deepest), ".0%")
        found[f"slot_{deepest}_31"] = from_to(at_depth("slots", 31, max_depth=deepest), ".0%")
        for carried in ("word", "state"):
            kind: dict[str, Any] = {"carried": carried, "max_depth": deepest}
            found[f"reread_{carried}_{deepest}_31"] = from_to(at_depth("rereads", 31, **kind), ".0%")
    blends = {trained: results("12_words_blends", trained=trained) for trained in ("word", "mean")}
    found["means"] = f"{min(run['means'] for run in blends['mean']) // 1000 * 1000:,}"
    found["means_mixed"] = f"{max(run['below']['0.99'] for run in blends['mean'])}"
    found["mean_rounded_31"] = from_to([run["word"]["by_depth"]["31"]["right"] for run in blends["mean"]], ".0%")
    found["soft_31"] = from_to([run["mean"]["by_depth"]["31"]["right"] for run in blends["word"]], ".0%")
    asleep = [run["by_depth"]["31"] for run in results("12_words_asleep")]
    found["asleep"] = f"{len(asleep)}"
    found["asleep_31"] = from_to([run["right"] for run in asleep], ".0%")
    return found | {"asleep_steps": from_to([run["steps"] for run in asleep], ".1f")}


def dots_and_votes() -> dict[str, str]:
    """Of networks with so many passes and dots, on four chains of eight nodes."""
    found = {f"passes_2_at_{n}": from_to(at_depth("dots", n, n_dots=0, n_passes=2), ".0%") for n in (4, 5)}
    found["passes_3_at_7"] = from_to(at_depth("dots", 7, n_passes=3), ".0%")
    for n_dots in (8, 32):
        found[f"dots_{n_dots}_at_5"] = from_to(at_depth("dots", 5, n_dots=n_dots), ".0%")
    votes = [run["by_depth"]["5"]["votes"]["65"] for run in results("12_words_dots", n_dots=0, n_passes=2)]
    return found | {"votes_at_5": from_to(votes, ".0%")}


def by_head_and_certainty() -> dict[str, str]:
    """Of other lessons: right when stopped by a halting head, and when certain."""
    lines = {"problem": "lines"}
    halting = results("06_ways_to_stop_report", training="PonderNet", hyperparameter=0.8, **lines)
    plain = results("06_ways_to_stop_report", training="every step", **lines)
    trees = results("08_forests_main", memory="current")
    kinds = {
        "lines_head": [run["tests"]["16 places"]["rules"]["threshold"][6][0] for run in halting],  # at 0.5
        "lines_certain": [run["tests"]["16 places"]["rules"]["confidence"][3][0] for run in plain],  # at 0.9
        "lines_by_certain_head": [run["tests"]["16 places"]["rules"]["confidence"][3][0] for run in halting],
        "mazes_head": [run["10"]["places"] for run in results("07_mazes_main")],
        "mazes_certain": [run["10"]["places"] for run in results("07_mazes_certainty")],
        "trees_head": [run["nodes"] for run in trees],
        "trees_certain": [run["certainty"]["0.9"][0] for run in trees],
        "trees_surer": [run["certainty"]["0.99"][0] for run in trees],
        "trees_without_head": [run["certainty"]["0.9"][0] for run in results("08_forests_certainty")],
    }
    for way, test in (("head", "9 x 9"), ("certain", "9 x 9, certainty")):
        runs = [run[test] for run in results("10_sudoku_main")]
        kinds[f"sudoku_{way}"] = [1 - run["wrong"] / run["cells"] for run in runs]
    return {name: from_to(values, ".0%") for name, values in kinds.items()}


def facts() -> dict[str, str]:
    """All of them, by name."""
    return words_and_states() | controls() | dots_and_votes() | by_head_and_certainty()
