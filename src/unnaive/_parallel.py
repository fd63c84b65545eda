"""Threads: the kernels release the interpreter lock, so threads can use all cores."""

from __future__ import annotations

import os
import sys
from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future, ThreadPoolExecutor

Task = TypeVar("Task")
Result = TypeVar("Result")
_FEW_NUMBERS = 1 << 16
_ONE_THREAD = ContextVar("_ONE_THREAD", default=False)


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads; joblib decides if it is in use.

    As long as joblib has not been imported, no ``joblib.parallel_config`` can be active.
    """
    if n_jobs == 1:
        return 1
    if "joblib" in sys.modules or n_jobs not in {None, -1}:
        return int(import_module("joblib").effective_n_jobs(n_jobs))
    if n_jobs is None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs_for(numbers: int, n_jobs: int | None) -> int | None:
    """One thread for work on few numbers, which is done before a second one has started.

    Parameters
    ----------
    numbers : int
        How many numbers are looked at, at least once.
    n_jobs : int or None
        Number of threads for more of them.

    Returns
    -------
    int or None
        Number of threads.

    Examples
    --------
    >>> jobs_for(100, n_jobs=4), jobs_for(1_000_000, n_jobs=4)
    (1, 4)
    """
    return n_jobs if numbers > _FEW_NUMBERS else 1


class Team:
    """Threads that are kept from one call to the next, and end with their team.

    ``n_jobs`` means what it means in scikit-learn: ``None`` is one thread (or what an
    enclosing ``joblib.parallel_config`` says), -1 is every core.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.size = effective_n_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def run(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> list[Result]:
        """Apply ``function`` to every task; results are in the order of the tasks."""
        work = list(tasks)
        if min(self.size, len(work)) <= 1:
            return [function(task) for task in work]
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - costs import time

            self._pool = ThreadPoolExecutor(self.size)
        return list(self._pool.map(_in_this_context(function), work))


def _in_this_context(function: Callable[[Task], Result]) -> Callable[[Task], Result]:
    """Return a function that other threads run with the context of this one, such as a callback."""
    context = copy_context()
    return lambda task: context.copy().run(function, task)


def run(
    function: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int | None = None
) -> list[Result]:
    """Apply ``function`` to every task with a new :class:`Team`."""
    work = list(tasks)
    return Team(n_jobs).run(function, work) if len(work) > 1 else [function(task) for task in work]


def map_ahead(
    function: Callable[[Task], Result], tasks: Iterable[Task], threads: int
) -> Generator[Result]:
    """Yield the results in the order of the tasks, while threads work on the next tasks.

    Examples
    --------
    >>> list(map_ahead(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    if threads <= 1:
        yield from map(function, tasks)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - costs import time

    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for task in tasks:
            waiting.append(pool.submit(_in_this_context(function), task))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let matrix products use a single thread: results are the same, and ours have the cores.

    Inside another one it does nothing: to look at all libraries takes longer than small products.
    """
    if _ONE_THREAD.get():
        yield
        return
    token = _ONE_THREAD.set(True)
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _ONE_THREAD.reset(token)


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - looks at all libraries

    return ThreadpoolController()


def row_blocks(n_rows: int, size: int) -> list[tuple[int, int]]:
    """Return half-open ranges of at most ``size`` rows that cover ``n_rows``."""
    return [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
