"""Parents chosen one by one: the best of each column, and the best for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.counts.joint import all_pairs
from unnaive.exceptions import UnnaiveError
from unnaive.structure.graph import Graph

if TYPE_CHECKING:
    from typing import Self

    from unnaive._typing import FloatArray, IntArray, State
    from unnaive.counts import CodedRows, JointCounts

__all__ = [
    "SuperParents",
    "WeightedGraph",
    "best_parents",
    "ordered_parents",
    "super_parent_scores",
]


@dataclass(frozen=True, eq=False)
class SuperParents(Graph):
    """Every column as the parent of all others, and what it weighs as such.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    weights : ndarray of shape (d,)
        Weights of the columns as super-parents, which sum to 1.
    """

    names: tuple[str, ...]
    target: str
    weights: FloatArray

    keys: ClassVar[tuple[str, ...]] = ("weights",)
    is_one_network: ClassVar[bool] = False

    @classmethod
    def alike(cls, names: tuple[str, ...], target: str) -> Self:
        """Let all columns weigh the same."""
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
        """Make the super-parents that :meth:`state` described."""
        weights = state["weights"]
        fits = weights.shape == (len(names),) and np.isfinite(weights).all()
        if not fits or weights.min() < 0 or weights.sum() <= 0:
            raise UnnaiveError("the weights do not fit the columns")
        return cls(names, target, weights)


@dataclass(frozen=True, eq=False)
class WeightedGraph(Graph):
    """Which factors a product has, and what each weighs.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    terms : ndarray of shape (m, 2)
        A column and its parent, −1 for the class alone.
    weights : ndarray of shape (m,)
        Their weights, none below 0.
    """

    names: tuple[str, ...]
    target: str
    terms: IntArray
    weights: FloatArray

    keys: ClassVar[tuple[str, ...]] = ("terms", "weights")

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges between columns as (parent, child, weight), those of weight 0 left out."""
        return [
            (self.names[parent], self.names[column], float(weight))
            for (column, parent), weight in zip(self.terms.tolist(), self.weights, strict=True)
            if parent >= 0 and weight > 0
        ]

    @property
    def used(self) -> IntArray:
        """Columns of some weight; shape (m,)."""
        columns = self.terms[self.weights > 0]
        return np.unique(columns[columns >= 0])

    @property
    def pairs(self) -> IntArray:
        """Pairs i < j of columns that tables are made of; shape (m, 2)."""
        return np.unique(np.sort(self.terms[self.terms[:, 1] >= 0], axis=1), axis=0)

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Self:
        """Make the graph that :meth:`state` described."""
        terms, weights = state["terms"], state["weights"]
        fits = terms.shape == (len(terms), 2) and weights.shape == (len(terms),)
        within = fits and (terms >= [0, -1]).all() and terms.max(initial=-1) < len(names)
        if not within or not np.isfinite(weights).all():
            raise UnnaiveError("the terms and their weights do not fit the columns")
        return cls(names, target, terms, weights)


def best_parents(information: FloatArray) -> IntArray:
    """Each column's column of largest information, −1 where all are 0; shape (d,).

    Cycles may occur: this is ODANB's rule, not a tree's.
    """
    parents = np.full(len(information), -1, dtype=np.int64)
    for column, scores in enumerate(information):
        others = np.delete(scores, column)
        if others.max(initial=0.0) > TIE_TOLERANCE:
            best = first_best(others)
            parents[column] = best + (best >= column)
    return parents


def ordered_parents(
    relevance: FloatArray, information: FloatArray, k: int, least: float
) -> tuple[IntArray, list[list[int]]]:
    """KDB's order and parents (Sahami 1996).

    Columns enter by decreasing relevance I(X;Y); each takes the k columns before it of
    largest information I(X;X_j|Y), if that is at least ``least``, in decreasing order.
    """
    order: list[int] = []
    parents: list[list[int]] = [[] for _ in relevance]
    left = relevance.astype(float).copy()
    for _ in relevance:
        column = first_best(left)
        left[column] = -np.inf
        before = sorted(order)
        scores = information[column, before].copy()
        while len(parents[column]) < k and (scores >= least - TIE_TOLERANCE).any():
            best = first_best(scores)
            parents[column].append(before[best])
            scores[best] = -np.inf
        order.append(column)
    return np.array(order, dtype=np.int64), parents


def super_parent_scores(
    criterion: str,
    source: JointCounts | CodedRows,
    relevance: FloatArray,
    given_class: FloatArray,
    pairwise: FloatArray,
) -> FloatArray:
    r"""Score every column as the one super-parent of all others; shape (d,).

    ``"mi"`` is I(X_p;Y); ``"cmi"`` is :math:`\sum_{j \ne p} I(X_j;Y|X_p)` with
    :math:`I(X_j;Y|X_p) = I(X_j;Y) + I(X_j;X_p|Y) - I(X_j;X_p)`; ``"bic"`` and ``"aic"`` are the
    log-likelihood of the SPODE less its price, up to what is the same for all p.
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
