"""AutoBayes: what is tried, how it is judged, what is chosen; a model like others."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import log_loss

import naive_weighted as slow
import unnaive
from problems import HOSTILE
from tests.explain.test_explanation import add_up
from tests.models.test_weighted import told
from unnaive import (
    KDB,
    TAN,
    AutoBayes,
    GaussianNaiveBayes,
    IterativeBayes,
    NaiveBayes,
    WeightedBayes,
)
from unnaive.datasets import load_wdbc
from unnaive.exceptions import UnnaiveError
from unnaive.models import candidates, trial
from unnaive.models.trial import Judged, Member, blend_weights
from unnaive.tables.calibration import Calibration

FEW = ["nb", "tan", "wanbia"]
VALUES = {"categories": [range(3)] * 3 + [range(2)] * 2}


def numbers(n=150, seed=0, gaps=0.1):
    """Rows of numbers with gaps, of two classes that lie on curves."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    y = (X[:, 0] ** 2 + X[:, 1] + 0.3 * random.normal(size=n) > 0.8).astype(int)
    X[random.random(X.shape) < gaps] = np.nan
    return X, y


def patients(n=200, seed=0):
    random = np.random.default_rng(seed)
    ill = random.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.1, np.nan, 40 + 20 * ill + random.normal(size=n)),
            "smoker": np.where(random.random(n) < 0.3, "ex", np.where(ill, "yes", "no")),
            "ward": pd.Categorical(random.choice(["a", "b"], n)),
        }
    )
    frame.loc[::9, "smoker"] = None
    return frame, np.where(ill, "ill", "well")


# What is tried, and what is chosen


@pytest.mark.parametrize("choose", ["blend", "best"])
@pytest.mark.parametrize(
    ("rows", "cut", "gaussian"),
    [(numbers(gaps=0.0), True, True), (numbers(), True, False), (told(), False, True)],
)
def test_the_leaderboard(choose, rows, cut, gaussian):
    X, y = rows
    model = AutoBayes(choose=choose).fit(X, y)
    lines = [line for line in model.leaderboard_ if "why" not in line]
    assert [line["log_loss"] for line in lines] == sorted(line["log_loss"] for line in lines)
    assert model.leaderboard_[: len(lines)] == lines
    assert all(0 <= line["accuracy"] <= 1 and line["seconds"] > 0 for line in lines)
    names = {"weighted-pairs", "wanbia (corrected)", "aode"}
    names |= {"weighted-pairs (equal bins)"} if cut else {"wanbia"}
    names |= set() if cut and gaussian else {"kdb"}
    if gaussian:  # for numbers without gaps
        names |= {"full-bayes", "gaussian-tan"}
        names |= {f"full-bayes (pooling {part})" for part in ("0.1", "0.5", "1")}
    assert {line["name"] for line in model.leaderboard_} == names
    weights = {line["name"]: line["weight"] for line in model.leaderboard_ if line["weight"]}
    assert sum(weights.values()) == pytest.approx(1, abs=1e-12)
    assert {member.name: member.weight for member in model.members_} == weights
    assert min(weights.values()) >= 0.05
    if choose == "best":
        assert weights == {lines[0]["name"]: 1.0}
    assert model.score(X, y) > 0.75


def test_corrections_are_tried_and_pay_where_thresholds_decide():
    X = np.random.default_rng(0).normal(size=(1600, 10))
    above = np.linspace(-0.6, 0.6, 10) < X
    y = above[:, :4].all(axis=1) | above[:, 3:7].all(axis=1) | above[:, 6:].all(axis=1)
    model = AutoBayes().fit(X[:1200], y[:1200])
    losses = {line["name"]: line.get("log_loss") for line in model.leaderboard_}
    assert losses["wanbia (corrected)"] < 0.85 * losses["weighted-pairs"]
    assert model.leaderboard_[0]["name"] == "wanbia (corrected)"
    later = log_loss(y[1200:], model.predict_proba(X[1200:]))
    assert later == pytest.approx(losses["wanbia (corrected)"], abs=0.05)
    tried = unnaive.models.auto.default_candidates
    frame = unnaive.io.frames.to_frame(X)
    assert "wanbia (corrected)" in tried(frame, 2**31, 31)
    assert "wanbia (corrected)" not in tried(frame, 2**31, 32)


def test_after_a_candidate_without_errors_none_is_tried():
    X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 200
    y = [row[0] for row in X]
    model = AutoBayes().fit(X, y)
    first, *others = model.leaderboard_
    assert first["name"] == "wanbia"
    assert first["log_loss"] < 1e-4
    assert {line["why"] for line in others} == {candidates._SOLVED}
    assert [member.name for member in model.members_] == ["wanbia"]
    every = AutoBayes(candidates=FEW).fit(X, y)  # named ones are all tried
    assert all(line["log_loss"] < 1e-2 for line in every.leaderboard_)


@pytest.mark.parametrize("rows", [numbers, patients, told])
def test_threads_change_no_bit(rows, monkeypatch):
    X, y = rows()
    alone = AutoBayes().fit(X, y)
    monkeypatch.setattr(candidates, "_MUCH", 0)  # so few rows are enough for several threads
    together = AutoBayes(n_jobs=3).fit(X, y)
    assert np.array_equal(together.predict_proba(X), alone.predict_proba(X))
    for one, other in zip(together.leaderboard_, alone.leaderboard_, strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    failing = AutoBayes(candidates=["full-bayes", "nb", "iterative"], n_jobs=3)
    other = AutoBayes(candidates=["full-bayes", "nb", "iterative"]).fit(X, y)
    failed = [(line["name"], line.get("why")) for line in failing.fit(X, y).leaderboard_]
    assert failed == [(line["name"], line.get("why")) for line in other.leaderboard_]


def test_a_model_of_counts_is_judged_by_its_calibrated_leave_one_out():
    X, y = told()
    for kind in (NaiveBayes, TAN):
        model = AutoBayes(candidates={"it": kind()}).fit(X, y)
        (line,), (member,) = model.leaderboard_, model.members_
        alone = kind(calibrate="loo").fit(X, y)
        assert line["log_loss"] == pytest.approx(log_loss(y, alone.loo_predict_proba(X, y)))
        assert member.calibration.temperature == alone.fitted_.calibration.temperature
        np.testing.assert_allclose(
            model.predict_proba(X), alone.predict_proba(X), rtol=0, atol=1e-12
        )
        again = AutoBayes(candidates={"it": kind(calibrate="loo")}).fit(X, y)
        np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-3)


def test_numbers_are_judged_by_folds():
    X, y = numbers()
    (line,) = AutoBayes(candidates=["gaussian-nb"]).fit(X, y).leaderboard_
    fitted = GaussianNaiveBayes().fit(X, y)
    assert line["log_loss"] < log_loss(y, fitted.predict_proba(X)) + 0.1
    noise = np.random.default_rng(0).normal(size=(100, 25))
    labels = np.arange(100) % 2
    (line,) = AutoBayes(candidates=["full-bayes"]).fit(noise, labels).leaderboard_
    assert line["log_loss"] > 0.65  # though it tells its own rows well
    assert unnaive.FullBayes().fit(noise, labels).score(noise, labels) > 0.9


@pytest.mark.parametrize("rows", [numbers, told])
def test_a_blend_is_no_worse_than_its_best_member(rows, monkeypatch):
    taken, blend = [], AutoBayes._blend
    monkeypatch.setattr(
        AutoBayes,
        "_blend",
        lambda self, judged, *rest: taken.extend(judged) or blend(self, judged, *rest),
    )
    X, y = rows()
    model = AutoBayes().fit(X, y)
    weights = {line["name"]: line["weight"] for line in model.leaderboard_}
    own = [one.left_out[np.arange(len(y)), one.classes].tolist() for one in taken]
    loss = slow.blend_loss(own, [weights[one.member.name] for one in taken])
    assert loss <= min(line.get("log_loss", math.inf) for line in model.leaderboard_) + 1e-6


def judged_of(own, importance=None):
    """Members whose log P(y | x) is given, as (members, rows)."""
    rows = own.shape[1]
    importance = np.ones(rows) if importance is None else importance
    found = []
    for place, line in enumerate(own):
        member = Member(str(place), None, Calibration(1.0, np.zeros(2)))
        logs = np.stack([line, np.log1p(-np.exp(line))], axis=1)
        found.append(Judged(member, logs, np.zeros(rows, dtype=np.int64), importance))
    return found


@given(st.integers(1, 5), st.integers(1, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_shares_are_the_best_there_are(members, rows, seed):
    random = np.random.default_rng(seed)
    own = np.log(random.beta(2, 1, (members, rows)) * 0.98 + 0.01)
    shares = blend_weights(judged_of(own))
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    assert ((shares == 0) | (shares >= 0.05)).all()
    found = slow.blend_loss(own, shares)
    assert found <= min(slow.blend_loss(own, one) for one in np.eye(members)) + 1e-6

    def loss(logits):
        return slow.blend_loss(own, np.exp(logits) / np.exp(logits).sum())

    best = minimize(loss, np.zeros(members)).fun
    assert found <= best + (1e-3 if (shares > 0).all() else 0.02)


def test_shares_of_weighted_and_of_hopeless_rows():
    own = np.log([[0.9, 0.1], [0.2, 0.8]])
    even, first = (blend_weights(judged_of(own, np.array(w))) for w in ([1.0, 1.0], [9.0, 1.0]))
    assert first[0] > even[0]
    own[:, 1] = -np.inf
    np.testing.assert_allclose(blend_weights(judged_of(own)), [1, 0])
    own = np.log(np.full((2, 200), [[0.9], [0.1]]))
    own[0, 0] = -np.inf  # the first rules a row out, and the second is of too little use to stay
    np.testing.assert_allclose(blend_weights(judged_of(own)), [0, 1])
    X, y = numbers()
    impossible = {"a": NaiveBayes(smoothing="ml", discretize="width", bins=30)}
    model = AutoBayes(candidates=impossible).fit(X, y)
    assert model.leaderboard_[0]["log_loss"] == math.inf
    assert np.isfinite(model.predict_proba(X)).all()


def test_of_many_rows_some_judge(monkeypatch):
    X, y = told(500)
    whole = AutoBayes(candidates=FEW).fit(X, y)
    monkeypatch.setattr(trial, "MOST_ROWS", 120)
    some = AutoBayes(candidates=FEW).fit(X, y)
    for line in some.leaderboard_:
        (same,) = [one for one in whole.leaderboard_ if one["name"] == line["name"]]
        assert 0 < abs(line["log_loss"] - same["log_loss"]) < 0.15


# Candidates


def test_candidates_are_keys_or_models():
    X, y = told()
    keys = AutoBayes(candidates=("nb", "kdb")).fit(X, y)
    assert {line["name"] for line in keys.leaderboard_} == {"nb", "kdb"}
    mine = KDB(k=1, smoothing="bdeu", categories=VALUES["categories"])
    model = AutoBayes(candidates={"mine": mine, "other": NaiveBayes()}, choose="best").fit(X, y)
    (member,) = model.members_
    assert member.name == model.leaderboard_[0]["name"]
    assert not hasattr(mine, "counts_")
    only = AutoBayes(candidates={"mine": mine}).fit(X, y).members_[0].model
    assert (only.k, only.smoothing, only.categories) == (1, "bdeu", mine.categories)
    with_prior = AutoBayes(candidates={"mine": mine}, class_prior=[0.9, 0.1]).fit(X, y)
    assert with_prior.members_[0].model.class_prior == [0.9, 0.1]


@pytest.mark.parametrize("given", [[], {}, "nb", 3, {"a": 3}, [NaiveBayes()], ["auto"]], ids=str)
def test_what_is_no_candidate(given):
    with pytest.raises(ValueError, match=r"candidates=.*it must name models"):
        AutoBayes(candidates=given).fit(*told(60))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("choose", "worst"),
        *[("time_budget", value) for value in (0, -1.0, "long", math.nan, True)],
        *[("max_memory", value) for value in (0, "much")],
    ],
)
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        AutoBayes(**{name: value}).fit(*told(60))
    with pytest.raises(ValueError, match="there is no model 'typo'"):
        AutoBayes(candidates=["typo"]).fit(*told(60))


def test_failures_are_listed_with_why():
    X, y = patients()
    model = AutoBayes(candidates=["full-bayes", "nb", "iterative"]).fit(X, y)
    assert [line["name"] for line in model.leaderboard_] == ["nb", "full-bayes", "iterative"]
    _, numbers_only, no_closed_form = model.leaderboard_
    assert "column 'smoker' holds labels" in numbers_only["why"]
    assert "no leave-one-out in closed form" in no_closed_form["why"]
    assert numbers_only["weight"] == no_closed_form["weight"] == 0
    with pytest.raises(UnnaiveError, match="column 'smoker' holds labels such as 'ex'"):
        AutoBayes(candidates=["full-bayes", "iterative"]).fit(X, y)
    fitted = clone(model).fit(X, y)
    with pytest.raises(UnnaiveError, match="no leave-one-out"):
        fitted.set_params(candidates={"it": IterativeBayes()}).fit(X, y)
    assert fitted.members_[0].name == "nb"


def test_the_time_is_up():
    X, y = told()
    model = AutoBayes(candidates=FEW, time_budget=1e-9).fit(X, y)
    assert [line.get("why") for line in model.leaderboard_] == [
        None,
        *["time_budget was reached"] * 2,
    ]
    assert [member.name for member in model.members_] == ["nb"]
    assert AutoBayes(candidates=FEW, time_budget=60).fit(X, y).leaderboard_[2]["log_loss"] > 0
    late = AutoBayes(candidates=["iterative", "nb", "tan"], time_budget=1e-9).fit(X, y)
    assert [member.name for member in late.members_] == ["nb"]


# A model like others


@pytest.mark.parametrize("choose", ["blend", "best"])
@pytest.mark.parametrize("rows", [numbers, patients])
def test_files_and_threads_give_the_same_bits(choose, rows, tmp_path):
    X, y = rows()
    model = AutoBayes(choose=choose).fit(X, y)
    two = AutoBayes(choose=choose, n_jobs=2).fit(X, y)
    expected = model.predict_proba(X)
    assert np.array_equal(two.predict_proba(X), expected)
    model.save(tmp_path / "model.unb")
    loaded = unnaive.load(tmp_path / "model.unb")
    assert np.array_equal(loaded.predict_proba(X), expected)
    assert loaded.get_params() == model.get_params()
    assert loaded.leaderboard_ == model.leaderboard_
    assert loaded.classes_.tolist() == model.classes_.tolist()
    loaded.partial_fit(X[:5], y[:5])
    assert np.array_equal(loaded.predict_proba(X), model.partial_fit(X[:5], y[:5]).predict_proba(X))


def test_candidates_are_saved_with_their_settings(tmp_path):
    X, y = told()
    given = {"a": TAN(smoothing="bdeu:2"), "b": GaussianNaiveBayes()}
    AutoBayes(candidates=given, time_budget=9.5).fit(X, y).save(tmp_path / "model.unb")
    loaded = unnaive.load(tmp_path / "model.unb")
    assert {name: repr(model) for name, model in loaded.candidates.items()} == {
        "a": "TAN(smoothing='bdeu:2')",
        "b": "GaussianNaiveBayes()",
    }
    assert clone(loaded).fit(X, y).leaderboard_[0]["name"] == loaded.leaderboard_[0]["name"]


@pytest.mark.parametrize("candidates", [FEW, ["gaussian-nb", "kdb"]], ids=str)
def test_rows_come_and_go_and_shares_stay(candidates):
    X, y = told()
    model = AutoBayes(candidates=candidates, **VALUES).fit(X[:400], y[:400])
    before = model.predict_proba(X)
    shares = [(member.name, member.weight, member.calibration) for member in model.members_]
    model.partial_fit(X[400:], y[400:])
    assert not np.array_equal(model.predict_proba(X), before)
    assert [(one.name, one.weight, one.calibration) for one in model.members_] == shares
    for member in model.members_:
        alone = unnaive.make(member.name, **VALUES if hasattr(member.model, "counts_") else {})
        if hasattr(member.model, "counts_"):
            assert member.model.counts_.class_counts.sum() == 600
            marginals = alone.set_params(discretize=None).fit(X, y).counts_.values
            assert np.array_equal(member.model.counts_.values, marginals)
    model.forget(X[400:], y[400:])
    np.testing.assert_allclose(model.predict_proba(X), before, atol=1e-9)
    with pytest.raises(ValueError, match=r"never counted here|out of the rows"):
        model.forget(X, 1 - y)
    np.testing.assert_allclose(model.predict_proba(X), before, atol=1e-9)


def test_a_first_batch_is_a_fit():
    X, y = told()
    first = AutoBayes(candidates=FEW).partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(
        first.predict_proba(X), AutoBayes(candidates=FEW).fit(X, y).predict_proba(X)
    )
    with pytest.raises(UnnaiveError, match="contain every class; give more rows"):
        AutoBayes(candidates=FEW).partial_fit(X, y, classes=[0, 1, 2])


@pytest.mark.parametrize("rows", [numbers, patients, told])
@pytest.mark.parametrize("choose", ["blend", "best"])
def test_explanations_add_up(rows, choose):
    X, y = rows(150)
    model = AutoBayes(choose=choose).fit(X, y)
    found = add_up(model, X[:40])
    np.testing.assert_allclose(
        found.base + found.contributions.sum(axis=2), model.predict_log_proba(X[:40]), atol=1e-10
    )


def test_gaps_unknown_values_and_labels():
    X, y = patients()
    model = AutoBayes().fit(X, y)
    assert model.classes_.tolist() == ["ill", "well"]
    strange = pd.DataFrame({"age": [np.nan, 61.0], "smoker": ["pipe", None], "ward": ["c", None]})
    chances = model.predict_proba(strange)
    assert chances.sum(axis=1) == pytest.approx([1, 1])
    assert chances[1, 0] > 0.9
    same = model.predict_proba(strange.assign(smoker=[None, None], ward=[None, None]))
    np.testing.assert_allclose(chances, same, atol=1e-12)
    biased = AutoBayes(threshold_bias={"ill": 1.0}).fit(X, y)
    assert set(biased.predict(X)) == {"ill"}
    with pytest.raises(ValueError, match="pipe"):
        AutoBayes(handle_unknown="error").fit(X, y).predict(strange)
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(strange.rename(columns={"ward": "bed"}))


@pytest.mark.filterwarnings("ignore:class .* its covariances say little")
@pytest.mark.filterwarnings("ignore:column .* has no value in any row")
@pytest.mark.parametrize(
    "name", ["one row", "one class", "one value", "all missing", "n < d", "d = 1", "40 classes"]
)
def test_hostile_shapes(name):
    problem = HOSTILE[name]
    X, y = problem.X, np.array(problem.classes)
    model = AutoBayes().fit(X, y)
    chances = model.predict_proba(X)
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(X)))
    assert sum(member.weight for member in model.members_) == pytest.approx(1)


def test_rows_of_no_weight_do_not_count():
    X, y = told(300)
    weights = np.resize([1.0, 1.0, 0.0], 300)
    kept = weights > 0
    model = AutoBayes(candidates=FEW, **VALUES).fit(X, y, sample_weight=weights)
    without = AutoBayes(candidates=FEW, **VALUES).fit(X[kept], y[kept])
    np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), atol=1e-8)
    twice = AutoBayes(candidates=FEW, **VALUES).fit(X, y, sample_weight=np.where(y, 2.0, 1.0))
    assert twice.predict_proba(X)[:, 1].mean() > model.predict_proba(X)[:, 1].mean() + 0.1


def test_members_are_models_that_can_be_asked():
    X, y = told()
    model = AutoBayes(candidates=FEW, choose="best").fit(X, y)
    (member,) = model.members_
    assert member.model.score(X, y) > 0.6  # of an array, without a word about names
    assert model.schema_ is member.model.schema_
    with pytest.raises(UnnaiveError, match=r"use its members, model\.members_\[0\]\.model"):
        model.predict_log_conditionals(X)
    named = AutoBayes(candidates=FEW).fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert named.feature_names_in_.tolist() == list("abcde")
    assert list(named.members_[0].model.feature_names_in_) == list("abcde")


def test_parameters_are_those_of_an_estimator():
    model = AutoBayes(choose="best", candidates=["nb"], time_budget=3, class_prior=[0.5, 0.5])
    assert clone(model).get_params() == model.get_params()
    assert unnaive.make("auto", choose="best").choose == "best"


def test_few_terms_and_their_price():
    X, y = load_wdbc().X[:, :8], load_wdbc().y
    model = AutoBayes(choose="best", max_terms=2).fit(X, y)
    (member,) = model.members_
    assert (member.model.structure_.weights > 0).sum() == 2
    board = {line["name"]: line for line in model.leaderboard_}
    assert board[member.name]["weight"] == 1.0
    free = board[member.name.removesuffix(", 2 terms")]
    assert free["why"] == "not limited to 2 terms"
    assert free["weight"] == 0.0
    assert np.isfinite(free["log_loss"])


def test_a_candidate_with_a_larger_limit_of_its_own_is_not_chosen():
    X, y = load_wdbc().X[:, :8], load_wdbc().y
    some = {"larger": WeightedBayes(max_terms=6)}
    model = AutoBayes(choose="best", candidates=some, max_terms=1).fit(X, y)
    assert [member.name for member in model.members_] == ["larger, 1 terms"]
    assert model.leaderboard_[0]["why"] == "not limited to 1 terms"


def test_terms_of_blends_are_not_limited():
    X, y = load_wdbc().X[:, :8], load_wdbc().y
    with pytest.raises(ValueError, match='all its members: use choose="best", or no max_terms'):
        AutoBayes(max_terms=3).fit(X, y)
    with pytest.raises(ValueError, match="none of the candidates is a weighted model without"):
        AutoBayes(choose="best", candidates=["nb", "tan"], max_terms=3).fit(X, y)


def test_why_no_limited_model_could_be_fitted():
    X, y = load_wdbc().X[:, :8], load_wdbc().y
    some = {"wanbia": WeightedBayes(dependences="none", max_memory=10), "tan": TAN()}
    model = AutoBayes(choose="best", candidates=some, max_terms=3)
    with pytest.raises(UnnaiveError, match=r"no model with max_terms=3 could be fitted: .*memory"):
        model.fit(X, y)
