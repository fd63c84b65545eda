"""Barrow's experiments, rerun: lines against plain computations, resumed, on any threads."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score

from unnaive import FullBayes, GaussianNaiveBayes, KNaiveBayes
from unnaive.datasets import load_wdbc, make_balanced
from unnaive.evaluate import cross_validate
from unnaive.exceptions import UnnaiveError
from unnaive.papers import reproduce
from unnaive.papers.barrow import BarrowFullBayes, BarrowKNaiveBayes, BarrowNaiveBayes
from unnaive.papers.curves import draw_curve
from unnaive.papers.knaive import CELLS, KNaiveExperiment

PROGRAMS = {
    "naive Bayes": BarrowNaiveBayes(),
    "full Bayes": BarrowFullBayes(),
    "k-weak naive Bayes": BarrowKNaiveBayes(),
    "k-weak naive Bayes, run as strong": BarrowKNaiveBayes(naivete="strong"),
}


def predicted(model, X, y, seed):
    """Actual and predicted classes of all rows tested: ten folds, the remainder left out."""
    order, size = np.random.default_rng(seed).permutation(len(y)), len(y) // 10
    actual, guesses = [], []
    for fold in range(10):
        test = order[fold * size : (fold + 1) * size]
        train = np.array([row for row in range(len(y)) if row not in set(test.tolist())])
        actual += y[test].tolist()
        guesses += model.fit(X[train], y[train]).predict(X[test]).tolist()
    return actual, guesses


def wdbc():
    data = load_wdbc()
    return data.X[:, :10], (data.y == "malignant").astype(int)


@pytest.fixture(scope="module")
def matrices():
    return reproduce(KNaiveExperiment(quick=True, runs=2, only=["WDBC"]))


@pytest.mark.long
def test_matrices_are_plain_means_over_shuffles(matrices):
    lines = {(line.model, line.metric): line for line in matrices.lines}
    assert len(lines) == len(matrices.lines) == 4 * 9
    X, y = wdbc()
    for name, model in PROGRAMS.items():
        tested = [predicted(model, X, y, seed) for seed in range(2)]
        assert {len(actual) for actual, _ in tested} == {560}
        found = np.array([confusion_matrix(*one).ravel() / 560 for one in tested])
        for cell, shares in zip(CELLS, found.T, strict=True):
            line = lines[name, cell]
            assert line.ours == pytest.approx(shares.mean(), abs=1e-12)
            assert line.deviation == pytest.approx(shares.std(ddof=1), abs=1e-12)
            assert line.tolerance == 2 * line.deviation
        for place, label in enumerate(("benign", "malignant")):
            plain = [f1_score(*one, pos_label=place) for one in tested]
            assert lines[name, f"F1, {label}"].ours == pytest.approx(np.mean(plain), abs=1e-12)


def test_what_was_printed(matrices):
    lines = {(line.model, line.metric): line for line in matrices.lines}
    assert lines["naive Bayes", CELLS[0]].published == 342 / 560
    assert lines["k-weak naive Bayes", CELLS[3]].published == 185 / 556
    assert lines["full Bayes", "F-score"].published == 0.772
    assert lines["full Bayes", "F-score"].note == "as printed, the program's F, benign"
    assert lines["k-weak naive Bayes", "F-score"].note == "as printed, the program's F, malignant"
    assert "none" in lines["naive Bayes", "F-score"].note
    ours = lines["full Bayes", "the program's F, benign"]
    assert lines["full Bayes", "F-score"].ours == ours.ours
    assert ours.published == pytest.approx(0.7721, abs=5e-5)
    remarks = " ".join(matrices.remarks)
    assert "full Bayes 560, k-weak naive Bayes 556; 10 folds of 56 are 560" in remarks
    assert "0.878 (naive Bayes) is none" in remarks


def test_resumed_lines_are_the_same(matrices, tmp_path):
    experiment, store = KNaiveExperiment(quick=True, runs=2, only=["WDBC"]), tmp_path / "runs"
    first = reproduce(experiment, store=store, n_jobs=2)
    store.write_bytes(store.read_bytes()[:-5])  # killed while it wrote
    again = reproduce(experiment, store=store)
    assert (again.resumed, again.untimed) == (1, 0)
    assert again.seconds > 0
    assert first.lines == again.lines == matrices.lines  # of one thread, kept nowhere
    assert again.remarks == matrices.remarks


@pytest.mark.long
def test_simulations():
    experiment = KNaiveExperiment(quick=True, runs=2, only=["simulated"])
    found = reproduce(experiment, n_jobs=2)
    assert len(found.lines) == 4 * 7
    assert {line.published for line in found.lines} == {None}
    lines = {(line.model, line.metric): line for line in found.lines}
    models = {
        "naive Bayes": GaussianNaiveBayes(var_smoothing=0),
        "weak 2-naive Bayes": KNaiveBayes(k=2, var_smoothing=0),
    }
    for name, model in models.items():
        right = []
        for seed in range(2):
            X, y = make_balanced(225, balance=-0.6, random_state=seed)
            actual, guesses = predicted(model, X, y, seed)
            right.append(np.mean(np.equal(actual, guesses)))
        assert lines[name, "accuracy at b=-0.6"].ours == pytest.approx(np.mean(right), abs=1e-12)
    full, naive, two = (
        lines[name, "accuracy at b=1"].ours
        for name in ("full Bayes", "naive Bayes", "weak 2-naive Bayes")
    )
    between = naive <= two <= full or full <= two <= naive
    note = lines["weak 2-naive Bayes", "accuracy at b=1"].note
    assert between == (note == "between naive and full Bayes")
    assert len(found.remarks) == 2
    curve = found.curves["3-2"]
    for (name, metric), line in lines.items():
        place = curve["balances"].index(float(metric.removeprefix("accuracy at b=")))
        assert curve["means"][name][place] == pytest.approx(line.ours, abs=1e-12)
        assert curve["deviations"][name][place] == pytest.approx(line.deviation / np.sqrt(2))
    (ax,) = draw_curve(curve).axes
    assert len(ax.containers) == 4


@pytest.mark.long
def test_honest_column():
    found = reproduce(KNaiveExperiment(honest=True, runs=1, only=["WDBC"]))
    lines = {(line.model, line.metric): line for line in found.lines}
    X, y = wdbc()
    pooled = cross_validate(FullBayes(var_smoothing=0), X, y, random_state=0).pooled
    share = pooled.confusion[0, 0] / 569
    assert lines["full Bayes", CELLS[0]].honest == pytest.approx(share, abs=1e-12)
    wanted = pytest.approx(pooled.f1_by_class[0], abs=1e-12)
    assert lines["full Bayes", "F1, benign"].honest == wanted
    assert lines["full Bayes", "F-score"].honest == wanted  # what was printed is of benign
    assert lines["full Bayes", "the program's F, benign"].honest is None
    assert {line.within for line in found.lines} == {None}  # a single run
    assert "single shuffle" in found.remarks[0]


def test_unknown_data_set():
    with pytest.raises(UnnaiveError, match="no data set 'wdbc'; it has WDBC, simulated"):
        reproduce(KNaiveExperiment(only=["wdbc"]))
