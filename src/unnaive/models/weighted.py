"""Weighted Bayes: factors from counts, with weights that are learned for prediction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._core.tables import posterior
from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE
from unnaive.counts import JointCounts
from unnaive.exceptions import UnnaiveError
from unnaive.information import conditional_mutual_information
from unnaive.models.base import CountsClassifier
from unnaive.models.recipe import Estimate, Learned, Recipe, Source, TableMaker, Task
from unnaive.parameters import number, one_of, whole
from unnaive.structure.parents import WeightedGraph
from unnaive.structure.tree import maximum_spanning_tree
from unnaive.tables.corrections import Correcting, Corrections, corrected
from unnaive.tables.left_out import some_rows
from unnaive.tables.screening import families_to_try, lacking_families
from unnaive.tables.shortening import shortened
from unnaive.tables.smoothing import Hierarchical, Smoothing
from unnaive.tables.term_factors import table_cells
from unnaive.tables.weighing import FOLDS, Weighing, dealt
from unnaive.tables.weighted import WeightedTables, joined, weighted_tables

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, FloatArray, IntArray, State
    from unnaive.counts import CodedRows
    from unnaive.tables.corrections import Found

_LEAST_PAIRS, _PAIRS_A_COLUMN, _MOST_PAIRS = 60, 2, 300
_MOST_ENTRIES = 50_000_000  # to which weights are fitted; with more, a share of each class
_MOST_FAMILIES = 60  # of each number of columns above 2
_LEAST_START = 0.01
_LEAST_LOG = -30.0  # instead of log 0, while weights are fitted


@dataclass(frozen=True, eq=False)
class WeightedFactors(TableMaker):
    """Makes tables of weighted log factors, and a bias of every class.

    Attributes
    ----------
    pseudo_count : float, default=0.0
        Rows that are added to every cell, see :mod:`unnaive.tables.weighted`.
    """

    pseudo_count: float = 0.0

    by_cells: bool = False  # only without pairs, whose cells are all needed

    def combines(self, learned: Learned) -> str:
        """Return how predictions combine the entries of tables: average."""
        return "average"

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> WeightedTables:
        """Estimate the tables of all factors."""
        graph, bias = learned.graph(WeightedGraph), learned.array("bias")
        if bias.shape != (counts.n_classes,):
            raise UnnaiveError("the bias does not fit the classes")
        learned_parts: State = {"weights": graph.weights, "bias": bias, "held_out": held_out}
        learned_parts["pseudo_count"] = self.pseudo_count
        prior = how.class_prior
        tables = weighted_tables(
            counts, graph.terms, how.smoothing, class_prior=prior, **learned_parts
        )
        if "corrections" not in learned.parameters:
            return tables
        corrections = Corrections(learned.array("corrected"), learned.array("corrections"))
        return corrected(tables, corrections, counts.schema.sizes)


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedBayes(CountsClassifier):
    r"""Weighted Bayes: factors of features and of pairs, with weights learned for prediction.

    .. math:: P(c \mid x) \propto P(c)\, e^{b_c} \prod_i P(x_i \mid c)^{w_i}
              \prod_{ij} \left(\frac{P(x_i \mid x_j, c)}{P(x_i \mid c)}\right)^{w_{ij}}

    The probabilities are estimated from counts. The weights :math:`w \ge 0` maximize the
    conditional likelihood of the classes minus :math:`\sum w^2/2` times the penalties, by Newton's
    method, and each sample is looked up in tables that leave it out. Redundant features share
    their weight, irrelevant ones get none, and sparse tables get little. Missing values, and pairs
    with one, have no factor. Use it where well calibrated probabilities matter and some thousand
    samples are there to learn the weights from.

    Parameters
    ----------
    dependences : {"none", "tree", "pairs"}, default="pairs"
        "none": the factors of naive Bayes (WANBIA); "tree": also those of the edges of TAN;
        "pairs": also those of the pairs with the largest conditional mutual information.
    n_pairs : int, default=None
        Number of pairs; None: twice the number of features, at least 60 and at most 300.
    penalty : float, default=1.0
        Quadratic penalty of the weights of single features.
    pair_penalty : float, default=1.0
        Quadratic penalty of the weights of pairs.
    max_order : int, default=2
        Most features of a factor, up to 4. Above 2, families of three or four features whose
        joint values the model does not predict well enough are added, at most 60 of each size.
    pseudo_count : float, default=0.0
        Number of samples that is added to those that a cell of a table has and to those that it
        would have without the dependence. It reins in values with few samples: a value for which E
        samples of a class are expected, and that none has, changes the log-odds by at most log(E /
        ``pseudo_count`` + 1) times the weight. 0: no limit. ``AutoBayes`` uses 0.25.
    corrections : int, default=0
        Most rounds in which tables of a few features are added that correct the predictions: each
        splits the samples by up to six thresholds or values. Their number is chosen by the log
        loss of samples that are held out, and is 0 where they do not help. They suit classes that
        are decided by several thresholds at once; use some 30 bins of equal frequency, and 100.
        In these tables missing counts as a value. Leave-one-out, ``calibrate`` and intervals take
        them as given.
    max_terms : int, default=None
        Most factors, for a model that people can read: those whose absence costs least are dropped,
        and the weights of the others are fitted anew. ``path_`` shows the price. None: no limit.
    {parameters}

    Attributes
    ----------
    path_ : dict of arrays
        Only with ``max_terms``: number of "terms", from all to the limit, and their "log_loss" on
        samples that are held out of the weights.
    {attributes}

    See Also
    --------
    NaiveBayes : All weights 1, no pairs.
    AODE : With ``weights="discriminative"``, weights of super-parents.

    Notes
    -----
    Assumption: each feature, and each pair of features in the model, contributes with its own
    weight. The weights were chosen so that all contributions together predict best.

    The order of the samples does not matter, and a sample of weight 2 counts like the same sample
    twice; both up to the precision of the minimization, about 1e-9. This does not hold if samples
    times factors times classes exceed 50 million: weights are then fitted to a share of the
    samples of each class, which depends on their positions.

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
    max_order: int = whole(2, 2, most=4)
    pseudo_count: float = number(0.0)
    corrections: int = whole(0)
    max_terms: int | None = whole(None, 1, also=(None,))

    default_smoothing: ClassVar[Smoothing] = Hierarchical()
    family: ClassVar[str] = "weighted"

    def _check(self) -> None:
        super()._check()
        if self.max_terms is not None and self.corrections:
            raise ValueError(
                f"max_terms={self.max_terms} with corrections={self.corrections}; corrections are "
                "further tables to read: use corrections=0, or no max_terms"
            )

    def recipe(self) -> Recipe:
        """Choose the factors by mutual information, and learn their weights from samples."""
        maker = WeightedFactors(
            by_cells=self.dependences == "none", pseudo_count=float(self.pseudo_count)
        )
        parts = (self._factors, maker, self._weigh)
        return Recipe(*parts, structure=WeightedGraph, keeps=True)

    def _factors(self, source: Source, rows: CodedRows | None) -> Learned | None:
        """Choose the factors: every column, then pairs by decreasing information."""
        if rows is None:
            return None
        schema = source.schema
        alone = [(int(column), -1) for column in np.flatnonzero(schema.sizes > 0)]
        if self.dependences == "none" or len(schema.sizes) < 2:
            pairs = np.empty((0, 2), dtype=np.int64)
        else:
            information = conditional_mutual_information(source, self.n_jobs)
            tree = self.dependences == "tree"
            pairs = maximum_spanning_tree(information) if tree else self._best_pairs(information)
            pairs = pairs[information[pairs[:, 0], pairs[:, 1]] > TIE_TOLERANCE]
        terms = np.concatenate([np.array(alone, dtype=np.int64).reshape(-1, 2), pairs])
        return Learned(WeightedGraph(schema.names, schema.target, terms, np.ones(len(terms))))

    def _weigh(self, learned: Learned, task: Task) -> Learned:
        """Fit the weights to leave-one-out predictions of the rows."""
        source, rows = task.source, task.rows
        graph = learned.graph(WeightedGraph)
        counts = source if isinstance(source, JointCounts) else rows.select(graph.pairs)
        weighing, order = self.weighing(counts, graph.terms, rows, task.maker.how)
        point = weighing.fit(start_of(weighing, graph.terms))
        if self.max_order > 2 and len(order):
            graph, weighing, order, point = self._widened(graph, task, weighing, order, point)
        kept, trace = np.ones(len(graph.terms), dtype=bool), {}
        if self.max_terms is not None:
            weighing, point, kept, path = shortened(weighing, point, self.max_terms)
            trace = {"path_": path}
            stays = kept | (graph.terms[:, 1] < 0)  # single features, if only with weight 0
            graph, kept = replace(graph, terms=graph.terms[stays]), kept[stays]
        found = self._corrections(task, weighing, order, point)
        m, added = len(weighing.penalty), {} if found is None else _parameters_of(found)

        def left_out() -> FloatArray | None:
            """Log joint of the rows by weights of other folds, if all rows were used."""
            if len(order) < len(rows.classes):
                return None
            joint = np.empty((len(order), len(weighing.prior)))
            joint[order] = weighing.cross_validated(point) if found is None else found.left_out
            return joint

        bias = point[m:] if found is None else point[m:] + found.bias
        weights = np.zeros(len(graph.terms))
        weights[kept] = point[:m]
        return Learned(replace(graph, weights=weights), {"bias": bias, **added}, trace, left_out)

    def _corrections(
        self, task: Task, weighing: Weighing, order: IntArray, point: FloatArray
    ) -> Found | None:
        """Learn tables that correct predictions by weights of other folds; None if not asked."""
        if not self.corrections or len(order) < FOLDS or len(weighing.prior) < 2:
            return None
        schema = task.rows.schema
        correcting = Correcting(
            np.ascontiguousarray(task.rows.codes[:, order]),
            schema.sizes,
            np.array([hasattr(column, "edges") for column in schema.columns], dtype=np.int64),
            weighing.classes,
            weighing.importance,
            self.n_jobs,
        )
        start = weighing.cross_validated(point)
        found = correcting.learn(start, weighing.folds, self.corrections)
        if found.corrections is not None:
            task.maker.how.require(schema, 2 * found.corrections.tables.nbytes)
        return found

    def _widened(
        self,
        graph: WeightedGraph,
        task: Task,
        weighing: Weighing,
        order: IntArray,
        point: FloatArray,
    ) -> tuple[WeightedGraph, Weighing, IntArray, FloatArray]:
        """Add families of three and more columns that the predictions lack, size by size."""
        rows, sizes, k = task.rows, task.rows.schema.sizes, len(weighing.prior)
        for width in range(3, self.max_order + 1):
            chances = np.empty((len(order), k))
            posterior(np.ascontiguousarray(weighing.joint(point)), chances)
            smaller = [family for family in graph.families if len(family) == width - 1]
            last = np.array(smaller, dtype=np.int64).reshape(-1, width - 1)
            relevance = _relevance(graph.terms, point, sizes)
            tried = families_to_try(width, last, sizes, relevance, n_rows=len(order), n_classes=k)
            lacking = lacking_families(
                rows.take(order), chances, tried, most=_MOST_FAMILIES, n_jobs=self.n_jobs
            )
            if not len(lacking):
                continue
            m, terms = len(graph.terms), joined(graph.terms, lacking)
            start = np.concatenate([point[:m], np.zeros(len(lacking)), point[m:]])
            if len(order) == len(rows.classes) and self._has_order_of(weighing, terms):
                further = self._counted(lacking, task)
                weighing = weighing.with_terms(
                    self._entries(further, lacking, rows, task.maker.how, order),
                    self._penalties(lacking),
                )
            else:
                weighing, order = self._weighing_of(terms, task)
            point = weighing.fit(start)
            kept = (point[: len(terms)] > 0) | ((terms >= 0).sum(axis=1) < 3)
            point = point[np.concatenate([kept, np.ones(k, dtype=bool)])]
            graph = replace(graph, terms=terms[kept])
            if len(order) == len(rows.classes) and weighing.has_order_of(len(graph.terms)):
                weighing = weighing.some(kept)
            else:
                weighing, order = self._weighing_of(graph.terms, task)
        return graph, weighing, order, point

    def _weighing_of(self, terms: IntArray, task: Task) -> tuple[Weighing, IntArray]:
        """Look the rows up in leave-one-out tables of terms that are counted now."""
        return self.weighing(self._counted(terms, task), terms, task.rows, task.maker.how)

    @staticmethod
    def _counted(terms: IntArray, task: Task) -> JointCounts:
        """Count what the tables of terms need."""
        graph = WeightedGraph(task.source.schema.names, "", terms, np.ones(len(terms)))
        source = task.source
        counts = source if isinstance(source, JointCounts) else task.rows.select(graph.pairs)
        return replace(counts, families=task.rows.count_families(graph.families))

    @staticmethod
    def _has_order_of(weighing: Weighing, terms: IntArray) -> bool:
        """Whether rows would be chosen and ordered alike for these terms."""
        n_rows, k = len(weighing.classes), len(weighing.prior)
        return n_rows * len(terms) * k <= _MOST_ENTRIES and weighing.has_order_of(len(terms))

    def _best_pairs(self, information: FloatArray) -> IntArray:
        """Return the pairs of largest information, the lexicographically first on ties."""
        d = len(information)
        usual = min(max(_LEAST_PAIRS, _PAIRS_A_COLUMN * d), _MOST_PAIRS)
        wanted = usual if self.n_pairs is None else self.n_pairs
        above = np.stack(np.triu_indices(d, 1), axis=1)
        rounded = np.round(information[above[:, 0], above[:, 1]] / TIE_TOLERANCE)
        return above[np.argsort(-rounded, kind="stable")[:wanted]]

    def weighing(
        self, counts: JointCounts, terms: IntArray, rows: CodedRows, how: Estimate
    ) -> tuple[Weighing, IntArray]:
        """Look samples up in tables that leave them out, in order to fit weights.

        Samples of other weights are left out as if of weight 1.

        Parameters
        ----------
        counts : JointCounts
            Counts of all samples.
        terms : ndarray of shape (m, w)
            Factors: a feature and its parents, −1 where there are fewer than w − 1.
        rows : CodedRows
            Coded samples.
        how : Estimate
            Smoothing and prior.

        Returns
        -------
        weighing : Weighing
            Log factors of the samples, with ``fit`` and ``loss``.
        chosen : ndarray of shape (n,)
            Positions of the samples, in the order of the log factors.
        """
        chosen = some_rows(rows.classes, _MOST_ENTRIES, len(terms) * counts.n_classes)
        chosen = chosen[dealt(rows.classes[chosen], len(terms), counts.n_classes)]
        entries = self._entries(counts, terms, rows, how, chosen)
        classes = rows.classes[chosen]
        weights = np.ones(len(chosen)) if rows.weights is None else rows.weights[chosen]
        prior = np.maximum(how.log_prior(counts), _LEAST_LOG)
        known = (prior, classes, weights, self._penalties(terms), self.n_jobs)
        return Weighing(entries, *known), chosen

    def _entries(
        self,
        counts: JointCounts,
        terms: IntArray,
        rows: CodedRows,
        how: Estimate,
        chosen: IntArray,
    ) -> AnyArray:
        """Leave-one-out log factors of terms, classes and chosen rows; shape (m, k, n)."""
        cells = int(table_cells(counts.schema.sizes, terms).sum())
        how.require(counts.schema, 16 * counts.n_classes * cells)
        counts = counts.filled() if (terms[:, 1] >= 0).any() else counts
        pseudo = float(self.pseudo_count)
        tables = weighted_tables(counts, terms, how.smoothing, held_out=1.0, pseudo_count=pseudo)
        codes = np.ascontiguousarray(rows.codes[:, chosen])
        entries = tables.entries(codes, rows.classes[chosen], self.n_jobs)
        return np.maximum(entries, np.float32(_LEAST_LOG), out=entries)

    def _penalties(self, terms: IntArray) -> FloatArray:
        """Penalty of the weight of every term; shape (m,)."""
        return np.where(terms[:, 1] < 0, self.penalty, self.pair_penalty)


def _relevance(terms: IntArray, point: FloatArray, sizes: IntArray) -> FloatArray:
    """Sum of the weights of each column's factors; shape (d,)."""
    total = np.zeros(len(sizes))
    for columns in terms.T:
        known = columns >= 0
        np.add.at(total, columns[known], point[: len(terms)][known])
    return total


def _parameters_of(found: Found) -> dict[str, object]:
    """Return the arrays of corrections, as they are saved."""
    if found.corrections is None:
        return {}
    return {"corrected": found.corrections.columns, "corrections": found.corrections.tables}


def start_of(weighing: Weighing, terms: IntArray) -> FloatArray:
    """Start with equal weights of single columns: 1, halved as long as the loss decreases."""
    alone = (terms[:, 1] < 0).astype(float)
    point = np.concatenate([alone, np.zeros(len(weighing.prior))])
    loss = weighing.loss(point)
    while point.max() > _LEAST_START:
        half = weighing.loss(point / 2)
        if half >= loss:
            break
        point, loss = point / 2, half
    return point
