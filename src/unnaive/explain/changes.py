"""Counterfactuals: the smallest change of a sample that changes the decision."""

from __future__ import annotations

from itertools import chain, combinations, islice, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
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
from unnaive.explain.wording import percent, plural
from unnaive.models.classifier import chosen_classes
from unnaive.models.gaussian import GaussianClassifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray, Label
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier

    Move = tuple[int, int]  # a column, and one of its other values

_MOST_ROWS = 200_000  # to try before the search stops
_BLOCK = 1 << 14
_LARGEST = 1e150  # number that a Gaussian model accepts
_STEPS = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])  # standard deviations from a class's mean


class Change(NamedTuple):
    """One feature that changes in a :class:`WhatIf`.

    Parameters
    ----------
    column : str
        Name of the feature.
    value : str
        Its value in the sample.
    instead : str
        The value, or the bin, that leads to the other decision.

    See Also
    --------
    what_if : Finds the smallest set of changes.

    Examples
    --------
    >>> change = Change("smoker", "yes", "no")
    >>> change.instead
    'no'
    """

    column: str
    value: str
    instead: str


@dataclass(frozen=True, repr=False)
class WhatIf:
    """The smallest change of a sample that changes the decision; :func:`what_if` returns it.

    Parameters
    ----------
    decision : class label
        The model's decision.
    wanted : class label
        The decision to reach; None: any other.
    instead : class label
        The decision after the changes; None if no change was found.
    changes : tuple of Change
        Features that change, with their values before and after.
    probability_before : float
        P(instead | x) of the sample as it is.
    probability : float
        P(instead | x) after the changes.
    at_most : int
        Largest number of changes that was allowed.
    complete : bool
        Whether every smaller set of changes, and every one of the same size, was tried.
    tried : int
        Number of samples that were classified.
    target : str
        Name of the target.

    See Also
    --------
    what_if : Finds the changes.
    Explanation : Contributions of all features to the decision.

    Examples
    --------
    >>> found = WhatIf("ill", None, None, (), 0.0, 0.0, 3, True, 12, "y")
    >>> found.text()
    'y stays ill: no change of up to 3 columns leads to another decision.'
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

    def __repr__(self) -> str:
        changes = ", ".join(f"{c.column}: {c.value} → {c.instead}" for c in self.changes)
        return f"WhatIf({self.decision!r} → {self.instead!r}; {changes or 'no change found'})"

    def text(self) -> str:
        """Describe the changes in words.

        Returns
        -------
        str
            The columns that change with their values, and the probability before and after.
        """
        stopped = "" if self.complete else f" The search stopped after {self.tried:,} rows."
        if self.instead is None:
            found = "no change" if self.complete else "no change found"
            other = "another decision" if self.wanted is None else f"{self.wanted}"
            columns = plural(self.at_most, "column")
            return (
                f"{self.target} stays {self.decision}: {found} of up to {columns} leads to "
                f"{other}.{stopped}"
            )
        lines = [f"{self.target} would be {self.instead} instead of {self.decision} if"]
        lines += [f"  {c.column} were {c.instead} instead of {c.value}" for c in self.changes]
        before, after = percent(self.probability_before), percent(self.probability)
        lines.append(f"P({self.instead}) would be {after} instead of {before}.{stopped}")
        return "\n".join(lines)


def what_if(
    model: Classifier,
    X_row: object,
    to: Label = None,
    fixed: Sequence[str | int] = (),
    at_most: int = 3,
) -> WhatIf:
    """Find the smallest set of features whose change changes the decision.

    All single changes are tried, then all pairs, and so on. Of equally many changes, the set with
    the highest probability of the new class is returned. Values of features that no other feature
    depends on are skipped where another value is at least as good against every class. Missing
    values stay missing; :func:`ask_next` is for them. Features that are not binned are tried at
    the mean of each class, and one and two standard deviations from it. The search stops after
    200,000 samples; ``complete`` is False then.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    X_row : data frame, list or dict
        One sample: a frame or list with one row, a list of values, or a dictionary of some.
    to : class label, default=None
        The decision to reach; None: any other.
    fixed : list of str or int, default=()
        Names or positions of features that cannot change, such as sex or age.
    at_most : int, default=3
        Largest number of features to change.

    Returns
    -------
    WhatIf
        The changes and the probabilities; without ``changes`` if none was found.

    See Also
    --------
    ask_next : Rank the missing features by their expected information.
    Explanation : Contributions of all features to the decision.

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
    return search.result(to, at_most)


def _check(classes: list[Label], decision: Label, to: Label, at_most: object) -> None:
    """Raise an error that names the parameter that is wrong."""
    if to is not None and to not in classes:
        raise ValueError(f"to={to!r} is not a class; the classes are {classes}")
    if to is not None and to == decision:
        raise ValueError(f"to={to!r} is already the decision; name another class")
    if not isinstance(at_most, int) or at_most < 1:
        raise ValueError(f"at_most={at_most!r}; it must be a whole number of at least 1")


def _positions(fixed: Sequence[str | int], names: tuple[str, ...]) -> set[int]:
    positions = set()
    for column in [fixed] if isinstance(fixed, str) else fixed:
        if isinstance(column, str) and column in names:
            positions.add(names.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < len(names):
            positions.add(int(column))
        else:
            raise UnnaiveError(
                f"fixed names {column!r}, which is not a column; the columns are {list(names)}"
            )
    return positions


class _Search:
    """Rows that differ from one row, tried in the order in which they are likely to succeed."""

    def __init__(self, model: Classifier, row: Frame, decision: Label, to: Label) -> None:
        self.model, self.row = model, row
        self.labels = model.classes_.tolist()
        self.decision = self.labels.index(decision)
        self.to = None if to is None else self.labels.index(to)
        self.grids = _number_grids(heaviest(model))
        self.codes = model.schema_.encode(row)[:, 0].astype(int)
        self.shown, self.observed = (cells[0] for cells in shown_cells(row, model.schema_))
        self.best: tuple[float, int, tuple[Move, ...]] | None = None
        self.complete, self.tried = True, 0

    def moves(self, fixed: set[int]) -> list[list[Move]]:
        """Other values of the columns that may change, the most promising column first."""
        moves = []
        for column, schema in enumerate(self.model.schema_.columns):
            absent = self.row.column(column).missing[0]
            if column in fixed or absent or not self.observed[column]:
                continue
            values = schema.size - schema.missing_category
            size = len(self.grids[column]) if column in self.grids else values
            current = -1 if column in self.grids else int(self.codes[column])
            moves.append([(column, value) for value in range(size) if value != current])
        kept = self._undominated([values for values in moves if values])
        return sorted(kept, key=lambda values: (-self._promise(values), values[0][0]))

    def _promise(self, moves: list[Move]) -> float:
        """Highest probability of another class that one change reaches."""
        chances = self.model.predict_proba(self._rows([(move,) for move in moves]))
        if self.to is not None:
            return float(chances[:, self.to].max())
        return float(1.0 - chances[:, self.decision].min())

    def _undominated(self, moves: list[list[Move]]) -> list[list[Move]]:
        """Leave out values that another value of their column beats against every class.

        Only for columns that no other column depends on, and that depend only on the class.
        """
        to = 1 - self.decision if self.to is None and len(self.labels) == 2 else self.to
        blend = len(members_of(self.model)) > 1  # a mean, in which columns mix
        if to is None or blend or self.model.threshold_bias is not None:
            return moves
        terms = self.model.explain(self.row).terms
        entangled = {c for term in terms for c in term.through}
        entangled |= {
            c for term in terms if term.through or len(term.columns) > 1 for c in term.columns
        }
        kept = [values if values[0][0] in entangled else self._best(values, to) for values in moves]
        return [values for values in kept if values]

    def _best(self, moves: list[Move], to: int) -> list[Move]:
        """Values of one column that no other value, nor the row's own, beats."""
        joint = self.model.explain(self._rows([(), *((move,) for move in moves)])).joint
        with np.errstate(invalid="ignore"):
            gaps = np.delete(joint[:, [to]] - joint, to, axis=1)
        rivals = range(len(gaps))
        return [
            move
            for place, move in enumerate(moves, 1)
            if not any(_beats(gaps[o], gaps[place], o < place) for o in rivals if o != place)
        ]

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
            cell = self.row.column(column)
            columns[column] = (
                with_numbers(cell, self.grids[column], codes)
                if column in self.grids
                else with_values(cell, self.model.schema_.columns[column], codes)
            )
        return repeated(self.row, n, columns)

    def try_all(self, moves: list[list[Move]], size: int) -> None:
        """Classify all rows with this number of changes, up to the limit of rows."""
        waiting = chain.from_iterable(product(*chosen) for chosen in combinations(moves, size))
        while block := list(islice(waiting, min(_BLOCK, _MOST_ROWS - self.tried))):
            self._classify(block)
        self.complete = next(waiting, None) is None

    def _classify(self, block: list[tuple[Move, ...]]) -> None:
        frame = self._rows(block)
        self.tried += len(block)
        chances = self.model.predict_proba(frame)
        predicted = chosen_classes(self.model, chances)
        reached = predicted != self.decision if self.to is None else predicted == self.to
        rows = np.flatnonzero(reached)
        if not len(rows):
            return
        chances = chances[rows, predicted[rows]]
        first = int(np.argmax(chances))
        if self.best is None or chances[first] > self.best[0]:
            at = rows[first]
            self.best = (float(chances[first]), int(predicted[at]), block[at])

    def result(self, to: Label, at_most: int) -> WhatIf:
        """Describe the best row, if there is one."""
        chance, label, moves = self.best or (0.0, self.decision, ())
        return WhatIf(
            self.labels[self.decision],
            to,
            self.labels[label] if self.best else None,
            tuple(self._change(*move) for move in sorted(moves)),
            float(self.model.predict_proba(self.row)[0, label]) if self.best else 0.0,
            chance,
            at_most,
            self.complete,
            self.tried,
            self.model.schema_.target,
        )

    def _change(self, column: int, value: int) -> Change:
        schema, grid = self.model.schema_.columns[column], self.grids.get(column)
        instead = schema.label(value) if grid is None else f"{grid[value]:.6g}"
        return Change(schema.name, str(self.shown[column]), instead)


def _beats(one: FloatArray, other: FloatArray, first: bool) -> bool:
    """Whether a value is at least as good against every class, and better or the first."""
    return bool((one >= other).all() and (first or (one > other).any()))


def _number_grids(model: Classifier) -> dict[int, FloatArray]:
    """Numbers to try in columns that are not binned: near the means of the classes."""
    if not isinstance(model, GaussianClassifier):
        return {}
    moments, grids = model.moments_, {}
    spread = np.sqrt(np.maximum(np.einsum("kii->ki", moments.covariances()), 0.0))
    for number in moments.used.tolist():
        near = moments.means[:, [number]] + spread[:, [number]] * _STEPS
        grids[int(model.fitted_.columns[number])] = np.unique(near[np.abs(near) <= _LARGEST])
    return grids
