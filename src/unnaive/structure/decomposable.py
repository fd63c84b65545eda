"""Chordal graphs of columns below the class: grown edge by edge, or as cherry trees."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.structure.generalized import top_pair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unnaive._typing import BoolArray, FloatArray, IntArray

    Separator = tuple[int, ...]
    Candidate = tuple[float, int, int, Separator]  # less its gain, the edge, its separator

__all__ = ["cherry_tree", "chordal_graph", "families_of"]


def chordal_graph(
    start: Iterable[tuple[int, int]],
    active: BoolArray,
    largest: int,
    gains_of: Callable[[Separator, IntArray], FloatArray],
) -> list[set[int]]:
    """Neighbours of every column in a chordal graph, grown by the best edge while it gains.

    Efficient stepwise selection: an edge {a, b} leaves a chordal graph chordal if and only if
    the common neighbours S of a and b separate them. Its gain depends on S alone, so it is
    scored anew when S changes; an edge that S no longer separates stays out until then.

    Parameters
    ----------
    start : edges
        A chordal graph to begin with.
    active : array of shape (d,)
        Columns that may be joined.
    largest : int
        Most columns in a clique, the class not counted.
    gains_of : callable
        Gains of edges (m, 2) that have the same separator; shape (m,).

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
    """Take the edge of largest gain that may be added, the first in order of those that tie."""
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
    """Whether an edge's separator is still that, and still separates its ends."""
    _, a, b, separator = candidate
    if b in neighbours[a] or tuple(sorted(neighbours[a] & neighbours[b])) != separator:
        return False
    reached, waiting = {a, *separator}, [a]
    while waiting:
        new = neighbours[waiting.pop()] - reached
        if b in new:
            return False
        reached |= new
        waiting += new
    return True


def families_of(
    neighbours: list[set[int]], active: BoolArray, relevance: FloatArray
) -> tuple[tuple[int, ...], ...]:
    """Each column of a chordal graph with its parents, parents before children.

    Maximum cardinality search: next comes the column with most neighbours among those that
    came before, which are its parents and all joined; of those that tie, the most relevant.
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
    """Each column with its parents in a cherry tree, as they enter (Mathematics 15.10).

    Begins with the pair that tells most, and adds again and again the column w and the
    parents M that maximise I(X_w;(Y,X_M)) = I(X_w;Y) + I(X_w;X_M|Y). M are all columns inside
    while these are few, then ``order`` − 2 columns of one cluster. Of what ties, the lowest w
    and then the first M in order wins. Order 3 is GNB-A, order 2 is naive Bayes.

    Parameters
    ----------
    relevance, information
        I(X_i;Y), shape (d,), and I(X_i;X_j|Y), shape (d, d).
    order : int
        Columns in a cluster, the class counted.
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
                told = information[parents[0]] if len(parents) == 1 else beyond(parents)
                gains[parents] = relevance + told
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


def _inside(families: list[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted(family[0] for family in families))


def _new_parents(families: list[tuple[int, ...]], size: int) -> list[tuple[int, ...]]:
    """Return the sets of parents that the newest column made possible."""
    if len(families) <= size:
        return [_inside(families)]
    newest = sorted(families[-1]) if len(families) > size + 1 else _inside(families)
    return list(combinations(newest, size))
