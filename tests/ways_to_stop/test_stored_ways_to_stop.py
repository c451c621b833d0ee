"""What lesson 06 claims of stored networks, of lines of which some have no answer."""

from ponder_course.research.ways_to_stop.facts import NO_ANSWER, reported


def test_lesson_06_who_waits_where_no_answer_comes_and_who_stops():
    for training, rule in (("every step", "confidence"), ("judge", "judged")):
        networks = reported("no answer", training, rule)
        assert all(points[NO_ANSWER][1] > 19 for points, _ in networks)
        assert all(abs(regrets["16 places"] - 2.7) < 0.06 for _, regrets in networks)
    for training, rule in (("ACT", "average"), ("PonderNet", "threshold")):
        networks = reported("no answer", training, rule)
        assert all(points[NO_ANSWER][1] < 2 for points, _ in networks)
        wrong = [100 * (1 - points["16 places"][0]) for points, _ in networks]
        assert all(1.9 < each < 7 for each in wrong if each > 0.25)
