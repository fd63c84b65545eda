"""Factors of columns and pairs that are estimated together: against those one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import problems
from unnaive._core.back_off import term_shares
from unnaive.counts import CodedRows
from unnaive.counts.sizes import starts_of
from unnaive.exceptions import UnnaiveError
from unnaive.schema import CategoricalColumn, Schema
from unnaive.tables import term_factors as module
from unnaive.tables.hierarchy import shares_alone
from unnaive.tables.smoothing import Hierarchical
from unnaive.tables.term_factors import table_cells, term_factors
from unnaive.tables.trees import HeldOut, column_factors, leave_one_out_sets
from unnaive.tables.weighted import weighted_tables

HOSTILE = problems(max_rows=14, max_columns=4, sizes=(1, 2, 3, 18), weighted=True)
HELD_OUT = [None, 1.0, 0.5]


def terms_of(problem, random):
    """Every column, and pairs of columns in any order; shuffled."""
    d = len(problem.values)
    pairs = [[i, j] for i in range(d) for j in range(d) if i != j]
    terms = np.array([*([i, -1] for i in range(d)), *pairs], dtype=np.int64)
    return random.permutation(terms)


@given(
    HOSTILE,
    st.sampled_from([0.0, 0.25]),
    st.sampled_from(HELD_OUT),
    st.sampled_from([None, 3.0]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=80)
def test_factors_equal_those_one_by_one(problem, pseudo, held_out, strength, seed):
    counts, smoothing = problem.coded().count(), Hierarchical(strength)
    terms, sets = terms_of(problem, np.random.default_rng(seed)), leave_one_out_sets(held_out)[:2]
    cells, seen = table_cells(counts.schema.sizes, terms), []
    for some, factors in term_factors(counts, terms, smoothing, held_out, pseudo):
        stops = np.cumsum(cells[some]).tolist()
        for term, start, stop in zip(some.tolist(), [0, *stops], stops, strict=False):
            columns = tuple(column for column in terms[term].tolist() if column >= 0)
            expected = list(module._pair_factors(counts, columns, smoothing, sets, pseudo))
            found = factors[:, :, start:stop].reshape(np.shape(expected))
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            seen.append(term)
    assert sorted(seen) == list(range(len(terms)))


@given(problems(max_rows=14, max_columns=4, sizes=(1, 2, 3)), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_terms_of_weight_0_and_small_parts_change_nothing(problem, seed):
    random = np.random.default_rng(seed)
    counts, terms = problem.coded().count(), terms_of(problem, random)
    weights = random.choice([0.0, 0.5, 2.0], len(terms))
    plain = weighted_tables(counts, terms, Hierarchical(), pseudo_count=0.25)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_TOGETHER", 1)
        found = weighted_tables(counts, terms, Hierarchical(), weights=weights, pseudo_count=0.25)
    scale = np.repeat(weights, table_cells(counts.schema.sizes, terms))
    assert np.array_equal(found.tables, np.where(scale == 0.0, 0.0, scale * plain.tables))


def test_pairs_that_were_not_counted_are_named():
    rows = problems_of_three()
    counts = rows.select(np.array([[0, 1]]))
    with pytest.raises(UnnaiveError, match="do not hold the pair 'x0', 'x2'"):
        list(term_factors(counts, np.array([[2, 0]]), Hierarchical(), None, 0.0))
    assert len(list(term_factors(counts, np.array([[1, 0]]), Hierarchical(), None, 0.0))) == 1


@pytest.mark.parametrize("strength", [None, 3.0])
def test_columns_without_values_leave_the_others_alone(strength):
    random = np.random.default_rng(0)
    values = (3, 0, 2, 0, 4)
    columns = [CategoricalColumn(f"x{i}", tuple(range(v))) for i, v in enumerate(values)]
    codes = np.array([random.integers(0, max(v, 1), 40) for v in values], dtype=np.uint8)
    counts = CodedRows(Schema(tuple(columns), ("a", "b")), codes, np.arange(40) % 2).count()
    smoothing, starts = Hierarchical(strength), starts_of(counts.schema.sizes + 1)
    held = HeldOut(1.0, 1.0, 1.0)
    found = shares_alone(counts, smoothing, [(held.total, held.alone)])[0]
    assert (found[:, starts[1:] - 1] == 1.0).all()
    for column, size in enumerate(values):
        expected = column_factors(counts, column, -1, smoothing, [held])[0][:, 0, :size]
        own = found[:, starts[column] : starts[column] + size]
        np.testing.assert_allclose(np.log(own), expected, rtol=1e-12)


def problems_of_three():
    """Coded rows of three columns."""
    import unnaive  # noqa: PLC0415 - a model codes them

    X, y = np.random.default_rng(0).integers(0, 2, (30, 3)), np.arange(30) % 2
    model = unnaive.NaiveBayes(discretize=None)
    return model.coded(model._given(X, y, None, first=True))[0]


def kernel_call(**changed):
    """Call the kernel with some arguments changed."""
    shape = (1, 2, 9)
    arguments = {
        "values": np.ones((2, 4)),
        "pairs": np.ones((2, 4)),
        "terms": np.array([USUAL]),
        "alphas": np.ones(2),
        "held": np.zeros((1, 3)),
        **{name: np.empty(shape) for name in ("shares", "expected", "rows")},
    }
    term_shares(**{**arguments, **changed})


USUAL = [0, 2, 2, 0, 2, 1, 0]
ARGUMENTS = [
    {"values": np.ones((2, 1))},
    {"pairs": np.ones((2, 3))},
    {"pairs": np.ones((1, 4))},
    {"alphas": np.ones(0)},
    {"held": np.zeros((1, 2))},
    {"held": np.zeros((2, 3))},
    {"shares": np.empty((1, 2, 8))},
    {"expected": np.empty((1, 2, 8))},
    {"rows": np.empty((1, 1, 9))},
    {"terms": np.zeros((1, 6), dtype=np.int64)},
    *(
        {"terms": np.array([[*USUAL[:place], value, *USUAL[place + 1 :]]])}
        for place in range(7)
        for value in (-5, 9, 1 << 40, (1 << 63) - 1)
    ),
]


@pytest.mark.parametrize("place", range(len(ARGUMENTS)))
def test_arguments_of_the_kernel_are_checked(place):
    kernel_call()
    with pytest.raises(IndexError, match="term_shares"):
        kernel_call(**ARGUMENTS[place])
