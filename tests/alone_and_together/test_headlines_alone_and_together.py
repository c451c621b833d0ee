"""The headlines of lesson 08 and of its evidence, and its findings, computed again from the stored runs."""

import math
import statistics

from headlines import from_to, mean_with_interval, printed, shown, stored
from scipy import stats


def of_kind(name, memory):
    return [result for setting, result in stored(name) if setting["memory"] == memory]


def right_to_depth_8(result):
    return all(part["right"] >= 0.99 for depth, part in result["by_depth"].items() if int(depth) <= 8)


def right_beyond_depth_8(result):
    parts = [part for depth, part in result["by_depth"].items() if int(depth) > 8]
    return sum(part["right"] * part["nodes"] for part in parts) / sum(part["nodes"] for part in parts)


def test_evidence_08_who_is_right_beyond_the_depths_of_training():
    for kind, memory in (("alone", "initial"), ("together", "current")):
        networks = of_kind("08_forests_main", memory)
        learnt = [result for result in networks if right_to_depth_8(result)]
        beyond, steps, needed, early = (
            [right_beyond_depth_8(result) for result in learnt],
            *([result[what] for result in learnt] for what in ("steps", "needed", "early")),
        )
        line = f"{kind}: {len(learnt)} of {len(networks)} learnt; deeper than 8, right {from_to(beyond, '.2%')}; "
        line += f"steps {from_to(steps, '.2f')}, needed {from_to(needed, '.2f')}; too early {from_to(early, '.2%')}"
        assert line in printed("evidence/08_forests")


def test_evidence_08_nodes_are_right_from_the_step_at_which_the_name_can_have_come():
    pairs = 0
    for memory in ("initial", "current"):
        for result in filter(right_to_depth_8, of_kind("08_forests_main", memory)):
            for depth, part in result["by_depth"].items():
                names, n = 1, 0  # how many arrows up a node can name someone after n steps
                while n == 0 or names < int(depth):
                    names, n = (2 * names if memory == "current" else names + 1), n + 1
                assert [right > 0.5 for right in part["by_step"][:n]] == [False] * (n - 1) + [True]
                pairs += 1
    assert pairs == 608


def test_evidence_08_a_turned_arrow_is_felt_when_it_can_have_been_heard_of():
    pairs = 0
    for memory in ("initial", "current"):
        for result in filter(right_to_depth_8, of_kind("08_forests_main", memory)):
            for k, felt in enumerate(result["felt"]):
                known, n = 1, 0  # arrows that a node knows after n steps
                while n == 0 or known < k + 1:
                    known, n = (2 * known if memory == "current" else known + 1), n + 1
                assert felt == n
                pairs += 1
    assert pairs == 589


def test_evidence_08_who_never_slept_counts_and_who_learnt_at_all_steps_does_not_double():
    awake = of_kind("08_forests_awake", "current")
    assert len(awake) == 5
    assert all(right_to_depth_8(result) for result in awake)
    assert 0.045 < min(map(right_beyond_depth_8, awake)) <= max(map(right_beyond_depth_8, awake)) < 0.105
    assert all(2.9 < part["steps"] < 3.4 for row in awake for d, part in row["by_depth"].items() if int(d) > 2)
    assert math.isclose(stats.fisher_exact([[10, 0], [0, 5]]).pvalue, 1 / math.comb(15, 5))
    at_all_steps = of_kind("08_forests_certainty", "current")
    best = [max(result["forests_by_step"]) for result in at_all_steps]
    assert (len(best), round(min(best), 2), round(max(best), 2)) == (5, 0.4, 0.64)
    halting = [max(result["forests_by_step"]) for result in of_kind("08_forests_main", "current")]
    assert (round(min(halting), 2), round(max(halting), 2)) == (0.96, 1.0)


def right_deeper(result, border):
    parts = [part for depth, part in result["by_depth"].items() if int(depth) > border]
    return sum(part["right"] * part["nodes"] for part in parts) / sum(part["nodes"] for part in parts)


def test_evidence_08_who_never_slept_does_not_count_after_deeper_trees():
    for border in (12, 16):
        networks = of_kind(f"08_forests_awake_{border}", "current")
        assert len(networks) >= 2
        for result in networks:
            assert all(part["right"] >= 0.99 for d, part in result["by_depth"].items() if int(d) <= 8)
            assert right_deeper(result, border) > 0.95
            assert result["by_depth"]["31"]["steps"] > 5 > result["by_depth"]["8"]["steps"]


def test_evidence_08_64_nodes_double_twice_beyond_training_and_blur():
    networks = of_kind("08_forests_far_8", "current")
    assert len(networks) == sum(map(right_to_depth_8, networks)) == 10
    last = [result["by_depth"]["63"] for result in networks]
    assert from_to([part["right"] for part in last], ".0%") == "77% to 100%"
    assert from_to([part["steps"] for part in last], ".1f") == "5.4 to 6.0"
    assert from_to([result["asked"][5][0] for result in networks], ".0%") == "29% to 57%"
    laws = [max(1, math.ceil(math.log2(k + 1))) for k in range(63)]
    early = []
    for result in networks:
        earlier = [felt < law for felt, law in zip(result["felt"], laws, strict=True)]
        assert sum(earlier[:33]) <= 1
        early.append(sum(earlier[33:]))
    assert sum(number > 0 for number in early) == 9


def test_evidence_08_the_rows_of_certainty_in_lesson_06s_table():
    for kind, memory in (("alone", "initial"), ("together", "current")):
        networks = [result for result in of_kind("08_forests_main", memory) if right_to_depth_8(result)]

        def regret(result, right, steps):
            return 100 * (0.005 * (steps - result["needed"]) + 1 - right)

        by_level = {}
        for level in ("0.8", "0.9", "0.99", "0.999"):
            by_level[level] = [regret(result, *result["certainty"][level][:2]) for result in networks]
        best = min(by_level, key=lambda level: statistics.fmean(by_level[level]))
        rows = shown("evidence/08_forests", "regrets(points")
        head = [regret(result, result["nodes"], result["steps"]) for result in networks]
        assert rows[f"{kind}: PonderNet's head"]["regret"] == from_to(head, ".2f")
        assert rows[f"{kind}: certainty, {best}"]["regret"] == from_to(by_level[best], ".2f")
        assert min(by_level[best]) > max(head)


def test_evidence_08_programs():
    networks = [result for _, result in stored("08_programs_main")]
    parts = {what: [result["all"][what] for result in networks] for what in ("right", "early", "steps", "needed")}
    sure = [result["certainty"]["0.9"] for result in networks]
    assert printed("evidence/08_programs").strip() == (
        f"programs: {len(networks)} networks; tokens right {from_to(parts['right'], '.2%')}, "
        f"too early {from_to(parts['early'], '.2%')}; steps {from_to(parts['steps'], '.2f')}, "
        f"needed {from_to(parts['needed'], '.2f')}; certain by 0.9: right {from_to([r for r, _ in sure], '.2%')}, "
        f"steps {from_to([steps for _, steps in sure], '.2f')}"
    )
    assert min(parts["right"]) > 0.999
    assert min(right for right, _ in sure) > 0.998
    for result in networks:  # needs are those of equation (1): an arrow more for a question than for a statement
        for kind, more in (("statements", 1), ("questions", 2)):
            for depth, part in result[kind].items():
                assert part["needed"] == max(1, math.ceil(math.log2(int(depth) + more)))


def test_evidence_08_more_loops_bring_nothing_on_plain_text():
    rows = {(s["loss"], s["loops"], s["seed"]): result for s, result in stored("08_programs_text")}
    for seed in range(3):
        one = rows["last", 1, seed]["by_loop"][0]
        by_loop = rows["every", 6, seed]["by_loop"]
        halting = rows["halting", 6, seed]
        assert 2.05 < by_loop[0] < 2.15
        assert 1.85 < min(by_loop) <= by_loop[-1] < 1.95
        assert min(by_loop) > one > 1.8
        assert halting["steps"] < 1.05
        assert halting["expected"] > one
    assert rows["last", 6, 0]["by_loop"][-1] > 3  # it learns no more than how frequent characters are


def test_evidence_08_what_was_never_seen_together():
    networks = [result for _, result in stored("08_inference_main")]
    assert len(networks) == 5
    learnt = [result for result in networks if result["expected"]["right"][2] >= 0.95]
    by_head, when_sure = (
        mean_with_interval([result[rule]["steps"][2] - result[rule]["steps"][0] for result in learnt], "+.2f")
        for rule in ("expected", "confidence")
    )
    assert printed("evidence/08_inference").strip() == (
        f"right on A-D in 95 %: {len(learnt)} of 5 networks; their steps more than for A-B, where 2 are needed: "
        f"{by_head}; halted when sure: {when_sure}"
    )
    for result in networks:  # steps and what is too early, from the distribution itself
        for d in range(3):
            steps = sum(n * p for n, p in enumerate(result["p"][d], 1))
            assert math.isclose(steps, result["expected"]["steps"][d], abs_tol=0.01)
            assert math.isclose(sum(result["p"][d][:d]), result["early"][d], abs_tol=0.01)
