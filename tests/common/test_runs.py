"""Trainings side by side, and the rows that a lesson draws."""

import json
import os

import pytest
import torch

from ponder_course.common import runs

SETTINGS = [{"a": a, "seed": seed} for a in (1, 2) for seed in (0, 1)]


def product(a, seed):
    return {"value": a * 10 + seed}


ROWS = [setting | product(**setting) for setting in SETTINGS]


def where_it_runs(a, seed):
    return torch.get_num_threads(), os.getpid(), float(torch.tensor(1e-30) * 1e-10)


def test_with_one_worker_calls_run_here_on_one_thread_and_the_first_error_is_raised():
    assert runs.in_parallel(where_it_runs, SETTINGS) == [(1, os.getpid(), 0)] * 4
    assert where_it_runs(1, 0)[2] > 0  # numbers below float32 are 0 in a call, and nowhere else
    with pytest.raises(TypeError, match="seed"):
        runs.in_parallel(product, [{"a": 1}])


def test_a_function_of_a_notebooks_cell_runs_in_other_processes():
    names = {"__name__": "__main__"}
    exec("FACTOR = 10\ndef product(a, seed):\n    return {'value': a * FACTOR + seed}", names)
    assert runs.in_parallel(names["product"], SETTINGS, workers=2) == [product(**setting) for setting in SETTINGS]


def test_stored_rows_come_in_the_order_of_the_settings_and_none_is_said(tmp_path, capsys):
    entries = [{"setting": setting, "result": product(**setting)} for setting in SETTINGS]
    (tmp_path / "made_up.jsonl").write_text("\n".join(map(json.dumps, entries)))
    wanted = [{"a": 2, "seed": 1.0}, {"a": 9, "seed": 0}, {"a": 1, "seed": 1}]
    assert runs.stored(tmp_path / "made_up.jsonl", wanted) == [ROWS[3], ROWS[1], ROWS[0], ROWS[2]]
    load = runs.load_from(f"{tmp_path}/*.jsonl")
    assert (load("made_up"), load("other")) == (ROWS, [])
    assert f"No stored runs at {tmp_path / 'other.jsonl'}" in capsys.readouterr().out


def test_rows_that_match_and_numbers_to_four_places():
    assert runs.matching(ROWS, a=2.0, value=21) == ROWS[3:]
    assert runs.matching(ROWS, a=True) == runs.matching(ROWS, b=2) == []
    assert runs.matching([{"pair": [1, 2]}], pair=(1, 2)) == [{"pair": [1, 2]}]
    assert runs.rounded({1: [0.123456, 2, "x", None], "y": {True: 1e-5}}) == {
        "1": [0.1235, 2, "x", None],
        "y": {"True": 0.0},
    }
