import json
import os
import pickle
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from ponder_course.common import runs
from ponder_course.common.runs import (
    Experiment,
    RunsFailed,
    in_parallel,
    learnt_and_not,
    load_from,
    run_all,
    same_but_seed,
    stored,
)

RESULTS = Path(__file__).resolve().parents[2] / "results"
SETTINGS = [{"a": a, "seed": seed} for a in (1, 2) for seed in (0, 1)]


def product(a, seed):
    return {"value": a * 10 + seed}


def fails_at_2(a, seed):
    if a == 2:
        raise RuntimeError("diverged\nat once")
    return product(a, seed)


ROWS = [setting | product(**setting) for setting in SETTINGS]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_raises_is_recorded_and_stops_no_other(tmp_path, workers):
    file, settings = tmp_path / "results" / "runs.jsonl", [{"a": 2, "seed": 5}, *SETTINGS]
    with pytest.raises(RunsFailed, match=r"3 of 5 .*\n.*\{'a': 2, 'seed': 5\}: RuntimeError: diverged") as failed:
        run_all(fails_at_2, settings, file=file, workers=workers)
    assert sorted(stored(file), key=str) == failed.value.rows == ROWS[:2]
    assert [setting for setting, _ in failed.value.failures] == [settings[i] for i in (0, 3, 4)]
    assert "in fails_at_2" in str(failed.value)  # where it was
    assert pickle.loads(pickle.dumps(failed.value)).rows == ROWS[:2]
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    assert [entry["error"].splitlines()[0] for entry in entries if "error" in entry] == ["RuntimeError: diverged"] * 3
    calls = []

    def counted(a, seed):
        calls.append((a, seed))
        return product(a, seed)

    assert run_all(counted, SETTINGS, file=file) == ROWS
    assert calls == [(2, 0), (2, 1)]
    assert run_all(counted, SETTINGS[::-1], file=file) == ROWS[::-1]
    assert len(calls) == 2


def dies_at_2(a, seed):
    if a == 2:
        os._exit(3) if seed else os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.1)  # so that the other process has a call when this one dies
    return product(a, seed)


@pytest.mark.slow
def test_a_process_that_dies_takes_no_other_run_with_it(tmp_path):
    file, settings = tmp_path / "runs.jsonl", [SETTINGS[2], *SETTINGS[:2], SETTINGS[3], {"a": 3, "seed": 0}]
    with pytest.raises(RunsFailed, match=r"2 of 5 ") as failed:
        run_all(dies_at_2, settings, file=file, workers=2)
    assert failed.value.rows == [*ROWS[:2], {"a": 3, "seed": 0, "value": 30}]
    assert [setting for setting, _ in failed.value.failures] == SETTINGS[2:]
    assert "EXIT(3)" in failed.value.failures[1][1]
    assert sorted(stored(file), key=str) == failed.value.rows


def name_process(a, seed):
    return torch.nn.Linear(a, seed + 1), torch.get_num_threads(), os.getpid()


def test_in_parallel_with_one_worker_calls_run_here_and_the_first_error_is_raised():
    results = in_parallel(name_process, SETTINGS)
    assert {(threads, pid) for _, threads, pid in results} == {(1, os.getpid())}
    with pytest.raises(RuntimeError, match="diverged"):
        in_parallel(fails_at_2, SETTINGS)


def below_float32(seed):
    return float(torch.tensor(1e-30) * 1e-10)


@pytest.mark.parametrize("workers", [1, 2])
def test_numbers_below_float32_are_0_in_a_call_and_nowhere_else(workers):
    assert in_parallel(below_float32, [{"seed": 0}, {"seed": 1}], workers=workers) == [0, 0]
    assert below_float32(0) > 0


def test_a_function_of_a_notebooks_cell_runs_in_other_processes():
    names = {"__name__": "__main__"}
    exec("FACTOR = 10\ndef product(a, seed):\n    return {'value': a * FACTOR + seed}", names)
    assert run_all(names["product"], SETTINGS, workers=2) == ROWS


def leaves(seed):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda seed: torch.nn.Identity(), "run .* Identity"),
        (lambda seed: {"model": torch.nn.Identity()}, r"Identity.*result\['model'\]"),
        (lambda seed: {"seed": 2 * seed}, "run .* seed"),
        (lambda: {}, "TypeError: .*'seed'"),
        (leaves, "SystemExit: 3"),
    ],
)
def test_a_result_that_cannot_be_kept_is_a_failure_of_its_run(run, message):
    with pytest.raises(RunsFailed, match=message):
        run_all(run, [{"seed": 1}])


@pytest.mark.parametrize(
    ("settings", "options", "error", "message"),
    [
        (SETTINGS, {"workers": 0}, ValueError, "workers .* 0"),
        ([SETTINGS[0], {"seed": 0.0, "a": 1}], {}, ValueError, "settings"),
        (SETTINGS, {"file": "/proc/x"}, OSError, "/proc/x"),
    ],
)
def test_wrong_arguments_are_named_before_anything_runs(settings, options, error, message):
    with pytest.raises(error, match=message):
        run_all(lambda **_: pytest.fail("ran"), settings, **options)


def counts(a, seed, checkpoint_dir):
    """Counts to 3, one at each call, as a run that is killed at every step and goes on."""
    file = Path(checkpoint_dir) / "count"
    file.parent.mkdir(parents=True, exist_ok=True)
    count = int(file.read_text()) + 1 if file.exists() else 1
    file.write_text(str(count))
    if count < 3:
        raise KeyboardInterrupt
    return product(a, seed)


def test_a_killed_run_goes_on_from_its_own_checkpoint(tmp_path):
    file = tmp_path / "results" / "runs.jsonl"
    kills = 0
    while kills < 20:
        try:
            rows = run_all(counts, SETTINGS, file=file, checkpointed=True)
            break
        except KeyboardInterrupt:
            kills += 1
    assert kills == 2 * len(SETTINGS)  # each run begins anew, and none goes on from another's
    assert sorted(rows, key=str) == ROWS
    assert not list(file.parent.rglob("count"))


def test_rows_that_match_and_numbers_to_four_places():
    rows = [*ROWS, {"a": 3, "seed": 0, "value": 30}]
    assert same_but_seed(rows, [{"a": 2, "seed": 7}]) == ROWS[2:]
    assert same_but_seed(rows, [{"a": 3, "seed": 9}, {"a": 1, "seed": 9}]) == [*ROWS[:2], rows[4]]
    assert learnt_and_not(rows, lambda row: row["a"] == 3) == (rows[4:], ROWS)
    assert learnt_and_not(rows, lambda row: False) == (rows, [])
    assert runs.matching(ROWS, a=2) == ROWS[2:]
    assert runs.matching(ROWS, a=2, value=21) == ROWS[3:]
    assert runs.matching(ROWS, b=2) == []
    assert runs.rounded({1: [0.123456, 2, "x", None], "y": {True: 1e-5}}) == {
        "1": [0.1235, 2, "x", None],
        "y": {"True": 0.0},
    }


def test_an_experiment_makes_what_the_mode_asks_for(tmp_path, capsys):
    experiment = Experiment("made_up", product, SETTINGS, SETTINGS[:1])
    assert experiment.rows("smoke", tmp_path) == ROWS[:1]
    assert not list(tmp_path.iterdir())
    assert experiment.rows("stored", tmp_path) == []
    assert f"No stored runs at {tmp_path / 'made_up.jsonl'}" in capsys.readouterr().out
    run_all(product, [SETTINGS[i] for i in (3, 1)] + [{"a": 9, "seed": 9}], file=tmp_path / "made_up.jsonl")
    older = [{"a": 9, "seed": 9, "value": 99}]  # of a former list
    assert experiment.rows("stored", tmp_path) == [ROWS[1], ROWS[3], *older]  # so that seeds pair
    assert experiment.rows("class", tmp_path) == experiment.rows("paper", tmp_path) == ROWS
    assert experiment.rows("stored", tmp_path) == ROWS + older
    assert sorted(load_from(f"{tmp_path}/*.jsonl")("made_up"), key=str) == ROWS + older
    for mode in ("stores", "", None):
        with pytest.raises(ValueError, match=f"mode .*{mode!r}"):
            experiment.rows(mode, tmp_path)


def test_equal_settings_are_made_once(tmp_path):
    first = run_all(product, [{"a": 1, "seed": 0}, {"a": True, "seed": 0}], file=tmp_path / "runs.jsonl")
    again = [{"seed": 0.0, "a": np.float64(1)}, {"seed": np.int64(0), "a": True}]
    assert run_all(lambda **_: pytest.fail("ran"), again, file=tmp_path / "runs.jsonl") == first
    assert runs.matching(first, a=True) == first[1:]
    assert runs.matching(first, a=1.0) == same_but_seed(first, [{"a": 1, "seed": 5}]) == first[:1]
    assert runs.matching([{"pair": [1, 2], "rows": 3}], pair=(1, 2), rows=3) == [{"pair": [1, 2], "rows": 3}]
