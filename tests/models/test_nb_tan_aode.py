"""Models: worked numbers, the slow twins, leave-one-out, folds of counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import unnaive
import weather
from problems import COUNTING, HOSTILE, made, problems
from unnaive import (
    A2DE,
    AODE,
    IENB,
    KDB,
    ML,
    TAN,
    AdjustedNB,
    Backoff,
    BayesNet,
    BDeu,
    CherryTreeNB,
    DecomposableNB,
    IterativeBayes,
    Laplace,
    MEstimate,
    NaiveBayes,
    PazzaniNB,
    WeightedBayes,
)

POLICIES = {
    Laplace(1.0): ("laplace", 1.0),
    Laplace(0.5): ("laplace", 0.5),
    MEstimate(1.0): ("m-estimate", 1.0),
    BDeu(1.0): ("bdeu", 1.0),
    Backoff(5.0): ("backoff", 5.0),
    ML(): ("ml",),
}
policies = st.sampled_from(list(POLICIES))

WORKED = [  # Mathematics 13.3
    (NaiveBayes(), [0.295753395128, 0.736822319487, 0.567542524323]),
    (NaiveBayes(smoothing=MEstimate(1)), [0.240628527626, 0.776006516174, 0.557727070963]),
    (AODE(), [0.185557526036, 0.427750373354, 0.742378036113]),
    (AODE(smoothing=MEstimate(1)), [0.095360568134, 0.360024006159, 0.819496404107]),
    (AODE(min_count=5), [0.163912113187, 0.398643707200, 0.742378036113]),
    (TAN(), [0.156250000000, 0.283185840708, 0.714285714286]),
    (TAN(parents=[1, 2, None, 0]), [0.154916218780, 0.369724121669, 0.815470643057]),
    (
        TAN(parents=["x1", None, "x1", "x0"], smoothing="laplace:0.5"),
        [0.093093376048, 0.195212826013, 0.830484729616],
    ),
]


LEARN_FROM_ROWS = (
    *(KDB, DecomposableNB, CherryTreeNB, A2DE, BayesNet, PazzaniNB, IENB, AdjustedNB),
    *(IterativeBayes, WeightedBayes),
)


def fitted(model, problem):
    """Fit a model to a problem's counts, with declared values and classes."""
    if isinstance(model, LEARN_FROM_ROWS):
        return model._fit_rows(problem.coded())
    by_values = model.recipe().counts == "values"
    pairs = np.empty((0, 2), dtype=np.int64) if by_values else None
    return model.fit_counts(problem.coded().count(pairs))


@pytest.mark.parametrize(("model", "expected"), WORKED, ids=lambda value: str(value)[:40])
def test_worked_numbers(model, expected):
    model = model.set_params(categories=weather.CATEGORIES)
    model.fit(weather.LABELLED, weather.LABELS)
    yes = list(model.classes_).index("yes")
    got = model.predict_proba(weather.LABELLED)[[0, 5, 10], yes]
    assert got == pytest.approx(expected, abs=1e-12)


def test_worked_tree():
    model = TAN(categories=weather.CATEGORIES).fit(weather.LABELLED, weather.LABELS)
    edges = [(parent, child) for parent, child, _ in model.structure_.edges]
    assert edges == [("x0", "x1"), ("x1", "x2"), ("x0", "x3")]
    bits = [weight / math.log(2) for *_, weight in model.structure_.edges]
    assert bits == pytest.approx([0.41959307, 0.41959307, 0.31175200], abs=1e-8)


@given(problems(), policies)
@settings(max_examples=120)
def test_naive_bayes_equals_the_twin(problem, policy):
    model = fitted(NaiveBayes(smoothing=policy), problem)
    expected = [naive.naive_bayes(*problem.data, POLICIES[policy], row) for row in problem.rows]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@given(
    problems(max_rows=12, max_columns=4, sizes=(1, 2, 3, 6)),
    policies,
    st.sampled_from(["marginalize", "drop"]),
)
@settings(max_examples=100)
def test_tan_equals_the_twin(problem, policy, missing):
    model = fitted(TAN(smoothing=policy, missing=missing), problem)
    parents = model.structure_.parents.tolist()
    test = made(4, problem.values, 1, gaps=0.5, seed=len(problem.rows))
    expected = [
        naive.tree_joint(*problem.data, POLICIES[policy], parents, row, missing)
        for row in test.rows
    ]
    assert_close(model.predict_joint_log_proba(test.X), expected)


@given(problems())
@settings(max_examples=80)
def test_tan_has_the_tree_of_the_twin(problem):
    model = fitted(TAN(), problem)
    assert model.structure_.parents.tolist() == naive.tan_parents(*problem.data)


@given(problems(sizes=(2, 3), max_rows=60), st.sampled_from(["bic", "aic"]))
@settings(max_examples=60)
def test_forest_of_the_twin(problem, penalty):
    model = fitted(TAN(forest=penalty), problem)
    expected = naive.tan_parents(*problem.data, penalty=penalty)
    assert model.structure_.parents.tolist() == expected


@given(problems(), policies, st.integers(0, 4))
@settings(max_examples=120)
def test_aode_equals_the_twin(problem, policy, min_count):
    model = fitted(AODE(smoothing=policy, min_count=min_count), problem)
    expected = [naive.aode(*problem.data, POLICIES[policy], row, min_count) for row in problem.rows]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@given(problems(), policies)
@settings(max_examples=60)
def test_aode_without_joint_prior_equals_the_twin(problem, policy):
    model = fitted(AODE(smoothing=policy, joint_prior=False), problem)
    options = {"policy": POLICIES[policy], "jointly": False}
    expected = [naive.aode(*problem.data, row=row, **options) for row in problem.rows]
    assert_close(model.predict_joint_log_proba(problem.X), expected)
    given = fitted(AODE(smoothing="ml", joint_prior=False), problem).predict_proba(problem.X)
    usual = fitted(AODE(smoothing="ml"), problem).predict_proba(problem.X)
    gaps = any(cell is None for row in problem.rows for cell in row)
    assert gaps or np.allclose(given, usual, atol=1e-10)  # without smoothing both are the same


@given(problems(max_rows=40, sizes=(2, 3)), st.integers(0, 5))
@settings(max_examples=100)
def test_subsumption_equals_the_twin(problem, critical):
    model = fitted(AODE(subsumption=True, critical=critical), problem)
    expected = [
        naive.aode(
            *problem.data, ("laplace", 1.0), naive.subsumed(*subsumption(problem, row, critical))
        )
        for row in problem.rows
    ]
    got = model.predict_joint_log_proba(problem.X)
    has_parent = [any(cell is not None for cell in row) for row in problem.rows]
    assert_close(
        got[has_parent], [e for e, there in zip(expected, has_parent, strict=True) if there]
    )


def subsumption(problem, row, critical):
    return problem.rows, problem.values, row, critical


@pytest.mark.parametrize(("rows", "dropped"), [(50, False), (51, True)])
def test_subsumption_needs_more_than_the_critical_count(rows, dropped):
    X = np.array([[1, 1]] * rows + [[1, 0]] * 30 + [[0, 0]] * 30)
    y = np.arange(len(X)) % 2
    models = (AODE(subsumption=on).fit(X, y) for on in (True, False))
    with_it, without = (model.predict_proba([[1, 1]]) for model in models)
    assert dropped != np.allclose(with_it, without, atol=1e-12)


MODELS = {
    "nb": NaiveBayes,
    "tan": TAN,
    "tan drop": lambda **settings: TAN(missing="drop", **settings),
    "aode": AODE,
    "aode 3": lambda **settings: AODE(min_count=3, **settings),
    "aode-sr": lambda **settings: AODE(subsumption=True, critical=2, **settings),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@given(problem=problems(max_rows=14), policy=policies)
@settings(max_examples=40)
def test_leave_one_out_equals_refits(make, problem, policy):
    model = fitted(make(smoothing=policy), problem)
    got = model.loo_predict_proba(problem.X, problem.classes)
    assert_close(got, refits(model, problem), atol=1e-10)


@given(problem=problems(max_rows=10, weighted=True), policy=policies)
@settings(max_examples=40)
def test_leave_one_out_of_weighted_rows(problem, policy):
    for model in (NaiveBayes(smoothing=policy), TAN(smoothing=policy), AODE(smoothing=policy)):
        fitted(model, problem)
        got = model.loo_predict_proba(problem.X, problem.classes, problem.weights)
        assert_close(got, refits(model, problem), atol=1e-10)


def refits(model, problem):
    """Refit without each row, with the same structure."""
    fixed = {}
    if isinstance(model, TAN):
        fixed["parents"] = model.structure_.parents.tolist()
    result = []
    for r in range(len(problem.rows)):
        rest = [i for i in range(len(problem.rows)) if i != r]
        weights = problem.weights and [problem.weights[i] for i in rest]
        without = type(problem)(
            [problem.rows[i] for i in rest],
            [problem.classes[i] for i in rest],
            problem.k,
            problem.values,
            weights,
        )
        again = type(model)(**{**model.get_params(), **fixed})
        fitted(again, without)
        result.append(again.predict_proba(problem.X[[r]])[0])
    return result


def test_leave_one_out_of_the_weather():
    model = NaiveBayes(categories=weather.CATEGORIES).fit(weather.LABELLED, weather.LABELS)
    chances = model.loo_predict_proba(weather.LABELLED, weather.LABELS)
    right = model.classes_[chances.argmax(axis=1)] == np.array(weather.LABELS)
    assert right.sum() == 7


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("key", COUNTING)
def test_hostile_shapes_give_probabilities(name, key):
    problem = HOSTILE[name]
    model = unnaive.make(key, max_memory=2**33)
    too_wide = {"aode", "aode-sr", "waode", "a2de", "hnb", "phnb", "ienb"}
    if name == "70,000 categories" and key in too_wide:
        told = r"70,000 values|most values \(70,000\)"
        with pytest.raises(unnaive.exceptions.TableTooLarge, match=told):
            fitted(model, problem)
        return
    fitted(model, problem)
    chances = model.predict_proba(problem.X[:500])
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(chances)))
    assert set(model.predict(problem.X[:500])) <= set(model.classes_)


KEEP_THE_FIRST_BATCH = {
    *("kdb", "decomposable", "cherry", "bayesnet"),
    *("fssj", "bsej", "pazzani-eda", "ienb", "iterative", "apnbc", "apnbc-eda"),
    *("wanbia", "weighted-tan", "weighted-pairs"),
}


@pytest.mark.parametrize("key", sorted(set(COUNTING) - KEEP_THE_FIRST_BATCH))
def test_batches_merges_and_threads_give_the_same_model(key):
    problem = made(400, [2, 3, 5, 18, 4], 3, gaps=0.1)
    X, y = problem.X, np.array(problem.classes)
    settings = {"categories": [list(range(v)) for v in problem.values]}
    whole = unnaive.make(key, **settings).fit(X, y)
    batches = unnaive.make(key, n_jobs=2, **settings)
    for part in np.array_split(np.arange(400), 7):
        batches.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert batches.counts_ == whole.counts_
    assert np.array_equal(batches.predict_proba(X), whole.predict_proba(X))
    first = unnaive.make(key, **settings).partial_fit(X[:300], y[:300], classes=[0, 1, 2])
    again = unnaive.make(key, **settings).partial_fit(X, y, classes=[0, 1, 2])
    again.forget(X[300:], y[300:])
    assert np.array_equal(again.predict_proba(X), first.predict_proba(X))


@pytest.mark.parametrize("key", COUNTING)
def test_saved_models_are_the_same_to_the_bit(key, tmp_path):
    problem = made(90, [2, 3, 5], 2, gaps=0.1)
    model = unnaive.make(key, smoothing=BDeu(2), discretize=unnaive.Quantile(3))
    model.fit(problem.X, np.array(problem.classes, dtype=bool), sample_weight=np.arange(90) + 0.5)
    model.save(tmp_path / "model.unb")
    loaded = unnaive.load(tmp_path / "model.unb")
    assert type(loaded) is type(model)
    assert loaded.smoothing == BDeu(2)
    assert loaded.classes_.dtype == bool
    assert np.array_equal(loaded.predict_proba(problem.X), model.predict_proba(problem.X))
    loaded.partial_fit(problem.X, np.array(problem.classes, dtype=bool))


def test_tan_on_many_columns_never_holds_all_pairs():
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (300, 60))
    X[:, 1::2] = X[:, ::2]
    y = random.integers(0, 2, 300)
    whole = TAN(discretize=None).fit(X, y)
    tiled = TAN(discretize=None, max_memory=50_000).fit(X, y)
    assert len(tiled.counts_.pair_columns) == 59
    assert np.array_equal(tiled.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(unnaive.exceptions.TableTooLarge, match="max_memory"):
        AODE(discretize=None, max_memory=50_000).fit(X, y)
    with pytest.raises(unnaive.exceptions.TableTooLarge, match="max_memory"):
        TAN(discretize=None, max_memory=50_000).partial_fit(X, y, classes=[0, 1])


def test_class_prior():
    model = NaiveBayes(categories=weather.CATEGORIES, class_prior=[0.5, 0.5])
    plain = NaiveBayes(categories=weather.CATEGORIES)
    ours = model.fit(weather.LABELLED, weather.LABELS).predict_joint_log_proba(weather.LABELLED)
    theirs = plain.fit(weather.LABELLED, weather.LABELS).predict_joint_log_proba(weather.LABELLED)
    assert ours - math.log(0.5) == pytest.approx(theirs - np.log([6 / 16, 10 / 16]))
    with pytest.raises(ValueError, match="one number for each of the 2 classes"):
        NaiveBayes(class_prior=[1.0]).fit(weather.LABELLED, weather.LABELS)


def assert_close(got, expected, atol=1e-9):
    expected = np.array(expected).reshape(np.shape(got))
    assert np.array_equal(np.isfinite(got), np.isfinite(expected))
    finite = np.isfinite(expected)
    assert np.asarray(got)[finite] == pytest.approx(expected[finite], abs=atol, rel=1e-10)
