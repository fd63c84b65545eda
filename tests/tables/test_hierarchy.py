"""Hierarchical smoothing: tables against the slow twin, leave-one-out against refits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_models
import naive_weighted as slow
import unnaive
from fits import with_counts, without_row
from problems import COUNTING, HOSTILE, made, problems
from tests.models.test_nb_tan_aode import assert_close, fitted
from unnaive import A2DE, AODE, HNB, KDB, TAN, Hierarchical, NaiveBayes, PazzaniNB
from unnaive._core.back_off import back_off, best_concentration, pair_gains
from unnaive.tables.hierarchy import Level, concentrations, hierarchical
from unnaive.tables.smoothing import smoothing_policy

STRENGTHS = st.sampled_from([None, 5.0, 0.25])
SMALL = problems(max_rows=16, max_columns=4, sizes=(1, 2, 3, 6), weighted=True)
LEAVING_OUT = sorted(set(COUNTING) - {"iterative", "ienb"})  # no closed form; no hierarchy
SHAPES = sorted(set(HOSTILE) - {"70,000 categories", "more rows than a block"})


def twin_of(problem, s=None):
    return slow.Hierarchy(*problem.data, problem.weights, s)


def some_rows(problem):
    """Rows of the problem, and others with missing cells."""
    test = made(4, problem.values, 1, gaps=0.4, seed=len(problem.rows))
    return type(problem)([*problem.rows[:6], *test.rows], [], problem.k, problem.values)


def compare(model, problem, expected_of):
    """Assert that a model's log joints are those of a twin; ``expected_of`` takes a row."""
    test = some_rows(problem)
    got = model.predict_joint_log_proba(test.X)
    assert_close(got, [expected_of(row) for row in test.rows], atol=1e-12)


# Tables


@pytest.mark.long
@given(SMALL, STRENGTHS, st.sampled_from(["marginalize", "drop"]))
@settings(max_examples=60)
def test_trees_equal_the_twin(problem, s, missing):
    twin, smoothing = twin_of(problem, s), Hierarchical(s)
    model = fitted(TAN(smoothing=smoothing, missing=missing), problem)
    parents = model.structure_.parents.tolist()
    compare(model, problem, lambda row: slow.tree(twin, parents, row, missing))
    alone = fitted(NaiveBayes(smoothing=smoothing), problem)
    compare(alone, problem, lambda row: slow.tree(twin, [-1] * len(row), row, "drop"))


@given(SMALL, STRENGTHS, st.sampled_from(["marginalize", "drop"]))
@settings(max_examples=50)
def test_families_equal_the_twin(problem, s, missing):
    twin = twin_of(problem, s)
    model = fitted(KDB(k=3, smoothing=Hierarchical(s), missing=missing), problem)
    parents = {family[0]: family[1:] for family in model.structure_.families}
    compare(model, problem, lambda row: slow.families(twin, parents, row, missing))


@given(SMALL, STRENGTHS, st.integers(1, 3))
@settings(max_examples=50)
def test_super_parents_equal_the_twin(problem, s, min_count):
    twin, smoothing = twin_of(problem, s), Hierarchical(s)
    model = fitted(AODE(smoothing=smoothing, min_count=min_count), problem)
    compare(model, problem, lambda row: slow.aode(twin, row, min_count))
    hidden = fitted(HNB(smoothing=smoothing), problem)
    cmi = naive_models.cmi_matrix(*problem.data, problem.weights)
    compare(hidden, problem, lambda row: slow.hidden(twin, row, cmi))


@given(SMALL, STRENGTHS)
@settings(max_examples=25)
def test_pairs_of_parents_equal_the_twin(problem, s):
    unit = type(problem)(problem.rows, problem.classes, problem.k, problem.values)
    twin = twin_of(unit, s)  # of unit weights: one row is enough to be a super-parent
    model = fitted(A2DE(smoothing=Hierarchical(s)), unit)
    compare(model, unit, lambda row: slow.a2de(twin, row))


@given(SMALL, STRENGTHS, st.integers(0, 99))
@settings(max_examples=40)
def test_groups_equal_the_twin(problem, s, seed):
    random = np.random.default_rng(seed)
    label = random.integers(0, 3, len(problem.values))
    parts = [np.flatnonzero(label == one).tolist() for one in np.unique(label)]
    parts = [tuple(group) for group in parts if group]
    model = PazzaniNB(smoothing=Hierarchical(s))
    model._fit_rows(problem.coded())
    structure = type(model.structure_)(model.structure_.names, "y", tuple(parts))
    families = problem.coded().count_families(parts)
    model = with_counts(model, replace(model.counts_, families=families), structure)
    twin = twin_of(problem, s)
    compare(model, problem, lambda row: slow.groups(twin, parts, row))


@pytest.mark.parametrize("name", SHAPES)
def test_hostile_shapes_equal_the_twin(name):
    problem = HOSTILE[name]
    twin, few = twin_of(problem), type(problem)(problem.rows[:20], [], problem.k, problem.values)
    trees = fitted(TAN(smoothing="hierarchical"), problem)
    parents = trees.structure_.parents.tolist()
    expected = [slow.tree(twin, parents, row) for row in few.rows]
    assert_close(trees.predict_joint_log_proba(few.X), expected, atol=1e-12)
    averaged = fitted(AODE(smoothing="hierarchical"), problem)
    expected = [slow.aode(twin, row) for row in few.rows]
    assert_close(averaged.predict_joint_log_proba(few.X), expected, atol=1e-12)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=4),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.5, 3.25]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_any_levels_equal_the_twin(widths, v, share, seed):
    random = np.random.default_rng(seed)
    levels, counted, contexts = [], [], 1
    above_of = {0: ()}
    for width in widths:
        n = max(width, 1)
        above = random.integers(0, contexts, n)
        counts = random.integers(0, 4, (n, v)) * (random.random((n, v)) < 0.7) + share
        levels.append(Level.of(counts, above))
        names = {t: (*above_of[int(a)], t) for t, a in enumerate(above)}
        table = {names[t]: dict(enumerate(line)) for t, line in enumerate(counts.tolist())}
        counted.append(table)
        above_of, contexts = names, n
    margin = levels[0].counts.sum(axis=0)
    twin = [{(): dict(enumerate(margin.tolist()))}, *counted]
    alphas = concentrations(margin, levels)
    assert alphas == slow.concentrations(twin, v)
    found = hierarchical(margin, levels, alphas)[-1]
    for place, context in above_of.items():
        expected = [slow.chance(twin, v, alphas, context, x) for x in range(v)]
        np.testing.assert_allclose(found[place], expected, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


# Leave-one-out


@pytest.mark.parametrize("key", LEAVING_OUT)
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_leave_one_out_equals_refits(key, gaps):
    if key == "bayesnet" and gaps:
        return  # it says that it cannot
    for seed, k, weights in ((0, 2, None), (1, 3, np.resize([1.0, 0.5, 2.0], 14))):
        problem = made(14, [3, 2, 4, 3], k, gaps=gaps, seed=seed)
        chosen = [range(v) for v in problem.values]
        model = unnaive.make(key, discretize=None, smoothing="hierarchical:5", categories=chosen)
        X, y = problem.X, np.array(problem.classes)
        model.fit(X, y, weights)
        got = model.loo_predict_proba(X, y, weights)
        assert_close(got, refits(model, X, y, weights), atol=1e-10)


def refits(model, X, y, weights):
    """What the model says of every row after that row is taken out of its counts."""
    return [
        without_row(model, X, y, row, weights).predict_proba(X[row : row + 1])[0]
        for row in range(len(y))
    ]


@pytest.mark.parametrize("smoothing", ["hierarchical:5", "laplace"])
@given(problem=problems(max_rows=10, max_columns=4, sizes=(2, 3)))
@settings(max_examples=20)
def test_leave_one_out_where_missing_parents_are_dropped(smoothing, problem):
    model = fitted(KDB(k=3, missing="drop", smoothing=smoothing), problem)
    got = model.loo_predict_proba(problem.X, problem.classes)
    expected = refits(model, problem.X, np.array(problem.classes), None)
    assert_close(got, expected, atol=1e-10)


# Use


def test_what_is_chosen_leaves_rows_out_better_than_any_other():
    problem = made(200, [4, 3, 5], 2, gaps=0.1, seed=3)
    twin = twin_of(problem)
    for i in range(3):
        levels, alphas = twin.family(i, [])
        gains = [slow.gain(levels, problem.values[i], [alpha]) for alpha in slow.GRID]
        assert slow.gain(levels, problem.values[i], alphas) == max(gains)


def test_a_column_that_tells_nothing_comes_to_say_nothing():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 3000)
    X = np.column_stack([random.integers(0, 60, 3000), y ^ (random.random(3000) < 0.1)])
    model = NaiveBayes(discretize=None, smoothing="hierarchical").fit(X, y)
    with_it = model.predict_proba(X)
    without = model.predict_proba(np.column_stack([np.full(3000, -1), X[:, 1]]))
    assert np.abs(with_it - without).max() < 0.02
    plain = NaiveBayes(discretize=None).fit(X, y).predict_proba(X)
    assert np.abs(plain - without).max() > 0.04


@pytest.mark.parametrize("key", ["tan", "kdb", "gnb-a", "decomposable", "bayesnet"])
def test_the_network_answers_like_the_model(key):
    problem = made(80, [3, 2, 4, 3], 2, gaps=0.2, seed=5)
    model = unnaive.make(key, discretize=None, smoothing="hierarchical")
    model.fit(problem.X, np.array(problem.classes))
    network = model.to_network()
    names, schema = list(network.dag.names), model.schema_
    for row, expected in zip(problem.X[:15], model.predict_proba(problem.X[:15]), strict=True):
        known = {
            name: schema.columns[i].label(int(row[i]))
            for i, name in enumerate(names[:-1])
            if not np.isnan(row[i])
        }
        np.testing.assert_allclose(network.query(names[-1], known), expected, atol=1e-10)


@pytest.mark.parametrize("key", LEAVING_OUT)
def test_threads_and_files_give_the_same_bits(key, tmp_path):
    problem = made(150, [3, 2, 5, 3], 3, gaps=0.1)
    X, y = problem.X, np.array(problem.classes)
    parameters = {"discretize": None, "smoothing": "hierarchical"}
    if "random_state" in unnaive.make(key).get_params():
        parameters["random_state"] = 0
    model = unnaive.make(key, **parameters).fit(X, y)
    two = unnaive.make(key, n_jobs=2, **parameters).fit(X, y)
    expected = model.predict_proba(X)
    assert np.array_equal(two.predict_proba(X), expected)
    model.save(tmp_path / "model.unb")
    assert np.array_equal(unnaive.load(tmp_path / "model.unb").predict_proba(X), expected)


def test_policy_objects_are_saved_with_their_strength(tmp_path):
    problem = made(60, [3, 2], 2)
    for s in (None, 2.5):
        model = TAN(discretize=None, smoothing=Hierarchical(s)).fit(problem.X, problem.classes)
        model.save(tmp_path / "model.unb")
        assert unnaive.load(tmp_path / "model.unb").smoothing == Hierarchical(s)
    assert smoothing_policy("hierarchical:5", Hierarchical()) == Hierarchical(5.0)
    assert smoothing_policy("hierarchical", Hierarchical(1)) == Hierarchical()


@pytest.mark.parametrize("strength", ["0", "-1", "nan", "inf", "much"])
def test_bad_strengths(strength):
    with pytest.raises(ValueError, match=f"'{strength}' is not a strength for 'hierarchical'"):
        NaiveBayes(smoothing=f"hierarchical:{strength}").fit([[0], [1]], [0, 1])


def test_models_without_a_hierarchy_say_so():
    with pytest.raises(ValueError, match="'hierarchical' has no intervals"):
        unnaive.IENB(smoothing="hierarchical").fit([[0], [1]] * 9, [0, 1] * 9)


def test_loops_refuse_what_lies_beyond_their_arrays():
    counts, above, out = np.ones((3, 2)), np.full((1, 2), 0.5), np.empty((3, 2))
    with pytest.raises(IndexError, match="beyond the rows above"):
        back_off(counts, above, np.array([0, 0, 1]), 1.0, 0.0, out)
    with pytest.raises(IndexError, match="no concentration"):
        best_concentration(counts, above, np.zeros(3, dtype=np.int64), np.empty(0))
    slots, gains = np.array([0, 3, 6]), np.zeros((2, 1))
    with pytest.raises(IndexError, match="a pair's table"):
        pair_gains(np.ones((1, 4)), np.array([0, 3]), slots, np.ones((1, 6)), np.ones(1), gains)
