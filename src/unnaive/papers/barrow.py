"""The programs of Barrow's thesis, with their deviations from the text as named quirks.

:class:`BarrowNaiveBayes`, :class:`BarrowFullBayes` and :class:`BarrowKNaiveBayes` predict exactly
what the programs in the appendix predict. The models without quirks are
:class:`~unnaive.GaussianNaiveBayes`, :class:`~unnaive.FullBayes` and
:class:`~unnaive.KNaiveBayes`.

References
----------
Lionel R. Barrow, "A Method for Automatically Generating Network Structure in Bayesian
Classifiers", Bard College, 2011.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import solved
from unnaive.models.gaussian import GaussianClassifier
from unnaive.models.gaussian_networks import FullBayes, GaussianNaiveBayes
from unnaive.models.gaussian_parts import GaussianRecipe, NumberRows, Shape, both_ways
from unnaive.models.knaive import KNaiveBayes, pairs_of_classes, whole_rows
from unnaive.models.persistence import storable
from unnaive.parameters import parameter
from unnaive.structure.graph import FamilyGraph, independent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray, State
    from unnaive.counts.moments import Moments
    from unnaive.models.gaussian_parts import Spread
    from unnaive.models.inputs import Given
    from unnaive.schema import Schema
    from unnaive.tables.base import Arrays

_FLOOR = -1e6
_LEAST = -1e3


@storable
@dataclass(frozen=True)
class Quirks:
    """Ways in which the programs of the thesis deviate from its text, or from correct formulas.

    Parameters
    ----------
    column_sort : bool, default=False
        Sort every column separately before rows are split by class, so that each class gets a
        block of order statistics.
    inverse_variance : bool, default=False
        Multiply densities by 1/σ² instead of 1/σ.
    no_prior : bool, default=False
        Use equal priors for all classes.
    absolute_log : bool, default=False
        Predict the class with the smallest |log p| (not in naive Bayes).
    linear_model : {"code", "text", None}, default=None
        Take p(x_i | others) as the density of x_i − Σ_j cov(i, j) (x_j − μ_j) / σ_j with the mean
        and variance of x_i; "text" has one more factor 1/σ_j. None is the Gaussian conditional.
    ddof : bool, default=False
        Divide covariances by n − 1, but variances by n.
    zero_variance : bool, default=False
        Replace a variance of 0 by 1e-5 in densities, by 1e-6 in the linear model and, because the
        linear model stores it, by 1e-6 in all of k-naive Bayes.
    log_phi_floor : bool, default=False
        Use −1,000,000 as the logarithm of a density that underflows.
    least_log : bool, default=False
        Naive Bayes never predicts a class with log p ≤ −1000; the first class if all are so.

    Examples
    --------
    >>> Quirks(no_prior=True)
    Quirks(no_prior=True)
    """

    column_sort: bool = False
    inverse_variance: bool = False
    no_prior: bool = False
    absolute_log: bool = False
    linear_model: str | None = None
    ddof: bool = False
    zero_variance: bool = False
    log_phi_floor: bool = False
    least_log: bool = False

    def __post_init__(self) -> None:
        if self.linear_model not in {None, "code", "text"}:
            raise ValueError(
                f"linear_model={self.linear_model!r}; it must be 'code', 'text' or None"
            )

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in asdict(self).items() if value)
        return f"Quirks({shown})"

    @classmethod
    def all_on(cls) -> Quirks:
        """Return the quirks of the programs as printed: all of them."""
        return cls(**{field.name: True for field in fields(cls)} | {"linear_model": "code"})  # type: ignore[arg-type]

    def state(self) -> State:
        """Return plain values for saved files."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class BarrowTables:
    """Scores of the thesis' programs from means, variances and covariances of the classes.

    Parameters
    ----------
    log_prior : ndarray of shape (k,)
        Log prior of the classes.
    means : ndarray of shape (k, d)
        Means by class.
    variances : ndarray of shape (k, d)
        Variances by class.
    covariances : ndarray of shape (k, d, d)
        Covariances by class, with the thesis' divisor.
    naive : ndarray of int
        Columns that depend only on the class.
    strong : bool
        Whether the other columns are independent of these.
    quirks : Quirks
        Deviations to apply.
    program : {"naive", "full", "k-naive"}
        Program to imitate.
    """

    log_prior: FloatArray
    means: FloatArray
    variances: FloatArray
    covariances: FloatArray
    naive: IntArray
    strong: bool
    quirks: Quirks
    program: str

    def joint(self, X: FloatArray, n_jobs: int | None = None) -> FloatArray:  # noqa: ARG002
        """Return the score of every row and class; the largest wins; shape (n, k)."""
        _refuse_missing(X)
        rest, others = self._dependent(X.shape[1])
        scores = np.zeros((len(X), len(self.means)))
        for label in range(len(self.means)):
            scores[:, label] = self.log_densities(X, label)[:, self.naive].sum(axis=1)
            conditional = self.conditional_log_densities(X, label, others)
            scores[:, label] += conditional[:, rest].sum(axis=1)
        if not self.quirks.no_prior:
            scores += self.log_prior
        if self.program != "naive":
            return -np.abs(scores) if self.quirks.absolute_log else scores
        if self.quirks.least_log:
            scores[scores <= _LEAST] = -np.inf
            scores[np.isneginf(scores).all(axis=1), 0] = _LEAST
        return scores

    def log_densities(self, X: FloatArray, label: int) -> FloatArray:
        """Return the log density of every cell with its own mean and variance; shape (n, d)."""
        variance = self._variance(label, 1e-6 if self.program == "k-naive" else 1e-5)
        distance = (X - self.means[label]) ** 2 / variance
        height = np.log(variance) * (1.0 if self.quirks.inverse_variance else 0.5)
        log_phi = -distance / 2 - np.log(2 * np.pi) / 2
        if self.quirks.log_phi_floor:
            with np.errstate(under="ignore"):
                density = (1 / np.sqrt(2 * np.pi)) * np.exp(-distance / 2)
            log_phi = np.where(density > 0, log_phi, _FLOOR)
        return np.asarray(log_phi - height)

    def conditional_log_densities(self, X: FloatArray, label: int, others: IntArray) -> FloatArray:
        """Return the log density of each of ``others`` given the rest of them; shape (n, d)."""
        covariance = self.covariances[label][np.ix_(others, others)]
        centred = X[:, others] - self.means[label][others]
        out = np.zeros_like(X, dtype=float)
        if self.quirks.linear_model is None:
            precision = solved(covariance, np.eye(len(others)))
            spread = np.diag(precision)
            out[:, others] = (
                np.log(spread / (2 * np.pi)) - (centred @ precision) ** 2 / spread
            ) / 2
            return out
        power = 0.5 if self.quirks.linear_model == "code" else 1.0
        slopes = covariance / self._variance(label, 1e-6)[others] ** power
        np.fill_diagonal(slopes, 0.0)
        moved = X.astype(float).copy()
        moved[:, others] -= centred @ slopes.T
        out[:, others] = self.log_densities(moved, label)[:, others]
        return out

    def _variance(self, label: int, least: float) -> FloatArray:
        variance = np.asarray(self.variances[label])
        if self.quirks.zero_variance:
            return np.asarray(np.where(variance == 0, least, variance))
        return variance

    def parts(
        self,
        X: FloatArray,
        orders: Sequence[IntArray],  # noqa: ARG002 - as in Gaussian tables
    ) -> tuple[FloatArray, FloatArray]:
        """Return the base (n, k), with the effect of quirks, and the terms (n, k, d)."""
        joint = self.joint(X)
        _, others = self._dependent(X.shape[1])
        parts = np.zeros((*joint.shape, X.shape[1]))
        for label in range(joint.shape[1]):
            parts[:, label] = self.conditional_log_densities(X, label, others)
            parts[:, label, self.naive] = self.log_densities(X, label)[:, self.naive]
        score = parts.sum(axis=2) + (0.0 if self.quirks.no_prior else self.log_prior)
        if self.program != "naive" and self.quirks.absolute_log:
            parts = np.where((score > 0)[:, :, None], -parts, parts)
        return joint - parts.sum(axis=2), parts

    def describe(self, arrays: Arrays) -> State:  # noqa: ARG002 - as in all tables
        """Raise an error: these scores are not probabilities."""
        raise UnnaiveError(
            "the thesis' programs compute scores of whole rows, not probabilities; for the "
            "explorer use a model of unnaive, such as KNaiveBayes"
        )

    def weights(self, X: FloatArray) -> FloatArray:
        """Return the mean log dependence derivative by class and column; shape (k, d)."""
        every, labels = np.arange(X.shape[1]), range(len(self.means))
        derivatives = [
            self.conditional_log_densities(X, label, every) - self.log_densities(X, label)
            for label in labels
        ]
        return np.array([derivative.mean(axis=0) for derivative in derivatives])

    def _dependent(self, d: int) -> tuple[IntArray, IntArray]:
        """Return the columns that are not naive, and those that they depend on."""
        rest = np.setdiff1d(np.arange(d), self.naive)
        return rest, rest if self.strong else np.arange(d)


def _refuse_missing(X: FloatArray) -> None:
    if np.isnan(X).any():
        raise UnnaiveError("the thesis' programs do not allow missing values; fill or drop them")


def sorted_columns(X: FloatArray, classes: IntArray) -> tuple[FloatArray, IntArray]:
    """Sort every column and the classes separately, as the programs do."""
    return np.sort(X, axis=0), np.sort(classes)


@dataclass(eq=False, repr=False, kw_only=True)
class BarrowPrograms(GaussianClassifier):
    """Base of the thesis' programs: preparation of rows, and tables."""

    refuses_missing = True
    quirks: Quirks | None = parameter(
        None, "Quirks(…)", also=(None,), test=lambda value: isinstance(value, Quirks)
    )

    @property
    def _quirks(self) -> Quirks:
        return Quirks.all_on() if self.quirks is None else self.quirks

    @property
    def learns_from_moments(self) -> bool:
        """Whether the model can be learned from moments: no, because columns may be sorted."""
        return False

    def _prepared(self, rows: NumberRows) -> NumberRows:
        _refuse_missing(rows.X)
        if not self._quirks.column_sort:
            return rows
        if rows.weights is not None:
            raise UnnaiveError("the thesis' programs sort columns, so rows cannot have weights")
        return NumberRows(*sorted_columns(rows.X, rows.classes), rows.weights)

    def _moments(self, given: Given) -> Moments:
        if self._quirks.column_sort:
            raise UnnaiveError(
                "the thesis' programs sort whole columns, so rows can neither be added nor "
                "removed; call fit with all rows"
            )
        moments: Moments = super()._moments(given)
        return moments

    def _program(
        self, spread: Spread, naive: Sequence[int] | IntArray, program: str, *, strong: bool = True
    ) -> BarrowTables:
        """Make the tables of a program with some naive columns."""
        quirks, moments, used = self._quirks, spread.moments, spread.used
        covariances = moments.covariances(int(quirks.ddof))[:, used[:, None], used]
        variances = np.einsum("kii->ki", moments.covariances())[:, used]
        if not quirks.zero_variance:
            variances = np.einsum("kii->ki", spread.covariances)
        places = np.asarray(naive, dtype=np.int64)
        means = moments.means[:, used]
        return BarrowTables(
            spread.log_prior, means, variances, covariances, places, strong, quirks, program
        )


@dataclass(eq=False, repr=False, kw_only=True)
class BarrowNaiveBayes(BarrowPrograms, GaussianNaiveBayes):
    """The thesis' naive Bayes; ``quirks`` are all on by default."""

    def recipe(self) -> GaussianRecipe:
        """Return a recipe with the program's tables."""
        return GaussianRecipe(self._naive)

    def _naive(self, spread: Spread, schema: Schema, places: IntArray) -> Shape:
        tables = self._program(spread, np.arange(len(places)), "naive")
        return Shape.of_graph(independent(schema.names, schema.target), tables, places)  # type: ignore[arg-type]


@dataclass(eq=False, repr=False, kw_only=True)
class BarrowFullBayes(BarrowPrograms, FullBayes):
    """The thesis' full Bayes; ``quirks`` are all on by default."""

    def recipe(self) -> GaussianRecipe:
        """Return a recipe with the program's tables."""
        return GaussianRecipe(self._full, self.learn_spread)

    def _full(self, spread: Spread, schema: Schema, places: IntArray) -> Shape:
        order = places.tolist()
        families = tuple((place, *order[:index]) for index, place in enumerate(order))
        graph, every = FamilyGraph(schema.names, schema.target, families), range(len(places))
        through = [tuple(other for other in every if other != column) for column in every]
        tables = self._program(spread, [], "full")
        return Shape(graph, tables, through, both_ways(len(places)))  # type: ignore[arg-type]


@dataclass(eq=False, repr=False, kw_only=True)
class BarrowKNaiveBayes(BarrowPrograms, KNaiveBayes):
    """The thesis' k-naive Bayes; ``quirks`` are all on by default."""

    def _weights(self, spread: Spread, rows: NumberRows | None) -> FloatArray:
        pairs = pairs_of_classes(spread)
        X = self._prepared(whole_rows(rows, spread.used)).X[:, spread.used]
        each = self._program(spread, [], "k-naive").weights(X)
        weights = np.array([each[a] - each[b] for a, b in pairs])
        return weights.reshape(len(pairs), len(spread.used))

    def _tables(self, spread: Spread, naive: IntArray) -> BarrowTables:  # type: ignore[override]
        return self._program(spread, naive, "k-naive", strong=self.naivete == "strong")
