"""Chordal graphs of columns given the class: grown edge by edge, or as cherry trees."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.structure.generalized import top_pair
from unnaive.structure.marks import reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unnaive._typing import BoolArray, FloatArray, IntArray

    Separator = tuple[int, ...]
    Candidate = tuple[float, int, int, Separator]  # minus its gain, the edge, its separator


def chordal_graph(
    start: Iterable[tuple[int, int]],
    active: BoolArray,
    largest: int,
    gains_of: Callable[[Separator, IntArray], FloatArray],
) -> list[set[int]]:
    """Grow a chordal graph by the edge of largest gain while one gains.

    Efficient stepwise selection: an edge {a, b} keeps a chordal graph chordal if and only if
    the common neighbours S of a and b separate them. Its gain depends only on S, so it is
    scored again only when S changes; an edge whose ends S no longer separates stays out until
    then.

    Parameters
    ----------
    start : iterable of edges
        Edges of the chordal graph to start from.
    active : array of shape (d,)
        Columns that may be joined.
    largest : int
        Maximum number of columns in a clique, without the class.
    gains_of : callable
        Gains of edges (m, 2) that have the same separator; shape (m,).

    Returns
    -------
    list of set
        Neighbours of every column.

    References
    ----------
    Deshpande, Garofalakis & Jordan, "Efficient stepwise selection in decomposable models",
    UAI 2001.
    """
    neighbours: list[set[int]] = [set() for _ in active]
    for first, second in start:
        neighbours[first].add(second)
        neighbours[second].add(first)
    waiting: list[Candidate] = []

    def offer(pairs: Iterable[tuple[int, int]]) -> None:
        by_separator: dict[Separator, list[tuple[int, int]]] = {}
        for a, b in pairs:
            separator = tuple(sorted(neighbours[a] & neighbours[b]))
            if b not in neighbours[a] and len(separator) + 2 <= largest:
                by_separator.setdefault(separator, []).append((min(a, b), max(a, b)))
        for separator, members in by_separator.items():
            for (a, b), gain in zip(members, gains_of(separator, np.array(members)), strict=True):
                if gain > TIE_TOLERANCE:
                    heappush(waiting, (-float(gain), a, b, separator))

    offer(combinations(np.flatnonzero(active).tolist(), 2))
    while (best := _best_edge(waiting, neighbours)) is not None:
        a, b = best
        neighbours[a].add(b)
        neighbours[b].add(a)
        offer([(a, y) for y in sorted(neighbours[b] - {a})])
        offer([(b, y) for y in sorted(neighbours[a] - {b})])
    return neighbours


def _best_edge(waiting: list[Candidate], neighbours: list[set[int]]) -> tuple[int, int] | None:
    """Pop the edge of largest gain that may be added, lexicographically first on ties."""
    tied: list[Candidate] = []
    while waiting and (not tied or waiting[0][0] <= tied[0][0] + TIE_TOLERANCE):
        candidate = heappop(waiting)
        if _may_join(candidate, neighbours):
            tied.append(candidate)
    if not tied:
        return None
    chosen = min(tied, key=lambda candidate: candidate[1:3])
    waiting += [candidate for candidate in tied if candidate is not chosen]
    heapify(waiting)
    return chosen[1:3]


def _may_join(candidate: Candidate, neighbours: list[set[int]]) -> bool:
    """Whether the common neighbours of an edge's ends are still the same and separate them."""
    _, a, b, separator = candidate
    if b in neighbours[a] or tuple(sorted(neighbours[a] & neighbours[b])) != separator:
        return False
    return b not in reached([a], neighbours, separator)


def families_of(
    neighbours: list[set[int]], active: BoolArray, relevance: FloatArray
) -> tuple[tuple[int, ...], ...]:
    """Order the columns of a chordal graph, each followed by its parents.

    Maximum cardinality search: the next column is the one with most neighbours among the
    columns before it. These are its parents, and they are all joined. On ties the most relevant
    column is next.
    """
    known = np.zeros(len(active))
    left = active.copy()
    before: set[int] = set()
    families = []
    while left.any():
        most = left & (known == known[left].max())
        column = first_best(np.where(most, relevance, -np.inf))
        families.append((column, *sorted(neighbours[column] & before)))
        before.add(column)
        left[column] = False
        known[list(neighbours[column])] += 1
    return tuple(families)


def cherry_tree(
    relevance: FloatArray,
    information: FloatArray,
    order: int,
    active: BoolArray,
    beyond: Callable[[tuple[int, ...]], FloatArray],
) -> tuple[tuple[int, ...], ...]:
    """Learn a cherry tree: families in the order in which columns enter (Mathematics 15.10).

    Starts with the most informative pair, and repeatedly adds the column w and the parents M
    that maximize I(X_w;(Y,X_M)) = I(X_w;Y) + I(X_w;X_M|Y). M consists of all columns in the
    tree while these are few, then of ``order`` − 2 columns of one cluster. On ties, the lowest
    w and then the first M wins. Order 3 is GNB-A, order 2 is naive Bayes.

    Parameters
    ----------
    relevance, information
        I(X_i;Y), shape (d,), and I(X_i;X_j|Y), shape (d, d).
    order : int
        Number of variables in a cluster, including the class.
    active : array of shape (d,)
        Columns that have values.
    beyond : callable
        I(X_w;X_M|Y) of every column w for a tuple M of several columns; shape (d,).
    """
    columns = np.flatnonzero(active)
    if order == 2 or len(columns) < 2:
        falling = np.argsort(-relevance[columns], kind="stable")
        return tuple((int(column),) for column in columns[falling])
    first, second = top_pair(relevance, information, active)
    families: list[tuple[int, ...]] = [(first,), (second, first)]
    outside = active.copy()
    outside[[first, second]] = False
    gains: dict[tuple[int, ...], FloatArray] = {}
    while outside.any():
        for parents in _new_parents(families, order - 2):
            if parents not in gains:
                shared = information[parents[0]] if len(parents) == 1 else beyond(parents)
                gains[parents] = relevance + shared
        size = min(len(families), order - 2)
        offered = [parents for parents in gains if len(parents) == size]
        scores = np.stack([gains[parents] for parents in offered])
        best = np.where(outside, scores.max(axis=0), -np.inf)
        column = first_best(best)
        tied = scores[:, column] >= best.max() - TIE_TOLERANCE
        parents = min(offered[place] for place in np.flatnonzero(tied))
        families.append((column, *parents))
        outside[column] = False
    return tuple(families)


def _new_parents(families: list[tuple[int, ...]], size: int) -> list[tuple[int, ...]]:
    """Return the sets of parents that the newest column made possible."""
    few = len(families) <= size + 1
    newest = [family[0] for family in families] if few else families[-1]
    return list(combinations(sorted(newest), min(size, len(families))))
