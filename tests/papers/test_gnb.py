"""The GNB paper's tables, rerun: lines against plain computations, resumed, on any threads."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB

from datafiles import needs_data
from unnaive import TAN, GeneralizedNB, NaiveBayes
from unnaive.datasets import load
from unnaive.evaluate import cross_validate
from unnaive.exceptions import UnnaiveError
from unnaive.papers import reproduce
from unnaive.papers.curves import draw_score_paths
from unnaive.papers.gnb import INFERRED, GNBExperiment, cut_whole, load_rows, random_splits
from unnaive.papers.readings import RULES, as_numbers

METRICS = {
    "accuracy": accuracy_score,
    "precision": lambda y, guess: precision_score(y, guess, pos_label="M"),
    "recall": lambda y, guess: recall_score(y, guess, pos_label="M"),
    "f1": lambda y, guess: f1_score(y, guess, pos_label="M"),
    "roc_auc": lambda y, guess: roc_auc_score(y == "M", guess == "M"),
}
MODELS = {
    "GNB-A": GeneralizedNB(method="greedy", paper=True, discretize=None),
    "GNB-O": GeneralizedNB(method="optimal", paper=True, discretize=None),
    "NB": NaiveBayes(discretize=None),
    "TAN": TAN(discretize=None),
    "NB without smoothing": NaiveBayes(discretize=None, smoothing="ml"),
    "TAN without smoothing": TAN(discretize=None, smoothing="ml"),
}
TABLES = {metric: str(number) for number, metric in enumerate(METRICS, 1)}


def quantile_codes(values):
    """The paper's section 6.2, word by word: Q_j is the value of rank floor(n j / 5)."""
    ordered = sorted(values)
    cuts = sorted({ordered[len(values) * j // 5] for j in range(1, 5)} - {ordered[0]})
    return np.searchsorted(cuts, values, side="right")


def test_lines_are_plain_means_over_random_splits():
    data = load("wdbc")
    codes = np.column_stack([quantile_codes(column) for column in data.X.T])
    assert np.array_equal(
        codes, np.column_stack([column.values for column in cut_whole(data).columns])
    )
    found = {(model, metric): [] for model in MODELS for metric in METRICS}
    for run in range(2):
        train, test = train_test_split(np.arange(569), test_size=86, random_state=run)
        for name, model in MODELS.items():
            guess = model.fit(codes[train], data.y[train]).predict(codes[test])
            for metric, score in METRICS.items():
                found[name, metric].append(score(data.y[test], guess))
    lines = reproduce(GNBExperiment(quick=True, runs=2, only=["Wdbc"])).lines
    assert {(line.model, line.metric) for line in lines} == set(found)
    assert len(lines) == len(found)
    for line in lines:
        values = found[line.model, line.metric]
        assert line.ours == pytest.approx(np.mean(values), abs=1e-12)
        assert line.deviation == pytest.approx(np.std(values, ddof=1) / np.sqrt(5), abs=1e-12)
        assert line.tolerance == 2 * line.deviation
        assert f"first 2 runs: {np.mean(values):.4f}" in line.note
        assert (line.table, line.runs, line.honest) == (TABLES[line.metric], 2, None)
    printed = {(line.model, line.metric): line.published for line in lines}
    assert printed["GNB-O", "accuracy"] == 0.9442
    assert printed["TAN without smoothing", "precision"] == printed["TAN", "precision"] == 0.9777


def plain_readings(data, codes, train, test):
    """Labels of the four models as the readings say, from numbers and from single rows."""
    labels = {}
    for name, method in (("GNB-A", "greedy"), ("GNB-O", "optimal")):
        model = GeneralizedNB(method=method, paper="all-zeros", discretize=None)
        labels[name] = model.fit(codes[train], data.y[train]).predict(codes[test])
    means = np.empty(data.X.shape)
    for place, column in enumerate(data.X.T):
        for code in set(codes[:, place]):
            means[codes[:, place] == code, place] = column[codes[:, place] == code].mean()
    np.testing.assert_allclose(as_numbers(data), means)  # no column of wdbc is negative
    labels["NB"] = MultinomialNB().fit(means[train], data.y[train]).predict(means[test])
    tree = TAN(smoothing="ml", discretize=None).fit(codes[train], data.y[train])
    joint = tree.predict_joint_log_proba(codes[test])  # argmax takes the first of ties
    labels["TAN"] = np.array(["B", "M"])[[int(scores[1] > scores[0]) for scores in joint]]
    return labels


@pytest.mark.long
def test_readings_are_plain_means_over_random_splits():
    data = load("wdbc")
    codes = np.column_stack([quantile_codes(column) for column in data.X.T])
    found = {(model, metric): [] for model in RULES for metric in METRICS}
    for run in range(2):
        train, test = train_test_split(np.arange(569), test_size=86, random_state=run)
        for model, labels in plain_readings(data, codes, train, test).items():
            for metric, score in METRICS.items():
                found[model, metric].append(score(data.y[test], labels))
    result = reproduce(GNBExperiment(quick=True, runs=2, only=["Wdbc"]))
    lines = {(line.model, line.metric): line for line in result.lines}
    for key, values in found.items():
        assert lines[key].inferred == pytest.approx(np.mean(values), abs=1e-12)
        deviation = np.std(values, ddof=1) / np.sqrt(5)
        assert lines[key].inferred_tolerance == pytest.approx(2 * deviation, abs=1e-12)
    assert lines["TAN without smoothing", "accuracy"].inferred is None
    panels = result.curves["7"]["panels"]
    whole = {model: rules["inferred"]["recall"][-1] for model, rules in panels.items()}
    assert whole == pytest.approx({m: lines[m, "recall"].inferred for m in whole}, abs=1e-12)
    text = {model: rules["text"]["auc_hard"][-1] for model, rules in panels.items()}
    assert text == pytest.approx({m: lines[m, "roc_auc"].ours for m in text}, abs=1e-12)
    axes = draw_score_paths(result.curves["7"]).axes
    assert [line.get_xdata()[-1] for line in axes[3].get_lines()] == [29] * 5


@pytest.mark.long
def test_resumed_lines_are_the_same(tmp_path):
    experiment, store = GNBExperiment(quick=True, runs=11, only=["Wdbc"]), tmp_path / "runs.jsonl"
    seen = []
    first = reproduce(experiment, store=store, watch=seen.append)
    keys = ["Wdbc, paths", "Wdbc, runs 0 to 9", "Wdbc, runs 10 to 10"]
    assert sorted(step.key for step in seen) == keys
    content = store.read_bytes()
    store.write_bytes(content[:-20])  # killed while it wrote
    again = reproduce(experiment, store=store)
    assert (first.resumed, again.resumed) == (0, 2)
    assert again.lines == first.lines
    assert again.remarks == first.remarks
    assert _untimed(store.read_bytes()) == _untimed(content)


def _untimed(content):
    """Results without the time that they took."""
    return re.sub(rb', "seconds": [0-9.e-]+', b"", content)


@pytest.mark.long
def test_threads_change_nothing():
    experiment = GNBExperiment(quick=True, honest=True, runs=11, only=["Wdbc"], seed=3)
    one, two = (reproduce(experiment, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.lines == two.lines
    data = load("wdbc")
    for line in one.lines:
        if line.model == "TAN" and line.metric in {"accuracy", "recall"}:
            pooled = cross_validate(
                TAN(), data.frame, data.labels, random_state=3_000_000, folds=10
            ).pooled
            wanted = {"accuracy": pooled.accuracy, "recall": pooled.recall[1]}  # of B and M
            assert line.honest == pytest.approx(wanted[line.metric], abs=1e-12)
    assert "Honest accuracy" in one.remarks[-1]


def test_seeds_share_no_split():
    zero, one = ([test for _, test in random_splits(100, range(20), seed)] for seed in (0, 1))
    assert {len(test) for test in zero} == {15}
    assert not {tuple(test) for test in zero} & {tuple(test) for test in one}


def test_unknown_data_set():
    with pytest.raises(UnnaiveError, match="no data set 'wdbc'; it has Wdbc, Heart Disease"):
        reproduce(GNBExperiment(only=["wdbc"]))


def results_of(experiment, value=0.9):
    """Results of all units as if every score of every model were the same."""
    score = dict.fromkeys(("accuracy", "roc_auc", "auc"), value)
    score |= {metric: [value / 2, value] for metric in ("precision", "recall", "f1")}
    models = [*MODELS, *(INFERRED + model for model in RULES)]
    return {unit.key: {model: [score] * 10 for model in models} for unit in experiment.units()}


def test_all_tables_have_their_lines_and_remarks():
    experiment = GNBExperiment(runs=20)
    lines = experiment.lines(results_of(experiment))
    assert len(lines) == 150
    assert sum("without" not in line.model for line in lines) == 100
    places = {(line.data, line.model): line.ours for line in lines if line.metric == "recall"}
    assert places["Diabetes", "TAN"] == pytest.approx(0.9)
    assert places["Diabetes", "NB"] == pytest.approx(0.45)  # the paper's slip
    remarks = " ".join(experiment.remarks(lines))
    assert "GNB-A and GNB-O: 0 of 50 printed figures" in remarks
    assert "NB: 0 of 25" in remarks
    assert "Diabetes 519 (520), Thyroid Ann Train 3771 (3772), Parkinson 197 (195)" in remarks
    assert "recall 0.9996 (ours 0.9000), AUC of labels 0.4998" in remarks
    assert "By the inferred readings 0 of 100 figures" in remarks
    assert sum(line.inferred is not None for line in lines) == 100


def test_a_single_run_says_nothing_of_chance():
    experiment = GNBExperiment(runs=1, only=["Wdbc"])
    results = {unit.key: {} for unit in experiment.units()}
    key = "Wdbc, runs 0 to 0"
    assert set(results) == {key, "Wdbc, paths"}
    full = results_of(GNBExperiment(runs=10, only=["Wdbc"]))["Wdbc, runs 0 to 9"]
    lines = experiment.lines({key: {model: scores[:1] for model, scores in full.items()}})
    assert {line.within for line in lines} == {None}
    assert "single run" in experiment.remarks(lines)[0]


@needs_data
def test_the_column_left_out():
    whole, part = load("thyroid-ann-train"), load_rows("thyroid-ann-train")
    assert set(whole.names) - set(part.names) == {"hypopituitary"}
    kept = [whole.names.index(name) for name in part.names]
    assert part.X.tolist() == whole.X[:, kept].tolist()
    assert set(part.categories) == set(whole.categories) - {"hypopituitary"}


@needs_data
def test_labels_beside_numbers():
    found = reproduce(GNBExperiment(quick=True, runs=2, only=["Diabetes"]))
    lines = {(line.model, line.metric): line for line in found.lines}
    assert "positive: Negative; Positive as positive:" in lines["NB", "recall"].note
    assert "positive: Positive" in lines["TAN", "recall"].note
    data = load("diabetes-early")
    frame = cut_whole(data)
    right = []
    for train, test in random_splits(520, range(2)):
        model = NaiveBayes(discretize=None).fit(frame.take(train), data.labels.take(train))
        right.append(np.mean(model.predict(frame.take(test)) == data.y[test]))
    assert lines["NB", "accuracy"].ours == pytest.approx(np.mean(right), abs=1e-12)
    assert lines["NB", "accuracy"].published == 0.8692
