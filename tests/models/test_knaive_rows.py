"""k-naive Bayes with a set for every row, and weights of sets, against the slow twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_gaussian as slow
from tests.models.test_gaussian import made, number_problems, rows_of, twin_of
from tests.models.test_knaive import chosen, naivetes, plain
from unnaive import KNaiveBayes
from unnaive.exceptions import UnnaiveError
from unnaive.explain import plot_set_weights
from unnaive.io.frames import to_frame
from unnaive.models.knaive_rows import set_weights


@pytest.mark.long
@given(number_problems(), naivetes, st.integers(1, 3))
@settings(max_examples=30)
def test_sets_of_rows_equal_the_twin(problem, naivete, size):
    X, y, _ = problem
    k = min(size, X.shape[1])
    model = plain(k=k, naivete=naivete).fit(X, y)
    found, twin = model.predict_by_row(X), twin_of(X, y)
    names = list(model.schema_.names)
    present = sorted(set(y.tolist()))
    for row, told, chances in zip(rows_of(X), found.columns, found.probabilities, strict=True):
        naive = [names.index(name) for name in told]
        lines = [
            [slow.log_ddr(twin, row, i, plus, minus) for i in range(len(row))]
            for minus, plus in combinations(present, 2)
        ] or [[0.0] * len(row)]
        least = slow.imbalance(lines, slow.balanced_subset(lines, [k]))
        assert slow.imbalance(lines, naive) <= least + 1e-6
        expected = slow.k_naive(twin, row, naive, naivete, "exact")
        weights = np.exp(np.array(expected) - max(expected))
        np.testing.assert_allclose(chances, weights / weights.sum(), atol=1e-6)


def test_sets_of_rows_differ():
    X, y = made(60, 5, 2, seed=2)
    found = KNaiveBayes().fit(X, y).predict_by_row(X)
    assert len(set(found.columns)) > 5
    assert set(found.labels) <= set(y)
    full = KNaiveBayes(k=0).fit(X, y)
    assert set(full.predict_by_row(X).columns) == {()}
    np.testing.assert_allclose(full.predict_by_row(X).probabilities, full.predict_proba(X))


def test_weights_of_sets_are_sums():
    X, y = made(60, 5, 2, seed=2)
    model = KNaiveBayes(k=2).fit(X, y)
    sets = list(combinations(range(5), 2))
    logs, right = set_weights(model, to_frame(X), y, sets)
    np.testing.assert_allclose(logs, [model.attribute_weights_[0][list(s)].sum() for s in sets])
    assert right[sets.index(tuple(chosen(model)))] == model.score(X, y)
    ax = plot_set_weights(model, X, y, n_sets=4)
    assert ax.get_title() == "4 sets of 2 features"
    X, y = made(60, 3, 3, seed=2)
    with pytest.raises(UnnaiveError, match="3 pairs of classes; use two classes"):
        plot_set_weights(KNaiveBayes(k=2).fit(X, y), X, y)
