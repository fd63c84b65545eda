"""Scores of Gaussian networks: regressions, equivalence, and predictions one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_t, norm

from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian_scores import GaussianScores
from unnaive.structure.climb import Climber, hill_climbing
from unnaive.structure.equivalence import greedy_equivalence_search


def chain(n=400, seed=0):
    random = np.random.default_rng(seed)
    a = random.normal(size=n)
    b = 0.9 * a + random.normal(size=n)
    c = -0.8 * b + random.normal(size=n)
    return np.column_stack([a, b, c, random.normal(size=n)])


def test_bic_is_that_of_a_regression():
    X = chain()
    scores = GaussianScores(X, "bic")
    for node, parents in ((0, ()), (1, (0,)), (2, (0, 1)), (3, (0, 1, 2))):
        design = np.column_stack([np.ones(len(X)), X[:, parents]])
        residual = X[:, node] - design @ np.linalg.lstsq(design, X[:, node], rcond=None)[0]
        expected = norm.logpdf(residual, scale=residual.std()).sum()
        expected -= np.log(len(X)) / 2 * (len(parents) + 2)
        assert scores.local(node, parents) == pytest.approx(expected, rel=1e-10)


def test_equivalent_networks_score_the_same():
    X = chain()[:, :3]
    for kind in ("bge", "bic"):
        scores = GaussianScores(X, kind)
        chains = [((), (0,), (1,)), ((1,), (), (1,)), ((1,), (2,), ())]
        totals = [scores.total(parents) for parents in chains]
        assert totals == pytest.approx([totals[0]] * 3, rel=1e-10)
        collider = scores.total([(), (0, 2), ()])
        assert abs(collider - totals[0]) > 1


def test_bge_is_the_product_of_predictions():
    X = chain(8)[:, :3]
    d = X.shape[1]
    total, mu, weight = 0.0, 1.0, d + 2.0
    mean, precision = np.zeros(d), mu * (weight - d - 1) / (mu + 1) * np.eye(d)
    for row in X:
        freedom = weight - d + 1
        shape = precision * (mu + 1) / (mu * freedom)
        total += multivariate_t.logpdf(row, loc=mean, shape=shape, df=freedom)
        away = row - mean
        precision = precision + mu / (mu + 1) * np.outer(away, away)
        mean = (mu * mean + row) / (mu + 1)
        mu, weight = mu + 1, weight + 1
    assert GaussianScores(X, "bge").total([(), (0,), (0, 1)]) == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("kind", ["bic", "bge"])
def test_searches_take_them(kind):
    X = chain(3000)
    scores = GaussianScores(X, kind)
    none = np.zeros((4, 4), dtype=bool)
    found = hill_climbing(Climber(scores, 3, none, none))
    edges = {frozenset((i, p)) for i, above in enumerate(found.parents) for p in above}
    assert edges == {frozenset((0, 1)), frozenset((1, 2))}
    graph = greedy_equivalence_search(("a", "b", "c", "d"), scores.local).graph
    assert graph.undirected == {(0, 1), (1, 2)}


def test_bad_requests():
    with pytest.raises(UnnaiveError, match="criterion='k2'; it must be 'bic' or 'bge'"):
        GaussianScores(chain(), "k2")
    with pytest.raises(UnnaiveError, match="without missing values"):
        GaussianScores(np.array([[1.0, np.nan]]), "bic")
