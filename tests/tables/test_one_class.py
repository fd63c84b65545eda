"""Tables of one class: the numbers that tables of all classes have, to the last bit."""

import numpy as np
import pytest

from unnaive import TAN
from unnaive.tables.family import CellTable
from unnaive.tables.smoothing import Laplace, smoothing_policy
from unnaive.tables.wide import wide_tree


def rows(n_values):
    """Rows with columns of many values, some missing."""
    random = np.random.default_rng(2)
    y = random.integers(9, size=300)
    X = (random.integers(n_values, size=(300, 4)) + y[:, None]).astype(float)
    X[:, 3] = y % 3
    X[random.random(X.shape) < 0.3] = np.nan
    return X, y


@pytest.mark.parametrize("n_values", [5, 5000])
@pytest.mark.parametrize("smoothing", ["laplace", "m-estimate", "hierarchical", "bdeu"])
@pytest.mark.parametrize("marginalize", [True, False])
@pytest.mark.parametrize("held_out", [None, 1.0])
def test_one_class_has_the_same_bits(n_values, smoothing, marginalize, held_out):
    X, y = rows(n_values)
    model = TAN(discretize=None).fit(X, y)
    policy = smoothing_policy(smoothing, Laplace())
    options = {"marginalize": marginalize, "held_out": held_out}
    whole = wide_tree(model.counts_, model.structure_, policy, **options)
    tables = [whole.table_of(family.columns) for family in whole.counts.families]
    wide = any(isinstance(table, CellTable) for table in tables)
    assert wide == (n_values == 5000 and smoothing != "hierarchical")
    codes = model.schema_.encode(model.known_frame(X))[:, :80].copy()
    held = np.where(np.arange(80) % 2, y[:80], -1) if held_out else np.full(80, -1)
    expected, terms = whole.joint(codes, held), whole.terms(codes)
    apart = whole.apart().joint(codes)
    for label in (0, 4, 8):
        one, own = whole.only_class(label), np.where(held == label, 0, -1)
        assert np.array_equal(one.joint(codes, own)[:, 0], expected[:, label])
        assert np.array_equal(one.terms(codes).parts[:, 0], terms.parts[:, label])
        assert np.array_equal(one.apart().joint(codes)[:, 0], apart[:, label])
