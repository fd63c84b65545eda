"""Generalized naive Bayes: trees grown from the most informative pair of columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.exceptions import UnnaiveError
from unnaive.structure.graph import LEFT_OUT, ParentGraph
from unnaive.structure.tree import maximum_spanning_tree, orient

if TYPE_CHECKING:
    from typing import Self

    from unnaive._typing import BoolArray, FloatArray, IntArray, State


@dataclass(frozen=True, eq=False, repr=False)
class GeneralizedTree(ParentGraph):
    """A tree over columns, with the order in which they enter and the gain of each.

    Attributes
    ----------
    names, target, parents, weights
        As in :class:`~unnaive.structure.ParentGraph`; the paper calls a parent "mother".
    feature_order : ndarray of shape (m,)
        Columns in the model in the order in which they enter. A parent enters before its
        children, so the first few columns always form a tree.
    gains : ndarray of shape (d,)
        Information that a column adds: I(X_i;Y) + I(X_i;X_parent|Y); 0 for columns that are not
        in the model.
    forced_edge_loss : float
        Loss of the best tree, in nats, if it must contain the most informative pair.
    """

    feature_order: IntArray
    gains: FloatArray
    forced_edge_loss: float

    keys = (*ParentGraph.keys, "feature_order", "gains", "forced_edge_loss")

    def only(self, columns: IntArray) -> Self:
        """Return the tree of the first few columns."""
        inside = np.isin(np.arange(len(self.names)), columns)
        gains = np.where(inside, self.gains, 0.0)
        return replace(super().only(columns), gains=gains, feature_order=columns)

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Self:
        """Restore the tree from :meth:`state`."""
        used = ParentGraph.of_state(state, names, target).used.tolist()
        if sorted(state["feature_order"]) != used or state["gains"].shape != (len(names),):
            raise UnnaiveError("the order of the columns does not fit the tree")
        return cls(names, target, **{key: state[key] for key in cls.keys})


def top_pair(relevance: FloatArray, information: FloatArray, active: BoolArray) -> tuple[int, int]:
    r"""Find the most informative pair of columns i < j, lexicographically first on ties.

    .. math:: TC(Y, X_i, X_j) = I(X_i;Y) + I(X_j;Y) + I(X_i;X_j|Y)
    """
    first, second = np.triu_indices(len(relevance), 1)
    content = relevance[first] + relevance[second] + information[first, second]
    best = first_best(np.where(active[first] & active[second], content, -np.inf))
    return int(first[best]), int(second[best])


def generalized_tree(
    names: tuple[str, ...],
    target: str,
    relevance: FloatArray,
    information: FloatArray,
    *,
    method: str,
    active: BoolArray,
) -> GeneralizedTree:
    """Learn a tree over the active columns by one of the methods.

    Parameters
    ----------
    names, target
        Names of the columns and of the class.
    relevance : array of shape (d,)
        I(X_i;Y).
    information : array of shape (d, d)
        I(X_i;X_j|Y).
    method : {"greedy", "optimal", "edmonds", "free"}
        See :class:`~unnaive.models.GeneralizedNB`.
    active : array of shape (d,)
        Columns that have values.
    """
    n_columns, inside = len(relevance), np.flatnonzero(active)
    if len(inside) < 2:
        parents = np.where(active, -1, LEFT_OUT)
        gains = np.where(active, relevance, 0.0)
        return GeneralizedTree(names, target, parents, np.zeros(n_columns), inside, gains, 0.0)
    pair = top_pair(relevance, information, active)
    forced = information.copy()
    forced[pair] = forced[pair[::-1]] = np.inf
    preference = np.eye(n_columns)[pair[0]]
    parents = orient(maximum_spanning_tree(forced, active), n_columns, preference)
    loss = _loss(parents, information, pair, active)
    if method == "greedy":
        order, parents = greedy_tree(relevance, information, pair, active)
    elif method == "edmonds":
        parents = edmonds_tree(relevance, information, pair, active)
    elif method == "free":
        parents = orient(maximum_spanning_tree(information, active), n_columns, preference)
    parents[~active] = LEFT_OUT
    weights = np.where(parents >= 0, information[np.arange(n_columns), parents], 0.0)
    gains = np.where(active, relevance, 0.0) + weights
    if method != "greedy":
        order = peel(parents, gains, pair)
    return GeneralizedTree(names, target, parents, weights, order, gains, loss)


def _loss(
    parents: IntArray, information: FloatArray, pair: tuple[int, int], active: BoolArray
) -> float:
    """Information lost by joining the two sides of the pair's edge by that edge, in nats."""
    below = np.arange(len(parents)) == pair[1]
    for _ in parents:
        below |= (parents >= 0) & below[parents]
    across = information[np.ix_(below & active, ~below & active)]
    return max(float(across.max(initial=0.0) - information[pair]), 0.0)


def greedy_tree(
    relevance: FloatArray, information: FloatArray, pair: tuple[int, int], active: BoolArray
) -> tuple[IntArray, IntArray]:
    """GNB-A: repeatedly add the column of largest gain, below its best parent; O(d²).

    Returns the columns in the order in which they enter, and the parents. On ties, the lowest
    column with its lowest parent wins.
    """
    gain = relevance[:, None] + information
    parents = np.where(active, -1, LEFT_OUT)
    parents[pair[1]] = pair[0]
    outside = active.copy()
    outside[list(pair)] = False
    order = list(pair)
    best = gain[:, order].max(axis=1)
    while outside.any():
        newest = first_best(np.where(outside, best, -np.inf))
        inside = np.sort(order)
        most = best[outside].max()
        parents[newest] = inside[np.argmax(gain[newest, inside] >= most - TIE_TOLERANCE)]
        outside[newest] = False
        order.append(newest)
        np.maximum(best, gain[:, newest], out=best)
    return np.array(order), parents


def edmonds_tree(
    relevance: FloatArray, information: FloatArray, pair: tuple[int, int], active: BoolArray
) -> IntArray:
    """Parents by the algorithm of Chu, Liu and Edmonds, as in the paper's Algorithm 2; shape (d,).

    The class has an arc to the first column of the pair, which has one to the second. Every
    other column has arcs from all columns. It is slow and exists for comparison.
    """
    try:
        import networkx as nx  # noqa: PLC0415 - optional, see the extra "plot"
    except ImportError:
        raise UnnaiveError(
            'method="edmonds" needs networkx: pip install "unnaive[plot]"; method="optimal" finds '
            "the same tree without it"
        ) from None
    root = len(relevance)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(root, pair[0], 0.0), (*pair, 0.0)])
    columns = np.flatnonzero(active).tolist()
    graph.add_weighted_edges_from(
        (parent, child, float(relevance[child] + information[child, parent]))
        for child in columns
        for parent in columns
        if child not in pair and parent != child
    )
    parents = np.where(active, -1, LEFT_OUT)
    for parent, child in nx.maximum_spanning_arborescence(graph).edges:
        parents[child] = -1 if parent == root else parent
    return parents


def peel(parents: IntArray, gains: FloatArray, pair: tuple[int, int]) -> IntArray:
    """Order the columns of a tree by gain: the leaf of least gain comes last and is removed, etc.

    The root is never removed, nor is its child if both are the most informative pair. Of tied
    leaves, the one of highest index is removed.
    """
    kept = list(pair) if parents[pair[1]] == pair[0] else [pair[0]]
    removable = parents > LEFT_OUT
    removable[kept] = False
    children = np.bincount(parents[parents >= 0], minlength=len(parents))
    removed: list[int] = []
    while removable.any():
        leaves = np.flatnonzero(removable & (children == 0))
        leaf = int(leaves[gains[leaves] <= gains[leaves].min() + TIE_TOLERANCE][-1])
        removed.append(leaf)
        removable[leaf] = False
        children[parents[leaf]] -= 1
    return np.array([*kept, *removed[::-1]])
