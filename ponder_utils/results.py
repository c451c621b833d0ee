"""Grids of runs: every setting once, finished ones kept in a file, so that a killed grid goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import math
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import torch
from joblib import Parallel, delayed
from tqdm import tqdm

from ponder_utils._check import check_int
from ponder_utils._files import written_whole

Row = dict[str, Any]


def run_grid(
    run: Callable[..., Any],
    settings: list[Row],
    *,
    together: Sequence[str] = (),
    workers: int = 1,
    client: Any = None,
    store: Path | str | None = None,
    checkpointed: bool = False,
    name: str = "",
) -> list[Row]:
    """Call run(**setting) for every setting, several at a time, and return one row for each: setting and result.

    Args:
        run: setting -> result, both of plain numbers, strings and lists. Each call runs on one thread, which is
            faster than two for networks as small as these.
        settings: keyword arguments of the calls; no two alike.
        together: names of settings. Where they are given, settings that differ in nothing else go into one call, as
            `train_many` wants them: run([setting, ...]) -> [result, ...]. Each group of these is cut into so many parts
            of like size that the calls can be shared evenly.
        workers: processes to share the calls. With 1 they run in this one.
        client: a `distributed.Client`, to share the calls among the workers of its cluster instead, one thread each. A
            call that was lost with its worker is made again.
        store: a JSON file. Settings that it holds are not run again; new results are added as they come.
        checkpointed: call with one more argument, checkpoint_dir: a folder for `train` or `train_many`, from which a
            call that was killed goes on, if the settings and `workers` are the same again. It lies beside `store`, and
            is deleted when the results are there. None without `store`.
        name: shown on the progress bar.

    Raises:
        ValueError, TypeError: if `workers` is not a positive integer, a setting comes twice, a result and a setting
            have the same name, or a worker of the client has several threads.
    """
    check_int("workers", workers, 1)
    keys = [_key(setting) for setting in settings]
    if len(set(keys)) < len(keys):
        raise ValueError("settings must differ from each other; got the same setting twice")
    if client is not None:
        workers = _single_threaded(client)
    entries = _entries(store)
    done = {_key(entry["setting"]) for entry in entries}
    todo = [setting for key, setting in zip(keys, settings, strict=True) if key not in done]
    if unknown := {*together} - {name for setting in settings for name in setting}:
        raise ValueError(f"together must be names of settings; got {', '.join(sorted(unknown))}")
    groups = todo
    if together:  # cut before the finished ones are left out, so that a killed group is found again
        groups = _groups(settings, together, workers)
        groups = [left for group in groups if (left := [setting for setting in group if _key(setting) not in done])]
    calls = [(run, group, {"checkpoint_dir": _unfinished(store, group)} if checkpointed else {}) for group in groups]
    with tqdm(total=len(settings), initial=len(settings) - len(todo), desc=name, file=sys.stdout) as bar:
        for new, options in _calls(_timed, calls, workers, client):
            entries += new
            if store is not None:
                with written_whole(Path(store)) as draft:
                    draft.write_text(json.dumps({"runs": entries}, indent=1) + "\n")
            if (folder := options.get("checkpoint_dir")) and Path(folder).exists():
                shutil.rmtree(folder)
            bar.update(len(new))
    rows = {_key(entry["setting"]): entry["setting"] | entry["result"] for entry in entries}
    return [rows[key] for key in keys]


def beside_stored(
    run: Callable[..., Any],
    settings: list[Row],
    file: Path | str,
    *,
    keep: bool = False,
    **options: Any,
) -> tuple[list[Row], list[Row]]:
    """This session's runs, and the stored ones that differ from them in nothing but the seed.

    Args:
        run, settings, options: as for `run_grid`.
        file: of the stored runs.
        keep: add this session's runs to the file instead; then none are "stored".

    Returns:
        Two lists of rows: this session's, stored.
    """
    live = run_grid(run, settings, store=file if keep else None, **options)
    if keep:
        return live, []
    return live, stored_like(settings, file)


def stored_like(settings: list[Row], file: Path | str) -> list[Row]:
    """The stored rows that differ from one of the settings in nothing but the seed."""
    alike = [{**setting, "seed": None} for setting in settings]
    return [row for row in load_results(file) if {**{k: row.get(k) for k in alike[0]}, "seed": None} in alike]


def load_results(store: Path | str) -> list[Row]:
    """The rows of a file that `run_grid` wrote; none, and a line that says so, if the file is missing."""
    if not Path(store).exists():
        print(f"No stored runs at {store}: only the runs of this session are shown.")
    return [entry["setting"] | entry["result"] for entry in _entries(store)]


def _entries(store: Path | str | None) -> list[Row]:
    if store is None or not Path(store).exists():
        return []
    return json.loads(Path(store).read_text())["runs"]


def _key(setting: Row | list[Row]) -> str:
    return json.dumps(setting, sort_keys=True)


def _unfinished(store: Path | str | None, setting: Row | list[Row]) -> str | None:
    """Where the call of this setting, or of these, may leave what it has."""
    if store is None:
        return None
    return str(Path(f"{store}.unfinished").resolve() / hashlib.sha256(_key(setting).encode()).hexdigest()[:16])


def in_parallel(call: Callable[..., Any], settings: list[Row], *, workers: int = 1, name: str = "") -> list[Any]:
    """call(**setting) for every setting, in order; results may be anything, such as networks. As for `run_grid`."""
    check_int("workers", workers, 1)
    calls = _calls(_on_one_thread, [(call, setting) for setting in settings], workers, in_order=True)
    return list(tqdm(calls, total=len(settings), desc=name, file=sys.stdout))


def _groups(settings: list[Row], together: Sequence[str], workers: int) -> list[list[Row]]:
    """Settings that differ in nothing but `together`, in parts of like size, their number a multiple of workers."""
    alike: dict[str, list[Row]] = {}
    for setting in settings:
        alike.setdefault(_key({**setting, **dict.fromkeys(together)}), []).append(setting)
    parts = workers // math.gcd(workers, len(alike))
    return [part for group in alike.values() for i in range(parts) if (part := group[i::parts])]


def _single_threaded(client: Any) -> int:
    threads = client.nthreads()
    if not threads or max(threads.values()) > 1:
        raise ValueError(
            "client must have workers of one thread each (threads_per_worker=1, or --nthreads 1), since random seeds "
            f"and numbers of threads belong to a process; got {threads or 'no worker'}"
        )
    return len(threads)


def _calls(
    function: Callable[..., Any], arguments: list[tuple], workers: int, client: Any = None, in_order: bool = False
) -> Iterable[Any]:
    if client is not None:
        from distributed import as_completed

        futures = [client.submit(function, *each, pure=False) for each in arguments]
        return (future.result() for future in as_completed(futures))
    workers = min(workers, len(arguments))
    if workers <= 1:
        return (function(*each) for each in arguments)
    parallel = Parallel(n_jobs=workers, return_as="generator" if in_order else "generator_unordered")
    return parallel(delayed(function)(*each) for each in arguments)


def _on_one_thread(call: Callable[..., Any], setting: Row | list[Row], **options: Any) -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return call(setting, **options) if isinstance(setting, list) else call(**setting, **options)
    finally:
        torch.set_num_threads(threads)


def _timed(run: Callable[..., Any], setting: Row | list[Row], options: Row) -> tuple[list[Row], Row]:
    """An entry of the file for each setting of this call. The seconds of a call for several are shared out."""
    start = time.perf_counter()
    result = _on_one_thread(run, setting, **options)
    settings, results = (setting, result) if isinstance(setting, list) else ([setting], [result])
    seconds = round((time.perf_counter() - start) / len(settings), 1)
    if clash := sorted(settings[0].keys() & results[0].keys()):
        raise ValueError(f"run must return other names than its settings have; got {', '.join(clash)} in both")
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else f"{platform.machine()} CPU, one thread"
    made_with = f"torch {torch.__version__}, Python {platform.python_version()}, {device}, {date.today()}"
    entries = [
        {"setting": setting, "result": result, "seconds": seconds, "made_with": made_with}
        for setting, result in zip(settings, results, strict=True)
    ]
    return entries, options
