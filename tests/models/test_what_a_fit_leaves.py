"""One fitted value: threads, files and parameters see a fit as a whole or not at all."""

from __future__ import annotations

from threading import Event, Thread

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import unnaive
from unnaive.exceptions import UnnaiveError


def rows(seed, values=3, n=400):
    random = np.random.default_rng(seed)
    X = random.integers(0, values, (n, 4)).astype(float)
    return X, (X[:, 0] + X[:, 1]) % 2


@pytest.mark.long
@pytest.mark.parametrize("key", ["tan", "gaussian-nb", "auto"])
def test_a_thread_that_predicts_sees_one_fit_or_the_other(key):
    options = {"candidates": ["nb", "tan"]} if key == "auto" else {}
    model, asked = unnaive.make(key, **options), np.tile(rows(0)[0], (30, 1))
    fits = [rows(0), rows(1, values=5)]
    known = [model.fit(*fit).predict_proba(asked) for fit in fits]
    done = Event()

    def refit():
        while not done.is_set():
            for fit in fits:
                model.fit(*fit)

    thread = Thread(target=refit)
    thread.start()
    try:
        for _ in range(25):
            answer = model.predict_proba(asked)
            assert any(np.array_equal(answer, one) for one in known)
            assert set(model.predict(asked)) <= {0.0, 1.0}
    finally:
        done.set()
        thread.join()


def test_no_file_is_written_that_cannot_be_read(tmp_path):
    model = unnaive.TAN().fit(*rows(0)).set_params(threshold_bias={"q": 0.1})
    with pytest.raises(ValueError, match="threshold_bias names 'q'"):
        model.save(tmp_path / "model.unb")
    assert not (tmp_path / "model.unb").exists()


def test_parameters_are_saved_as_they_were_fitted(tmp_path):
    X, y = rows(0)
    model = unnaive.TAN().fit(X, y)
    before = model.predict_proba(X)
    model.set_params(smoothing="ml", max_memory=1).save(tmp_path / "model.unb")
    back = unnaive.load(tmp_path / "model.unb")
    assert np.array_equal(back.predict_proba(X), before)
    assert back.smoothing is None


def test_forgetting_checks_parameters():
    X, y = rows(0)
    for model in (unnaive.TAN(), unnaive.FullBayes()):
        model.fit(X, y).set_params(n_jobs="many")
        with pytest.raises(ValueError, match="n_jobs='many'; it must be a whole number"):
            model.forget(X[:5], y[:5])


def test_no_limit_and_words_of_numpy_are_welcome():
    X, y = rows(0)
    for model in (
        unnaive.TAN(max_memory=np.inf, forest=np.bool_(True)),
        unnaive.KDB(k="loo", max_memory=np.inf),
        unnaive.AODE(min_count=np.inf),
        unnaive.AODE(subsumption=True, critical=np.inf),
        unnaive.BayesNet(time_limit=np.inf),
        unnaive.AutoBayes(time_budget=np.inf, candidates=["nb"]),
        unnaive.SPODE(criterion=np.str_("mi")),
        unnaive.KNaiveBayes(k="cv", random_state=np.random.RandomState(0)),
    ):
        assert np.isfinite(model.fit(X, y).predict_proba(X)).all()
    tried = {"criterion": np.array(["log_loss", "accuracy"])}
    assert GridSearchCV(unnaive.TAN(n_features="loo"), tried, cv=2).fit(X, y).best_score_ > 0.5


def test_weighted_bayes_has_no_parents_to_tell_of():
    X, y = rows(0)
    with pytest.raises(UnnaiveError, match="WeightedBayes has no parents"):
        unnaive.WeightedBayes().fit(X, y).predict_log_conditionals(X, "parents")


def test_the_paper_does_not_smooth_naive_bayes_either():
    X, y = rows(0, n=40)
    model = unnaive.GeneralizedNB(paper=True, discretize=None).fit(X, y)
    plain = unnaive.NaiveBayes(smoothing="ml", discretize=None).fit(X, y)
    alone = model.predict_log_conditionals(X)[1]
    np.testing.assert_allclose(alone, plain.predict_log_conditionals(X)[1], atol=1e-12)


def test_columns_without_a_value_do_not_count_as_missing_cells():
    X, y = rows(0)
    X[:, 2] = np.nan
    with pytest.warns(UserWarning, match="has no value in any row"):
        model = unnaive.KNaiveBayes(weighting="mean", shrinkage=0.1).fit(X, y)
    assert "x2" not in model.naive_columns_
