"""Progress of long calls, told to a callback; the library itself prints nothing."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import TYPE_CHECKING, Any

from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDS = ("comparison", "cross-validation")  # tasks whose steps are folds


@dataclass(frozen=True)
class Progress:
    """One step of a long call, with which the callback of :func:`progress` is called.

    Parameters
    ----------
    task : str
        What is running: "comparison" or "cross-validation" (a step is a fold), "candidates" (a
        step is a model that ``AutoBayes`` has tried), "bootstrap" (a sample of ``arc_strengths``),
        "families" (a variable of ``arc_probabilities``) or "search" (a step is a generation or a
        move of a search). A comparison of searches tells of both.
    done : int
        Number of steps done.
    total : int or None, default=None
        Number of all steps; None if it is not known, as in a search.
    step : object, default=None
        What was done last, where there is more to say: a :class:`~unnaive.evaluate.Step` of a
        comparison, a :class:`~unnaive.search.Generation` of a search.

    See Also
    --------
    progress : Sets the callback.

    Examples
    --------
    >>> print(Progress("comparison", 12, 30))
    comparison: 12 of 30
    """

    task: str
    done: int
    total: int | None = None
    step: Any = None

    def __str__(self) -> str:
        return f"{self.task}: {self.done:,}" + ("" if self.total is None else f" of {self.total:,}")


class _Watcher:
    """A callback, called by one thread at a time, and the error that it raised."""

    def __init__(self, callback: Callable[[Progress], object]) -> None:
        self.callback, self.lock = callback, RLock()
        self.error: BaseException | None = None

    def tell(self, step: Progress) -> None:
        with self.lock:
            try:
                self.callback(step)
            except BaseException as error:
                self.error = error
                raise


_watcher: ContextVar[_Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def progress(callback: Callable[[Progress], object]) -> Iterator[None]:
    """Call a function after every step of the long calls in a ``with`` block.

    Long calls are ``fit`` of ``AutoBayes`` and of models that search (``PazzaniNB``, ``IENB``,
    ``AdjustedNB``, ``BayesNet``), ``cross_validate``, ``compare``, ``compare_many`` and reports.
    Threads that the library starts tell the same callback, one at a time. A thread that you start
    yourself tells nobody, unless you set a callback in it. In nested blocks the inner callback is
    called alone.

    An error that the callback raises ends the call, so a callback can also stop it; a ``fit`` that
    ends so leaves the old model as it was.

    Parameters
    ----------
    callback : callable
        Called with a :class:`Progress`.

    Yields
    ------
    None
        The callback is set until the block ends.

    See Also
    --------
    Progress : What the callback receives.

    Examples
    --------
    >>> import unnaive
    >>> from unnaive.evaluate import cross_validate
    >>> X, y = [["a"], ["a"], ["b"], ["b"]] * 5, [0, 0, 1, 1] * 5
    >>> with unnaive.progress(print):
    ...     result = cross_validate(unnaive.NaiveBayes(), X, y, folds=2)
    cross-validation: 1 of 2
    cross-validation: 2 of 2
    """
    token = _watcher.set(_Watcher(callback))
    try:
        yield
    finally:
        _watcher.reset(token)


def tell(task: str, done: int, total: int | None = None, step: object = None) -> None:
    """Tell the callback of this context, if there is one.

    Parameters
    ----------
    task : str
        What is running.
    done : int
        Number of steps done.
    total : int, default=None
        Number of all steps, if it is known.
    step : object, default=None
        What was done last.
    """
    watcher = _watcher.get()
    if watcher is not None:
        watcher.tell(Progress(task, done, total, step))


def search_watcher() -> Callable[[Any], None] | None:
    """Return a function for the steps of a search, which have a number; None: nobody watches."""
    return _tell_search if _watcher.get() else None


def _tell_search(step: Any) -> None:
    tell("search", step.number, step=step)


def is_from_callback(error: BaseException) -> bool:
    """Whether the callback raised an error; such errors must never be taken for failed models.

    Parameters
    ----------
    error : BaseException
        An error that was caught.

    Returns
    -------
    bool
        True if it must be raised again.
    """
    watcher = _watcher.get()
    return watcher is not None and watcher.error is error
