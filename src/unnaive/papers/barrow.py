"""Barrow's thesis to the letter: its programs, and their quirks, each with a name.

:class:`BarrowNaiveBayes`, :class:`BarrowFullBayes` and :class:`BarrowKNaiveBayes` answer what the
programs in the appendix answer. The models without quirks are
:class:`~unnaive.GaussianNaiveBayes`, :class:`~unnaive.FullBayes` and
:class:`~unnaive.KNaiveBayes`.
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
    """What the programs in the appendix of the thesis do otherwise than its text, or than right.

    Attributes
    ----------
    column_sort : bool
        Every column is sorted on its own before the rows are told apart by class, so that a
        class gets a block of order statistics.
    inverse_variance : bool
        A density is multiplied by 1/σ² rather than by 1/σ.
    no_prior : bool
        All classes are equally probable.
    absolute_log : bool
        The class of smallest |log p| wins (not in naive Bayes).
    linear_model : {"code", "text", None}
        p(x_i | others) is the density of x_i − Σ_j cov(i, j) (x_j − μ_j) / σ_j at x_i's own mean
        and variance; "text" has one more 1/σ_j. None: the Gaussian conditional.
    ddof : bool
        Covariances are divided by n − 1, variances by n.
    zero_variance : bool
        A variance of 0 counts as 1e-5 in densities, as 1e-6 in the linear model and, since that
        one writes it down, in all of k-naive Bayes.
    log_phi_floor : bool
        A density that underflows has the logarithm −1,000,000.
    least_log : bool
        Naive Bayes never takes a class of log p ≤ −1000; the first class if there is no other.

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
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        shown = ", ".join(f"{name}={value!r}" for name, value in given.items() if value)
        return f"Quirks({shown})"

    @classmethod
    def all_on(cls) -> Quirks:
        """Return the programs as they were printed."""
        return cls(
            column_sort=True,
            inverse_variance=True,
            no_prior=True,
            absolute_log=True,
            linear_model="code",
            ddof=True,
            zero_variance=True,
            log_phi_floor=True,
            least_log=True,
        )

    def state(self) -> State:
        """Plain values for the store."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class BarrowTables:
    """Means, variances and covariances of the classes, and what the programs make of them.

    Attributes
    ----------
    log_prior, means, covariances
        Shapes (k,), (k, d) and (k, d, d); covariances with the thesis' divisor.
    variances : ndarray of shape (k, d)
    naive : ndarray
        Columns that depend on the class alone.
    strong : bool
        Whether the other columns ignore these.
    quirks : Quirks
    program : {"naive", "full", "k-naive"}
        Whose quirks.
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
        """Score of every row and class, the largest of which wins; shape (n, k)."""
        if np.isnan(X).any():
            raise UnnaiveError("the thesis' programs know no missing cells; fill or drop them")
        rest = np.setdiff1d(np.arange(X.shape[1]), self.naive)
        others = rest if self.strong else np.arange(X.shape[1])
        scores = np.zeros((len(X), len(self.means)))
        for label in range(len(self.means)):
            alone = self.log_densities(X, label)[:, self.naive].sum(axis=1)
            given = self.conditional_log_densities(X, label, others)[:, rest].sum(axis=1)
            scores[:, label] = alone + given
        if not self.quirks.no_prior:
            scores += self.log_prior
        if self.program != "naive":
            return -np.abs(scores) if self.quirks.absolute_log else scores
        if self.quirks.least_log:
            scores[scores <= _LEAST] = -np.inf
            scores[np.isneginf(scores).all(axis=1), 0] = _LEAST
        return scores

    def log_densities(self, X: FloatArray, label: int) -> FloatArray:
        """Log density of every cell at its own mean and variance; shape (n, d)."""
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
        """Log density of every cell of ``others`` given the rest of them; shape (n, d)."""
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
        orders: Sequence[IntArray],  # noqa: ARG002 - as Gaussian tables have it
    ) -> tuple[FloatArray, FloatArray]:
        """Tell what the programs add up (n, k, d); the base (n, k) is what quirks leave."""
        joint = self.joint(X)
        rest = np.setdiff1d(np.arange(X.shape[1]), self.naive)
        others = rest if self.strong else np.arange(X.shape[1])
        parts = np.zeros((*joint.shape, X.shape[1]))
        for label in range(joint.shape[1]):
            parts[:, label] = self.conditional_log_densities(X, label, others)
            parts[:, label, self.naive] = self.log_densities(X, label)[:, self.naive]
        score = parts.sum(axis=2) + (0.0 if self.quirks.no_prior else self.log_prior)
        if self.program != "naive" and self.quirks.absolute_log:
            parts = np.where((score > 0)[:, :, None], -parts, parts)
        return joint - parts.sum(axis=2), parts

    def describe(self, arrays: Arrays) -> State:  # noqa: ARG002 - as all tables have it
        """Raise an error: a page cannot compute with these."""
        raise UnnaiveError(
            "the thesis' programs give scores for whole rows, not probabilities; the explorer "
            "needs a model of unnaive itself, such as KNaiveBayes"
        )

    def weights(self, X: FloatArray) -> FloatArray:
        """Mean over rows of log dd, of every class and column; shape (k, d)."""
        every = np.arange(X.shape[1])
        found = np.empty(self.means.shape)
        for label in range(len(found)):
            given = self.conditional_log_densities(X, label, every)
            found[label] = (given - self.log_densities(X, label)).mean(axis=0)
        return found


def sorted_columns(X: FloatArray, classes: IntArray) -> tuple[FloatArray, IntArray]:
    """Sort every column on its own, the classes too, as the programs do with their data."""
    return np.sort(X, axis=0), np.sort(classes)


@dataclass(eq=False, repr=False, kw_only=True)
class BarrowPrograms(GaussianClassifier):
    """Base of the thesis' programs: rows as they take them, and their tables."""

    quirks: Quirks | None = parameter(
        None, "Quirks(…)", also=(None,), test=lambda value: isinstance(value, Quirks)
    )

    @property
    def _quirks(self) -> Quirks:
        return Quirks.all_on() if self.quirks is None else self.quirks

    @property
    def learns_from_moments(self) -> bool:
        """Whether moments merge: columns may be sorted as a whole, so they do not."""
        return False

    def _prepared(self, rows: NumberRows) -> NumberRows:
        if np.isnan(rows.X).any():
            raise UnnaiveError("the thesis' programs know no missing cells; fill or drop them")
        if not self._quirks.column_sort:
            return rows
        if rows.weights is not None:
            raise UnnaiveError("the thesis' programs sort columns, and know no weights")
        return NumberRows(*sorted_columns(rows.X, rows.classes), rows.weights)

    def _moments(self, given: Given) -> Moments:
        if self._quirks.column_sort:
            raise UnnaiveError(
                "the thesis' programs sort whole columns, so rows can neither be added nor taken "
                "out; call fit with all rows"
            )
        return super()._moments(given)

    def _program(
        self, spread: Spread, naive: Sequence[int] | IntArray, program: str, *, strong: bool = True
    ) -> BarrowTables:
        """Make the tables of a program, with some naive columns."""
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
        """Take the program's tables."""
        return GaussianRecipe(self._naive)

    def _naive(self, spread: Spread, schema: Schema, places: IntArray) -> Shape:
        tables = self._program(spread, np.arange(len(places)), "naive")
        return Shape.of_graph(independent(schema.names, schema.target), tables, places)  # type: ignore[arg-type]


@dataclass(eq=False, repr=False, kw_only=True)
class BarrowFullBayes(BarrowPrograms, FullBayes):
    """The thesis' full Bayes; ``quirks`` are all on by default."""

    def recipe(self) -> GaussianRecipe:
        """Take the program's tables."""
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
