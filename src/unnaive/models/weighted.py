"""Weighted Bayes: factors from counts, and a weight for each that serves prediction."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive._ties import TIE_TOLERANCE
from unnaive.counts import JointCounts
from unnaive.counts.sizes import require_memory
from unnaive.exceptions import UnnaiveError
from unnaive.information import conditional_mutual_information
from unnaive.models.base import CountsClassifier
from unnaive.models.left_out import some_rows
from unnaive.structure.graph import Graph
from unnaive.structure.tree import maximum_spanning_tree
from unnaive.tables.smoothing import Hierarchical, Smoothing
from unnaive.tables.trees import log_prior
from unnaive.tables.weighing import Weighing, dealt
from unnaive.tables.weighted import WeightedTables, table_cells, weighted_tables

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows
    from unnaive.schema import Schema

_DEPENDENCES = ("none", "tree", "pairs")
_LEAST_PAIRS, _PAIRS_A_COLUMN, _MOST_PAIRS = 60, 2, 300
_MOST_ENTRIES = 50_000_000  # that weights are fitted to; of more rows, a share of each class
_LEAST_START = 0.01
_LEFT_OUT = "_left_out"  # is there while left-out predictions are wanted of a fit
_LEAST_LOG = -30.0  # of a factor that the rows give no chance, while weights are fitted


@dataclass(frozen=True, eq=False)
class WeightedGraph(Graph):
    """Which factors there are, and what each weighs.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    terms : ndarray of shape (m, 2)
        A column and its parent, −1 for the class alone.
    weights : ndarray of shape (m,)
        Their weights, none below 0.
    bias : ndarray of shape (k,)
        What is added to every class's log prior.
    """

    names: tuple[str, ...]
    target: str
    terms: IntArray
    weights: FloatArray
    bias: FloatArray

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges between columns as (parent, child, weight), those of weight 0 left out."""
        return [
            (self.names[parent], self.names[column], float(weight))
            for (column, parent), weight in zip(self.terms.tolist(), self.weights, strict=True)
            if parent >= 0 and weight > 0
        ]

    @property
    def used(self) -> IntArray:
        """Columns of some weight; shape (m,)."""
        columns = self.terms[self.weights > 0]
        return np.unique(columns[columns >= 0])

    @property
    def pairs(self) -> IntArray:
        """Pairs i < j of columns that tables are made of; shape (m, 2)."""
        return np.unique(np.sort(self.terms[self.terms[:, 1] >= 0], axis=1), axis=0)

    def state(self) -> dict[str, Any]:
        """Arrays for the store."""
        return {"terms": self.terms, "weights": self.weights, "bias": self.bias}


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedBayes(CountsClassifier):
    r"""Factors of naive Bayes, of a tree or of many pairs, each with a weight that predicts best.

    .. math:: P(c \mid x) \propto P(c)\, e^{b_c} \prod_i P(x_i \mid c)^{w_i}
              \prod_{ij} \left(\frac{P(x_i \mid x_j, c)}{P(x_i \mid c)}\right)^{w_{ij}}

    Probabilities come from counts. The weights :math:`w \ge 0` maximise the conditional
    likelihood of the classes, less :math:`\sum w^2/2` times the penalties, by Newton's method.
    Each row is looked up in tables that it was left out of. So columns that say the same share
    their weight, those that say nothing get none, and a table that is too thin to be trusted is
    not trusted. Missing cells, and pairs with one, say nothing.

    Parameters
    ----------
    dependences : {"none", "tree", "pairs"}, default="pairs"
        "none": naive Bayes' factors (WANBIA); "tree": also those of TAN's edges; "pairs": also
        those of the pairs with the largest conditional mutual information.
    n_pairs : int, default=None
        How many pairs; None: twice the columns, at least 60 and at most 300.
    penalty, pair_penalty : float, default=1.0
        How strongly weights are drawn to 0.
    {parameters}

    References
    ----------
    Zaidi, Cerquides, Carman & Webb, "Alleviating naive Bayes attribute independence assumption by
    attribute weighting", JMLR 14, 2013; Zaidi, Webb, Carman, Petitjean & Cerquides, "ALRⁿ:
    accelerated higher-order logistic regression", Machine Learning 104, 2016.

    Examples
    --------
    >>> from unnaive import WeightedBayes
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 9
    >>> y = [0, 1, 1, 0] * 9
    >>> model = WeightedBayes().fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model.structure_.edges
    [('x1', 'x0', ...)]
    """

    dependences: str = "pairs"
    n_pairs: int | None = None
    penalty: float = 1.0
    pair_penalty: float = 1.0

    default_smoothing: ClassVar[Smoothing] = Hierarchical()

    def _learn_structure(self, source: JointCounts | CodedRows) -> WeightedGraph:
        graph: WeightedGraph = self._kept_structure(source)
        return graph

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> WeightedGraph:
        terms = self._terms_of(source)
        if not isinstance(source, JointCounts):
            source = rows.select(np.unique(np.sort(terms[terms[:, 1] >= 0], axis=1), axis=0))
        weighing, order = self._weighing(source, terms, rows)
        point = weighing.fit(self._start(weighing, terms))
        if _LEFT_OUT in self.__dict__ and len(order) == len(rows.classes):
            left_out = np.empty((len(order), len(weighing.prior)))
            left_out[order] = weighing.cross_validated(point)
            self.__dict__[_LEFT_OUT] = left_out
        schema, m = rows.schema, len(terms)
        return WeightedGraph(schema.names, schema.target, terms, point[:m], point[m:])

    def _fit_and_leave_out(self, rows: CodedRows) -> FloatArray | None:
        """Fit to rows; their log joint by weights of other folds (n, k), if all were used."""
        self.__dict__[_LEFT_OUT] = None
        try:
            self._fit_rows(rows)
        finally:
            left_out: FloatArray | None = self.__dict__.pop(_LEFT_OUT)
        return left_out

    def _start(self, weighing: Weighing, terms: IntArray) -> FloatArray:
        """Naive Bayes with all weights equal: halves of 1 as long as the loss falls."""
        alone = (terms[:, 1] < 0).astype(float)
        point = np.concatenate([alone, np.zeros(len(weighing.prior))])
        loss = weighing.loss(point)
        while point.max() > _LEAST_START:
            half = weighing.loss(point / 2)
            if half >= loss:
                break
            point, loss = point / 2, half
        return point

    def _terms_of(self, source: JointCounts | CodedRows) -> IntArray:
        """Choose the factors: every column, then pairs by falling information; shape (m, 2)."""
        sizes = source.schema.sizes
        alone = [(int(column), -1) for column in np.flatnonzero(sizes > 0)]
        if self.dependences == "none" or len(sizes) < 2:
            pairs = np.empty((0, 2), dtype=np.int64)
        else:
            information = conditional_mutual_information(source, self.n_jobs)
            if self.dependences == "tree":
                pairs = maximum_spanning_tree(information)
            else:
                pairs = self._best_pairs(information)
            pairs = pairs[information[pairs[:, 0], pairs[:, 1]] > TIE_TOLERANCE]
        return np.concatenate([np.array(alone, dtype=np.int64).reshape(-1, 2), pairs])

    def _best_pairs(self, information: FloatArray) -> IntArray:
        """Return the pairs of most information, the lexicographically first of equals."""
        d = len(information)
        usual = min(max(_LEAST_PAIRS, _PAIRS_A_COLUMN * d), _MOST_PAIRS)
        wanted = usual if self.n_pairs is None else self.n_pairs
        above = np.stack(np.triu_indices(d, 1), axis=1)
        rounded = np.round(information[above[:, 0], above[:, 1]] / TIE_TOLERANCE)
        return above[np.argsort(-rounded, kind="stable")[:wanted]]

    def _weighing(
        self, counts: JointCounts, terms: IntArray, rows: CodedRows
    ) -> tuple[Weighing, IntArray]:
        """Look rows up in the tables without them; also return which rows, in which order.

        Rows of other weights are left out as if of weight 1.
        """
        cells = int(table_cells(counts.schema.sizes, terms).sum())
        what = f"the tables of {type(self).__name__}"
        require_memory(counts.schema, 16 * counts.n_classes * cells, self.max_memory, what)
        chosen = some_rows(rows.classes, _MOST_ENTRIES, len(terms) * counts.n_classes)
        chosen = chosen[dealt(rows.classes[chosen], len(terms), counts.n_classes)]
        tables = weighted_tables(counts, terms, self._smoothing, held_out=1.0)
        codes, classes = np.ascontiguousarray(rows.codes[:, chosen]), rows.classes[chosen]
        entries = tables.entries(codes, classes, self.n_jobs)
        np.maximum(entries, np.float32(_LEAST_LOG), out=entries)
        weights = np.ones(len(chosen)) if rows.weights is None else rows.weights[chosen]
        prior = np.maximum(log_prior(counts, self._smoothing, self._class_prior), _LEAST_LOG)
        penalty = np.where(terms[:, 1] < 0, self.penalty, self.pair_penalty)
        return Weighing(entries, prior, classes, weights, penalty, self.n_jobs), chosen

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.dependences not in _DEPENDENCES:
            raise ValueError(
                f"dependences={self.dependences!r}; it must be one of {', '.join(_DEPENDENCES)}"
            )
        for name in ("penalty", "pair_penalty"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
                raise ValueError(f"{name}={value!r}; it must be a number of at least 0")
        n = self.n_pairs
        if n is not None and (not isinstance(n, Integral) or isinstance(n, bool) or int(n) < 0):
            raise ValueError(f"n_pairs={n!r}; it must be a whole number of at least 0, or None")

    def _pairs_of(self, structure: WeightedGraph) -> IntArray:
        return structure.pairs

    def _restore_structure(self, state: Any, schema: Schema) -> WeightedGraph:
        graph = WeightedGraph(schema.names, schema.target, **state)
        m, k = len(graph.terms), len(schema.classes)
        fits = graph.terms.shape == (m, 2) and graph.weights.shape == (m,)
        within = fits and (graph.terms >= [0, -1]).all()
        if not within or graph.terms.max(initial=-1) >= len(schema.names):
            raise UnnaiveError("the terms do not fit the columns")
        if graph.bias.shape != (k,) or not np.isfinite(graph.weights).all():
            raise UnnaiveError("the weights do not fit the terms and classes")
        return graph

    def _make_tables(self, held_out: float | None = None) -> WeightedTables:
        graph: WeightedGraph = self.structure_
        return weighted_tables(
            self.counts_,
            graph.terms,
            self._smoothing,
            weights=graph.weights,
            bias=graph.bias,
            class_prior=self._class_prior,
            held_out=held_out,
        )
