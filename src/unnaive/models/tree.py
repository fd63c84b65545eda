"""Models whose graph is a tree over the columns below the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.information import conditional_mutual_information, mutual_information
from unnaive.models.base import CountsClassifier
from unnaive.structure import ParentGraph, maximum_spanning_tree, orient, penalised
from unnaive.tables.trees import TreeTables, tree_tables

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema


@dataclass(eq=False, repr=False, kw_only=True)
class TreeClassifier(CountsClassifier):
    """Base of the models with one table a column: a graph, and a product of its factors."""

    @property
    def _marginalize(self) -> bool:
        """Whether missing inner nodes are summed out."""
        return True

    def _make_tables(self, held_out: float | None = None) -> TreeTables:
        return tree_tables(
            self.counts_,
            self.structure_,
            self._smoothing,
            class_prior=self._class_prior,
            marginalize=self._marginalize,
            held_out=held_out,
        )

    def _pairs_of(self, structure: ParentGraph) -> IntArray:
        children = np.flatnonzero(structure.parents >= 0)
        return np.sort(np.stack([structure.parents[children], children], axis=1), axis=1)

    def _restore_structure(self, state: Any, schema: Schema) -> ParentGraph:
        return ParentGraph(schema.names, schema.target, state["parents"], state["weights"])


@dataclass(eq=False, repr=False, kw_only=True)
class TAN(TreeClassifier):
    r"""Tree-augmented naive Bayes.

    .. math:: P(c, x) = P(c)\, P(x_r \mid c) \prod_{i \ne r} P(x_i \mid x_{\pi(i)}, c)

    The tree is the maximum spanning tree of :math:`I(X_i;X_j|Y)`, which of all trees makes
    the data most likely. Friedman's own smoothing is ``"backoff"``.

    Parameters
    ----------
    root : str or int, default=None
        The column without a parent; None: the one that tells most about the class.
    parents : list of str, int or None, default=None
        A parent for every column (None or −1: none), instead of the learned tree.
    forest : bool or {"bic", "aic"}, default=False
        Keep only edges that are worth their parameters: the forest of best BIC (True) or AIC.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing cell that has children is summed out exactly; "drop" uses P(x_i | c) for them.
    {parameters}

    References
    ----------
    Friedman, Geiger & Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import TAN
    >>> rng = np.random.default_rng(0)
    >>> coin = rng.integers(2, size=(200, 2))
    >>> X = np.column_stack([coin, coin[:, 0] ^ coin[:, 1]])
    >>> y = coin[:, 0]
    >>> model = TAN().fit(X, y)
    >>> model.structure_.parents
    array([-1,  0,  1])
    """

    root: Any = None
    parents: Any = None
    forest: Any = False
    missing: str = "marginalize"

    @property
    def _marginalize(self) -> bool:
        if self.missing not in {"marginalize", "drop"}:
            raise ValueError(f"missing={self.missing!r}; it must be 'marginalize' or 'drop'")
        return self.missing == "marginalize"

    def _learn_structure(self, source: JointCounts | CodedRows) -> ParentGraph:
        schema = source.schema
        if self.parents is not None:
            parents = self._given_parents(schema)
            graph = ParentGraph(schema.names, schema.target, parents, np.zeros(len(parents)))
            graph.order  # noqa: B018 - raises for a cycle
            return graph
        information = conditional_mutual_information(source, self.n_jobs)
        edges = maximum_spanning_tree(*self._edge_weights(information, source))
        if self.forest:
            gains = penalised(information, source, self._penalty)
            edges = edges[gains[edges[:, 0], edges[:, 1]] > 0]
        parents = orient(edges, len(schema.columns), self._preference(source))
        weights = np.where(parents >= 0, information[np.arange(len(parents)), parents], 0.0)
        return ParentGraph(schema.names, schema.target, parents, weights)

    @property
    def _penalty(self) -> str:
        penalty = "bic" if self.forest is True else self.forest
        if penalty not in {"bic", "aic"}:
            raise ValueError(f"forest={self.forest!r}; it must be a boolean, 'bic' or 'aic'")
        return str(penalty)

    def _edge_weights(
        self, information: FloatArray, source: JointCounts | CodedRows
    ) -> tuple[FloatArray, Any]:
        active = source.schema.sizes > 0
        if self.forest:
            return penalised(information, source, self._penalty), active
        return information, active

    def _preference(self, source: JointCounts | CodedRows) -> FloatArray:
        preference = mutual_information(source)
        if self.root is not None:
            preference[self._position(self.root, source.schema, "root")] = np.inf
        return preference

    def _given_parents(self, schema: Schema) -> IntArray:
        if len(self.parents) != len(schema.columns):
            raise UnnaiveError(
                f"parents has {len(self.parents)} entries; it needs one for each of the "
                f"{len(schema.columns)} columns (None: no parent)"
            )
        return np.array(
            [
                -1 if parent is None or parent == -1 else self._position(parent, schema, "parents")
                for parent in self.parents
            ],
            dtype=np.int64,
        )

    @staticmethod
    def _position(column: Any, schema: Schema, parameter: str) -> int:
        if isinstance(column, str) and column in schema.names:
            return schema.names.index(column)
        if isinstance(column, int | np.integer) and 0 <= column < len(schema.columns):
            return int(column)
        raise UnnaiveError(
            f"{parameter}: {column!r} is no column; give a name or a position from 0 to "
            f"{len(schema.columns) - 1}"
        )
