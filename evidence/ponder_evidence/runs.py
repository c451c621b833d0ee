"""Experiments: each setting is run once, several at a time, and what has finished is kept: a killed grid goes on.

The runs are joblib's, so a cluster takes them where one of its backends is chosen:

    with joblib.parallel_config(backend="dask", client=distributed.Client(address)):  # or backend="ray"
        EXPERIMENTS["main"].rows("class", "evidence/results", WORKERS)
"""

import copy
import hashlib
import json
import platform
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import torch
from joblib import Parallel, delayed
from tqdm import tqdm

import ponder_utils
from ponder_course.common.runs import on_one_thread, stored
from ponder_course.common.store import Row, at_hand, finished, key_of, plain, read
from ponder_utils._check import check_choice, check_int
from ponder_utils.checkpoints import atomic_write


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


def run_and_keep(
    run: Callable[..., Any],
    settings: list[Row],
    file: Path | str | None,
    *,
    workers: int = 1,
    checkpointed: bool = False,
    name: str = "",
) -> list[Row]:
    """Call run(**setting) for every setting and return one row for each, in order: setting and result.

    Args:
        run: setting -> dict of numbers, strings, lists and dicts, also NumPy's and torch's. It runs on one thread.
        settings: keyword arguments of the calls; no two alike.
        file: JSON lines. Settings that it holds are not run again. Each new run is kept in a file of its own beside it,
            in `FILE.unfinished`, until all have ended; then they are added. None keeps nothing.
        workers: processes that share the calls. With 1 the calls run in this process.
        checkpointed: give `run` a checkpoint_dir there (None without a file), so that a killed run goes on, too.
        name: shown on the progress bar.

    When all have ended, RunsFailed reports those that raised. ValueError or TypeError if an argument is wrong.
    """
    check_int("workers", workers, 1)
    wanted = {key_of(setting): setting for setting in settings}
    if len(wanted) < len(settings):
        raise ValueError("settings must differ from each other; got the same setting twice")
    rows = finished(None if file is None else at_hand(file))
    missing = [key for key in wanted if key not in rows]
    folder = None
    if file is not None and missing:
        folder = Path(f"{file}.unfinished").resolve()
        folder.mkdir(parents=True, exist_ok=True)
    calls = [delayed(made_or_kept)(run, wanted[key], folder, checkpointed) for key in missing]
    entries = Parallel(n_jobs=workers, return_as="generator_unordered")(calls)
    failures, made = {}, {}
    for entry in tqdm(entries, total=len(wanted), initial=len(wanted) - len(calls), desc=name, file=sys.stdout):
        if "error" in entry:
            failures[key_of(entry["setting"])] = entry["error"]
        else:
            made[key_of(entry["setting"])] = entry
    if folder:
        add(Path(file), [made[key] for key in missing if key in made])  # type: ignore[arg-type]
        shutil.rmtree(folder)
    rows |= {key: entry["setting"] | entry["result"] for key, entry in made.items()}
    done = [rows[key] for key in wanted if key in rows]
    if failures:
        raise RunsFailed(done, [(plain(wanted[key]), failures[key]) for key in wanted if key in failures])
    return done


def made_or_kept(run: Callable[..., Any], setting: Row, folder: Path | None, checkpointed: bool) -> Row:
    """Return the entry of a run: what its file in the folder holds, or else what `make_entry` makes and keeps there."""
    if folder is None:
        return make_entry(run, setting | ({"checkpoint_dir": None} if checkpointed else {}), setting)
    place = folder / hashlib.sha256(key_of(setting).encode()).hexdigest()[:16]
    kept = place.with_suffix(".jsonl")
    if kept.exists():
        return read(kept)[0]
    entry = make_entry(run, setting | ({"checkpoint_dir": str(place)} if checkpointed else {}), setting)
    if "error" not in entry:
        with atomic_write(kept) as draft:
            draft.write_text(json.dumps(entry) + "\n", encoding="utf-8")
    return entry


def make_entry(run: Callable[..., Any], arguments: Row, setting: Row) -> Row:
    """Make one run, and return what a file keeps of it; of a run that raises, setting and error."""
    start = time.perf_counter()
    try:
        result = on_one_thread(run, copy.deepcopy(arguments))  # whatever the run makes of it, the setting stays
        if not isinstance(result, dict):
            raise TypeError(f"run must return a dict; got a {type(result).__name__}")
        entry = {"setting": plain(setting, "setting"), "result": plain(result, "result")}
        if clash := sorted(entry["setting"].keys() & entry["result"].keys()):
            raise ValueError(f"run must return other names than its setting has; got {', '.join(clash)} in both")
    except (Exception, SystemExit) as error:  # whatever a run raises is reported with it, so that the others go on
        line = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
        return {"setting": plain(setting), "error": "\n".join([line, *traceback.format_exception(error)])}
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else f"{platform.machine()} CPU, one thread"
    made_with = f"torch {torch.__version__}, Python {platform.python_version()}, {device}, {date.today()}"
    seconds = round(time.perf_counter() - start, 1)
    return entry | {"seconds": seconds, "made_with": made_with, "version": ponder_utils.__version__, "commit": commit()}


@cache
def commit() -> str | None:
    """Return the commit of the code that runs, with "-dirty" behind it if files have changed; None outside a clone."""
    asked = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def add(file: Path, entries: list[Row]) -> None:
    """Add entries to a file of stored runs, whole or not at all; a new file begins with those of the wheel."""
    lines = [json.dumps(entry) + "\n" for entry in [*read(at_hand(file)), *entries]]
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as draft:
        draft.write_text("".join(lines), encoding="utf-8")


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
        return run_and_keep(self.run, settings, kept, workers=workers, checkpointed=self.checkpointed, name=self.name)


def grid(
    name: str, run: Callable[..., Any], settings: list[Row], short: Row, *, n_short: int = 1, checkpointed: bool = False
) -> Experiment:
    """Return the experiment that makes a run of each setting, and keeps it in `name`.jsonl.

    short: what makes a run take seconds. The first `n_short` of the settings with the first seed are made so to show
    that the code runs.
    """
    firsts = [setting for setting in settings if setting["seed"] == settings[0]["seed"]]
    return Experiment(name, run, settings, [setting | short for setting in firsts[:n_short]], checkpointed)
