"""Results of significance tests."""

from __future__ import annotations

from unnaive._dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """Result of a test of two models.

    Parameters
    ----------
    test : str
        Name of the test.
    compared : tuple of two str
        Names of the two models.
    statistic : float
        The test's statistic.
    p : float
        Probability of a statistic at least as extreme if the models do not differ.
    n : int
        Number of scores, or pairs of scores, that the test used.

    See Also
    --------
    corrected_resampled_t : Test on the folds of one data set.
    wilcoxon_signed_rank : Test over several data sets.

    Examples
    --------
    >>> Verdict("sign test", ("tan", "nb"), statistic=5.0, p=0.0625, n=5).p < 0.05
    False
    """

    test: str
    compared: tuple[str, str]
    statistic: float
    p: float
    n: int


@dataclass(frozen=True)
class FriedmanVerdict:
    """Result of the Friedman test of several models on several data sets.

    Parameters
    ----------
    ranks : dict of str to float
        Mean rank of every model; 1 is best.
    statistic : float
        Statistic χ², corrected for ties, with k − 1 degrees of freedom.
    p : float
        Its p-value.
    iman_davenport : float
        F statistic derived from χ², less conservative, with k − 1 and (k − 1)(n − 1) degrees of
        freedom.
    iman_davenport_p : float
        Its p-value.
    n : int
        Number of data sets on which all models have a score.

    See Also
    --------
    friedman : Returns this.
    NemenyiVerdict : Which models differ.

    Examples
    --------
    >>> from unnaive.evaluate import friedman
    >>> friedman({"nb": [0.8, 0.7, 0.9], "tan": [0.9, 0.8, 0.95]}).ranks
    {'nb': 2.0, 'tan': 1.0}
    """

    ranks: dict[str, float]
    statistic: float
    p: float
    iman_davenport: float
    iman_davenport_p: float
    n: int


@dataclass(frozen=True)
class NemenyiVerdict:
    """Result of the Nemenyi test of several models on several data sets.

    Two models differ significantly if their mean ranks differ by at least ``critical``.

    Parameters
    ----------
    ranks : dict of str to float
        Mean rank of every model; 1 is best.
    critical : float
        Critical difference of mean ranks; infinite without data sets.
    p : dict of (str, str) to float
        The p-value of every pair of models, adjusted for all pairs.
    alpha : float
        Significance level of the critical difference.
    n : int
        Number of data sets on which all models have a score.

    See Also
    --------
    nemenyi : Returns this.
    unnaive.explain.plot_critical_difference : Draws it.

    Examples
    --------
    >>> from unnaive.evaluate import nemenyi
    >>> verdict = nemenyi({"nb": [0.8, 0.7, 0.9], "tan": [0.9, 0.8, 0.95]})
    >>> round(verdict.critical, 2), verdict.n
    (1.13, 3)
    """

    ranks: dict[str, float]
    critical: float
    p: dict[tuple[str, str], float]
    alpha: float
    n: int
