"""The schema of one column: the texts of its bins."""

import numpy as np

import unnaive
from unnaive.schema import NumericColumn


def test_bins_have_different_texts_however_near_their_edges():
    seconds = NumericColumn("time", (1700000000.0, 1700003600.5, 1700007200.0))
    texts = [seconds.label(code) for code in range(seconds.size)]
    assert texts[:2] == ["≤ 1.7e+09", "(1.7e+09, 1.700004e+09]"]
    assert len(set(texts)) == 4
    nearest = NumericColumn("x", (1.0, float(np.nextafter(1.0, 2.0))))
    assert len({nearest.label(code) for code in range(3)}) == 3
    assert NumericColumn("x", (1 / 3,)).label(0) == "≤ 0.333333"


def test_networks_have_states_for_bins_of_numbers_far_from_zero():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    X = 1.7e9 + 600.0 * y[:, None] + random.normal(0, 200.0, (200, 2))
    model = unnaive.BayesNet(discretize="quantile").fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert len(model.to_network().dag.names) == 3
