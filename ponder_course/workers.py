"""Calls shared among processes, or among the workers of a Dask cluster."""

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any

from loky import ProcessPoolExecutor
from loky.process_executor import BrokenProcessPool, ShutdownExecutorError

# Each has one process, which has imported torch and is kept for the next grid.
_idle: list[ProcessPoolExecutor] = []


def ended(function: Callable, calls: Sequence[tuple], workers: int, client: Any) -> Generator[Any, None, None]:
    """The number of each call, and what returns or raises what it has, as they end. Closed before, it stops the others
    (in a cluster, those that have not begun).

    A process has one call at a time, so that one that dies (out of memory, say) takes no other call with it.
    """
    if client is not None:
        import distributed

        numbers = {client.submit(function, *call, pure=False): n for n, call in enumerate(calls)}
        try:
            for future in distributed.as_completed(list(numbers)):
                yield numbers.pop(future), future.result  # let go, or a worker that dies would make it again
        finally:
            client.cancel(list(numbers))
    elif workers == 1 or not calls:
        for n, call in enumerate(calls):
            yield n, partial(function, *call)
    else:
        busy, stopped = list[ProcessPoolExecutor](), threading.Event()
        with ThreadPoolExecutor(min(workers, len(calls))) as threads:  # each waits for one process
            waiting = {threads.submit(_in_a_process, busy, stopped, function, call): n for n, call in enumerate(calls)}
            try:
                for done in as_completed(waiting):
                    yield waiting[done], done.result
            finally:
                stopped.set()
                threads.shutdown(wait=False, cancel_futures=True)
                while busy:
                    busy.pop().shutdown(kill_workers=True)


def _in_a_process(busy: list[ProcessPoolExecutor], stopped: threading.Event, function: Callable, call: tuple) -> Any:
    process = _living()
    busy.append(process)
    if stopped.is_set():
        process.shutdown(kill_workers=True)
    future = process.submit(function, *call)
    error = future.exception()
    if process in busy:  # else it was stopped
        busy.remove(process)
        if not isinstance(error, BrokenProcessPool):
            _idle.append(process)
    return future.result()


def _living() -> ProcessPoolExecutor:
    """A process that answers: one that lay idle may have been killed meanwhile, or interrupted."""
    with contextlib.suppress(IndexError):
        while True:
            process = _idle.pop()
            with contextlib.suppress(BrokenProcessPool, ShutdownExecutorError):
                process.submit(int).result()
                return process
    return ProcessPoolExecutor(1, timeout=300)


def single_threaded(client: Any) -> int:
    """How many workers a cluster has, if each has one thread."""
    threads = client.nthreads()
    if not threads or max(threads.values()) > 1:
        wanted = "workers of one thread each (threads_per_worker=1, or --nthreads 1): random seeds belong to a process"
        raise ValueError(f"client must have {wanted}; got {threads or 'no worker'}")
    return len(threads)
