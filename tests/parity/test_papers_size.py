"""The engine of the experiments at the papers' sizes: what each method reports, and what is learnt at first."""

import pytest

from ponder_course.parity import experiment as parity
from ponder_course.research.parity import papers_size

SMALL = {"elements": 6, "k_max": 4, "hidden": 24, "N": 5, "batch": 32, "updates": 100, "lr": 3e-3, "muon": 3.0}
SMALL |= {"clip": 0.3, "gain": 4.0, "halting": -1.0, "first": 1, "raise_at": 0.8, "patience": 40, "seed": 0}
METHODS = {"PonderNet": 0.2, "ACT": 1e-4, "last step": 0.2, "every step": 0.2}


def setting_of(name, **change):
    return {"network": name, "hyperparameter": METHODS[name], **SMALL, **change}


@pytest.mark.parametrize("name", METHODS)
def test_what_is_reported_of_a_run(name, monkeypatch):
    monkeypatch.setattr(papers_size, "PROBED_K", (4, 64))
    row = papers_size.run(**setting_of(name, caps=[2, 7], shown=3))
    curve = row["curve"]
    assert len(row["accuracy"]) == len(row["steps"]) == 6
    assert curve["K"][0] == 1
    assert curve["K"] == sorted(curve["K"])
    (by_ones,) = row["by_ones"]
    assert len(by_ones["steps"]) == 5
    assert [len(by_step) for by_step in row["by_step"]] == [5] * (name != "ACT")
    assert row["accuracy"][0] > 0.9  # one element is learnt at once
    assert all(1 <= n <= 5 for n in row["steps"])
    if name in ("last step", "every step"):
        assert set(row["steps"]) == {5.0}
    assert {len(column) for column in curve.values()} == {len(curve["update"])}
    assert curve["update"][-1] == SMALL["updates"]
    assert [*row.get("by_cap", [])] == ([] if name == "ACT" else ["2", "7"])
    assert ("step_by_step" in row) == (name != "ACT")


def measured(network, steps_at_16, right, k_max=16):
    by_ones = [{"steps": [float(k)] * (k + 1), "accuracy": [1.0] * (k + 1)} for k in (8, 16, 32, 64)]
    accuracy, steps = [right] * k_max + [0.5] * 4, [9.0] * 15 + [steps_at_16] * 5
    return {"network": network, "k_max": k_max, "accuracy": accuracy, "steps": steps, "by_ones": by_ones}


def test_the_earliest_and_the_latest_are_found_and_reported_with_what_they_have_learnt():
    rows = [measured("PonderNet", 5.0, 0.97), measured("ACT", 4.0, 0.6), measured("PonderNet", 3.0, 0.8)]
    assert [parity.accuracy_within(row) for row in rows] == pytest.approx([0.97, 0.6, 0.8])
    assert [papers_size.accuracy_beyond(row) for row in rows] == [0.5] * 3
    assert parity.by_pace(rows) == [rows[2], rows[1], rows[0]]
    found = parity.earliest_and_latest(rows)
    titles = [("ACT, the earliest", "60%"), ("PonderNet, the earliest", "80%"), ("PonderNet, the latest", "97%")]
    for title, (name, accuracy) in zip(found, titles, strict=True):
        assert name in title
        assert accuracy in title
    assert all(by_ones == rows[0]["by_ones"][:3] for by_ones in found.values())
    assert parity.earliest_and_latest([]) == {}
