"""What lesson 08 and its evidence claim of every stored network."""

from stored_runs import results, stored


def test_who_learnt_at_all_steps_does_not_double():
    best = [max(result["forests_by_step"]) for result in results("08_forests_certainty", memory="current")]
    assert len(best) == 5
    assert max(best) < 0.7


def test_more_loops_bring_nothing_on_plain_text():
    rows = {(s["loss"], s["loops"], s["seed"]): result for s, result in stored("08_programs_text")}
    for seed in range(3):
        one = rows["last", 1, seed]["by_loop"][0]
        assert min(rows["every", 6, seed]["by_loop"]) > one
        assert rows["halting", 6, seed]["expected"] > one
    assert rows["last", 6, 0]["by_loop"][-1] > 3  # it learns no more than how frequent characters are
