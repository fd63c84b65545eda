"""The benchmarks run: small data, seconds."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _root_on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def test_data_repeats_itself_and_has_every_value():
    data = importlib.import_module("benchmarks.data")
    shape = data.Shape(rows=200, columns=5, values=4, classes=3)
    X, y = data.tree_data(shape)
    again, _ = data.tree_data(shape)
    assert np.array_equal(X, again)
    assert X.dtype == np.int64
    assert X.flags.c_contiguous
    assert all(len(np.unique(column)) == 4 for column in X.T)
    assert len(np.unique(y)) == 3


@pytest.mark.parametrize("name", ["report", "weka", "quality", "quality_methods", "quality_report"])
def test_doctests(name):
    module = importlib.import_module(f"benchmarks.{name}")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("order", [2, 3, 4])
def test_planted_rules_are_found_where_smaller_sets_of_columns_tell_nothing(order):
    planted = importlib.import_module("benchmarks.planted")
    X, y = planted.planted("sum", order, 600, seed=1)
    again, _ = planted.planted("sum", order, 600, seed=1)
    assert np.array_equal(X, again)
    for rest in range(3):  # of the sum of all but one column, the class is independent
        some = X[:, 1:order].sum(axis=1) % 3 == rest
        assert abs(y[some].mean() - y.mean()) < 0.1
    loss, _ = planted.measured("auto", "sum", order, 600, threads=1)
    without, _ = planted.measured("nb", "sum", order, 600, threads=1)
    assert loss < 0.4 < 0.6 < without


def test_stages_do_not_count_twice():
    timing = importlib.import_module("benchmarks.timing")
    stages = timing.Stages()
    inner = stages.wrap("inner", lambda: sum(range(100_000)))
    outer = stages.wrap("outer", inner)
    total = timing.seconds(outer)
    assert sum(stages.times.values()) <= total
    assert stages.times["outer"] < stages.times["inner"]


@pytest.mark.long
def test_peers_reports_and_agrees(tmp_path):
    file = tmp_path / "peers.json"
    options = ["--rows", "400", "--columns", "4", "--repeats", "1", "--only", "sklearn", "--json"]
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks", "peers", *options, str(file)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Targets" in ran.stdout
    findings = json.loads(file.read_text())["findings"]
    assert {"ours", "sklearn"} == set(findings)
    assert len(findings["ours"]["timings"]) == 12
    assert findings["sklearn"]["checks"][0]["difference"] < 1e-9


def test_gnb_runs_the_papers_protocol():
    gnb = importlib.import_module("benchmarks.gnb")
    assert list(gnb.PRINTED) == list(gnb.NAMES.values())
    assert gnb.PRINTED["wdbc"]["GNB-O"] == pytest.approx(94.42)
    right, same = gnb.split_accuracies(gnb.load_rows("wdbc"), gnb.Study(None, splits=2, jobs=1))
    assert set(right) == set(gnb.compared_models(1))
    assert all(len(series) == 2 and series.min() > 75 for series in right.values())
    assert same == 2


def test_knaive_runs_the_thesis_protocol():
    knaive = importlib.import_module("benchmarks.knaive")
    X, y, names = knaive.mean_columns()
    assert all(name in names for name in knaive.CHOSEN)
    model = knaive.right_models(names)["  the thesis' set"]
    assert knaive.matrix_of(model, X, y, 0).sum() == 560
    assert [one.f_score for one in knaive.PRINTED] == [0.878, 0.772, 0.919]


@pytest.fixture
def mixed():
    """Numbers with gaps, a column without any value, and labels of which one has no row."""
    values = [5.0, 1.0, np.nan, 2.0, 4.0, 3.0, 1.5, 2.5]
    labels = pd.Categorical(["b", "a", None, "a", "b", "a", "b", "a"], categories=["a", "b", "c"])
    X = pd.DataFrame({"number": values, "empty": np.full(8, np.nan), "label": labels})
    return X, np.array([0, 1, 0, 1, 0, 1, 0, 1])


def test_quality_codes_for_naive_bayes(mixed):
    methods = importlib.import_module("benchmarks.quality_methods")
    X, y = mixed
    model = methods.BinnedNaiveBayes(bins=2).fit(X, y)  # the median of the known is 2.5
    wanted = {
        "number": [2, 1, 0, 1, 2, 2, 1, 2],
        "empty": [0] * 8,
        "label": [2, 1, 0, 1, 2, 1, 2, 1],
    }
    assert np.array_equal(model.encode(X), np.column_stack(list(wanted.values())))
    new = pd.DataFrame({"number": [99.0], "empty": [1.0], "label": pd.Categorical(["c"])})
    new["label"] = new["label"].cat.set_categories(["a", "b", "c"])
    assert model.predict_proba(new).sum() == pytest.approx(1)


@pytest.mark.long
def test_quality_boosting_survives_what_stops_it(mixed):
    methods = importlib.import_module("benchmarks.quality_methods")
    X, y = mixed
    model = methods.HistogramBoosting().fit(X, np.where(np.arange(8) == 3, 2, y))
    assert model.columns_ == ["number", "label"]
    assert model.model_.early_stopping is False
    assert model.predict_proba(X).shape == (8, 3)
    assert methods.HistogramBoosting().fit(X, y).model_.early_stopping == "auto"


@pytest.mark.long
@pytest.mark.parametrize("spec", ["forest", "logistic"])
def test_quality_matrix_takes_gaps_and_unknown_labels(mixed, spec):
    methods = importlib.import_module("benchmarks.quality_methods")
    X, y = mixed
    model = methods.method(spec).make(1).fit(X, y)
    new = X.assign(label=pd.Categorical(["c"] * 8, categories=["a", "b", "c"]))
    assert np.isfinite(model.predict_proba(new)).all()
    assert model[0].transform(X).shape == (8, 2 + 3)  # a gap among labels is a label


def test_quality_measures_a_class_that_training_lacks():
    quality = importlib.import_module("benchmarks.quality")
    chances = np.array([[0.8, 0.2], [1.0, 0.0], [0.3, 0.7], [0.5, 0.5]])
    scores, (confidence, right) = quality.measure_fold(
        chances, np.array([0, 2]), np.array([0, 2, 2, 1])
    )
    assert scores["accuracy"] == pytest.approx(2 / 4)
    assert scores["log_loss"] == pytest.approx(-np.log([0.8, 1e-15, 0.7]).mean())
    assert scores["brier"] == pytest.approx((2 * 0.2**2 + 2 + 2 * 0.3**2) / 3)
    assert scores["auc"] == pytest.approx(1 / 2)
    assert scores["unknown_class"] == 1
    assert confidence == pytest.approx([0.8, 1.0, 0.7])
    assert right.tolist() == [True, False, True]
    with pytest.raises(ValueError, match="not finite"):
        quality.measure_fold(chances * np.nan, np.array([0, 2]), np.array([0, 2, 2, 0]))


def test_quality_calibration_error_bin_by_bin():
    quality = importlib.import_module("benchmarks.quality")
    random = np.random.default_rng(0)
    confidence = random.uniform(0.5, 1, 47)
    right = random.random(47) < confidence
    pairs = sorted(zip(confidence.tolist(), right.tolist(), strict=True))
    error, sizes = 0.0, [4, 4, *[3] * 13]  # 47 rows in 15 bins
    for size in sizes:
        one, pairs = pairs[:size], pairs[size:]
        gap = sum(c for c, _ in one) / size - sum(r for _, r in one) / size
        error += size / 47 * abs(gap)
    assert quality.calibration_error(confidence, right) == pytest.approx(error)


def test_quality_ratios_and_records():
    made = importlib.import_module("benchmarks.quality_report")
    losses = {"lightgbm": np.array([0.2, 1e-6, 0.1]), "tan": np.array([0.1, 1e-5, np.nan])}
    ratios = made.loss_ratios(losses, "tan")
    assert ratios[:2] == pytest.approx([0.5, 1.0])  # both of the second are below the floor
    assert made.geometric_mean(ratios) == pytest.approx(0.5**0.5)
    assert made.record(losses["tan"], losses["lightgbm"], lower_is_better=True) == (1, 0, 2)
    assert made.record(losses["tan"], losses["tan"], lower_is_better=False) == (0, 2, 1)


def test_quality_compares_a_method_under_way_on_what_it_has(capsys):
    made = importlib.import_module("benchmarks.quality_report")

    def unit(loss, threads=1):
        times = dict.fromkeys(made.TIMES, 1.0)
        fold = {"log_loss": loss, "accuracy": 1 - loss, "brier": loss, "auc": 0.5, **times}
        return {"threads": threads, "calibration": 0.1, "folds": [fold, fold]}

    results = {
        "lightgbm": {"iris": unit(0.2), "glass": unit(0.4)},
        "nb": {"iris": unit(0.3), "glass": unit(0.1, threads=2)},
        "tan": {"iris": unit(0.1), "glass": None},
    }
    summary = made.show(results, {spec: spec for spec in results}, ["accuracy"])
    assert list(summary["figures"]) == ["lightgbm", "nb"]
    assert summary["figures"]["nb"]["ratio"] == pytest.approx((1.5 * 0.25) ** 0.5)
    assert summary["figures"]["nb"]["fit_wall"] == 4
    assert summary["figures"]["nb"]["against_log_loss"] == (1, 0, 1)
    shown = capsys.readouterr().out
    assert "tan is unfinished: 1 of 2 data sets are done" in shown
    assert [line.split() for line in shown.splitlines() if line.startswith("tan  ")] == [
        ["tan", "1.00", "0.500", "0.9000"]
    ]
    assert "Every method on 1 or 2 threads: times are NOT comparable." in shown
    assert "nb: iris 1.50" in shown


def test_quality_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    quality = importlib.import_module("benchmarks.quality")
    methods = importlib.import_module("benchmarks.quality_methods")
    monkeypatch.setenv("UNNAIVE_DATA", str(tmp_path))  # run() sets it; iris needs no file
    how = {"methods": ["logistic", "nb"], "only": ["iris"], "threads": 1}
    how |= {"resume": str(tmp_path / "runs.jsonl"), "json_file": str(tmp_path / "found.json")}
    first = quality.run(tmp_path, **how)
    assert first["figures"]["logistic"]["accuracy"] > 0.9
    assert sorted(first["ranks"]["log_loss"].values()) == [1, 2]
    unit = json.loads((tmp_path / "found.json").read_text())["results"]["nb"]["iris"]
    assert len(unit["folds"]) == quality.FOLDS
    done: list[str] = []

    def pretend(spec, name, threads):
        done.append(spec)
        return {"failed": "on purpose", "threads": threads, "folds": []}

    monkeypatch.setattr(quality, "measure_unit", pretend)
    assert quality.run(tmp_path, **how)["figures"] == first["figures"]
    assert done == []
    monkeypatch.setattr(methods, "_source", lambda: "edited")
    shown = quality.run(tmp_path, **how, finished=True)
    assert (done, list(shown["figures"])) == ([], ["logistic"])
    assert quality.run(tmp_path, **how)["ranks"]["log_loss"] == {"logistic": 1, "nb": 2}
    assert done == ["nb"]
    assert "nb failed on iris: on purpose" in capsys.readouterr().out


def test_quality_refuses_what_it_cannot_read():
    methods = importlib.import_module("benchmarks.quality_methods")
    for spec in ("tan:smoothing=laplace:0.5", "kdb:3"):
        with pytest.raises(ValueError, match="cannot be read"):
            methods.method(spec)
    with pytest.raises(TypeError):
        methods.method("tan:typo=1")
    with pytest.raises(ValueError, match="there is no model 'typo'"):
        methods.method("typo")
    assert methods.method("kdb:k=3").make(1).get_params()["k"] == 3


def test_times_of_a_library_are_written_before_its_limit(tmp_path):
    rivals = importlib.import_module("benchmarks.rivals")
    found = rivals.Written(tmp_path / "out.json")
    found.time("TAN", "fit", 2.5)
    entry = {"model": "TAN", "operation": "fit", "seconds": 2.5, "rows": None}
    assert json.loads((tmp_path / "out.json").read_text())["timings"] == [entry]


def test_counting_of_files_is_timed_beside_reading(tmp_path):
    pytest.importorskip("pyarrow")
    files = importlib.import_module("benchmarks.files")
    for kind in files.KINDS:
        times = files.measure(files.write(tmp_path, kind, 500), jobs=1, rounds=1)
        assert set(times) == {"bare", *files.WANTED}
        assert all(0 < spent < np.inf for pair in times.values() for spent in pair)
