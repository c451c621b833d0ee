"""What lesson 12 claims of every stored network."""

from stored_runs import results


def test_whoever_names_the_root_of_a_chain_of_32_has_walked_all_of_it():
    ends = [run["by_depth"]["31"] for run in results("12_words_main", carried="word")]
    assert len(ends) == 30
    for end in ends:
        assert end["right"] == end["on_time"]
