"""Runs of experiments: every setting once, several at a time, and finished ones kept in a file.

A grid that was killed goes on where it stopped.
"""

import contextlib
import hashlib
import platform
import shutil
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import torch
from loky import get_reusable_executor
from loky.process_executor import BrokenProcessPool
from tqdm import tqdm

import ponder_utils
from ponder_course.fingerprint import fingerprint_of
from ponder_course.store import Row, append, finished, key_of, plain, read
from ponder_utils._check import check_choice, check_int


class RunsFailed(RuntimeError):
    """Some runs have failed. The others are kept, and when all are asked for again only the failed ones are run."""

    def __init__(self, rows: list[Row], failures: list[tuple[Row, str]], trace: str) -> None:
        super().__init__(rows, failures, trace)
        self.rows = rows  # setting and result of each run that has not failed
        self.failures = failures  # setting of each run that has, and its error in one line
        self.trace = trace  # the traceback of the first of these

    def __str__(self) -> str:
        summary = "".join(f"\n  {setting}: {error}" for setting, error in self.failures)
        return f"{len(self.failures)} of {len(self.failures) + len(self.rows)} runs failed:{summary}\n{self.trace}"


def run_all(
    run: Callable[..., Any],
    settings: list[Row],
    *,
    workers: int = 1,
    file: Path | str | None = None,
    checkpointed: bool = False,
    name: str = "",
) -> list[Row]:
    """Call run(**setting) for every setting and return one row for each, in their order: setting and result.

    Args:
        run: setting -> result, a dict of numbers, strings, lists and dicts, NumPy's and torch's numbers and arrays
            included. Each call runs on one thread, which is faster than two for networks as small as these.
        settings: keyword arguments of the calls; no two alike.
        workers: processes that share the calls; they stay for the next grid. With 1 the calls run in this process.
        file: JSON lines, one for each run, to which several processes may append. Settings that it holds are not run
            again, and new results are added as they come.
        checkpointed: call with one more argument, checkpoint_dir: a folder for `train` beside the file, from which a
            run that was killed goes on; deleted when its result is stored. None without a file. Two processes must
            not run the same setting at a time.
        name: shown on the progress bar.

    When all calls have ended, RunsFailed reports those that have failed; the others are in the file, and in the error.
    A run whose process dies (out of memory, say) has failed, and no other with it. ValueError or TypeError if an
    argument is not as above; OSError if the file cannot be written.
    """
    check_int("workers", workers, 1)
    keys = [key_of(setting) for setting in settings]
    if len(set(keys)) < len(keys):
        raise ValueError("settings must differ from each other; got the same setting twice")
    path = None if file is None else _writable(Path(file).absolute())
    rows = finished(path)
    waiting = [plain(setting) for setting, key in zip(settings, keys, strict=True) if key not in rows]
    folders = [_folder(path, setting) if path and checkpointed else None for setting in waiting]
    made_by: Row = {"version": ponder_utils.__version__, "fingerprint": fingerprint_of(run)}
    calls = [partial(_entry, run, *pair, checkpointed) for pair in zip(waiting, folders, strict=True)]
    failed: dict[str, Row] = {}
    bar = tqdm(total=len(settings), initial=len(settings) - len(waiting), desc=name, file=sys.stdout)
    with bar, contextlib.closing(_finished(calls, workers)) as outcomes:
        for n, outcome in outcomes:
            if isinstance(outcome, BrokenProcessPool):
                outcome = {"setting": waiting[n]} | _failure(outcome)
            trace = outcome.pop("trace", "")
            if path:
                append(path, outcome | made_by)
            if "error" in outcome:
                failed[key_of(waiting[n])] = outcome | {"trace": trace}
            else:
                rows[key_of(waiting[n])] = outcome["setting"] | outcome["result"]
                _delete(folders[n])
            bar.update()
    if failed:
        failures = [failed[key] for key in keys if key in failed]
        errors = [(entry["setting"], entry["error"]) for entry in failures]
        raise RunsFailed([rows[key] for key in keys if key in rows], errors, failures[0]["trace"])
    return [rows[key] for key in keys]


def in_parallel(call: Callable[..., Any], settings: list[Row], *, workers: int = 1, name: str = "") -> list[Any]:
    """Return call(**setting) for every setting, in order; results may be anything, such as networks.

    Workers and name are as for `run_all`. The first error is raised and stops the others.
    """
    check_int("workers", workers, 1)
    calls = [partial(_on_one_thread, call, setting) for setting in settings]
    results: dict[int, Any] = {}
    with contextlib.closing(_finished(calls, workers)) as outcomes:
        for n, outcome in tqdm(outcomes, total=len(calls), desc=name, file=sys.stdout):
            if isinstance(outcome, BrokenProcessPool):
                raise outcome
            results[n] = outcome
    return [results[n] for n in range(len(calls))]


def stored(file: Path | str) -> list[Row]:
    """Return the rows of a file that `run_all` wrote, and print that there are none where there are none."""
    rows = list(finished(Path(file)).values())
    if not rows:
        print(f"No stored runs at {file}: only the runs of this session are shown.")
    return rows


def live_and_stored(
    run: Callable[..., Any], settings: list[Row], file: Path | str, *, workers: int = 1, name: str = ""
) -> tuple[list[Row], list[Row]]:
    """Return the rows of this session, and the stored ones that differ from one of them in nothing but the seed.

    The runs of this session are not added to the file; run, settings, workers and name are as for `run_all`.
    """
    live = run_all(run, settings, workers=workers, name=name)
    alike = [{key: value for key, value in plain(setting).items() if key != "seed"} for setting in settings]
    return live, [row for row in stored(file) if any(matching([row], **setting) for setting in alike)]


def matching(rows: Iterable[Row], **setting: Any) -> list[Row]:
    """Return the rows that have this setting."""
    return [row for row in rows if setting.items() <= row.items()]


def rounded(value: Any) -> Any:
    """Return a result with every number in it to four places, and names as JSON has them."""
    if isinstance(value, dict):
        return {str(name): rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


@dataclass(frozen=True)
class Experiment:
    """Runs that answer one question, and where they are kept: in the file `name`.jsonl of a folder."""

    name: str
    run: Callable[..., Any]
    settings: list[Row]
    short: list[Row]  # settings that show in seconds that the code runs
    checkpointed: bool = False

    def rows(self, mode: str, folder: Path | str, workers: int = 1) -> list[Row]:
        """Return the rows that are drawn.

        mode "stored": those in the file. "smoke": runs of the short settings, which are kept nowhere. "class" and
        "paper": one row for each setting; the runs that the file lacks are made and added. ValueError for others.
        """
        check_choice("mode", mode, ("stored", "smoke", "class", "paper"))
        file = Path(folder, f"{self.name}.jsonl")
        if mode == "stored":
            return stored(file)
        if mode == "smoke":
            return run_all(self.run, self.short, workers=workers, checkpointed=self.checkpointed, name=self.name)
        return run_all(
            self.run, self.settings, workers=workers, file=file, checkpointed=self.checkpointed, name=self.name
        )


def stale(folder: Path | str, experiments: Iterable[Experiment]) -> list[str]:
    """Return one line for each file of stored runs of which some are older than the code that makes them today."""
    lines = []
    for experiment in experiments:
        entries = read(Path(folder, f"{experiment.name}.jsonl"))
        today = fingerprint_of(experiment.run)
        older = [entry["version"] for entry in entries if entry["fingerprint"] != today]
        if older:
            versions = ", ".join(sorted(set(older)))
            lines.append(f"{experiment.name}: {len(older)} of {len(entries)} runs are older than the code ({versions})")
    return lines


def _writable(path: Path) -> Path:
    """Return the path if a file can be written there; a link stays one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        raise OSError(f"file must be one that can be written; got {path}: {error.strerror}") from error
    return path.resolve()


def _folder(path: Path, setting: Row) -> Path:
    """Return where the run of this setting may leave its checkpoint."""
    return Path(f"{path}.unfinished", hashlib.sha256(key_of(setting).encode()).hexdigest()[:16])


def _delete(folder: Path | None) -> None:
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # others are still in it, or there was none
            folder.parent.rmdir()


def _on_one_thread(call: Callable[..., Any], setting: Row) -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return call(**setting)
    finally:
        torch.set_num_threads(threads)


def _entry(run: Callable[..., Any], setting: Row, folder: Path | None, checkpointed: bool) -> Row:
    """Make one run; the entry of the file for it."""
    start = time.perf_counter()
    options = {"checkpoint_dir": folder and str(folder)} if checkpointed else {}
    try:
        result = _on_one_thread(run, setting | options)
        outcome: Row = {"result": _checked(setting, result)}
    except (Exception, SystemExit) as error:  # whatever a run raises is kept with it, so that the others go on
        outcome = _failure(error)
    seconds = round(time.perf_counter() - start, 1)
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else f"{platform.machine()} CPU, one thread"
    made_with = f"torch {torch.__version__}, Python {platform.python_version()}, {device}, {date.today()}"
    return {"setting": setting} | outcome | {"seconds": seconds, "made_with": made_with}


def _checked(setting: Row, result: Any) -> Row:
    if not isinstance(result, dict):
        raise TypeError(f"run must return a dict; got a {type(result).__name__}")
    if clash := sorted(setting.keys() & result.keys()):
        raise ValueError(f"run must return other names than its setting has; got {', '.join(clash)} in both")
    return plain(result)


def _failure(error: BaseException) -> Row:
    line = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
    return {"error": line, "trace": "".join(traceback.format_exception(error))}


def _finished(calls: Sequence[Callable[[], Any]], workers: int) -> Generator[tuple[int, Any], None, None]:
    """Yield the number of each call and what it returned, as they end. If this generator is closed, the rest stops.

    A process that dies breaks the pool, and the calls that ran then are suspects: each is made again, alone in a new
    pool. For one that breaks that, too, the BrokenProcessPool error is yielded.
    """
    if workers == 1:
        for n, call in enumerate(calls):
            yield n, call()
        return
    waiting, suspects = deque(range(len(calls))), deque[int]()
    running: dict[Future[Any], int] = {}
    try:
        while waiting or suspects or running:
            alone = bool(suspects)
            limit = 1 if alone else workers
            executor = get_reusable_executor(max_workers=limit, timeout=300)
            queue = suspects if alone else waiting
            with contextlib.suppress(BrokenProcessPool):  # a process that lay idle has died
                while queue and len(running) < limit:
                    running[executor.submit(calls[queue[0]])] = queue[0]
                    queue.popleft()
            done = wait(running, return_when=FIRST_COMPLETED).done
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                done = wait(running).done  # the pool is broken: all that ran in it has ended
            for future in done:
                n = running.pop(future)
                error = future.exception()
                if not isinstance(error, BrokenProcessPool):
                    yield n, future.result()
                elif alone:
                    yield n, error
                else:
                    suspects.append(n)
    finally:
        if running:
            executor.shutdown(kill_workers=True)
