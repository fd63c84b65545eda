r"""Drift: what changed between two sets of rows, from their counts alone.

Counts of windows of time add up and subtract, so any two windows can be compared without their
rows. Every change is tested by :func:`~unnaive.evaluate.homogeneity.homogeneity`, and Holm's
method keeps the probability of any false alarm below the level.
"""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import rel_entr

from unnaive._dataclasses import dataclass
from unnaive._html import html_table
from unnaive.counts import JointCounts
from unnaive.evaluate.drift_cost import cost_of_drift
from unnaive.evaluate.homogeneity import homogeneity
from unnaive.evaluate.significance import holm
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import CountArray, FloatArray, State
    from unnaive.models import CountsClassifier

_HALF = 0.5  # rows added to every cell for the stability index, which an empty cell makes infinite
HEADS = ("what", "change", "JS, bits", "PSI", "p, adjusted", "largest change")
_MISSING = "missing"


@dataclass(frozen=True)
class Change:
    """One distribution in the old and the new counts.

    Parameters
    ----------
    names : tuple of str
        The target, a column, or two columns.
    kind : {"classes", "values", "values by class", "dependence"}
        Which distribution: P(c); P(x) of a column with its missing values; P(x | c); or the
        dependence of two columns within the classes.
    divergence : float
        Jensen-Shannon divergence in bits, from 0 (equal) to 1; by class and for pairs its mean
        over the classes.
    stability : float
        Population stability index Σ (q − p) log(q / p). Above 0.25 it is often called a large
        change, above 0.1 a moderate one, whatever the number of rows.
    p_value : float
        Probability of a change at least this large if nothing has changed.
    adjusted : float
        The same, adjusted for the number of tests by Holm's method.
    alarm : bool
        Whether ``adjusted`` is below the level: the change is beyond chance.
    largest : tuple of (str, float, float)
        The value whose share changed most, with its old and its new share.

    See Also
    --------
    drift : Compares counts.

    Examples
    --------
    >>> import unnaive
    >>> from unnaive.evaluate import drift
    >>> old = unnaive.count([["a"], ["b"]] * 50, ["no", "yes"] * 50)
    >>> drift(old, old).changes[0].largest
    ('no', 0.5, 0.5)
    """

    names: tuple[str, ...]
    kind: str
    divergence: float
    stability: float
    p_value: float
    adjusted: float
    alarm: bool
    largest: tuple[str, float, float]


@dataclass(frozen=True, eq=False)
class Drift:
    """What changed between two counts; see :func:`drift`.

    Parameters
    ----------
    rows : tuple of (float, float)
        Number of rows of the old and the new counts.
    level : float
        Probability of any false alarm.
    changes : tuple of Change
        All comparisons: classes, columns, columns by class, pairs.
    skipped : tuple of (str, str)
        Pairs that were not compared, since they have very many values.
    cost : tuple of (float, float) or None
        Log loss per row, in nats, that the model of the old counts has more than one that is
        learned again from the new counts, and what this would be if nothing had changed; None
        without a model.

    See Also
    --------
    drift : Compares counts.

    Examples
    --------
    >>> import unnaive
    >>> from unnaive.evaluate import drift
    >>> old = unnaive.count([["a"], ["b"]] * 50, ["no", "yes"] * 50)
    >>> new = unnaive.count([["a"], ["a"]] * 50, ["no", "yes"] * 50, schema=old.schema)
    >>> [(change.names, change.kind) for change in drift(old, new).alarms]
    [(('x0',), 'values by class'), (('x0',), 'values')]
    """

    rows: tuple[float, float]
    level: float
    changes: tuple[Change, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    cost: tuple[float, float] | None = None

    @property
    def alarms(self) -> tuple[Change, ...]:
        """Changes beyond chance, the most divergent first."""
        beyond = [change for change in self.changes if change.alarm]
        return tuple(sorted(beyond, key=lambda change: -change.divergence))

    def table(self, *, every: bool = False) -> list[list[str]]:
        """Return the changes as cells of text.

        Parameters
        ----------
        every : bool, default=False
            All comparisons rather than those beyond chance.

        Returns
        -------
        list of list of str
            What, which distribution, divergence, stability, adjusted p-value, largest change.
        """
        shown = self.changes if every else self.alarms
        return [
            [
                " and ".join(change.names),
                change.kind,
                f"{change.divergence:.4f}",
                f"{change.stability:.3f}",
                f"{change.adjusted:.2g}",
                f"{change.largest[0]}: {change.largest[1]:.1%} → {change.largest[2]:.1%}",
            ]
            for change in shown
        ]

    def summary(self) -> str:
        """Return one sentence: how many changes are beyond chance, and what they cost.

        Returns
        -------
        str
            The sentence.
        """
        old, new = (f"{rows:,.0f}" for rows in self.rows)
        found = f"{len(self.alarms)} of {len(self.changes)} comparisons differ beyond chance"
        text = f"{old} old and {new} new rows: {found} (level {self.level:g})"
        if self.cost is not None:
            cost, chance = self.cost
            text += f"; keeping the old model costs {cost:.4f} nats a row"
            text += f" ({chance:.4f} if nothing had changed)"
        return text

    def state(self) -> State:
        """Return plain values for JSON.

        Returns
        -------
        dict
            Rows, level, cost, pairs that were skipped, and all changes.
        """
        changes = [
            {
                "columns": list(change.names),
                "kind": change.kind,
                "jensen_shannon_bits": change.divergence,
                "stability_index": change.stability,
                "p_value": change.p_value,
                "adjusted_p_value": change.adjusted,
                "alarm": change.alarm,
                "largest_change": dict(zip(("value", "old", "new"), change.largest, strict=True)),
            }
            for change in self.changes
        ]
        cost = self.cost and dict(zip(("old", "chance"), self.cost, strict=True))
        return {
            "rows": {"old": self.rows[0], "new": self.rows[1]},
            "level": self.level,
            "cost": cost,
            "skipped": [list(pair) for pair in self.skipped],
            "changes": changes,
        }

    def __repr__(self) -> str:
        return f"Drift({self.summary()})"

    def _repr_html_(self) -> str:
        return html_table(self.summary(), HEADS, self.table(), text=(0, 1, 5))


def drift(
    old: JointCounts,
    new: JointCounts,
    *,
    level: float = 0.05,
    model: CountsClassifier | None = None,
    random_state: int = 0,
) -> Drift:
    r"""Compare two counts: which distributions changed, by how much, and whether beyond chance.

    Compared are the classes, every column with its missing values, every column within the
    classes, and every pair of columns that both counts have. If only P(x) of a column changed, and
    not P(x | c), the shares of the classes explain it. The dependence of two columns changed if
    both :math:`P(x_j \mid x_i, c)` and :math:`P(x_i \mid x_j, c)` did: a change of one column alone
    leaves one of them as it was.

    Parameters
    ----------
    old, new : JointCounts
        Counts by one schema, of different rows. A window of time may be a difference of counts.
    level : float, default=0.05
        Probability of any false alarm if nothing has changed.
    model : CountsClassifier, default=None
        Its cost of drift is estimated: it is fitted to the old and to the new counts, and both
        predict 10,000 rows that are drawn from a TAN of the new counts (from naive Bayes if they
        have no pairs).
    random_state : int, default=0
        Seed of these rows.

    Returns
    -------
    Drift
        All comparisons.

    Raises
    ------
    SchemaMismatch
        If the counts have different schemas.
    UnnaiveError
        If counts are of weighted rows or of none, or the model does not learn from counts.

    See Also
    --------
    unnaive.count : Counts rows.

    Notes
    -----
    Counts must be of plain rows: weighted rows have no number of rows to test by. Pairs with more
    than 2¹⁸ cells are held by the cells that occurred and are not compared.

    Examples
    --------
    >>> import numpy as np, unnaive
    >>> from unnaive.evaluate import drift
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.integers(0, 3, (2000, 4)), rng.integers(0, 2, 2000)
    >>> X[1000:, 2] = np.where(rng.random(1000) < 0.3, 0, X[1000:, 2])
    >>> old = unnaive.count(X[:1000], y[:1000], discretize=None)
    >>> found = drift(old, unnaive.count(X[1000:], y[1000:], schema=old.schema))
    >>> {change.names for change in found.alarms}
    {('x2',)}
    """
    for which, counts in (("old", old), ("new", new)):
        if not isinstance(counts, JointCounts):
            raise TypeError(f"the {which} rows are not counted: {counts!r}; use unnaive.count")
    old.schema.require_same(new.schema)
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}; it must be between 0 and 1")
    for which, counts in (("old", old), ("new", new)):
        if not np.issubdtype(counts.class_counts.dtype, np.integer):
            raise UnnaiveError(f"the {which} counts are of weighted rows; count them unweighted")
        if not counts.total:
            raise UnnaiveError(f"the {which} counts have no rows; there is nothing to compare")
    pairs, skipped = _common_pairs(old, new)
    found = [*_of_classes(old, new), *_of_columns(old, new), *_of_pairs(old, new, pairs)]
    adjusted = holm([p_value for *_, p_value, _ in found])
    changes = tuple(
        Change(names, kind, js, psi, p, float(q), bool(q < level), largest)
        for (names, kind, js, psi, p, largest), q in zip(found, adjusted, strict=True)
    )
    cost = None if model is None else cost_of_drift(model, old, new, random_state)
    return Drift((old.total, new.total), level, changes, skipped, cost)


Found = tuple[tuple[str, ...], str, float, float, float, tuple[str, float, float]]


def _common_pairs(
    old: JointCounts, new: JointCounts
) -> tuple[list[tuple[int, int]], tuple[tuple[str, str], ...]]:
    """Return the pairs that both have, and the names of those that have too many values."""
    wide = {tuple(sorted(cells.columns)) for cells in (*old.cells, *new.cells)}
    both = set(map(tuple, old.pair_columns.tolist())) & set(map(tuple, new.pair_columns.tolist()))
    names, sizes = old.schema.names, old.schema.sizes
    both = {(i, j) for i, j in both if sizes[i] and sizes[j]}  # a column may never have had a value
    skipped = tuple((names[i], names[j]) for i, j in sorted(both & wide))
    return sorted(both - wide), skipped


def _of_classes(old: JointCounts, new: JointCounts) -> Iterator[Found]:
    labels = [str(label) for label in old.schema.classes]
    tables = (old.class_counts[None], new.class_counts[None])
    yield _compared((old.schema.target,), "classes", tables, labels, homogeneity(*tables))


def _of_columns(old: JointCounts, new: JointCounts) -> Iterator[Found]:
    for column, described in enumerate(old.schema.columns):
        labels = [*(described.label(code) for code in range(described.size)), _MISSING]
        tables = tuple(_with_missing(counts, column) for counts in (old, new))
        whole = tuple(table.sum(axis=0, keepdims=True) for table in tables)
        names = (described.name,)
        yield _compared(names, "values", whole, labels, homogeneity(*whole))
        yield _compared(names, "values by class", tables, labels, homogeneity(*tables))


def _of_pairs(old: JointCounts, new: JointCounts, pairs: list[tuple[int, int]]) -> Iterator[Found]:
    columns = old.schema.columns
    for i, j in pairs:
        first, second = columns[i], columns[j]
        tables = old.pair(i, j), new.pair(i, j)
        forward = homogeneity(*(table.reshape(-1, second.size) for table in tables))
        turned = (table.transpose(0, 2, 1).reshape(-1, first.size) for table in tables)
        labels = [
            f"{first.label(a)}, {second.label(b)}"
            for a in range(first.size)
            for b in range(second.size)
        ]
        flat = tuple(table.reshape(len(table), -1) for table in tables)
        names = (first.name, second.name)
        p_value = max(forward, homogeneity(*turned))
        yield _compared(names, "dependence", flat, labels, p_value)


def _with_missing(counts: JointCounts, column: int) -> CountArray:
    """Count a column's values and its missing ones; shape (k, v + 1)."""
    table = counts.marginal(column)
    missing = counts.class_counts - table.sum(axis=1)
    return np.concatenate([table, missing[:, None]], axis=1)


def _compared(
    names: tuple[str, ...],
    kind: str,
    tables: tuple[CountArray, ...],
    labels: list[str],
    p_value: float,
) -> Found:
    """Measure a change; tables have a line for every class, or one for all classes."""
    old, new = tables
    weights = new.sum(axis=1)
    shares = weights / max(weights.sum(), 1)
    js, psi = np.array(list(starmap(_distances, zip(old, new, strict=True)))).T @ shares
    before, after = (table.sum(axis=0) / max(table.sum(), 1) for table in tables)
    most = int(np.argmax(np.abs(after - before)))
    largest = labels[most], float(before[most]), float(after[most])
    return names, kind, float(js), float(psi), p_value, largest


def _distances(old: CountArray, new: CountArray) -> tuple[float, float]:
    """Jensen-Shannon divergence in bits, and the population stability index."""
    if not old.sum() or not new.sum():
        return 0.0, 0.0
    p, q = old / old.sum(), new / new.sum()
    middle = (p + q) / 2
    js = (rel_entr(p, middle) + rel_entr(q, middle)).sum() / (2 * np.log(2))
    seen = (old + new) > 0
    p, q = (_smoothed(table[seen]) for table in (old, new))
    return float(js), float(((q - p) * np.log(q / p)).sum())


def _smoothed(table: CountArray) -> FloatArray:
    return np.asarray((table + _HALF) / (table.sum() + _HALF * len(table)))
