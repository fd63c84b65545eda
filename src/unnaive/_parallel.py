"""Threads: the kernels release the interpreter lock, so plain threads use every core."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from joblib import effective_n_jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Task = TypeVar("Task")
Result = TypeVar("Result")


def run(
    function: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int | None = None
) -> list[Result]:
    """Apply ``function`` to every task, results in the order of the tasks.

    ``n_jobs`` means what it means in scikit-learn: ``None`` is one thread (or what an
    enclosing ``joblib.parallel_config`` says), -1 is every core.
    """
    work = list(tasks)
    threads = min(effective_n_jobs(n_jobs), len(work))
    if threads <= 1:
        return [function(task) for task in work]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, work))


def row_blocks(n_rows: int, size: int) -> list[tuple[int, int]]:
    """Half-open row ranges of at most ``size`` rows that cover ``n_rows``."""
    return [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
