"""What lesson 08's evidence says of programs and of text is counted as by hand."""

from drawn import lines_of, numbers

from ponder_course.common.style import ANSWER
from ponder_evidence.alone_and_together import figures as evidence


def test_losses_by_loop_are_drawn_and_compared_with_one_loop_of_the_same_seed():
    one = [{"seed": 1, "by_loop": [2.0]}, {"seed": 2, "by_loop": [3.0]}]
    six = [{"seed": 2, "by_loop": [9.0, 3.25]}, {"seed": 3, "by_loop": [1.0, 1.0]}]
    kinds = {"one loop": one, "six loops, all count": six}
    (ax,) = evidence.by_loop(kinds).axes
    assert [line.tolist() for line in lines_of(ax, ANSWER)] == [[[1, 9], [2, 3.25]], [[1, 1], [2, 1]]]
    assert evidence.behind_one_loop(kinds) == [0.25]


def test_findings_have_the_numbers_of_what_is_measured():
    farthest = evidence.first_and_farthest(["a=b", "b=a", "b?"], [1.0, 2.04, 3.96], [0, 1, 2])
    assert numbers(farthest) == ["1.0", "4.0", "2"]
    assert evidence.steps_more([{"expected": {"steps": [1.0, 1.5, 3.0]}}], "expected") == [2.0]
    lines = {"alone": [{0: 1.0, 9: 9.5}, {0: 1.5, 9: 7.0}], "together": [{0: 1.0, 9: 4.2}]}
    limits = {"alone": {0: 1.0, 9: 9.0}, "together": {0: 1.0, 9: 4.0}}
    assert numbers(evidence.off_the_need(lines, limits)) == ["2.0", "0.2"]
