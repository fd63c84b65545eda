"""Weighted Bayes: factors from counts, and a weight for each that serves prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._ties import TIE_TOLERANCE
from unnaive.counts import JointCounts
from unnaive.exceptions import UnnaiveError
from unnaive.information import conditional_mutual_information
from unnaive.models.base import CountsClassifier
from unnaive.models.recipe import Learned, Recipe, TableMaker
from unnaive.parameters import number, one_of, whole
from unnaive.structure.parents import WeightedGraph
from unnaive.structure.tree import maximum_spanning_tree
from unnaive.tables.left_out import some_rows
from unnaive.tables.smoothing import Hierarchical, Smoothing
from unnaive.tables.weighing import Weighing, dealt
from unnaive.tables.weighted import WeightedTables, table_cells, weighted_tables

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows
    from unnaive.models.recipe import Estimate, Source, Task

_LEAST_PAIRS, _PAIRS_A_COLUMN, _MOST_PAIRS = 60, 2, 300
_MOST_ENTRIES = 50_000_000  # that weights are fitted to; of more rows, a share of each class
_LEAST_START = 0.01
_LEAST_LOG = -30.0  # of a factor that the rows give no chance, while weights are fitted


@dataclass(frozen=True, eq=False)
class WeightedFactors(TableMaker):
    """Tables of factors, each times its weight, and a bias of every class."""

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> WeightedTables:
        """Estimate the tables of all factors."""
        graph, bias = learned.graph(WeightedGraph), learned.array("bias")
        if bias.shape != (counts.n_classes,):
            raise UnnaiveError("the bias does not fit the classes")
        return weighted_tables(
            counts,
            graph.terms,
            how.smoothing,
            weights=graph.weights,
            bias=bias,
            class_prior=how.class_prior,
            held_out=held_out,
        )


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

    dependences: str = one_of("pairs", "none", "tree")
    n_pairs: int | None = whole(None, also=(None,))
    penalty: float = number(1.0)
    pair_penalty: float = number(1.0)

    default_smoothing: ClassVar[Smoothing] = Hierarchical()
    family: ClassVar[str] = "weighted"
    assumption: ClassVar[str] = (
        "Each column, and each pair of columns that the model looks at, speaks with a weight of "
        "its own. The weights were chosen so that all of them together predict best."
    )

    def recipe(self) -> Recipe:
        """Choose the factors by information, and find their weights from rows."""
        return Recipe(
            learn=self._factors,
            choose=self._weigh,
            tables=WeightedFactors(),
            structure=WeightedGraph,
            keeps=True,
        )

    def _factors(self, source: Source, rows: CodedRows | None) -> Learned:
        """Choose the factors: every column, then pairs by falling information."""
        schema = source.schema
        alone = [(int(column), -1) for column in np.flatnonzero(schema.sizes > 0)]
        if self.dependences == "none" or len(schema.sizes) < 2:
            pairs = np.empty((0, 2), dtype=np.int64)
        else:
            information = conditional_mutual_information(source, self.n_jobs)
            if self.dependences == "tree":
                pairs = maximum_spanning_tree(information)
            else:
                pairs = self._best_pairs(information)
            pairs = pairs[information[pairs[:, 0], pairs[:, 1]] > TIE_TOLERANCE]
        terms = np.concatenate([np.array(alone, dtype=np.int64).reshape(-1, 2), pairs])
        return Learned(WeightedGraph(schema.names, schema.target, terms, np.ones(len(terms))))

    def _weigh(self, learned: Learned, task: Task) -> Learned:
        """Find the weights that predict the rows best, each left out."""
        source, rows = task.source, task.rows
        graph = learned.graph(WeightedGraph)
        counts = source if isinstance(source, JointCounts) else rows.select(graph.pairs)
        weighing, order = self.weighing(counts, graph.terms, rows, task.maker.how)
        point = weighing.fit(start_of(weighing, graph.terms))

        def left_out() -> FloatArray | None:
            """Log joint of the rows by weights of other folds, if all rows were used."""
            if len(order) < len(rows.classes):
                return None
            joint = np.empty((len(order), len(weighing.prior)))
            joint[order] = weighing.cross_validated(point)
            return joint

        m = len(graph.terms)
        weighted = WeightedGraph(graph.names, graph.target, graph.terms, point[:m])
        return Learned(weighted, {"bias": point[m:]}, left_out=left_out)

    def _best_pairs(self, information: FloatArray) -> IntArray:
        """Return the pairs of most information, the lexicographically first of equals."""
        d = len(information)
        usual = min(max(_LEAST_PAIRS, _PAIRS_A_COLUMN * d), _MOST_PAIRS)
        wanted = usual if self.n_pairs is None else self.n_pairs
        above = np.stack(np.triu_indices(d, 1), axis=1)
        rounded = np.round(information[above[:, 0], above[:, 1]] / TIE_TOLERANCE)
        return above[np.argsort(-rounded, kind="stable")[:wanted]]

    def weighing(
        self, counts: JointCounts, terms: IntArray, rows: CodedRows, how: Estimate
    ) -> tuple[Weighing, IntArray]:
        """Look rows up in the tables without them; also return which rows, in which order.

        Rows of other weights are left out as if of weight 1.
        """
        cells = int(table_cells(counts.schema.sizes, terms).sum())
        how.require(counts.schema, 16 * counts.n_classes * cells)
        chosen = some_rows(rows.classes, _MOST_ENTRIES, len(terms) * counts.n_classes)
        chosen = chosen[dealt(rows.classes[chosen], len(terms), counts.n_classes)]
        tables = weighted_tables(counts, terms, how.smoothing, held_out=1.0)
        codes, classes = np.ascontiguousarray(rows.codes[:, chosen]), rows.classes[chosen]
        entries = tables.entries(codes, classes, self.n_jobs)
        np.maximum(entries, np.float32(_LEAST_LOG), out=entries)
        weights = np.ones(len(chosen)) if rows.weights is None else rows.weights[chosen]
        prior = np.maximum(how.log_prior(counts), _LEAST_LOG)
        penalty = np.where(terms[:, 1] < 0, self.penalty, self.pair_penalty)
        return Weighing(entries, prior, classes, weights, penalty, self.n_jobs), chosen


def start_of(weighing: Weighing, terms: IntArray) -> FloatArray:
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
