"""Parents chosen one by one: the best of each column, and the best for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._ties import TIE_TOLERANCE, first_best

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts

__all__ = ["best_parents", "ordered_parents", "super_parent_scores"]


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
