r"""Clique trees: the probabilities of all variables at once, for one finding or for many rows.

The families of a network are covered by cliques of variables that form a tree, in which a variable
of two cliques is in all cliques between them. The tree holds the probabilities of every clique,

.. math:: P(x) = \prod_C P(x_C) \Big/ \prod_S P(x_S)

over cliques C and the separators S that neighbours share. A finding multiplies one clique; two
sweeps, towards the root and back, update all others. The tree is made once for a network, whatever
is asked and observed later, and its size is known before memory is allocated.

References
----------
Lauritzen & Spiegelhalter, "Local computations with probabilities on graphical structures and their
application to expert systems", J. R. Statist. Soc. B 50, 1988; Jensen, Lauritzen & Olesen,
"Bayesian updating in causal probabilistic networks by local computations", Comput. Statist. Q. 4,
1990.
"""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from unnaive.tables.elimination import elimination_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unnaive._typing import AnyArray, FloatArray, IntArray
    from unnaive.tables.elimination import Scope
    from unnaive.tables.network import Network

_MERGED_CELLS = 128  # neighbours are merged if their clique has no more cells: fewer steps
_ONE = 1e-15  # sums of conditional probabilities differ from 1 by rounding


class CliqueTree:
    """Cliques of a network with their probabilities; see the module.

    Parameters
    ----------
    network : Network
        The network; ``TableTooLarge`` is raised if the cliques do not fit into its memory.

    Attributes
    ----------
    scopes : list of tuples of int
        Variables of every clique in the order of its axes, those shared with its parent first. A
        clique comes after its children, so that the last one is a root.
    parents : list of int
        Clique that every clique is joined to; −1 for a root.
    """

    def __init__(self, network: Network) -> None:
        self.sizes: list[int] = network.sizes.tolist()
        families = [(*above, node) for node, above in enumerate(network.dag.parents)]
        self.scopes, self.parents, self.homes = _joined(families, network.sizes)
        above = [self.scopes[p] if p >= 0 else () for p in self.parents]
        pairs = zip(self.scopes, above, strict=True)
        self.shared = [self._cells([v for v in own if v in up]) for own, up in pairs]
        self.cells = [self._cells(scope) for scope in self.scopes]
        network._require_memory([*self.scopes * 2, *above * 2])  # noqa: SLF001
        self._spreads: dict[int, IntArray] = {}
        self._orders: dict[int, IntArray] = {}
        self._states: dict[tuple[int, int], IntArray] = {}
        self._sums = self._plan_sums()
        self.families = families
        self._fill(network.tables)

    def with_tables(self, tables: Sequence[FloatArray]) -> CliqueTree:
        """Return the same cliques with the probabilities of other tables.

        Parameters
        ----------
        tables : sequence of ndarray
            P(x | parents) of every variable, as in the network.

        Returns
        -------
        CliqueTree
            A new tree; this one does not change.
        """
        tree = copy(self)
        tree._fill(tables)  # noqa: SLF001 - of the same class
        return tree

    def _fill(self, tables: Sequence[FloatArray]) -> None:
        self._prior, self._separators = self._swept(self._potentials(tables))

    def _potentials(self, tables: Sequence[FloatArray]) -> list[FloatArray]:
        """Products of the tables in every clique; shape (1, cells)."""
        potentials = [np.ones((1, cells)) for cells in self.cells]
        for node, family in enumerate(self.families):
            place = self.homes[node]
            potentials[place] *= self._spread(tables[node], family, place)
        return potentials

    def _cells(self, scope: Sequence[int]) -> int:
        return math.prod(self.sizes[v] for v in scope)

    def _spread(self, table: AnyArray, members: Scope, place: int) -> AnyArray:
        """Entries of a table for every cell of a clique; shape (1, cells)."""
        scope = self.scopes[place]
        order = sorted(range(len(members)), key=lambda axis: scope.index(members[axis]))
        shape = [self.sizes[v] if v in members else 1 for v in scope]
        dims = [self.sizes[v] for v in scope]
        turned = np.transpose(table, order).reshape(shape)
        return np.broadcast_to(turned, dims).reshape(1, -1)

    def _shared_cells(self, place: int) -> IntArray:
        """Shared cell of every cell of the parent; shape (cells of the parent,)."""
        if place not in self._spreads:
            up = self.parents[place]
            shared = tuple(v for v in self.scopes[place] if v in self.scopes[up])
            numbers = np.arange(self.shared[place]).reshape([self.sizes[v] for v in shared])
            self._spreads[place] = self._spread(numbers, shared, up)[0]
        return self._spreads[place]

    def _parent_cells(self, place: int) -> IntArray:
        """Cells of the parent in the order of the shared cells; shape (cells of the parent,)."""
        if place not in self._orders:
            up = self.parents[place]
            scope, own = self.scopes[up], self.scopes[place]
            order = [scope.index(v) for v in own if v in scope]
            order += [axis for axis, v in enumerate(scope) if v not in own]
            cells = np.arange(self.cells[up]).reshape([self.sizes[v] for v in scope])
            self._orders[place] = cells.transpose(order).reshape(-1)
        return self._orders[place]

    def _plan_sums(self) -> list[tuple[int, tuple[int, int, int]]]:
        """Smallest clique of every variable, and its cells before, of and after the variable."""
        smallest: dict[int, tuple[int, tuple[int, int, int]]] = {}
        for place in sorted(range(len(self.scopes)), key=self.cells.__getitem__, reverse=True):
            after = self.cells[place]
            for v in self.scopes[place]:
                before, size = self.cells[place] // after, self.sizes[v]
                after //= size
                smallest[v] = place, (before, size, after)
        return [smallest[v] for v in range(len(self.sizes))]

    def _swept(self, beliefs: list[FloatArray]) -> tuple[list[FloatArray], list[FloatArray]]:
        """Multiply the sum of every clique into its parent; return cliques and these sums."""
        separators = []
        for place, up in enumerate(self.parents):
            separators.append(self._summed(beliefs[place], place))
            if up >= 0 and np.abs(separators[place] - 1.0).max() > _ONE:  # else nothing changes
                beliefs[up] = beliefs[up] * separators[place][:, self._shared_cells(place)]
        return beliefs, separators

    def _summed(self, belief: FloatArray, place: int) -> FloatArray:
        """Sum a clique to what it shares with its parent, which comes first; shape (n, shared)."""
        return np.asarray(belief.reshape(len(belief), self.shared[place], -1).sum(axis=2))

    def _distribute(self, beliefs: list[FloatArray], separators: list[FloatArray]) -> None:
        """Sweep from the roots to the leaves, and update cliques."""
        for place, up in reversed(list(enumerate(self.parents))):
            if up < 0:
                continue
            above = beliefs[up][:, self._parent_cells(place)]
            new = above.reshape(len(above), self.shared[place], -1).sum(axis=2)
            apart = beliefs[place].reshape(len(beliefs[place]), self.shared[place], -1)
            change = _ratio(new, separators[place])[:, :, None]
            beliefs[place] = (apart * change).reshape(-1, self.cells[place])

    def observed(self, findings: Mapping[int, FloatArray]) -> tuple[list[FloatArray], FloatArray]:
        """Return the weights of all cells of all cliques given findings, and log P(findings).

        Parameters
        ----------
        findings : mapping of int to ndarray of shape (n, v)
            P(finding | state) of the observed variables, for n rows: 1 for the observed state
            and 0 for others, or anything between.

        Returns
        -------
        beliefs : list of ndarray of shape (n, cells)
            Probabilities of every clique, except for a factor; n is 1 where no row differs.
        log_probability : ndarray of shape (n,)
            Logarithm of the probability of the findings; −inf if they cannot occur.
        """
        beliefs, separators, logs = self._collected(findings)
        self._distribute(beliefs, separators)
        return beliefs, logs

    def log_probability(self, findings: Mapping[int, FloatArray]) -> FloatArray:
        """Log P(findings) of every row, see :meth:`observed`; shape (n,)."""
        return self._collected(findings)[2]

    def _collected(
        self, findings: Mapping[int, FloatArray]
    ) -> tuple[list[FloatArray], list[FloatArray], FloatArray]:
        """Multiply findings into cliques, and sweep from these to the roots."""
        beliefs, separators = list(self._prior), list(self._separators)
        changed, n_rows = set[int](), max((len(f) for f in findings.values()), default=1)
        logs = np.zeros(n_rows)
        for node, chances in findings.items():
            place = self.homes[node]
            beliefs[place] = beliefs[place] * chances[:, self._states_of(node)]
            changed.add(place)
        for place, up in enumerate(self.parents):
            if place not in changed:
                continue
            new = self._summed(beliefs[place], place)
            total = new.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                logs += np.log(total[:, 0])
            if up >= 0:
                total[total == 0] = 1.0
                change = _ratio(new / total, separators[place])
                beliefs[up] = beliefs[up] * change[:, self._shared_cells(place)]
                changed.add(up)
                separators[place] = new
        return beliefs, separators, logs

    def _states_of(self, node: int) -> IntArray:
        """State of a variable in every cell of the clique of its family; shape (cells,)."""
        place = self.homes[node]
        if (node, place) not in self._states:
            numbers = np.arange(self.sizes[node])
            self._states[node, place] = self._spread(numbers, (node,), place)[0]
        return self._states[node, place]

    def marginals(self, beliefs: list[FloatArray]) -> list[FloatArray]:
        """Probabilities of the states of every variable, from weights of cliques; shape (n, v)."""
        answers = []
        for place, shape in self._sums:
            sums = beliefs[place].reshape(-1, *shape).sum(axis=(1, 3))
            total = sums.sum(axis=1, keepdims=True)
            total[total == 0] = 1.0  # findings that cannot occur
            answers.append(sums / total)
        return answers

    def joint(
        self, beliefs: list[FloatArray], members: Sequence[int], place: int | None = None
    ) -> FloatArray:
        """Sum a clique to some of its variables; shape (n, sizes of these)."""
        if place is None:
            place = min(
                (p for p, scope in enumerate(self.scopes) if set(members) <= set(scope)),
                key=self.cells.__getitem__,
            )
        scope, belief = self.scopes[place], beliefs[place]
        cells = belief.reshape(len(belief), *(self.sizes[v] for v in scope))
        rest = tuple(1 + axis for axis, v in enumerate(scope) if v not in members)
        left = [v for v in scope if v in members]
        order = [1 + left.index(v) for v in members]
        return np.asarray(cells.sum(axis=rest).transpose(0, *order))

    def expected(self, beliefs: list[FloatArray], weights: FloatArray) -> list[FloatArray]:
        """Sum the probabilities of all families over rows; shapes of the tables.

        Parameters
        ----------
        beliefs : list of ndarray
            Weights of cells, as :meth:`observed` returns them, of findings that can occur.
        weights : ndarray of shape (n,)
            Weights of the rows.

        Returns
        -------
        list of ndarray
            Expected counts of every family, the variable on the last axis.
        """
        summed = []
        for belief in beliefs:
            shares = weights if len(belief) > 1 else weights.sum(keepdims=True)
            summed.append((shares / belief.sum(axis=1))[None] @ belief)
        families = enumerate(self.families)
        return [self.joint(summed, family, self.homes[node])[0] for node, family in families]

    @property
    def row_bytes(self) -> int:
        """Bytes that the cliques take for each row; not 0 without variables."""
        return 16 * max(1, sum(self.cells))


def _ratio(new: FloatArray, old: FloatArray) -> FloatArray:
    """Quotient of two separators; what was impossible stays impossible."""
    if old.all():
        return new / old
    return np.divide(
        new, old, out=np.zeros(np.broadcast_shapes(new.shape, old.shape)), where=old > 0
    )


def _joined(families: list[Scope], sizes: IntArray) -> tuple[list[Scope], list[int], list[int]]:
    """Cliques of an elimination order as a tree, neighbours merged; and the clique of each family.

    Eliminating a variable makes a clique of it and of its neighbours. Its parent is the clique of
    the neighbour that is eliminated next. It is merged with the parent if that lies in it, or if
    both together are small.
    """
    order, cliques = elimination_order(families, (), sizes)
    turn = {v: place for place, v in enumerate(order)}
    members = [set(clique) for clique in cliques[:-1]]
    up = [
        min((turn[w] for w in own if w != v), default=-1)
        for v, own in zip(order, members, strict=True)
    ]
    into = list(range(len(members)))
    widths = sizes.tolist()
    for place in reversed(range(len(members))):  # parents first
        if up[place] < 0:
            continue
        parent = into[up[place]]
        both = members[place] | members[parent]
        within = len(both) == max(len(members[place]), len(members[parent]))
        if within or math.prod(widths[v] for v in both) <= _MERGED_CELLS:
            members[parent], into[place] = both, parent
        else:
            up[place] = parent
    kept = [place for place in range(len(members)) if into[place] == place]
    numbers = {place: number for number, place in enumerate(kept)}
    above = [numbers[into[up[place]]] if up[place] >= 0 else -1 for place in kept]
    joined = [frozenset(members[place]) for place in kept]
    _reattach(joined, above, widths)
    order, turned = _by_depth(above)
    parents = [turned[above[place]] if above[place] >= 0 else -1 for place in order]
    scopes = []
    for place in order:
        shared = joined[above[place]] if above[place] >= 0 else frozenset[int]()
        inside = joined[place]
        scopes.append((*sorted(inside & shared), *sorted(inside - shared)))
    homes = [turned[numbers[into[min(turn[v] for v in family)]]] for family in families]
    return scopes, parents, homes


def _reattach(cliques: list[frozenset[int]], above: list[int], widths: list[int]) -> None:
    """Join every clique to the smallest one that has all that it shares with its parent.

    The tree stays a clique tree, and sums over large cliques become fewer.
    """
    cells = [math.prod(widths[v] for v in clique) for clique in cliques]
    having: dict[int, list[int]] = {}
    for place in sorted(range(len(cliques)), key=cells.__getitem__):
        for v in cliques[place]:
            having.setdefault(v, []).append(place)
    for place, own in enumerate(cliques):
        if above[place] < 0:
            continue
        shared = own & cliques[above[place]]
        for other in min((having[v] for v in shared), key=len, default=()):
            if cells[other] >= cells[above[place]]:
                break
            if other != place and shared <= cliques[other] and not _is_below(other, place, above):
                above[place] = other
                break


def _is_below(place: int, top: int, above: list[int]) -> bool:
    """Whether a clique is in the tree below another one."""
    while place >= 0 and place != top:
        place = above[place]
    return place == top


def _by_depth(above: list[int]) -> tuple[list[int], dict[int, int]]:
    """Return cliques with children before parents, and the new place of each."""
    depths: dict[int, int] = {-1: 0}
    for place in range(len(above)):
        path = [place]
        while path[-1] not in depths:
            path.append(above[path[-1]])
        for below in reversed(path[:-1]):
            depths[below] = depths[above[below]] + 1
    order = sorted(range(len(above)), key=lambda place: -depths[place])
    return order, {place: number for number, place in enumerate(order)}
