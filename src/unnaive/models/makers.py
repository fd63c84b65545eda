"""Makers of tables: the parts of recipes that several models share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unnaive._dataclasses import dataclass
from unnaive.counts.cells import holds_cells
from unnaive.exceptions import UnnaiveError
from unnaive.models.recipe import Estimate, Learned, TableMaker
from unnaive.structure.graph import ClassGraphs, FamilyGraph, ParentGraph
from unnaive.tables.trees import TreeTables, tree_bytes, tree_tables

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.counts import JointCounts
    from unnaive.tables.families import FamilyTables
    from unnaive.tables.forests import ClassTrees
    from unnaive.tables.network import Network
    from unnaive.tables.trees import FactorOf, RootOf


@dataclass(frozen=True, eq=False)
class TreeFactors(TableMaker):
    """Makes one table per column, given the class and at most one parent.

    Attributes
    ----------
    marginalize : bool
        Whether missing values that have children are summed out.
    root_of, factor_of : callable, default=None
        How log P(c, x) of the root, and the factors below it, are estimated; see
        :func:`~unnaive.tables.trees.tree_tables`.
    """

    marginalize: bool = True
    root_of: RootOf | None = None
    factor_of: FactorOf | None = None

    @property
    def by_cells(self) -> bool:  # type: ignore[override]
        """Whether pairs may be held by the cells that occurred."""
        return self.factor_of is None

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> TreeTables | FamilyTables | ClassTrees:
        """Estimate the tables of the tree, or of the tree of every class."""
        graph = learned.structure
        if not isinstance(graph, ClassGraphs):
            return self.tree(counts, learned.graph(ParentGraph), how, held_out)
        from unnaive.tables.forests import ClassTrees, of_class  # noqa: PLC0415 - loads when asked

        shared: dict[Any, Any] = {}
        trees = [self.tree(counts, one, how, held_out, shared) for one in graph.graphs]
        return ClassTrees(tuple(of_class(tree, label) for label, tree in enumerate(trees)))

    def tree(
        self,
        counts: JointCounts,
        graph: ParentGraph,
        how: Estimate,
        held_out: float | None,
        shared: dict[Any, Any] | None = None,
    ) -> TreeTables | FamilyTables:
        """Estimate the tables of one tree; raises if they do not fit into memory."""
        fixed: State = {"class_prior": how.class_prior, "marginalize": self.marginalize}
        fixed |= {"held_out": held_out, "root_of": self.root_of, "shared": shared}
        if holds_cells(counts.cells, graph.pairs):
            from unnaive.tables.wide import wide_tree  # noqa: PLC0415 - loads when asked

            return wide_tree(counts, graph, how.smoothing, max_memory=how.max_memory, **fixed)
        needed = tree_bytes(counts.schema.sizes, graph.parents, counts.n_classes)
        how.require(counts.schema, needed * (1 if held_out is None else 3))
        return tree_tables(counts, graph, how.smoothing, factor_of=self.factor_of, **fixed)

    def network(self, counts: JointCounts, learned: Learned, how: Estimate) -> Network:
        """Return the tree as a Bayesian network."""
        return network_of_parents(self, counts, learned, how)


@dataclass(frozen=True, eq=False)
class FamilyFactors(TableMaker):
    """Makes a table for every column given its parents, of the contexts that occurred."""

    marginalize: bool = True
    by_cells: bool = True

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> FamilyTables:
        """Estimate the tables of all families."""
        from unnaive.tables.families import family_tables  # noqa: PLC0415 - loads when asked

        if learned.structure.families:
            families_counted(counts, how.model)
        fixed: State = {"marginalize": self.marginalize, "held_out": held_out}
        fixed["max_memory"] = how.max_memory
        return family_tables(counts, how.smoothing, class_prior=how.class_prior, **fixed)

    def network(self, counts: JointCounts, learned: Learned, how: Estimate) -> Network:
        """Return the families as a Bayesian network."""
        return network_of_parents(self, counts, learned, how)


def families_counted(counts: JointCounts, model: str) -> FamilyGraph:
    """Return the graph whose families were counted; raises if none were."""
    if not counts.families and (counts.schema.sizes > 0).any():
        raise UnnaiveError(
            f"{model} needs counts of columns together with their parents, and these counts have "
            "only pairs; fit it on rows, or on counts_ of a fitted one"
        )
    families = tuple(family.columns for family in counts.families)
    return FamilyGraph(counts.schema.names, counts.schema.target, families)


def network_of_parents(
    maker: TableMaker, counts: JointCounts, learned: Learned, how: Estimate
) -> Network:
    """Return a model in which every column has parents as a Bayesian network."""
    from unnaive.tables.export import network_of_graph  # noqa: PLC0415 - loads when asked

    graph = learned.structure
    if not isinstance(graph, ParentGraph | FamilyGraph):
        return TableMaker.network(maker, counts, learned, how)
    return network_of_graph(counts, graph, how.smoothing, how.class_prior)
