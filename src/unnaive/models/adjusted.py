"""Adjusted probability naive Bayes: the probability of every class is multiplied by a weight."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive import _parallel, _progress
from unnaive._core.adjust import right_spans, weigh_right
from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.exceptions import UnnaiveError
from unnaive.models.base import CountsClassifier
from unnaive.models.fitted import Shown
from unnaive.models.makers import TreeFactors
from unnaive.models.nb import no_parents
from unnaive.models.recipe import Learned, Recipe
from unnaive.parameters import flag, number, one_of
from unnaive.tables.base import hopeless_rows
from unnaive.tables.left_out import by_weight
from unnaive.tables.trees import PLAIN

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.models.recipe import Estimate, Task
    from unnaive.search import EstimationOfDistribution, Result
    from unnaive.search.loop import RandomState as Seed
    from unnaive.tables.network import Network
    from unnaive.tables.trees import HeldOut, TreeTables

CLEAR = 1e-6  # of two log joints that rounding cannot exchange
LEAST_WEIGHT = 1e-6  # Paper: 0, with which a class is never predicted
_INDIVIDUALS_A_TASK = 8


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Log joint probabilities of rows by naive Bayes, from which class weights are learned.

    Attributes
    ----------
    joint : ndarray of shape (n, k)
        Log P(c, x), finite for at least one class.
    classes, weights : ndarray of shape (n,)
        True classes and weights of the rows.
    n_jobs : int or None
        Number of threads.
    """

    joint: FloatArray
    classes: IntArray
    weights: FloatArray
    n_jobs: int | None = None

    def accuracies(self, log_weights: FloatArray) -> FloatArray:
        """Accuracy of m lists of class weights (m, k); shape (m,)."""
        right = np.empty(len(log_weights))
        by_class = self._by_class

        def judge(bounds: tuple[int, int]) -> None:
            weigh_right(*by_class, log_weights[slice(*bounds)], right[slice(*bounds)])

        blocks = _parallel.row_blocks(len(right), _INDIVIDUALS_A_TASK)
        _parallel.run(judge, blocks, self.n_jobs)
        return np.asarray(right / self.weights.sum())

    @cached_property
    def _by_class(self) -> tuple[FloatArray, IntArray, FloatArray]:
        """Log joint (k, n) of the rows in order of class, first row of each class, and weights."""
        order = np.argsort(self.classes, kind="stable")
        bounds = np.searchsorted(self.classes[order], np.arange(self.joint.shape[1] + 1))
        return np.ascontiguousarray(self.joint[order].T), bounds, self.weights[order]

    def best_step(
        self, log_weights: FloatArray, label: int, *, clear: float = 0.0
    ) -> tuple[float, float]:
        """Return the best accuracy by the weight of one class, and its log; the others stay.

        One sweep over the rows in the order of the log weight at which the class ties with the
        best of the others: O(n log n). On ties the value nearest to the present one is taken.
        With ``clear``, the nearest value that is not worse than the present one and at which the
        class ties nowhere: log joints differ by at least half of ``clear``.
        """
        spans = np.empty((3, len(self.classes)))
        right_spans(self.joint, self.classes, log_weights, label, spans)
        level = np.sort(spans[0][np.isfinite(spans[0])])
        apart = np.flatnonzero(np.diff(level) > max(clear, TIE_TOLERANCE))
        between = (level[apart] + level[apart + 1]) / 2
        ends = (level[0] - 1.0, level[-1] + 1.0) if len(level) else ()
        present = np.empty(0) if clear and len(level) else log_weights[[label]]
        tried = np.sort(np.concatenate([between, ends, present]))
        ever = spans[1] < spans[2]
        right = self._reached(spans[1][ever], ever, tried) - self._reached(
            spans[2][ever], ever, tried
        )
        enough = right.max()
        if clear:
            enough = min(enough, self.accuracies(log_weights[None])[0])
        tied = tried[right >= enough - TIE_TOLERANCE]
        return float(enough), float(tied[first_best(-np.abs(tied - log_weights[label]))])

    def _reached(self, marks: FloatArray, rows: BoolArray, tried: FloatArray) -> FloatArray:
        """Weighted share of rows whose mark is at most each of the values tried."""
        order = np.argsort(marks, kind="stable")
        shares = self.weights[rows][order] / self.weights.sum()
        passed = np.searchsorted(marks[order], tried, side="right")
        return np.asarray(np.concatenate([[0.0], np.cumsum(shares)])[passed])

    def cleared(self, log_weights: FloatArray) -> FloatArray:
        """Move weights away from ties, where the rounding of a posterior decides; shape (k,).

        A search that prefers weights near 1 stops within rounding of a tie, and its accuracy is
        then not that of the most probable class. Weights of 1 stay.
        """
        moved, labels = log_weights.copy(), range(len(log_weights) - 1)
        for label in [*labels, *labels]:  # the second time for ties that a lower class uncovers
            scores = np.sort(self.joint + moved, axis=1)
            if not moved.any() or (scores[:, -1] - scores[:, -2] > CLEAR).all():
                break
            moved[label] = self.best_step(moved, label, clear=CLEAR)[1]
        return moved

    def climb(self, start: FloatArray) -> FloatArray:
        """Take the best step of one class as long as it is strictly better; shape (k,).

        With two classes one weight is enough, and its first step is the global optimum.
        """
        log_weights, current = start.copy(), self.accuracies(start[None])[0]
        labels = range(1 if len(start) == 2 else len(start))
        while True:
            steps = _parallel.run(
                lambda label: self.best_step(log_weights, label), labels, self.n_jobs
            )
            label = first_best(np.array([accuracy for accuracy, _ in steps]))
            accuracy, value = steps[label]
            if accuracy <= current + TIE_TOLERANCE:
                return np.asarray(log_weights - log_weights[-1])
            log_weights[label], current = value, accuracy


@dataclass(frozen=True, eq=False)
class AdjustedFactors(TreeFactors):
    """Makes the tables of naive Bayes with a weight for every class; 1 before they are learned."""

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> TreeTables:
        """Estimate the tables of naive Bayes, and add the log weights to the log prior."""
        tree: TreeTables = super().tables(counts, learned, how, held_out)  # type: ignore[assignment]
        weights, view = log_weights_of(counts, learned), how.smoothing.view
        weights = weights if view is None else view.fixed(weights)
        prior = tree.tables[:, :1].reshape(-1, tree.n_classes) + weights
        return replace(tree, tables=np.hstack([prior.reshape(-1, 1), tree.tables[:, 1:]]))

    def log_prior(
        self, counts: JointCounts, learned: Learned, how: Estimate, held: HeldOut = PLAIN
    ) -> FloatArray:
        """Log of w_c P(c), not normalized; shape (k,)."""
        return how.log_prior(counts, held) + log_weights_of(counts, learned)

    def network(self, counts: JointCounts, learned: Learned, how: Estimate) -> Network:
        """Return naive Bayes with the prior w_c P(c), normalized."""
        prior = self.log_prior(counts, learned, how)
        prior = np.exp(prior - np.logaddexp.reduce(prior))
        return super().network(counts, learned, replace(how, class_prior=prior))


def log_weights_of(counts: JointCounts, learned: Learned) -> FloatArray:
    """Log weights of the classes; shape (k,)."""
    if "class_log_weights" not in learned.parameters:  # during the search
        return np.zeros(counts.n_classes)
    weights = learned.array("class_log_weights")
    if weights.shape != (counts.n_classes,) or not np.isfinite(weights).all():
        raise UnnaiveError("the class weights do not fit the classes")
    return weights


@dataclass(eq=False, repr=False, kw_only=True)
class AdjustedNB(CountsClassifier):
    r"""Adjusted probability naive Bayes: class probabilities are multiplied by learned weights.

    .. math:: P(c \mid x) \propto w_c\, P(c) \prod_i P(x_i \mid c)

    The weights maximize the accuracy on the training samples; that of the last class is 1. Naive
    Bayes ranks classes well, but its probabilities are too extreme; the weights move the decision
    thresholds to where errors balance. Use it where accuracy matters: it is naive Bayes with
    another prior, and the probabilities are adjusted for decisions, not calibrated.

    Hill climbing starts with weights of 1 and changes the one that improves most, by an exact
    sweep over all values that make a difference; for two classes it finds the global optimum.
    ``search="eda"`` searches all weights together. On ties the weights nearest to 1 are taken, so
    that naive Bayes is unchanged if nothing improves it.

    ``fit_counts``, ``partial_fit`` and ``forget`` keep the weights of the first ``fit`` or batch.

    Parameters
    ----------
    search : {"hill", "eda"}, default="hill"
        Hill climbing, or an estimation-of-distribution algorithm.
    criterion : {"training", "loo"}, default=None
        Accuracy that is maximized: on the training samples, or exact leave-one-out. None:
        "training" with "hill" and "loo" with "eda", as in the papers.
    algorithm : EstimationOfDistribution, default=None
        Algorithm of ``search="eda"``, one for real numbers of :mod:`unnaive.search`. None:
        ``UMDAc(bound=1.0)``. ``UMDAc.paper()`` with ``polish=False`` is the setting of the paper.
    max_weight : float, default=5.0
        Largest weight that ``algorithm`` tries; the smallest is 1e-6.
    polish : bool, default=True
        Whether hill climbing continues from the result of ``algorithm``. It leaves the bounds
        where that is strictly better.
    random_state : int, Generator, RandomState or None, default=0
        Random seed of ``search="eda"``. With the default, two fits to the same samples agree.
        None uses a new seed in every fit, as in scikit-learn.
    {parameters}

    Attributes
    ----------
    class_weights_ : ndarray of shape (k,)
        The weights w; infinite if too large for a float.
    class_log_weights_ : ndarray of shape (k,)
        Log w.
    adjusted_accuracy_ : float
        The criterion with the weights.
    naive_accuracy_ : float
        The criterion of naive Bayes, which is never larger.
    search_result_ : Result
        Result and history of the search; only with ``search="eda"`` and two or more classes.
    {attributes}

    See Also
    --------
    NaiveBayes : All weights 1.
    IENB : Changes the probabilities of values instead.

    Notes
    -----
    Assumption: within a class, features are independent. The probability of each class is then
    multiplied by a weight, so that more samples are classified correctly.

    The order of the samples does not matter. With ``criterion="training"``, a sample of weight 2
    counts exactly like the same sample twice. With "loo" it does not: leave-one-out removes a
    sample with its whole weight.

    References
    ----------
    Webb & Pazzani, "Adjusted probability naive Bayesian induction", Australian Joint Conference
    on Artificial Intelligence, 1998; by estimation of distributions: Robles, Larrañaga, Peña,
    Pérez, Menasalvas & Herves, "Learning semi naïve Bayes structures by estimation of
    distribution algorithms", EPIA, LNCS 2902, 2003.

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

    search: str = one_of("hill", "eda")
    criterion: str | None = one_of(None, "training", "loo")
    algorithm: EstimationOfDistribution | None = None
    max_weight: float = number(5.0, 1.0, most=1e300)
    polish: bool = flag(True)
    random_state: Seed = 0

    family: ClassVar[str] = "adjusted naive"
    counts_twice: ClassVar[bool] = True

    class_log_weights_ = Shown("Log w of every class; shape (k,).", "class_log_weights")
    search_result_ = Shown("Result and history of the search.")

    @property
    def class_weights_(self) -> FloatArray:
        """Weight w of every class; shape (k,)."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.class_log_weights_))

    @property
    def adjusted_accuracy_(self) -> float:
        """The criterion with the weights."""
        return float(self._accuracies[0])

    @property
    def naive_accuracy_(self) -> float:
        """The criterion of naive Bayes."""
        return float(self._accuracies[1])

    _accuracies = Shown("The criterion with the weights, and of naive Bayes.", "accuracies")

    def recipe(self) -> Recipe:
        """Take naive Bayes, and learn the weights of the classes from samples."""
        return Recipe(no_parents, AdjustedFactors(), self._adjust, counts="values", keeps=True)

    def _adjust(self, learned: Learned, task: Task) -> Learned:
        """Search for the weights of largest accuracy."""
        rows, judged = task.rows, self._judged(learned, task)
        log_weights, trace = np.zeros(rows.n_classes), {}
        if self.search == "eda" and rows.n_classes > 1:
            trace["search_result_"] = result = self._searched(judged)
            log_weights[:-1] = np.log(result.best)
        if self.search == "hill" or self.polish:
            log_weights = judged.climb(log_weights)
        if self.search == "eda":
            log_weights = judged.cleared(log_weights)
        accuracies = judged.accuracies(np.stack([log_weights, np.zeros(rows.n_classes)]))
        if accuracies[0] < accuracies[1]:  # what was better was a tie
            log_weights, accuracies = np.zeros(rows.n_classes), accuracies[[1, 1]]
        parameters = {"class_log_weights": log_weights, "accuracies": accuracies}
        return replace(learned, parameters=parameters, trace=trace)

    def _check(self) -> None:
        super()._check()
        if self.algorithm is not None:
            from unnaive.search import Box, require_algorithm  # noqa: PLC0415 - import time

            require_algorithm("algorithm", self.algorithm, Box)

    def _judged(self, learned: Learned, task: Task) -> JudgedRows:
        """Compute the log joint of the rows by naive Bayes, with or without their own counts."""
        counts, rows, maker = task.counts, task.rows, task.maker
        criterion = self.criterion or ("training" if self.search == "hill" else "loo")
        weights = np.ones(len(rows.classes)) if rows.weights is None else rows.weights
        if criterion == "training":
            joint = maker.tables(counts, learned).joint(rows.codes, None, self.n_jobs)
            prior = np.broadcast_to(maker.prior(counts, learned), joint.shape)
        else:
            joint, prior = np.empty((2, len(rows.classes), rows.n_classes))
            for group in by_weight(rows):
                tables = maker.tables(counts, learned, group.weight)
                joint[group.places] = tables.joint(group.codes, group.classes, self.n_jobs)
                prior[group.places] = maker.left_out_prior(counts, learned, group)
        hopeless = hopeless_rows(joint)
        joint[hopeless] = prior[hopeless]
        return JudgedRows(joint, rows.classes, weights, self.n_jobs)

    def _searched(self, judged: JudgedRows) -> Result:
        """Run the algorithm; naive Bayes is one of its first individuals."""
        from unnaive.search import Box, UMDAc  # noqa: PLC0415 - costs time to import

        genes = judged.joint.shape[1] - 1

        def fitness(genomes: FloatArray) -> FloatArray:
            logs = np.log(genomes)
            accuracies = judged.accuracies(np.pad(logs, ((0, 0), (0, 1))))
            return np.stack([accuracies, -np.abs(logs).sum(axis=1)], axis=1)

        algorithm = UMDAc(bound=1.0) if self.algorithm is None else self.algorithm
        space = Box([LEAST_WEIGHT] * genes, [float(self.max_weight)] * genes)
        return algorithm.maximise(
            space,
            fitness,
            random_state=self.random_state,
            seeds=np.ones((1, genes)),
            watch=_progress.search_watcher(),
        )
