"""Drift between two counts: exact moments, no false alarms, planted changes are found."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import unnaive
from unnaive.evaluate import drift
from unnaive.evaluate.drift_cost import drawn_rows
from unnaive.evaluate.homogeneity import homogeneity, moments
from unnaive.exceptions import DataWarning, SchemaMismatch, UnnaiveError


@pytest.mark.parametrize(
    ("totals", "first"),
    [((3, 2, 4), 4), ((1, 1, 1, 2), 3), ((5, 5), 2), ((1, 2, 3, 4), 6), ((9, 1, 1, 2), 1)],
)
def test_moments_are_those_of_all_tables_with_these_totals(totals, first):
    statistics, chances = [], []
    for cells in itertools.product(*(range(total + 1) for total in totals)):
        if sum(cells) == first:
            old, new = np.array([cells]), np.array([totals]) - np.array([cells])
            statistic, mean, variance, third = moments(old, new)
            statistics.append(statistic)
            ways = math.prod(map(math.comb, totals, cells))
            chances.append(ways / math.comb(sum(totals), first))
    x, p = np.array(statistics), np.array(chances)
    assert mean == pytest.approx(p @ x, rel=1e-12)
    assert variance == pytest.approx(p @ x**2 - (p @ x) ** 2, rel=1e-12)
    exact = p @ (x - p @ x) ** 3 if sum(totals) >= 6 else 0.0  # fewer rows add no skewness
    assert third == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_many_rows_give_the_test_by_the_chi_squared_distribution():
    old, new = np.array([[4000, 3000, 3000]]), np.array([[4100, 2800, 3100]])
    expected = chi2_contingency(np.concatenate([old, new]), correction=False).pvalue
    assert homogeneity(old, new) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    "sizes",
    [
        (3000, 20),
        pytest.param((20, 3000), marks=pytest.mark.long),
        pytest.param((100_000, 20), marks=pytest.mark.long),
    ],
)
def test_small_p_values_are_rare_if_one_sample_is_much_smaller(sizes):
    rng, p_values = np.random.default_rng(0), []
    for _ in range(3000):
        shares = rng.dirichlet(np.full(40, 2.0))
        samples = (rng.multinomial(size, shares)[None] for size in sizes)
        p_values.append(homogeneity(*samples))
    p_values = np.array(p_values)
    assert (p_values < 0.05).sum() < 180  # 150 are expected
    assert (p_values < 0.01).sum() < 45  # 30; without the skewness 45 to 57
    assert (p_values < 0.001).sum() < 10  # 3; without the skewness 10 to 20


@pytest.mark.parametrize(
    ("old", "new"),
    [([[0, 0]], [[3, 4]]), ([[5, 0]], [[3, 0]]), ([[1, 0]], [[0, 1]]), (np.zeros((0, 2)),) * 2],
)
def test_nothing_to_compare_is_no_change(old, new):
    assert homogeneity(np.array(old), np.array(new)) == 1.0


def source(rng, n_rows, shift=None):
    """Draw rows of five columns; ``shift`` names what is different."""
    y = rng.random(n_rows) < (0.7 if shift == "classes" else 0.5)
    X = np.empty((n_rows, 5))
    X[:, 0] = rng.integers(0, 4, n_rows)
    X[:, 1] = np.where(rng.random(n_rows) < 0.7, y, rng.integers(0, 3, n_rows))
    copied = rng.random(n_rows) < (0.2 if shift == "dependence" else 0.8)
    X[:, 2] = np.where(copied, X[:, 0], rng.integers(0, 4, n_rows))
    X[:, 3] = rng.integers(0, 30, n_rows)
    X[:, 4] = np.where(rng.random(n_rows) < (0.2 if shift == "missing" else 0.05), np.nan, X[:, 3])
    if shift == "values":
        X[:, 3] = np.where(rng.random(n_rows) < 0.3, 0, X[:, 3])
    if shift == "values by class":
        X[:, 1] = np.where(rng.random(n_rows) < 0.6, 1 - y, X[:, 1])
    return X, y.astype(int)


def counted(rng, n_rows, shift=None, schema=None):
    known = {"schema": schema} if schema else {"discretize": None, "categories": CATEGORIES}
    return unnaive.count(*source(rng, n_rows, shift), **known)


CATEGORIES = [range(4), range(3), range(4), range(30), range(30)]


def test_false_alarms_are_as_rare_as_promised():
    rng = np.random.default_rng(0)
    alarms = 0
    for sizes in [(60, 40), (500, 30), (800, 800)] * 20:
        old = counted(rng, sizes[0])
        alarms += bool(drift(old, counted(rng, sizes[1], schema=old.schema), level=0.1).alarms)
    assert alarms <= 12  # 6 are expected; 13 or more have a chance of 0.6 %


@pytest.mark.long
def test_a_thousand_pairs_of_samples_from_one_source_have_alarms_at_the_level():
    """Any source: 10 to 3,000 rows, 2 to 6 columns of 2 to 40 values, many cells empty."""
    rng, level, alarms = np.random.default_rng(1), 0.05, 0
    for _ in range(1000):
        sizes = np.exp(rng.uniform(np.log(10), np.log(3000), 2)).astype(int)
        y = rng.random(sizes.sum()) < rng.uniform(0.1, 0.9)
        columns, categories = [], []
        for values in rng.integers(2, 41, rng.integers(2, 7)):
            shares = rng.dirichlet(np.full(values, rng.uniform(0.1, 2.0)), size=2)
            cells = [rng.choice(values, len(y), p=share) for share in shares]
            column = np.where(y, *cells).astype(float)
            column[rng.random(len(y)) < rng.uniform(0, 0.3)] = np.nan
            columns.append(column)
            categories.append(range(values))
        X, y = np.stack(columns, axis=1), y.astype(int)
        y[[0, sizes[0]]] = 0
        y[[1, sizes[0] + 1]] = 1
        old = unnaive.count(
            *(part[: sizes[0]] for part in (X, y)), discretize=None, categories=categories
        )
        new = unnaive.count(*(part[sizes[0] :] for part in (X, y)), schema=old.schema)
        alarms += bool(drift(old, new, level=level).alarms)
    assert alarms <= 71  # 50 are expected; 72 or more have a chance of 0.2 %
    assert alarms >= 20  # the test is not blunt


@pytest.mark.parametrize(
    ("shift", "names", "kind"),
    [
        ("classes", ("y",), "classes"),
        ("values", ("x3",), "values"),
        ("values by class", ("x1",), "values by class"),
        ("missing", ("x4",), "values"),
        ("dependence", ("x0", "x2"), "dependence"),
    ],
)
def test_planted_changes_are_found_and_named(shift, names, kind):
    rng = np.random.default_rng(2)
    old = counted(rng, 2000)
    found = drift(old, counted(rng, 1000, shift, old.schema))
    assert (names, kind) in {(change.names, change.kind) for change in found.alarms}
    if shift == "dependence":  # no column changed by itself
        assert {change.kind for change in found.alarms} == {"dependence"}
    if shift == "missing":
        assert all(change.names == ("x4",) for change in found.alarms)


def test_measures_of_a_change():
    old = unnaive.count([["a"]] * 30 + [["b"]] * 70, ["n", "y"] * 50)
    new = unnaive.count([["a"]] * 60 + [["b"]] * 40, ["n", "y"] * 50, schema=old.schema)
    change = next(c for c in drift(old, new).changes if c.kind == "values")
    p, q = np.array([0.3, 0.7]), np.array([0.6, 0.4])
    m = (p + q) / 2
    js = (p * np.log2(p / m) + q * np.log2(q / m)).sum() / 2
    assert change.divergence == pytest.approx(js, rel=1e-12)
    p, q = np.array([30.5, 70.5]) / 101, np.array([60.5, 40.5]) / 101
    assert change.stability == pytest.approx(((q - p) * np.log(q / p)).sum(), rel=1e-12)
    assert change.largest == ("a", 0.3, 0.6)
    assert change.alarm
    assert change.adjusted >= change.p_value


def test_the_cost_is_that_of_old_tables():
    rng = np.random.default_rng(2)
    old = counted(rng, 3000)
    moved = counted(rng, 3000, "values by class", old.schema)
    same = counted(rng, 3000, schema=old.schema)
    for model in (unnaive.NaiveBayes(), unnaive.TAN(), unnaive.AODE()):
        cost, chance = drift(old, moved, model=model).cost
        assert cost > chance + 0.05
        cost, chance = drift(old, same, model=model).cost
        assert cost < 2 * chance
    assert drift(old, old, model=unnaive.TAN()).cost[0] == 0.0
    cost, _ = drift(old.without_pairs(), moved.without_pairs(), model=unnaive.NaiveBayes()).cost
    assert cost > 0.1


def test_drawn_rows_have_the_shares_of_the_counts():
    counts = counted(np.random.default_rng(3), 5000)
    codes, classes = drawn_rows(counts, 40_000, np.random.default_rng(0))
    for column in range(5):
        table = counts.marginal(column).sum(axis=0)
        shares = np.bincount(codes[column], minlength=len(table)) / 40_000
        np.testing.assert_allclose(shares, table / table.sum(), atol=0.015)
    assert np.bincount(classes)[1] / 40_000 == pytest.approx(
        counts.class_counts[1] / 5000, abs=0.01
    )
    assert (codes[0] == codes[2]).mean() == pytest.approx(0.85, abs=0.02)


def test_views_and_state():
    rng = np.random.default_rng(4)
    old = counted(rng, 1000)
    found = drift(old, counted(rng, 1000, "classes", old.schema))
    assert "comparisons differ beyond chance" in repr(found)
    assert "<table" in found._repr_html_()
    assert len(found.table(every=True)) == len(found.changes) == len(found.state()["changes"])
    assert len(found.changes) == 1 + 2 * 5 + 10
    assert found.state()["rows"] == {"old": 1000.0, "new": 1000.0}


def test_columns_of_very_many_values_are_skipped_in_pairs():
    rng = np.random.default_rng(5)
    X = np.stack([rng.integers(0, 600, 3000), rng.integers(0, 600, 3000)], axis=1)
    old = unnaive.count(X, X[:, 0] % 2, discretize=None, categories=[range(600)] * 2)
    found = drift(old, unnaive.count(X[:100], X[:100, 0] % 2, schema=old.schema))
    assert found.skipped == (("x0", "x1"),)


def test_a_column_without_any_value_is_compared_and_costs_nothing():
    X = [["a", None, "u"], ["b", None, "v"]] * 20
    with pytest.warns(DataWarning, match="column 'x1' has no value"):
        old = unnaive.count(X, ["n", "y"] * 20)
    new = unnaive.count([["a", "now", "u"]] * 30, ["n", "y"] * 15, schema=old.schema)
    found = drift(old, new, model=unnaive.TAN())
    compared = {change.names for change in found.changes}
    assert compared == {("y",), ("x0",), ("x1",), ("x2",), ("x0", "x2")}
    assert found.skipped == ()
    assert all("x1" not in change.names for change in found.alarms)
    assert found.cost[0] > found.cost[1]
    codes, _ = drawn_rows(old, 100, np.random.default_rng(0))
    assert set(codes[1].tolist()) == {0}  # the code of a missing value


def test_what_cannot_be_compared_is_refused():
    X, y = [["a"], ["b"]] * 5, ["n", "y"] * 5
    counts = unnaive.count(X, y)
    with pytest.raises(SchemaMismatch, match="x0"):
        drift(counts, unnaive.count([["a"], ["c"]] * 5, y))
    with pytest.raises(UnnaiveError, match="weighted rows"):
        drift(counts, unnaive.count(X, y, schema=counts.schema, sample_weight=np.ones(10)))
    with pytest.raises(UnnaiveError, match="new counts have no rows"):
        drift(counts, counts - counts)
    with pytest.raises(TypeError, match=r"the new rows are not counted: 'b\.counts'"):
        drift(counts, "b.counts")
    for model in (unnaive.GaussianNaiveBayes(), unnaive.TAN, "tan"):
        with pytest.raises(UnnaiveError, match="does not learn from counts, so that its cost"):
            drift(counts, counts, model=model)
    with pytest.raises(ValueError, match="level=2"):
        drift(counts, counts, level=2)
