"""Trees over columns: the maximum spanning tree, its orientation, penalized edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.trees import spanning_tree
from unnaive._ties import first_best
from unnaive.structure.graph import LEFT_OUT

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts


def maximum_spanning_tree(weights: FloatArray, active: BoolArray | None = None) -> IntArray:
    """Find the maximum spanning tree of the active columns.

    Prim's algorithm, O(d²). Edges whose weights differ by at most 1e-10 are tied, and the
    lexicographically lowest wins, so the tree does not depend on the start. This is the tree of
    TAN if the weights are I(X_i;X_j|Y).

    Parameters
    ----------
    weights : ndarray of shape (d, d)
        Symmetric weights of the edges. NaN counts as −inf, and such an edge is taken only where
        no other one joins the columns.
    active : ndarray of bool of shape (d,), default=None
        Columns that are in the tree; None: all.

    Returns
    -------
    ndarray of shape (m, 2)
        Edges {i, j}, i < j.

    See Also
    --------
    orient : Makes parents of the edges.
    penalised : Weights that leave out edges that are not worth their parameters.

    References
    ----------
    Chow & Liu, "Approximating discrete probability distributions with dependence trees", IEEE
    Transactions on Information Theory 14, 1968.

    Examples
    --------
    >>> import numpy as np
    >>> maximum_spanning_tree(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0.0]])).tolist()
    [[0, 1], [1, 2]]
    """
    active = np.ones(len(weights), dtype=bool) if active is None else active
    edges = np.empty((len(weights), 2), dtype=np.int64)
    wide = np.ascontiguousarray(weights, dtype=np.float64)
    return edges[: spanning_tree(wide, np.ascontiguousarray(active), edges)]


def orient(edges: IntArray, n_columns: int, preference: FloatArray) -> IntArray:
    """Direct the edges of a forest away from roots.

    Parameters
    ----------
    edges : ndarray of shape (m, 2)
        Edges without cycles.
    n_columns : int
        Number of columns d.
    preference : ndarray of shape (d,)
        The root of each tree is its column of largest preference, the lowest one on ties.

    Returns
    -------
    ndarray of shape (d,)
        Parent of every column, −1 for roots.

    See Also
    --------
    maximum_spanning_tree : Finds the edges.
    with_parents : Makes a structure of the parents.

    Examples
    --------
    >>> import numpy as np
    >>> orient(np.array([[0, 1], [1, 2]]), 3, np.array([0.1, 0.3, 0.2])).tolist()
    [1, -1, 1]
    """
    neighbours: list[list[int]] = [[] for _ in range(n_columns)]
    for first, second in edges.tolist():
        neighbours[first].append(second)
        neighbours[second].append(first)
    parents = np.full(n_columns, LEFT_OUT, dtype=np.int64)
    for column in range(n_columns):
        if parents[column] == LEFT_OUT:
            members = np.sort([member for member, _ in _walk(column, neighbours)])
            root = int(members[first_best(preference[members])])
            for member, parent in _walk(root, neighbours):
                parents[member] = parent
    return parents


def _walk(start: int, neighbours: list[list[int]]) -> list[tuple[int, int]]:
    """List the members of a tree from a start, each with the member it was reached from."""
    members = [(start, -1)]
    for member, parent in members:
        members.extend((other, member) for other in neighbours[member] if other != parent)
    return members


def penalised(
    information: FloatArray, source: JointCounts | CodedRows, penalty: str = "bic"
) -> FloatArray:
    r"""Penalize the information of edges by the number of their parameters.

    .. math:: N\, I(X_i;X_j|Y) - \frac{\log N}{2} (v_i - 1)(v_j - 1) k

    is the gain of an edge in BIC; AIC has 1 in place of :math:`\log N / 2`. Edges of negative
    gain are not worth their parameters.

    Parameters
    ----------
    information : ndarray of shape (d, d)
        I(X_i;X_j|Y) in nats.
    source : JointCounts or CodedRows
        Counts or rows that the information was computed from.
    penalty : {"bic", "aic"}, default="bic"
        Price of a parameter.

    Returns
    -------
    ndarray of shape (d, d)
        Gain of every edge in nats.

    See Also
    --------
    maximum_spanning_tree : Finds the best tree.
    unnaive.TAN : Uses the gains to leave edges out.

    Examples
    --------
    >>> import numpy as np, unnaive
    >>> counts = unnaive.count([["a", "u"], ["b", "w"]] * 8, target=["no"] * 16)
    >>> float(penalised(np.full((2, 2), np.log(2)), counts).round(2)[0, 1])
    9.7
    """
    total = float(source.class_counts.sum())
    price = {"bic": np.log(total) / 2, "aic": 1.0}[penalty]
    freedom = np.maximum(source.schema.sizes - 1, 0).astype(np.float64)
    cost = price * np.outer(freedom, freedom) * len(source.class_counts)
    return np.asarray(total * information - cost)
