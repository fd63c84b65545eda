"""Groups of columns: exact leave-one-out, FSSJ, BSEJ and EDAs against their twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.progress import Progress

import naive_paper_search
import naive_search as slow
import unnaive
import weather
from fits import tables_of, with_counts
from problems import HOSTILE, Problem, made, problems
from tests.models.test_nb_tan_aode import POLICIES, fitted, policies
from unnaive import IENB, NaiveBayes, PazzaniNB, load
from unnaive.cli import terminal
from unnaive.exceptions import UnnaiveError
from unnaive.models.classifier import first_of_the_best
from unnaive.search import EBNA, MIMIC, UMDA, UMDAc
from unnaive.structure.groups import (
    GroupGraph,
    backward_joining,
    canonical_genomes,
    forward_joining,
    groups_of,
)
from unnaive.tables.groups import CompleteGroupScores, GroupScores
from unnaive.tables.smoothing import Laplace, smoothing_policy

SMALL = {"max_rows": 14, "max_columns": 4, "sizes": (1, 2, 3)}


def scores_of(problem, smoothing="laplace", **options):
    rows = problem.coded(options.pop("n_jobs", None))
    counts = rows.select(np.empty((0, 2), dtype=np.int64))
    kind = options.pop("kind", GroupScores)
    return kind(counts, rows, smoothing_policy(smoothing, Laplace()), **options)


def of_twin(problem):
    return problem.rows, problem.classes, problem.values, problem.k


@given(problems(**SMALL), policies, st.data())
@settings(max_examples=120)
def test_fitness_equals_refits(problem, policy, data):
    d = len(problem.values)
    genome = data.draw(st.lists(st.integers(0, d), min_size=d, max_size=d))
    found = scores_of(problem, policy).of_genomes(np.array([genome]))
    expected = slow.pazzani_fitness(genome, *of_twin(problem), alpha=POLICIES[policy])
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(problems(**SMALL, weighted=True), st.data())
@settings(max_examples=40)
def test_light_rows_are_left_out_whole(problem, data):
    d = len(problem.values)
    problem = Problem(
        problem.rows, problem.classes, problem.k, problem.values,
        [min(weight, 1.0) for weight in problem.weights],
    )  # fmt: skip
    genome = data.draw(st.lists(st.integers(0, d), min_size=d, max_size=d))
    found = scores_of(problem).of_genomes(np.array([genome]))
    expected = slow.pazzani_fitness(genome, *of_twin(problem), weights=problem.weights)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(problems(**SMALL), st.integers(0, 2**31))
@settings(max_examples=40)
def test_a_heavy_row_is_so_many_rows(problem, seed):
    random = np.random.default_rng(seed)
    times = random.integers(1, 4, len(problem.rows))
    weighted = Problem(*problem.data, times.astype(float).tolist())
    repeated = Problem(
        [row for row, n in zip(problem.rows, times, strict=True) for _ in range(n)],
        np.repeat(problem.classes, times).tolist(), problem.k, problem.values,
    )  # fmt: skip
    genomes = random.integers(0, len(problem.values) + 1, (5, len(problem.values)))
    for criterion in ("accuracy", "log_loss"):
        np.testing.assert_allclose(
            scores_of(weighted, criterion=criterion).of_genomes(genomes),
            scores_of(repeated, criterion=criterion).of_genomes(genomes),
            atol=1e-10,
        )


@pytest.mark.long
@given(problems(**SMALL), policies)
@settings(max_examples=60)
def test_greedy_searches_equal_their_twins(problem, policy):
    scores, active = scores_of(problem, policy), np.array(problem.values) > 0
    data, alpha = of_twin(problem), POLICIES[policy]
    searches = [(forward_joining(scores, active), slow.fssj(*data, alpha=alpha))]
    for delete in ("group", "member"):
        found = backward_joining(scores, active, delete)
        searches.append((found, slow.bsej(*data, delete=delete, alpha=alpha)))
    for found, (groups, correct, evaluations, history) in searches:
        assert found.groups == tuple(map(tuple, groups))
        assert found.fitness == pytest.approx(correct / len(problem.rows))
        assert found.evaluations == evaluations
        assert [step[0] for step in found.history] == [tuple(map(tuple, g)) for g, _ in history]


@given(problems(**SMALL), policies)
@settings(max_examples=40)
def test_paper_searches_equal_their_twins(problem, policy):
    scores = scores_of(problem, policy, kind=CompleteGroupScores)
    active, data = np.array(problem.values) > 0, of_twin(problem)
    twins = (naive_paper_search.paper_fssj, naive_paper_search.paper_bsej)
    for search, twin in zip((forward_joining, backward_joining), twins, strict=True):
        found = search(scores, active, paper=True)
        groups, correct, evaluations, history = twin(*data, alpha=POLICIES[policy])
        assert found.groups == tuple(map(tuple, groups))
        assert found.fitness == pytest.approx(correct / len(problem.rows))
        assert found.evaluations == evaluations
        assert [step[0] for step in found.history] == [tuple(map(tuple, g)) for g, _ in history]


@given(problems(**SMALL, weighted=True), policies, st.integers(0, 2**31))
@settings(max_examples=40)
def test_scores_of_complete_groups(problem, policy, seed):
    random = np.random.default_rng(seed)
    genomes = random.integers(0, len(problem.values) + 1, (6, len(problem.values)))
    cells = [[0 if cell is None else cell for cell in row] for row in problem.rows]
    whole = replace(problem, rows=cells)
    for criterion in ("accuracy", "log_loss"):
        usual = scores_of(whole, policy, criterion=criterion)
        slowly = scores_of(whole, policy, criterion=criterion, kind=CompleteGroupScores)
        found = [slowly._fitness(groups_of(genome)) for genome in genomes]
        np.testing.assert_allclose(found, usual.of_genomes(genomes), atol=1e-10)
        np.testing.assert_array_equal(slowly.of_genomes(genomes), usual.of_genomes(genomes))


@given(problems(max_rows=12, max_columns=4, sizes=(1, 2, 3, 5)), policies, st.data())
@settings(max_examples=80)
def test_posteriors_and_leave_one_out_equal_the_twin(problem, policy, data):
    d = len(problem.values)
    genome = data.draw(st.lists(st.integers(0, d), min_size=d, max_size=d))
    model = of_groups(problem, groups_of(np.array(genome)), policy)
    groups, alpha = slow.groups_of(genome), POLICIES[policy]
    codes, held = problem.coded().codes, np.array(problem.classes)
    joint = tables_of(model).joint(codes)
    expected = [slow.grouped_joint(*of_twin(problem), groups, row, alpha) for row in problem.rows]
    np.testing.assert_allclose(joint, expected, atol=1e-10)
    joint = tables_of(model, 1.0).joint(codes, held)
    _, expected = slow.grouped_leave_one_out(*of_twin(problem), groups, alpha)
    np.testing.assert_allclose(joint, expected, atol=1e-10)


def of_groups(problem, groups, smoothing):
    """Fit a model whose groups are given."""

    model = fitted(PazzaniNB(smoothing=smoothing), problem)
    families = problem.coded().count_families(groups)
    graph = GroupGraph(model.schema_.names, model.schema_.target, tuple(groups))
    return with_counts(model, replace(model.counts_, families=families), graph)


@pytest.mark.parametrize("search", ["forward", "backward", "eda"])
def test_the_papers_leave_one_out_score_is_that_of_the_model(search, tmp_path):
    problem = made(40, [2, 3, 2, 3], 2, gaps=0.3, seed=3)
    model = PazzaniNB(search=search, paper=True, algorithm=UMDA(population=60, max_generations=5))
    model = fitted(model, problem)
    left_out = model.loo_predict_proba(problem.X, problem.classes)
    with np.errstate(divide="ignore"):
        right = first_of_the_best(np.log(left_out)) == np.array(problem.classes)
    assert model.loo_score_ == pytest.approx(right.mean())
    groups, data = [list(group) for group in model.structure_.groups], of_twin(problem)
    joint = [slow.grouped_joint(*data, groups, row, partial="drop") for row in problem.rows]
    np.testing.assert_allclose(tables_of(model).joint(problem.coded().codes), joint, atol=1e-10)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model").predict_proba(problem.X)
    np.testing.assert_array_equal(again, model.predict_proba(problem.X))


def test_weather():
    X, y = weather.LABELLED, weather.LABELS
    names = {"categories": weather.CATEGORIES}
    forward = PazzaniNB(search="forward", **names).fit(X, y)
    assert forward.structure_.groups == ()
    assert forward.loo_score_ == 9 / 14
    for delete in ("group", "member"):
        backward = PazzaniNB(delete=delete, **names).fit(X, y)
        steps = [round(14 * fitness) for _, fitness in backward.search_result_.history]
        assert steps == [7, 10, 11]
        assert backward.structure_.groups == ((0,), (2,))
        assert backward.evaluations_ == 19
    best = PazzaniNB(search="eda", random_state=0, **names).fit(X, y)
    assert best.structure_.groups == ((0, 1, 3), (2,))
    assert best.loo_score_ == 12 / 14


@pytest.mark.parametrize(("extra", "naive", "empty"), [(0, 0, 0), (3, 13, 23)])
def test_exclusive_or(extra, naive, empty):
    rows = [[a, b] for a in (0, 1) for b in (0, 1)] * 10 + [[0, 1]] * extra
    X, y = pd.DataFrame(rows, columns=["a", "b"]), [a ^ b for a, b in rows]
    backward = PazzaniNB().fit(X, y)
    assert backward.structure_.named == [("a", "b")]
    assert backward.loo_score_ == 1.0
    assert backward.naive_loo_score_ == pytest.approx(naive / len(y))
    forward = PazzaniNB(search="forward").fit(X, y)
    assert forward.structure_.groups == ()
    assert forward.loo_score_ == pytest.approx(empty / len(y))


@given(problems(max_rows=10, max_columns=3, sizes=(2, 3)), st.integers(0, 99))
@settings(max_examples=15)
def test_eda_finds_the_best_of_all_groupings(problem, seed):
    model = fitted(PazzaniNB(search="eda", random_state=seed), problem)
    genome, fitness = naive_paper_search.pazzani_optimum(*of_twin(problem))
    assert model.loo_score_ == pytest.approx(fitness)
    assert model.structure_.groups == groups_of(np.array(genome))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("criterion", ["accuracy", "log_loss"])
def test_searches_do_not_lose(seed, criterion):
    problem = made(60, [2, 3, 2, 4, 3, 2], 3, gaps=0.05 * (seed % 2), seed=seed)
    options = {"criterion": criterion, "random_state": seed}
    backward = fitted(PazzaniNB(**options), problem)
    assert backward.loo_score_ >= backward.naive_loo_score_
    few = UMDA(population=20, selected=10, offspring=20, max_generations=3)
    eda = fitted(PazzaniNB(search="eda", algorithm=few, **options), problem)
    assert eda.loo_score_ >= backward.loo_score_
    both = fitted(PazzaniNB(search="eda", algorithm=few, seed_with=["fssj"], **options), problem)
    forward = fitted(PazzaniNB(search="forward", **options), problem)
    assert both.loo_score_ >= forward.loo_score_


def test_leave_one_out_score_is_that_of_the_model():
    problem = made(80, [2, 3, 2, 4], 3, gaps=0.1, seed=4)
    model = fitted(PazzaniNB(), problem)
    joint = tables_of(model, 1.0).joint(problem.coded().codes, np.array(problem.classes))
    right = first_of_the_best(joint)
    assert np.mean(right == problem.classes) == pytest.approx(model.loo_score_)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_shapes(name):
    problem = HOSTILE[name]
    scores = scores_of(problem)
    d = len(problem.values)
    genomes = np.stack([np.zeros(d), np.ones(d), np.arange(d) + 1]).astype(np.int64)
    for fitness in scores.of_genomes(genomes), scores.of_genomes(genomes + (genomes > 0)):
        assert np.isfinite(fitness).all()
        assert (fitness >= 0).all()
        assert (fitness <= 1).all()


def test_genomes_that_are_well_known_models():
    problem = made(60, [2, 3, 4], 3, seed=1)
    nb = fitted(NaiveBayes(), problem)
    singles = of_groups(problem, ((0,), (1,), (2,)), None)
    np.testing.assert_allclose(
        nb.predict_proba(problem.X), singles.predict_proba(problem.X), atol=1e-12
    )
    majority = of_groups(problem, (), None).predict(problem.X)
    assert set(majority) == {int(np.argmax(np.bincount(problem.classes)))}


@pytest.mark.parametrize("algorithm", [UMDA(), MIMIC(alpha=0.1), EBNA()])
def test_same_seed_same_groups_for_any_number_of_threads(algorithm):
    problem = made(90, [2, 3, 2, 3, 2], 2, gaps=0.05, seed=3)
    found = []
    for jobs in (1, 2, 3):
        options = {"search": "eda", "algorithm": algorithm, "random_state": 5, "n_jobs": jobs}
        model = PazzaniNB(**options)
        found.append(model._fit_rows(problem.coded(jobs)))
    assert len({(m.structure_.groups, m.loo_score_, m.evaluations_) for m in found}) == 1


def test_groups_too_large_to_number_are_no_candidates():
    problem = made(30, [300] * 9, 2, seed=0)
    fitness = scores_of(problem).of_genomes(np.array([[1] * 9, [1] * 7 + [0, 0]]))
    assert np.isneginf(fitness).tolist() == [True, False]
    joined = backward_joining(scores_of(problem), np.ones(9, dtype=bool))
    assert np.isfinite(joined.fitness)


def test_little_memory_gives_the_same_groups():
    problem = made(80, [2, 3, 2, 4], 3, gaps=0.1, seed=4)
    active = np.ones(4, dtype=bool)
    roomy, narrow = scores_of(problem), scores_of(problem, max_memory=1)
    assert backward_joining(roomy, active) == backward_joining(narrow, active)
    assert forward_joining(roomy, active) == forward_joining(narrow, active)


def test_batches_saving_and_forgetting(tmp_path):
    problem = made(200, [2, 3, 2, 4], 3, gaps=0.1, seed=8)
    X, y = problem.X, np.array(problem.classes)
    options = {"categories": [list(range(v)) for v in problem.values], "discretize": None}
    whole = PazzaniNB(**options).fit(X, y)
    streamed = PazzaniNB(**options).partial_fit(X, y)
    streamed.partial_fit(X[:50], y[:50]).forget(X[:50], y[:50])
    assert streamed.structure_.groups == whole.structure_.groups
    np.testing.assert_array_equal(streamed.predict_proba(X), whole.predict_proba(X))
    whole.save(tmp_path / "model.unb")
    again = load(tmp_path / "model.unb")
    assert again.structure_.named == whole.structure_.named
    np.testing.assert_array_equal(again.predict_proba(X), whole.predict_proba(X))


def test_whoever_watches_is_told():
    told = []
    problem = made(60, [2, 3, 2], 2, seed=3)
    with unnaive.progress(told.append):
        fitted(PazzaniNB(search="eda", random_state=0, seed_with=()), problem)
    assert [step.task for step in told] == ["search"] * len(told)
    assert [step.done for step in told] == list(range(len(told)))
    assert told[-1].step.best >= told[0].step.best


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"search": "up"}, "search='up'"),
        ({"criterion": "auc"}, "criterion='auc'"),
        ({"delete": "all"}, "delete='all'"),
        ({"seed_with": ["tan"]}, "'tan'"),
        ({"search": "eda", "algorithm": UMDAc()}, "algorithm=UMDAc"),
    ],
)
def test_errors_name_the_parameter(options, named):
    with pytest.raises(ValueError, match=named):
        PazzaniNB(**options).fit([["a"], ["b"]] * 3, [0, 1] * 3)


def test_no_network_and_no_parents():
    model = PazzaniNB().fit([["a", "u"], ["b", "v"]] * 3, [0, 1] * 3)
    with pytest.raises(UnnaiveError, match="PazzaniNB"):
        model.to_network()


@given(st.lists(st.lists(st.integers(0, 5), min_size=5, max_size=5), min_size=1, max_size=6))
def test_canonical_genomes_equal_the_twin(genomes):
    found = canonical_genomes(np.array(genomes))
    assert found.tolist() == [list(slow.canonical(genome)) for genome in genomes]


@pytest.mark.parametrize("search", ["backward", "eda"])
def test_tuned_tables(search, tmp_path):
    problem = made(90, [2, 3, 2, 3], 3, gaps=0.1, seed=5)
    X, y = problem.X, np.array(problem.classes)
    how = IENB(z=1.5, algorithm=UMDAc(max_generations=5), random_state=1)
    options = {"categories": [list(range(v)) for v in problem.values], "discretize": None}
    model = PazzaniNB(search=search, tune=how, random_state=0, **options).fit(X, y)
    assert model.tuned_loo_score_ >= model.loo_score_
    right = model.classes_[first_of_the_best(np.log(model.loo_predict_proba(X, y)))] == y
    assert right.mean() == pytest.approx(model.tuned_loo_score_)
    model.save(tmp_path / "model.unb")
    again = load(tmp_path / "model.unb")
    assert again.tune.algorithm == how.algorithm
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    plain = PazzaniNB(search=search, random_state=0, **options).fit(X, y)
    still = PazzaniNB(search=search, tune=IENB(z=0), random_state=0, **options).fit(X, y)
    assert still.structure_.groups == plain.structure_.groups
    whole = ~np.isnan(X).any(axis=1)
    np.testing.assert_allclose(
        still.predict_proba(X[whole]), plain.predict_proba(X[whole]), atol=1e-12
    )


def test_interval_naive_bayes():
    problem = made(90, [2, 3, 2, 3], 3, gaps=0.1, seed=5)
    X, y = problem.X, np.array(problem.classes)
    options = {"categories": [list(range(v)) for v in problem.values], "discretize": None}
    naive = NaiveBayes(**options).fit(X, y)
    same = IENB(z=0, **options).fit(X, y)
    np.testing.assert_allclose(same.predict_proba(X), naive.predict_proba(X), atol=1e-12)
    model = IENB(random_state=0, **options).fit(X, y)
    right = naive.classes_[naive.loo_predict_proba(X, y).argmax(axis=1)] == y
    assert model.naive_loo_score_ == pytest.approx(right.mean())
    assert model.loo_score_ > model.naive_loo_score_
    again = IENB(random_state=0, n_jobs=2, **options).fit(X, y)
    assert np.array_equal(*(m.fitted_.learned.array("genome") for m in (again, model)))
    trained = IENB(criterion="training", random_state=0, **options).fit(X, y)
    assert trained.score(X, y) == pytest.approx(trained.loo_score_)
    with pytest.raises(ValueError, match="class_prior cannot be given"):
        IENB(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="smoothing='backoff' has no intervals"):
        IENB(smoothing="backoff").fit(X, y)
    with pytest.raises(UnnaiveError, match="fit it on rows"):
        IENB().fit_counts(naive.counts_)


def test_the_command_line_tells_of_the_search(tmp_path, monkeypatch):
    """On a terminal, and only there."""
    shown = []
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    errors = Console(stderr=True, force_terminal=True)
    monkeypatch.setattr(terminal, "error_console", lambda: errors)
    monkeypatch.setattr(Progress, "update", lambda *_, **how: shown.append(how))
    problem = made(60, [2, 3, 2], 2, seed=3)
    for search in ("eda", "backward"):
        with terminal.progress("learning"):
            fitted(PazzaniNB(search=search, random_state=0), problem)
    texts = [how["description"] for how in shown]
    assert set(texts) == {"learning: searching"}, "no internals of the search"
