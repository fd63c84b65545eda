"""Parents of columns: chosen by rank, one for all columns, or hidden ones with weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.counts.sizes import all_pairs
from unnaive.exceptions import UnnaiveError
from unnaive.structure.graph import Graph

if TYPE_CHECKING:
    from typing import Self

    from unnaive._typing import BoolArray, FloatArray, IntArray, State
    from unnaive.counts import CodedRows, JointCounts


@dataclass(frozen=True, eq=False, repr=False)
class SuperParents(Graph):
    """Structure of AODE: one model per column, in which it is the parent of all others.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    weights : ndarray of shape (d,)
        Weights of the columns as super-parents, which sum to 1.
    """

    weights: FloatArray

    keys: ClassVar[tuple[str, ...]] = ("weights",)

    @classmethod
    def alike(cls, names: tuple[str, ...], target: str) -> Self:
        """Give all columns the same weight."""
        return cls(names, target, np.full(len(names), 1.0 / max(len(names), 1)))

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges as (parent, child, weight of the parent): every column to every other."""
        return [
            (parent, child, weight)
            for parent, weight in zip(self.names, self.weights.tolist(), strict=True)
            for child in self.names
            if child != parent
        ]

    @property
    def pairs(self) -> IntArray:
        """All pairs of columns; shape (m, 2)."""
        return all_pairs(len(self.names))

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Self:
        """Restore the super-parents from :meth:`state`."""
        weights = state["weights"]
        fits = weights.shape == (len(names),) and np.isfinite(weights).all()
        if not fits or weights.min() < 0 or weights.sum() <= 0:
            raise UnnaiveError("the weights do not fit the columns")
        return cls(names, target, weights)


@dataclass(frozen=True, eq=False, repr=False)
class WeightedGraph(Graph):
    """Structure of a product of weighted factors P(x_i | y, x_j, …)^w.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    terms : ndarray of shape (m, w)
        A column and its parents, −1 where there are fewer than w − 1.
    weights : ndarray of shape (m,)
        Weights of the factors, at least 0.
    """

    terms: IntArray
    weights: FloatArray

    keys: ClassVar[tuple[str, ...]] = ("terms", "weights")

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges between columns as (parent, child, weight), without those of weight 0.

        The weights of all factors that have the edge are added.
        """
        total: dict[tuple[int, int], float] = {}
        for (column, *parents), weight in zip(self.terms.tolist(), self.weights, strict=True):
            for parent in parents:
                if parent >= 0 and weight > 0:
                    total[parent, column] = total.get((parent, column), 0.0) + float(weight)
        return [(self.names[a], self.names[b], weight) for (a, b), weight in total.items()]

    @property
    def used(self) -> IntArray:
        """Columns with a weight above 0; shape (m,)."""
        columns = self.terms[self.weights > 0]
        return np.unique(columns[columns >= 0])

    @property
    def pairs(self) -> IntArray:
        """Pairs i < j of columns that the tables need; shape (m, 2)."""
        pairs = self.terms[(self.terms >= 0).sum(axis=1) == 2, :2]
        return np.unique(np.sort(pairs, axis=1), axis=0)

    @property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Factors of three and more columns: the child, then its parents."""
        wide = self.terms[(self.terms >= 0).sum(axis=1) > 2].tolist()
        return tuple(tuple(column for column in term if column >= 0) for term in wide)

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Self:
        """Restore the structure from :meth:`state`."""
        terms, weights = state["terms"], state["weights"]
        fits = terms.ndim == 2 and terms.shape[1] >= 2 and weights.shape == (len(terms),)
        within = fits and (terms[:, 0] >= 0).all() and terms.min(initial=0) >= -1
        within = within and terms.max(initial=-1) < len(names) and are_families(terms)
        if not within or not np.isfinite(weights).all() or weights.min(initial=0.0) < 0:
            raise UnnaiveError("the terms and their weights do not fit the columns")
        return cls(names, target, terms, weights)


def are_families(terms: IntArray) -> bool:
    """Whether terms (m, w) name no column twice, and −1 only after all parents."""
    there = terms >= 0
    columns = np.sort(np.where(there, terms, -2 - np.arange(terms.shape[1])), axis=1)
    return bool((np.diff(columns, axis=1) > 0).all() and (there[:, :-1] >= there[:, 1:]).all())


def best_parents(information: FloatArray) -> IntArray:
    """Choose for each column the parent of largest information.

    This is the rule of ODANB. Parents may form cycles, so the result need not be a tree.

    Parameters
    ----------
    information : ndarray of shape (d, d)
        Information of every pair of columns, such as I(X_i;X_j|Y).

    Returns
    -------
    ndarray of shape (d,)
        Parent of every column; −1 if its information with all others is 0.

    See Also
    --------
    maximum_spanning_tree : The best parents without cycles.
    super_parent_scores : The best single parent of all columns.

    Examples
    --------
    >>> import numpy as np
    >>> best_parents(np.array([[0, 0.3, 0.1], [0.3, 0, 0.2], [0.1, 0.2, 0]])).tolist()
    [1, 0, 1]
    """
    parents = np.full(len(information), -1, dtype=np.int64)
    for column, scores in enumerate(information):
        others = np.where(np.arange(len(scores)) == column, -np.inf, scores)
        if others.max() > TIE_TOLERANCE:
            parents[column] = first_best(others)
    return parents


def ordered_parents(
    relevance: FloatArray, information: FloatArray, k: int, least: float
) -> tuple[IntArray, list[list[int]]]:
    """Choose KDB's order and parents (Sahami 1996).

    Columns enter by decreasing relevance I(X;Y). The parents of a column are the k columns
    before it with the largest information I(X;X_j|Y), in decreasing order, as far as the
    information is at least ``least``.
    """
    order: list[int] = []
    parents: list[list[int]] = [[] for _ in relevance]
    left = relevance.astype(float)
    scores = np.full(information.shape, -np.inf)  # of the columns that have entered
    for _ in relevance:
        column = first_best(left)
        left[column] = -np.inf
        while len(parents[column]) < k and (scores[column] >= least - TIE_TOLERANCE).any():
            parents[column].append(first_best(scores[column]))
            scores[column, parents[column][-1]] = -np.inf
        order.append(column)
        scores[:, column] = information[:, column]
    return np.array(order, dtype=np.int64), parents


def super_parent_scores(
    criterion: str,
    source: JointCounts | CodedRows,
    relevance: FloatArray,
    given_class: FloatArray,
    pairwise: FloatArray,
) -> FloatArray:
    r"""Score every column as the single super-parent of all others.

    ``"mi"`` is I(X_p;Y); ``"cmi"`` is :math:`\sum_{j \ne p} I(X_j;Y|X_p)` with
    :math:`I(X_j;Y|X_p) = I(X_j;Y) + I(X_j;X_p|Y) - I(X_j;X_p)`; ``"bic"`` and ``"aic"`` are the
    log-likelihood of the SPODE minus its penalty, up to a constant.

    Parameters
    ----------
    criterion : {"mi", "cmi", "bic", "aic"}
        Score.
    source : JointCounts or CodedRows
        Counts or rows that the information was computed from.
    relevance : ndarray of shape (d,)
        I(X_i;Y).
    given_class : ndarray of shape (d, d)
        I(X_i;X_j|Y).
    pairwise : ndarray of shape (d, d)
        I(X_i;X_j).

    Returns
    -------
    ndarray of shape (d,)
        Scores; the largest is the best.

    See Also
    --------
    unnaive.SPODE : Takes the best super-parent.
    best_parents : A parent for each column.

    Examples
    --------
    >>> import numpy as np, unnaive
    >>> counts = unnaive.count([["a", "u"], ["b", "w"]] * 8, target=["no"] * 16)
    >>> none = np.zeros((2, 2))
    >>> super_parent_scores("mi", counts, np.array([0.1, 0.2]), none, none).tolist()
    [0.1, 0.2]
    """
    if criterion == "mi":
        return relevance
    gain = given_class.sum(axis=0)
    if criterion == "cmi":
        return np.asarray(relevance.sum() - relevance + gain - pairwise.sum(axis=0))
    total, k = float(source.class_counts.sum()), len(source.class_counts)
    sizes = source.schema.sizes.astype(float)
    freedom = np.maximum(sizes - 1, 0)
    parameters = k * sizes - 1 + k * sizes * (freedom.sum() - freedom)
    price = {"bic": np.log(max(total, 1.0)) / 2, "aic": 1.0}[criterion]
    return np.asarray(total * gain - price * parameters)


@dataclass(frozen=True, eq=False, repr=False)
class HiddenParents(Graph):
    """Structure of hidden naive Bayes: each column's hidden parent is a weighted bag of columns.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    members : ndarray of shape (d, d)
        Whether column j is in the bag of column i.
    weights : ndarray of shape (d, d)
        Weight of column j in the bag of column i. A row sums to 1, or to 0 if the column depends
        only on the class.
    threshold : float
        Minimum information, in bits, of two columns that are in each other's bag.
    """

    members: BoolArray
    weights: FloatArray
    threshold: float

    keys: ClassVar[tuple[str, ...]] = ("members", "weights", "threshold")

    @property
    def bags(self) -> dict[str, list[str]]:
        """Names of the columns in each column's bag."""
        return {
            name: [self.names[j] for j in np.flatnonzero(row)]
            for name, row in zip(self.names, self.members, strict=True)
        }

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges as (member of the bag, column that has the bag, weight)."""
        return [
            (self.names[j], self.names[i], float(self.weights[i, j]))
            for i, j in zip(*np.nonzero(self.members), strict=True)
        ]

    @property
    def pairs(self) -> IntArray:
        """All pairs of columns; shape (m, 2)."""
        return all_pairs(len(self.names))

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Self:
        """Restore the bags from :meth:`state`."""
        square = (len(names), len(names))
        if state["members"].shape != square or state["weights"].shape != square:
            raise UnnaiveError("the bags do not fit the columns")
        return cls(names, target, **state)


def bag_members(information: FloatArray, threshold: float, rule: str = "ge") -> BoolArray:
    """Mark the columns in each other's bags by a threshold in nats; shape (d, d).

    With the rule "ge" the information must reach the threshold, otherwise exceed it.
    """
    tolerance = -TIE_TOLERANCE if rule == "ge" else TIE_TOLERANCE
    compare = np.greater_equal if rule == "ge" else np.greater
    return np.asarray(
        compare(information, threshold + tolerance) & ~np.eye(len(information), dtype=bool)
    )


def bag_weights(information: FloatArray, members: BoolArray) -> FloatArray:
    """Weight members by their information, relative to the sum of the bag; shape (d, d)."""
    inside = np.where(members, information, 0.0)
    total = inside.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(inside, total, out=np.zeros_like(inside), where=total > 0))


def average_information(information: FloatArray) -> float:
    """Average the information over pairs of columns; 0 for a single column."""
    pairs = len(information) * (len(information) - 1)
    return float(information.sum() / max(pairs, 1))
