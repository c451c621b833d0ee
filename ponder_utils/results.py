"""Grids of runs: every setting once, finished ones kept in a file, so that a killed grid goes on where it stopped."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
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
    run: Callable[..., Row], settings: list[Row], *, workers: int = 1, store: Path | str | None = None, name: str = ""
) -> list[Row]:
    """Call run(**setting) for every setting, several at a time, and return one row for each: setting and result.

    Args:
        run: setting -> result, both of plain numbers, strings and lists. Each call runs on one thread, which is
            faster than two for networks as small as these.
        settings: keyword arguments of the calls; no two alike.
        workers: processes to share the calls. With 1 they run in this one.
        store: a JSON file. Settings that it holds are not run again; new results are added as they come.
        name: shown on the progress bar.

    Raises:
        ValueError, TypeError: if `workers` is not a positive integer, a setting comes twice, or a result and a setting
            have the same name.
    """
    check_int("workers", workers, 1)
    keys = [_key(setting) for setting in settings]
    if len(set(keys)) < len(keys):
        raise ValueError("settings must differ from each other; got the same setting twice")
    entries = _entries(store)
    done = {_key(entry["setting"]) for entry in entries}
    todo = [setting for key, setting in zip(keys, settings, strict=True) if key not in done]
    with tqdm(total=len(settings), initial=len(settings) - len(todo), desc=name, file=sys.stdout) as bar:
        for entry in _calls(_timed, [(run, setting) for setting in todo], workers):
            entries.append(entry)
            if store is not None:
                with written_whole(Path(store)) as draft:
                    draft.write_text(json.dumps({"runs": entries}, indent=1) + "\n")
            bar.update()
    rows = {_key(entry["setting"]): entry["setting"] | entry["result"] for entry in entries}
    return [rows[key] for key in keys]


def beside_stored(
    run: Callable[..., Row],
    settings: list[Row],
    file: Path | str,
    *,
    keep: bool = False,
    workers: int = 1,
    name: str = "",
) -> tuple[list[Row], list[Row]]:
    """This session's runs, and the stored ones that differ from them in nothing but the seed.

    Args:
        run, settings, workers, name: as for `run_grid`.
        file: of the stored runs.
        keep: add this session's runs to the file instead; then none are "stored".

    Returns:
        Two lists of rows: this session's, stored.
    """
    live = run_grid(run, settings, workers=workers, store=file if keep else None, name=name)
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


def _key(setting: Row) -> str:
    return json.dumps(setting, sort_keys=True)


def in_parallel(call: Callable[..., Any], settings: list[Row], *, workers: int = 1, name: str = "") -> list[Any]:
    """call(**setting) for every setting, in order; results may be anything, such as networks. As for `run_grid`."""
    check_int("workers", workers, 1)
    calls = _calls(_on_one_thread, [(call, setting) for setting in settings], workers, in_order=True)
    return list(tqdm(calls, total=len(settings), desc=name, file=sys.stdout))


def _calls(function: Callable[..., Any], arguments: list[tuple], workers: int, in_order: bool = False) -> Iterator[Any]:
    workers = min(workers, len(arguments))
    if workers <= 1:
        return (function(*each) for each in arguments)
    parallel = Parallel(n_jobs=workers, return_as="generator" if in_order else "generator_unordered")
    return parallel(delayed(function)(*each) for each in arguments)


def _on_one_thread(call: Callable[..., Any], setting: Row) -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    result = call(**setting)
    torch.set_num_threads(threads)
    return result


def _timed(run: Callable[..., Row], setting: Row) -> Row:
    start = time.perf_counter()
    result = _on_one_thread(run, setting)
    seconds = round(time.perf_counter() - start, 1)
    if clash := sorted(setting.keys() & result.keys()):
        raise ValueError(f"run must return other names than its settings have; got {', '.join(clash)} in both")
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{platform.machine()} CPU, one thread"
    made_with = f"torch {torch.__version__}, Python {platform.python_version()}, {device}, {date.today()}"
    return {"setting": setting, "result": result, "seconds": seconds, "made_with": made_with}
