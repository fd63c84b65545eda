"""Models side by side: numbers, failures, many data sets, stores that survive."""

import json
import math
import re
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import unnaive
from unnaive import TAN, NaiveBayes
from unnaive.evaluate import (
    Comparisons,
    Runs,
    WekaStratifiedKFold,
    compare,
    compare_many,
    corrected_resampled_t,
    cross_validate,
    hash_rows,
    holm,
)
from unnaive.evaluate.crossvalidate import prepare_rows


@pytest.fixture(scope="module")
def table():
    """Labels, gaps and numbers that tell two classes, some of them together only."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 120)
    flip = rng.integers(0, 2, 120)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(120) < 0.1, np.nan, rng.normal(40 + 12 * y, 9)),
            "left": np.where(flip, "a", "b"),
            "right": np.where(flip ^ y ^ (rng.random(120) < 0.1), "u", "v"),
            "y": np.where(y, "ill", "well"),
        }
    )


@pytest.fixture(scope="module")
def rows(table):
    return table.drop(columns="y"), table["y"]


@pytest.fixture(scope="module")
def found(rows):
    return compare(["nb", "tan", "aode"], *rows, folds=4, repeats=2, seed=5)


class Moody(NaiveBayes):
    """Fails where a certain row is the first of those to learn from."""

    hated = None

    def fit(self, X, y, sample_weight=None):
        if X.column(0).values[0] != self.hated:
            return super().fit(X, y, sample_weight)
        raise RuntimeError("not\n today")


# Numbers


def test_scores_are_those_of_cross_validation(rows, found):
    for key in ("nb", "tan", "aode"):
        expected = cross_validate(unnaive.make(key), *rows, folds=4, repeats=2, random_state=5)
        for metric in ("accuracy", "log_loss", "auc", "brier"):
            scores = [getattr(fold, metric) for fold in expected.folds]
            assert found.scores[key][metric].tolist() == scores
            assert found.mean(metric)[key] == expected.mean[metric]
            assert found.std(metric)[key] == expected.std[metric]
        assert found.fit_seconds[key].shape == found.predict_seconds[key].shape == (8,)
    assert found.models == ("nb", "tan", "aode")
    assert found.failures == ()
    assert found.classes == ("ill", "well")
    assert found.test_share == pytest.approx(1 / 3)


def test_same_numbers_at_any_n_jobs(rows, found):
    steps = []
    other = compare(
        ["nb", "tan", "aode"], *rows, folds=4, repeats=2, seed=5, n_jobs=3, watch=steps.append
    )
    for key, metrics in found.scores.items():
        for metric, scores in metrics.items():
            assert np.array_equal(other.scores[key][metric], scores)
    assert [step.done for step in steps] == list(range(1, 25))
    assert {step.total for step in steps} == {24}
    assert {(s.model, s.repeat, s.fold) for s in steps} == {
        (m, r, f) for m in found.models for r in range(2) for f in range(4)
    }


def test_ranks_and_tests_against_the_best(found):
    means = found.mean("log_loss")
    best = min(means, key=means.get)
    assert found.best("log_loss") == best
    assert sorted(found.ranks("log_loss").values()) == [1, 2, 3]
    assert found.best("accuracy") == max(found.mean("accuracy"), key=found.mean("accuracy").get)
    verdicts = found.against("log_loss")
    assert best not in verdicts
    plain = [
        corrected_resampled_t(
            found.scores[m]["log_loss"], found.scores[best]["log_loss"], test_share=1 / 3
        )
        for m in verdicts
    ]
    assert [v.p for v in verdicts.values()] == pytest.approx(holm([v.p for v in plain]).tolist())
    assert all(v.compared == (m, best) for m, v in verdicts.items())
    assert set(found.against("auc", "nb")) == {"tan", "aode"}
    with pytest.raises(ValueError, match="there is no model 'kdb'; the models are nb, tan, aode"):
        found.against("auc", "kdb")
    with pytest.raises(ValueError, match="metric 'f1' was not computed"):
        found.mean("f1")


def test_a_real_difference_is_marked(found):
    (worst,) = [row for row in found.table() if row["accuracy_worse"]]
    assert worst["model"] == "nb"  # left and right tell nothing unless taken together
    assert worst["accuracy_p"] < 0.05
    assert worst is not found.table()[0]


def test_tables(found):
    table = found.table()
    ranks = [row["accuracy_rank"] for row in table]
    assert ranks == sorted(ranks)
    assert pd.DataFrame(table).shape == (3, 1 + 4 * 5 + 3)
    assert table[0]["fit_seconds"] == np.median(found.fit_seconds[table[0]["model"]])
    read = json.loads(found.to_json())
    assert read["table"][0]["accuracy_p"] is None
    assert read["scores"]["tan"]["auc"] == found.scores["tan"]["auc"].tolist()
    assert read["protocol"] == {"folds": 4, "seed": 5, "repeats": 2}


def test_ties_share_a_rank(rows):
    found = compare({"one": "nb", "other": NaiveBayes(), "tan": TAN()}, *rows, folds=3)
    ranks = found.ranks("accuracy")
    assert ranks["one"] == ranks["other"]
    assert ranks["one"] % 1 == 0.5
    assert found.against("accuracy", "one")["other"].p == 1


@pytest.mark.long
def test_all_models_may_be_asked_for(rows):
    small = rows[0].iloc[:40, 1:], rows[1].iloc[:40]
    found = compare("all", *small, folds=2, metrics="accuracy")
    assert found.models == tuple(unnaive.all_models())
    assert {failure.model for failure in found.failures} <= {"k-naive", "full-bayes"} | {
        key for key in found.models if key.startswith("gaussian")
    }


# Folds of one's own, weights, guests


def test_splitters(rows):
    weka = compare(["nb"], *rows, folds=WekaStratifiedKFold(5, seed=2), metrics=["accuracy"])
    X, y = rows
    expected = [
        NaiveBayes().fit(X.iloc[train], y.iloc[train]).score(X.iloc[test], y.iloc[test])
        for train, test in WekaStratifiedKFold(5, seed=2).split(X, y)
    ]
    assert weka.scores["nb"]["accuracy"].tolist() == pytest.approx(expected)
    shuffled = StratifiedShuffleSplit(n_splits=3, test_size=24, random_state=0)
    assert compare(["nb"], *rows, folds=shuffled).test_share == 24 / 96
    with pytest.raises(
        ValueError, match="repeats=2: set it in the splitter StratifiedShuffleSplit"
    ):
        compare(["nb"], *rows, folds=shuffled, repeats=2)


def test_weights(rows):
    weights = np.where(rows[1] == "ill", 3.0, 1.0)
    found = compare(["tan"], *rows, folds=3, sample_weight=weights)
    expected = cross_validate(TAN(), *rows, folds=3, sample_weight=weights)
    assert found.mean("log_loss")["tan"] == expected.mean["log_loss"]


def test_models_of_scikit_learn_are_welcome(rows):
    labels = make_column_transformer((OneHotEncoder(), ["left", "right"]))
    guest = make_pipeline(labels, LogisticRegression())
    found = compare({"logistic": guest, "tan": "tan"}, *rows, folds=3)
    assert found.failures == ()
    assert found.mean("accuracy")["tan"] > found.mean("accuracy")["logistic"]
    assert not hasattr(guest[-1], "classes_")
    data = prepare_rows(*rows)
    with pytest.raises(
        ValueError, match="'logistic', Pipeline, needs X and y as arrays or data frames"
    ):
        compare({"logistic": guest}, data.frame, data.target)


def test_guests_know_weights():
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 5 > 2
    light = compare({"l": LogisticRegression()}, X, y, folds=2, sample_weight=np.full(40, 0.01))
    heavy = compare({"l": LogisticRegression()}, X, y, folds=2, sample_weight=np.full(40, 100.0))
    assert light.mean("log_loss") != heavy.mean("log_loss")


# What goes wrong


def test_a_model_that_fails_does_not_stop_the_others(rows):
    Moody.hated = rows[0]["age"].iloc[next(WekaStratifiedKFold(4).split(*rows))[0][0]]
    steps = []
    models = {"moody": Moody(), "<b>tan": TAN()}
    found = compare(models, *rows, folds=WekaStratifiedKFold(4), watch=steps.append)
    (failure,) = found.failures
    assert (failure.model, failure.repeat, failure.fold) == ("moody", 0, 0)
    assert failure.error == "RuntimeError: not today"
    assert [step.error for step in steps if step.error] == ["RuntimeError: not today"]
    assert np.isnan(found.scores["moody"]["auc"]).tolist() == [True, False, False, False]
    assert not math.isnan(found.mean("auc")["moody"])
    assert math.isnan(found.ranks("auc")["moody"])
    assert found.ranks("auc")["<b>tan"] == 1
    assert found.against("auc") == {}
    assert [row["failures"] for row in found.table()] == [0, 1]
    page = found.to_html("a < b")
    assert "<b>" not in page
    assert "&lt;b&gt;tan" in page
    assert "moody failed in 1 of 4 folds; repeat 1, fold 1: RuntimeError: not today" in page
    assert not re.search(r"<script|https?://|<link|<img", page)


def test_scores_that_are_not_there(rows):
    X = rows[0].iloc[:12]
    found = compare(["nb", "tan"], X, ["same"] * 12, folds=3)
    assert math.isnan(found.mean("auc")["nb"])
    assert found.best("auc") is None
    assert found.against("auc") == {}
    assert found.ranks("accuracy") == {"nb": 1.5, "tan": 1.5}
    assert json.loads(found.to_json())["table"][0]["auc"] is None
    assert "<td>-</td><td>-</td>" in found.to_html()


@pytest.mark.parametrize(
    ("models", "settings", "message"),
    [
        (["tann"], {}, "there is no model 'tann'"),
        ([], {}, "models is empty"),
        ([TAN()], {}, "estimators need names"),
        ({"x": object()}, {}, "model 'x' is <object object.*an estimator with predict_proba"),
        (["nb"], {"metrics": ["acc"]}, "there is no metric 'acc'; the metrics are accuracy"),
        (["nb"], {"metrics": []}, "metrics is empty"),
        (["nb"], {"folds": 1}, "at least 2 folds"),
        (["nb"], {"folds": "5"}, "folds='5': use a whole number or a splitter"),
        (["nb"], {"folds": 100}, "too few for 100 folds"),
        (["nb"], {"seed": None, "store": "x"}, "seed=None gives other folds every time"),
    ],
)
def test_errors_name_the_cure(rows, models, settings, message):
    with pytest.raises(ValueError, match=message):
        compare(models, *rows, **settings)


# Many data sets


def test_many_data_sets(rows, tmp_path):
    X, y = rows
    parts = {name: (X.iloc[i::3], y.iloc[i::3]) for i, name in enumerate(["one", "two", "three"])}
    steps = []
    settings = {"folds": 2, "metrics": ["log_loss"], "store": tmp_path / "runs"}
    found = compare_many(["nb", "tan", "aode"], parts, **settings, watch=steps.append)
    alone = compare(["nb", "tan", "aode"], *parts["two"], folds=2, metrics=["log_loss"])
    assert found.parts["two"].mean("log_loss") == alone.mean("log_loss")
    assert found.means("log_loss")["tan"][1] == alone.mean("log_loss")["tan"]
    verdict = found.friedman("log_loss")
    ranks = [part.ranks("log_loss") for part in found.parts.values()]
    assert verdict.ranks == {m: pytest.approx(np.mean([r[m] for r in ranks])) for m in found.models}
    assert verdict.n == 3
    assert found.nemenyi("log_loss").critical == pytest.approx(2.344 * math.sqrt(12 / 18), abs=1e-3)
    table = found.table("log_loss")
    assert [row["data"] for row in table] == ["one", "two", "three", "mean rank"]
    assert table[-1]["nb"] == verdict.ranks["nb"]
    assert json.loads(found.to_json())["friedman"]["log_loss"]["n"] == 3
    assert {step.data for step in steps} == set(parts)
    assert sorted(p.name for p in (tmp_path / "runs").iterdir()) == [
        f"{name}.jsonl" for name in ("one", "three", "two")
    ]
    again = compare_many(["nb", "tan", "aode"], parts, **settings)
    assert all(part.resumed == 6 for part in again.parts.values())
    with pytest.raises(ValueError, match="'a/b': its results need a file"):
        compare_many(["nb"], {"a/b": parts["one"]}, folds=2, store=tmp_path)


def test_many_needs_the_same_models(found):
    other = compare(["nb"], [[0], [1]] * 4, [0, 1] * 4, folds=2)
    with pytest.raises(ValueError, match="2 data sets with 2 different lists of models"):
        Comparisons({"a": found, "b": other})
    with pytest.raises(ValueError, match="at least one data set"):
        Comparisons({})


# Stores


def test_a_store_saves_the_work(rows, found, tmp_path, monkeypatch):
    store, settings = tmp_path / "runs.jsonl", {"folds": 4, "seed": 5}
    first = compare(["nb", "tan"], *rows, **settings, store=store)
    assert first.resumed == 0
    steps = []
    more = {**settings, "repeats": 2, "store": store, "watch": steps.append, "n_jobs": 2}
    second = compare(["nb", "tan", "aode"], *rows, **more, metrics=["f1", "auc"])
    assert second.resumed == 8
    assert sorted(step.done for step in steps) == list(range(9, 25))
    for key in found.models:
        assert np.array_equal(second.scores[key]["auc"], found.scores[key]["auc"])
    monkeypatch.setattr("unnaive.metrics.measure", None)
    for name in ("fit_and_predict", "measure"):
        monkeypatch.setitem(compare.__globals__, name, None)
    third = compare(["nb", "tan", "aode"], *rows, **more)
    assert third.resumed == 24
    assert third.fit_seconds["nb"].tolist() == second.fit_seconds["nb"].tolist()


def test_other_parameters_are_another_model(rows, tmp_path):
    store = tmp_path / "runs.jsonl"
    laplace = compare({"m": "nb"}, *rows, folds=3, store=store)
    changed = compare({"m": NaiveBayes(smoothing="laplace:50")}, *rows, folds=3, store=store)
    threads = compare({"m": NaiveBayes(n_jobs=2)}, *rows, folds=3, store=store)
    assert (changed.resumed, threads.resumed) == (0, 3)
    assert changed.mean("log_loss") != laplace.mean("log_loss") == threads.mean("log_loss")


def test_failures_are_tried_again(rows, tmp_path):
    Moody.hated = rows[0]["age"].iloc[next(WekaStratifiedKFold(4).split(*rows))[0][0]]
    settings = {"folds": WekaStratifiedKFold(4), "store": tmp_path / "runs.jsonl"}
    assert len(compare({"m": Moody()}, *rows, **settings).failures) == 1
    Moody.hated = None
    again = compare({"m": Moody()}, *rows, **settings)
    assert (again.failures, again.resumed) == ((), 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "was started with seed=0, now 1; name another file"),
        ({"folds": 4}, "folds=3, now 4"),
        ({"folds": WekaStratifiedKFold(3)}, r"folds=3, now 'WekaStratifiedKFold"),
        ({"sample_weight": np.ones(120)}, "data='"),
        ({"X": [[0]] * 120}, "data='"),
    ],
)
def test_other_settings_are_refused(rows, tmp_path, change, message):
    given = {"X": rows[0], "y": rows[1], "folds": 3, "store": tmp_path / "runs.jsonl"}
    compare(["nb"], **given)
    before = given["store"].read_bytes()
    with pytest.raises(ValueError, match=message):
        compare(["nb"], **{**given, **change})
    assert given["store"].read_bytes() == before


def test_another_version_is_refused(tmp_path, monkeypatch):
    Runs(tmp_path / "r", {})
    monkeypatch.setattr("unnaive.evaluate.runs.__version__", "99")
    with pytest.raises(ValueError, match=f"unnaive='{unnaive.__version__}', now '99'"):
        Runs(tmp_path / "r", {})


def test_results_come_back_as_plain_values(tmp_path):
    result = {"a": (1, 2.5), "b": np.array([1.0, np.nan]), "c": None, "d": "é\n", "e": -math.inf}
    runs = Runs(tmp_path / "r", {"x": math.nan})
    runs.put("k", result)
    for one in (runs, Runs(tmp_path / "r", {"x": math.nan})):
        back = one.get("k")
        assert (back["a"], back["c"], back["d"], back["e"]) == ([1, 2.5], None, "é\n", -math.inf)
        assert math.isnan(back["b"][1])
        assert ("k" in one, "l" in one, len(one), list(one)) == (True, False, 1, ["k"])
        assert one.get("l", 7) == 7
    with pytest.raises(TypeError, match=r"the result of 'k' cannot be saved: .*use numbers"):
        runs.put("k", object())
    runs.put("k", 2)
    assert Runs(tmp_path / "r", {"x": math.nan}).get("k") == 2


def test_a_file_cut_off_anywhere_loses_one_unit_at_most(tmp_path):
    path = tmp_path / "r"
    runs = Runs(path, {"seed": 1})
    ends = [len(path.read_bytes())]
    for number in range(3):
        runs.put(f"unit {number}", {"value": number})
        ends.append(len(path.read_bytes()))
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        runs = Runs(path, {"seed": 1})
        complete = sum(cut >= end - 1 for end in ends[1:])  # all but the newline is enough
        assert len(runs) == complete, cut
        runs.put("next", 9)
        again = Runs(path, {"seed": 1})
        assert list(again) == [*(f"unit {i}" for i in range(complete)), "next"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "was not written by unnaive"),
        ("a,b", "was not written by unnaive"),
        ("[1]\n", "was not written by unnaive"),
        ('{"runs": 2, "settings": {}}\n', "has format 2; update"),
        ("HEADER\nrubbish\n", "line 2: not a result; delete the line"),
        ('HEADER\n{"key": 1}\n', "line 2: not a result"),
    ],
)
def test_files_that_are_not_ours_are_left_alone(tmp_path, content, message):
    path = tmp_path / "r"
    Runs(path, {})
    content = content.replace("HEADER", path.read_text().strip())
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        Runs(path, {})
    assert path.read_text() == content
    with pytest.raises(ValueError, match="is a folder"):
        Runs(tmp_path, {})


@pytest.mark.long
def test_a_killed_process_goes_on(tmp_path):
    code = (
        "import sys, time; from unnaive.evaluate import Runs\n"
        "runs = Runs(sys.argv[1], {})\n"
        "for i in range(10**6): runs.put(str(i), i); print(i, flush=True); time.sleep(0.01)"
    )
    path = tmp_path / "r"
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in range(5):
            process.stdout.readline()
        time.sleep(0.02)
        process.kill()
        done = 5 + len(process.stdout.read().split())
    assert len(Runs(path, {})) in {done, done + 1}


def test_the_same_rows_have_the_same_hash(table):
    X, y = table.drop(columns="y"), table["y"]
    known = hash_rows(prepare_rows(X, y))
    polars = pytest.importorskip("polars")
    assert hash_rows(prepare_rows(polars.from_pandas(X), y.tolist())) == known
    assert hash_rows(prepare_rows(X, y, np.ones(120))) != known
    assert hash_rows(prepare_rows(X[["left", "age", "right"]], y)) != known
    assert hash_rows(prepare_rows(X.assign(left=X["left"].iloc[::-1].to_numpy()), y)) != known
    assert hash_rows(prepare_rows(X, y.astype("category"))) != known
