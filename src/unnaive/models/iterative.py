"""Iterative Bayes: the tables of naive Bayes, corrected sample by sample."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._core.adjust import FLOOR, one_pass
from unnaive._core.tables import posterior
from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE
from unnaive.exceptions import UnnaiveError
from unnaive.models.base import CountsClassifier
from unnaive.models.fitted import Shown
from unnaive.models.makers import TreeFactors
from unnaive.models.nb import no_parents
from unnaive.models.recipe import Learned, Recipe
from unnaive.parameters import one_of, whole
from unnaive.structure.graph import ParentGraph
from unnaive.tables.passes import unnormalized_pass
from unnaive.tables.smoothing import ML
from unnaive.tables.trees import frequencies, tree_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import FloatArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.recipe import Estimate, Task
    from unnaive.search.loop import RandomState as Seed
    from unnaive.tables.network import Network
    from unnaive.tables.trees import TreeTables


@dataclass(frozen=True, eq=False)
class CorrectedFactors(TreeFactors):
    """Makes the tables of naive Bayes plus the corrections of passes over the rows.

    The learned parameters are ``corrections`` (k, V), with the values of column i from
    ``counts.value_starts[i]`` on; ``n_iter``, the number of passes; ``of_counts``, whether entries
    are counts or probabilities; and ``least``, the lower bound of entries. Unless ``normalize``,
    entries are not divided by their sums.
    """

    normalize: bool = True

    leaves_out: ClassVar[bool] = False

    def combines(self, learned: Learned) -> str:
        """Return how predictions combine the entries of tables: tuned, if corrected."""
        return "tuned" if learned.parameters.get("n_iter") else "product"

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> TreeTables:
        """Make the tables from the corrected entries."""
        tables: TreeTables = super().tables(counts, learned, how, held_out)  # type: ignore[assignment]
        if not learned.parameters.get("n_iter"):
            return tables
        return self.of_entries(counts, learned, how, corrected(counts, learned, how))

    def of_entries(
        self, counts: JointCounts, learned: Learned, how: Estimate, entries: FloatArray
    ) -> TreeTables:
        """Make the tables from entries, which are counts that need no smoothing."""
        graph = learned.graph(ParentGraph)
        prior = np.exp(how.log_prior(counts))
        made = tree_tables(replace(counts, values=entries), graph, ML(), class_prior=prior)
        if self.normalize:
            return made
        tables, starts = made.tables.copy(), counts.value_starts
        for column in graph.used:
            _, slots, place = made.columns[column]
            values = entries[:, starts[column] : starts[column + 1]]
            tables[:, place : place + slots - 1] += np.log(values.sum(axis=1, keepdims=True))
        return replace(made, tables=tables)

    def network(self, counts: JointCounts, learned: Learned, how: Estimate) -> Network:
        """Return naive Bayes with the corrected tables."""
        if not self.normalize and learned.parameters.get("n_iter"):
            raise UnnaiveError(
                'target="unnormalized" has entries that do not sum to 1, so it is no Bayesian '
                'network; use target="probabilities"'
            )
        entries = replace(counts, values=corrected(counts, learned, how))
        prior = np.exp(how.log_prior(counts))
        return super().network(entries, learned, replace(how, smoothing=ML(), class_prior=prior))


def corrected(counts: JointCounts, learned: Learned, how: Estimate) -> FloatArray:
    """Corrected entries; normalized, they are the probabilities of the model; shape (k, V)."""
    known, corrections = learned.parameters, learned.array("corrections")
    entries = first_entries(counts, how, of_counts=bool(known["of_counts"]))
    if corrections.shape != entries.shape or not np.isfinite(corrections).all():
        raise UnnaiveError("the corrections do not fit the columns and classes")
    if not known["n_iter"]:
        return entries
    return np.asarray(np.maximum(entries + corrections, float(known["least"])))  # type: ignore[arg-type]


def first_entries(counts: JointCounts, how: Estimate, *, of_counts: bool) -> FloatArray:
    """N(c, x) + α, or P(x | c), of naive Bayes; shape (k, V)."""
    entries = np.empty(counts.values.shape)
    for column in range(counts.n_columns):
        table = counts.marginal(column)
        n_classes, size = table.shape
        frequency = frequencies(table.sum(axis=0))
        alpha, total = how.smoothing.pseudo_counts(size, n_classes, frequency)
        smoothed = table + alpha
        if not of_counts:
            context = table.sum(axis=1, keepdims=True) + total
            even = np.broadcast_to(1.0 / max(size, 1), smoothed.shape).copy()
            smoothed = np.divide(smoothed, context, out=even, where=context > 0)
        entries[:, counts.value_starts[column] : counts.value_starts[column + 1]] = smoothed
    return entries


@dataclass(eq=False, repr=False, kw_only=True)
class IterativeBayes(CountsClassifier):
    r"""Iterative Bayes: naive Bayes whose tables are corrected by passes over the samples.

    .. math:: P(c, x) = P(c) \prod_i \frac{T_i(c, x_i)}{\sum_v T_i(c, v)}

    The entries start as :math:`T_i(c, v) = N(c, v) + \alpha_v`, which is naive Bayes. Then every
    sample in turn is classified by the current tables. With ĉ the most probable class and k
    classes, the entries of all values of the sample are changed by

    .. math:: \pm\frac{1 - P(\hat c \mid x)}{k} \text{ for ĉ,} \qquad
              \mp\frac{1 - P(\hat c \mid x)}{2k} \text{ for the others,}

    with the upper sign where ĉ is correct, times the weight of the sample. No entry goes below
    0.01. Passes over the samples continue as long as the mean of 1 − P(y | x) decreases. Missing
    values are neither looked up nor corrected, and the prior is not changed. Use it where naive
    Bayes ranks classes well but its decisions should fit the training samples better; the result
    depends on the order of the samples.

    Any smoothing gives the α of the first entries, so without a pass the model is naive Bayes with
    that smoothing. ``fit_counts``, ``partial_fit`` and ``forget`` add the corrections of the first
    ``fit`` or batch to the new entries.

    Parameters
    ----------
    max_iter : int, default=10
        Largest number of passes.
    increment : {"parenthesised", "literal"}, default="parenthesised"
        (1 − P)/k as above, or 1 − P/k, as printed in the paper of Robles et al.
    target : {"counts", "probabilities", "unnormalized"}, default="counts"
        Meaning of the entries. Probabilities start as P(v | c) and are normalized after every
        correction, which takes longer. "unnormalized": they start as P(v | c) and are never
        normalized, as the paper reads literally; a class with large entries then gains in all
        samples. It is slow, and for reproduction only.
    criterion : {"true", "max"}, default="true"
        Loss that must decrease: the mean of 1 − P(y | x), or of 1 − max P(c | x), which ignores
        the labels and is what Robles et al. print.
    order : {"given", "shuffle"}, default="given"
        Order of the samples in a pass; "shuffle": a new random order in every pass.
    random_state : int, Generator, RandomState or None, default=0
        Random seed of ``order="shuffle"``. With the default, two fits to the same samples agree.
        None uses a new seed in every fit, as in scikit-learn.
    {parameters}

    Attributes
    ----------
    n_iter_ : int
        Number of passes whose corrections are kept; 0: none improved naive Bayes.
    loss_path_ : ndarray of shape (passes + 1,)
        Loss of naive Bayes and after every pass, up to the first one that did not decrease it.
    entries_ : list of ndarray of shape (k, v)
        T of every feature.
    {attributes}

    See Also
    --------
    NaiveBayes : No passes.
    AdjustedNB : Corrects the classes instead of the tables.

    Notes
    -----
    Assumption: within a class, features are independent. The tables were then corrected, sample by
    sample, towards the classes of the training samples.

    The result depends on the order of the samples, since each correction changes how the next
    sample is classified. For the same reason, a sample of weight 2, which is one correction of
    twice the size, is not the same as two samples. With ``max_iter=0`` both agree exactly, as for
    naive Bayes.

    References
    ----------
    Gama, "Iterative Bayes", Theoretical Computer Science 292, 2003; as described by Robles,
    Larrañaga, Peña, Pérez, Menasalvas & Herves, "Learning semi naïve Bayes structures by
    estimation of distribution algorithms", EPIA, LNCS 2902, 2003.

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

    max_iter: int = whole(10)
    increment: str = one_of("parenthesised", "literal")
    target: str = one_of("counts", "probabilities", "unnormalized")
    criterion: str = one_of("true", "max")
    order: str = one_of("given", "shuffle")
    random_state: Seed = 0

    family: ClassVar[str] = "adjusted naive"
    counts_twice: ClassVar[bool] = True

    n_iter_ = Shown("Number of passes whose corrections are kept.", "n_iter")
    loss_path_ = Shown("Loss of naive Bayes, and after every pass.", "losses")

    @property
    def entries_(self) -> list[FloatArray]:
        """Corrected counts, or probabilities, of every feature; shapes (k, v)."""
        fitted = self.fitted_
        entries = corrected(fitted.counts, fitted.learned, fitted.made_by.how)
        return np.split(entries, fitted.counts.value_starts[1:-1], axis=1)

    def loo_predict_proba(self, X: object, y: object, sample_weight: object = None) -> FloatArray:
        """Raise an error: without a sample, all passes would have to be repeated."""
        raise UnnaiveError(
            "IterativeBayes has no leave-one-out in closed form: without a row, all passes over "
            "the others would have to be repeated; use cross_val_predict"
        )

    def recipe(self) -> Recipe:
        """Take naive Bayes, and correct its tables by passes over the samples."""
        return Recipe(no_parents, self._factors, self._correct, counts="values", keeps=True)

    @property
    def _factors(self) -> CorrectedFactors:
        return CorrectedFactors(normalize=self.target != "unnormalized")

    def _correct(self, learned: Learned, task: Task) -> Learned:
        """Pass over the rows as long as the loss decreases."""
        counts, rows, maker = task.counts, task.rows, task.maker
        of_counts, factors = self.target == "counts", self._factors
        start = first_entries(counts, maker.how, of_counts=of_counts)
        entries, n_iter = start, 0
        losses = [self._loss(rows, maker.tables(counts, learned))]  # type: ignore[arg-type]
        one_more = self._passes(counts, rows, maker.how)
        while n_iter < self.max_iter:
            tried = entries.copy()
            one_more(tried)
            tables = factors.of_entries(counts, learned, maker.how, tried)
            losses.append(self._loss(rows, tables))
            if losses[-1] >= losses[-2] - TIE_TOLERANCE:
                break
            entries, n_iter = tried, n_iter + 1
        parameters = {
            "corrections": entries - start,
            "losses": np.array(losses),
            "n_iter": n_iter,
            "of_counts": of_counts,
            "least": float(entries.min(initial=FLOOR)),
        }
        return replace(learned, parameters=parameters)

    def _passes(
        self, counts: JointCounts, rows: CodedRows, how: Estimate
    ) -> Callable[[FloatArray], None]:
        """Return a function that changes entries (k, V) by one pass over the rows."""
        from unnaive.search.loop import generator_of  # noqa: PLC0415 - costs time to import

        lines = np.ascontiguousarray(rows.codes.T)
        weights = np.ones(len(lines)) if rows.weights is None else rows.weights
        prior = how.log_prior(counts)
        rules = self.increment == "literal", self.target == "probabilities"
        random = generator_of(self.random_state) if self.order == "shuffle" else None

        def pass_over(entries: FloatArray) -> None:
            data = lines, rows.classes, weights
            if random is not None:
                turn = random.permutation(len(lines))
                data = lines[turn], rows.classes[turn], weights[turn]
            if self.target == "unnormalized":
                starts = counts.value_starts
                unnormalized_pass(data, prior, entries, starts, literal=rules[0])
            else:
                one_pass(*data, prior, entries, counts.value_starts, *rules)

        return pass_over

    def _loss(self, rows: CodedRows, tables: TreeTables) -> float:
        """Weighted mean of 1 minus the probability of the true class, or of the best one."""
        joint = tables.joint(rows.codes, None, self.n_jobs)
        tables.answer_hopeless(joint)
        chances = np.empty_like(joint)
        posterior(joint, chances)
        every = np.arange(len(rows.classes))
        sure = chances[every, rows.classes] if self.criterion == "true" else chances.max(axis=1)
        return float(np.average(1.0 - sure, weights=rows.weights))
