"""Significance tests for comparing models on one data set or on several.

On one data set, the scores of folds are dependent because their training samples overlap.
:func:`corrected_resampled_t` accounts for this; a plain t-test finds too many differences. Over
several data sets, scores are independent but have different scales, so ranks are compared:
:func:`wilcoxon_signed_rank` and :func:`sign_test` for two models, :func:`friedman` and
:func:`nemenyi` for more. :func:`mann_whitney` compares runs of a search with different seeds.

All tests are two-sided. Scores that differ by less than 1e-12 are ties, and missing scores (NaN)
are left out. If there are too few scores or only ties, p is 1.

References
----------
Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.
"""

from __future__ import annotations

from functools import lru_cache
from math import copysign, inf, isinf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from unnaive._docstrings import described_like
from unnaive.evaluate.verdicts import FriedmanVerdict, NemenyiVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from unnaive._typing import FloatArray

_DIGITS = 12  # decimals; scores that differ only beyond are equal
_EXACT = 50  # most differences for which the signed-rank distribution is enumerated


def corrected_resampled_t(
    a: ArrayLike, b: ArrayLike, *, test_share: float, names: tuple[str, str] = ("a", "b")
) -> Verdict:
    """Compare two models on the same folds by the corrected resampled t-test.

    t = mean / √((1/J + n₂/n₁) s²) of the J differences, with J − 1 degrees of freedom. n₂/n₁ is
    the ratio of test to training samples; it corrects for the overlap of training samples, which
    the plain t-test ignores.

    Parameters
    ----------
    a, b : array of shape (J,)
        Scores of the two models on the same folds, over all repeats.
    test_share : float
        Number of test samples divided by number of training samples: 1/9 for ten folds.
    names : tuple of two str
        Names of the two models, for the result.

    Returns
    -------
    Verdict
        The statistic is positive if ``a`` has the higher scores.

    See Also
    --------
    holm : Adjusts the p-values of several tests.
    Comparison.against : Applies this test to every model of a comparison.

    References
    ----------
    Nadeau & Bengio, "Inference for the generalization error", Machine Learning 52, 2003, §4.

    Examples
    --------
    >>> tan = [0.90, 0.94, 0.92, 0.95, 0.93]
    >>> nb = [0.88, 0.91, 0.92, 0.91, 0.90]
    >>> result = corrected_resampled_t(tan, nb, test_share=1 / 4)
    >>> round(result.statistic, 3), round(result.p, 3)
    (2.359, 0.078)
    """
    if not test_share > 0:
        raise ValueError(f"test_share={test_share}: it must be above 0 (test rows / training rows)")
    from scipy.stats import t as student  # noqa: PLC0415 - loaded when a test is asked for

    differences = _differences(a, b)
    n = len(differences)
    mean = float(differences.mean()) if n else 0.0
    statistic, p = 0.0, 1.0
    if n > 1 and mean:
        # Differences equal up to rounding have no spread.
        spread = sqrt(float(differences.var(ddof=1)) * (1 / n + test_share))
        statistic = mean / spread if spread > 10**-_DIGITS else copysign(inf, mean)
        p = 0.0 if isinf(statistic) else float(2 * student.sf(abs(statistic), n - 1))
    return Verdict("corrected resampled t-test", names, statistic, p, n)


def mann_whitney(a: ArrayLike, b: ArrayLike, *, names: tuple[str, str] = ("a", "b")) -> Verdict:
    """Compare two independent sets of scores by the Mann–Whitney U test.

    Use it for scores that are not paired, such as runs of a search with different random seeds.
    The p-value is exact if there are no ties and one set has at most 8 scores; otherwise it is the
    normal approximation with corrections for ties and continuity.

    Parameters
    ----------
    a, b : array of shape (n,)
        Scores; the two may have different lengths.
    names : tuple of two str
        Names of the two models, for the result.

    Returns
    -------
    Verdict
        The statistic is U of ``a``: the number of pairs in which ``a`` is higher, ties count ½.

    See Also
    --------
    wilcoxon_signed_rank : For paired scores.

    References
    ----------
    Mann & Whitney, "On a test of whether one of two random variables is stochastically larger
    than the other", Annals of Mathematical Statistics 18, 1947.

    Examples
    --------
    >>> mann_whitney([0.91, 0.92, 0.94], [0.84, 0.86, 0.90, 0.89])
    Verdict(test='Mann-Whitney U', compared=('a', 'b'), statistic=12.0, p=0.057..., n=7)
    """
    from scipy.stats import mannwhitneyu  # noqa: PLC0415 - loaded when a test is asked for

    x, y = (np.round(_known(sample), _DIGITS) for sample in (a, b))
    both = np.concatenate([x, y])
    statistic, p = len(x) * len(y) / 2, 1.0
    if len(x) and len(y) and both.min() < both.max():
        test = mannwhitneyu(x, y, alternative="two-sided")
        statistic, p = float(test.statistic), float(test.pvalue)
    return Verdict("Mann-Whitney U", names, statistic, p, len(both))


def wilcoxon_signed_rank(
    a: ArrayLike, b: ArrayLike, *, names: tuple[str, str] = ("a", "b")
) -> Verdict:
    """Compare two models over several data sets by the Wilcoxon signed-rank test.

    Data sets on which both are equal are left out, as in Wilcoxon's paper. The p-value is exact
    for up to 50 differences, also with ties; otherwise it is the normal approximation.

    Parameters
    ----------
    a, b : array of shape (n,)
        Scores of the two models on the same data sets.
    names : tuple of two str
        Names of the two models, for the result.

    Returns
    -------
    Verdict
        The statistic is the smaller of the two sums of ranks.

    See Also
    --------
    sign_test : Uses only the signs of the differences.
    friedman : For more than two models.

    References
    ----------
    Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.

    Examples
    --------
    >>> a, b = [0.91, 0.85, 0.74, 0.99, 0.66], [0.90, 0.81, 0.76, 0.93, 0.61]
    >>> result = wilcoxon_signed_rank(a, b)
    >>> result.statistic, result.p, result.n
    (2.0, 0.1875, 5)
    """
    from scipy.stats import wilcoxon  # noqa: PLC0415 - loaded when a test is asked for

    differences = _differences(a, b)
    differences = differences[differences != 0]
    n = len(differences)
    statistic, p = 0.0, 1.0
    if n > _EXACT:
        test = wilcoxon(differences)
        statistic, p = float(test.statistic), float(test.pvalue)
    elif n:
        ranks = rank(np.abs(differences), lower_is_better=True)
        statistic = float(min(ranks[differences > 0].sum(), ranks[differences < 0].sum()))
        p = _chance_of_rank_sum(statistic, ranks)
    return Verdict("Wilcoxon signed-rank", names, statistic, p, n)


def _chance_of_rank_sum(smaller: float, ranks: FloatArray) -> float:
    """Return the exact p-value of a rank sum, over all signs; ranks may be halves."""
    doubled = np.round(2 * ranks).astype(int)
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1
    for step in doubled:
        ways[step:] += ways[:-step].copy()
    return min(1.0, 2 * float(ways[: round(2 * smaller) + 1].sum()) / 2.0 ** len(ranks))


@described_like(wilcoxon_signed_rank)
def sign_test(a: ArrayLike, b: ArrayLike, *, names: tuple[str, str] = ("a", "b")) -> Verdict:
    """Compare two models over several data sets by the sign test.

    The p-value is that of the binomial distribution with probability ½. Ties are left out.

    Returns
    -------
    Verdict
        The statistic is the number of data sets on which ``a`` has the higher score.

    See Also
    --------
    wilcoxon_signed_rank : Also uses the sizes of the differences.

    Examples
    --------
    >>> result = sign_test([0.9, 0.8, 0.7, 0.9, 0.8, 0.6], [0.8, 0.7, 0.6, 0.7, 0.7, 0.6])
    >>> result.statistic, result.p, result.n
    (5.0, 0.0625, 5)
    """
    from scipy.stats import binomtest  # noqa: PLC0415 - loaded when a test is asked for

    differences = _differences(a, b)
    wins, n = int((differences > 0).sum()), int((differences != 0).sum())
    p = float(binomtest(wins, n).pvalue) if n else 1.0
    return Verdict("sign test", names, float(wins), p, n)


def friedman(scores: Mapping[str, ArrayLike], *, lower_is_better: bool = False) -> FriedmanVerdict:
    """Test whether any of several models differs from the others over several data sets.

    χ² = 12n / (k(k + 1)) Σ (R_j − (k + 1)/2)² for mean ranks R_j of k models on n data sets,
    corrected for ties.

    Parameters
    ----------
    scores : dict of str to array of shape (n,)
        Scores of every model on the data sets, in the same order. Data sets on which a model has
        no score (NaN) are left out for all.
    lower_is_better : bool, default=False
        Whether the lowest score is best, as for a loss.

    Returns
    -------
    FriedmanVerdict
        Mean ranks, statistics and p-values.

    See Also
    --------
    nemenyi : Which models differ, if this test is significant.
    compare_many : Runs models on several data sets.

    References
    ----------
    Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis
    of variance", JASA 32, 1937; Iman & Davenport, "Approximations of the critical region of
    the Friedman statistic", Communications in Statistics A9, 1980.

    Examples
    --------
    >>> scores = {"nb": [0.81, 0.70, 0.91, 0.66], "tan": [0.85, 0.72, 0.90, 0.71],
    ...           "aode": [0.86, 0.75, 0.93, 0.70]}
    >>> result = friedman(scores)
    >>> result.ranks, round(result.p, 3)
    ({'nb': 2.75, 'tan': 2.0, 'aode': 1.25}, 0.105)
    """
    from scipy.stats import chi2, f  # noqa: PLC0415 - loaded when a test is asked for

    ranked = _ranked(scores, lower_is_better)
    n, k = ranked.shape
    statistic, ratio, p, p_of_ratio = 0.0, 0.0, 1.0, 1.0
    middle = (k + 1) / 2
    spread = float(((ranked - middle) ** 2).sum()) / (k - 1) if k > 1 else 0.0  # ties lower it
    if n > 1 and spread > 0:
        statistic = n * n * float(((ranked.mean(axis=0) - middle) ** 2).sum()) / spread
        rest = n * (k - 1) - statistic
        # All data sets rank the models alike: the denominator is 0.
        ratio = (n - 1) * statistic / rest if rest > 10**-_DIGITS else inf
        p = float(chi2.sf(statistic, k - 1))
        p_of_ratio = float(f.sf(ratio, k - 1, (k - 1) * (n - 1)))
    return FriedmanVerdict(_mean_ranks(scores, ranked), statistic, p, ratio, p_of_ratio, n)


def nemenyi(
    scores: Mapping[str, ArrayLike], *, lower_is_better: bool = False, alpha: float = 0.05
) -> NemenyiVerdict:
    """Test which of several models differ over several data sets.

    Use it after a significant :func:`friedman`. Two models differ if their mean ranks differ by at
    least q_α √(k(k + 1)/6n), where q_α is the quantile of the studentized range of k groups divided
    by √2.

    Parameters
    ----------
    scores : dict of str to array of shape (n,)
        Scores of every model on the data sets, as in :func:`friedman`.
    lower_is_better : bool, default=False
        Whether the lowest score is best, as for a loss.
    alpha : float, default=0.05
        Probability of finding any difference if there is none.

    Returns
    -------
    NemenyiVerdict
        Mean ranks, critical difference, and the p-value of every pair.

    See Also
    --------
    friedman : Whether any model differs.
    unnaive.explain.plot_critical_difference : Draws the result.

    References
    ----------
    Nemenyi, "Distribution-free multiple comparisons", PhD thesis, Princeton, 1963.

    Examples
    --------
    >>> scores = {"nb": [0.81, 0.70, 0.91, 0.66], "tan": [0.85, 0.72, 0.90, 0.71],
    ...           "aode": [0.86, 0.75, 0.93, 0.70]}
    >>> result = nemenyi(scores)
    >>> round(result.critical, 3), round(result.p["nb", "aode"], 3)
    (1.657, 0.086)
    """
    ranked = _ranked(scores, lower_is_better)
    n, k = ranked.shape
    ranks = _mean_ranks(scores, ranked)
    unit = sqrt(k * (k + 1) / (6 * n)) if n else inf
    names = list(ranks)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return NemenyiVerdict(
        ranks=ranks,
        critical=critical_value(k, alpha) * unit,
        p={(a, b): _studentized(abs(ranks[a] - ranks[b]) / unit, k) for a, b in pairs},
        alpha=alpha,
        n=n,
    )


@lru_cache(maxsize=256)
def critical_value(k: int, alpha: float = 0.05) -> float:
    """Return q_α for k models: studentized range with infinite degrees of freedom, over √2.

    Examples
    --------
    >>> [round(critical_value(k), 2) for k in (2, 3, 10)]
    [1.96, 2.34, 3.16]
    """
    if k < 2 or not 0 < alpha < 1:
        raise ValueError(f"k={k}, alpha={alpha}: use at least 2 models, and alpha between 0 and 1")
    from scipy.stats import studentized_range  # noqa: PLC0415 - loaded when a test is asked for

    return float(studentized_range.ppf(1 - alpha, k, inf)) / sqrt(2)


def _studentized(statistic: float, k: int) -> float:
    from scipy.stats import studentized_range  # noqa: PLC0415 - loaded when a test is asked for

    return float(np.clip(studentized_range.sf(statistic * sqrt(2), k, inf), 0, 1))


def holm(p: ArrayLike) -> FloatArray:
    """Adjust p-values of several tests by Holm's method.

    The probability of any false positive is then at most α, if the tests with adjusted p below α
    are called significant.

    Parameters
    ----------
    p : array of shape (n,)
        The p-values of the tests.

    Returns
    -------
    ndarray of shape (n,)
        Adjusted p-values, in the same order.

    See Also
    --------
    Comparison.against : Uses this for the tests against the best model.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    stepped = values[order] * np.arange(len(values), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def rank(scores: ArrayLike, *, lower_is_better: bool = False) -> FloatArray:
    """Rank along the last axis; 1 is best, ties get their mean rank, NaN stays NaN.

    Examples
    --------
    >>> rank([0.8, 0.9, 0.8]).tolist()
    [2.5, 1.0, 2.5]
    """
    values = np.round(np.asarray(scores, dtype=np.float64), _DIGITS)
    values = values if lower_is_better else -values
    below = (values[..., None, :] < values[..., :, None]).sum(axis=-1)
    equal = (values[..., None, :] == values[..., :, None]).sum(axis=-1)
    return np.where(np.isnan(values), np.nan, below + (equal + 1) / 2)


def _known(sample: ArrayLike) -> FloatArray:
    values = np.asarray(sample, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(
            f"scores have shape {values.shape}; give one list of numbers for each model"
        )
    return values[np.isfinite(values)]


def _differences(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """Return differences of complete pairs, 0 if they are only rounding; shape (n,)."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(
            f"scores have shapes {x.shape} and {y.shape}; give two lists of the same length"
        )
    known = np.isfinite(x) & np.isfinite(y)
    return np.round(x[known] - y[known], _DIGITS) + 0.0


def _ranked(scores: Mapping[str, ArrayLike], lower_is_better: bool) -> FloatArray:
    """Return ranks of the models on every data set where all have scores; shape (n, k)."""
    columns = [np.asarray(column, dtype=np.float64) for column in scores.values()]
    if len(columns) < 2 or any(c.shape != columns[0].shape or c.ndim != 1 for c in columns):
        shapes = {name: np.shape(column) for name, column in scores.items()}
        raise ValueError(
            f"scores have shapes {shapes}; give at least two models, with one score per data set"
        )
    table = np.column_stack(columns)
    return rank(table[np.isfinite(table).all(axis=1)], lower_is_better=lower_is_better)


def _mean_ranks(scores: Mapping[str, ArrayLike], ranked: FloatArray) -> dict[str, float]:
    middle = (ranked.shape[1] + 1) / 2
    means = ranked.mean(axis=0) if len(ranked) else np.full(ranked.shape[1], middle)
    return dict(zip(scores, means.tolist(), strict=True))
