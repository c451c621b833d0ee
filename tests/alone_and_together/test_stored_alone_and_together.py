"""What lesson 08 and its evidence claim of every stored network."""

import math

from ponder_course.research.alone_and_together.facts import felt_by_law, learnt, named_by_law
from ponder_course.research.stored_facts import results, stored

MEMORIES = ("initial", "current")


def test_the_laws_of_the_lesson_hold_in_every_network_that_learnt():
    for memory in MEMORIES:
        for result in results("08_forests_main", memory=memory):
            if learnt(result):
                assert all(named_by_law(result, memory == "current"))
                assert all(felt_by_law(result, memory == "current"))


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
