"""Trainings side by side, and the rows that a lesson draws."""

import json
import os

import pytest
import torch

from ponder_course.common.runs import (
    in_parallel,
    learnt_and_not,
    load_from,
    matching,
    rounded,
    run_all,
    same_but_seed,
    stored,
)

SETTINGS = [{"a": a, "seed": seed} for a in (1, 2) for seed in (0, 1)]


def product(a, seed):
    return {"value": a * 10 + seed}


ROWS = [setting | product(**setting) for setting in SETTINGS]


def where_it_runs(a, seed):
    return torch.get_num_threads(), os.getpid()


def test_with_one_worker_calls_run_here_on_one_thread_and_the_first_error_is_raised():
    assert in_parallel(where_it_runs, SETTINGS) == [(1, os.getpid())] * 4
    with pytest.raises(TypeError, match="seed"):
        in_parallel(product, [{"a": 1}])


def below_float32(seed):
    return float(torch.tensor(1e-30) * 1e-10)


def test_numbers_below_float32_are_0_in_a_call_and_nowhere_else():
    assert in_parallel(below_float32, [{"seed": 0}]) == [0]
    assert below_float32(0) > 0


def test_a_function_of_a_notebooks_cell_runs_in_other_processes():
    names = {"__name__": "__main__"}
    exec("FACTOR = 10\ndef product(a, seed):\n    return {'value': a * FACTOR + seed}", names)
    assert run_all(names["product"], SETTINGS, workers=2) == ROWS


def test_stored_rows_come_in_the_order_of_the_settings_and_none_is_said(tmp_path, capsys):
    entries = [{"setting": setting, "result": product(**setting)} for setting in SETTINGS]
    (tmp_path / "made_up.jsonl").write_text("\n".join(map(json.dumps, entries)))
    wanted = [{"a": 2, "seed": 1.0}, {"a": 9, "seed": 0}, {"a": 1, "seed": 1}]
    assert stored(tmp_path / "made_up.jsonl", wanted) == [ROWS[3], ROWS[1], ROWS[0], ROWS[2]]
    load = load_from(f"{tmp_path}/*.jsonl")
    assert (load("made_up"), load("other")) == (ROWS, [])
    assert f"No stored runs at {tmp_path / 'other.jsonl'}" in capsys.readouterr().out


def test_rows_that_match_and_numbers_to_four_places():
    rows = [*ROWS, {"a": 3, "seed": 0, "value": 30}]
    assert same_but_seed(rows, [{"a": 3, "seed": 9}, {"a": 1, "seed": 9}]) == [*ROWS[:2], rows[4]]
    assert learnt_and_not(rows, lambda row: row["a"] == 3) == (rows[4:], ROWS)
    assert learnt_and_not(rows, lambda row: False) == (rows, [])
    assert matching(ROWS, a=2.0, value=21) == ROWS[3:]
    assert matching(ROWS, a=True) == matching(ROWS, b=2) == []
    assert matching([{"pair": [1, 2]}], pair=(1, 2)) == [{"pair": [1, 2]}]
    assert rounded({1: [0.123456, 2, "x", None], "y": {True: 1e-5}}) == {
        "1": [0.1235, 2, "x", None],
        "y": {"True": 0.0},
    }
