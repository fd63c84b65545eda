"""Generalized naive Bayes: trees grown from the pair of columns that tells most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.exceptions import UnnaiveError
from unnaive.structure.graph import LEFT_OUT, ParentGraph, graph_of_state
from unnaive.structure.tree import maximum_spanning_tree, orient

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, FloatArray, IntArray, State


@dataclass(frozen=True, eq=False)
class GeneralizedTree(ParentGraph):
    """A tree over columns, with the order in which they enter and what each adds.

    Attributes
    ----------
    names, target, parents, weights
        As in :class:`~unnaive.structure.ParentGraph`; a parent is the paper's mother.
    feature_order : ndarray of shape (m,)
        Columns in the model, as they enter: a mother before her children, so that the first
        few of them are a tree, too.
    gains : ndarray of shape (d,)
        Information that a column adds: I(X_i;Y) + I(X_i;X_mother|Y); 0 for those left out.
    forced_edge_loss : float
        What the best tree loses if it must hold the pair that tells most, in nats.
    """

    feature_order: IntArray
    gains: FloatArray
    forced_edge_loss: float

    def first(self, n_features: int) -> GeneralizedTree:
        """Return the tree of the first few columns."""
        kept = self.feature_order[:n_features]
        inside = np.isin(np.arange(len(self.names)), kept)
        return replace(
            self,
            parents=np.where(inside, self.parents, LEFT_OUT),
            weights=np.where(inside, self.weights, 0.0),
            gains=np.where(inside, self.gains, 0.0),
            feature_order=kept,
        )

    def state(self) -> State:
        """Plain values and arrays for the store."""
        return {
            **super().state(),
            "feature_order": self.feature_order,
            "gains": self.gains,
            "forced_edge_loss": self.forced_edge_loss,
        }

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> GeneralizedTree:
        """Make the tree that :meth:`state` described."""
        graph = graph_of_state(state, names, target)
        order = state["feature_order"]
        if sorted(order.tolist()) != graph.used.tolist() or state["gains"].shape != (len(names),):
            raise UnnaiveError("the order of the columns does not fit the tree")
        loss = float(state["forced_edge_loss"])
        return cls(names, target, graph.parents, graph.weights, order, state["gains"], loss)


def top_pair(relevance: FloatArray, information: FloatArray, active: BoolArray) -> tuple[int, int]:
    r"""Columns i < j of largest information content, lexicographically first on ties.

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
    """Grow a tree over the active columns by one of the methods.

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
    children = parents >= 0
    weights = np.where(children, information[np.arange(n_columns), parents], 0.0)
    gains = np.where(active, relevance, 0.0) + weights
    if method != "greedy":
        order = peel(parents, gains, pair)
    return GeneralizedTree(names, target, parents, weights, order, gains, loss)


def _loss(
    parents: IntArray, information: FloatArray, pair: tuple[int, int], active: BoolArray
) -> float:
    """How much better an edge than the pair's would join what the pair joins in the best tree."""
    below = np.zeros(len(parents), dtype=bool)
    below[pair[1]] = True
    waiting = [pair[1]]
    while waiting:
        children = np.flatnonzero(parents == waiting.pop())
        below[children] = True
        waiting += children.tolist()
    across = information[np.ix_(below & active, ~below & active)]
    return max(float(across.max(initial=0.0) - information[pair]), 0.0)


def greedy_tree(
    relevance: FloatArray, information: FloatArray, pair: tuple[int, int], active: BoolArray
) -> tuple[IntArray, IntArray]:
    """GNB-A: again and again the column that adds most, by its best mother; O(d²).

    Returns the columns in the order of entering, and the mothers. Of what ties, the lowest
    column with its lowest mother wins.
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
        mothers = np.sort(order)
        most = best[outside].max()
        parents[newest] = mothers[np.argmax(gain[newest, mothers] >= most - TIE_TOLERANCE)]
        outside[newest] = False
        order.append(newest)
        np.maximum(best, gain[:, newest], out=best)
    return np.array(order), parents


def edmonds_tree(
    relevance: FloatArray, information: FloatArray, pair: tuple[int, int], active: BoolArray
) -> IntArray:
    """Mothers by Chu, Liu and Edmonds, to the letter of the paper's Algorithm 2; shape (d,).

    The class has an arc to the first column of the pair, this one to the second, and every
    other column hears arcs from all columns. Slow: there to be compared with.
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
    graph.add_edge(root, pair[0], weight=0.0)
    graph.add_edge(pair[0], pair[1], weight=0.0)
    columns = np.flatnonzero(active).tolist()
    for child in (column for column in columns if column not in pair):
        for mother in (column for column in columns if column != child):
            weight = float(relevance[child] + information[child, mother])
            graph.add_edge(mother, child, weight=weight)
    parents = np.where(active, -1, LEFT_OUT)
    for mother, child in nx.maximum_spanning_arborescence(graph).edges:
        parents[child] = -1 if mother == root else mother
    return parents


def peel(parents: IntArray, gains: FloatArray, pair: tuple[int, int]) -> IntArray:
    """Columns of a tree by what they add: leaves of least gain are taken off, last comes first.

    The root is never taken off, nor its child if both are the pair that tells most. Of leaves
    that tie, the one of highest index goes.
    """
    kept = {pair[0], pair[1]} if parents[pair[1]] == pair[0] else {pair[0]}
    left = parents > LEFT_OUT
    children = np.bincount(parents[parents >= 0], minlength=len(parents))
    removed: list[int] = []
    while left.sum() > len(kept):
        leaves = np.flatnonzero(left & (children == 0))
        leaves = leaves[~np.isin(leaves, list(kept))]
        leaf = int(leaves[gains[leaves] <= gains[leaves].min() + TIE_TOLERANCE][-1])
        removed.append(leaf)
        left[leaf] = False
        children[parents[leaf]] -= 1
    return np.array([*pair[: len(kept)], *removed[::-1]])
