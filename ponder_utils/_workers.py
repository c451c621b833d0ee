"""Calls shared among processes, or among the workers of a Dask cluster."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any

from loky import ProcessPoolExecutor
from loky.process_executor import BrokenProcessPool

# Each has one process, which has imported torch and is kept for the next grid.
_idle: list[ProcessPoolExecutor] = []


def ended(function: Callable, calls: Sequence[tuple], workers: int, client: Any) -> Generator[Any, None, None]:
    """The number of each call, and what returns or raises what it has, as they end. Closed before, it stops the others.

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
    elif min(workers, len(calls)) <= 1:
        for n, call in enumerate(calls):
            yield n, partial(function, *call)
    else:
        busy: list[ProcessPoolExecutor] = []
        with ThreadPoolExecutor(min(workers, len(calls))) as threads:  # each waits for one process
            waiting = {threads.submit(_in_a_process, busy, function, call): n for n, call in enumerate(calls)}
            try:
                for done in as_completed(waiting):
                    yield waiting[done], done.result
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
                while busy:
                    busy.pop().shutdown(kill_workers=True)


def _in_a_process(busy: list[ProcessPoolExecutor], function: Callable[..., Any], call: tuple) -> Any:
    try:
        process = _idle.pop()
    except IndexError:
        process = ProcessPoolExecutor(1, timeout=300)
    busy.append(process)
    future = process.submit(function, *call)
    error = future.exception()
    if process in busy:  # else it was stopped
        busy.remove(process)
        if not isinstance(error, BrokenProcessPool):
            _idle.append(process)
    return future.result()


def single_threaded(client: Any) -> int:
    """How many workers a cluster has, if each has one thread."""
    threads = client.nthreads()
    if not threads or max(threads.values()) > 1:
        wanted = "workers of one thread each (threads_per_worker=1, or --nthreads 1): random seeds belong to a process"
        raise ValueError(f"client must have {wanted}; got {threads or 'no worker'}")
    return len(threads)
