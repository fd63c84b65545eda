"""The EDA paper, rerun on its small data sets."""

from __future__ import annotations

import numpy as np
import pytest

from unnaive import NaiveBayes, PazzaniNB, datasets
from unnaive.evaluate import WekaStratifiedKFold
from unnaive.exceptions import UnnaiveError
from unnaive.papers import reproduce
from unnaive.papers.eda import EDAExperiment
from unnaive.search import UMDA

SMALL = {"only": ["iris", "corral"], "runs": 2, "seed": 3}  # both come along


@pytest.fixture(scope="module")
def found():
    return reproduce(EDAExperiment(**SMALL, honest=True))


def line(found, data, model):
    return next(one for one in found.lines if (one.data, one.model) == (data, model))


def test_figures_are_those_of_the_models(found):
    iris = datasets.load("iris")
    naive = NaiveBayes().fit(iris.frame, iris.y)
    right = naive.classes_[naive.loo_predict_proba(iris.frame, iris.y).argmax(axis=1)] == iris.y
    assert line(found, "iris", "nb").ours == pytest.approx(100 * right.mean())
    assert line(found, "iris", "nb").published == 94.67
    backward = PazzaniNB().fit(iris.frame, iris.y)
    assert line(found, "iris", "bsej").ours == pytest.approx(100 * backward.loo_score_)
    shares = []
    for seed in (3, 4):
        algorithm = UMDA.paper(max_generations=150)
        model = PazzaniNB(search="eda", paper=True, algorithm=algorithm, random_state=seed)
        shares.append(100 * model.fit(iris.frame, iris.y).loo_score_)
    eda = line(found, "iris", "pazzani-eda")
    assert (eda.ours, eda.runs) == (pytest.approx(np.mean(shares)), 2)
    assert line(found, "corral", "pazzani-eda").ours == 100.0


def test_the_honest_figure_never_saw_its_rows(found):
    iris = datasets.load("iris")
    right = 0
    for train, test in WekaStratifiedKFold(10, seed=4).split(iris.y, iris.y):
        model = PazzaniNB().fit(iris.frame.take(train), iris.y[train])
        right += (model.predict(iris.frame.take(test)) == iris.y[test]).sum()
    assert line(found, "iris", "bsej").honest == pytest.approx(100 * right / 150)


def test_interrupted_and_on_threads_it_is_the_same(found, tmp_path):
    store, told = tmp_path / "runs.jsonl", []

    def stop(step):
        told.append(step)
        if len(told) == 5:
            raise KeyboardInterrupt

    experiment = EDAExperiment(**SMALL, honest=True)
    with pytest.raises(KeyboardInterrupt):
        reproduce(experiment, store=store, watch=stop)
    again = reproduce(experiment, store=store, n_jobs=2)
    assert again.resumed == 5
    assert again.lines == found.lines
    with pytest.raises(UnnaiveError, match="seed"):
        reproduce(EDAExperiment(only=["iris"], seed=1), store=store)


def test_remarks_and_plain_values(found):
    assert any(text.startswith("pazzani-eda: 2 of 2 within 1.0 points") for text in found.remarks)
    assert '"published": 94.67' in found.to_json()
    assert all(one.difference is not None for one in found.lines)


def test_choices():
    with pytest.raises(UnnaiveError, match="no data set 'titanic'; it has breast, chess"):
        EDAExperiment(only=["titanic"]).units()
    quick = EDAExperiment(quick=True)
    assert "satimage" not in quick.chosen
    assert quick.n_runs == 1
    keys = [unit.key for unit in EDAExperiment().units()]
    assert len(keys) == len(set(keys)) == 21 * (1 + 3 * 3 + 1)
