"""What lesson 07's evidence claims of every stored network."""

from ponder_evidence.map_of_thought import facts


def test_no_place_of_a_tree_halts_too_early():
    for side in ("5", "10", "20", "30"):
        tests = facts.tests_of("mazes_main", side)
        assert len(tests) == 10
        assert all(test["early"] == 0 for test in tests)
