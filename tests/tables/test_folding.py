"""Folded factors: the same lines as unfolded ones, and the same sums to the last bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables.test_opening import N_CLASSES, cell_table, family_table
from unnaive import KDB, TAN
from unnaive.schema import CategoricalColumn, Schema
from unnaive.tables import folding, summing
from unnaive.tables.elimination import eliminate
from unnaive.tables.family import CellTable, FamilyTable
from unnaive.tables.folding import FoldedFactor, fold_of
from unnaive.tables.opening import OpenFactor, Rows
from unnaive.tables.summing import Summation


@pytest.fixture(scope="module", autouse=True)
def everything_is_folded():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "_LEAST_CELLS", 1)
        patch.setattr(folding, "_MOST_SHARE", 1.0)
        yield


def coarse(table, random):
    """A table of few distinct numbers, so that many lines are alike."""

    def fewer(shape):
        return np.log(random.choice([0.0, 0.25, 0.5], size=shape, p=[0.04, 0.06, 0.9]))

    if isinstance(table, CellTable):
        share = random.random(len(table.keys)) < 0.1
        parts = (fewer(table.of_context.shape), fewer(table.of_value.shape))
        entries = np.ascontiguousarray(table.entries[:, share])
        return CellTable(table.parents, table.contexts, table.keys[share], entries, *parts)
    simpler = None if table.simpler is None else coarse(table.simpler, random)
    return FamilyTable(table.parents, table.contexts, fewer(table.table.shape), simpler)


@np.errstate(divide="ignore")
@given(
    st.tuples(st.integers(2, 30), st.integers(2, 30)),
    st.sampled_from([(0, 1), (1, 0)]),
    st.sampled_from(["contexts", "simpler", "cells"]),
    st.booleans(),
    st.integers(0, 99),
)
def test_folded_factors_sum_to_the_same_bits(extents, family, kind, leaves_out, seed):
    random, sizes, scope = np.random.default_rng(seed), np.array(extents), (0, 1)
    if kind == "cells":
        table = coarse(cell_table(sizes, family, random), random)
    else:
        table = coarse(family_table(sizes, family, random, kind == "simpler"), random)
    sets, n = (1, 2) if leaves_out else (1, 1), 4
    zeros = np.zeros((2, max(n, N_CLASSES + 1)), np.uint16)
    held = random.integers(-1, N_CLASSES, size=n)
    every = Rows(zeros[:, : N_CLASSES + 1], np.arange(-1, N_CLASSES), sizes, sets)
    opened = OpenFactor(table, family, scope, Rows(zeros[:, :n], held, sizes, sets))
    low, high = 1, n * N_CLASSES - 1
    expected = opened.lines(low, high)
    for variable in scope:
        source = OpenFactor(table, family, scope, every)
        fold = fold_of(source, variable, 1 + leaves_out, N_CLASSES)
        folded = FoldedFactor(fold, held, N_CLASSES)
        lines, (width, places) = folded.lines(low, high), folded.unfolding(low, high)
        assert lines.shape[2 - variable] == width
        whole = np.expand_dims(places, 1 + variable)
        np.testing.assert_array_equal(np.take_along_axis(lines, whole, 2 - variable), expected)
        seen = ((variable,), np.log(random.random((high - low, sizes[variable]))))
        sums = eliminate([(scope, expected), seen], [variable], sizes)[0]
        unfold = {variable: (width, places)}
        found = eliminate([(scope, lines), seen], [variable], sizes, unfold=unfold)[0]
        assert found[0][0] == sums[0][0] == (1 - variable,)
        np.testing.assert_array_equal(found[0][1], sums[0][1])


@pytest.mark.parametrize("model", [TAN(discretize=None), KDB(k=1, discretize=None)])
@pytest.mark.parametrize("smoothing", ["laplace", "hierarchical", "m-estimate"])
def test_models_answer_the_same_bits(model, smoothing, monkeypatch):
    random = np.random.default_rng(4)
    y = random.integers(9, size=150)
    X = random.integers(500, size=(150, 3)) // 3 + y[:, None]
    X = pd.DataFrame(np.column_stack([X, y % 3]), columns=list("abcd")).astype("category")
    X = X.mask(random.random(X.shape) < 0.4)
    model.set_params(smoothing=smoothing).fit(X, y)
    found, left_out = model.predict_log_proba(X), model.loo_predict_proba(X, y)
    monkeypatch.setattr(folding, "_LEAST_CELLS", np.inf)
    model.fit(X, y)
    assert np.array_equal(model.predict_log_proba(X), found)
    assert np.array_equal(model.loo_predict_proba(X, y), left_out)


def test_what_differs_too_much_is_not_folded(monkeypatch):
    random, sizes = np.random.default_rng(0), np.array([20, 20])
    table = family_table(sizes, (0, 1), random, simpler=False)
    every = Rows(np.zeros((2, 3), np.uint8), np.arange(-1, 2), sizes, (0, 1))
    factor = OpenFactor(table, (0, 1), (0, 1), every)
    assert fold_of(factor, 0, 1, N_CLASSES) is not None
    monkeypatch.setattr(folding, "_MOST_SHARE", 0.25)
    assert fold_of(factor, 0, 1, N_CLASSES) is None
    monkeypatch.setattr(folding, "_MOST_SHARE", 1.0)
    monkeypatch.setattr(folding, "_MOST_BYTES", 1000)
    assert fold_of(factor, 0, 1, N_CLASSES) is None


def test_folded_factors_need_little_memory(monkeypatch):
    opened, sizes = [], np.array([60, 60, 60])
    table = family_table(sizes, (0, 1), np.random.default_rng(0), simpler=False)

    def opening(family, scope, codes, held):
        opened.append(family)
        return OpenFactor(table, (0, 1), (0, 1), Rows(codes, held, sizes, (0, 1)))

    columns = tuple(CategoricalColumn(name, tuple(range(60))) for name in "abc")
    fixed = (Schema(columns, ("no", "yes"), "y"), N_CLASSES, 1)
    families = [((0, 1), (0, 1)), ((1, 2), (1, 2))]
    monkeypatch.setattr(summing, "_FOLD_BYTES", 50_000)  # room for one of the two
    summation = Summation(*fixed, 2**31, {})
    plans = [summation.plan((family,), opening) for family in families]
    assert [len(plan.folds) for plan in plans] == [1, 0]
    assert sum(fold.nbytes for fold in summation.folds.values() if fold) <= 50_000
    again = summation.plan(tuple(families[:1]), opening)
    assert list(again.folds) == [0]
    assert opened == [(0, 1), (1, 2)]  # folded once
    assert not Summation(*fixed, 500_000, {}).plan((families[0],), opening).folds
