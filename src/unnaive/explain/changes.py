"""What would have to be different for the decision to be another one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations, islice, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.explain.cells import (
    heaviest,
    members_of,
    one_row,
    repeated,
    shown_cells,
    with_numbers,
    with_values,
)
from unnaive.explain.wording import percent
from unnaive.models.classifier import chosen_classes
from unnaive.models.gaussian import GaussianClassifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray, Label
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier

    Move = tuple[int, int]  # a column, and one of its other values

_MOST_ROWS = 200_000  # that are tried before the search is cut off
_BLOCK = 1 << 14
_STEPS = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])  # standard deviations from a class's mean


class Change(NamedTuple):
    """A column, what the row has there, and what it would have instead."""

    column: str
    value: str
    instead: str


@dataclass(frozen=True)
class WhatIf:
    """The smallest change of a row that changes the decision; see :func:`what_if`.

    Attributes
    ----------
    decision, wanted, instead : class labels
        What is decided, what was asked for (None: anything else), and what the changes lead to;
        None if there are none.
    changes : tuple of Change
    probability_before, probability : float
        P(instead | x) as the row is, and after the changes.
    at_most : int
        Changes that were allowed.
    complete : bool
        Whether everything was tried that could be smaller, or as small and better.
    tried : int
        Rows that were classified.
    target : str
        Name of the class.
    """

    decision: Label
    wanted: Label
    instead: Label
    changes: tuple[Change, ...]
    probability_before: float
    probability: float
    at_most: int
    complete: bool
    tried: int
    target: str

    def text(self) -> str:
        """Say it in words."""
        cut = "" if self.complete else f" The search was cut off after {self.tried:,} rows."
        if self.instead is None:
            least = "no" if self.complete else "no known"
            to = "another decision" if self.wanted is None else f"{self.wanted}"
            return (
                f"{self.target} stays {self.decision}: {least} change of up to {self.at_most} "
                f"attributes leads to {to}.{cut}"
            )
        lines = [f"{self.target} would be {self.instead} instead of {self.decision} if"]
        lines += [f"  {c.column} were {c.instead} instead of {c.value}" for c in self.changes]
        before, after = percent(self.probability_before), percent(self.probability)
        lines.append(f"P({self.instead}) would be {after} instead of {before}.{cut}")
        return "\n".join(lines)


def what_if(
    model: Classifier,
    X_row: object,
    to: Label = None,
    fixed: Sequence[str | int] = (),
    at_most: int = 3,
) -> WhatIf:
    """Find the smallest set of attributes whose change would change the decision.

    All single changes are tried, then all pairs, and so on; of equally many changes, the one
    that makes the new class most probable is taken. Values of columns that no other column
    depends on are left out where another value is at least as good against every class. Missing
    cells stay missing: :func:`ask_next` is for them. Numbers that are not binned are tried at
    each class's mean, and one and two standard deviations from it. Beyond 200,000 rows the
    search is cut off, and says so.

    Parameters
    ----------
    model : Classifier
        Fitted.
    X_row : row
        A frame or list with one row, or a dictionary of some of its cells.
    to : class label, default=None
        The decision to reach; None: any other.
    fixed : list of names or positions
        Columns that cannot change, such as sex or age.
    at_most : int, default=3
        Most changes.

    Returns
    -------
    WhatIf

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X = [["yes", "old"], ["yes", "young"], ["no", "old"], ["no", "young"]] * 5
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "ill", "well"] * 5)
    >>> print(what_if(model, ["yes", "young"]).text())
    y would be well instead of ill if
      x0 were no instead of yes
    P(well) would be 69 % instead of 17 %.
    """
    row = one_row(model, X_row)
    decision = model.predict(row).tolist()[0]
    _check(model.classes_.tolist(), decision, to, at_most)
    search = _Search(model, row, decision, to)
    moves = search.moves(_positions(fixed, model.schema_.names))
    for size in range(1, min(at_most, len(moves)) + 1):
        search.try_all(moves, size)
        if search.best is not None:
            break
    return search.found(to, at_most)


def _check(classes: list[Label], decision: Label, to: Label, at_most: object) -> None:
    """Raise an error that names what is wrong with the question."""
    if to is not None and to not in classes:
        raise ValueError(f"to={to!r} is no class; they are {classes}")
    if to is not None and to == decision:
        raise ValueError(f"to={to!r} is what the model decides already; name another class")
    if not isinstance(at_most, int) or at_most < 1:
        raise ValueError(f"at_most={at_most!r}; it must be a whole number of at least 1")


def _positions(fixed: Sequence[str | int], names: tuple[str, ...]) -> set[int]:
    found = set()
    for column in [fixed] if isinstance(fixed, str) else fixed:
        if isinstance(column, str) and column in names:
            found.add(names.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < len(names):
            found.add(int(column))
        else:
            raise UnnaiveError(f"fixed names {column!r}, which is no column of {list(names)}")
    return found


class _Search:
    """Rows that differ from one, tried in the order of what their columns promise."""

    def __init__(self, model: Classifier, row: Frame, decision: Label, to: Label) -> None:
        self.model, self.row = model, row
        self.labels = model.classes_.tolist()
        self.decision = self.labels.index(decision)
        self.to = None if to is None else self.labels.index(to)
        self.grids = _number_grids(heaviest(model))
        self.codes = model.schema_.encode(row)[:, 0].astype(int)
        self.shown, self.observed = (found[0] for found in shown_cells(row, model.schema_))
        self.best: tuple[float, int, tuple[Move, ...]] | None = None
        self.complete, self.tried = True, 0

    def moves(self, fixed: set[int]) -> list[list[Move]]:
        """Other values of the columns that may change, the most promising column first."""
        found = []
        for column, known in enumerate(self.model.schema_.columns):
            if column in fixed or not self.observed[column]:
                continue
            size = len(self.grids[column]) if column in self.grids else known.size
            own = -1 if column in self.grids else int(self.codes[column])
            found.append([(column, value) for value in range(size) if value != own])
        found = self._undominated([moves for moves in found if moves])
        promise = {id(moves): -self._promise(moves) for moves in found}
        return sorted(found, key=lambda moves: (promise[id(moves)], moves[0][0]))

    def _promise(self, moves: list[Move]) -> float:
        """Probability of another class that one change reaches at best."""
        chances = self.model.predict_proba(self._rows([(move,) for move in moves]))
        if self.to is not None:
            return float(chances[:, self.to].max())
        return float(1.0 - chances[:, self.decision].min())

    def _undominated(self, found: list[list[Move]]) -> list[list[Move]]:
        """Leave out values that another one of their column beats against every class.

        Only for columns that no other depends on, and that depend on the class alone.
        """
        to = 1 - self.decision if self.to is None and len(self.labels) == 2 else self.to
        blend = len(members_of(self.model)) > 1  # a mean, in which columns mix
        if to is None or blend or self.model.threshold_bias is not None:
            return found
        terms = self.model.explain(self.row).terms
        entangled = {c for term in terms for c in term.through}
        entangled |= {
            c for term in terms if term.through or len(term.columns) > 1 for c in term.columns
        }
        kept = []
        for moves in found:
            if moves[0][0] in entangled:
                kept.append(moves)
                continue
            joint = self.model.explain(self._rows([(), *((move,) for move in moves)])).joint
            with np.errstate(invalid="ignore"):
                gaps = np.delete(joint[:, [to]] - joint, to, axis=1)
            left = [
                move
                for place, move in enumerate(moves, 1)
                if not any(
                    _beats(gaps[other], gaps[place], other < place)
                    for other in range(len(gaps))
                    if other != place
                )
            ]
            kept += [left] if left else []
        return kept

    def _rows(self, combinations_of_moves: Sequence[tuple[Move, ...]]) -> Frame:
        """Return rows with some cells changed."""
        n = len(combinations_of_moves)
        changes: dict[int, IntArray] = {}
        for place, moves in enumerate(combinations_of_moves):
            for column, value in moves:
                if column not in changes:
                    changes[column] = np.full(n, -1)
                changes[column][place] = value
        columns = {}
        for column, codes in changes.items():
            own, known = self.row.column(column), self.model.schema_.columns[column]
            grid = self.grids.get(column)
            columns[column] = (
                with_values(own, known, codes) if grid is None else with_numbers(own, grid, codes)
            )
        return repeated(self.row, n, columns)

    def try_all(self, moves: list[list[Move]], size: int) -> None:
        """Classify all rows with so many changes, as long as there is patience."""
        waiting = chain.from_iterable(product(*chosen) for chosen in combinations(moves, size))
        while block := list(islice(waiting, _BLOCK)):
            if self.tried + len(block) > _MOST_ROWS:
                block = block[: _MOST_ROWS - self.tried]
                self.complete = False
            if block:
                self._classify(block)
            if not self.complete:
                return

    def _classify(self, block: list[tuple[Move, ...]]) -> None:
        frame = self._rows(block)
        self.tried += len(block)
        chances = self.model.predict_proba(frame)
        predicted = chosen_classes(self.model, chances)
        good = predicted != self.decision if self.to is None else predicted == self.to
        rows = np.flatnonzero(good)
        if not len(rows):
            return
        chances = chances[rows, predicted[rows]]
        first = int(np.argmax(chances))
        if self.best is None or chances[first] > self.best[0]:
            at = rows[first]
            self.best = (float(chances[first]), int(predicted[at]), block[at])

    def found(self, to: Label, at_most: int) -> WhatIf:
        """Describe the best row, if there is one."""
        chance, label, moves = self.best or (0.0, self.decision, ())
        before = float(self.model.predict_proba(self.row)[0, label]) if self.best else 0.0
        return WhatIf(
            self.labels[self.decision],
            to,
            self.labels[label] if self.best else None,
            self.changes(moves),
            before,
            chance,
            at_most,
            self.complete,
            self.tried,
            self.model.schema_.target,
        )

    def changes(self, moves: tuple[Move, ...]) -> tuple[Change, ...]:
        """Name changes for people."""
        named = []
        for column, value in sorted(moves):
            known = self.model.schema_.columns[column]
            grid = self.grids.get(column)
            instead = known.label(value) if grid is None else f"{grid[value]:.6g}"
            named.append(Change(known.name, str(self.shown[column]), instead))
        return tuple(named)


def _beats(one: FloatArray, other: FloatArray, first: bool) -> bool:
    """Whether a value is at least as good against every class, and better or the first."""
    return bool((one >= other).all() and (first or (one > other).any()))


def _number_grids(model: Classifier) -> dict[int, FloatArray]:
    """Numbers to try in columns that are not binned: near the classes' means."""
    if not isinstance(model, GaussianClassifier):
        return {}
    moments, grids = model.moments_, {}
    spread = np.sqrt(np.maximum(np.einsum("kii->ki", moments.covariances()), 0.0))
    for number in moments.used.tolist():
        near = moments.means[:, [number]] + spread[:, [number]] * _STEPS
        grids[int(model.fitted_.columns[number])] = np.unique(near[np.isfinite(near)])
    return grids
