import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from test_many import OPTIONS, PonderNet, RNNStep, bce, draw, weights

from ponder_utils._files import DamagedFileError
from ponder_course import workers as _workers
from ponder_course.results import (
    GridError,
    _groups,
    beside_stored,
    in_parallel,
    load_results,
    run_grid,
    runs_of,
    stored_like,
)
from ponder_course.store import Store
from ponder_utils.losses import PonderLoss
from ponder_utils.checkpoints import load_checkpoint
from ponder_utils.training.many import train_many

GRID = [{"a": a, "seed": seed} for a in (1, 2) for seed in (0, 1)]


def product(a, seed):
    return {"value": a * 10 + seed}


def fails_at_2(a, seed):
    if a == 2:
        raise RuntimeError("diverged")
    return product(a, seed)


WANTED = [setting | product(**setting) for setting in GRID]


@pytest.mark.parametrize("workers", [1, 2])
def test_one_row_for_each_setting_in_order(workers):
    assert run_grid(product, GRID, workers=workers) == WANTED


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_fails_is_told_and_the_others_go_on(tmp_path, workers):
    store, grid = tmp_path / "results" / "grid.jsonl", [{"a": 2, "seed": 5}, *GRID]
    with pytest.raises(
        GridError, match=r"(?s)3 of 5 runs failed:.*\{'a': 2, 'seed': 5\}: RuntimeError: diverged"
    ) as told:
        run_grid(fails_at_2, grid, store=store, workers=workers)
    assert sorted(load_results(store), key=str) == told.value.rows == WANTED[:2]
    assert told.value.failures == [(grid[i], "RuntimeError: diverged") for i in (0, 3, 4)]
    assert "in fails_at_2" in str(told.value)  # where it was
    assert pickle.loads(pickle.dumps(told.value)).rows == WANTED[:2]
    entries = [json.loads(line) for line in store.read_text().splitlines()]
    assert [entry["error"] for entry in entries if "error" in entry] == ["RuntimeError: diverged"] * 3
    calls = []

    def counted(a, seed):
        calls.append((a, seed))
        return product(a, seed)

    assert run_grid(counted, GRID, store=store) == WANTED
    assert calls == [(2, 0), (2, 1)]
    assert run_grid(counted, GRID[::-1], store=store) == WANTED[::-1]
    assert len(calls) == 2


def test_a_group_that_fails_is_told_for_each_of_its_settings():
    def all_or_none(settings):
        return [fails_at_2(**setting) for setting in settings]

    with pytest.raises(GridError) as told:
        run_grid(all_or_none, GRID, together=["seed"])
    assert told.value.rows == WANTED[:2]
    assert [setting for setting, _ in told.value.failures] == GRID[2:]


def dies_at_2(a, seed):
    if a == 2 and seed == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)  # so that the other process has a call when this one dies
    return product(a, seed)


def test_a_process_that_dies_takes_no_other_run_with_it(tmp_path):
    store, grid = tmp_path / "grid.jsonl", GRID[2:] + GRID[:2]
    with pytest.raises(
        GridError, match=r"1 of 4 runs failed:.*\n.*: TerminatedWorkerError: A worker process.*terminated"
    ) as told:
        run_grid(dies_at_2, grid, store=store, workers=2)
    assert told.value.rows == [WANTED[3], WANTED[0], WANTED[1]]
    assert [setting for setting, _ in told.value.failures] == [GRID[2]]
    assert run_grid(product, GRID, store=store, workers=2) == WANTED


def of_numpy_and_torch(a, seed):
    return {"mean": np.float32(0.5), "steps": torch.tensor([1.0, 2.5]), "by": {"k": np.arange(2)}, "pair": (a, None)}


@pytest.mark.parametrize("store", [True, False])
def test_numbers_of_numpy_and_torch_are_results(tmp_path, store):
    file = tmp_path / "grid.jsonl" if store else None
    rows = run_grid(of_numpy_and_torch, [{"a": np.int64(1), "seed": 0}], store=file)
    assert rows == [{"a": 1, "seed": 0, "mean": 0.5, "steps": [1.0, 2.5], "by": {"k": [0, 1]}, "pair": [1, None]}]
    assert not file or load_results(file) == rows


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (nn := torch.nn.Identity(), "TypeError: run must return a dict for each setting; got a Identity"),
        ({"model": nn}, "TypeError: settings and results must be numbers, .*; got a Identity"),
    ],
)
def test_a_result_that_cannot_be_kept_is_a_failure_of_its_run(result, message):
    with pytest.raises(GridError, match=message):
        run_grid(lambda a, seed: result, GRID)


def test_as_many_results_as_settings():
    with pytest.raises(GridError, match=r"4 of 4 runs failed:.*\n?.*ValueError: zip"):
        run_grid(lambda settings: [{"value": 1}], GRID, together=["a", "seed"])


def test_a_grid_of_another_kind_in_the_same_file_is_left_alone(tmp_path):
    store = tmp_path / "grid.jsonl"
    run_grid(product, GRID[:1], store=store)
    assert run_grid(product, GRID[1:], store=store) == WANTED[1:]
    assert load_results(store) == WANTED


def test_every_run_says_what_it_was_made_with(tmp_path):
    run_grid(product, GRID[:1], store=tmp_path / "grid.jsonl")
    (line,) = (tmp_path / "grid.jsonl").read_text().splitlines()
    entry = json.loads(line)
    assert set(entry) == {"setting", "result", "seconds", "made_with", "crc32"}
    assert "torch" in entry["made_with"]


ADD = """
import sys; sys.path.insert(0, {here!r})
from test_results import *
rows = run_grid(product, [{{"a": a, "seed": 0}} for a in range({first}, {first} + 40)], store={store!r})
assert [row["value"] for row in rows] == [10 * a for a in range({first}, {first} + 40)]
"""


def test_any_number_of_processes_may_add_to_one_file(tmp_path):
    """Some of their runs are the same: the first result counts, and each is there once."""
    store, here = tmp_path / "grid.jsonl", str(Path(__file__).parent)
    scripts = [ADD.format(here=here, store=str(store), first=first) for first in (0, 20, 40)]
    processes = [subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.DEVNULL) for text in scripts]
    assert [process.wait() for process in processes] == [0, 0, 0]
    rows = load_results(store)
    assert sorted(row["a"] for row in rows) == list(range(80))
    assert len(store.read_text().splitlines()) == 80


def test_a_line_that_a_kill_has_cut_is_run_again(tmp_path):
    store = tmp_path / "grid.jsonl"
    run_grid(product, GRID, store=store)
    whole = store.read_bytes()
    for cut in (1, 30, len(whole.splitlines()[-1])):
        store.write_bytes(whole[:-cut])
        assert load_results(store) == WANTED[:3]
        assert run_grid(product, GRID, store=store) == WANTED
        assert load_results(store) == WANTED
        assert len(store.read_bytes().splitlines()) == 4


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"value": 11', '"value": 12'),
        lambda text: "seed,value" + text[10:],
        lambda text: text.replace("{", "", 1),
        lambda text: "7\n" + text,
        lambda text: "{}\n" + text,
        lambda text: '{"runs": []}\n',
        lambda text: text[:20] + "\n" + text[20:],
    ],
)
def test_a_damaged_line_is_named(tmp_path, change):
    store = tmp_path / "grid.jsonl"
    run_grid(product, GRID, store=store)
    store.write_text(change(store.read_text()))
    told = r"grid\.jsonl, line \d is not a run as run_grid writes it: .*\. Delete the line, or the file"
    with pytest.raises(DamagedFileError, match=told):
        load_results(store)
    with pytest.raises(DamagedFileError, match=told):
        run_grid(product, GRID, store=store)


def test_a_link_to_a_file_of_results_stays_one(tmp_path):
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    assert run_grid(product, GRID, store=tmp_path / "link.jsonl") == WANTED
    assert (tmp_path / "link.jsonl").is_symlink()
    assert load_results(tmp_path / "real.jsonl") == WANTED


def test_a_long_grid_is_not_read_and_written_again_for_every_run(tmp_path, monkeypatch):
    """The bytes that are written grow with the runs, not with their square."""
    store, grid = tmp_path / "grid.jsonl", [{"a": a, "seed": 0} for a in range(200)]
    read = []
    take = Store._take
    monkeypatch.setattr(Store, "_take", lambda self, entries: read.extend(entries) or take(self, entries))
    run_grid(product, grid, store=store)
    assert len(read) == 200


def test_a_killed_grid_keeps_what_was_finished(tmp_path):
    store = tmp_path / "grid.jsonl"
    script = f"""
import sys, time; sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_results import *
def slow(a, seed):
    time.sleep(0 if a == 1 else 60)
    return product(a, seed)
run_grid(slow, GRID, store={str(store)!r})
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL)
    deadline = time.time() + 60
    while time.time() < deadline and (not store.exists() or len(load_results(store)) < 2):
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert load_results(store) == WANTED[:2]
    assert {path.name for path in tmp_path.iterdir()} <= {"grid.jsonl", "grid.jsonl.lock"}


def test_missing_results_are_said_to_be_missing(tmp_path, capsys):
    assert load_results(tmp_path / "none.json") == []
    assert "No stored runs at" in capsys.readouterr().out


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="workers must be an integer >= 1; got 0"):
        run_grid(product, GRID, workers=0)
    with pytest.raises(ValueError, match="settings must differ from each other"):
        run_grid(product, [GRID[0], dict(GRID[0])])


def test_stored_runs_beside_this_sessions_differ_in_nothing_but_the_seed(tmp_path):
    store = tmp_path / "grid.jsonl"
    run_grid(product, GRID, store=store)
    live, stored = beside_stored(product, [{"a": 2, "seed": 7}], store)
    assert live == [{"a": 2, "seed": 7, "value": 27}]
    assert stored == [row for row in WANTED if row["a"] == 2]
    assert load_results(store) == WANTED
    assert beside_stored(product, [{"a": 2, "seed": 7}], store, keep=True) == (live, [])
    assert load_results(store) == WANTED + live


def test_stored_runs_are_like_any_of_the_settings(tmp_path):
    store = tmp_path / "grid.jsonl"
    run_grid(product, [*GRID, {"a": 3, "seed": 0}], store=store)
    assert stored_like([{"a": 3, "seed": 9}, {"a": 1, "seed": 9}], store) == [
        *WANTED[:2],
        {"a": 3, "seed": 0, "value": 30},
    ]
    assert stored_like([{"a": 1, "seed": 9}, {"a": 3, "seed": 9}], store) == [
        *WANTED[:2],
        {"a": 3, "seed": 0, "value": 30},
    ]
    assert stored_like([], store) == []


def test_a_result_must_not_hide_a_setting():
    with pytest.raises(GridError, match="ValueError: run must return other names than its settings have; got seed in"):
        run_grid(lambda seed: {"seed": 2 * seed}, [{"seed": 1}])


def name_threads_and_process(a, seed):
    return torch.nn.Linear(a, seed + 1), torch.get_num_threads(), os.getpid()


@pytest.mark.parametrize("workers", [1, 2])
def test_results_of_any_kind_in_parallel_and_in_order(workers):
    results = in_parallel(name_threads_and_process, GRID, workers=workers)
    assert [tuple(layer.weight.shape) for layer, _, _ in results] == [(1, 1), (2, 1), (1, 2), (2, 2)]
    assert {threads for _, threads, _ in results} == {1}
    assert (os.getpid() in {pid for _, _, pid in results}) == (workers == 1)


def products(settings):
    return [product(**setting) | {"calls": len(settings)} for setting in settings]


def test_settings_that_differ_in_nothing_else_go_into_one_call(tmp_path):
    rows = run_grid(products, GRID, together=["seed"])
    assert rows == [row | {"calls": 2} for row in WANTED]
    rows = run_grid(products, GRID, together=["seed", "a"], workers=2)
    assert rows == [row | {"calls": 2} for row in WANTED]
    rows = run_grid(products, GRID, together=["seed", "a"], store=tmp_path / "grid.jsonl")
    assert rows == [row | {"calls": 4} for row in WANTED]
    more = [*GRID, {"a": 3, "seed": 0}]
    assert run_grid(products, more, together=["seed", "a"], store=tmp_path / "grid.jsonl")[:4] == rows


def test_groups_are_cut_so_that_all_workers_have_as_many_calls():
    settings = [{"form": form, "seed": seed} for form in "abc" for seed in range(5)]
    for workers, calls in ((1, 3), (2, 6), (3, 3), (6, 6)):
        groups = _groups(settings, ["seed"], workers)
        assert len(groups) == calls
        assert sorted(str(setting) for group in groups for setting in group) == sorted(map(str, settings))
        assert all(len({setting["form"] for setting in group}) == 1 for group in groups)
    with pytest.raises(ValueError, match="together must be names of settings; got sed"):
        run_grid(products, GRID, together=["sed"])


def counts(a, seed, checkpoint_dir):
    """Counts to 3, one at each call, as a run that is killed at every step and goes on."""
    file = Path(checkpoint_dir) / "count"
    file.parent.mkdir(parents=True, exist_ok=True)
    count = int(file.read_text()) + 1 if file.exists() else 1
    file.write_text(str(count))
    if count < 3:
        raise KeyboardInterrupt
    return product(a, seed)


@pytest.mark.parametrize("grid", [GRID, GRID[::-1]])
def test_a_killed_call_goes_on_from_its_own_checkpoint(tmp_path, grid):
    store = tmp_path / "results" / "grid.jsonl"
    kills = 0
    while kills < 20:
        try:
            rows = run_grid(counts, grid, store=store, checkpointed=True)
            break
        except KeyboardInterrupt:
            kills += 1
    assert kills == 2 * len(GRID)  # each call begins anew, and none goes on from another's
    assert sorted(rows, key=str) == WANTED
    assert not list(store.parent.rglob("count"))


@pytest.mark.parametrize("workers", [1, 2])
def test_calls_for_several_settings_have_a_folder_each(tmp_path, workers):
    store, seen = tmp_path / "grid.jsonl", tmp_path / "seen"
    seen.mkdir()

    def note(settings, checkpoint_dir):
        Path(checkpoint_dir).mkdir(parents=True)
        (seen / Path(checkpoint_dir).name).touch()
        return products(settings)

    rows = run_grid(note, GRID, together=["seed"], workers=workers, store=store, checkpointed=True)
    assert rows == [row | {"calls": 2} for row in WANTED]
    assert len(list(seen.iterdir())) == 2
    assert not [path for path in (tmp_path / "grid.jsonl.unfinished").iterdir() if path.is_dir()]


def test_groups_that_are_left_find_their_folders_again(tmp_path):
    """Also when other groups have finished, so that fewer are left to be cut."""
    settings = [{"form": form, "seed": seed} for form in "abc" for seed in range(4)]
    options = {"together": ["seed"], "workers": 2, "store": tmp_path / "grid.jsonl", "checkpointed": True}

    def done_with(forms):
        def run(group, checkpoint_dir):
            if group[0]["form"] not in forms:
                Path(checkpoint_dir).mkdir(parents=True, exist_ok=True)
                (Path(checkpoint_dir) / str(sorted(setting["seed"] for setting in group))).touch()
                raise RuntimeError("killed")
            return [{"left": [path.name for path in Path(checkpoint_dir).glob("*")]} for _ in group]

        return run

    for forms in ("a", "ab", "abc"):
        try:
            rows = run_grid(done_with(forms), settings, **options)
        except GridError:
            continue
    assert all(row["left"] for row in rows if row["form"] != "a")
    assert not [path for path in (tmp_path / "grid.jsonl.unfinished").iterdir() if path.is_dir()]


def test_no_checkpoints_without_a_file_of_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = run_grid(lambda a, seed, checkpoint_dir: {"folder": checkpoint_dir}, GRID, checkpointed=True)
    assert [row["folder"] for row in rows] == [None] * 4
    assert not list(tmp_path.iterdir())


def learn_together(settings, checkpoint_dir, updates=1_000_000):
    """Weights of networks trained together, and how many batches that took in this process."""
    models, losses, drawn = [], [], []
    for setting in settings:
        torch.manual_seed(setting["seed"])
        models.append(PonderNet(RNNStep(6, 16), 6))
        losses.append(PonderLoss(bce, setting["lambda_p"], 6))

    def counted(generator):
        drawn.append(None)
        return draw(generator)

    options = OPTIONS | {"lr": 5e-3, "seeds": [setting["seed"] for setting in settings], "checkpoint_every": 50}
    train_many(models, losses, counted, updates, checkpoint_dir=checkpoint_dir, **options)
    return [{"weights": weights(model).tolist(), "drawn": len(drawn)} for model in models]


def test_a_killed_group_of_networks_goes_on_where_it_was(tmp_path):
    store, settings = tmp_path / "grid.jsonl", [{"lambda_p": x, "seed": seed} for x in (0.2, 0.5) for seed in (0, 1)]
    options = {"together": ["lambda_p", "seed"], "store": store, "checkpointed": True}
    script = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_results import *
run_grid(learn_together, {settings}, together=["lambda_p", "seed"], store={str(store)!r}, checkpointed=True)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL)
    deadline = time.time() + 60
    while time.time() < deadline and not (found := list(tmp_path.glob("grid.jsonl.unfinished/*/last.pt"))):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = load_checkpoint(found[0])["update"]
    rows = run_grid(partial(learn_together, updates=done + 70), settings, **options)
    whole = learn_together(settings, None, done + 70)
    assert [row["weights"] for row in rows] == [result["weights"] for result in whole]
    assert {row["drawn"] for row in rows} == {4 * 70}
    assert not [path for path in tmp_path.glob("grid.jsonl.unfinished/*") if path.is_dir()]


SAME_GROUPS = """
import sys; sys.path.insert(0, {here!r})
from test_results import *
def note(settings, checkpoint_dir):
    Path(checkpoint_dir).mkdir(parents=True)  # it is there if another process is in it
    with (Path({folder!r}) / "made").open("a") as made:
        made.write(str(settings[0]["a"]))
    time.sleep(0.5)
    return [product(**setting) for setting in settings]
time.sleep(max(0, {begin} - time.time()))
assert run_grid(note, GRID, together=["seed"], store={store!r}, checkpointed=True) == WANTED
"""


def test_two_processes_with_the_same_groups_do_not_meet_in_a_folder(tmp_path):
    here, store = str(Path(__file__).parent), str(tmp_path / "grid.jsonl")
    text = SAME_GROUPS.format(here=here, folder=str(tmp_path), store=store, begin=time.time() + 6)
    processes = [subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert len(load_results(store)) == 4
    assert set((tmp_path / "made").read_text()) == {"1", "2"}
    assert not [path for path in tmp_path.glob("grid.jsonl.unfinished/*") if path.is_dir()]


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
        yield client


def write_down(folder, number):
    """Writes its beginning and its end into files of its own."""
    (folder / f"{number}.begun").open("a").write(f"{os.getpid()}\n")
    time.sleep(0.3)
    (folder / f"{number}.done").open("a").write(f"{os.getpid()}\n")
    return {"square": number**2}


def test_a_killed_worker_of_a_cluster_loses_no_finished_run(cluster, tmp_path):
    store, settings = tmp_path / "grid.jsonl", [{"folder": str(tmp_path), "number": n} for n in range(10)]
    victim = min(cluster.run(os.getpid).values())

    def kill_in_the_middle():
        while not (store.exists() and len(load_results(store)) >= 3 and is_busy()):
            time.sleep(0.02)
        os.kill(victim, signal.SIGKILL)

    def is_busy():
        begun = [path for path in tmp_path.glob("*.begun") if str(victim) in path.read_text().split()]
        return any(not path.with_suffix(".done").exists() for path in begun)

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    rows = run_grid(lambda folder, number: write_down(Path(folder), number), settings, client=cluster, store=store)
    killer.join()
    assert [row["square"] for row in rows] == [n**2 for n in range(10)]
    begun = {n: (tmp_path / f"{n}.begun").read_text().split() for n in range(10)}
    again = [n for n, pids in begun.items() if len(pids) > 1]
    assert all(begun[n][0] == str(victim) for n in again)  # what the other worker had begun was left in peace
    assert 1 <= len(again) <= 2
    calls = []
    assert run_grid(lambda **setting: calls.append(setting), settings, store=store) == rows
    assert not calls


def test_a_run_that_kills_its_worker_every_time_is_told_and_the_others_go_on(cluster, tmp_path):
    store = tmp_path / "grid.jsonl"
    cluster.cluster.scheduler.allowed_failures = 1  # each takes a worker with it, and a new one takes seconds
    cluster.cluster.scheduler.WORKER_SATURATION = 1.0  # no other run waits behind it
    with pytest.raises(GridError, match=r"1 of 4 runs failed:.*\n.*KilledWorker: Attempted to run") as told:
        run_grid(dies_at_2, GRID, client=cluster, store=store)
    assert told.value.rows == [WANTED[0], WANTED[1], WANTED[3]]
    cluster.wait_for_workers(1)  # which come back
    assert run_grid(product, GRID, client=cluster, store=store) == WANTED


def test_an_interrupt_cancels_what_a_cluster_was_given(cluster, tmp_path, monkeypatch):
    settings = [{"folder": str(tmp_path), "number": n} for n in range(40)]

    def interrupted(self, entries):
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_grid(lambda folder, number: write_down(Path(folder), number), settings, client=cluster)
    time.sleep(1.5)
    begun = len(list(tmp_path.glob("*.begun")))
    time.sleep(1.5)
    assert len(list(tmp_path.glob("*.begun"))) == begun < 40


def test_an_interrupt_stops_the_processes(tmp_path, monkeypatch):
    settings = [{"folder": str(tmp_path), "number": n} for n in range(40)]

    def interrupted(self, entries):
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_grid(lambda folder, number: write_down(Path(folder), number), settings, workers=2)
    begun = len(list(tmp_path.glob("*.begun")))
    time.sleep(1.0)
    assert len(list(tmp_path.glob("*.begun"))) == begun < 40
    monkeypatch.undo()
    assert run_grid(product, GRID, workers=2) == WANTED


def test_several_settings_go_to_a_cluster_together(cluster):
    assert run_grid(products, GRID, together=["seed", "a"], client=cluster) == [row | {"calls": 2} for row in WANTED]


def test_a_cluster_of_threads_is_refused():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0", "processes": False}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(ValueError, match="client must have workers of one thread each"),
    ):
        run_grid(product, GRID, client=client)


def test_a_process_that_died_while_it_lay_idle_is_not_asked_again():
    assert run_grid(product, GRID, workers=2) == WANTED
    for process in _workers._idle:
        for pid in list(process._processes):
            os.kill(pid, signal.SIGKILL)
    assert run_grid(product, GRID, workers=2) == WANTED


def test_the_last_call_that_is_left_does_not_run_in_this_process(tmp_path):
    with pytest.raises(GridError, match="TerminatedWorkerError"):
        run_grid(dies_at_2, [GRID[2]], workers=2)


def leaves(a, seed):
    raise SystemExit(3) if a == 2 else ValueError("no")


def test_a_run_that_leaves_ends_no_grid():
    with pytest.raises(GridError, match=r"(?s)4 of 4 runs failed:.*ValueError: no.*SystemExit: 3"):
        run_grid(leaves, GRID)


def test_a_file_that_was_cut_meanwhile_is_read_anew(tmp_path):
    kept = Store(tmp_path / "grid.jsonl")
    run_grid(product, GRID, store=kept.path)
    kept.add([])
    kept.path.write_bytes(b"")
    kept.add([{"setting": {"a": 9, "seed": 0}, "result": {"value": 1}}])
    assert load_results(kept.path) == [{"a": 9, "seed": 0, "value": 1}]


def test_lines_may_end_as_on_windows(tmp_path):
    store = tmp_path / "grid.jsonl"
    run_grid(product, GRID[:3], store=store)
    store.write_bytes(store.read_bytes().replace(b"\n", b"\r\n"))
    assert run_grid(product, GRID, store=store) == load_results(store) == WANTED


def test_a_relative_store_is_one_place_for_all_processes(tmp_path, monkeypatch):
    assert run_grid(product, GRID, workers=2) == WANTED  # processes that began elsewhere
    monkeypatch.chdir(tmp_path)
    rows = run_grid(in_its_folder, GRID, workers=2, store="grid.jsonl", checkpointed=True)
    assert {Path(row["folder"]).parent for row in rows} == {tmp_path / "grid.jsonl.unfinished"}


def in_its_folder(a, seed, checkpoint_dir):
    return {"folder": checkpoint_dir}


def test_a_mode_that_does_not_exist_makes_no_run(tmp_path):
    with pytest.raises(ValueError, match="mode must be one of stored, smoke, class, paper; got 'stores'"):
        runs_of("stores", lambda: {}, [{}], [{}], tmp_path / "runs.jsonl")
    assert not [*tmp_path.iterdir()]
