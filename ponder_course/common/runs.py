"""Runs of experiments: each setting once, several at a time, and finished ones kept, so that a killed grid goes on."""

import contextlib
import copy
import hashlib
import platform
import shutil
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
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
from ponder_course.common.fingerprint import fingerprint_of
from ponder_course.common.store import Row, append, at_hand, finished, key_of, plain, prepare
from ponder_utils._check import check_choice, check_int


class RunsFailed(RuntimeError):
    """Some runs have failed. The others are kept; asked for again, only the failed ones are run."""

    def __init__(self, rows: list[Row], failures: list[tuple[Row, str]]) -> None:
        super().__init__(rows, failures)
        self.rows = rows  # setting and result of each run that has not failed
        self.failures = failures  # setting and error of each run that has; the first line says what, the others where

    def __str__(self) -> str:
        lines = [f"{len(self.failures)} of {len(self.failures) + len(self.rows)} runs failed:"]
        lines += [f"  {setting}: {error.splitlines()[0]}" for setting, error in self.failures]
        return "\n".join([*lines, "The first:", self.failures[0][1]])


def run_all(
    run: Callable[..., Any],
    settings: list[Row],
    *,
    workers: int = 1,
    file: Path | str | None = None,
    checkpointed: bool = False,
    name: str = "",
) -> list[Row]:
    """Call run(**setting) for every setting and return one row for each, in order: setting and result.

    Args:
        run: setting -> dict of numbers, strings, lists and dicts, also NumPy's and torch's. It runs on one thread.
        settings: keyword arguments of the calls; no two alike.
        workers: processes that share the calls, kept for the next grid. With 1 the calls run in this process.
        file: JSON lines. Settings that it holds are not run again; new results are added as they come. It is tried
            before the first run; where no run is missing, it is only read.
        checkpointed: give `run` a checkpoint_dir beside the file (None without one), so that a run that was killed
            goes on; it is deleted when the result is stored. Two processes must not make the same run at a time.
        name: shown on the progress bar.

    When all have ended, RunsFailed reports those that raised, or whose process died (out of memory, say); the others
    are in the file and in the error. ValueError or TypeError if an argument is wrong, OSError if the file is.
    """
    check_int("workers", workers, 1)
    asked = {key_of(setting): setting for setting in settings}
    if len(asked) < len(settings):
        raise ValueError("settings must differ from each other; got the same setting twice")
    rows = finished(None if file is None else at_hand(file))
    missing = [key for key in asked if key not in rows]
    path = prepare(file) if file is not None and missing else None
    calls, folders = {}, dict[str, str]()
    for key in missing:
        if path and checkpointed:
            folders[key] = str(Path(f"{path}.unfinished", hashlib.sha256(key.encode()).hexdigest()[:16]))
        options = {"checkpoint_dir": folders.get(key)} if checkpointed else {}
        calls[key] = partial(make_entry, partial(run, **options), asked[key])
    errors: dict[str, str] = {}
    code = code_of(run)
    bar = tqdm(total=len(asked), initial=len(asked) - len(calls), desc=name, file=sys.stdout)
    with bar, contextlib.closing(_ended(calls, workers)) as outcomes:
        for key, outcome in outcomes:
            entry = failed_entry(asked[key], outcome) if isinstance(outcome, BrokenProcessPool) else outcome
            if path:
                append(path, entry | code)
            if "error" in entry:
                errors[key] = entry["error"]
            else:
                rows[key] = entry["setting"] | entry["result"]
                if key in folders:
                    shutil.rmtree(folders[key], ignore_errors=True)
            bar.update()
    done = [rows[key] for key in asked if key in rows]
    if errors:
        raise RunsFailed(done, [(plain(asked[key]), errors[key]) for key in asked if key in errors])
    return done


def in_parallel(call: Callable[..., Any], settings: list[Row], *, workers: int = 1, name: str = "") -> list[Any]:
    """Return call(**setting) for every setting, in order; results may be anything, such as networks.

    Workers and name are as for `run_all`. The first error is raised, and stops the others.
    """
    check_int("workers", workers, 1)
    calls = {n: partial(_on_one_thread, call, setting) for n, setting in enumerate(settings)}
    results: dict[int, Any] = {}
    with contextlib.closing(_ended(calls, workers)) as outcomes:
        for n, outcome in tqdm(outcomes, total=len(calls), desc=name, file=sys.stdout):
            if isinstance(outcome, BrokenProcessPool):
                raise outcome
            results[n] = outcome
    return [results[n] for n in calls]


def stored(file: Path | str, settings: Iterable[Row] = ()) -> list[Row]:
    """Return the rows of a file that `run_all` wrote, first those of the settings, in their order, so that seeds pair.

    Where there are none, print that.
    """
    rows = finished(at_hand(file))
    if not rows:
        print(f"No stored runs at {file}: only the runs of this session are shown.")
    return [rows[key] for key in dict.fromkeys([*map(key_of, settings), *rows]) if key in rows]


Load = Callable[[str], list[Row]]


def load_from(files: str) -> Load:
    """Return what loads the `stored` rows of a name, which stands for the * in files, such as "results/05_*.jsonl"."""
    return lambda name: stored(files.replace("*", name))


def same_but_seed(rows: list[Row], settings: list[Row]) -> list[Row]:
    """Return the rows that differ from one of the settings in nothing but the seed."""
    wanted = [{name: value for name, value in setting.items() if name != "seed"} for setting in settings]
    return [row for row in rows if any(matching([row], **setting) for setting in wanted)]


def matching(rows: Iterable[Row], /, **setting: Any) -> list[Row]:
    """Return the rows that have this setting, whether stored or not: a tuple is a list, and True is not 1."""
    wanted = key_of(setting)
    return [row for row in rows if key_of({name: row[name] for name in setting if name in row}) == wanted]


def learnt_and_not(rows: Sequence[Row], has_learnt: Callable[[Row], bool]) -> tuple[list[Row], list[Row]]:
    """Return the networks that have learnt, all of them if none has, and the others."""
    learnt = [row for row in rows if has_learnt(row)] or list(rows)
    return learnt, [row for row in rows if row not in learnt]


def rounded(value: Any) -> Any:
    """Return a result with every number in it to four places, and names as JSON has them."""
    if isinstance(value, dict):
        return {str(name): rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


@dataclass(frozen=True)
class Experiment:
    """Runs that answer one question; they are kept in the file `name`.jsonl of a folder."""

    name: str
    run: Callable[..., Any]
    settings: list[Row]
    short: list[Row]  # settings that show within seconds that the code runs
    checkpointed: bool = False

    def rows(self, mode: str, folder: Path | str, workers: int = 1) -> list[Row]:
        """Return the rows that are drawn.

        "stored": those in the file. "smoke": runs of the short settings, which are kept nowhere. "class" and "paper":
        one row for each setting; the runs that the file lacks are made and added. ValueError for other modes.
        """
        check_choice("mode", mode, ("stored", "smoke", "class", "paper"))
        file = Path(folder, f"{self.name}.jsonl")
        if mode == "stored":
            return stored(file, self.settings)
        settings, kept = (self.short, None) if mode == "smoke" else (self.settings, file)
        return run_all(self.run, settings, workers=workers, file=kept, checkpointed=self.checkpointed, name=self.name)


def seeded(settings: Sequence[Row], seeds: int | Iterable[int], *, seed_by_seed: bool = False) -> list[Row]:
    """Return each of the settings with each of the seeds: 0 to seeds - 1, or those that are given.

    They come setting by setting, or seed by seed.
    """
    chosen = range(seeds) if isinstance(seeds, int) else [*seeds]
    if seed_by_seed:
        return [setting | {"seed": seed} for seed in chosen for setting in settings]
    return [setting | {"seed": seed} for setting in settings for seed in chosen]


def grid(
    name: str, run: Callable[..., Any], settings: list[Row], short: Row, *, n_short: int = 1, checkpointed: bool = False
) -> Experiment:
    """Return the experiment that makes a run of each setting, and keeps it in `name`.jsonl.

    short: what makes a run take seconds. The first `n_short` of the settings with the first seed are made so to show
    that the code runs.
    """
    firsts = [setting for setting in settings if setting["seed"] == settings[0]["seed"]]
    return Experiment(name, run, settings, [setting | short for setting in firsts[:n_short]], checkpointed)


def make_entry(run: Callable[..., Any], setting: Row) -> Row:
    """Make one run, and return what a file keeps of it besides `code_of`."""
    start = time.perf_counter()
    try:
        result = _on_one_thread(run, copy.deepcopy(setting))  # whatever the run makes of it, this is what was asked
        if not isinstance(result, dict):
            raise TypeError(f"run must return a dict; got a {type(result).__name__}")
        entry = {"setting": plain(setting, "setting"), "result": plain(result, "result")}
        if clash := sorted(entry["setting"].keys() & entry["result"].keys()):
            raise ValueError(f"run must return other names than its setting has; got {', '.join(clash)} in both")
    except (Exception, SystemExit) as error:  # whatever a run raises is kept with it, so that the others go on
        entry = failed_entry(setting, error)
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else f"{platform.machine()} CPU, one thread"
    made_with = f"torch {torch.__version__}, Python {platform.python_version()}, {device}, {date.today()}"
    return entry | {"seconds": round(time.perf_counter() - start, 1), "made_with": made_with}


def failed_entry(setting: Row, error: BaseException) -> Row:
    """Return what a file keeps of a run that raised the error: what it was in the first line, then where."""
    line = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
    return {"setting": plain(setting), "error": "\n".join([line, *traceback.format_exception(error)])}


def code_of(run: Callable[..., Any]) -> Row:
    """Return what a file keeps of the code that makes a run: version and fingerprint."""
    return {"version": ponder_utils.__version__, "fingerprint": fingerprint_of(run)}


def _on_one_thread(call: Callable[..., Any], setting: Row) -> Any:
    threads = torch.get_num_threads()  # one is faster than two for networks as small as these
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # 0 for p_n below 1e-38: a CPU computes with these up to four times as slowly
    try:
        return call(**setting)
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)


def _ended(calls: Mapping[Any, Callable[[], Any]], workers: int) -> Generator[tuple[Any, Any], None, None]:
    """Yield the key of each call and what it returned, as they end. If this generator is closed, the rest stops.

    A process that dies breaks the pool, and the calls that ran then are suspects: each is made again, alone in a new
    pool. Of one that breaks that, too, the error is yielded.
    """
    if workers == 1:
        for key, call in calls.items():
            yield key, call()
        return
    waiting, suspects, running = deque(calls), deque[Any](), dict[Future[Any], Any]()
    try:
        while waiting or suspects or running:
            alone = bool(suspects)
            queue, limit = (suspects, 1) if alone else (waiting, workers)
            executor = get_reusable_executor(max_workers=limit, timeout=300)
            with contextlib.suppress(BrokenProcessPool):  # a process that lay idle has died
                while queue and len(running) < limit:
                    running[executor.submit(calls[queue[0]])] = queue[0]
                    queue.popleft()
            done = wait(running, return_when=FIRST_COMPLETED).done
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                done = wait(running).done  # all that ran in the pool have ended
            for future in done:
                key, error = running.pop(future), future.exception()
                if not isinstance(error, BrokenProcessPool):
                    yield key, future.result()
                elif alone:
                    yield key, error
                else:
                    suspects.append(key)
    finally:
        if running:
            executor.shutdown(kill_workers=True)
