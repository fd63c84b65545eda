"""Generalized naive Bayes: Mathematics 3 and 13, slow twins, the sweep over its first columns."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import naive_generalized as slow
import weather
from fits import with_counts
from problems import HOSTILE, Problem, made, problems
from tests.models.test_nb_tan_aode import POLICIES, assert_close, fitted, policies
from unnaive import TAN, BDeu, GeneralizedNB, NaiveBayes, load
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.io.frames import to_frame
from unnaive.metrics import measure
from unnaive.structure.generalized import generalized_tree, top_pair

METHODS = ("greedy", "optimal", "edmonds", "free")
methods = st.sampled_from(METHODS)


def on_weather(**parameters):
    model = GeneralizedNB(categories=weather.CATEGORIES, **parameters)
    return model.fit(weather.LABELLED, weather.LABELS)


@pytest.mark.parametrize("method", METHODS)
def test_worked_structures(method):
    model = on_weather(method=method)
    assert model.structure_.parents.tolist() == [-1, 0, 1, 0]
    assert model.feature_order_.tolist() == [0, 1, 2, 3]
    assert model.weight_ / math.log(2) == pytest.approx(1.626873056, abs=1e-9)
    naive_weight = model.weight_ - model.kl_gain_over_nb_
    assert naive_weight / math.log(2) == pytest.approx(0.475934917, abs=1e-9)
    assert model.forced_edge_loss_ == 0.0
    bits = [triplet.information / math.log(2) for triplet in model.triplets_]
    assert bits == pytest.approx([0.695565, 0.571429, 0.359879], abs=1e-6)
    assert model.triplets_[-1].cumulated == pytest.approx(model.weight_)
    assert [(t.parents, t.child) for t in model.triplets_] == [
        (("x0",), "x1"),
        (("x1",), "x2"),
        (("x0",), "x3"),
    ]


def test_worked_posteriors_of_the_paper():
    model = on_weather(paper=True)
    yes = list(model.classes_).index("yes")
    assert model.predict_proba(weather.LABELLED)[[0, 5, 10], yes].tolist() == [0.0, 0.0, 1.0]
    states = [
        ["sunny", "hot", "normal", "TRUE"],
        ["sunny", "hot", "normal", "FALSE"],
        ["sunny", "cool", "high", "TRUE"],
    ]
    got = model.predict_proba(states)[:, yes]
    assert got == pytest.approx([5 / 11, 5 / 17, 25 / 49], abs=1e-12)


@pytest.mark.long
def test_weights_are_in_order_and_optimal_on_500_problems():
    random = np.random.default_rng(0)
    trees = {d: slow.labelled_trees(d) for d in range(3, 7)}
    lost = {"greedy": 0, "forced": 0}
    for _ in range(500):
        d, k = int(random.integers(3, 7)), int(random.integers(2, 4))
        X = random.integers(0, random.integers(2, 5, size=d), size=(random.integers(8, 60), d))
        X[:, 1] = np.where(random.random(len(X)) < 0.5, X[:, 0] % 2, X[:, 1])
        y = np.append(random.integers(0, k, len(X) - 1), 0)
        models = {
            method: GeneralizedNB(method=method, discretize=None).fit(X, y) for method in METHODS
        }
        weight = {method: model.weight_ for method, model in models.items()}
        naive_weight = weight["free"] - models["free"].kl_gain_over_nb_
        assert naive_weight <= weight["greedy"] + 1e-10
        assert weight["greedy"] <= weight["optimal"] + 1e-10
        assert weight["optimal"] <= weight["free"] + 1e-10
        assert weight["edmonds"] == pytest.approx(weight["optimal"], abs=1e-10)
        loss = weight["free"] - weight["optimal"]
        assert models["greedy"].forced_edge_loss_ == pytest.approx(loss, abs=1e-10)
        tan = TAN(discretize=None).fit(X, y).structure_
        assert tan.weights.sum() == pytest.approx(models["free"].kl_gain_over_nb_, abs=1e-10)
        information = naive_matrix(X, y, k)
        pair = tuple(models["optimal"].feature_order_[:2].tolist())
        by_tree = {tree: sum(information[i][j] for i, j in tree) for tree in trees[d]}
        best = max(gain for tree, gain in by_tree.items() if pair in tree or pair[::-1] in tree)
        assert models["optimal"].kl_gain_over_nb_ == pytest.approx(best, abs=1e-10)
        assert models["free"].kl_gain_over_nb_ == pytest.approx(max(by_tree.values()), abs=1e-10)
        lost["greedy"] += weight["greedy"] < weight["optimal"] - 1e-9
        lost["forced"] += loss > 1e-9
    assert min(lost.values()) > 10  # so that the inequalities were put to a test


def test_only_the_free_tree_may_lack_the_first_pair():
    random, names, lacking = np.random.default_rng(0), tuple("abcdef"), 0
    for _ in range(20):
        relevance, information = 3 * random.random(6), random.random((6, 6))
        information += information.T
        options = {"relevance": relevance, "information": information, "active": np.ones(6, bool)}
        found = {one: generalized_tree(names, "y", method=one, **options) for one in METHODS}
        pair = set(top_pair(*options.values()))
        weights = {one: tree.weights.sum() for one, tree in found.items()}
        graph = nx.from_numpy_array(np.triu(information, 1))
        spanned = nx.maximum_spanning_tree(graph).size(weight="weight")
        assert weights["free"] == pytest.approx(spanned, abs=1e-12)
        for one, tree in found.items():
            edges = [{i, parent} for i, parent in enumerate(tree.parents.tolist()) if parent >= 0]
            assert len(edges) == 5
            if one != "free":
                assert pair in edges
                assert weights[one] <= weights["optimal"] + 1e-12
        assert weights["edmonds"] == pytest.approx(weights["optimal"], abs=1e-12)
        assert weights["free"] - weights["optimal"] == pytest.approx(
            found["optimal"].forced_edge_loss, abs=1e-12
        )
        lacking += weights["free"] > weights["optimal"] + 1e-9
    assert lacking > 3


def naive_matrix(X, y, k):
    """I(X_i;X_j|Y) of complete rows by the slow twin."""
    values = (X.max(axis=0) + 1).tolist()
    rows, classes = X.tolist(), y.tolist()
    return [
        [
            0.0 if i == j else naive.conditional_mutual_information(rows, classes, k, values, i, j)
            for j in range(len(values))
        ]
        for i in range(len(values))
    ]


@pytest.mark.long
@given(problems(max_columns=6))
@settings(max_examples=150)
def test_greedy_tree_equals_the_twin(problem):
    model = fitted(GeneralizedNB(method="greedy"), problem)
    order, mothers, gains = slow.greedy_tree(*problem.data)
    assert model.feature_order_.tolist() == list(order)
    assert model.structure_.parents.tolist() == list(mothers)
    got = [cluster.information for cluster in model.clusters_]
    assert got == pytest.approx(list(gains), abs=1e-10)


@pytest.mark.long
@given(problems(max_columns=6), st.sampled_from(["optimal", "free"]))
@settings(max_examples=150)
def test_order_equals_the_twin(problem, method):
    model = fitted(GeneralizedNB(method=method), problem)
    mothers = model.structure_.parents.tolist()
    scores = slow.column_scores(*problem.data, mothers)
    assert model.feature_importances_ == pytest.approx(scores, abs=1e-10)
    if len(problem.values) > 1:
        assert model.feature_order_.tolist() == slow.peeling_order(*problem.data, mothers)
        if method == "optimal":
            edges = slow.edges_of(slow.forced_tree(*problem.data))
            weight = slow.tree_weight(*problem.data, edges)
            assert model.weight_ == pytest.approx(weight, abs=1e-10)


@pytest.mark.long
@given(problems(sizes=(1, 2, 3, 4)), policies, methods, st.integers(1, 5))
@settings(max_examples=120)
def test_first_columns_equal_the_twin(problem, policy, method, n_features):
    n_features = max(min(n_features, len(problem.values)), min(2, len(problem.values)))
    model = fitted(GeneralizedNB(method=method, smoothing=policy, n_features=n_features), problem)
    columns = model.feature_order_.tolist()
    assert len(columns) == n_features
    mothers = model.structure_.parents.tolist()
    expected = [
        slow.directed_joint(*problem.data, POLICIES[policy], mothers, columns, row)
        for row in problem.rows
    ]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


def complete(problem):
    assume(all(cell is not None for row in problem.rows for cell in row))
    return problem


@pytest.mark.long
@given(problems(sizes=(1, 2, 3, 5)), policies, methods)
@settings(max_examples=120)
def test_junction_form_equals_the_twin(problem, policy, method):
    complete(problem)
    model = fitted(
        GeneralizedNB(method=method, smoothing=policy, parametrization="junction"), problem
    )
    edges = slow.edges_of(model.structure_.parents.tolist())
    columns = list(range(len(problem.values)))
    expected = [
        slow.junction_joint(*problem.data, POLICIES[policy], columns, edges, row)
        for row in problem.rows
    ]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@pytest.mark.long
@given(problems(sizes=(1, 2, 3, 5), max_rows=12), methods, st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("paper", [True, "all-zeros"])
@settings(max_examples=120)
def test_the_papers_posteriors_equal_the_twin(paper, problem, method, seed):
    complete(problem)
    model = fitted(GeneralizedNB(method=method, paper=paper), problem)
    edges = slow.edges_of(model.structure_.parents.tolist())
    columns = list(range(len(problem.values)))
    random = np.random.default_rng(seed)
    states = [[int(random.integers(v)) for v in problem.values] for _ in range(10)]
    expected = [
        slow.paper_posterior(*problem.data, columns, edges, row, all_zeros=paper == "all-zeros")
        for row in states
    ]
    got = model.predict_proba(np.array(states, dtype=float))
    np.testing.assert_allclose(got, expected, atol=1e-10)


@pytest.mark.long
@given(problems(sizes=(2, 3), max_columns=4), methods)
@settings(max_examples=60)
def test_divergence_falls_by_the_weight(problem, method):
    complete(problem)
    model = fitted(GeneralizedNB(method=method), problem)
    mothers = model.structure_.parents.tolist()
    edges = slow.edges_of(mothers)
    divergence = slow.tree_divergence(*problem.data, mothers)
    assert divergence == pytest.approx(slow.divergence_by_weight(*problem.data, edges), abs=1e-10)
    apart = slow.tree_divergence(*problem.data, [-1] * len(mothers))
    assert apart - divergence == pytest.approx(model.kl_gain_over_nb_, abs=1e-10)


def test_under_bdeu_the_forms_agree_and_no_root_matters():
    problem = made(60, [3, 2, 4, 2, 3], 3, seed=4)
    directed = fitted(GeneralizedNB(smoothing=BDeu(2.0)), problem)
    junction = fitted(GeneralizedNB(smoothing=BDeu(2.0), parametrization="junction"), problem)
    expected = directed.predict_joint_log_proba(problem.X)
    np.testing.assert_allclose(junction.predict_joint_log_proba(problem.X), expected, atol=1e-12)
    for root in range(5):
        parents = slow.oriented(5, slow.edges_of(directed.structure_.parents.tolist()), root)
        hung = fitted(TAN(smoothing=BDeu(2.0), parents=parents), problem)
        np.testing.assert_allclose(hung.predict_joint_log_proba(problem.X), expected, atol=1e-12)


def test_without_information_it_is_close_to_naive_bayes():
    X = np.tile([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]], (20, 1))
    y = [0, 1] * 40
    model = GeneralizedNB(discretize=None, smoothing="ml").fit(X[:80], y)
    expected = NaiveBayes(discretize=None, smoothing="ml").fit(X[:80], y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)


SETTINGS = [
    {},
    {"method": "greedy", "smoothing": "backoff"},
    {"paper": True},
    {"paper": "all-zeros"},
    {"parametrization": "junction", "smoothing": "m-estimate"},
    {"missing": "drop"},
]


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_the_sweep_equals_models_of_each_length(parameters, gaps):
    problem = made(50, [3, 2, 4, 2, 3, 1], 3, gaps=gaps, seed=2)
    X, y = problem.X, problem.classes
    weights = np.resize([1.0, 0.5, 2.0], len(y))
    settled = {"discretize": None, "categories": [range(v) for v in problem.values], **parameters}
    swept = GeneralizedNB(n_features="loo", criterion="accuracy", **settled).fit(X, y, weights)
    path = swept.path_
    assert path["n_features"].tolist() == [2, 3, 4, 5, 6]
    whole = GeneralizedNB(**settled).fit(X, y, weights)
    scored = whole.score_path(X, y, positive=1)
    prefixes = list(whole._prefix_chances(whole.schema_.encode(to_frame(X))))
    for place, number in enumerate(path["n_features"]):
        model = GeneralizedNB(n_features=int(number), **settled).fit(X, y, weights)
        left_out = measure(model.loo_predict_proba(X, y, weights), y_codes(y), range(3), weights)
        assert path["accuracy"][place] == pytest.approx(left_out.accuracy, abs=1e-12)
        if not parameters.get("paper"):  # log loss of a posterior of 0 is clipped by measure
            assert path["log_loss"][place] == pytest.approx(left_out.log_loss, abs=1e-10)
        chances = model.predict_proba(X)
        np.testing.assert_allclose(prefixes[number - 1], chances, atol=1e-12)
        found = measure(chances, y_codes(y), range(3))
        assert scored["accuracy"][place] == pytest.approx(found.accuracy, abs=1e-12)
        # The last bit of a probability decides ties, and a tie is worth 1e-3 here.
        assert scored["auc"][place] == pytest.approx(found.auc, abs=5e-3)
        assert scored["auc_hard"][place] == pytest.approx(found.auc_hard, abs=1e-12)
        assert scored["precision"][place] == pytest.approx(found.precision[1], abs=1e-12)
        assert scored["recall"][place] == pytest.approx(found.recall[1], abs=1e-12)
        assert scored["f1"][place] == pytest.approx(found.f1_by_class[1], abs=1e-12)
    assert len(swept.feature_order_) == 2 + int(np.argmax(path["accuracy"]))
    by_loss = GeneralizedNB(n_features="loo", criterion="log_loss", **settled).fit(X, y, weights)
    assert len(by_loss.feature_order_) == 2 + int(np.argmin(path["log_loss"]))


def y_codes(y):
    return np.asarray(y, dtype=np.int64)


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_leave_one_out_equals_refits(parameters, gaps):
    problem = made(30, [3, 2, 4, 2], 3, gaps=gaps, seed=5)
    model = fitted(GeneralizedNB(n_features=3, **parameters), problem)
    tree = model.structure_
    left_out = model.loo_predict_proba(problem.X, problem.classes)

    for row in range(len(problem.rows)):
        rest = [other for other in range(len(problem.rows)) if other != row]
        rows = [problem.rows[other] for other in rest]
        without = Problem(rows, [problem.classes[other] for other in rest], 3, problem.values)
        refit = fitted(GeneralizedNB(**parameters), without)
        refit = with_counts(refit, refit.counts_, tree)
        np.testing.assert_allclose(
            left_out[row], refit.predict_proba(problem.X[row : row + 1])[0], atol=1e-10
        )


def test_columns_that_are_left_out_do_not_matter():
    problem = made(40, [3, 3, 2, 4, 2], 2, gaps=0.2, seed=1)
    model = fitted(GeneralizedNB(n_features=2, method="greedy"), problem)
    others = np.setdiff1d(np.arange(5), model.feature_order_)
    assert (model.feature_importances_[others] == 0).all()
    assert (model.structure_.parents[others] == -2).all()
    changed = problem.X.copy()
    changed[:, others] = np.nan
    expected = model.predict_proba(problem.X)
    np.testing.assert_array_equal(model.predict_proba(changed), expected)
    assert "x" + str(others[0]) not in model.structure_.to_networkx()
    assert '"x' + str(others[0]) not in model.structure_.to_dot()


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_hostile_shapes(name, parameters):
    problem = HOSTILE[name]
    model = fitted(GeneralizedNB(**parameters), problem)
    chances = model.predict_proba(problem.X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    left_out = model.loo_predict_proba(problem.X, problem.classes)
    np.testing.assert_allclose(left_out.sum(axis=1), 1.0)
    path = model.score_path(problem.X, problem.classes)
    assert len(path["accuracy"]) == max(len(model.feature_order_) - 1, 1)


def test_saved_models_answer_the_same(tmp_path):
    problem = made(40, [3, 3, 2, 4], 2, gaps=0.2, seed=1)
    model = fitted(GeneralizedNB(n_features=3, method="greedy"), problem)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(problem.X), model.predict_proba(problem.X))
    assert again.triplets_ == model.triplets_
    assert again.forced_edge_loss_ == model.forced_edge_loss_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "best"}, "method='best'; it must be 'optimal'"),
        ({"n_features": 1}, "n_features=1; .* a whole number from 2 to 3, the"),
        ({"n_features": 9}, "n_features=9"),
        ({"n_features": 2.5}, "n_features=2.5"),
        ({"n_features": True}, "n_features=True"),
        ({"n_features": "all"}, "n_features='all'"),
        ({"n_features": "loo", "criterion": "f1"}, "criterion='f1'"),
        ({"parametrization": "clique"}, "parametrization='clique'"),
        ({"paper": True, "smoothing": "bdeu"}, "paper=True does not smooth"),
        ({"missing": "never"}, "missing='never'"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = [["a", 1, "u"], ["b", 2, "v"], ["a", 2, "u"]] * 4, [0, 1, 1] * 4
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        GeneralizedNB(**parameters).fit(X, y)


def test_edmonds_on_many_columns_is_refused():
    X = np.random.default_rng(0).integers(0, 2, (40, 300))
    with pytest.raises(TableTooLarge, match=r"300 columns would take about 8\.0 GiB"):
        GeneralizedNB(method="edmonds", discretize=None).fit(X, X[:, 0])


def test_counts_have_no_rows_to_leave_out():
    counts = made(20, [2, 3], 2).coded().count()
    with pytest.raises(UnnaiveError, match="alone have none"):
        GeneralizedNB(n_features="loo").fit_counts(counts)


def test_scores_need_known_classes():
    X = pd.DataFrame({"a": ["u", "v"] * 10, "b": [1, 1, 2, 2] * 5})
    model = GeneralizedNB().fit(X, ["no", "yes"] * 10)
    with pytest.raises(ValueError, match="positive='maybe' is not one of the classes"):
        model.score_path(X, ["no", "yes"] * 10, positive="maybe")
    with pytest.raises(UnnaiveError, match="maybe"):
        model.score_path(X, ["no", "maybe"] * 10)
