"""What a Gaussian model leaves when it is fitted, and the parts that make it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive.structure.graph import topological
from unnaive.tables.gaussian import GaussianTables, complete_forms

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import AnyArray, FloatArray, IntArray, State
    from unnaive.counts.moments import Moments
    from unnaive.models.fitted import Names, Normalise
    from unnaive.models.nb import NaiveBayes
    from unnaive.schema import Schema
    from unnaive.structure.graph import Graph
    from unnaive.tables.gaussian import Forms
    from unnaive.tables.terms import Terms


class NumberRows(NamedTuple):
    """Rows of numbers, NaN where missing, with their classes and weights."""

    X: FloatArray
    classes: IntArray
    weights: FloatArray | None


@dataclass(frozen=True, eq=False)
class Spread:
    """Means and covariances of the classes, as densities are made of them.

    Attributes
    ----------
    moments : Moments
    log_prior : ndarray of shape (k,)
    var_smoothing, ddof : float
        See :class:`GaussianClassifier`.
    of_largest : bool
        Whether what is added to variances is a share of the largest of all columns.
    learned : dict
        What the moments alone do not say: ``shrinkage`` (k,), ``pooling``, and ``means`` and
        ``covariances`` of rows with missing cells.
    """

    moments: Moments
    log_prior: FloatArray
    var_smoothing: float
    ddof: float
    of_largest: bool = False
    learned: State = field(default_factory=dict)

    @property
    def used(self) -> IntArray:
        """Columns that have a value in some row; shape (m,)."""
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
        """Return what is added to each column's variances, by its variance over all rows."""
        if self.of_largest:
            return np.full(len(variances), self.var_smoothing * variances.max(initial=0.0))
        return np.asarray(self.var_smoothing * variances)

    @property
    def covariances(self) -> FloatArray:
        """Covariances that densities are made of, smoothed, pooled and shrunk; (k, m, m)."""
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
        """Mix in what all classes have in common."""
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

    def densities(
        self, covariances: FloatArray, forms_of: Forms = complete_forms
    ) -> GaussianTables:
        """Make the tables; raises if a covariance is singular."""
        tables = GaussianTables(self.log_prior, self.means, covariances, forms_of)
        return tables.require_forms()


class Shape(NamedTuple):
    """What a Gaussian model makes of means and covariances.

    ``through`` are the parents of the columns in use, by their places among these; ``orders`` of
    them are those in which each column is explained by those before it.
    """

    structure: Graph
    tables: GaussianTables
    through: list[tuple[int, ...]]
    orders: list[IntArray]

    @classmethod
    def of_graph(cls, structure: Graph, tables: GaussianTables, places: IntArray) -> Shape:
        """Take parents and their order from a graph; ``places``: the columns in use."""
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
        Makes structure and densities of means and covariances; ``places`` are the columns in use.
    learn : callable (spread, rows) -> dict, default=None
        Learns what moments alone do not say, as plain values for the store; ``rows`` is None
        where there are moments alone.
    """

    shape: Callable[[Spread, Schema, IntArray], Shape]
    learn: Callable[[Spread, NumberRows | None], State] | None = None


@dataclass(frozen=True, eq=False)
class GaussianFitted:
    """A Gaussian model as it was fitted, whatever becomes of the estimator's parameters.

    Attributes
    ----------
    spread : Spread
        Moments, and what was learned beside them.
    shape : Shape
    columns : ndarray of shape (m,)
        Positions of the columns that are numbers.
    labels : ndarray of shape (k,)
    names : Names
    categories : NaiveBayes or None
        Model of the columns that are no numbers.
    settings : dict
        Parameters of the estimator at the fit.
    """

    spread: Spread
    shape: Shape
    columns: IntArray
    labels: AnyArray
    names: Names
    categories: NaiveBayes | None = None
    settings: State = field(default_factory=dict)

    @property
    def moments(self) -> Moments:
        """What was added up."""
        return self.spread.moments

    @property
    def structure(self) -> Graph:
        """What depends on what."""
        return self.shape.structure

    @property
    def prior(self) -> FloatArray:
        """Log-probabilities of the classes; shape (k,)."""
        return self.spread.log_prior

    @property
    def schema(self) -> Schema:
        """What all columns are, numbers and categories."""
        return schema_of(self.moments, self.columns, self.categories)

    def joint(self, X: FloatArray, n_jobs: int | None) -> FloatArray:
        """Log joint of rows of numbers; shape (n, k)."""
        used = self.moments.used
        X = X if len(used) == X.shape[1] else X[:, used]
        return np.asarray(self.shape.tables.joint(X, n_jobs))

    def normalised(self, joint: FloatArray, normalise: Normalise | None) -> FloatArray:
        """Answer the prior where no class has a chance, and normalise."""
        if normalise is None:
            return joint
        joint[np.isneginf(joint).all(axis=1)] = self.prior
        out = np.empty_like(joint)
        normalise(joint, out)
        return out

    def terms(self, X: FloatArray) -> Terms:
        """Split the log joint of rows of numbers into terms."""
        from unnaive.tables.terms import Terms  # noqa: PLC0415 - loads when asked

        used = self.moments.used
        base, parts = self.shape.tables.parts(X[:, used], self.shape.orders)
        places = self.columns[used].tolist()
        keys = tuple(
            ((place,), tuple(places[parent] for parent in above))
            for place, above in zip(places, self.shape.through, strict=True)
        )
        return Terms(keys, base, parts)

    def light(self) -> GaussianFitted:
        """Return the model as it travels to workers: itself."""
        return self

    def state(self) -> State:
        """Give what was learned as plain values and arrays for the store."""
        labels = None if self.categories is None else self.categories.fitted_.state()
        numbers = self.columns.tolist()
        learned = {"moments": self.moments.state(), "learned": self.spread.learned}
        return {**learned, "numbers": numbers, "labels_model": labels}


def schema_of(moments: Moments, columns: IntArray, categories: NaiveBayes | None) -> Schema:
    """Say what all columns are: numbers, and those of a model of categories."""
    if categories is None:
        return moments.schema
    known = (*moments.schema.columns, *categories.schema_.columns)
    others = np.setdiff1d(np.arange(len(known)), columns)
    order = np.argsort([*columns, *others])
    return replace(moments.schema, columns=tuple(known[place] for place in order))


def positive(covariances: FloatArray, moments: Moments) -> FloatArray:
    """Covariances from pairs of cells need not be any: raise what is not positive."""
    weights = np.einsum("kii->ki", moments.weights)[:, moments.used]
    if (weights == moments.class_weights[:, None]).all():
        return covariances
    values, vectors = np.linalg.eigh(covariances)
    least = 1e-9 * np.maximum(values[:, -1:], 0.0)
    values = np.maximum(values, least)
    return np.asarray(np.einsum("kij,kj,klj->kil", vectors, values, vectors))


def both_ways(n_columns: int) -> list[IntArray]:
    """Orders of columns of which none is better than another: as they stand, and reversed."""
    order = np.arange(n_columns)
    return [order, order[::-1]]


def shares_of(counts: FloatArray) -> FloatArray:
    """Shares of the classes, the same for all where there are no rows; shape (k,)."""
    total = float(counts.sum())
    return np.asarray(counts / total if total > 0 else np.full(len(counts), 1.0 / len(counts)))
