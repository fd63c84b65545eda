"""The fitted value of Gaussian models, and the parts of their recipes."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import gaussian_relevance
from unnaive.schema.columns import LARGEST_NUMBER, refuse_infinite
from unnaive.structure.graph import topological
from unnaive.tables.base import hopeless_rows
from unnaive.tables.conditional_gaussian import CellTables
from unnaive.tables.gaussian import GaussianTables, complete_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray, State
    from unnaive.counts.label_cells import LabelRows
    from unnaive.counts.moments import Moments
    from unnaive.models.base import CountsClassifier
    from unnaive.models.fitted import Names, Normalise
    from unnaive.models.gaussian import GaussianClassifier
    from unnaive.models.recipe import Structure
    from unnaive.schema import Schema
    from unnaive.structure.graph import Graph
    from unnaive.tables.calibration import Calibration
    from unnaive.tables.gaussian import Forms
    from unnaive.tables.terms import Terms


class NumberRows(NamedTuple):
    """Rows of numbers, NaN where missing, with their classes, weights and categorical columns."""

    X: FloatArray
    classes: IntArray
    weights: FloatArray | None
    labels: LabelRows | None = None


@dataclass(frozen=True, eq=False)
class Spread:
    """Means and covariances of the classes, from which densities are made.

    Attributes
    ----------
    moments : Moments
        Sums over rows.
    log_prior : ndarray of shape (k,)
        Log prior probabilities of the classes.
    var_smoothing, ddof : float
        See :class:`GaussianClassifier`.
    of_largest : bool
        Whether a share of the largest variance of all columns is added to variances.
    learned : dict
        What was learned besides the moments: ``shrinkage`` (k,), ``pooling``, and ``means`` and
        ``covariances`` of rows with missing values.
    labels : Graph or None
        Structure of the model of categorical columns.
    """

    moments: Moments
    log_prior: FloatArray
    var_smoothing: float
    ddof: float
    of_largest: bool = False
    learned: State = field(default_factory=dict)
    labels: Structure | None = None

    @property
    def used(self) -> IntArray:
        """Columns that have a value in at least one row; shape (m,)."""
        return self.moments.used

    @property
    def means(self) -> FloatArray:
        """Means of the classes in the columns in use; shape (k, m)."""
        return np.asarray(self.learned.get("means", self.moments.means[:, self.used]))

    @property
    def scatter(self) -> FloatArray:
        """Covariances of the columns in use, divided by the number of rows, a copy; (k, m, m)."""
        if "covariances" in self.learned:
            return np.array(self.learned["covariances"])
        covariances, used = self.moments.covariances(), self.used
        if len(used) < covariances.shape[1]:
            covariances = np.asarray(covariances[:, used[:, None], used])
        return positive(covariances, self.moments) if "shrinkage" in self.learned else covariances

    def added(self, variances: FloatArray) -> FloatArray:
        """Amount that is added to the variances of each column; shape (m,)."""
        if self.of_largest:
            return np.full(len(variances), self.var_smoothing * variances.max(initial=0.0))
        return np.asarray(self.var_smoothing * variances)

    @property
    def covariances(self) -> FloatArray:
        """Covariances of the densities: smoothed, pooled and shrunk; shape (k, m, m)."""
        covariances, rows = self.scatter, self.moments.class_weights
        if self.ddof:
            left = np.maximum(rows - self.ddof, 0.0)
            scale = np.divide(rows, left, out=np.ones(len(rows)), where=left > 0)
            covariances *= scale[:, None, None]
        variances = np.einsum("kii->ki", covariances)
        variances += self.added(self.moments.variances[self.used])
        variances[variances <= 0] = 1.0
        return self._shrunk(self._pooled(covariances))

    def _pooled(self, covariances: FloatArray) -> FloatArray:
        """Mix in the common covariance of all classes."""
        share = self.learned.get("pooling", 0.0)
        if not share:
            return covariances
        common = np.einsum("k,kij->ij", shares_of(self.moments.class_weights), covariances)
        return np.asarray((1 - share) * covariances + share * common)

    def _shrunk(self, covariances: FloatArray) -> FloatArray:
        """Mix in the mean variance, on the diagonal."""
        share = np.asarray(self.learned.get("shrinkage", 0.0)).reshape(-1, 1, 1)
        if not share.any():
            return covariances
        mean = np.einsum("kii->k", covariances) / max(covariances.shape[1], 1)
        target = mean[:, None, None] * np.eye(covariances.shape[1])
        return np.asarray((1 - share) * covariances + share * target)

    def drawn(self, random: np.random.Generator, *, given_prior: bool) -> Spread:
        r"""Draw means, covariances and prior from their posterior.

        With the prior :math:`|\Sigma|^{-(m+1)/2}`, the posterior of a class of n rows is
        inverse-Wishart(nS, n − 1) for Σ, and normal(mean, Σ/n) for μ given Σ.
        """
        rows, means = np.maximum(self.moments.class_weights, 1.0), self.means
        values, vectors = np.linalg.eigh(self.scatter)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        m = means.shape[1]
        drawn = np.empty_like(roots)
        for label, n in enumerate(rows.tolist()):
            freedom = max(n - 1.0, float(m)) - np.arange(m)
            bartlett = np.tril(random.standard_normal((m, m)), -1)
            np.fill_diagonal(bartlett, np.sqrt(2.0 * random.standard_gamma(freedom / 2.0)))
            drawn[label] = np.sqrt(n) * np.linalg.solve(bartlett, roots[label].T).T
        away = np.einsum("kij,kj->ki", drawn, random.standard_normal(means.shape))
        means = means + away / np.sqrt(rows)[:, None]
        learned = {"means": means, "covariances": drawn @ drawn.transpose(0, 2, 1)}
        prior = self.log_prior
        if not given_prior:
            prior = np.log(random.standard_gamma(rows))
            prior -= np.logaddexp.reduce(prior)
        return replace(self, log_prior=prior, learned={**self.learned, **learned})

    def densities(
        self, covariances: FloatArray, forms_of: Forms = complete_forms
    ) -> GaussianTables:
        """Make the tables; raises if a covariance is singular."""
        return GaussianTables(self.log_prior, self.means, covariances, forms_of).require_forms()


class Shape(NamedTuple):
    """Structure and densities of a Gaussian model.

    ``through`` are the parents of the columns in use, by their positions among these; ``orders``
    are orders of these columns in which each is explained given the ones before it; ``labels`` are
    their categorical parents, by their positions among all columns.
    """

    structure: Graph
    tables: GaussianTables | CellTables
    through: list[tuple[int, ...]]
    orders: list[IntArray]
    labels: Sequence[tuple[int, ...]] = ()

    @property
    def in_cells(self) -> bool:
        """Whether numbers may depend on categorical columns."""
        return isinstance(self.tables, CellTables)

    @classmethod
    def of_graph(cls, structure: Graph, tables: GaussianTables, places: IntArray) -> Shape:
        """Read parents and their order from a graph; ``places`` are the columns in use."""
        place = {int(column): index for index, column in enumerate(places)}
        through = [tuple(place[parent] for parent in structure.parents_of(c)) for c in place]
        order = topological(through, range(len(through)))
        return cls(structure, tables, through, [np.array(order, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class GaussianRecipe:
    """The parts of a Gaussian model.

    Attributes
    ----------
    shape : callable (spread, schema, places) -> Shape
        Makes structure and densities from means and covariances; ``places`` are the columns in
        use.
    learn : callable (spread, rows) -> dict, default=None
        Learns everything else, as plain values for the store; ``rows`` is None if there are only
        moments.
    labels : callable -> CountsClassifier, default=None
        Makes the model of the columns that are not numeric, in models that take such columns; None:
        naive Bayes.
    in_cells : bool, default=False
        Whether numbers may depend on these columns.
    """

    shape: Callable[[Spread, Schema, IntArray], Shape]
    learn: Callable[[Spread, NumberRows | None], State] | None = None
    labels: Callable[..., CountsClassifier] | None = None
    in_cells: bool = False


@dataclass(frozen=True, eq=False)
class GaussianFitted:
    """The fitted value of a Gaussian model; later ``set_params`` do not change it.

    Attributes
    ----------
    spread : Spread
        Moments, and what was learned besides them.
    shape : Shape
        Structure and densities.
    columns : ndarray of shape (m,)
        Positions of the numeric columns.
    labels : ndarray of shape (k,)
        Class labels.
    names : Names
        Number and names of all columns.
    categories : CountsClassifier or None
        Model of the columns that are not numeric.
    settings : dict
        Parameters of the estimator at the fit.
    """

    spread: Spread
    shape: Shape
    columns: IntArray
    labels: AnyArray
    names: Names
    categories: CountsClassifier | None = None
    settings: State = field(default_factory=dict)
    calibration: Calibration | None = None  # of a member of a blend

    @property
    def moments(self) -> Moments:
        """Sums over rows."""
        return self.spread.moments

    @property
    def structure(self) -> Graph:
        """Dependence structure."""
        return self.shape.structure

    @property
    def prior(self) -> FloatArray:
        """Log-probabilities of the classes; shape (k,)."""
        return self.spread.log_prior

    @property
    def schema(self) -> Schema:
        """Schema of all columns, numeric and categorical."""
        return schema_of(self.moments, self.columns, self.categories)

    @property
    def prevalence(self) -> FloatArray:
        """Log prior probabilities of the classes; shape (k,)."""
        return self.spread.log_prior

    def importances(self) -> FloatArray:
        """Return the (Gaussian) mutual information of the columns with the class; shape (d,)."""
        used, moments = self.moments.used, self.moments
        importances = np.zeros(self.names.number)
        if self.categories is not None:
            others = np.setdiff1d(np.arange(len(importances)), self.columns)
            importances[others] = self.categories.fitted_.importances()
        importances[self.columns[used]] = gaussian_relevance(
            self.spread.covariances, shares_of(moments.class_weights), moments.variances[used]
        )
        return importances

    def joint(
        self, X: FloatArray, n_jobs: int | None, codes: CodeArray | None = None
    ) -> FloatArray:
        """Log joint of rows of numbers, and codes of the categorical columns; shape (n, k)."""
        used, tables = self.moments.used, self.shape.tables
        X = X if len(used) == X.shape[1] else X[:, used]
        if isinstance(tables, CellTables):
            return tables.joint(X, _coded(codes), n_jobs)
        return np.asarray(tables.joint(X, n_jobs))

    def normalised(self, joint: FloatArray, normalise: Normalise | None) -> FloatArray:
        """Normalize; rows of probability 0 in all classes get the prior."""
        if normalise is None:
            return joint
        joint[hopeless_rows(joint)] = self.prior
        if self.calibration is not None:
            self.calibration.apply(joint)
        out = np.empty_like(joint)
        normalise(joint, out)
        return out

    def draws(
        self, random: np.random.Generator, model: GaussianClassifier
    ) -> Iterator[GaussianFitted]:
        """Yield the model with means, covariances and prior drawn from their posterior."""
        from unnaive.models.intervals import drawn_models  # noqa: PLC0415 - loads when asked

        if self.shape.in_cells:
            raise UnnaiveError(
                "no credible intervals where numbers depend on categorical columns; use "
                "GaussianNaiveBayes, or fit the numbers alone"
            )
        recipe, places = model.recipe(), self.columns[self.moments.used]
        given = self.settings.get("class_prior") is not None
        parts = None if self.categories is None else drawn_models(self.categories, random)
        while True:
            spread = self.spread.drawn(random, given_prior=given)
            shape = recipe.shape(spread, self.schema, places)
            categories: Any = None if parts is None else next(parts)
            yield replace(self, spread=spread, shape=shape, categories=categories)

    def calibrated(self, calibration: Calibration) -> GaussianFitted:
        """Return the model with a calibration of its log joint, as a member of a blend has one."""
        return replace(self, calibration=calibration)

    def terms(self, X: FloatArray, codes: CodeArray | None = None) -> Terms:
        """Split the log joint of rows of numbers into terms."""
        from unnaive.tables.terms import Terms  # noqa: PLC0415 - loads when asked

        used, tables = self.moments.used, self.shape.tables
        if isinstance(tables, CellTables):
            base, parts = tables.parts(X[:, used], _coded(codes))
        else:
            base, parts = tables.parts(X[:, used], self.shape.orders)
        places = self.columns[used].tolist()
        keys = tuple(((place,), above) for place, above in zip(places, self.above, strict=True))
        return Terms(keys, base, parts)

    @property
    def above(self) -> list[tuple[int, ...]]:
        """Parents of the numbers in use, by their positions among all columns."""
        places = self.columns[self.moments.used].tolist()
        labels = self.shape.labels or [()] * len(places)
        return [
            (*(places[parent] for parent in above), *own)
            for above, own in zip(self.shape.through, labels, strict=True)
        ]

    def light(self) -> GaussianFitted:
        """Return the model as it travels to workers: itself."""
        return self

    def state(self) -> State:
        """Return the fitted value as plain values and arrays for the store."""
        labels = None if self.categories is None else self.categories.fitted_.state()
        numbers = self.columns.tolist()
        learned = {"moments": self.moments.state(), "learned": self.spread.learned}
        return {**learned, "numbers": numbers, "labels_model": labels}


def _coded(codes: CodeArray | None) -> CodeArray:
    """Return the codes; raises if the model has categorical parents and there are none."""
    if codes is None:
        raise UnnaiveError("numbers depend on categorical columns here; give their codes, too")
    return codes


def extremes(X: FloatArray) -> FloatArray:
    """Largest absolute value of every column, missing cells ignored; shape (d,)."""
    highest, lowest = np.fmax.reduce(X, axis=0, initial=0), np.fmin.reduce(X, axis=0, initial=0)
    return np.asarray(np.maximum(highest, -lowest))


def refuse_huge_columns(names: Sequence[str], X: FloatArray) -> None:
    """Raise an error if a number of some columns is infinite or too large; shape (n, d)."""
    if not np.einsum("ij,ij->", X, X) < LARGEST_NUMBER**2 / 2:  # three times as fast as extremes
        for wrong in np.flatnonzero(extremes(X) > LARGEST_NUMBER):
            refuse_huge(names[int(wrong)], X[:, wrong])


def refuse_huge(name: str, values: FloatArray) -> None:
    """Raise an error if a number is infinite, or so large that squares of numbers overflow."""
    refuse_infinite(name, values)
    if len(values) and extremes(values) > LARGEST_NUMBER:
        row = int(np.nanargmax(np.abs(values)))
        raise UnnaiveError(
            f"column {name!r} has value {values[row]:g} in row {row}, which is too large for "
            f"variances; divide the column by {abs(values[row]):.0e}"
        )


def schema_of(moments: Moments, columns: IntArray, categories: CountsClassifier | None) -> Schema:
    """Return the schema of all columns: numeric ones, and those of a model of categories."""
    if categories is None:
        return moments.schema
    known = (*moments.schema.columns, *categories.schema_.columns)
    others = np.setdiff1d(np.arange(len(known)), columns)
    order = np.argsort([*columns, *others])
    return replace(moments.schema, columns=tuple(known[place] for place in order))


def positive(covariances: FloatArray, moments: Moments) -> FloatArray:
    """Make covariances of pairwise complete rows positive definite: raise their eigenvalues."""
    weights = np.einsum("kii->ki", moments.weights)[:, moments.used]
    if (weights == moments.class_weights[:, None]).all():
        return covariances
    values, vectors = np.linalg.eigh(covariances)
    least = 1e-9 * np.maximum(values[:, -1:], 0.0)
    values = np.maximum(values, least)
    return np.asarray(np.einsum("kij,kj,klj->kil", vectors, values, vectors))


def both_ways(n_columns: int) -> list[IntArray]:
    """Two orders of columns without a natural order: as they are, and reversed."""
    order = np.arange(n_columns)
    return [order, order[::-1]]


def shares_of(counts: FloatArray) -> FloatArray:
    """Shares of the classes, equal if there are no rows; shape (k,)."""
    total = float(counts.sum())
    return np.asarray(counts / total if total > 0 else np.full(len(counts), 1.0 / len(counts)))
