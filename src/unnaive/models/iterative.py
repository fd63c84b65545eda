"""Iterative Bayes: naive Bayes' tables, corrected row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive._core.adjust import FLOOR, one_pass
from unnaive._core.tables import posterior
from unnaive._scikit import check_is_fitted
from unnaive._ties import TIE_TOLERANCE
from unnaive.exceptions import UnnaiveError
from unnaive.models.nb import NaiveBayes
from unnaive.models.tree import TreeClassifier
from unnaive.structure.graph import ParentGraph, independent
from unnaive.tables.smoothing import ML
from unnaive.tables.trees import frequencies, log_prior, tree_tables

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema
    from unnaive.tables.network import Network
    from unnaive.tables.trees import TreeTables

_CHOICES = {
    "increment": ("parenthesised", "literal"),
    "target": ("counts", "probabilities"),
    "criterion": ("true", "max"),
    "order": ("given", "shuffle"),
}


@dataclass(frozen=True, eq=False)
class CorrectedGraph(ParentGraph):
    """Naive Bayes' graph, and what is added to its tables.

    Attributes
    ----------
    corrections : ndarray of shape (k, V)
        What the passes added to every entry, column i's values where ``counts.value_starts`` says.
    losses : ndarray of shape (passes + 1,)
        The criterion of naive Bayes, and after every pass.
    n_iter : int
        Passes whose corrections are kept.
    of_counts : bool
        Whether entries are counts or probabilities.
    least : float
        No entry is below.
    """

    corrections: FloatArray
    losses: FloatArray
    n_iter: int
    of_counts: bool
    least: float

    def state(self) -> dict[str, Any]:
        """Plain values and arrays for the store."""
        return {
            "corrections": self.corrections,
            "losses": self.losses,
            "n_iter": self.n_iter,
            "of_counts": self.of_counts,
            "least": self.least,
        }


@dataclass(eq=False, repr=False, kw_only=True)
class IterativeBayes(TreeClassifier):
    r"""Iterative Bayes: naive Bayes, whose tables are corrected by the rows that it learned from.

    .. math:: P(c, x) = P(c) \prod_i \frac{T_i(c, x_i)}{\sum_v T_i(c, v)}

    The entries begin as :math:`T_i(c, v) = N(c, v) + \alpha_v`, which is naive Bayes. Then every
    row in turn is classified by the tables as they are. With ĉ the class that is most probable
    and k classes, the entries of all values of the row have added to them

    .. math:: \pm\frac{1 - P(\hat c \mid x)}{k} \text{ for ĉ,} \qquad
              \mp\frac{1 - P(\hat c \mid x)}{2k} \text{ for the others,}

    the upper sign where ĉ is right; times the row's weight. No entry goes below 0.01. Passes
    over the rows go on as long as the mean of 1 − P(y | x) falls, and the last that lowered it
    counts. Missing cells are neither looked up nor corrected; the prior stays what it is.

    Any smoothing gives the α of the first entries, so without a pass this is naive Bayes with
    that smoothing, to the bit. ``fit_counts``, ``partial_fit`` and ``forget`` add the
    corrections that the first ``fit``, or batch, found in its rows to the new entries.

    Parameters
    ----------
    max_iter : int, default=10
        Most passes.
    increment : {"parenthesised", "literal"}, default="parenthesised"
        (1 − P)/k as above, or 1 − P/k, which is what the paper by Robles et al. prints.
    target : {"counts", "probabilities"}, default="counts"
        What entries are; probabilities begin as P(v | c), and are made to sum to 1 after every
        correction, which takes the time of all their values.
    criterion : {"true", "max"}, default="true"
        What must fall: the mean of 1 − P(y | x), or of 1 − max P(c | x), which does not look at
        the labels and is what Robles et al. print.
    order : {"given", "shuffle"}, default="given"
        The order of the rows in a pass, which matters; "shuffle": another one in every pass.
    random_state : int, Generator, RandomState or None, default=None
        Chance of ``order="shuffle"``.
    {parameters}

    Attributes
    ----------
    n_iter_ : int
        Passes whose corrections are kept; 0: none lowered the criterion of naive Bayes.
    loss_path_ : ndarray of shape (passes + 1,)
        The criterion of naive Bayes, and after every pass, up to the first that did not lower it.
    entries_ : list of ndarray of shape (k, v)
        T of every column.

    References
    ----------
    Gama, "Iterative Bayes", Theoretical Computer Science 292, 2003; as described by Robles,
    Larrañaga, Peña, Pérez, Menasalvas & Herves, "Learning semi naïve Bayes structures by
    estimation of distribution algorithms", LNCS 2902, 2003.

    Examples
    --------
    >>> from unnaive import IterativeBayes
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 3
    >>> model = IterativeBayes().fit(X, [0, 0, 0, 1] * 3)
    >>> model.n_iter_, model.loss_path_.round(4)[:3]
    (10, array([0.203 , 0.1777, 0.1559]))
    >>> model.entries_[0].round(2)
    array([[8.74, 3.77],
           [0.13, 6.91]])
    """

    max_iter: int = 10
    increment: str = "parenthesised"
    target: str = "counts"
    criterion: str = "true"
    order: str = "given"
    random_state: Any = None

    needs_pairs: ClassVar[bool] = False
    has_leave_one_out: ClassVar[bool] = False

    @property
    def n_iter_(self) -> int:
        """Passes whose corrections are kept."""
        return int(self.structure_.n_iter)

    @property
    def loss_path_(self) -> FloatArray:
        """The criterion of naive Bayes, and after every pass."""
        losses: FloatArray = self.structure_.losses
        return losses

    @property
    def entries_(self) -> list[FloatArray]:
        """Corrected counts, or probabilities, of every column; shapes (k, v)."""
        check_is_fitted(self)
        model = self._as_fitted
        return np.split(model._corrected(), model.counts_.value_starts[1:-1], axis=1)

    def to_network(self) -> Network:
        """Return the model as a Bayesian network, with the corrected tables."""
        check_is_fitted(self)
        model = self._as_fitted
        equal = NaiveBayes(
            smoothing=ML(), class_prior=model._prior(model.counts_), max_memory=model.max_memory
        )
        return equal.fit_counts(replace(model.counts_, values=model._corrected())).to_network()

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """Raise an error: leaving a row out would need all passes again."""
        raise UnnaiveError(
            "IterativeBayes has no leave-one-out in closed form: without a row, all passes over "
            "the others would be needed again; use cross_val_predict"
        )

    def _learn_structure(self, source: JointCounts | CodedRows) -> CorrectedGraph:
        graph: CorrectedGraph = self._kept_structure(source)
        return graph

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> CorrectedGraph:
        self._check()
        counts: JointCounts = source  # type: ignore[assignment]
        of_counts = self.target == "counts"
        start = self._entries(counts, of_counts)
        graph = independent(rows.schema.names, rows.schema.target)
        entries, n_iter = start, 0
        losses = [self._loss(rows, self._tree(graph, None, counts))]
        passes = self._passes(counts, rows)
        while n_iter < self.max_iter:
            tried = entries.copy()
            passes(tried)
            losses.append(self._loss(rows, self._tables_of(counts, graph, tried)))
            if losses[-1] >= losses[-2] - TIE_TOLERANCE:
                break
            entries, n_iter = tried, n_iter + 1
        return CorrectedGraph(
            graph.names,
            graph.target,
            graph.parents,
            graph.weights,
            corrections=entries - start,
            losses=np.array(losses),
            n_iter=n_iter,
            of_counts=of_counts,
            least=float(entries.min(initial=FLOOR)),
        )

    def _check(self) -> None:
        """Raise an error that names a parameter, its value and the cure, if one is wrong."""
        from unnaive.search.loop import require_whole  # noqa: PLC0415 - costs time to import

        require_whole("max_iter", self.max_iter, 0)
        for name, choices in _CHOICES.items():
            given = getattr(self, name)
            if given not in choices:
                raise ValueError(f"{name}={given!r}; it must be {choices[0]!r} or {choices[1]!r}")

    def _passes(self, counts: JointCounts, rows: CodedRows) -> Any:
        """Return a function that changes entries (k, V) by one pass over the rows."""
        lines = np.ascontiguousarray(rows.codes.T)
        weights = np.ones(len(lines)) if rows.weights is None else rows.weights
        prior = log_prior(counts, self._smoothing, self._class_prior)
        rules = self.increment == "literal", self.target == "probabilities"
        from unnaive.search.loop import generator_of  # noqa: PLC0415 - costs time to import

        random = generator_of(self.random_state) if self.order == "shuffle" else None

        def pass_over(entries: FloatArray) -> None:
            data = lines, rows.classes, weights
            if random is not None:
                turn = random.permutation(len(lines))
                data = lines[turn], rows.classes[turn], weights[turn]
            one_pass(*data, prior, entries, counts.value_starts, *rules)

        return pass_over

    def _loss(self, rows: CodedRows, tables: TreeTables) -> float:
        """Weighted mean of 1 less the probability of the own class, or of the best one."""
        unheld = np.full(len(rows.classes), -1)
        joint = tables.joint(rows.codes, unheld, self.n_jobs)
        tables.answer_hopeless(joint, unheld)
        chances = np.empty_like(joint)
        posterior(joint, chances)
        every = np.arange(len(rows.classes))
        sure = chances[every, rows.classes] if self.criterion == "true" else chances.max(axis=1)
        return float(np.average(1.0 - sure, weights=rows.weights))

    def _entries(self, counts: JointCounts, of_counts: bool) -> FloatArray:
        """N(c, x) + α, or P(x | c), of naive Bayes; shape (k, V)."""
        entries = np.empty(counts.values.shape)
        for column in range(counts.n_columns):
            table = counts.marginal(column)
            n_classes, size = table.shape
            alpha, total = self._smoothing.pseudo_counts(
                size, n_classes, frequencies(table.sum(axis=0))
            )
            found = table + alpha
            if not of_counts:
                context = table.sum(axis=1, keepdims=True) + total
                even = np.broadcast_to(1.0 / max(size, 1), found.shape).copy()
                found = np.divide(found, context, out=even, where=context > 0)
            entries[:, counts.value_starts[column] : counts.value_starts[column + 1]] = found
        return entries

    def _corrected(self) -> FloatArray:
        """Entries whose shares are the model's probabilities; shape (k, V)."""
        graph: CorrectedGraph = self.structure_
        entries = self._entries(self.counts_, graph.of_counts)
        if graph.n_iter:
            entries = np.maximum(entries + graph.corrections, graph.least)
        return entries

    def _prior(self, counts: JointCounts) -> FloatArray:
        return np.exp(log_prior(counts, self._smoothing, self._class_prior))

    def _tables_of(
        self, counts: JointCounts, graph: ParentGraph, entries: FloatArray
    ) -> TreeTables:
        """Make the tables of entries: they are counts that need no smoothing."""
        counted = replace(counts, values=entries)
        return tree_tables(counted, graph, ML(), class_prior=self._prior(counts))

    def _restore_structure(self, state: Any, schema: Schema) -> CorrectedGraph:
        graph = independent(schema.names, schema.target)
        restored = CorrectedGraph(graph.names, graph.target, graph.parents, graph.weights, **state)
        shape = len(schema.classes), int(schema.sizes.sum())
        if restored.corrections.shape != shape or not np.isfinite(restored.corrections).all():
            raise UnnaiveError("the corrections do not fit the columns and classes")
        return restored

    def _make_tables(self, held_out: float | None = None) -> TreeTables:
        tables: TreeTables = super()._make_tables(held_out)  # says if they need too much memory
        if not self.structure_.n_iter:
            return tables
        return self._tables_of(self.counts_, self.structure_, self._corrected())
