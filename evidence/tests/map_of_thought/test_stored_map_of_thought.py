"""What lesson 07's evidence claims of every stored network."""

from stored_runs import results


def test_no_place_of_a_tree_halts_too_early():
    networks = results("07_mazes_main")
    assert len(networks) == 10
    for side in ("5", "10", "20", "30"):
        assert all(network[side]["early"] == 0 for network in networks)
