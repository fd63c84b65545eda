"""Junction trees: clusters of columns that share separators, with the class in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive._dataclasses import dataclass
from unnaive._html import html_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    import networkx as nx
    from matplotlib.axes import Axes

Members = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class JunctionTree:
    r"""Clusters of columns, joined as a tree by the separators that they share.

    .. math:: P(c, x) = \prod_C P(c, x_C) \Big/ \prod_S P(c, x_S)

    over clusters C and separators S. The class is in every one of them. A column in two clusters
    is in all clusters on the path between the two (the running intersection property).

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    target : str
        Name of the class.
    members : tuple of tuples of int
        Columns of every cluster, without the class.
    joins : tuple of tuples of int
        Pairs of places of clusters that are joined; the first one comes earlier in ``members``.

    See Also
    --------
    junction_tree : Makes it from cliques.

    References
    ----------
    Kovács, Ország, Pfeifer & Benczúr, "Generalized naive Bayes", arXiv 2408.15923, 2024,
    definitions 3 to 6 and figures 2 and 4.

    Examples
    --------
    >>> tree = junction_tree(("a", "b", "c"), "y", [(0, 1), (1, 2)])
    >>> tree.clusters, tree.separators
    ([('y', 'a', 'b'), ('y', 'b', 'c')], [('y', 'b')])
    """

    names: tuple[str, ...]
    target: str
    members: tuple[Members, ...]
    joins: tuple[tuple[int, int], ...]

    @property
    def clusters(self) -> list[tuple[str, ...]]:
        """Names of the members of every cluster, the class first."""
        return [self._named(cluster) for cluster in self.members]

    @property
    def separators(self) -> list[tuple[str, ...]]:
        """What the clusters of every join share, the class first; one join may repeat another."""
        return [self._named(shared) for shared in self.shared]

    @property
    def shared(self) -> list[Members]:
        """Columns of every separator, without the class."""
        return [tuple(sorted({*self.members[a]} & {*self.members[b]})) for a, b in self.joins]

    @property
    def edges(self) -> list[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
        """Two clusters and their separator, for every join."""
        found = zip(self.joins, self.separators, strict=True)
        clusters = self.clusters
        return [(clusters[a], clusters[b], separator) for (a, b), separator in found]

    def _named(self, columns: Members) -> tuple[str, ...]:
        return (self.target, *(self.names[column] for column in columns))

    def to_networkx(self) -> nx.Graph[tuple[str, ...]]:
        """Make a ``networkx.Graph`` of clusters, with the attribute ``separator`` on its edges.

        Returns
        -------
        networkx.Graph
            The tree.
        """
        import networkx as nx  # noqa: PLC0415 - optional, see the extra "plot"

        graph: nx.Graph[tuple[str, ...]] = nx.Graph()
        graph.add_nodes_from(self.clusters)
        for one, two, separator in self.edges:
            graph.add_edge(one, two, separator=separator)
        return graph

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the clusters from left to right, with their separators on the lines between them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None: a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            Axes with the drawing.
        """
        from unnaive.structure.draw_junction import draw_junction  # noqa: PLC0415 - matplotlib

        return draw_junction(self, ax)

    def __repr__(self) -> str:
        """Name the size."""
        return f"JunctionTree({len(self.members)} clusters, {len(self.joins)} separators)"

    def _repr_html_(self) -> str:
        """Table of the joins for a notebook."""
        lines = [tuple(", ".join(part) for part in edge) for edge in self.edges]
        return html_table(repr(self), ["cluster", "cluster", "separator"], lines)


def junction_tree(names: tuple[str, ...], target: str, cliques: Iterable[Members]) -> JunctionTree:
    """Join cliques of a chordal graph to a tree, by the largest sets that they share.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    target : str
        Name of the class, which is in all cliques.
    cliques : iterable of tuples of int
        Columns of the cliques. Those that lie in another one are dropped.

    Returns
    -------
    JunctionTree
        The tree. Every cluster is joined to an earlier one, the earliest on ties.
    """
    found = list(dict.fromkeys(tuple(sorted(clique)) for clique in cliques))
    sets = [frozenset(clique) for clique in found]
    members = tuple(
        clique for clique, own in zip(found, sets, strict=True) if not any(own < o for o in sets)
    )
    return JunctionTree(names, target, members, _joined(members))


def _joined(members: tuple[Members, ...]) -> tuple[tuple[int, int], ...]:
    """Grow the maximum spanning tree of the sizes of shared sets, from the first cluster."""
    sets = [frozenset(cluster) for cluster in members]
    best = dict.fromkeys(range(1, len(sets)), (0, 0))  # shared with the tree, and with whom
    joins, newest = [], 0
    while best:
        for place in best:
            size = len(sets[place] & sets[newest])
            if size > best[place][0]:
                best[place] = (size, newest)
        chosen = max(best, key=lambda place: (best[place][0], -place))
        joins.append((best.pop(chosen)[1], chosen))
        newest = chosen
    return tuple(joins)
