"""Explanations add up to the prediction, for every model, whatever is missing or impossible."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

import naive_explain as slow
import unnaive
from problems import GAUSSIAN, HOSTILE, made
from unnaive import HNB, KDB, BayesNet, NaiveBayes, PazzaniNB
from unnaive.datasets import load_wdbc
from unnaive.papers.barrow import BarrowFullBayes, BarrowKNaiveBayes, BarrowNaiveBayes, Quirks
from unnaive.tables.base import Tables
from unnaive.tables.terms.divisia import shares_of_sum

MODELS = sorted(unnaive.all_models())
POLICY = ("laplace", 1.0)


def fitted(key, X, y, **settings):
    if key == "auto":
        settings = {"candidates": ["tan", "aode", "gaussian-nb"], **settings}
    elif key not in GAUSSIAN:
        settings = {"discretize": None, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few rows a class
        return unnaive.make(key, **settings).fit(X, y)


def add_up(model, X):
    """Assert that base and contributions are the joint, the posterior and the log-odds."""
    found = model.explain(X)
    joint, posterior = model.predict_joint_log_proba(X), model.predict_proba(X)
    answered = ~np.isneginf(joint).all(axis=1)
    scale = 1e-10 + 1e-13 * np.abs(np.where(np.isneginf(joint), 0.0, joint)).max(axis=1)
    same(found.joint[answered], joint[answered], scale[answered, None])
    np.testing.assert_allclose(found.posterior, posterior, atol=1e-10 + 10 * scale.max())
    assert not found.contributions[~answered].any()
    gone = [~found.observed[:, list(term.columns)].any(axis=1) for term in found.terms]
    for place, rows in enumerate(gone):
        assert not found.contributions[rows, :, place].any()
    log_posterior = model.predict_log_proba(X)
    for place, label in enumerate(found.classes):
        rest = np.delete(log_posterior, place, axis=1)
        expected = log_posterior[:, place] - np.logaddexp.reduce(rest, axis=1, initial=-np.inf)
        for by in ("term", "group", "column") if place < 5 else ("term",):
            odds = found.log_odds(label, by=by)
            same(odds.total, expected, scale)
    return found


def same(one, other, tolerance):
    endless = np.isinf(other)
    assert np.array_equal(one[endless], other[endless])
    gap = np.abs(np.where(endless, 0.0, one) - np.where(endless, 0.0, other))
    assert (gap <= tolerance).all(), gap.max()


@pytest.mark.parametrize("k", [2, 3, pytest.param(5, marks=pytest.mark.long)])
@pytest.mark.parametrize("key", MODELS)
def test_contributions_add_up(key, k):
    new = made(30, [3, 2, 4, 3], k, gaps=0.3, seed=9).X
    for gaps in (0.0, 0.25):
        problem = made(60, [3, 2, 4, 3], k, gaps=gaps, seed=k)
        model = fitted(key, problem.X, problem.classes)
        found = add_up(model, np.vstack([problem.X[:20], new]))
        assert found.contributions.shape == (50, k, len(found.terms))
        assert len(set(found.terms)) == len(found.terms)


@pytest.mark.parametrize("key", MODELS)
def test_on_real_numbers(key):
    data = load_wdbc()
    X, gaps = data.X[:, :6], np.random.default_rng(0).random((569, 6)) < 0.2
    with_gaps = np.where(gaps, np.nan, X)
    settings = {} if key in GAUSSIAN else {"discretize": "mdlp"}
    for rows in (X, with_gaps):
        model = fitted(key, rows, data.y, **settings)
        add_up(model, np.vstack([X[:30], with_gaps[:70]]))


SHAPES = [
    name
    for name in HOSTILE
    if name not in {"70,000 categories", "more rows than a block", "300 categories"}
]


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(k, marks=[pytest.mark.long] * (k in {"auto", "ienb", "k-naive"}))
        for k in MODELS
    ],
)
def test_hostile_shapes(key):
    for name in SHAPES:
        X, y = HOSTILE[name].X[:50], np.array(HOSTILE[name].classes[:50])
        holes = np.random.default_rng(0).random(X.shape) < 0.4
        rows = np.vstack([X, np.where(holes, np.nan, X), np.full((1, X.shape[1]), np.nan)])
        add_up(fitted(key, X, y), rows)
    constant = made(60, [3, 1, 2, 3], 2, gaps=0.1)
    X = np.column_stack([constant.X, constant.X[:, 0], np.ones(60)])  # a copy, and a constant
    add_up(fitted(key, X, constant.classes), X)


@pytest.mark.parametrize("key", [key for key in MODELS if key not in GAUSSIAN])
def test_what_is_impossible(key):
    few, new = made(14, [3, 4, 2, 3], 3, gaps=0.1, seed=3), made(150, [3, 4, 2, 3], 3, 0.2, 4)
    found = add_up(fitted(key, few.X, few.classes, smoothing="ml"), new.X)
    if key not in {"ienb", "iterative"}:  # whose probabilities are never 0
        assert np.isneginf(found.joint).any()
    if key != "ienb":
        add_up(fitted(key, few.X, few.classes, class_prior=[0.0, 0.4, 0.6]), new.X)
        prior = {"class_prior": [0.0, 0.4, 0.6], "smoothing": "ml"}
        add_up(fitted(key, few.X, few.classes, **prior), new.X)


def test_a_row_without_any_chance_is_answered_by_the_prior():
    X = [["a", "u"], ["a", "u"], ["b", "v"]]
    model = NaiveBayes(smoothing="ml").fit(X, [0, 0, 1])
    found = model.explain([["a", "v"], ["a", "u"]])
    assert not found.contributions[0].any()
    np.testing.assert_allclose(found.posterior[0], [2 / 3, 1 / 3])
    assert found.log_evidence[0] == -np.inf
    assert "Every class gives this row probability 0" in found.text(0)
    assert found.log_odds(0).contributions[1].tolist() == [np.inf, np.inf]


VARIANTS = [
    ("gnb-a", {"paper": True}),
    ("gnb-o", {"parametrization": "junction"}),
    ("gnb-o", {"parametrization": "junction", "smoothing": "ml"}),
    ("gnb-o", {"n_features": 2}),
    ("tan", {"missing": "drop"}),
    ("tan", {"forest": True}),
    ("tan", {"parents": [None, 0, 1, 2]}),
    ("kdb", {"missing": "drop"}),
    ("kdb", {"k": 3}),
    ("kdb", {"k": 0}),
    ("atan", {"average": "joint"}),
    ("atan", {"average": "joint", "smoothing": "ml"}),
    ("aode", {"min_count": 30}),
    ("aode", {"min_count": 1000}),
    ("a2de", {"min_count": 20}),
    ("a2de", {"min_count": 1000}),
    ("a2de", {"weighted": True}),
    ("aode", {"subsumption": True, "critical": 3}),
    ("spode", {"joint_prior": False}),
    ("spode", {"class_prior": [0.5, 0.5]}),
    ("bayesnet", {"augmented": False}),
    ("bayesnet", {"augmented": False, "search": "ges"}),
    ("bayesnet", {"augmented": False, "smoothing": "ml"}),
    ("bayesnet", {"augmented": False, "required": [("x0", "y"), ("x1", "y"), ("y", "x2")]}),
    ("bsej", {"tune": "intervals"}),
    ("phnb", {"threshold": 0.01}),
    ("phnb", {"threshold": float("inf")}),
    ("decomposable", {"penalty": None}),
    ("cherry", {"order": 4}),
    ("nb", {"calibrate": "loo"}),
    ("aode", {"calibrate": "loo", "smoothing": "ml"}),
    ("kdb", {"smoothing": "hierarchical"}),
    ("hnb", {"smoothing": "hierarchical"}),
]


@pytest.mark.parametrize(("key", "settings"), VARIANTS, ids=str)
def test_other_settings(key, settings):
    random = np.random.default_rng(1)
    z = random.integers(0, 2, 120)
    noisy, rare = z ^ (random.random(120) < 0.1), z & (random.random(120) < 0.5)
    X = np.column_stack([z, noisy, random.integers(0, 3, 120), rare]).astype(float)
    y = z ^ (random.random(120) < 0.2)
    new = np.where(random.random(X.shape) < 0.3, np.nan, random.integers(0, 2, X.shape))
    for gaps in (0.0, 0.2):
        rows = np.where(random.random(X.shape) < gaps, np.nan, X)
        add_up(fitted(key, rows, y, **settings), np.vstack([rows, new]))


NUMBERS = [
    ("k-naive", {"joint": "pseudo", "k": 2}),
    ("k-naive", {"k": 2, "naivete": "strong"}),
    ("k-naive", {"k": 5}),
    ("full-bayes", {"shrinkage": 0.3}),
    ("gaussian-kdb", {"k": 3}),
    ("gaussian-tan", {"class_prior": [0.0, 0.5, 0.5]}),
]


@pytest.mark.parametrize(("key", "settings"), NUMBERS, ids=str)
def test_other_settings_of_numbers(key, settings):
    X, y, gapped = numbers()
    rows = np.vstack([X, 30 * X, X / 30, gapped])
    add_up(fitted(key, X, y, **settings), rows)


def numbers():
    """Rows of numbers, their classes, and rows with missing cells."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 150)
    X = random.normal(size=(150, 5)) @ random.normal(size=(5, 5)) + y[:, None] / 2
    return X, y, np.where(random.random(X.shape) < 0.3, np.nan, X)


@pytest.mark.parametrize(
    "model",
    [
        BarrowNaiveBayes(),
        BarrowFullBayes(),
        BarrowKNaiveBayes(),
        BarrowKNaiveBayes(naivete="strong"),
        BarrowNaiveBayes(quirks=Quirks(least_log=True)),
    ],
    ids=repr,
)
def test_programs_of_the_thesis(model):
    X, y, _ = numbers()
    add_up(model.fit(X, y), np.vstack([X, 30 * X, X / 30]))


def test_numbers_beside_labels():
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 150)
    X = pd.DataFrame(
        {
            "a": random.normal(size=150) + y,
            "b": np.where(y > 0, "u", "v"),
            "c": random.normal(size=150),
            "d": random.choice(["p", "q"], 150),
        }
    )
    X.loc[::7, "a"] = np.nan
    X.loc[::5, "b"] = None
    for smoothing in (None, "ml"):
        found = add_up(fitted("gaussian-nb", X, y, smoothing=smoothing), X)
        assert sorted(term.columns for term in found.terms) == [(0,), (1,), (2,), (3,)]


# Against the twins


def splits_of(found, row):
    """An explanation's terms of one row as the twins write them."""
    return [
        {tuple(term): part for term, part in zip(found.terms, line, strict=True)}
        for line in found.contributions[row].tolist()
    ]


def agree(found, row, expected):
    base, parts = expected
    np.testing.assert_allclose(found.base[row], base, atol=1e-10)
    for mine, theirs in zip(splits_of(found, row), parts, strict=True):
        assert set(theirs) <= set(mine)
        for key, part in mine.items():
            assert part == pytest.approx(theirs.get(key, 0.0), abs=1e-10), key
    if len(base) > 1:
        for c in range(len(base)):
            start, shares = slow.log_odds(base, parts, c)
            odds = found.log_odds(found.classes[c], by="term")
            assert odds.base[row] == pytest.approx(start, abs=1e-10)
            for term, part in zip(found.terms, odds.contributions[row], strict=True):
                assert part == pytest.approx(shares.get(tuple(term), 0.0), abs=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 4])
def test_trees_averages_and_bags_equal_the_twins(k):
    problem = made(60, [3, 2, 2, 3], k, gaps=0.1, seed=k)
    data, new = problem.data, made(12, [3, 2, 2, 3], k, gaps=0.3, seed=77)
    X = problem.X
    models = {
        "tan": fitted("tan", X, problem.classes, smoothing="laplace"),
        "aode": fitted("aode", X, problem.classes, smoothing="laplace"),
        "hnb": fitted("hnb", X, problem.classes, smoothing="laplace"),
        "atan": fitted("atan", X, problem.classes, smoothing="laplace"),
    }
    found = {key: model.explain(new.X) for key, model in models.items()}
    parents = models["tan"].structure_.parents.tolist()
    for place, row in enumerate(new.rows):
        agree(found["tan"], place, slow.tree(data, POLICY, parents, row))
        agree(found["hnb"], place, slow.hnb(data, POLICY, row))
        agree(found["atan"], place, slow.atan(data, POLICY, row))
        if any(x is not None for x in row):
            agree(found["aode"], place, slow.aode(data, POLICY, row))


def joint_of(model):
    """A model's log joint of one row with gaps, for the twins."""

    def joint(row):
        cells = np.array([[np.nan if x is None else float(x) for x in row]])
        return model.predict_joint_log_proba(cells)[0].tolist()

    return joint


@pytest.mark.parametrize(
    "model",
    [
        KDB(discretize=None, k=2),
        unnaive.DecomposableNB(discretize=None, penalty=None),
        unnaive.CherryTreeNB(discretize=None, order=4),
        BayesNet(discretize=None, criterion="k2"),
        BayesNet(discretize=None, augmented=False, required=[("x0", "y"), ("x1", "y")]),
        unnaive.GeneralizedNB(discretize=None, parametrization="junction"),
        unnaive.GaussianTAN(),
        unnaive.GaussianKDB(k=2),
    ],
    ids=str,
)
def test_networks_follow_the_chain_rule(model):
    X = made(150, [3, 2, 2, 3, 2], 2, seed=6).X
    X[:, 3] = (X[:, 0] + X[:, 3] * (X[:, 1] > 0)) % 3
    y = X[:, 0] * X[:, 2] > 0
    if hasattr(model, "var_smoothing"):
        X = X + np.random.default_rng(0).normal(size=X.shape)
    model.fit(X, y)
    new = made(25, [3, 2, 2, 3, 2], 2, gaps=0.35, seed=7)
    graph = model.structure_
    parents = [
        [j for j in graph.parents[i] if j < 5]
        if isinstance(model, BayesNet)
        else list(graph.parents_of(i))
        for i in range(5)
    ]
    assert any(parents)
    found = model.explain(new.X)
    for place, row in enumerate(new.rows):
        agree(found, place, slow.chain(joint_of(model), row, parents))


def test_numbers_without_an_order_have_the_mean_of_two():
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 80)
    X = random.normal(size=(80, 4)) @ random.normal(size=(4, 4)) + y[:, None]
    model = unnaive.FullBayes().fit(X, y)
    new = np.where(random.random((10, 4)) < 0.3, np.nan, X[:10])
    found = model.explain(new)
    none = [[]] * 4
    for place, cells in enumerate(new.tolist()):
        row = [None if x != x else x for x in cells]
        ways = [
            slow.chain(joint_of(model), row, none, order)[1]
            for order in ([0, 1, 2, 3], [3, 2, 1, 0])
        ]
        for c in range(2):
            for i in range(4):
                expected = (ways[0][c][(i,), ()] + ways[1][c][(i,), ()]) / 2
                assert found.contributions[place, c, i] == pytest.approx(expected, abs=1e-9)
    assert found.terms[1].through == (0, 2, 3)


def test_joined_columns_share_a_term():
    X = np.array([["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 9)
    y = np.array([0, 1, 1, 0] * 9)
    model = PazzaniNB().fit(X, y)
    found = model.explain([["a", "u"], ["a", None]])
    assert [tuple(term) for term in found.terms] == [((0, 1), ())]
    odds = found.log_odds(0)
    assert odds.contributions[0, 0] == pytest.approx(odds.contributions[0, 1])
    assert odds.contributions[1, 1] == 0.0  # all of it belongs to the one that is known
    assert found.log_odds(0, by="group").labels == ("x0 + x1",)
    assert "x0 = a, x1 = u" in found.text(0)


def test_sums_of_a_thousand_nats_are_split():
    random = np.random.default_rng(0)
    for scale in (1e-9, 1.0, 300.0, 1e5):
        parts = scale * random.normal(size=(50, 4, 6))
        before = random.normal(size=(50, 4))
        after = before + parts.sum(axis=2)
        shares = shares_of_sum(after, before, parts)
        expected = np.logaddexp.reduce(after, axis=1) - np.logaddexp.reduce(before, axis=1)
        np.testing.assert_allclose(shares.sum(axis=(1, 2)), expected, rtol=1e-10, atol=1e-10)


def test_a_member_without_a_chance_has_finite_shares():
    parts = np.array([[0.5, -np.inf, -np.inf], [1.0, -2.0, 0.5]])
    before = np.log([0.3, 0.7])
    shares = shares_of_sum(before + parts.sum(axis=1), before, parts)
    expected = np.log(0.7) - 0.5 - np.log(1.0)
    assert shares.sum() == pytest.approx(expected)
    assert shares[0, 0] == 0.0
    assert shares[0, 1] == shares[0, 2] < 0
    twin = slow.lmdi(before.tolist(), [dict(enumerate(line)) for line in parts.tolist()])
    for mine, theirs in zip(shares, twin, strict=True):
        np.testing.assert_allclose(mine, list(theirs.values()))


def test_terms_are_those_of_the_model():
    problem = made(80, [3, 2, 4], 2)
    pairs = list(itertools.permutations(range(3), 2))
    found = HNB(discretize=None).fit(problem.X, problem.classes).explain(problem.X[:1])
    assert {tuple(term) for term in found.terms} == {((i,), (j,)) for i, j in pairs} | {
        ((i,), ()) for i in range(3)
    }
    star = fitted("spode", problem.X, problem.classes, parent=1).explain(problem.X[:1])
    assert [tuple(term) for term in star.terms] == [((0,), (1,)), ((1,), ()), ((2,), (1,))]


def test_every_kind_of_tables_is_explained_and_described():
    kinds = set(Tables.__subclasses__())
    assert len(kinds) >= 11
    assert not any(kind.__abstractmethods__ for kind in kinds)
