"""Covariances between each class's own and the one that all have in common."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from tests.models.test_gaussian import assert_close, joint, log_joint, made
from unnaive import FullBayes


def test_pooling_leads_from_a_quadratic_to_a_linear_discriminant():
    X, y = made(60, 4, 3)
    parts = [X[y == label] for label in np.unique(y)]
    common = sum(len(part) * np.cov(part.T, ddof=0) for part in parts) / len(X)
    expected = log_joint(X, y, lambda part: 0.7 * np.cov(part.T, ddof=0) + 0.3 * common)
    assert_close(joint(FullBayes(var_smoothing=0, pooling=0.3), X, y), expected)
    linear = FullBayes(var_smoothing=0, pooling=1).fit(X, y).predict_proba(X)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(linear, theirs, atol=1e-9)
    few = FullBayes(pooling=1).fit(X[:9], y[:9])
    assert np.isfinite(few.predict_joint_log_proba(X)).all()
    again = clone(few).partial_fit(X[:9], y[:9])
    assert_close(again.predict_joint_log_proba(X), few.predict_joint_log_proba(X))
