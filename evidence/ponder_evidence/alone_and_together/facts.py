"""What the texts say of stored forests, inference and programs, computed from `results/08_*`."""

import itertools
import math
from operator import mul
from statistics import fmean

from scipy import stats

from ponder_evidence.stored_facts import from_to, mean_with_interval, results

IN_TRAINING = 8  # the depth of the deepest trees


def learnt(result: dict) -> bool:
    """Whether nodes of each depth of training are right in 99 %."""
    return all(part["right"] >= 0.99 for depth, part in result["by_depth"].items() if int(depth) <= IN_TRAINING)


def right_deeper(result: dict, border: int, last: int = 99, step: int | None = None) -> float:
    """The fraction of right nodes deeper than the border, and no deeper than the last, where they stop or at a step."""
    parts = [part for depth, part in result["by_depth"].items() if border < int(depth) <= last]
    right = [part["by_step"][step - 1] if step else part["right"] for part in parts]
    return sum(map(mul, right, (part["nodes"] for part in parts))) / sum(part["nodes"] for part in parts)


def nodes_deeper(networks: list[dict]) -> float:
    """The same at worst, in %, of the networks that learnt, rounded down."""
    return math.floor(1000 * min(right_deeper(result, IN_TRAINING) for result in networks if learnt(result))) / 10


def forests() -> dict[str, str]:
    """Of nodes that ask for their roots."""
    alone, together = (results("08_forests_main", memory=memory) for memory in ("initial", "current"))
    awake = results("08_forests_awake")
    deeper = [
        right_deeper(result, border) > 0.95 for border in (12, 16) for result in results(f"08_forests_awake_{border}")
    ]
    ends = [result["by_depth"]["31"] for result in together]
    deep = [part["steps"] for result in awake for d, part in result["by_depth"].items() if int(d) > 2]
    return {
        "alone": f"{sum(map(learnt, alone))} of {len(alone)}",
        "alone_failed": f"{sum(not learnt(result) for result in alone)} of {len(alone)}",
        "together": f"{sum(map(learnt, together))} of {len(together)}",
        "deepest": f"{max(map(int, together[0]['by_depth']))}",
        "deeper_right": f"{min(nodes_deeper(alone), nodes_deeper(together))}",
        "common_step": from_to([max(result["forests_by_step"]) for result in together], ".0%"),
        "awake_right": from_to([right_deeper(result, IN_TRAINING) for result in awake], ".0%"),
        "awake_p": f"{stats.fisher_exact([[len(together), 0], [0, len(awake)]]).pvalue:.4f}",
        "awake": f"{sum(map(learnt, awake))}",
        "awake_steps": from_to(deep, ".0f"),
        "awake_on_near": from_to([right_deeper(result, IN_TRAINING, 16, step=5) for result in awake], ".0%"),
        "awake_on_far": from_to([right_deeper(result, 16, step=5) for result in awake], ".0%"),
        "slept_on": f"{math.floor(1000 * min(right_deeper(run, IN_TRAINING, step=5) for run in together)) / 10}",
        "last_steps": from_to([end["steps"] for end in ends], ".1f"),
        "last_right": f"{math.floor(100 * min(end['right'] for end in ends))}",
        "awake_deeper": f"{sum(deeper)} of {len(deeper)}",
    }


def fresh() -> dict[str, str]:
    """Of ten networks of each kind that chose nothing."""
    found: dict[str, str] = {}
    for name, memory in (("alone", "initial"), ("together", "current")):
        runs = results("08_forests_fresh", memory=memory)
        good = [result for result in runs if learnt(result)]
        found |= {
            f"fresh_{name}": f"{len(good)} of {len(runs)}",
            f"fresh_{name}_deeper": f"{nodes_deeper(runs)}",
            f"fresh_{name}_early": from_to([result["n_early"] for result in good], "d"),
        }
    return found | {"fresh_asked": f"{runs[0]['n_asked']:,}"}


def more_heads() -> dict[str, str]:
    """Of four heads, with as many updates as one has, and three times as many."""
    short, long = results("08_forests_heads"), results("08_forests_heads_longer")
    return {
        "heads": f"{sum(map(learnt, short))} of {len(short)}",
        "longer_heads": f"{sum(map(learnt, long))} of {len(long)}",
        "longer_heads_needed": f"{long[0]['needed']:.2f}",
    }


def equal_budgets() -> dict[str, str]:
    """Of one head and of four, with as many updates, and of training without halting: ten networks each."""
    found: dict[str, str] = {}
    kinds = {
        "heads_short": results("08_forests_budgets", kind="halting", n_heads=4, updates=1000),
        "one_long": results("08_forests_budgets", kind="halting", n_heads=1),
        "heads_long": results("08_forests_budgets", kind="halting", n_heads=4, updates=3000),
    }
    for name, runs in kinds.items():
        found[f"{name}_learnt"] = f"{sum(map(learnt, runs))} of {len(runs)}"
        found[f"{name}_early"] = from_to([felt_early(run) for run in runs], "d")
    for name in ("one_long", "heads_long"):
        found[f"{name}_steps"] = from_to([run["steps"] for run in kinds[name]], ".2f")
    found["heads_long_nodes"] = f"{math.floor(1e4 * min(run['nodes'] for run in kinds['heads_long'])) / 100} %"
    losses = {name: results("08_forests_budgets", kind=name) for name in ("last", "every", "spent")}
    for name, runs in losses.items():
        found[f"{name}_forests"] = from_to([max(run["forests_by_step"]) for run in runs], ".0%")
    for name in ("last", "spent"):
        found[f"{name}_early"] = from_to([felt_early(run) for run in losses[name]], "d")
    for name, level in itertools.product(("last", "every"), ("0.9", "0.99")):
        found[f"{name}_sure_{level[2:]}"] = from_to([run["certainty"][level][0] for run in losses[name]], ".0%")
    deeper = [right_deeper(run, IN_TRAINING, step=6) for run in losses["last"]]
    steps = [run["certainty"]["0.9"][1] for run in losses["every"]]
    return found | {"last_deeper": from_to(deeper, ".1%"), "every_sure_steps": from_to(steps, ".1f")}


def marked() -> dict[str, str]:
    """Of networks whose roots are marked in the input, at depths at which a step too many was seen."""
    runs = results("08_forests_marked")
    found = {
        f"marked_steps_{d}": from_to([run["by_depth"][d]["steps"] for run in runs], ".1f") for d in ("3", "7", "15")
    }
    plain = results("08_forests_fresh", memory="current")
    at_7 = from_to([run["by_depth"]["7"]["steps"] for run in plain], ".1f")
    return found | {"marked": f"{len(runs)}", "marked_learnt": f"{sum(map(learnt, runs))}", "unmarked_steps_7": at_7}


def heard_at(k: int, doubles: bool) -> int:
    """After how many steps a node knows k + 1 arrows: those up to the k-th node above it, and that one's own."""
    known, n = 1, 0
    while n == 0 or known < k + 1:
        known, n = (2 * known if doubles else known + 1), n + 1
    return n


def named_by_law(result: dict, doubles: bool) -> list[bool]:
    """Whether nodes of each depth are right from the very step on at which the name can have come."""
    held = []
    for depth, part in result["by_depth"].items():
        n = heard_at(int(depth) - 1, doubles)  # one can name whom the last of the known arrows leads to
        held.append([right > 0.5 for right in part["by_step"][:n]] == [False] * (n - 1) + [True])
    return held


def felt_by_law(result: dict, doubles: bool) -> list[bool]:
    """Whether a turned arrow is felt at the very step at which it can have been heard of."""
    return [felt == heard_at(k, doubles) for k, felt in enumerate(result["felt"])]


def felt_early(result: dict, first: int = 0) -> int:
    """How many turned arrows, from the first on, are felt before a node that doubles can have heard of them."""
    return sum(felt < heard_at(k, doubles=True) for k, felt in enumerate(result["felt"]) if k >= first)


def laws() -> dict[str, str]:
    """In how many pairs of network and depth, or arrow, the laws hold, of the networks that learnt."""
    named: list[bool] = []
    felt: list[bool] = []
    for memory in ("initial", "current"):
        for result in filter(learnt, results("08_forests_main", memory=memory)):
            named += named_by_law(result, memory == "current")
            felt += felt_by_law(result, memory == "current")
    return {"named_by_law": f"{sum(named)}", "felt_by_law": f"{sum(felt)}"}


def regret(result: dict, right: float, steps: float) -> float:
    """Lesson 06's, in hundredths; a step costs 0.005."""
    return 100 * (0.005 * (steps - result["needed"]) + 1 - right)


def certainty() -> dict[str, str]:
    """What certainty loses at its best level, and what the head loses."""
    found, heads = {}, []
    for name, memory in (("alone", "initial"), ("together", "current")):
        networks = [result for result in results("08_forests_main", memory=memory) if learnt(result)]
        levels = [
            [regret(result, *result["certainty"][level][:2]) for result in networks]
            for level in networks[0]["certainty"]
        ]
        found[f"certainty_loses_{name}"] = f"{math.floor(10 * min(min(levels, key=fmean))) / 10}"
        heads += [regret(result, result["nodes"], result["steps"]) for result in networks]
    return found | {"head_loses": f"{max(heads):.1f}"}


def twice_as_many_nodes() -> dict[str, str]:
    """Of 64 nodes, at depth 63."""
    networks = results("08_forests_far_8")
    last = [result["by_depth"]["63"] for result in networks]
    early = [felt_early(result, first=33) for result in networks]
    return {
        "far_learnt": f"{sum(map(learnt, networks))} of {len(networks)}",
        "far_forests": from_to([result["forests"] for result in networks], ".0%"),
        "far_too_early": from_to([result["early"] for result in networks], ".1%"),
        "far_right": from_to([part["right"] for part in last], ".0%"),
        "far_steps": from_to([part["steps"] for part in last], ".1f"),
        "far_asked": from_to([result["asked"][5][0] for result in networks], ".0%"),
        "far_early": f"{sum(number > 0 for number in early)} of {len(networks)}",
    }


def inference() -> dict[str, str]:
    """Of pairs that were never seen together."""
    networks = results("08_inference_main")
    good = [run for run in networks if run["expected"]["right"][2] >= 0.95]
    rise = [run["expected"]["steps"][2] - run["expected"]["steps"][0] for run in good]
    steps = [[run["confidence"]["steps"][d] for run in good] for d in range(3)]
    without = results("08_inference_every_step")
    return {
        "inference_learnt": f"{len(good)}",
        "inference_sure_steps": " ".join(
            [f"{fmean(steps[0]):.1f}", f"{fmean(steps[1]):.1f}", from_to(steps[2], ".1f")]
        ),
        "inference_sure_right": f"{min(run['confidence']['right'][2] for run in good):.1%}",
        "inference_without": f"{len(without)}",
        "inference_without_right": f"{math.floor(100 * min(run['confidence']['right'][2] for run in without))}",
        "inference": f"{len(good)} of {len(networks)}",
        "inference_rise": mean_with_interval(rise, ".2f"),
    }


def programs() -> dict[str, str]:
    """Of variables that are copied."""
    networks = results("08_programs_main")
    right = [run["all"]["right"] for run in networks]
    return {
        "programs": f"{sum(each >= 0.999 for each in right)} of {len(networks)}",
        "programs_common_step": f"{max(max(run['programs_by_step']) for run in networks):.0%}",
        "programs_right": f"{min(right):.1%}",
    }


def text() -> dict[str, str]:
    """Of plain text, in nats of a character."""
    every, one = (results("08_programs_text", loss=loss, loops=loops) for loss, loops in (("every", 6), ("last", 1)))
    alone = [run["by_loop"][0] for run in one]
    return {
        "text_loops": " ".join(f"{fmean(run['by_loop'][loop] for run in every):.1f}" for loop in (0, -1)),
        "text_one_loop": f"{math.floor(10 * min(alone)) / 10} {max(alone):.1f}",
        "text_halting": f"{fmean(run['steps'] for run in results('08_programs_text', loss='halting')):.1f}",
    }


def facts() -> dict[str, str]:
    """All of them, by name."""
    return (
        forests()
        | fresh()
        | more_heads()
        | equal_budgets()
        | marked()
        | laws()
        | certainty()
        | twice_as_many_nodes()
        | inference()
        | programs()
        | text()
    )
