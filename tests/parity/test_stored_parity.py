"""What lesson 03 and its evidence claim of stored networks, and the stored numbers of its headline."""

from ponder_course.research.parity.facts import LOSSES, rises
from ponder_course.research.stored_facts import interval_of_difference, results, stored


def test_the_first_ten_seeds_at_the_smallest_prior_had_it_the_other_way_round():
    paper, reverse = ([rise for [rise] in rises(loss, 0.1, ("prior",)).values()] for loss in LOSSES)
    assert interval_of_difference(paper, reverse)[1] < 0


def test_only_the_textbook_form_crashes():
    assert {setting["loss"] for setting, result in stored("03_parity_prior_class") if result["stopped"]} == {"textbook"}


def test_the_best_network_with_adam_is_right_when_it_halts_by_itself():
    found = results("03_papers_size_best_by_adam")[0]["step_by_step"]
    by_itself = [answers[n - 1] for answers, n in zip(found["answers"], found["steps"], strict=True)]
    assert by_itself == found["targets"]
