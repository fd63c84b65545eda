"""Privacy of counts: suppression of small cells, and noise with a stated ε."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from unnaive.counts import privacy
from unnaive.counts.privacy import noise, noisy, suppress
from unnaive.counts.sizes import all_pairs, starts_of
from unnaive.exceptions import UnnaiveError
from unnaive.schema import CategoricalColumn, Schema


def rows(n=400, d=4, seed=0, gaps=0.0):
    chance = np.random.default_rng(seed)
    y = chance.integers(0, 2, n)
    X = chance.integers(0, 3, (n, d)).astype(float)
    X[:, 1] = (X[:, 0] + y * chance.integers(0, 2, n)) % 3
    X[chance.random(X.shape) < gaps] = np.nan
    return X, y


def counted(*arguments, **options):
    X, y = rows(*arguments, **options)
    return unnaive.count(X, y, discretize=None)


def require_consistent(counts):
    """Check that tables are non-negative integers and that their margins agree."""
    counts.check()
    sizes = counts.schema.sizes
    assert all(table.dtype == np.int64 for table in counts.tables)
    for column in np.flatnonzero(sizes):
        assert np.array_equal(counts.marginal(column).sum(axis=1), counts.class_counts)
    for first, second in counts.pair_columns:
        if sizes[first] and sizes[second]:
            table = counts.pair(first, second)
            assert np.array_equal(table.sum(axis=2), counts.marginal(first))
            assert np.array_equal(table.sum(axis=1), counts.marginal(second))


# The noise


def test_epsilon_is_shared_out_exactly():
    counts = counted(d=5)
    for epsilon in (0.1, 1 / 3, 0.7, 2.0, 1e-6):
        found = noise(counts.schema, epsilon, counts.pair_columns)
        assert [one.kind for one in found] == ["class counts", "values", "pairs"]
        assert [one.tables for one in found] == [1, 5, 10]
        assert math.isclose(math.fsum(one.epsilon for one in found), epsilon, rel_tol=1e-15)
        for one in found:
            assert math.isclose(one.scale, one.tables / one.epsilon, rel_tol=1e-12)
        spent = [Fraction(privacy._sampler(one.scale).map(one.tables)) for one in found]
        assert sum(spent) <= Fraction(epsilon)


def test_what_is_not_counted_costs_nothing():
    found = noise(counted(d=5).schema, 1.0)
    assert [one.kind for one in found] == ["class counts", "values"]
    assert sum(one.epsilon for one in found) == 1.0


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_the_sensitivity_is_that_of_one_row(gaps):
    X, y = rows(50, gaps=gaps)
    counts = unnaive.count(X, y, discretize=None)
    tables = {one.kind: one.tables for one in noise(counts.schema, 1.0, counts.pair_columns)}
    for row in range(50):
        one = unnaive.count(X[[row]], y[[row]], schema=counts.schema)
        assert one.class_counts.sum() == tables["class counts"]
        assert one.values.sum() <= tables["values"]
        assert one.pairs.sum() <= tables["pairs"]
        assert max(table.max() for table in one.tables) == 1
    if not gaps:
        assert (one.values.sum(), one.pairs.sum()) == (tables["values"], tables["pairs"])


@pytest.mark.parametrize(("scale", "n"), [(0.4, 20_000), (3.0, 80_000), (160.0, 20_000)])
def test_the_noise_is_two_sided_geometric(scale, n):
    # Bounds of seven standard errors: they fail by chance once in 10^11 runs. OpenDP before 0.14.2
    # is off by eleven of them at scale 3.
    drawn = privacy._with_noise(np.full((2, n // 2), 1000), scale).reshape(-1) - 1000
    alpha = math.exp(-1 / scale)
    variance = 2 * alpha / (1 - alpha) ** 2
    assert math.isclose(privacy._variance(scale), variance, rel_tol=1e-9)
    assert abs(drawn.mean()) < 7 * math.sqrt(variance / n)
    kurtosis = 6 + 1 / variance
    assert abs(drawn.var() / variance - 1) < 7 * math.sqrt((kurtosis - 1) / n)
    for value in range(-2, 3):
        chance = (1 - alpha) / (1 + alpha) * alpha ** abs(value)
        assert abs((drawn == value).mean() - chance) < 7 * math.sqrt(chance * (1 - chance) / n)


def test_two_calls_draw_other_noise():
    counts = counted()
    assert noisy(counts, 1.0) != noisy(counts, 1.0)
    assert counts == counted()


# Consistent tables


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    n_classes=st.integers(1, 3),
    spread=st.sampled_from([0, 3, 1000, 10**9]),
    seed=st.integers(0, 2**32),
)
def test_any_tables_become_consistent(sizes, n_classes, spread, seed):
    chance = np.random.default_rng(seed)
    pairs = all_pairs(len(sizes))
    columns = tuple(CategoricalColumn(f"x{i}", tuple(range(v))) for i, v in enumerate(sizes))
    width = int(starts_of(np.array(sizes)[pairs].prod(axis=1))[-1])

    def table(*shape):
        return chance.integers(-spread, 2 * spread + 5, shape)

    counts = unnaive.JointCounts(
        Schema(columns, tuple(range(n_classes))),
        table(n_classes),
        table(n_classes, sum(sizes)),
        pairs,
        table(n_classes, width),
    )
    require_consistent(privacy._made_consistent(counts, 0.3 * spread + 0.1))


@pytest.mark.parametrize("n", [3, 40, 5000])
def test_without_noise_to_speak_of_nothing_changes(n):
    counts = counted(n)
    assert noisy(counts, 1e7) == counts


def test_missing_cells_are_spread_over_the_observed():
    counts = counted(20_000, gaps=0.25)
    found = noisy(counts, 1e7)
    require_consistent(found)
    assert np.array_equal(found.class_counts, counts.class_counts)
    for table, exact in (
        (found.pair(0, 1), counts.pair(0, 1)),
        (found.pair(2, 3), counts.pair(2, 3)),
    ):
        share = exact / exact.sum(axis=(1, 2), keepdims=True)
        assert abs(table / table.sum(axis=(1, 2), keepdims=True) - share).max() < 0.01


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 10.0])
def test_models_learn_from_noisy_counts(epsilon):
    X, y = rows(2000, gaps=0.05)
    found = noisy(unnaive.count(X, y, discretize=None), epsilon)
    require_consistent(found)
    for key in ("nb", "tan", "aode", "hnb", "waode", "gnb-o"):
        chances = unnaive.make(key).fit_counts(found).predict_proba(X)
        assert np.isfinite(chances).all()
        assert np.allclose(chances.sum(axis=1), 1)


def test_enough_rows_drown_the_noise():
    X, y = rows(50_000)
    counts = unnaive.count(X, y, discretize=None)
    exact, found = unnaive.TAN().fit_counts(counts), unnaive.TAN().fit_counts(noisy(counts, 2.0))
    assert abs(exact.predict_proba(X[:500]) - found.predict_proba(X[:500])).max() < 0.1


def test_noise_alone_is_no_dependence():
    X, y = rows(3000, d=6)
    X[:, 1] = np.random.default_rng(1).integers(0, 3, 3000)  # all columns are independent now
    counts = unnaive.count(X, y, discretize=None)
    drawn = privacy._with_noise(counts.pairs, 30.0)
    raw = replace(counts, pairs=np.maximum(drawn, 0))
    found = privacy._made_consistent(replace(counts, pairs=drawn), 30.0)

    def dependence(tables):
        alone = [
            np.einsum("ki,kj->kij", tables.marginal(i), tables.marginal(j))
            / tables.class_counts[:, None, None]
            for i, j in counts.pair_columns
        ]
        parts = zip(counts.pair_columns, alone, strict=True)
        return sum(float(np.square(tables.pair(i, j) - other).sum()) for (i, j), other in parts)

    assert dependence(found) < 0.5 * dependence(raw)


# Suppression


def test_suppression_sets_small_cells_to_zero():
    counts = counted(60, gaps=0.2)
    found = suppress(counts, 5)
    for before, after in zip(counts.tables, found.tables, strict=True):
        assert np.array_equal(after, np.where(before >= 5, before, 0))
    assert found.pairs.sum() < counts.pairs.sum()
    assert suppress(found, 5) == found
    assert suppress(counts, 2).schema == counts.schema


def test_margins_are_never_below_what_they_sum():
    for seed in range(20):
        found = suppress(counted(80, seed=seed, gaps=0.1), 7)
        found.check()
        for column in range(found.n_columns):
            assert (found.marginal(column).sum(axis=1) <= found.class_counts).all()
        for first, second in found.pair_columns:
            assert (found.pair(first, second).sum(axis=2) <= found.marginal(first)).all()
            assert (found.pair(first, second).sum(axis=1) <= found.marginal(second)).all()


def test_every_table_of_a_fitted_model_is_suppressed():
    X, y = rows(60)
    counts = unnaive.KDB(discretize=None).fit(X, y).counts_
    found = suppress(counts, 4)
    assert counts.families
    assert all(table[table > 0].min() >= 4 for table in found.tables if table.any())
    triples = unnaive.A2DE(discretize=None).fit(X, y).counts_
    assert suppress(triples, 4).triples[suppress(triples, 4).triples > 0].min() >= 4


@pytest.mark.parametrize("min_cell", [5, 1000])
def test_models_learn_from_suppressed_counts(min_cell):
    X, y = rows(200)
    found = suppress(unnaive.count(X, y, discretize=None), min_cell)
    for key in ("nb", "tan", "aode", "hnb"):
        assert np.isfinite(unnaive.make(key).fit_counts(found).predict_proba(X)).all()


# Errors


@pytest.mark.parametrize("epsilon", [0, -1.0, math.inf, math.nan, "1", True, None])
def test_epsilon_must_be_a_number_above_zero(epsilon):
    with pytest.raises(ValueError, match="it must be a number above 0, such as"):
        noisy(counted(9), epsilon)


def test_epsilon_that_leaves_nothing():
    with pytest.raises(ValueError, match=r"noise of scale 1\.6e\+21, .*; use a larger epsilon"):
        noisy(counted(9), 1e-20)


@pytest.mark.parametrize("min_cell", [1, 0, 2.5, "5", True, None])
def test_min_cell_must_be_a_whole_number(min_cell):
    with pytest.raises(ValueError, match="it must be a whole number of 2 or more"):
        suppress(counted(9), min_cell)


def test_weights_are_refused():
    X, y = rows(30)
    counts = unnaive.count(X, y, sample_weight=np.full(30, 0.5))
    with pytest.raises(UnnaiveError, match="sums of weights, and noise applies to rows; count"):
        noisy(counts, 1.0)
    with pytest.raises(UnnaiveError, match="sums of weights, and suppression applies to rows"):
        suppress(counts, 5)


def test_tables_beyond_pairs_are_refused():
    X, y = rows(30)
    with pytest.raises(UnnaiveError, match=r"hold families or triples .* use those of unnaive"):
        noisy(unnaive.KDB(discretize=None).fit(X, y).counts_, 1.0)


def test_without_opendp(monkeypatch):
    def absent(name):
        raise ImportError(name)

    privacy._opendp.cache_clear()
    monkeypatch.setattr(privacy, "import_module", absent)
    with pytest.raises(UnnaiveError, match=r'without OpenDP; pip install -U "unnaive\[privacy\]"'):
        noisy(counted(9), 1.0)
    monkeypatch.undo()
    privacy._opendp.cache_clear()


@pytest.mark.parametrize("there", ["0.12.0", "0.14.1", "0.9.2"])
def test_a_biased_sampler_is_refused(monkeypatch, there):
    privacy._opendp.cache_clear()
    monkeypatch.setattr(privacy, "version", lambda _: there)
    with pytest.raises(UnnaiveError, match=f"OpenDP {there} draws biased noise, by which ε is"):
        noisy(counted(9), 1.0)
    monkeypatch.setattr(privacy, "version", lambda _: "0.14.2")
    noisy(counted(9), 1.0)
    privacy._opendp.cache_clear()


def test_shrinking_keeps_the_share_of_the_interaction_that_exceeds_the_noise():
    table = np.array([[[30, 10], [10, 30]]])
    margins = np.array([[40, 40]])  # independent: 20 a cell; the interaction is ±10, its square 400
    for variance, kept in ((0.0, 1.0), (100.0, 0.75), (400.0, 0.0), (900.0, 0.0)):
        expected = 20 + kept * (table - 20)
        np.testing.assert_allclose(privacy._shrunk(table, margins, margins, variance), expected)
