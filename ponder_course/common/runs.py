"""Trainings side by side, and the rows, stored or made here, that a lesson draws."""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from joblib import Parallel, delayed
from tqdm import tqdm

from ponder_course.common.store import Row, at_hand, finished, key_of
from ponder_utils._check import check_int


def in_parallel(call: Callable[..., Any], settings: list[Row], *, workers: int = 1, name: str = "") -> list[Any]:
    """Return call(**setting) for every setting, in order; results may be anything, such as networks.

    Args:
        call: runs on one thread.
        settings: keyword arguments of the calls.
        workers: processes that share the calls. With 1 the calls run in this process.
        name: shown on the progress bar.

    The first error is raised, and stops the others.
    """
    check_int("workers", workers, 1)
    calls = [delayed(on_one_thread)(call, setting) for setting in settings]
    results = Parallel(n_jobs=workers, return_as="generator")(calls)
    return list(tqdm(results, total=len(calls), desc=name, file=sys.stdout))


def on_one_thread(call: Callable[..., Any], setting: Row) -> Any:
    """Return call(**setting), computed on one thread."""
    threads = torch.get_num_threads()  # one is faster than two for networks as small as these
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # 0 for p_n below 1e-38: a CPU computes with these up to four times as slowly
    try:
        return call(**setting)
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)


def stored(file: Path | str, settings: Iterable[Row] = ()) -> list[Row]:
    """Return the rows of a file of stored runs, first those of the settings, in their order, so that seeds pair.

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


def seeded(settings: Sequence[Row], seeds: int | Iterable[int], *, seed_by_seed: bool = False) -> list[Row]:
    """Return each of the settings with each of the seeds: 0 to seeds - 1, or those that are given.

    They come setting by setting, or seed by seed.
    """
    chosen = range(seeds) if isinstance(seeds, int) else [*seeds]
    if seed_by_seed:
        return [setting | {"seed": seed} for seed in chosen for setting in settings]
    return [setting | {"seed": seed} for setting in settings for seed in chosen]


def matching(rows: Iterable[Row], /, **setting: Any) -> list[Row]:
    """Return the rows that have this setting, whether stored or not: a tuple is a list, and True is not 1."""
    wanted = key_of(setting)
    return [row for row in rows if key_of({name: row[name] for name in setting if name in row}) == wanted]


def rounded(value: Any) -> Any:
    """Return a result with every number in it to four places, and names as JSON has them."""
    if isinstance(value, dict):
        return {str(name): rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value
