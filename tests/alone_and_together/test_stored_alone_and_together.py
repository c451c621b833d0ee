"""What lesson 08 and its evidence claim of every stored network."""

import math
import statistics

from ponder_course.research.alone_and_together.facts import learnt
from ponder_course.research.stored_facts import results, stored

MEMORIES = ("initial", "current")


def learners(memory):
    return [result for result in results("08_forests_main", memory=memory) if learnt(result)]


def test_nodes_are_right_from_the_step_at_which_the_name_can_have_come():
    pairs = 0
    for memory in MEMORIES:
        for result in learners(memory):
            for depth, part in result["by_depth"].items():
                names, n = 1, 0  # how many arrows up a node can name someone after n steps
                while n == 0 or names < int(depth):
                    names, n = (2 * names if memory == "current" else names + 1), n + 1
                assert [right > 0.5 for right in part["by_step"][:n]] == [False] * (n - 1) + [True]
                pairs += 1
    assert pairs == 19 * 32


def test_a_turned_arrow_is_felt_when_it_can_have_been_heard_of():
    pairs = 0
    for memory in MEMORIES:
        for result in learners(memory):
            for k, felt in enumerate(result["felt"]):
                known, n = 1, 0  # arrows that a node knows after n steps
                while n == 0 or known < k + 1:
                    known, n = (2 * known if memory == "current" else known + 1), n + 1
                assert felt == n
                pairs += 1
    assert pairs == 19 * 31


def test_who_learnt_at_all_steps_does_not_double():
    best = [max(result["forests_by_step"]) for result in results("08_forests_certainty", memory="current")]
    assert len(best) == 5
    assert max(best) < 0.7


def test_who_never_slept_does_not_count_after_deeper_trees():
    for border in (12, 16):
        for result in results(f"08_forests_awake_{border}"):
            assert learnt(result)
            assert result["by_depth"]["31"]["steps"] > 5 > result["by_depth"]["8"]["steps"]


def test_64_nodes_feel_arrows_up_to_32_in_time():
    laws = [max(1, math.ceil(math.log2(k + 1))) for k in range(33)]
    for result in results("08_forests_far_8"):
        assert sum(felt < law for felt, law in zip(result["felt"], laws, strict=False)) <= 1


def test_certainty_at_its_best_level_loses_more_than_the_head():
    for memory in MEMORIES:

        def regret(result, right, steps):
            return 100 * (0.005 * (steps - result["needed"]) + 1 - right)

        networks, by_level = learners(memory), []
        for level in ("0.8", "0.9", "0.99", "0.999"):
            by_level.append([regret(result, *result["certainty"][level][:2]) for result in networks])
        head = [regret(result, result["nodes"], result["steps"]) for result in networks]
        assert min(min(by_level, key=statistics.fmean)) > max(head)


def test_needs_of_programs_are_those_of_equation_1():
    for result in results("08_programs_main"):
        for kind, more in (("statements", 1), ("questions", 2)):  # an arrow more for a question
            for depth, part in result[kind].items():
                assert part["needed"] == max(1, math.ceil(math.log2(int(depth) + more)))


def test_more_loops_bring_nothing_on_plain_text():
    rows = {(s["loss"], s["loops"], s["seed"]): result for s, result in stored("08_programs_text")}
    for seed in range(3):
        one = rows["last", 1, seed]["by_loop"][0]
        assert min(rows["every", 6, seed]["by_loop"]) > one
        assert rows["halting", 6, seed]["expected"] > one
    assert rows["last", 6, 0]["by_loop"][-1] > 3  # it learns no more than how frequent characters are


def test_steps_of_inference_are_those_of_the_distribution():
    for result in results("08_inference_main"):
        for d in range(3):
            steps = sum(n * p for n, p in enumerate(result["p"][d], 1))
            assert math.isclose(steps, result["expected"]["steps"][d], abs_tol=0.01)
            assert math.isclose(sum(result["p"][d][:d]), result["early"][d], abs_tol=0.01)
