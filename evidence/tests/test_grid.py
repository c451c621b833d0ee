"""A grid of runs: what is kept of it, what a killed one finds again, and who makes it."""

import json
import threading
from pathlib import Path

import distributed
import joblib
import pytest
import torch

from ponder_course.common.runs import stored
from ponder_evidence.runs import Experiment, RunsFailed, run_and_keep

SETTINGS = [{"a": a, "seed": seed} for a in (1, 2) for seed in (0, 1)]


def product(a, seed):
    return {"value": a * 10 + seed}


def fails_at_2(a, seed):
    if a == 2:
        raise RuntimeError("diverged\nat once")
    return product(a, seed)


ROWS = [setting | product(**setting) for setting in SETTINGS]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_raises_is_reported_and_stops_no_other(tmp_path, workers):
    file, settings = tmp_path / "results" / "runs.jsonl", [{"a": 2, "seed": 5}, *SETTINGS]
    with pytest.raises(RunsFailed, match=r"3 of 5 .*\n.*\{'a': 2, 'seed': 5\}: RuntimeError: diverged") as failed:
        run_and_keep(fails_at_2, settings, file, workers=workers)
    assert stored(file) == failed.value.rows == ROWS[:2]
    assert [setting for setting, _ in failed.value.failures] == [settings[i] for i in (0, 3, 4)]
    assert "in fails_at_2" in str(failed.value)  # where it was
    calls = []

    def counted(a, seed):
        calls.append((a, seed))
        return product(a, seed)

    assert run_and_keep(counted, SETTINGS, file) == ROWS
    assert calls == [(2, 0), (2, 1)]
    assert run_and_keep(counted, SETTINGS[::-1], file) == ROWS[::-1]
    assert len(calls) == 2
    assert [path.name for path in file.parent.iterdir()] == ["runs.jsonl"]
    entry = json.loads(file.read_text().splitlines()[0])
    assert entry.keys() == {"setting", "result", "seconds", "made_with", "version", "commit"}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda seed: torch.nn.Identity(), "run .* Identity"),
        (lambda seed: {"model": torch.nn.Identity()}, r"Identity.*result\['model'\]"),
        (lambda seed: {"seed": 2 * seed}, "run .* seed"),
        (lambda: {}, "TypeError: .*'seed'"),
    ],
)
def test_a_result_that_cannot_be_kept_is_a_failure_of_its_run(run, message):
    with pytest.raises(RunsFailed, match=message):
        run_and_keep(run, [{"seed": 1}], None)


@pytest.mark.parametrize(
    ("settings", "workers", "message"),
    [(SETTINGS, 0, r"workers .* 0"), ([SETTINGS[0], {"seed": 0.0, "a": 1}], 1, "same setting twice")],
)
def test_wrong_arguments_are_named_before_anything_runs(settings, workers, message):
    with pytest.raises(ValueError, match=message):
        run_and_keep(lambda **_: pytest.fail("ran"), settings, None, workers=workers)


def counts(a, seed, checkpoint_dir):
    """Counts to 3, one at each call, as a run that is killed at every step and goes on."""
    file = Path(checkpoint_dir) / "count"
    file.parent.mkdir(parents=True, exist_ok=True)
    count = int(file.read_text()) + 1 if file.exists() else 1
    file.write_text(str(count))
    if count < 3:
        raise KeyboardInterrupt
    return product(a, seed)


def test_a_killed_grid_finds_what_had_finished_and_a_killed_run_its_own_checkpoint(tmp_path):
    file = tmp_path / "results" / "runs.jsonl"
    kills = 0
    while kills < 20:
        try:
            rows = run_and_keep(counts, SETTINGS, file, checkpointed=True)
            break
        except KeyboardInterrupt:
            kills += 1
    assert kills == 2 * len(SETTINGS)  # each run begins anew, and none goes on from another's
    assert rows == stored(file) == ROWS
    assert not list(file.parent.rglob("count"))


def test_an_experiment_makes_what_the_mode_asks_for(tmp_path, capsys):
    experiment = Experiment("made_up", product, SETTINGS, SETTINGS[:1])
    assert experiment.rows("smoke", tmp_path) == ROWS[:1]
    assert not list(tmp_path.iterdir())
    assert experiment.rows("stored", tmp_path) == []
    assert f"No stored runs at {tmp_path / 'made_up.jsonl'}" in capsys.readouterr().out
    older = [{"a": 9, "seed": 9}]  # of a former list
    run_and_keep(product, [SETTINGS[3], SETTINGS[1], *older], tmp_path / "made_up.jsonl")
    older[0]["value"] = 99
    assert experiment.rows("stored", tmp_path) == [ROWS[1], ROWS[3], *older]  # so that seeds pair
    assert experiment.rows("class", tmp_path) == experiment.rows("paper", tmp_path) == ROWS
    assert experiment.rows("stored", tmp_path) == ROWS + older
    with pytest.raises(ValueError, match=r"mode .*'stores'"):
        experiment.rows("stores", tmp_path)


def name_thread(seed):
    return {"by": threading.current_thread().name}


@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_a_cluster_takes_the_runs(tmp_path):
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask", client=client),
    ):
        rows = run_and_keep(name_thread, [{"seed": 0}, {"seed": 1}], tmp_path / "runs.jsonl", workers=2)
    assert rows == stored(tmp_path / "runs.jsonl")
    assert all("Dask" in row["by"] for row in rows)
