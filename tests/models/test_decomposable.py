"""Decomposable models, cherry trees: identities of Mathematics 6.6, slow twins, sizes by rows."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive_generalized as slow
from problems import HOSTILE, Problem, made, problems
from tests.models.test_nb_tan_aode import POLICIES, assert_close, fitted, policies
from unnaive import TAN, CherryTreeNB, DecomposableNB, GeneralizedNB, NaiveBayes, load
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.information import group_information, information_of_pairs
from unnaive.metrics import measure

penalties = st.sampled_from(["bic", "aic", None])

SIZE = {DecomposableNB: "max_clique", CherryTreeNB: "order"}


def complete(problem):
    assume(all(cell is not None for row in problem.rows for cell in row))
    return problem


def related(n, d, seed, k=2):
    """Complete rows with dependences between neighbours, so that edges are worth their price."""
    random = np.random.default_rng(seed)
    columns = [random.integers(0, 3, n)]
    for i in range(1, d):
        other = columns[int(random.integers(i))]
        mixed = (other + columns[0] * (i % 2)) % (2 + i % 2)
        columns.append(np.where(random.random(n) < 0.4, random.integers(0, 2, n), mixed))
    rows = np.stack(columns, axis=1)
    classes = (rows.sum(axis=1) + random.integers(0, 2, n)) % k
    return Problem(rows.tolist(), classes.tolist(), k, [3, *([3] * (d - 1))])


def joined(model):
    """Edges of a model as the twin writes them."""
    return {
        tuple(sorted((family[0], parent)))
        for family in model.structure_.families
        for parent in family[1:]
    }


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.long) for s in range(1, 12))]
)
@pytest.mark.parametrize("penalty", ["bic", "aic", None])
@pytest.mark.parametrize("start", ["star", "tan"])
def test_edges_equal_the_twin(seed, penalty, start):
    problem = related(60 + 20 * seed, 5, seed)
    for size in (2, 3, 4, 5):
        model = fitted(DecomposableNB(max_clique=size, penalty=penalty, start=start), problem)
        begun = ()
        if start == "tan" and size > 2:
            begun = slow.edges_of(fitted(TAN(), problem).structure_.parents.tolist())
        expected = slow.decomposable_edges(*problem.data, size, penalty, begun)
        assert joined(model) == set(expected)
        graph = slow.graph_of(5, joined(model))
        assert nx.is_chordal(graph)
        assert max(len(clique) for clique in nx.find_cliques(graph)) <= size


@given(problems(max_columns=5, sizes=(1, 2, 3)), penalties, st.integers(2, 5))
@settings(max_examples=60)
def test_edges_equal_the_twin_on_any_shape(problem, penalty, size):
    complete(problem)
    model = fitted(DecomposableNB(max_clique=size, penalty=penalty), problem)
    expected = slow.decomposable_edges(*problem.data, size, penalty)
    total = slow.log_likelihood(*problem.data[:2], len(problem.values), list(expected))
    mine = slow.log_likelihood(*problem.data[:2], len(problem.values), sorted(joined(model)))
    assert mine == pytest.approx(total, abs=1e-7)  # edges may tie in ways that rounding decides


@given(problems(max_columns=5, sizes=(1, 2, 3)), policies, st.integers(2, 5), st.booleans())
@settings(max_examples=80)
def test_joints_equal_the_twin(problem, policy, size, cherry):
    kind = CherryTreeNB(order=size) if cherry else DecomposableNB(max_clique=size, penalty=None)
    model = fitted(kind.set_params(smoothing=policy), problem)
    parents = {family[0]: family[1:] for family in model.structure_.families}
    above = [parents.get(i, ()) for i in range(len(problem.values))]
    expected = [
        slow.families_joint(*problem.data, POLICIES[policy], above, row) for row in problem.rows
    ]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@pytest.mark.parametrize("smoothing", ["bdeu", "ml"])
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_under_bdeu_it_is_cliques_over_separators(smoothing, size):
    problem = related(80, 5, 3)
    model = fitted(DecomposableNB(max_clique=size, penalty=None, smoothing=smoothing), problem)
    policy = ("ml",) if smoothing == "ml" else ("bdeu", 1.0)
    edges = sorted(joined(model))
    expected = [slow.cliques_joint(*problem.data, policy, edges, row) for row in problem.rows]
    got = model.predict_joint_log_proba(problem.X)
    possible = np.isfinite(expected)
    np.testing.assert_allclose(got[possible], np.array(expected)[possible], atol=1e-10)


def test_small_cliques_are_known_models():
    problem = related(200, 6, 1)
    smoothing = {"smoothing": "laplace"}
    alone = fitted(NaiveBayes(**smoothing), problem).predict_proba(problem.X)
    for model in (DecomposableNB(max_clique=2, **smoothing), CherryTreeNB(order=2)):
        found = fitted(model, problem).predict_proba(problem.X)
        np.testing.assert_allclose(found, alone, atol=1e-12)
    forest = fitted(DecomposableNB(max_clique=3, penalty=None), problem)
    tree = fitted(TAN(), problem).structure_
    assert forest.kl_gain_over_nb_ == pytest.approx(tree.weights.sum(), abs=1e-10)
    assert forest.weight_ > forest.kl_gain_over_nb_
    priced = fitted(DecomposableNB(max_clique=3, penalty="aic"), problem)
    aic = fitted(TAN(forest="aic"), problem).structure_
    assert joined(priced) == {tuple(pair) for pair in aic.pairs.tolist()}


@given(problems(max_columns=6))
@settings(max_examples=100)
def test_order_three_is_the_greedy_tree(problem):
    cherry = fitted(CherryTreeNB(order=3), problem)
    greedy = fitted(GeneralizedNB(method="greedy"), problem)
    assert cherry.feature_order_.tolist() == greedy.feature_order_.tolist()
    np.testing.assert_allclose(cherry.feature_importances_, greedy.feature_importances_, atol=1e-10)
    np.testing.assert_allclose(
        cherry.predict_joint_log_proba(problem.X),
        greedy.predict_joint_log_proba(problem.X),
        atol=1e-9,
    )
    assert cherry.weight_ == pytest.approx(greedy.weight_, abs=1e-9)


@given(problems(max_columns=6, sizes=(1, 2, 3)), st.integers(2, 6))
@settings(max_examples=100)
def test_cherry_trees_equal_the_twin(problem, order):
    model = fitted(CherryTreeNB(order=order), problem)
    columns, parents, gains = slow.cherry_tree(*problem.data, order)
    assert model.feature_order_.tolist() == list(columns)
    for column in columns:
        assert sorted(model.structure_.parents_of(column)) == sorted(parents[column])
    cumulated = np.cumsum(gains)[-1]
    assert model.weight_ == pytest.approx(cumulated, abs=1e-9)
    assert model.clusters_[-1].cumulated == pytest.approx(cumulated, abs=1e-9)


@given(problems(max_columns=5, weighted=True), st.integers(0, 4), st.integers(0, 4))
@settings(max_examples=80)
def test_information_given_columns_equals_the_twin(problem, first, second):
    group = sorted({first % len(problem.values), second % len(problem.values)})
    rows = problem.coded()
    got = group_information(rows.given(tuple(group)), rows.seen(tuple(group)))
    single = [
        slow.group_information(*problem.data, w, [], problem.weights) for w in range(len(got))
    ]
    for w in set(range(len(got))) - set(group):
        both = slow.group_information(*problem.data, w, group, problem.weights)
        assert got[w] == pytest.approx(both - single[w], abs=1e-10)
        if len(group) == 2:
            pair = np.array([[min(w, group[1]), max(w, group[1])]])
            beyond = information_of_pairs(rows.given((group[0],)), pair)[0]
            chained = Problem(
                [row if row[group[0]] is not None else [None] * len(row) for row in problem.rows],
                *problem.data[1:],
                problem.weights,
            )
            if all(cell is not None for row in problem.rows for cell in row):
                one = slow.group_information(*chained.data, w, group[:1], problem.weights)
                assert beyond == pytest.approx(both - one, abs=1e-10)


@pytest.mark.parametrize("kind", [DecomposableNB, CherryTreeNB])
def test_the_size_by_leave_one_out(kind):
    problem = related(150, 6, 5)
    X, y = problem.X, problem.classes
    weights = np.resize([1.0, 2.0], len(y))
    settled = {"discretize": None, "categories": [range(3)] * 6}
    name = SIZE[kind]
    swept = kind(**{name: "loo"}, **settled).fit(X, y, weights)
    path = swept.path_
    assert path["size"].tolist() == [2, 3, 4, 5, 6]
    for place, size in enumerate(path["size"]):
        model = kind(**{name: int(size)}, **settled).fit(X, y, weights)
        left_out = measure(model.loo_predict_proba(X, y, weights), np.array(y), [0, 1], weights)
        assert path["accuracy"][place] == pytest.approx(left_out.accuracy, abs=1e-12)
        assert path["log_loss"][place] == pytest.approx(left_out.log_loss, abs=1e-10)
        trained = measure(model.predict_proba(X), np.array(y), [0, 1], weights)
        assert path["training_accuracy"][place] == pytest.approx(trained.accuracy, abs=1e-12)
    best = int(path["size"][np.argmin(path["log_loss"])])
    expected = kind(**{name: best}, **settled).fit(X, y, weights).predict_proba(X)
    np.testing.assert_array_equal(swept.predict_proba(X), expected)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "model",
    [
        DecomposableNB(),
        DecomposableNB(max_clique="loo", penalty=None),
        CherryTreeNB(order=4),
        CherryTreeNB(order="loo"),
    ],
    ids=str,
)
def test_hostile_shapes(name, model):
    problem = HOSTILE[name]
    if len(problem.rows) > 10_000:
        problem = Problem(problem.rows[:2000], problem.classes[:2000], problem.k, problem.values)
    found = fitted(model, problem)
    np.testing.assert_allclose(found.predict_proba(problem.X).sum(axis=1), 1.0)
    left_out = found.loo_predict_proba(problem.X, problem.classes)
    np.testing.assert_allclose(left_out.sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", [DecomposableNB, CherryTreeNB])
def test_rows_come_and_go_and_models_are_kept(kind, tmp_path):
    problem = related(120, 5, 2)
    X, y = problem.X, np.array(problem.classes)
    settled = {"discretize": None, "categories": [range(3)] * 5}
    model = kind(**settled).partial_fit(X[:80], y[:80], classes=[0, 1])
    families = model.structure_.families
    model.partial_fit(X[80:], y[80:])
    assert model.structure_.families == families
    model.forget(X[80:], y[80:])
    expected = kind(**settled).fit(X[:80], y[:80]).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.weight_ == model.weight_
    copy = kind(**settled).fit_counts(model.counts_)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("kind", [DecomposableNB, CherryTreeNB])
@pytest.mark.parametrize("size", [1, 0, 2.5, True, "best", None])
def test_bad_sizes(kind, size):
    with pytest.raises(ValueError, match=f"{SIZE[kind]}=.*at least 2"):
        kind(**{SIZE[kind]: size}).fit([["a", 1], ["b", 2]] * 4, [0, 1] * 4)


def test_bad_parameters():
    X, y = [["a", 1], ["b", 2]] * 4, [0, 1] * 4
    with pytest.raises(ValueError, match="penalty='mdl'; it must be 'bic', 'aic' or None"):
        DecomposableNB(penalty="mdl").fit(X, y)
    with pytest.raises(ValueError, match="start='kdb'; it must be 'star' or 'tan'"):
        DecomposableNB(start="kdb").fit(X, y)
    with pytest.raises(UnnaiveError, match="DecomposableNB needs counts of columns together"):
        DecomposableNB().fit_counts(made(20, [2, 3], 2).coded().count())


def test_tables_beyond_memory_are_refused():
    problem = made(3000, [300, 300, 300, 300], 2, seed=0)
    model = CherryTreeNB(order=5, max_memory=2**23)
    with pytest.raises(TableTooLarge, match="a table of CherryTreeNB would take"):
        fitted(model, problem)
