"""Grids of runs: every setting once, finished ones kept in a file, so that a killed grid goes on where it stopped."""

import contextlib
import hashlib
import math
import platform
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from tqdm import tqdm

from ponder_utils._check import check_int
from ponder_course.store import Row, Store, key_of, plain
from ponder_course.workers import ended, single_threaded


class GridError(RuntimeError):
    """Some runs of a grid have failed. The others have not, and when the grid is run again only the failed ones are."""

    def __init__(self, rows: list[Row], failures: list[tuple[Row, str]], trace: str) -> None:
        super().__init__(rows, failures, trace)
        self.rows = rows  # setting and result of each run that has not failed
        self.failures = failures  # setting of each run that has, and its error in one line

    def __str__(self) -> str:
        told = "".join(f"\n  {setting}: {error}" for setting, error in self.failures)
        return f"{len(self.failures)} of {len(self.failures) + len(self.rows)} runs failed:{told}\n{self.args[2]}"


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
        run: setting -> result, both of numbers, strings, lists and dicts, NumPy's and torch's numbers and arrays
            included. Each call runs on one thread, which is faster than two for networks as small as these.
        settings: keyword arguments of the calls; no two alike.
        together: names of settings. Where they are given, settings that differ in nothing else go into one call, as
            `train_many` wants them: run([setting, ...]) -> [result, ...]. Each group of these is cut into so many parts
            of like size that the calls can be shared evenly.
        workers: processes to share the calls. With 1 they run in this one.
        client: a `distributed.Client` whose workers, of one thread each, share the calls instead. A call that was lost
            with its worker is made again.
        store: a file of JSON lines, one for each run, that any number of processes may share. Settings that it holds
            are not run again; new results are added as they come, the first one for each setting.
        checkpointed: call with one more argument, checkpoint_dir: a folder for `train` or `train_many`, from which a
            call that was killed goes on, if the settings and `workers` are the same again. It lies beside `store`, and
            only a lock is left of it when the results are there. None without `store`. Other processes wait for a call.
        name: shown on the progress bar.

    When all calls have ended, a GridError tells of those that have failed; the others are in `store`, and in the error.
    ValueError or TypeError if an argument is not as above, or a worker of the client has several threads.
    """
    check_int("workers", workers, 1)
    keys = [key_of(setting) for setting in settings]
    if len(set(keys)) < len(keys):
        raise ValueError("settings must differ from each other; got the same setting twice")
    if unknown := {*together} - {name for setting in settings for name in setting}:
        raise ValueError(f"together must be names of settings; got {', '.join(sorted(unknown))}")
    if client is not None:
        workers = single_threaded(client)
    store = None if store is None else Path(store).absolute()  # the same for other processes
    kept = Store(store)
    calls, failed = [], dict[str, Row]()
    # Cut before the finished ones are left out, so that a killed group is found again.
    for group in _groups(settings, together, workers) if together else [[setting] for setting in settings]:
        if left := [setting for setting in group if key_of(setting) not in kept.results]:
            calls.append((run, left, bool(together), checkpointed, store))
    n_done = len(settings) - sum(len(call[1]) for call in calls)
    bar = tqdm(total=len(settings), initial=n_done, desc=name, file=sys.stdout)
    with bar, contextlib.closing(ended(_entries, calls, workers, client)) as outcomes:
        for n, outcome in outcomes:
            group = calls[n][1]
            try:
                entries = outcome()
            except Exception as error:  # not of the run, which hands back its own: its process died, say
                entries = [{"setting": plain(setting)} | _failure(error) for setting in group]
            kept.add(entries)
            failed |= {key_of(entry["setting"]): entry for entry in entries if "error" in entry}
            if checkpointed and store and not any("error" in entry for entry in entries):
                _delete(_folder(store, group))
            bar.update(len(group))
    rows = [kept.results[key] for key in keys if key in kept.results]
    if failures := [failed[key] for key in keys if key not in kept.results]:
        raise GridError(rows, [(entry["setting"], entry["error"]) for entry in failures], failures[0]["trace"])
    return rows


def beside_stored(
    run: Callable[..., Any], settings: list[Row], file: Path | str, *, keep: bool = False, **options: Any
) -> tuple[list[Row], list[Row]]:
    """This session's rows, and the stored ones that differ from them in nothing but the seed, in two lists.

    Run, settings and options are as for `run_grid`. To `keep` is to add this session's runs to the file; then none are
    "stored".
    """
    live = run_grid(run, settings, store=file if keep else None, **options)
    return live, [] if keep else stored_like(settings, file)


def stored_like(settings: list[Row], file: Path | str) -> list[Row]:
    """The stored rows that differ from one of the settings in nothing but the seed."""
    alike = [plain(setting) | {"seed": None} for setting in settings]
    return [row for row in load_results(file) if any({**row, **its} == {**row, "seed": None} for its in alike)]


def runs_of(
    mode: str, run: Callable[..., Any], settings: list[Row], short: list[Row], store: Path | str, **options: Any
) -> list[Row]:
    """The rows that an evidence notebook draws: those "stored" in the file, runs of the `short` settings, which are
    kept nowhere, for "smoke", or one for each setting, of which those that the file lacks are made and added, for
    "class" and "paper".

    Run, settings and options are as for `run_grid`. ValueError if the mode is another.
    """
    if mode not in (allowed := ("stored", "smoke", "class", "paper")):
        raise ValueError(f"mode must be one of {', '.join(allowed)}; got {mode!r}")
    if mode == "stored":
        return load_results(store)
    if mode == "smoke":
        return run_grid(run, short, **options)
    return run_grid(run, settings, store=store, **options)


def load_results(store: Path | str) -> list[Row]:
    """The rows of a file that `run_grid` wrote (DamagedFileError if it has changed); if there are none, it says so."""
    rows = list(Store(store).results.values())
    if not rows:
        print(f"No stored runs at {store}: only the runs of this session are shown.")
    return rows


def chosen(rows: Iterable[Row], **setting: Any) -> list[Row]:
    """The rows that have this setting."""
    return [row for row in rows if setting.items() <= row.items()]


def rounded(value: Any) -> Any:
    """A result with every number in it to four places, and names as JSON has them."""
    if isinstance(value, dict):
        return {str(name): rounded(its) for name, its in value.items()}
    if isinstance(value, list):
        return [rounded(its) for its in value]
    return round(value, 4) if isinstance(value, float) else value


def in_parallel(call: Callable[..., Any], settings: list[Row], *, workers: int = 1, name: str = "") -> list[Any]:
    """call(**setting) for every setting, in order; results may be anything, such as networks. As for `run_grid`."""
    check_int("workers", workers, 1)
    calls, results = [(call, setting) for setting in settings], dict[int, Any]()
    with contextlib.closing(ended(_on_one_thread, calls, workers, None)) as outcomes:
        for n, outcome in tqdm(outcomes, total=len(calls), desc=name, file=sys.stdout):
            results[n] = outcome()
    return [results[n] for n in range(len(calls))]


def _groups(settings: list[Row], together: Sequence[str], workers: int) -> list[list[Row]]:
    """Settings that differ in nothing but `together`, in parts of like size, their number a multiple of workers."""
    alike: dict[str, list[Row]] = {}
    for setting in settings:
        alike.setdefault(key_of({**setting, **dict.fromkeys(together)}), []).append(setting)
    parts = workers // math.gcd(workers, len(alike))
    return [part for group in alike.values() for i in range(parts) if (part := group[i::parts])]


def _on_one_thread(call: Callable[..., Any], setting: Row | list[Row], **options: Any) -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return call(setting, **options) if isinstance(setting, list) else call(**setting, **options)
    finally:
        torch.set_num_threads(threads)


def _entries(
    run: Callable[..., Any], group: list[Row], together: bool, checkpointed: bool, store: Path | str | None
) -> list[Row]:
    """Make a call; a line of the file for each of its settings. The seconds of a call for several are shared out."""
    folder = _folder(store, group) if checkpointed else None
    options = {"checkpoint_dir": folder} if checkpointed else {}
    with FileLock(f"{folder}.lock") if folder else contextlib.nullcontext():
        if folder and {key_of(setting) for setting in group} <= Store(store).results.keys():
            return []  # another process has made it meanwhile
        start, made = time.perf_counter(), list[Row]()
        try:
            result = _on_one_thread(run, group if together else group[0], **options)
            made = [{"result": _checked(*pair)} for pair in zip(group, result if together else [result], strict=True)]
        except (Exception, SystemExit) as error:  # whatever a run raises is kept with it, so that the others go on
            made = [_failure(error) for _ in group]
        seconds = (time.perf_counter() - start) / len(group)
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else f"{platform.machine()} CPU, one thread"
    made_with = f"torch {torch.__version__}, Python {platform.python_version()}, {device}, {date.today()}"
    same: Row = {"seconds": round(seconds, 1), "made_with": made_with}
    return [{"setting": plain(setting)} | its | same for setting, its in zip(group, made, strict=True)]


def _failure(error: BaseException) -> Row:
    told = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
    return {"error": told, "trace": "".join(traceback.format_exception(error))}


def _checked(setting: Row, result: Any) -> Row:
    if not isinstance(result, dict):
        raise TypeError(f"run must return a dict for each setting; got a {type(result).__name__}")
    if clash := sorted(setting.keys() & result.keys()):
        raise ValueError(f"run must return other names than its settings have; got {', '.join(clash)} in both")
    return plain(result)


def _folder(store: Path | str | None, group: list[Row]) -> str | None:
    """Where the call of these settings may leave what it has."""
    name = hashlib.sha256(key_of(group).encode()).hexdigest()[:16]
    return None if store is None else str(Path(f"{store}.unfinished").resolve() / name)


def _delete(folder: str | None) -> None:
    """Unless another process has begun the same call, which deletes it then."""
    with contextlib.suppress(Timeout), FileLock(f"{folder}.lock", timeout=0):
        shutil.rmtree(str(folder), ignore_errors=True)
