"""Iterative Bayes: Mathematics 9.2, the slow twin in all variants, what the passes leave alone."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine

import naive_search as slow
import unnaive
import weather
from problems import HOSTILE, Problem, made, problems
from tests.models.test_adjusted import learned
from tests.models.test_nb_tan_aode import assert_close, policies
from unnaive import NaiveBayes
from unnaive.exceptions import ModelFileError, SchemaMismatch, UnnaiveError
from unnaive.explain import dependence_derivatives
from unnaive.models.iterative import IterativeBayes
from unnaive.search.loop import generator_of

VARIANTS = [
    {"increment": increment, "target": target, "criterion": criterion}
    for increment, target, criterion in itertools.product(
        ["parenthesised", "literal"],
        ["counts", "probabilities", "unnormalized"],
        ["true", "max"],
    )
]
variants = st.sampled_from(VARIANTS)


def related(n, values, k, seed, *, noise=2, gaps=0.0, weighted=False):
    """Rows whose columns tell of the class and of each other, so that naive Bayes can be helped."""
    random = np.random.default_rng(seed)
    classes = random.integers(k, size=n)
    hidden = (classes + random.integers(noise, size=n)) % 5
    rows = [
        [
            None if random.random() < gaps else int((hidden[t] * (1 + i % 2) + (t * i) % 2) % v)
            for i, v in enumerate(values)
        ]
        for t in range(n)
    ]
    weights = random.choice([0.5, 1.0, 2.25], n).tolist() if weighted else None
    return Problem(rows, classes.tolist(), k, list(values), weights)


def assert_equals_the_twin(model, problem, **options):
    data = problem.rows, problem.classes, problem.values, problem.k
    alpha = model.fitted_.made_by.how.smoothing.strength
    entries, losses, best = slow.iterative_bayes(
        *data, alpha=alpha, weights=problem.weights, max_iter=model.max_iter, **options
    )
    assert_close(model.loss_path_, losses)
    assert model.n_iter_ == best
    for found, wanted in zip(model.entries_, entries, strict=True):
        assert_close(found, wanted)
    prior = slow.naive.class_prior(problem.classes, problem.k, ("laplace", alpha), problem.weights)
    chances = [
        slow.iterative_posterior(prior, entries, problem.values, row, model.target)
        for row in problem.rows
    ]
    assert_close(model.predict_proba(problem.X), chances)


@given(problems(max_rows=12, sizes=(1, 2, 3, 5)), variants, st.sampled_from([1.0, 0.5, 0.001]))
@settings(max_examples=60)
def test_equals_the_twin(problem, variant, alpha):
    model = learned(IterativeBayes(smoothing=f"laplace:{alpha}", **variant), problem)
    assert_equals_the_twin(model, problem, **variant)


@given(problems(max_rows=12, sizes=(1, 2, 3, 5), weighted=True), variants)
@settings(max_examples=40)
def test_weighted_rows_equal_the_twin(problem, variant):
    assert_equals_the_twin(learned(IterativeBayes(**variant), problem), problem, **variant)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: "-".join(variant.values()))
@pytest.mark.parametrize("weighted", [False, True])
def test_many_passes_equal_the_twin(variant, weighted):
    kept = 0
    for seed in range(4):
        settings = {"noise": 1 + seed // 2, "gaps": 0.15, "weighted": weighted}
        problem = related(30, [3, 5, 2, 4], 2 + seed % 2, seed, **settings)
        model = learned(IterativeBayes(**variant), problem)
        assert_equals_the_twin(model, problem, **variant)
        kept += model.n_iter_
    assert kept > 0


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_rows_equal_the_twin(seed):
    problem = related(25, [3, 2, 4], 3, seed, gaps=0.1, weighted=True)
    model = learned(IterativeBayes(order="shuffle", random_state=seed), problem)
    random = generator_of(seed)
    orders = [random.permutation(25).tolist() for _ in range(10)]
    assert_equals_the_twin(model, problem, order=orders)
    given = learned(IterativeBayes(), problem)
    assert not np.array_equal(model.loss_path_, given.loss_path_)


def test_unnormalized_entries_are_no_network():
    problem = related(30, [3, 5, 2], 2, 0)
    model = learned(IterativeBayes(target="unnormalized"), problem)
    assert model.n_iter_ > 0
    with pytest.raises(UnnaiveError, match='use target="probabilities"'):
        model.to_network()


@given(problems(weighted=True), policies)
@settings(max_examples=60)
def test_no_pass_is_naive_bayes(problem, policy):
    model = learned(IterativeBayes(max_iter=0, smoothing=policy), problem)
    plain = NaiveBayes(smoothing=policy).fit_counts(model.counts_)
    assert (model.n_iter_, len(model.loss_path_)) == (0, 1)
    found = model.predict_joint_log_proba(problem.X)
    assert np.array_equal(found, plain.predict_joint_log_proba(problem.X))


@given(problems(weighted=True), policies, variants)
@settings(max_examples=60)
def test_no_worse_than_naive_bayes_where_it_was_trained(problem, policy, variant):
    model = learned(IterativeBayes(smoothing=policy, **variant), problem)
    losses = model.loss_path_
    kept = losses[: model.n_iter_ + 1]
    assert (np.diff(kept) < 0).all()
    assert len(losses) - 1 in {model.n_iter_, model.n_iter_ + 1}
    chances = model.predict_proba(problem.X)
    sure = chances[np.arange(len(chances)), problem.classes]
    sure = sure if variant["criterion"] == "true" else chances.max(axis=1)
    assert np.average(1 - sure, weights=problem.weights) == pytest.approx(kept[-1], abs=1e-12)


@pytest.mark.parametrize("variant", VARIANTS[:4], ids=lambda variant: "-".join(variant.values()))
def test_the_floor(variant):
    problem = related(60, [3, 5, 2], 2, 1)
    model = learned(IterativeBayes(smoothing="ml", **variant), problem)
    assert model.n_iter_ > 0
    least = min(entries.min() for entries in model.entries_)
    if variant["target"] == "counts":
        assert least >= 0.01
    else:
        assert least > 0
        for entries in model.entries_:
            assert entries.sum(axis=1) == pytest.approx(1.0)


def test_missing_cells_are_not_corrected():
    rows = [[0, None], [1, None], [0, 0], [1, 1]] * 3
    problem = Problem(rows, [0, 1, 1, 1] * 3, 2, [2, 2])
    gone = Problem([[row[0], None] for row in rows], problem.classes, 2, [2, 2])
    model = learned(IterativeBayes(), gone)
    assert model.n_iter_ > 0
    assert model.entries_[1].tolist() == [[1.0, 1.0], [1.0, 1.0]]
    alone = learned(IterativeBayes(), Problem([row[:1] for row in rows], gone.classes, 2, [2]))
    assert np.array_equal(model.predict_proba(gone.X), alone.predict_proba(gone.X[:, :1]))


@pytest.mark.parametrize("name", sorted(HOSTILE))
@pytest.mark.parametrize("target", ["counts", "probabilities"])
def test_hostile_shapes(name, target):
    problem = HOSTILE[name]
    model = learned(IterativeBayes(target=target, max_iter=2), problem)
    chances = model.predict_proba(problem.X[:2000])
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert model.loss_path_[model.n_iter_] <= model.loss_path_[0]


def test_the_same_bits_at_any_number_of_threads():
    X, y = load_wine(return_X_y=True)
    for order in ("given", "shuffle"):
        one, again, two = (
            IterativeBayes(order=order, random_state=5, n_jobs=n_jobs).fit(X, y)
            for n_jobs in (None, 1, 2)
        )
        for other in (again, two):
            assert np.array_equal(one.loss_path_, other.loss_path_)
            assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.n_iter_ > 0


def test_leave_one_out_is_refused():
    model = IterativeBayes().fit(weather.LABELLED, weather.LABELS)
    with pytest.raises(UnnaiveError, match="use cross_val_predict"):
        model.loo_predict_proba(weather.LABELLED, weather.LABELS)


def test_counts_alone_have_no_rows_to_pass_over():
    counts = made(20, [2, 3], 2).coded().select(np.empty((0, 2), dtype=np.int64))
    with pytest.raises(UnnaiveError, match="fit it on rows"):
        IterativeBayes().fit_counts(counts)
    model = IterativeBayes().fit(weather.LABELLED, weather.LABELS)
    with pytest.raises(SchemaMismatch):
        model.fit_counts(counts)


@pytest.mark.parametrize("target", ["counts", "probabilities"])
def test_later_rows_are_added_to_what_was_corrected(target):
    X, y = weather.LABELLED, weather.LABELS
    model = IterativeBayes(target=target).partial_fit(X, y)
    assert model.n_iter_ > 0
    before, chances = model.entries_, model.predict_proba(X)
    model.partial_fit(X[:3], y[:3])
    if target == "counts":
        added = sum(
            after.sum() - old.sum() for after, old in zip(model.entries_, before, strict=True)
        )
        assert added == pytest.approx(3 * len(X[0]))
    assert min(entries.min() for entries in model.entries_) > 0
    assert not np.array_equal(model.predict_proba(X), chances)
    model.forget(X[:3], y[:3])
    assert np.array_equal(model.predict_proba(X), chances)
    few = [row for row, label in zip(X, y, strict=True) if label == "no"]
    model.forget(few, ["no"] * len(few))
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_network_and_derivatives_know_the_corrections():
    problem = related(60, [3, 5, 2], 3, 2, gaps=0.1)
    X, y = problem.X, np.array(problem.classes)
    model = IterativeBayes(categorical_features=[0, 1, 2]).fit(X, y)
    assert model.n_iter_ > 0
    row = next(t for t, cells in enumerate(problem.rows) if None not in cells)
    labels = {name: str(cell) for name, cell in zip(model.schema_.names, X[row], strict=True)}
    states = dict(zip(model.to_network().dag.names, model.to_network().states, strict=True))
    evidence = {
        name: next(state for state in states[name] if float(state) == float(label))
        for name, label in labels.items()
    }
    found = model.to_network().query("y", evidence)
    assert found == pytest.approx(model.predict_proba(X)[row])
    derivatives = dependence_derivatives(model, X, mode="parents")
    joint = model.predict_joint_log_proba(X)
    naive_joint = derivatives.naive_joint
    odds = naive_joint[:, -1] - naive_joint[:, 0] + derivatives.log_gdf()
    assert_close(odds, joint[:, -1] - joint[:, 0])
    assert model.structure_.to_dot() == NaiveBayes().fit(X, y).structure_.to_dot()


@pytest.mark.parametrize("target", ["counts", "probabilities"])
def test_there_and_back(tmp_path, target):
    X, y = load_wine(return_X_y=True)
    model = IterativeBayes(target=target, max_iter=3).fit(X, y)
    model.save(tmp_path / "model.unb")
    back = unnaive.load(tmp_path / "model.unb")
    assert back.get_params() == model.get_params()
    assert np.array_equal(back.loss_path_, model.loss_path_)
    assert back.n_iter_ == model.n_iter_ > 0
    assert np.array_equal(back.predict_proba(X), model.predict_proba(X))
    parameters = {**model.fitted_.learned.parameters, "corrections": np.zeros((3, 2))}
    learned = replace(model.fitted_.learned, parameters=parameters)
    model._fitted = replace(model.fitted_, learned=learned)
    model.save(tmp_path / "wrong.unb")
    with pytest.raises(ModelFileError):
        unnaive.load(tmp_path / "wrong.unb")


def test_what_was_fitted_answers_whatever_is_set_afterwards():
    model = IterativeBayes().fit(weather.LABELLED, weather.LABELS)
    chances, entries = model.predict_proba(weather.LABELLED), model.entries_[0]
    model.set_params(smoothing="ml", target="probabilities")
    assert np.array_equal(model.predict_proba(weather.LABELLED), chances)
    assert np.array_equal(model.entries_[0], entries)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "n_iter_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_iter": -1}, "max_iter=-1; it must be a whole number of at least 0"),
        ({"max_iter": 2.5}, "max_iter=2.5; it must be"),
        ({"increment": "more"}, "increment='more'; it must be 'parenthesised' or 'literal'"),
        ({"target": "logits"}, "target='logits'; it must be 'counts', 'probabilities' or"),
        ({"criterion": "auc"}, "criterion='auc'; it must be 'true' or 'max'"),
        ({"order": "backwards"}, "order='backwards'; it must be 'given' or 'shuffle'"),
        ({"order": "shuffle", "random_state": "dice"}, "random_state='dice'"),
    ],
)
def test_wrong_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        IterativeBayes(**settings).fit(weather.LABELLED, weather.LABELS)
