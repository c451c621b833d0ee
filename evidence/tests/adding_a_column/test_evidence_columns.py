"""The figure and the table of Graves' tasks hold the numbers of their runs."""

import numpy as np
from drawn import lines_of

from ponder_course.common.style import HALTING, SKY
from ponder_evidence.adding_a_column import figures as evidence


def run(kind, value, error=(), steps=(), **more):
    return {"kind": kind, "hyperparameter": value, "error": error, "steps": steps, **more}


def test_wrong_answers_in_per_cent_and_steps_are_drawn_by_level_with_their_mean():
    runs = [run("fixed", 1, [0.1, 0.3]), run("ACT", 0.1, [0.05, 0.2], [1.5, 2.5]), run("ACT", 0.1, [0.25, 0.5], [2, 3])]
    wrong, steps = evidence.by_level(runs, "gates").axes
    assert len(lines_of(wrong, SKY)) == 2  # a run and the mean
    drawn = [line[:, 1] for line in lines_of(wrong, HALTING)]
    np.testing.assert_allclose(drawn, [[5, 20], [25, 50], [15, 35]])
    np.testing.assert_allclose([line[:, 1] for line in lines_of(steps, HALTING)], [[1.5, 2.5], [2, 3], [1.75, 2.75]])


def test_the_table_has_mean_and_range_of_the_runs_of_each_kind():
    act = run("ACT", 0.03, sequence_error=0.25, mean_steps=2.0, follows=0.5)
    table = evidence.wrong_and_steps([act, act | {"sequence_error": 0.5}, act | {"kind": "fixed", "hyperparameter": 4}])
    assert table.iloc[1].tolist() == [2, "37.5", "25.0 to 50.0", "2.00", "0.50"]
