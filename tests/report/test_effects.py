"""Effects, nomograms, thresholds, warnings and Markdown: what they say is what the model does."""

import re

import numpy as np
import pandas as pd
import pytest

import unnaive
from tests.report.test_report import HOSTILE, IMAGE, mixed
from unnaive import report
from unnaive.evaluate import cross_validate
from unnaive.explain.order import shown_order
from unnaive.report.effect_charts import compact, draw_nomogram

ADDS_UP = {"nb", "wanbia", "gaussian-nb", "iterative", "ienb", "apnbc"}
DOES_NOT = {"tan", "aode", "hnb", "kdb", "auto"}


@pytest.fixture(scope="module")
def patients():
    X, y = mixed(240)
    X["stage"] = X["stage"].astype(float)
    return X, y


def log_odds(model, X):
    chances = model.predict_proba(X)
    return np.log(chances[:, 1] / chances[:, 0])


@pytest.mark.parametrize("key", sorted(ADDS_UP | DOES_NOT))
def test_a_nomogram_is_there_where_the_model_adds_up(key, patients):
    X, y = patients
    model = unnaive.make(key).fit(X, y)
    effects = report.summarise(model, X, y, folds=None, errors=0)["effects"]
    assert bool(effects["nomograms"]) == (key in ADDS_UP)
    if key in DOES_NOT:
        assert "There is no nomogram for this model" in effects["note"]


@pytest.mark.parametrize("key", ["nb", "wanbia", "ienb"])
def test_points_of_a_nomogram_sum_to_the_log_odds(key, patients):
    X, y = patients
    model = unnaive.make(key).fit(X, y)
    (nomogram,) = report.summarise(model, X, y, folds=None, errors=0)["effects"]["nomograms"]
    assert (nomogram["positive"], nomogram["against"]) == ("well", "")
    np.testing.assert_allclose(added_up(nomogram, model, X), log_odds(model, X), atol=1e-9)


def added_up(nomogram, model, X):
    """Log-odds of rows by hand: the base, and one number for each value."""
    total = np.full(len(X), nomogram["base"])
    codes = model.schema_.encode(model.known_frame(X))
    for column in nomogram["columns"]:
        effects = np.array([*(value["effect"] for value in column["values"]), 0.0])
        total += effects[codes[column["column"]]]
    return total


@pytest.mark.parametrize("key", ["nb", "wanbia"])
def test_nomograms_of_several_classes_give_their_probabilities(key, patients, tmp_path):
    X, y = patients
    y = y.where(np.arange(len(y)) % 4 > 0, "doubt")
    model = unnaive.make(key).fit(X, y)
    summary = report.write(model, X, y, tmp_path / "report.html", folds=2)
    nomograms = summary["effects"]["nomograms"]
    reference = y.value_counts().index[0]
    assert {one["against"] for one in nomograms} == {reference}
    odds = {reference: np.ones(len(X))}
    odds |= {one["positive"]: np.exp(added_up(one, model, X)) for one in nomograms}
    by_hand = np.stack([odds[label] for label in model.classes_], axis=1)
    by_hand /= by_hand.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(by_hand, model.predict_proba(X), atol=1e-9)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count('class="nomogram"') == 2
    assert ">1:1</text>" in page


def test_many_classes_have_few_nomograms():
    X = pd.DataFrame({"a": list("uvw") * 40, "b": np.arange(120) % 7})
    y = np.arange(120) % 9
    found = report.summarise(unnaive.NaiveBayes().fit(X, y), X, y, folds=None, errors=0)
    assert len(found["effects"]["nomograms"]) == 6


def test_scales_of_a_nomogram_agree():
    columns = [
        {"name": "a", "values": [{"label": "u", "effect": -1.0}, {"label": "v", "effect": 3.0}]},
        {"name": "b", "values": [{"label": "u", "effect": 0.0}, {"label": "v", "effect": 2.0}]},
    ]
    drawn = draw_nomogram({"positive": "ill", "against": "", "base": -0.5, "columns": columns})
    place = {  # of labels that are drawn once
        label: float(x)
        for x, label in re.findall(r'<text x="([\d.]+)"[^>]*class="tick">([^<]+)</text>', drawn)
    }
    # 25 points are 1 in log-odds; 0 points are -1.5, so 50 % is at 37.5 points
    per_point = (place["140"] - place["40"]) / 100
    half = place["50\N{NO-BREAK SPACE}%"]
    assert half == pytest.approx(place["40"] - 2.5 * per_point, abs=0.05)


def test_curves_count_all_rows_and_are_means_of_contributions(patients):
    X, y = patients
    model = unnaive.TAN().fit(X, y)
    curves = report.summarise(model, X, y, folds=None, errors=0)["effects"]["curves"]
    smoker = next(curve for curve in curves if curve["name"] == "smoker")
    odds = model.explain(X).log_odds("well")
    for value in smoker["values"]:
        rows = (X["smoker"] == value["label"]).to_numpy()
        assert value["rows"] == rows.sum()
        assert value["effect"] == pytest.approx(odds.contributions[rows, 1].mean())
        assert value["low"] <= value["effect"] <= value["high"]


def test_thresholds_count_rows(patients):
    X, y = patients
    found = report.summarise(unnaive.TAN().fit(X, y), X, y, folds=3, seed=1)["performance"]
    chances = cross_validate(unnaive.TAN(), X, y, folds=3, random_state=1).probabilities[0, :, 1]
    well, cut = (y == "well").to_numpy(), found["thresholds"]
    for at in (0, 17, 50, 93, 100):
        assert cut["true_positives"][at] == (well & (chances >= at / 100)).sum()
        assert cut["false_positives"][at] == (~well & (chances >= at / 100)).sum()
    assert (cut["positives"], cut["negatives"]) == (well.sum(), (~well).sum())


# What the headline says


def test_probabilities_worse_than_the_class_shares_are_named():
    random = np.random.default_rng(1)
    X = pd.DataFrame(random.integers(0, 2, (120, 1)).repeat(12, axis=1).astype(str))
    X.columns = [f"c{i}" for i in range(12)]
    y = np.where(random.random(120) < 0.5, "a", "b")
    found = report.summarise(unnaive.NaiveBayes().fit(X, y), X, y, folds=4)
    scores = {score["name"]: score for score in found["performance"]["scores"]}
    assert scores["log_loss"]["value"] > scores["log_loss"]["baseline"]
    assert "The probabilities are worse than the class shares" in found["warnings"][0]
    assert f"{scores['log_loss']['value']:.2f}" in found["warnings"][0]


def test_scores_near_one_hundred_percent_are_suspicious(patients):
    X, y = patients
    leaking = X.assign(icd=np.where(y == "ill", "J18", "Z00"))
    found = report.summarise(unnaive.NaiveBayes().fit(leaking, y), leaking, y, folds=3)
    (warning,) = found["warnings"]
    assert "leakage" in warning
    assert "icd" in warning
    assert report.summarise(unnaive.NaiveBayes().fit(X, y), X, y, folds=3)["warnings"] == []


def test_the_starting_probability_is_told_apart_from_the_share(patients, tmp_path):
    X, y = patients
    weights = np.where(y == "ill", 4.0, 1.0)
    model = unnaive.NaiveBayes().fit(X, y, sample_weight=weights)
    classes = report.write(model, X, y, tmp_path / "r.html", folds=None)["data"]["classes"]
    shares = [entry["share"] for entry in classes]
    start = model.predict_proba(pd.DataFrame({name: [None] for name in X}))[0]
    assert [entry["start"] for entry in classes] == pytest.approx(start.tolist())
    assert shares == pytest.approx([(y == "ill").mean(), (y == "well").mean()])
    assert abs(start[0] - shares[0]) > 0.1
    report.write(model, X, y, tmp_path / "r.html", folds=2)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "It differs from the shares if" in page
    assert "was fitted to other rows or with weights" in page


# Order and words


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (["1", "10", "2"], ["1", "2", "10"]),
        (["low", "medium", "high"], ["low", "medium", "high"]),
        (["a", "b", "c"], ["a", "b", "c"]),
        (["10-20", "5-9", "<5", ">20"], ["<5", "5-9", "10-20", ">20"]),
    ],
)
def test_categories_are_in_order(labels, wanted):
    ordered = [labels[place] for place in shown_order(labels)]
    assert sorted(ordered) == sorted(labels)
    assert ordered == wanted


def test_bins_are_short():
    assert compact("(0.000012345, 12345.678]") == "1.234e-05\N{EN DASH}1.235e+04"
    assert compact("≤ 52.49999") == "≤ 52.5"
    assert compact("> old") == "> old"


# Markdown and notebooks


def test_markdown_says_what_the_page_says(patients, tmp_path):
    X, y = patients
    model = unnaive.NaiveBayes().fit(X, y)
    summary = report.write(model, X, y, tmp_path / "report.md", folds=3)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# NaiveBayes model of diagnosis\n")
    assert summary["lead"] in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|"), line
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1, table[0]
    confusion = summary["performance"]["confusion"]
    assert f"| ill | {confusion[0][0]} | {confusion[0][1]} |" in text


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_markdown_of_hostile_data(name):
    X, y = HOSTILE[name]
    text = unnaive.NaiveBayes().fit(X, y).report(X, y, folds=2).markdown()
    assert text.startswith("# NaiveBayes model of ")
    assert IMAGE not in text
    assert "<script" not in text


def test_a_report_in_a_notebook(patients):
    X, y = patients
    found = unnaive.NaiveBayes().fit(X, y).report(X, y, folds=3)
    assert repr(found).startswith("Report('NaiveBayes model of diagnosis', accuracy ")
    shown = found._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown
