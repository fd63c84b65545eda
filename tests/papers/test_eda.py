"""The EDA paper, rerun on its small data sets."""

from __future__ import annotations

import numpy as np
import pytest

from unnaive import IENB, NaiveBayes, PazzaniNB, datasets
from unnaive.evaluate import WekaStratifiedKFold
from unnaive.exceptions import UnnaiveError
from unnaive.papers import Line, reproduce
from unnaive.papers.eda import GAIN, EDAExperiment, _mean_gains
from unnaive.search import UMDA

SMALL = {"only": ["iris", "corral"], "runs": 2, "seed": 3}  # both come along


@pytest.fixture(scope="module")
def found():
    return reproduce(EDAExperiment(**SMALL, honest=True))


def line(found, data, model):
    return next(one for one in found.lines if (one.data, one.model) == (data, model))


@pytest.mark.long
def test_figures_are_those_of_the_models(found):
    iris = datasets.load("iris")
    naive = NaiveBayes().fit(iris.frame, iris.y)
    right = naive.classes_[naive.loo_predict_proba(iris.frame, iris.y).argmax(axis=1)] == iris.y
    assert line(found, "iris", "nb").ours == pytest.approx(100 * right.mean())
    assert line(found, "iris", "nb").published == 94.67
    backward = PazzaniNB(paper=True).fit(iris.frame, iris.y)
    told = line(found, "iris", "bsej")
    assert told.ours == pytest.approx(100 * backward.loo_score_)
    assert told.note == (
        "(attributes, groups) (3, 3), the paper (3, 3); 32 evaluations, the paper 32"
    )
    shares = []
    for seed in (3, 4):
        algorithm = UMDA.paper(max_generations=150)
        model = PazzaniNB(search="eda", paper=True, algorithm=algorithm, random_state=seed)
        shares.append(100 * model.fit(iris.frame, iris.y).loo_score_)
    eda = line(found, "iris", "pazzani-eda")
    assert (eda.ours, eda.runs) == (pytest.approx(np.mean(shares)), 2)
    assert line(found, "corral", "pazzani-eda").ours == 100.0


@pytest.mark.long
def test_the_honest_figure_never_saw_its_rows(found):
    iris = datasets.load("iris")
    right = 0
    for train, test in WekaStratifiedKFold(10, seed=4).split(iris.y, iris.y):
        model = PazzaniNB().fit(iris.frame.take(train), iris.y[train])
        right += (model.predict(iris.frame.take(test)) == iris.y[test]).sum()
    assert line(found, "iris", "bsej").honest == pytest.approx(100 * right / 150)


@pytest.mark.long
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


@pytest.mark.long
def test_remarks_and_plain_values(found):
    said = "pazzani-eda: 2 of 2 differ from the paper by no more than chance"
    assert said in found.remarks
    same = (
        "fssj: accuracy, (attributes, groups) and evaluations are the paper's on 2 of 2 data sets"
    )
    assert f"{same}: corral, iris" in found.remarks
    gains = [one.ours for one in found.lines if (one.model, one.metric) == ("bsej", GAIN)]
    mean = f"bsej: mean improvement over naive Bayes {np.mean(gains):+.2f} points on 2 data sets"
    assert f"{mean}, the paper +5.32" in found.remarks
    assert '"published": 94.67' in found.to_json()
    assert all(one.difference is not None for one in found.lines)
    assert [one.table for one in found.lines] == sorted(one.table for one in found.lines)


@pytest.mark.long
def test_what_is_near(found):
    one_row = 100 / 149
    assert line(found, "iris", "nb").tolerance == pytest.approx(one_row + 0.005)
    eda = line(found, "corral", "ienb")
    chance = 2 * np.sqrt(0.0**2 / 10 + eda.deviation**2 / 2)
    assert eda.tolerance == pytest.approx(100 / 127 + 0.005 + chance)


@pytest.mark.long
def test_every_model_has_its_own_honest_figure(found):
    iris = datasets.load("iris")
    right = 0
    for train, test in WekaStratifiedKFold(10, seed=4).split(iris.y, iris.y):
        model = IENB(criterion="training", random_state=3).fit(
            iris.frame.take(train), iris.y[train]
        )
        right += (model.predict(iris.frame.take(test)) == iris.y[test]).sum()
    assert line(found, "iris", "ienb-training").honest == pytest.approx(100 * right / 150)
    iterative = next(one for one in found.lines if one.model == "iterative")
    honest = {one.model: one.honest for one in found.lines if one.data == "iris" and one.honest}
    assert (iterative.metric, iterative.published) == (GAIN, 1.4)
    assert iterative.note == "paper: significant against nb"
    assert iterative.ours is not None
    assert honest["nb"] == line(found, "iris", "nb").honest


def test_choices():
    with pytest.raises(UnnaiveError, match="no data set 'titanic'; it has breast, chess"):
        EDAExperiment(only=["titanic"]).units()
    quick = EDAExperiment(quick=True)
    assert "satimage" not in quick.chosen
    assert quick.n_runs == 1
    keys = [unit.key for unit in EDAExperiment().units()]
    assert len(keys) == len(set(keys)) == 16 * (1 + 3 * 10 + 1) + 5 * (1 + 3 * 3 + 1)
    assert len(EDAExperiment(only=["chess"], runs=10).units()) == 1 + 3 * 10 + 1


def test_what_the_text_says_of_all_data_sets():
    lines = [Line("3", name, "ienb", GAIN, 4.0, 5.0) for name in EDAExperiment.names]
    said = "ienb: mean improvement over naive Bayes +5.00 points on 21 data sets, the paper +4.00"
    assert _mean_gains(lines) == [f"{said} (its text: 4.30 in section 5.3, 4.65 in section 6)"]
    assert "its text" not in _mean_gains(lines[:20])[0]
