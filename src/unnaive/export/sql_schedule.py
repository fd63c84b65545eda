"""In which stage of a query each column is computed, so that no stage has too many columns."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from unnaive.export.sql_words import exp


class Join(NamedTuple):
    """A table of numbers, the name that it has in the query, and the column with the place.

    ``parts`` are selections that make the table of the stage before, by their names.
    """

    table: str
    alias: str
    place: str
    parts: Callable[[str], Iterable[tuple[str, exp.Select]]] | None = None


class Work(NamedTuple):
    """Columns that are computed together, from columns of earlier stages.

    ``used`` are the columns that they refer to; ``join`` is the table that they come from.
    """

    names: list[str]
    used: set[str]
    join: Join | None = None


class Limits(NamedTuple):
    """Columns of a stage from which on work waits for a later one, and joins of a stage."""

    columns: int
    joins: int


def needed(work: Sequence[Work], last: Iterable[str]) -> list[Work]:
    """Return the work without columns that nothing uses.

    Parameters
    ----------
    work : list of Work
        Each refers to columns of those before it, or to given ones.
    last : iterable of str
        Columns of the result.

    Returns
    -------
    list of Work
        In the same order.

    Examples
    --------
    >>> [own.names for own in needed([Work(["a"], {"x"}), Work(["b"], {"x"})], ["b"])]
    [['b']]
    """
    wanted, found = set(last), []
    for own in reversed(work):
        if names := [name for name in own.names if name in wanted]:
            found.append(Work(names, own.used, own.join))
            wanted |= own.used
    return found[::-1]


def stages_of(
    work: Sequence[Work], given: Iterable[str], last: Iterable[str], limits: Limits
) -> dict[str, int]:
    """Return the stage of every column.

    A stage selects what it computes and what later stages use of earlier ones. Every column is
    computed as early as its stage has room, first come, first served. The first work left is done
    in any case, so that what was begun is finished before much else is begun.

    Parameters
    ----------
    work : list of Work
        All of it is needed; each refers to columns of those before it, or to given ones.
    given : iterable of str
        Columns of stage 0.
    last : iterable of str
        Columns of the result.
    limits : Limits
        Of a stage.

    Returns
    -------
    dict
        By the name of a column; 1 or more for all that are not given.

    Examples
    --------
    >>> sums = [Work(["a"], {"x"}), Work(["b"], {"x"}), Work(["c"], {"a", "b"})]
    >>> stages_of(sums, ["x"], ["c"], Limits(10, 1))
    {'x': 0, 'a': 1, 'b': 1, 'c': 2}
    """
    readers = Counter(name for own in work for name in own.used) + Counter(set(last))
    found = dict.fromkeys(given, 0)
    size = sum(name in readers for name in found)
    waits = [len(own.used - found.keys()) for own in work]
    users: dict[str, list[int]] = {}
    for place, own in enumerate(work):
        for name in own.used - found.keys():
            users.setdefault(name, []).append(place)
    ready = [place for place, count in enumerate(waits) if not count]
    stage = 0
    while ready:
        stage += 1
        left: list[int] = []
        begun: list[int] = []
        joins = 0
        for place in sorted(ready):
            own = work[place]
            grows = len(own.names) - sum(readers[name] == 1 for name in own.used)
            full = grows > 0 and size + grows > limits.columns
            if (begun and full) or (own.join and joins == limits.joins):
                left.append(place)
                continue
            size += grows
            joins += own.join is not None
            readers.subtract(own.used)
            begun.append(place)
        ready = left
        for name in (name for place in begun for name in work[place].names):
            found[name] = stage
            for place in users.get(name, ()):
                waits[place] -= 1
                if not waits[place]:
                    ready.append(place)
    return found


def selected(
    work: Sequence[Work], stage_of: dict[str, int], last: Iterable[str]
) -> Iterator[list[str]]:
    """Yield the columns of every stage: its own, and earlier ones that later stages use.

    Parameters
    ----------
    work : list of Work
        All of it is needed.
    stage_of : dict
        Stage of every column.
    last : iterable of str
        Columns of the result.

    Yields
    ------
    list of str
        Names, in the order of ``stage_of``.

    Examples
    --------
    >>> sums = [Work(["a"], {"x"}), Work(["b"], {"a", "x"})]
    >>> list(selected(sums, {"x": 0, "a": 1, "b": 2}, ["b"]))
    [['x'], ['x', 'a'], ['b']]
    """
    end = max(stage_of.values(), default=0) + 1
    until = dict.fromkeys(stage_of, 0)
    for own in work:
        for name in own.used:
            until[name] = max(until[name], stage_of[own.names[0]])
    until |= dict.fromkeys(last, end)
    stages: list[list[str]] = [[] for _ in range(end)]
    for name, first in stage_of.items():
        for stage in range(first, until[name]):
            stages[stage].append(name)
    yield from stages
