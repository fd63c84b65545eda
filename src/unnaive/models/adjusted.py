"""Adjusted probability naive Bayes: a weight for every class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive import _parallel, _progress
from unnaive._core.adjust import right_spans, weigh_right
from unnaive._scikit import check_is_fitted
from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.exceptions import UnnaiveError
from unnaive.models.nb import NaiveBayes
from unnaive.models.tree import TreeClassifier
from unnaive.structure.graph import ParentGraph, independent
from unnaive.tables.trees import log_prior

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.io.frames import Frame
    from unnaive.schema import Schema
    from unnaive.search import Result
    from unnaive.tables.network import Network
    from unnaive.tables.trees import TreeTables

LEAST_WEIGHT = 1e-6  # Paper: 0, which forbids a class for ever
_INDIVIDUALS_A_TASK = 8


@dataclass(frozen=True, eq=False)
class AdjustedGraph(ParentGraph):
    """Naive Bayes' graph, and the classes' weights.

    Attributes
    ----------
    class_log_weights : ndarray of shape (k,)
        Log w of every class, that of the last is 0.
    accuracies : ndarray of shape (2,)
        What was maximised, with these weights and with none.
    """

    class_log_weights: FloatArray
    accuracies: FloatArray

    def state(self) -> dict[str, Any]:
        """Arrays for the store."""
        return {"class_log_weights": self.class_log_weights, "accuracies": self.accuracies}


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows as naive Bayes sees them: what class weights are judged by.

    Attributes
    ----------
    joint : ndarray of shape (n, k)
        Log P(c, x), with a chance for one class at least.
    classes, weights : ndarray of shape (n,)
        The rows' own classes, and how much each row weighs.
    n_jobs : int or None
    """

    joint: FloatArray
    classes: IntArray
    weights: FloatArray
    n_jobs: int | None = None

    def accuracies(self, log_weights: FloatArray) -> FloatArray:
        """Weighted share of rows that m lists of class weights (m, k) get right; shape (m,)."""
        right = np.empty(len(log_weights))
        by_class = self._by_class

        def judge(part: tuple[int, int]) -> None:
            weigh_right(*by_class, log_weights[slice(*part)], right[slice(*part)])

        blocks = _parallel.row_blocks(len(right), _INDIVIDUALS_A_TASK)
        _parallel.run(judge, blocks, self.n_jobs)
        return np.asarray(right / self.weights.sum())

    @cached_property
    def _by_class(self) -> tuple[FloatArray, IntArray, FloatArray]:
        """Log joint (k, n) of the rows class by class, where classes begin, and the weights."""
        order = np.argsort(self.classes, kind="stable")
        bounds = np.searchsorted(self.classes[order], np.arange(self.joint.shape[1] + 1))
        return np.ascontiguousarray(self.joint[order].T), bounds, self.weights[order]

    def best_step(self, log_weights: FloatArray, label: int) -> tuple[float, float]:
        """Find the best log w of one class, the others as they are, and its accuracy.

        One sweep over the rows in the order of the log w at which the class draws level with
        the best of the others: O(n log n). Of equals the nearest to what it was.
        """
        spans = np.empty((3, len(self.classes)))
        right_spans(self.joint, self.classes, log_weights, label, spans)
        level = np.sort(spans[0][np.isfinite(spans[0])])
        apart = np.flatnonzero(np.diff(level) > TIE_TOLERANCE)
        between = (level[apart] + level[apart + 1]) / 2
        ends = (level[0] - 1.0, level[-1] + 1.0) if len(level) else ()
        tried = np.sort(np.concatenate([between, ends, log_weights[[label]]]))
        ever = spans[1] < spans[2]
        right = self._reached(spans[1][ever], ever, tried) - self._reached(
            spans[2][ever], ever, tried
        )
        tied = tried[right >= right.max() - TIE_TOLERANCE]
        return float(right.max()), float(tied[first_best(-np.abs(tied - log_weights[label]))])

    def _reached(self, marks: FloatArray, rows: Any, tried: FloatArray) -> FloatArray:
        """Weighted share of rows whose mark is no more than each of the values tried."""
        order = np.argsort(marks, kind="stable")
        shares = self.weights[rows][order] / self.weights.sum()
        passed = np.searchsorted(marks[order], tried, side="right")
        return np.asarray(np.concatenate([[0.0], np.cumsum(shares)])[passed])

    def climb(self, start: FloatArray) -> FloatArray:
        """Take the best step of one class as long as it is strictly better; shape (k,).

        Of two classes one is enough, and its first step the global optimum.
        """
        log_weights, current = start.copy(), self.accuracies(start[None])[0]
        labels = range(1 if len(start) == 2 else len(start))
        while True:
            found = _parallel.run(
                lambda label: self.best_step(log_weights, label), labels, self.n_jobs
            )
            label = first_best(np.array([accuracy for accuracy, _ in found]))
            accuracy, value = found[label]
            if accuracy <= current + TIE_TOLERANCE:
                return np.asarray(log_weights - log_weights[-1])
            log_weights[label], current = value, accuracy


@dataclass(eq=False, repr=False, kw_only=True)
class AdjustedNB(TreeClassifier):
    r"""Adjusted probability naive Bayes: each class's probability times a weight of its own.

    .. math:: P(c \mid x) \propto w_c\, P(c) \prod_i P(x_i \mid c)

    The weights are those that classify most rows right; that of the last class is 1. Naive
    Bayes errs in how sure it is, not so often in what is more likely, and a weight moves the
    border back to where errors balance. It is naive Bayes with another prior, so its
    probabilities are made for decisions.

    The search by hill climbing begins with weights of 1 and changes the one that helps most, by
    an exact sweep over all values that make a difference; for two classes it finds the global
    optimum. ``search="eda"`` looks at all weights together. Where weights are equally good,
    those nearest to 1 are taken, so that naive Bayes stays as it is where nothing helps.

    ``fit_counts``, ``partial_fit`` and ``forget`` keep the weights that the first ``fit``, or
    batch, found in its rows.

    Parameters
    ----------
    search : {"hill", "eda"}, default="hill"
        Hill climbing, or an estimation-of-distribution algorithm.
    criterion : {"training", "loo"}, default=None
        Whose accuracy is maximised: that on the rows that were learned from, or exact
        leave-one-out. None: "training" with "hill" and "loo" with "eda", as in the papers.
    algorithm : EstimationOfDistribution, default=None
        What ``search="eda"`` runs, one of those for numbers in :mod:`unnaive.search`. None:
        ``UMDAc(bound=1.0)``. ``UMDAc.paper()`` with ``polish=False`` is the paper's setting.
    max_weight : float, default=5.0
        Largest weight that ``algorithm`` tries; the least is 1e-6.
    polish : bool, default=True
        Whether hill climbing begins where ``algorithm`` ended. It leaves the bounds where that
        is strictly better.
    random_state : int, Generator, RandomState or None, default=None
        Chance of ``search="eda"``.
    {parameters}

    Attributes
    ----------
    class_weights_ : ndarray of shape (k,)
        w, infinite where it is too large for a float.
    class_log_weights_ : ndarray of shape (k,)
        Log w.
    adjusted_accuracy_, naive_accuracy_ : float
        The criterion with the weights, and that of naive Bayes, which is never larger.
    search_result_ : Result
        After ``fit`` with ``search="eda"`` and two classes at least: how that went.

    References
    ----------
    Webb & Pazzani, "Adjusted probability naive Bayesian induction", Australian Joint Conference
    on Artificial Intelligence, 1998; by estimation of distributions: Robles, Larrañaga, Peña,
    Pérez, Menasalvas & Herves, "Learning semi naïve Bayes structures by estimation of
    distribution algorithms", LNCS 2902, 2003.

    Examples
    --------
    >>> from unnaive import AdjustedNB
    >>> X = [["a", "a", "a"]] * 5 + [["b", "b", "b"]] * 3 + [["a", "b", "b"]] * 3
    >>> y = [0] * 5 + [1] * 3 + [0] * 2 + [1]
    >>> model = AdjustedNB().fit(X, y)
    >>> round(model.naive_accuracy_, 4), round(model.adjusted_accuracy_, 4)
    (0.8182, 0.9091)
    >>> model.class_weights_.round(4)
    array([5.8594, 1.    ])
    """

    search: str = "hill"
    criterion: str | None = None
    algorithm: Any = None
    max_weight: float = 5.0
    polish: bool = True
    random_state: Any = None

    needs_pairs: ClassVar[bool] = False

    @property
    def class_log_weights_(self) -> FloatArray:
        """Log w of every class; shape (k,)."""
        weights: FloatArray = self.structure_.class_log_weights
        return weights

    @property
    def class_weights_(self) -> FloatArray:
        """Weight w of every class; shape (k,)."""
        with np.errstate(over="ignore"):
            return np.exp(self.class_log_weights_)

    @property
    def adjusted_accuracy_(self) -> float:
        """What was maximised."""
        return float(self.structure_.accuracies[0])

    @property
    def naive_accuracy_(self) -> float:
        """The same of naive Bayes."""
        return float(self.structure_.accuracies[1])

    def to_network(self) -> Network:
        """Return the model as a Bayesian network, which has the prior w_c P(c), normalised."""
        check_is_fitted(self)
        model = self._as_fitted
        equal = NaiveBayes(
            smoothing=model.smoothing,
            class_prior=np.exp(model._adjusted_log_prior()),
            max_memory=model.max_memory,
        )
        return equal.fit_counts(model.counts_).to_network()

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """P(c | x) for rows of the fit, each by the model without that row; shape (n, k).

        Exact as for naive Bayes, but the class weights stay those that were found with all rows.
        """
        return super().loo_predict_proba(X, y, sample_weight)

    def _learn_structure(self, source: JointCounts | CodedRows) -> AdjustedGraph:
        graph: AdjustedGraph = self._kept_structure(source)
        return graph

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> AdjustedGraph:
        self._check()
        judged = self._judged(source, rows)  # type: ignore[arg-type]
        log_weights = np.zeros(rows.n_classes)
        self.__dict__.pop("search_result_", None)
        if self.search == "eda" and rows.n_classes > 1:
            self.search_result_ = self._searched(judged)
            log_weights[:-1] = np.log(self.search_result_.best)
        if self.search == "hill" or self.polish:
            log_weights = judged.climb(log_weights)
        accuracies = judged.accuracies(np.stack([log_weights, np.zeros(rows.n_classes)]))
        graph = independent(rows.schema.names, rows.schema.target)
        return AdjustedGraph(
            graph.names, graph.target, graph.parents, graph.weights, log_weights, accuracies
        )

    def _check(self) -> None:
        """Raise an error that names a parameter, its value and the cure, if one is wrong."""
        if self.search not in {"hill", "eda"}:
            raise ValueError(f"search={self.search!r}; it must be 'hill' or 'eda'")
        if self.criterion not in {None, "training", "loo"}:
            raise ValueError(f"criterion={self.criterion!r}; it must be 'training', 'loo' or None")
        from unnaive.search import Box, require_algorithm  # noqa: PLC0415 - costs time to import
        from unnaive.search.loop import require_number  # noqa: PLC0415

        require_number("max_weight", self.max_weight, 1.0, 1e300)
        if not isinstance(self.polish, bool | np.bool_):
            raise ValueError(f"polish={self.polish!r}; it must be True or False")
        if self.algorithm is not None:
            require_algorithm("algorithm", self.algorithm, Box)

    def _judged(self, counts: JointCounts, rows: CodedRows) -> JudgedRows:
        """Let naive Bayes look at the rows, each with or without its own counts."""
        criterion = self.criterion or ("training" if self.search == "hill" else "loo")
        graph = independent(rows.schema.names, rows.schema.target)
        weights = np.ones(len(rows.classes)) if rows.weights is None else rows.weights
        joint = np.empty((len(rows.classes), rows.n_classes))
        for weight in np.unique(weights) if criterion == "loo" else [None]:
            part = slice(None) if weight is None else np.flatnonzero(weights == weight)
            codes, held = np.ascontiguousarray(rows.codes[:, part]), rows.classes[part]
            held = np.full_like(held, -1) if weight is None else held
            found = self._tree(graph, weight, counts).joint(codes, held, self.n_jobs)
            super()._answer_hopeless(found, held, weight, counts)
            joint[part] = found
        return JudgedRows(joint, rows.classes, weights, self.n_jobs)

    def _searched(self, judged: JudgedRows) -> Result:
        """Run the algorithm, naive Bayes among its first individuals."""
        from unnaive.search import Box, UMDAc  # noqa: PLC0415 - costs time to import

        genes = judged.joint.shape[1] - 1

        def fitness(genomes: FloatArray) -> FloatArray:
            logs = np.log(genomes)
            accuracies = judged.accuracies(np.pad(logs, ((0, 0), (0, 1))))
            return np.stack([accuracies, -np.abs(logs).sum(axis=1)], axis=1)

        algorithm = UMDAc(bound=1.0) if self.algorithm is None else self.algorithm
        space = Box([LEAST_WEIGHT] * genes, [float(self.max_weight)] * genes)
        found: Result = algorithm.maximise(
            space,
            fitness,
            random_state=self.random_state,
            seeds=np.ones((1, genes)),
            watch=_progress.watcher(),
        )
        return found

    def _restore_structure(self, state: Any, schema: Schema) -> AdjustedGraph:
        log_weights, accuracies = state["class_log_weights"], state["accuracies"]
        if log_weights.shape != (len(schema.classes),) or not np.isfinite(log_weights).all():
            raise UnnaiveError("the class weights do not fit the classes")
        if accuracies.shape != (2,):
            raise UnnaiveError("there are not two accuracies")
        graph = independent(schema.names, schema.target)
        return AdjustedGraph(
            graph.names, graph.target, graph.parents, graph.weights, log_weights, accuracies
        )

    def _make_tables(self, held_out: float | None = None) -> TreeTables:
        tree: TreeTables = super()._make_tables(held_out)
        prior = tree.tables[:, :1].reshape(-1, tree.n_classes) + self.class_log_weights_
        return replace(tree, tables=np.hstack([prior.reshape(-1, 1), tree.tables[:, 1:]]))

    def _answer_hopeless(
        self, joint: FloatArray, held: IntArray, weight: float | None, counts: JointCounts
    ) -> None:
        hopeless = np.isneginf(joint).all(axis=1)
        super()._answer_hopeless(joint, held, weight, counts)
        joint[hopeless] += self.class_log_weights_

    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        given, alone, _ = super()._log_conditionals(frame, mode)
        return given, alone, self._as_fitted._adjusted_log_prior()

    def _adjusted_log_prior(self) -> FloatArray:
        """Log of w_c P(c), normalised; shape (k,)."""
        prior = log_prior(self.counts_, self._smoothing, self._class_prior)
        prior = prior + self.class_log_weights_
        return np.asarray(prior - np.logaddexp.reduce(prior))
