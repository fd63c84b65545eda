"""Trees over columns: the maximum spanning tree, its forest, its orientation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._ties import TIE_TOLERANCE, first_best

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts


def maximum_spanning_tree(weights: FloatArray, active: BoolArray | None = None) -> IntArray:
    """Edges {i, j}, i < j, of the maximum spanning tree of the active columns; shape (m, 2).

    Prim's algorithm, O(d²). Edges whose weights differ by no more than 1e-10 are tied and
    the lexicographically lowest wins, so the tree is the same whatever the start.

    Examples
    --------
    >>> import numpy as np
    >>> maximum_spanning_tree(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0.0]])).tolist()
    [[0, 1], [1, 2]]
    """
    n_columns = len(weights)
    columns = np.arange(n_columns)
    outside = np.ones(n_columns, dtype=bool) if active is None else active.copy()
    if not outside.any():
        return np.empty((0, 2), dtype=np.int64)
    newest = int(np.argmax(outside))
    best = np.full(n_columns, -np.inf)
    low, high = np.full(n_columns, n_columns), np.full(n_columns, n_columns)
    edges: list[tuple[int, int]] = []
    while True:
        outside[newest] = False
        left = columns[outside]
        if not len(left):
            return np.array(edges, dtype=np.int64).reshape(-1, 2)
        offered = weights[newest, left]
        first, second = np.minimum(left, newest), np.maximum(left, newest)
        earlier = (first < low[left]) | ((first == low[left]) & (second < high[left]))
        tied = np.abs(offered - best[left]) <= TIE_TOLERANCE
        better = (offered > best[left] + TIE_TOLERANCE) | (tied & earlier)
        update = left[better]
        best[update], low[update], high[update] = offered[better], first[better], second[better]
        candidates = left[best[left] >= best[left].max() - TIE_TOLERANCE]
        newest = int(candidates[np.lexsort((high[candidates], low[candidates]))[0]])
        edges.append((low[newest], high[newest]))


def orient(edges: IntArray, n_columns: int, preference: FloatArray) -> IntArray:
    """Parents of a forest: each tree hangs from its column of largest preference; shape (d,)."""
    neighbours: list[list[int]] = [[] for _ in range(n_columns)]
    for first, second in edges.tolist():
        neighbours[first].append(second)
        neighbours[second].append(first)
    parents = np.full(n_columns, -1, dtype=np.int64)
    done = np.zeros(n_columns, dtype=bool)
    for column in range(n_columns):
        if done[column]:
            continue
        members = _walk(column, neighbours)
        ordered = np.sort(np.array([member for member, _ in members]))
        root = int(ordered[first_best(preference[ordered])])
        for member, parent in _walk(root, neighbours):
            parents[member] = parent
            done[member] = True
    return parents


def _walk(start: int, neighbours: list[list[int]]) -> list[tuple[int, int]]:
    """Members of a tree from a start, each with the one it was reached from."""
    members = [(start, -1)]
    for member, parent in members:
        members.extend((other, member) for other in neighbours[member] if other != parent)
    return members


def penalised(
    information: FloatArray, source: JointCounts | CodedRows, penalty: str = "bic"
) -> FloatArray:
    r"""Gain in score of every edge in nats; shape (d, d).

    .. math:: N\, I(X_i;X_j|Y) - \frac{\log N}{2} (v_i - 1)(v_j - 1) k

    for BIC; AIC has 1 in place of :math:`\log N / 2`.
    """
    total = float(source.class_counts.sum())
    price = {"bic": np.log(total) / 2, "aic": 1.0}[penalty]
    freedom = np.maximum(source.schema.sizes - 1, 0).astype(np.float64)
    cost = price * np.outer(freedom, freedom) * len(source.class_counts)
    return np.asarray(total * information - cost)
