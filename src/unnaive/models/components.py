"""Principal components and factors, as linear maps of the features, from covariances alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive._ties import first_best
from unnaive.models.gaussian_parts import shares_of

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.models.gaussian_parts import Spread
    from unnaive.tables.gaussian import GaussianTables

_LEAST_NOISE = 0.005  # share of a feature's variance that no factor explains, at least
_LEAST_EIGENVALUE = 1e-8  # of a correlation matrix, so that its logarithm is finite


def total_moments(spread: Spread, covariances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of all samples, from those of the classes; shapes (m,) and (m, m)."""
    shares = shares_of(spread.moments.class_weights)
    mean = shares @ spread.means
    away = spread.means - mean
    within = np.einsum("k,kij->ij", shares, covariances)
    return mean, np.asarray(within + (away * shares[:, None]).T @ away)


def principal_components(spread: Spread) -> FloatArray:
    """Principal components of all standardized samples, by decreasing variance; shape (m, m).

    The sign of a component is that of its largest weight, the first one on ties. Components of
    a feature are its weights divided by its standard deviation, 1 where it is constant.

    Examples
    --------
    >>> from unnaive import KNaiveBayes
    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 5.0], [4.0, 9.0], [2.0, 3.0], [3.0, 4.0]])
    >>> spread = KNaiveBayes(k=1).fit(X, [0, 1, 0, 1, 0, 1]).fitted_.spread
    >>> (principal_components(spread) * X.std(axis=0)).round(4).tolist()
    [[0.7071, 0.7071], [0.7071, -0.7071]]
    """
    correlations, scale = _correlations(spread)
    _, vectors = np.linalg.eigh(correlations)
    return _signed(vectors.T[::-1]) / scale


def factor_scores(spread: Spread, n_factors: int | None = None) -> FloatArray:
    """Weights of the scores of common factors of all standardized samples; shape (factors, m).

    Factors by maximum likelihood, without a rotation: the correlations are those of L·Lᵀ + Ψ with
    a diagonal Ψ of at least 0.005. Scores are expectations given the sample, Lᵀ(L·Lᵀ + Ψ)⁻¹·z.

    Parameters
    ----------
    spread : Spread
        Means and covariances of the classes.
    n_factors : int or None, default=None
        Number of factors; None: as many as eigenvalues of the correlations are above 1, within
        what the number of features determines.

    Examples
    --------
    >>> from unnaive import KNaiveBayes
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> spread = KNaiveBayes(k=1).fit(data.X[:, :10], data.y).fitted_.spread
    >>> factor_scores(spread).shape, factor_scores(spread, 3).shape
    ((2, 10), (3, 10))
    """
    correlations, scale = _correlations(spread)
    np.fill_diagonal(correlations, 1.0)  # also of constant features
    values, vectors = np.linalg.eigh(correlations)
    size = _number_of_factors(values, n_factors)
    correlations = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
    loadings, noise = factor_analysis(correlations, size)
    if not (found := np.any(loadings != 0, axis=0)).all():
        raise ValueError(
            f'components="factors" finds {found.sum()} common factors among {len(scale)} features, '
            f'not {size}; set n_factors={max(int(found.sum()), 1)}, or use components="pca"'
        )
    weights = np.linalg.solve(loadings @ loadings.T + np.diag(noise), loadings)
    return _signed(np.asarray(weights.T, dtype=np.float64)) / scale


def density_of_features(
    spread: Spread, turn: FloatArray, covariances: FloatArray
) -> GaussianTables:
    """Density of the features, from densities of linear scores of them.

    The scores t = turn·x of class c are normal with covariance ``covariances[c]``. Given its
    scores, a sample has the distribution of all samples, whatever its class, so that P(c | x) is
    P(c | t). With as many scores as features nothing is left of it.
    """
    means = spread.means
    if len(turn) == turn.shape[1]:
        back, common = np.linalg.inv(turn), np.zeros(turn.shape)
    else:
        mean, total = total_moments(spread, spread.covariances)
        between = turn @ total @ turn.T
        back = np.linalg.solve(between, turn @ total).T  # regression of the features on scores
        common = total - back @ between @ back.T
        means = mean + (means - mean) @ turn.T @ back.T
    implied = common + back @ covariances @ back.T
    implied = (implied + implied.transpose(0, 2, 1)) / 2
    learned = {**spread.learned, "means": means}
    return replace(spread, learned=learned).densities(implied)


def factor_analysis(correlations: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Find the most likely factors of a correlation matrix: loadings (d, size) and noise (d,).

    Jöreskog's method: for given noise the best loadings are eigenvectors, so that the likelihood
    is one of the noise alone, with a simple gradient. Costs an eigenvalue decomposition a step.

    Examples
    --------
    >>> true = np.array([0.9, 0.8, 0.7, 0.6])
    >>> loadings, noise = factor_analysis(np.outer(true, true) + np.diag(1 - true**2), 1)
    >>> np.abs(loadings[:, 0]).round(3).tolist()
    [0.9, 0.8, 0.7, 0.6]
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    def unexplained(log_noise: FloatArray) -> tuple[float, FloatArray]:
        noise = np.exp(log_noise)
        loadings, rest = _loadings(correlations, noise, size)
        gradient = ((loadings**2).sum(axis=1) + noise - np.diag(correlations)) / noise
        return float((rest - 1 - np.log(rest)).sum()), gradient

    d = len(correlations)
    fitted = minimize(
        unexplained,
        np.full(d, np.log(0.5)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(np.log(_LEAST_NOISE), 0.0)] * d,
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000, "maxfun": 5000},
    )
    noise = np.exp(fitted.x)
    return _loadings(correlations, noise, size)[0], noise


def _loadings(
    correlations: FloatArray, noise: FloatArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Best loadings for given noise, and the eigenvalues that they leave unexplained."""
    root = np.sqrt(noise)
    values, vectors = np.linalg.eigh(correlations / np.outer(root, root))
    values, vectors = values[::-1], vectors[:, ::-1]
    strength = np.sqrt(np.maximum(values[:size] - 1, 0.0))
    rest = np.concatenate([np.minimum(values[:size], 1.0), values[size:]])
    return vectors[:, :size] * strength * root[:, None], np.maximum(rest, 1e-300)


def _number_of_factors(eigenvalues: FloatArray, n_factors: int | None) -> int:
    """Kaiser's number of factors, or the one that is given; raises if it is not determined."""
    d = len(eigenvalues)
    most = sum((d - size) ** 2 >= d + size for size in range(1, d))
    if most < 1:
        raise ValueError(
            f'components="factors" needs at least 3 features with values, not {d}; use '
            'components="pca"'
        )
    if n_factors is None:
        return min(max(int((eigenvalues > 1).sum()), 1), most)
    if n_factors > most:
        raise ValueError(
            f"n_factors={n_factors!r}; correlations of {d} features determine at most {most}"
        )
    return int(n_factors)


def _correlations(spread: Spread) -> tuple[FloatArray, FloatArray]:
    """Correlations of all samples, and standard deviations, 1 where a feature is constant."""
    _, total = total_moments(spread, spread.scatter)
    scale = np.sqrt(np.diag(total))
    scale = np.where(scale > 0, scale, 1.0)
    return total / np.outer(scale, scale), scale


def _signed(turn: FloatArray) -> FloatArray:
    """Give every line the sign with which its largest weight is positive."""
    largest = np.array([first_best(np.abs(line)) for line in turn], dtype=np.int64)
    signs = np.where(turn[np.arange(len(turn)), largest] < 0, -1.0, 1.0)
    return np.asarray(turn * signs[:, None])
