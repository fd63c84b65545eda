"""Timing: best of several calls, interleaved calls, and the stages inside a call."""

from __future__ import annotations

import functools
import importlib
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

SLOW = 10.0  # seconds: what takes longer than this is measured once


def seconds(function: Callable[[], Any]) -> float:
    """Time one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def best_of(function: Callable[[], Any], repeats: int) -> float:
    """Return the shortest time of several calls; a slow function is called once."""
    times: list[float] = []
    while len(times) < repeats and (not times or times[-1] < SLOW):
        times.append(seconds(function))
    return min(times)


def interleaved(functions: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Time A B C A B C …, so that other load on the machine affects all of them."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(seconds(function))
    return times


def best(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the shortest time of each."""
    return {name: min(series) for name, series in times.items()}


def typical_ratio(numerator: Sequence[float], denominator: Sequence[float]) -> float:
    """Return the median of the ratios within rounds."""
    return statistics.median(a / b for a, b in zip(numerator, denominator, strict=True))


class Stages:
    """Time spent in each of some functions, without nested calls of the others."""

    def __init__(self) -> None:
        self.times: dict[str, float] = defaultdict(float)
        self._inner: list[float] = [0.0]

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a timer around it."""

        @functools.wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            self._inner.append(0.0)
            start = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                spent = time.perf_counter() - start
                self.times[name] += spent - self._inner.pop()
                self._inner[-1] += spent

        return timed


@contextmanager
def staged(places: Sequence[tuple[str, str]]) -> Iterator[Stages]:
    """Put timers around ``"module:attribute"``; skip those that do not exist."""
    stages = Stages()
    with ExitStack() as stack:
        for name, place in places:
            module, _, path = place.partition(":")
            *owners, attribute = path.split(".")
            owner = functools.reduce(getattr, owners, importlib.import_module(module))
            clocked = stages.wrap(name, getattr(owner, attribute))
            stack.enter_context(mock.patch.object(owner, attribute, clocked))
        yield stages
