"""Gaussian naive Bayes, the full Gaussian, and the trees and k-dependences between them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import gaussian_information, gaussian_relevance
from unnaive.io.frames import Frame
from unnaive.models.gaussian import (
    GaussianClassifier,
    NumberRows,
    ShrinkingClassifier,
    both_ways,
    shares_of,
    whole_number,
)
from unnaive.models.nb import NaiveBayes
from unnaive.schema.learn import categorical_mask
from unnaive.structure import maximum_spanning_tree, orient
from unnaive.structure.graph import FamilyGraph, ParentGraph, independent
from unnaive.structure.parents import ordered_parents
from unnaive.tables.barrow import BarrowTables, Quirks, sorted_columns
from unnaive.tables.gaussian import (
    GaussianTables,
    complete_forms,
    independent_forms,
    network_covariances,
    network_forms,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts.moments import Moments
    from unnaive.io.frames import Column
    from unnaive.schema import Schema
    from unnaive.tables.terms import Terms


@dataclass(eq=False, repr=False, kw_only=True)
class BarrowClassifier(GaussianClassifier):
    """Base of the models that Barrow's thesis has programs for."""

    paper: Any = False

    @property
    def _quirks(self) -> Quirks | None:
        if isinstance(self.paper, Quirks):
            return self.paper
        if self.paper not in (True, False):
            raise ValueError(f"paper={self.paper!r}; it must be a boolean or Quirks(…)")
        return Quirks.all_on() if self.paper else None

    @property
    def learns_from_moments(self) -> bool:
        """Whether rows that fit takes are all numbers, and their moments merge."""
        return self._quirks is None

    def _prepared(self, rows: NumberRows) -> NumberRows:
        if self._quirks is not None and np.isnan(rows.X).any():
            raise UnnaiveError(
                "the thesis' programs (paper) know no missing cells; fill or drop them"
            )
        if self._quirks is None or not self._quirks.column_sort:
            return rows
        if rows.weights is not None:
            raise UnnaiveError("the thesis' programs (paper) sort columns, and know no weights")
        return NumberRows(*sorted_columns(rows.X, rows.classes), rows.weights)

    def _moments(self, frame: Frame, target: Column, weights: FloatArray | None) -> Moments:
        if self._quirks is not None and self._quirks.column_sort:
            raise UnnaiveError(
                "the thesis' programs (paper) sort whole columns, so rows can neither be added nor "
                "taken out; call fit with all rows"
            )
        return super()._moments(frame, target, weights)

    def _barrow(self, naive: Any, program: str, *, strong: bool = True) -> BarrowTables:
        """Make the tables of the thesis' programs, with some naive columns."""
        quirks = self._quirks or Quirks()
        moments = self.moments_
        used = moments.used
        covariances = moments.covariances(int(quirks.ddof))[:, used[:, None], used]
        variances = np.einsum("kii->ki", moments.covariances())[:, used]
        if not quirks.zero_variance:
            variances = np.einsum("kii->ki", self._covariances)
        places = np.asarray(naive, dtype=np.int64)
        means = moments.means[:, used]
        log_prior = self._log_prior
        return BarrowTables(
            log_prior, means, variances, covariances, places, strong, quirks, program
        )


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNaiveBayes(BarrowClassifier):
    r"""Naive Bayes for numbers, and for categories beside them.

    .. math:: \log P(c, x) = \log P(c) + \sum_i \log N(x_i; \mu_{ci}, \sigma_{ci}^2)
              + \sum_j \log P(x_j \mid c)

    over numbers i and categories j. A missing cell has no factor. On numbers alone it is
    scikit-learn's ``GaussianNB``.

    Parameters
    ----------
    categorical_features : list of names or positions, or mask, default=None
        Columns of numbers that are categories; labels always are.
    smoothing : policy, str or None, default=None
        For the categories; None: ``Laplace(a=1.0)``.
    handle_unknown : {"missing", "error"}, default="missing"
        What a category never seen in fit is at prediction.
    paper : bool or Quirks, default=False
        As Barrow's programs have it, or with some of their quirks
        (:class:`unnaive.tables.barrow.Quirks`).
    {parameters}

    References
    ----------
    John & Langley, "Estimating continuous distributions in Bayesian classifiers", UAI 1995.

    Examples
    --------
    >>> from unnaive import GaussianNaiveBayes
    >>> X = [[1.2, "red"], [0.8, "red"], [3.1, "blue"], [2.9, None]]
    >>> GaussianNaiveBayes().fit(X, ["no", "no", "yes", "yes"]).predict([[3.0, "red"]])
    array(['yes'], dtype='<U3')
    """

    categorical_features: Any = None
    smoothing: Any = None
    handle_unknown: str = "missing"
    paper: Any = False

    needs_covariances: ClassVar[bool] = False
    smoothed: ClassVar[dict[str, str]] = {
        "largest": "the largest",
        "added": "all, as scikit-learn does;\n        columns of very different units want 0",
    }

    @property
    def learns_from_moments(self) -> bool:
        """Whether rows that fit takes are all numbers: here they may be labels, too."""
        return False

    def _added_variances(self, variances: FloatArray) -> FloatArray:
        return np.full(len(variances), self.var_smoothing * variances.max(initial=0.0))

    def _choose_numbers(self, frame: Frame) -> IntArray:
        chosen = categorical_mask(self.categorical_features, frame.names)
        if chosen is None:
            raise ValueError(
                'categorical_features="auto" is for models that count; here every number is a '
                "number unless its column is named"
            )
        text = np.array([frame.column(index).is_text for index in range(len(frame.names))])
        return np.flatnonzero(~(text | chosen))

    def _learn_labels(
        self, action: str, frame: Frame, target: Column, weights: FloatArray | None
    ) -> None:
        others = self._label_frame(frame)
        if action == "fit":
            self._labels = self._label_model() if others.names else None
        if self._labels is None:
            return
        if action == "forget":
            self._labels.forget(others, target, weights)
        else:
            self._labels.partial_fit(others, target, self.classes_.tolist(), weights)

    def _label_model(self) -> NaiveBayes:
        """Naive Bayes of the categories, all classes alike: the prior is counted once."""
        k = len(self.classes_)
        return NaiveBayes(
            discretize=None,
            smoothing=self.smoothing,
            handle_unknown=self.handle_unknown,
            class_prior=np.full(k, 1.0 / k),
        )

    def _label_frame(self, frame: Frame) -> Frame:
        """Return the columns that are no numbers."""
        kept = np.setdiff1d(np.arange(len(frame.names)), self._number_columns)
        names = tuple(frame.names[i] for i in kept)
        return Frame(names, frame.n_rows, tuple(frame.column(i) for i in kept))

    def _whole_schema(self, moments: Moments) -> Schema:
        if self._labels is None:
            return moments.schema
        known = {c.name: c for c in (*moments.schema.columns, *self._labels.schema_.columns)}
        order = np.argsort(
            [*self._number_columns, *np.setdiff1d(np.arange(len(known)), self._number_columns)]
        )
        columns = list(known.values())
        return replace(moments.schema, columns=tuple(columns[place] for place in order))

    def _number_column(self, column: Column) -> FloatArray:
        if column.is_text and not column.missing.all():
            label = (column.categories or ())[column.values[~column.missing][0]]
            raise UnnaiveError(
                f"column {column.name!r} held numbers in fit and has the label {label!r} now; "
                "convert it to numbers"
            )
        return super()._number_column(column)

    def _joint_of_frame(self, frame: Frame) -> FloatArray:
        joint = super()._joint_of_frame(frame)
        if self._labels is None:
            return joint
        labels = self._labels.predict_joint_log_proba(self._label_frame(frame))
        return np.asarray(joint + labels + np.log(len(self.classes_)))

    def _terms(self, frame: Frame) -> Terms:
        from unnaive.tables.terms import Terms  # noqa: PLC0415 - loads when asked

        numbers = super()._terms(frame)
        if self._labels is None:
            return numbers
        labels = self._labels._split(self._label_frame(frame))
        kept = np.setdiff1d(np.arange(len(frame.names)), self._number_columns)
        keys = tuple(((int(kept[column]),), ()) for (column,), _ in labels.keys)
        parts = np.concatenate([numbers.parts, labels.parts], axis=2)
        return Terms((*numbers.keys, *keys), numbers.base, parts).answered(self._log_prior)

    def _state(self) -> dict[str, Any]:
        labels = None if self._labels is None else self._labels._state()
        return {**super()._state(), "labels_model": labels}

    def _restore(self, state: dict[str, Any]) -> Self:
        self._labels = None
        if state["labels_model"] is not None:
            self._labels = self._label_model()
            self._labels.classes_ = self.classes_
            self._labels._restore(state["labels_model"])
            names = self._labels.schema_.names
            self._labels._set_names(names, named=True)
        return super()._restore(state)

    def _build(self) -> Any:
        self.structure_ = independent(self.schema_.names, self.schema_.target)
        if self._quirks is not None:
            return self._barrow(np.arange(len(self.moments_.used)), "naive")
        return self._gaussian(self._covariances, independent_forms)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that labels are welcome here."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class FullBayes(BarrowClassifier, ShrinkingClassifier):
    r"""The full Gaussian: no independence at all, as in quadratic discriminant analysis.

    .. math:: P(c, x) = P(c)\, N(x; \mu_c, \Sigma_c)

    Missing cells are summed out.

    Parameters
    ----------
    shrinkage : float, "ledoit-wolf" or None, default=None
        Share of the mean variance, on the diagonal, in each class's covariance.
    pooling : float, default=0.0
        Share of the covariance that all classes have in common (Friedman's λ): between a
        quadratic discriminant, at 0, and a linear one, at 1. Before shrinkage.
    paper : bool or Quirks, default=False
        As Barrow's programs have it, or with some of their quirks
        (:class:`unnaive.tables.barrow.Quirks`).
    {parameters}

    References
    ----------
    Friedman, "Regularized discriminant analysis", Journal of the American Statistical
    Association 84, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import FullBayes
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)  # nothing that naive Bayes could see
    >>> FullBayes().fit(X, y).score(X, y) > 0.9
    True
    """

    def _build(self) -> Any:
        used = self.moments_.used
        places = self._number_columns[used].tolist()
        families = tuple((place, *places[:index]) for index, place in enumerate(places))
        self.structure_ = FamilyGraph(self.schema_.names, self.schema_.target, families)
        if self._quirks is not None:
            return self._barrow([], "full")
        return self._gaussian(self._covariances)

    def _acts_through(self) -> list[tuple[int, ...]]:
        every = range(len(self.moments_.used))
        return [tuple(other for other in every if other != column) for column in every]

    def _orders(self) -> list[IntArray]:
        return both_ways(len(self.moments_.used))


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkClassifier(ShrinkingClassifier):
    """Base of the Gaussian models on a network of columns."""

    def _choose(self, moments: Moments, rows: NumberRows | None) -> dict[str, Any]:
        learned = super()._choose(moments, rows)
        self._learned = learned
        covariances, shares = self._covariances, shares_of(moments.class_weights)
        variances = moments.variances[moments.used]
        families = self._families(
            gaussian_relevance(covariances, shares, variances),
            gaussian_information(covariances, shares),
        )
        return {**learned, "families": [list(family) for family in families]}

    @abstractmethod
    def _families(
        self, relevance: FloatArray, information: FloatArray
    ) -> Sequence[tuple[int, ...]]:
        """Columns in use with their parents, parents before children."""

    def _build(self) -> Any:
        families = [tuple(family) for family in self._learned["families"]]
        used = self.moments_.used.tolist()
        named = tuple(tuple(used[column] for column in family) for family in families)
        self.structure_ = FamilyGraph(self.schema_.names, self.schema_.target, named)
        own = self._covariances
        implied = partial(network_covariances, own, families)
        forms = network_forms(own, families)
        return GaussianTables(self._log_prior, self._means, implied, complete_forms, forms)


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianTAN(NetworkClassifier):
    r"""Tree-augmented naive Bayes for numbers: each a linear function of one other, and noise.

    .. math:: x_i \mid x_{\pi(i)}, c \sim N(\beta_{0c} + \beta_{1c}\, x_{\pi(i)}, \sigma_{ic}^2)

    The tree is the maximum spanning tree of the Gaussian I(X_i;X_j|Y).

    Parameters
    ----------
    shrinkage : float, "ledoit-wolf" or None, default=None
        Share of the mean variance, on the diagonal, in each class's covariance.
    pooling : float, default=0.0
        Share of the covariance that all classes have in common (Friedman's λ): between a
        quadratic discriminant, at 0, and a linear one, at 1. Before shrinkage.
    {parameters}

    References
    ----------
    Pérez, Larrañaga & Inza, "Supervised classification with conditional Gaussian networks",
    International Journal of Approximate Reasoning 43, 2006.

    Examples
    --------
    >>> from unnaive import GaussianTAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> GaussianTAN().fit(data.X[:, :3], data.y).structure_.edges
    [('x2', 'x0'), ('x2', 'x1')]
    """

    def _families(
        self, relevance: FloatArray, information: FloatArray
    ) -> Sequence[tuple[int, ...]]:
        parents = orient(maximum_spanning_tree(information), len(relevance), relevance)
        return tree_families(parents)


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianKDB(NetworkClassifier):
    r"""k-dependence Bayes for numbers: each a linear function of up to k others, and noise.

    Columns enter by falling Gaussian I(X_i;Y), and each takes the k columns before it of
    largest I(X_i;X_j|Y). k = 0 is Gaussian naive Bayes, k = d − 1 the full Gaussian.

    Parameters
    ----------
    k : int, default=2
        Number of parents besides the class.
    shrinkage : float, "ledoit-wolf" or None, default=None
        Share of the mean variance, on the diagonal, in each class's covariance.
    pooling : float, default=0.0
        Share of the covariance that all classes have in common (Friedman's λ): between a
        quadratic discriminant, at 0, and a linear one, at 1. Before shrinkage.
    {parameters}

    References
    ----------
    Pérez, Larrañaga & Inza, "Supervised classification with conditional Gaussian networks",
    International Journal of Approximate Reasoning 43, 2006.

    Examples
    --------
    >>> from unnaive import GaussianKDB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> len(GaussianKDB(k=1).fit(data.X[:, :4], data.y).structure_.edges)
    3
    """

    k: int = 2

    def _families(
        self, relevance: FloatArray, information: FloatArray
    ) -> Sequence[tuple[int, ...]]:
        most = whole_number(self.k, "k", 0)
        order, parents = ordered_parents(relevance, information, most, 0.0)
        return [(column, *parents[column]) for column in order.tolist()]


def tree_families(parents: IntArray) -> list[tuple[int, ...]]:
    """Columns of a tree with their parents, parents first."""
    graph = ParentGraph((), "", parents, np.zeros(len(parents)))
    return [(column, *graph.parents_of(column)) for column in graph.order.tolist()]
