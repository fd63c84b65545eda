"""Is the difference more than chance? Tests for one data set, and for many.

On one data set the scores of folds depend on each other, for their training rows overlap:
:func:`corrected_resampled_t` allows for that, a plain t-test finds differences that are none.
Over many data sets scores are independent but not of one scale, so ranks are compared:
:func:`wilcoxon_signed_rank` and :func:`sign_test` for two models, :func:`friedman` and
:func:`nemenyi` for more. :func:`mann_whitney` is for runs of a search with other seeds.

All tests are two-sided. Scores equal up to rounding (1e-12) are ties; gaps (NaN) are left out;
where nothing can be said, of one score or of ties alone, p is 1.

References
----------
Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import copysign, inf, isinf, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from unnaive._typing import FloatArray

_DIGITS = 12  # after the point; scores that differ later are equal
_EXACT = 50  # differences up to which the signed-rank distribution is enumerated


@dataclass(frozen=True)
class Verdict:
    """What a test of two said.

    Attributes
    ----------
    test : str
        Name of the test.
    compared : tuple of two str
        Who was compared with whom.
    statistic, p : float
        The test's statistic, and the chance of one as far out if there were no difference.
    n : int
        Scores, or pairs of them, that the test used.
    """

    test: str
    compared: tuple[str, str]
    statistic: float
    p: float
    n: int


@dataclass(frozen=True)
class FriedmanVerdict:
    """What the Friedman test said of several models on several data sets.

    Attributes
    ----------
    ranks : dict
        Mean rank of every model, 1 is best.
    statistic, p : float
        χ² with the correction for ties, k − 1 degrees of freedom.
    iman_davenport, iman_davenport_p : float
        F statistic made from it, less conservative; k − 1 and (k − 1)(n − 1) degrees.
    n : int
        Data sets on which all models have a score.
    """

    ranks: dict[str, float]
    statistic: float
    p: float
    iman_davenport: float
    iman_davenport_p: float
    n: int


@dataclass(frozen=True)
class NemenyiVerdict:
    """Models whose mean ranks differ by less than ``critical`` may well be equal.

    Attributes
    ----------
    ranks : dict
        Mean rank of every model, 1 is best.
    critical : float
        Critical difference of mean ranks; infinite without data sets.
    p : dict
        Chance of a difference as large, by pairs of models, allowing for all pairs.
    alpha : float
        Level of the critical difference.
    n : int
        Data sets on which all models have a score.
    """

    ranks: dict[str, float]
    critical: float
    p: dict[tuple[str, str], float]
    alpha: float
    n: int


def corrected_resampled_t(
    a: ArrayLike, b: ArrayLike, *, test_share: float, names: tuple[str, str] = ("a", "b")
) -> Verdict:
    """Compare scores of two models on the same folds by the corrected resampled t-test.

    t = mean / √((1/J + n₂/n₁) s²) of the J differences, J − 1 degrees of freedom, where n₂/n₁
    is the ratio of test to training rows. The plain t-test lacks that term.

    Parameters
    ----------
    a, b : array of shape (J,)
        Scores of the same folds, repeats one after the other.
    test_share : float
        Test rows divided by training rows: 1/9 for ten folds.
    names : tuple of two str
        Who is compared.

    References
    ----------
    Nadeau & Bengio, "Inference for the generalization error", Machine Learning 52, 2003, §4.

    Examples
    --------
    >>> tan = [0.90, 0.94, 0.92, 0.95, 0.93]
    >>> nb = [0.88, 0.91, 0.92, 0.91, 0.90]
    >>> found = corrected_resampled_t(tan, nb, test_share=1 / 4)
    >>> round(found.statistic, 3), round(found.p, 3)
    (2.359, 0.078)
    """
    if not test_share > 0:
        raise ValueError(f"test_share={test_share}: it is test rows / training rows, above 0")
    from scipy.stats import t as student  # noqa: PLC0415 - loaded when a test is asked for

    differences = _differences(a, b)
    n = len(differences)
    mean = float(differences.mean()) if n else 0.0
    statistic, p = 0.0, 1.0
    if n > 1 and mean:
        # Equal up to the rounding of scores, as good as no spread at all.
        spread = sqrt(float(differences.var(ddof=1)) * (1 / n + test_share))
        statistic = mean / spread if spread > 10**-_DIGITS else copysign(inf, mean)
        p = 0.0 if isinf(statistic) else float(2 * student.sf(abs(statistic), n - 1))
    return Verdict("corrected resampled t-test", names, statistic, p, n)


def mann_whitney(a: ArrayLike, b: ArrayLike, *, names: tuple[str, str] = ("a", "b")) -> Verdict:
    """Compare two independent samples, such as runs with other seeds, by Mann–Whitney's U.

    Exact for samples without ties of which one has at most 8 values, otherwise the normal
    approximation with corrections for ties and continuity. ``statistic`` is U of ``a``: how
    many pairs ``a`` wins, ties ½.

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
    """Compare two models over several data sets by the ranks of their differences.

    Data sets where both are equal are left out, as Wilcoxon does. Exact for up to 50
    differences, ties among them or not, otherwise the normal approximation. ``statistic`` is
    the smaller of the two sums of ranks.

    References
    ----------
    Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.

    Examples
    --------
    >>> a, b = [0.91, 0.85, 0.74, 0.99, 0.66], [0.90, 0.81, 0.76, 0.93, 0.61]
    >>> found = wilcoxon_signed_rank(a, b)
    >>> found.statistic, found.p, found.n
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
    """Share of all ways to give the ranks signs that are as one-sided; ranks may be halves."""
    doubled = np.round(2 * ranks).astype(int)
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1
    for step in doubled:
        ways[step:] += ways[:-step].copy()
    return min(1.0, 2 * float(ways[: round(2 * smaller) + 1].sum()) / 2.0 ** len(ranks))


def sign_test(a: ArrayLike, b: ArrayLike, *, names: tuple[str, str] = ("a", "b")) -> Verdict:
    """Compare two models by who is better on how many data sets, exactly; ties are left out.

    ``statistic`` is the number of data sets where ``a`` has the larger score.

    Examples
    --------
    >>> found = sign_test([0.9, 0.8, 0.7, 0.9, 0.8, 0.6], [0.8, 0.7, 0.6, 0.7, 0.7, 0.6])
    >>> found.statistic, found.p, found.n
    (5.0, 0.0625, 5)
    """
    from scipy.stats import binomtest  # noqa: PLC0415 - loaded when a test is asked for

    differences = _differences(a, b)
    wins, n = int((differences > 0).sum()), int((differences != 0).sum())
    p = float(binomtest(wins, n).pvalue) if n else 1.0
    return Verdict("sign test", names, float(wins), p, n)


def friedman(scores: Mapping[str, ArrayLike], *, lower_is_better: bool = False) -> FriedmanVerdict:
    """Ask whether any of several models differs from the others over several data sets.

    Parameters
    ----------
    scores : dict of str to array of shape (n,)
        For every model its score on the data sets, in the same order. Data sets where a model
        has none (NaN) are left out for all.
    lower_is_better : bool
        Whether the lowest score is best, as for a loss.

    References
    ----------
    Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis
    of variance", JASA 32, 1937; Iman & Davenport, "Approximations of the critical region of
    the Friedman statistic", Communications in Statistics A9, 1980.

    Examples
    --------
    >>> scores = {"nb": [0.81, 0.70, 0.91, 0.66], "tan": [0.85, 0.72, 0.90, 0.71],
    ...           "aode": [0.86, 0.75, 0.93, 0.70]}
    >>> found = friedman(scores)
    >>> found.ranks, round(found.p, 3)
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
        # All data sets rank alike: nothing is left below the line.
        ratio = (n - 1) * statistic / rest if rest > 10**-_DIGITS else inf
        p = float(chi2.sf(statistic, k - 1))
        p_of_ratio = float(f.sf(ratio, k - 1, (k - 1) * (n - 1)))
    return FriedmanVerdict(_mean_ranks(scores, ranked), statistic, p, ratio, p_of_ratio, n)


def nemenyi(
    scores: Mapping[str, ArrayLike], *, lower_is_better: bool = False, alpha: float = 0.05
) -> NemenyiVerdict:
    """Find which of several models differ over several data sets, once :func:`friedman` does.

    Two models differ if their mean ranks are at least q_α √(k(k + 1)/6n) apart, where q_α is
    the studentized range of k groups divided by √2.

    Parameters
    ----------
    scores, lower_is_better
        As in :func:`friedman`.
    alpha : float
        Chance of finding any difference where there is none.

    References
    ----------
    Nemenyi, "Distribution-free multiple comparisons", PhD thesis, Princeton, 1963.

    Examples
    --------
    >>> scores = {"nb": [0.81, 0.70, 0.91, 0.66], "tan": [0.85, 0.72, 0.90, 0.71],
    ...           "aode": [0.86, 0.75, 0.93, 0.70]}
    >>> found = nemenyi(scores)
    >>> round(found.critical, 3), round(found.p["nb", "aode"], 3)
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
    """Return q_α for k models: the studentized range with infinite degrees of freedom, over √2.

    Examples
    --------
    >>> [round(critical_value(k), 2) for k in (2, 3, 10)]
    [1.96, 2.34, 3.16]
    """
    if k < 2 or not 0 < alpha < 1:
        raise ValueError(f"k={k}, alpha={alpha}: at least 2 models, and a level between 0 and 1")
    from scipy.stats import studentized_range  # noqa: PLC0415 - loaded when a test is asked for

    return float(studentized_range.ppf(1 - alpha, k, inf)) / sqrt(2)


def _studentized(statistic: float, k: int) -> float:
    from scipy.stats import studentized_range  # noqa: PLC0415 - loaded when a test is asked for

    return float(np.clip(studentized_range.sf(statistic * sqrt(2), k, inf), 0, 1))


def holm(p: ArrayLike) -> FloatArray:
    """Adjust the p of several tests so that the chance of any false alarm stays below α.

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
    """Rank along the last axis, 1 is best; ties share the mean of their ranks, NaN has none.

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
        raise ValueError(f"scores have shape {values.shape}; give one list of numbers a model")
    return values[np.isfinite(values)]


def _differences(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """Differences of pairs without gaps, 0 where they are rounding alone; shape (n,)."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(
            f"scores have shapes {x.shape} and {y.shape}; pairs need two lists of one length"
        )
    known = np.isfinite(x) & np.isfinite(y)
    return np.round(x[known] - y[known], _DIGITS) + 0.0


def _ranked(scores: Mapping[str, ArrayLike], lower_is_better: bool) -> FloatArray:
    """Ranks of the models on every data set without gaps; shape (n, k)."""
    columns = [np.asarray(column, dtype=np.float64) for column in scores.values()]
    if len(columns) < 2 or any(c.shape != columns[0].shape or c.ndim != 1 for c in columns):
        shapes = {name: np.shape(column) for name, column in scores.items()}
        raise ValueError(
            f"scores have shapes {shapes}; give at least two models, each with one score a data set"
        )
    table = np.column_stack(columns)
    return rank(table[np.isfinite(table).all(axis=1)], lower_is_better=lower_is_better)


def _mean_ranks(scores: Mapping[str, ArrayLike], ranked: FloatArray) -> dict[str, float]:
    middle = (ranked.shape[1] + 1) / 2
    means = ranked.mean(axis=0) if len(ranked) else np.full(ranked.shape[1], middle)
    return dict(zip(scores, means.tolist(), strict=True))
