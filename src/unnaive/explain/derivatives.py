"""Dependence derivatives: the error of naive Bayes that each feature's dependences cause."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from unnaive._axes import new_axes
from unnaive._dataclasses import dataclass
from unnaive._docstrings import described_like
from unnaive.explain.shared import LINE, MARK, documented, signed_bars
from unnaive.models.knaive_rows import set_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, Label
    from unnaive.models import Classifier, KNaiveBayes


@dataclass(frozen=True, eq=False, repr=False)
class DependenceDerivatives:
    r"""Dependence derivatives in logarithms; :func:`dependence_derivatives` returns them.

    Parameters
    ----------
    names : tuple of str
        Names of the features.
    classes : list
        Class labels.
    log_dd : ndarray of shape (n, k, d)
        :math:`\log dd_c(x_i) = \log p(x_i \mid \ldots, c) - \log p(x_i \mid c)`.
    naive_joint : ndarray of shape (n, k)
        Log joint of naive Bayes with the model's own p(x_i | c).
    mode : str
        "parents" or "full-conditional".

    See Also
    --------
    dependence_derivatives : Computes them.
    plot_dependence_derivatives : Draws them.

    Examples
    --------
    >>> from unnaive import TAN
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = TAN().fit(X, [0, 1, 1, 0] * 5)
    >>> dependence_derivatives(model, X[:2]).log_gdf().round(1)
    array([-3.6,  3.6])
    """

    names: tuple[str, ...]
    classes: list[Label]
    log_dd: FloatArray
    naive_joint: FloatArray
    mode: str

    def __repr__(self) -> str:
        n, _, d = self.log_dd.shape
        return f"DependenceDerivatives({n} rows, {d} columns, mode={self.mode!r})"

    def log_ddr(self, positive: Label = None, negative: Label = None) -> FloatArray:
        """Compute log dd₊ / dd₋ of every sample and feature.

        Above 0, the dependences of a feature favor the positive class; naive Bayes ignores that.

        Parameters
        ----------
        positive : class label, default=None
            The class in the numerator; None: the last one.
        negative : class label, default=None
            The class in the denominator; None: the first one.

        Returns
        -------
        ndarray of shape (n, d)
            The log-odds that naive Bayes lacks, feature by feature.
        """
        above = self._place(positive, len(self.classes) - 1)
        below = self._place(negative, 0)
        return np.asarray(self.log_dd[:, above] - self.log_dd[:, below])

    @described_like(log_ddr)
    def log_gdf(self, positive: Label = None, negative: Label = None) -> FloatArray:
        """Compute the sum of log ddr over all features: the log-odds that naive Bayes lacks.

        Returns
        -------
        ndarray of shape (n,)
            The sum of :meth:`log_ddr` over features.
        """
        return np.asarray(self.log_ddr(positive, negative).sum(axis=1))

    def weights(
        self, positive: Label = None, negative: Label = None, weighting: str = "log-mean"
    ) -> FloatArray:
        """Compute one weight for every feature.

        Parameters
        ----------
        positive : class label, default=None
            The class in the numerator; None: the last one.
        negative : class label, default=None
            The class in the denominator; None: the first one.
        weighting : {"log-mean", "mean"}, default="log-mean"
            The mean of log ddr over samples, or the logarithm of the mean of ddr.

        Returns
        -------
        ndarray of shape (d,)
            The weights, in nats.
        """
        if weighting not in {"log-mean", "mean"}:
            raise ValueError(f"weighting={weighting!r}; it must be 'log-mean' or 'mean'")
        ratios = self.log_ddr(positive, negative)
        if weighting == "log-mean":
            return np.asarray(ratios.mean(axis=0))
        return np.asarray(logsumexp(ratios, axis=0) - np.log(len(ratios)))

    def _place(self, label: Label, default: int) -> int:
        if label is None:
            return default
        if label not in self.classes:
            raise ValueError(f"{label!r} is not a class; the classes are {self.classes}")
        return self.classes.index(label)


def dependence_derivatives(
    model: Classifier, X: object, mode: str = "full-conditional"
) -> DependenceDerivatives:
    r"""Compare the model's probability of each value with that of naive Bayes.

    .. math:: dd_c(x_i) = \frac{p(x_i \mid \ldots, c)}{p(x_i \mid c)},
              \qquad ddr(x_i) = \frac{dd_+(x_i)}{dd_-(x_i)},
              \qquad gdf(x) = \prod_i ddr(x_i)

    Parameters
    ----------
    model : Classifier
        Any fitted model of this library.
    X : data frame or array-like of shape (n, d)
        Samples. A missing value has a derivative of 1.
    mode : {"full-conditional", "parents"}, default="full-conditional"
        Condition on all other features; or on the parents of the feature, if the model has
        parents. With parents, the odds of naive Bayes times gdf are exactly the odds of the model
        (Zhang's theorem). The product of full conditionals is a pseudo-likelihood, not the
        posterior.

    Returns
    -------
    DependenceDerivatives
        Logarithms of the derivatives of every sample, class and feature.

    See Also
    --------
    plot_dependence_derivatives : Draw the result.
    Explanation : Contributions of features to the prediction itself.

    References
    ----------
    Zhang, "The optimality of naive Bayes", FLAIRS 2004; Lionel R. Barrow, "A Method for
    Automatically Generating Network Structure in Bayesian Classifiers", Bard College, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import TAN
    >>> from unnaive.explain import dependence_derivatives
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = TAN().fit(X, [0, 1, 1, 0] * 5)
    >>> result = dependence_derivatives(model, X[:2], mode="parents")
    >>> odds = result.naive_joint[:, 1] - result.naive_joint[:, 0] + result.log_gdf()
    >>> joint = model.predict_joint_log_proba(X[:2])
    >>> np.allclose(odds, joint[:, 1] - joint[:, 0])
    True
    """
    conditional, alone, log_prior = model.predict_log_conditionals(X, mode)
    with np.errstate(invalid="ignore"):
        log_dd = np.where(np.isneginf(conditional) & np.isneginf(alone), 0.0, conditional - alone)
    return DependenceDerivatives(
        model.schema_.names,
        model.classes_.tolist(),
        log_dd,
        np.asarray(log_prior + alone.sum(axis=2)),
        mode,
    )


@documented
def plot_dependence_derivatives(
    found: DependenceDerivatives,
    row: int | None = None,
    *,
    positive: Label = None,
    negative: Label = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the log-odds that naive Bayes lacks, feature by feature.

    A bar to the right: the dependences of the feature favor the positive class. The title has the
    sum over all features.

    Parameters
    ----------
    found : DependenceDerivatives
        Result of :func:`dependence_derivatives`.
    row : int, default=None
        Position of a sample; None: the mean over all samples, with a thin line from the first to
        the third quartile.
    positive : class label, default=None
        The class in the numerator of the odds; None: the last one.
    negative : class label, default=None
        The class in the denominator of the odds; None: the first one.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    dependence_derivatives : Computes what is drawn.

    Examples
    --------
    >>> from unnaive import TAN
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = TAN().fit(X, [0, 1, 1, 0] * 5)
    >>> plot_dependence_derivatives(dependence_derivatives(model, X), row=1).get_title()
    'naive Bayes neglects +3.58 in total'
    """
    ratios = found.log_ddr(positive, negative)
    if row is not None and not -len(ratios) <= row < len(ratios):
        raise ValueError(f"row={row}; there are {len(ratios)} rows, from 0 to {len(ratios) - 1}")
    shown = ratios.mean(axis=0) if row is None else ratios[row]
    order = np.argsort(-np.abs(shown), kind="stable")
    ax = signed_bars([found.names[column] for column in order], shown[order], ax)
    if row is None:
        low, high = np.quantile(ratios[:, order], [0.25, 0.75], axis=0)
        ax.hlines(range(len(order)), low, high, color="0.3", linewidth=1)
    above = found.classes[-1] if positive is None else positive
    below = found.classes[0] if negative is None else negative
    ax.set_xlabel(f"neglected log-odds of {above!r} against {below!r} (nats)")
    ax.set_title(f"naive Bayes neglects {shown.sum():+z.3g} in total")
    return ax


@documented
def plot_set_weights(
    model: KNaiveBayes,
    X: object,
    y: object,
    *,
    n_sets: int = 500,
    random_state: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Plot the log weight of sets of features against the accuracy of their k-naive models.

    Every point is a set of as many features as the model treats as independent. The thesis
    expects the sets with a log weight near 0 to be the best; the set of the model is marked.

    Parameters
    ----------
    model : KNaiveBayes
        A fitted model of two classes.
    {X}
    {y}
    n_sets : int, default=500
        Number of sets, drawn at random if there are more.
    random_state : int, default=0
        Random seed of the sets.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    dependence_derivatives : What the weights are made of.

    References
    ----------
    Lionel R. Barrow, "A Method for Automatically Generating Network Structure in Bayesian
    Classifiers", Bard College, 2011, pages 47 to 49.

    Examples
    --------
    >>> from unnaive import KNaiveBayes
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = KNaiveBayes(k=2, var_smoothing=0).fit(data.X[::2, :6], data.y[::2])
    >>> ax = plot_set_weights(model, data.X[1::2, :6], data.y[1::2])
    >>> len(ax.collections[0].get_offsets()), ax.get_title()
    (15, '15 sets of 2 features')
    """
    frame, spread = model.known_frame(X), model.fitted_.spread
    size, every = len(spread.learned["naive"]), range(len(spread.used))
    sets = set_sample(list(every), size, n_sets, random_state)
    logs, right = set_weights(model, frame, np.asarray(y), sets)
    own = set_weights(model, frame, np.asarray(y), [spread.learned["naive"]])
    ax = new_axes(ax)
    ax.scatter(logs, right, s=12, color=LINE, alpha=0.6, label="a set")
    ax.scatter(*own, s=60, color=MARK, marker="D", label="the set of the model")
    ax.axvline(0.0, color="0.6", linestyle=":")
    ax.set(xlabel="log weight of the set (nats)", ylabel="accuracy")
    ax.set_title(f"{len(logs)} sets of {size} feature{'s' * (size != 1)}")
    ax.legend()
    return ax


def set_sample(
    columns: list[int], size: int, most: int, random_state: int
) -> list[tuple[int, ...]]:
    """Return all sets of a size, or a random sample of them."""
    if comb(len(columns), size) <= most:
        return list(combinations(columns, size))
    random = np.random.default_rng(random_state)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most:
        drawn[tuple(sorted(random.choice(columns, size, replace=False).tolist()))] = None
    return list(drawn)
