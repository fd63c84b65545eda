"""Documents read for other languages: arrays as numbers, tables with an entry for every cell."""

from __future__ import annotations

from base64 import b64decode
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._docstrings import described_like
from unnaive.exceptions import TableTooLarge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray, State

NOTHING = -1e300  # stands for log 0: sums of it stay finite in every language
LOST = -1e290  # what is below is log 0
_MOST_CELLS = 1 << 20  # of a table with an entry for every cell


@dataclass(frozen=True, eq=False)
class Reading:
    """One model of a document: its columns, its number of classes, and its arrays as numbers.

    Attributes
    ----------
    document : dict
        The whole document, which has the arrays.
    single : dict
        The document again, or one member of a blend.
    n_classes : int
        Number of classes k of the tables.
    """

    document: State
    single: State
    n_classes: int

    @cached_property
    def sizes(self) -> list[int]:
        """Number of values of every column; 0 for a number."""
        return [len(column.get("labels", ())) for column in self.single["columns"]]

    @cached_property
    def starts(self) -> list[int]:
        """Position of the first value of every column among the values of all columns."""
        return [0, *accumulate(self.sizes)]

    @property
    def columns(self) -> list[State]:
        """Descriptions of the columns."""
        columns: list[State] = self.single["columns"]
        return columns

    def of_one_class(self) -> Reading:
        """Return the same model with tables of one class."""
        return Reading(self.document, self.single, 1)

    def exact(self, place: int) -> FloatArray:
        """Return an array as it was written.

        Parameters
        ----------
        place : int
            Position among the arrays of the document.

        Returns
        -------
        ndarray
            Doubles.
        """
        entry = self.document["arrays"][place]
        values: FloatArray = np.frombuffer(b64decode(entry["values"]), dtype="<f8")
        if "places" not in entry:
            return values
        places = np.frombuffer(b64decode(entry["places"]), dtype=f"<u{entry['width']}")
        return np.asarray(values[places])

    def pairs(self, place: int) -> IntArray:
        """Return an array of pairs of values; shape (m, 2)."""
        return self.exact(place).astype(int).reshape(-1, 2)

    @described_like(exact)
    def logs(self, place: int) -> FloatArray:
        """Return an array of logarithms, in which log 0 is a finite number.

        Returns
        -------
        ndarray
            Doubles, none below −1e300.
        """
        return np.maximum(self.exact(place), NOTHING)

    def dense(self, table: State) -> FloatArray:
        """Return a table with an entry for every cell.

        Parameters
        ----------
        table : dict
            Description of the table, perhaps with ``contexts`` that occurred.

        Returns
        -------
        ndarray of shape (k, sizes of its columns …)
            Logarithms.
        """
        sizes = [self.sizes[column] for column in table["columns"]]
        lines = 1 if table.get("shared") else self.n_classes
        if lines * prod(sizes) > _MOST_CELLS:
            names = ", ".join(repr(self.columns[place]["name"]) for place in table["columns"])
            raise TableTooLarge(
                f"the table of the columns {names} has {lines * prod(sizes):,} cells, too many for "
                "this format; export to JSON or JavaScript, or fit with fewer values"
            )
        values = self.logs(table["values"]).reshape(lines, -1)
        if "contexts" in table:
            values = self._opened(table, values, sizes)
        return np.broadcast_to(values.reshape(lines, *sizes), (self.n_classes, *sizes))

    def _opened(self, table: State, values: FloatArray, sizes: list[int]) -> FloatArray:
        """Give every context its entries; those that did not occur have the last, or a simpler."""
        contexts = self.exact(table["contexts"]).astype(np.int64)
        n_contexts, width = prod(sizes[: table["sparse"]]), prod(sizes[table["sparse"] :])
        values = values.reshape(len(values), -1, width)
        if "simpler" in table:
            simpler = self.dense(table["simpler"])
            inner = table["simpler"]["columns"]
            shape = [s if c in inner else 1 for c, s in zip(table["columns"], sizes, strict=True)]
            simpler = simpler.reshape(len(simpler), *shape)
            full = np.broadcast_to(simpler, (len(simpler), *sizes)).reshape(-1, n_contexts, width)
            opened = full.copy()
        else:
            opened = np.repeat(values[:, -1:], n_contexts, axis=1)
        opened[:, contexts] = values[:, : len(contexts)]
        return opened


def readings_of(document: State) -> list[Reading]:
    """Read every member of a blend, or the one model."""
    singles = document.get("members", [document])
    return [Reading(document, single, len(document["labels"])) for single in singles]


class Step(NamedTuple):
    """One column summed out: ``rest`` are the columns left in the factors that it touches.

    ``factors`` are positions of factors, ``messages`` of earlier steps.
    """

    column: int
    rest: tuple[int, ...]
    factors: list[int]
    messages: list[int]


class Plan(NamedTuple):
    """How missing columns are summed out of a product, whichever they are.

    ``inner`` are the columns that may have to be summed out, ``scopes`` those of every factor.
    """

    inner: list[int]
    scopes: list[tuple[int, ...]]
    steps: list[Step]

    def cells(self, sizes: Sequence[int]) -> int:
        """Largest number of joint values that a step has to enumerate."""
        spaces = [prod(sizes[c] for c in (step.column, *step.rest)) for step in self.steps]
        return max(spaces, default=1)


def plan_of(factors: Sequence[State], sizes: Sequence[int]) -> Plan:
    """Plan to sum columns out of a product, the one with the smallest table first.

    A column that is the only child of its factor and nobody's parent is never summed out: where it
    is missing, its factor is left out.

    Parameters
    ----------
    factors : list of dict
        Descriptions of the factors.
    sizes : list of int
        Number of values of every column.

    Returns
    -------
    Plan
        Steps for all columns that may have to be summed out.

    Examples
    --------
    >>> tan = [{"children": [0], "parents": []}, {"children": [1], "parents": [0]}]
    >>> [step.column for step in plan_of(tan, [3, 2]).steps]
    [0]
    """
    scopes = [(*factor["parents"], *factor["children"]) for factor in factors]
    alone = {f["children"][0] for f in factors if len(f["children"]) == 1}
    joined = {column for f in factors for column in f["parents"]}
    joined |= {column for f in factors if len(f["children"]) > 1 for column in f["children"]}
    inner = sorted(joined | ({c for scope in scopes for c in scope} - alone))
    inner_scopes = [tuple(c for c in scope if c in inner) for scope in scopes]
    left: dict[tuple[bool, int], tuple[int, ...]] = {
        (False, place): scope for place, scope in enumerate(inner_scopes) if scope
    }
    steps: list[Step] = []
    waiting = set(inner)

    def near(column: int) -> set[int]:
        return {c for scope in left.values() if column in scope for c in scope}

    while waiting:
        column = min(waiting, key=lambda c: (prod(sizes[o] for o in near(c)), c))
        rest = tuple(sorted(near(column) - {column}))
        touched = [key for key, scope in left.items() if column in scope]
        steps.append(
            Step(
                column,
                rest,
                [place for message, place in touched if not message],
                [place for message, place in touched if message],
            )
        )
        for key in touched:
            del left[key]
        left[True, len(steps) - 1] = rest
        waiting.remove(column)
    return Plan(inner, inner_scopes, steps)
