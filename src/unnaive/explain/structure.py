"""Plots of the structure of models: which features depend on which."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.cells import CellCounts
from unnaive.counts.families import strides_of
from unnaive.explain.cells import heaviest
from unnaive.explain.influence import class_information
from unnaive.explain.shared import documented
from unnaive.information import cell_information, conditional_mutual_information, family_information
from unnaive.information.gaussian import gaussian_information
from unnaive.models.base import CountsClassifier
from unnaive.models.gaussian import GaussianClassifier
from unnaive.models.gaussian_parts import shares_of
from unnaive.structure.compose import Wish
from unnaive.structure.draw import draw_structure
from unnaive.structure.graph import Graph
from unnaive.structure.parents import HiddenParents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts.families import FamilyCounts
    from unnaive.models import Classifier
    from unnaive.models.recipe import Structure
    from unnaive.structure.graph import Edge


@dataclass(frozen=True, eq=False, repr=False)
class DrawnGraph(Graph):
    """A graph with the edges to draw."""

    names: tuple[str, ...]
    target: str
    edges: Sequence[Edge] = ()
    columns: IntArray | None = None

    @property
    def used(self) -> IntArray:
        """Columns that are drawn, by default all; shape (m,)."""
        return super().used if self.columns is None else self.columns


@documented
def plot_structure(model: Classifier, ax: Axes | None = None, max_edges: int | None = None) -> Axes:
    r"""Plot which features depend on which in a fitted model.

    The class is above a frame: it is a parent of every feature in the frame. Trees and networks
    are drawn in layers, parents before children; the width of an edge is the conditional mutual
    information :math:`I(X_i;X_j|Y)` in nats, if the model counted both features together. Joined
    features share a box. The dependences of HNB are chords of a circle, the bags of PHNB are
    lists, and the super-parents of AODE are rays. A model with a tree for every class has one
    picture for each of up to six classes. For a blend, the member of most weight is drawn, and
    the title names it. A new figure is never larger than a page.

    Parameters
    ----------
    {model}
    {ax}
    max_edges : int, default=None
        Maximum number of edges drawn, the strongest first; the title says how many of how many.
        None: a number that stays readable.

    Returns
    -------
    {axes}

    See Also
    --------
    plot_importance : Importance of features as bars.

    Examples
    --------
    >>> from unnaive import HNB
    >>> X = [["a", "u", 1], ["a", "v", 2], ["b", "u", 2], ["b", "v", 1]] * 3
    >>> ax = plot_structure(HNB().fit(X, [0, 1, 1, 0] * 3))
    >>> sorted(text.get_text() for text in ax.texts)
    ['x0', 'x1', 'x2', 'y']
    """
    member = heaviest(model)
    title = type(member).__name__
    if member is not model:
        title += f", the heaviest member of {type(model).__name__}"
    graph: Structure = member.fitted_.structure
    schema, target = member.schema_, member.schema_.target
    relevance = dict(zip(schema.names, class_information(member).tolist(), strict=True))
    information = pair_information(member)
    pairs: Sequence[Edge] = graph.edges
    if isinstance(graph, HiddenParents):  # members depend on each other
        pairs = [edge[:2] for edge in graph.edges if edge[2] > 0]
    edges = _weighed(pairs, (*schema.names, target), information, relevance)
    labels = [f"{target} = {label}" for label in member.classes_.tolist()]
    independent = getattr(member, "naive_columns_", ())  # or components, which are no columns
    marked = [name for name in independent if name in schema.names]
    wish = Wish(edges, max_edges, relevance, labels, "nats", marked)
    return draw_structure(graph, ax, wish, title)


def pair_information(model: Classifier) -> FloatArray:
    """I(X_i;X_j|Y) of pairs of columns in nats, NaN for pairs that were not counted; (d, d)."""
    found = np.full((len(model.schema_.names),) * 2, np.nan)
    if isinstance(model, CountsClassifier):
        counts = model.counts_
        if counts.has_all_pairs:
            return conditional_mutual_information(counts)
        for a, b in counts.pair_columns.tolist():
            _add_family(found, counts.family((b, a)), counts.schema.sizes)
        for family in counts.families:
            _add_family(found, family, counts.schema.sizes)
    elif isinstance(model, GaussianClassifier):
        moments, numbers = model.moments_, model.fitted_.columns
        shares = shares_of(moments.class_weights)
        found[np.ix_(numbers, numbers)] = gaussian_information(moments.covariances(), shares)
        fitted = model.fitted_
        if fitted.categories is not None and "by_label" in fitted.spread.learned:
            labels = np.setdiff1d(np.arange(len(found)), numbers)
            found[np.ix_(labels, labels)] = pair_information(fitted.categories)
            found[np.ix_(numbers, labels)] = by_label = fitted.spread.learned["by_label"]
            found[np.ix_(labels, numbers)] = by_label.T
    return found


def _add_family(found: FloatArray, family: FamilyCounts | CellCounts, sizes: IntArray) -> None:
    """Fill in the information of all pairs of columns in one family."""
    if isinstance(family, CellCounts):
        for a, b in combinations(sorted(family.columns), 2):
            cells = family.given((b, a), sizes)
            found[a, b] = found[b, a] = max(cell_information(cells, sizes), 0.0)
        return
    child, parents = family.columns[0], family.columns[1:]
    k, m, v = family.table.shape
    codes = {child: np.broadcast_to(np.arange(v), (m, v)).reshape(-1)}
    for parent, stride in zip(parents, strides_of(sizes, parents), strict=True):
        values = family.contexts // stride % int(sizes[parent])
        codes[parent] = np.broadcast_to(values[:, None], (m, v)).reshape(-1)
    for a in family.columns:
        for b in family.columns:
            if a < b:
                table = np.zeros((int(sizes[a]), int(sizes[b]), k))
                np.add.at(table, (codes[a], codes[b]), family.table.reshape(k, -1).T)
                found[a, b] = found[b, a] = family_information(table.transpose(2, 0, 1))


def _weighed(
    edges: Sequence[Edge],
    names: tuple[str, ...],
    information: FloatArray,
    relevance: Mapping[str, float],
) -> list[Edge]:
    """Give edges the information that was measured; edges of the class that with the class."""
    place = {name: index for index, name in enumerate(names)}
    weighed: list[Edge] = []
    for edge in edges:
        parent, child = edge[:2]
        if names[-1] in (parent, child):
            measured = relevance[child if parent == names[-1] else parent]
        else:
            measured = float(information[place[parent], place[child]])
        unknown = len(edge) == 2 and np.isfinite(measured)
        weighed.append((parent, child, measured) if unknown else edge)
    return weighed
