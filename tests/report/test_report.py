"""The report: what it says is true, whatever the data; what the page holds is safe."""

import hashlib
import json
import math
import re
import sys
from base64 import b64encode
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_curve

import unnaive
from unnaive import report
from unnaive.datasets import load_wdbc
from unnaive.evaluate import cross_validate
from unnaive.exceptions import SchemaMismatch
from unnaive.io.frames import to_frame
from unnaive.models.sets import Scored, p_values_of, scores_of, sets_of
from unnaive.report import budget, performance
from unnaive.report.certainty import least_probability
from unnaive.report.drawing import draw_structure
from unnaive.report.html import _environment
from unnaive.report.rows import report_rows
from unnaive.report.writing import waterfall


def mixed(n=240, seed=3):
    """Numbers, labels, gaps, and a class that two columns tell together."""
    random = np.random.default_rng(seed)
    ill = random.random(n) < 0.4
    X = pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.1, np.nan, random.normal(50 + 12 * ill, 10)),
            "smoker": random.choice(["no", "ex", "yes"], n),
            "cough": np.where(ill ^ (random.random(n) < 0.25), "yes", "no"),
            "stage": random.integers(1, 4, n),
        }
    )
    X.loc[random.random(n) < 0.15, "smoker"] = None
    return X, pd.Series(np.where(ill, "ill", "well"), name="diagnosis")


@pytest.fixture(scope="module")
def patients():
    return mixed()


@pytest.fixture(scope="module")
def fitted(patients):
    return unnaive.TAN().fit(*patients)


@pytest.fixture(scope="module")
def found(fitted, patients):
    return report.summarise(fitted, *patients, folds=5, seed=7, name="patients.csv")


# What it says


def test_scores_are_those_of_the_cross_validation(found, fitted, patients):
    pooled = cross_validate(fitted, *patients, folds=5, random_state=7).pooled
    scores = {score["name"]: score for score in found["performance"]["scores"]}
    for name in ("accuracy", "log_loss", "brier", "auc"):
        assert scores[name]["value"] == pytest.approx(getattr(pooled, name), abs=1e-12)
        low, high = scores[name]["interval"]
        assert low < scores[name]["value"] < high
    assert found["performance"]["confusion"] == pooled.confusion.tolist()
    recalls = [entry["recall"] for entry in found["performance"]["classes"]]
    assert recalls == pytest.approx(pooled.recall.tolist())
    shares = [entry["share"] for entry in found["data"]["classes"]]
    assert scores["accuracy"]["baseline"] == max(shares)
    assert scores["log_loss"]["baseline"] == pytest.approx(
        -sum(share * math.log(share) for share in shares)
    )


@pytest.mark.parametrize(("count", "n"), [(0, 7), (7, 7), (3, 10), (940, 1000)])
def test_wilson(count, n):
    wanted = binomtest(count, n).proportion_ci(0.95, method="wilson")
    assert performance.wilson(count, n) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def naive_auc_interval(scores, positive):
    """DeLong's variance, pair by pair of rows, on the scale of the logit."""
    high, low = scores[positive], scores[~positive]
    wins = (high[:, None] > low) + (high[:, None] == low) / 2
    area = wins.mean()
    variance = ((wins.mean(axis=1) - area) ** 2).sum() / len(high) ** 2
    variance += ((wins.mean(axis=0) - area) ** 2).sum() / len(low) ** 2
    half = performance.Z * math.sqrt(variance) / (area * (1 - area))
    centre = math.log(area / (1 - area))
    return [1 / (1 + math.exp(-end)) for end in (centre - half, centre + half)]


def test_interval_of_the_area():
    random = np.random.default_rng(1)
    actual = random.integers(0, 2, 90)
    last = np.round(np.clip(actual * 0.2 + random.random(90), 0, 1), 1)  # with ties
    chances = np.stack([1 - last, last], axis=1)
    wanted = naive_auc_interval(last, actual == 1)
    assert performance.auc_interval(chances, actual) == pytest.approx(wanted)
    assert performance.auc_interval(chances, np.zeros(90, dtype=int)) is None
    perfect = np.stack([1 - actual, actual], axis=1).astype(float)
    assert performance.auc_interval(perfect, actual) is None


@pytest.mark.long
def test_interval_of_the_mean_area_of_three_classes_by_the_bootstrap():
    random = np.random.default_rng(2)
    actual = random.integers(0, 3, 400)
    chances = random.dirichlet([1, 1, 1], 400) + 0.5 * np.eye(3)[actual]
    chances /= chances.sum(axis=1, keepdims=True)
    again = []
    for _ in range(300):
        rows = random.integers(0, 400, 400)
        again.append(performance.measure(chances[rows], actual[rows], "abc").auc)
    low, high = performance.auc_interval(chances, actual)
    assert high - low == pytest.approx(2 * performance.Z * np.std(again), rel=0.2)


def test_calibration_and_roc_by_hand(found, fitted, patients):
    chances = cross_validate(fitted, *patients, folds=5, random_state=7).probabilities[0, :, 1]
    well = (patients[1] == "well").to_numpy()
    calibration = found["performance"]["calibration"]
    assert calibration["of"] == "well"
    assert sum(entry["rows"] for entry in calibration["bins"]) == len(well)
    inside = (chances >= 0.8) & (chances < 0.9)
    ninth = calibration["bins"][8]
    assert ninth["rows"] == inside.sum()
    assert ninth["observed"] == pytest.approx(well[inside].mean())
    assert ninth["predicted"] == pytest.approx(chances[inside].mean())
    roc = found["performance"]["roc"]
    alarms, hits, _ = roc_curve(well, chances, drop_intermediate=False)
    known = {(round(x, 12), round(y, 12)) for x, y in zip(alarms, hits, strict=True)}
    assert {(round(x, 12), round(y, 12)) for x, y in roc["points"]} <= known
    assert (roc["points"][0], roc["points"][-1]) == ([0.0, 0.0], [1.0, 1.0])
    decided = chances > 0.5
    assert roc["decision"] == pytest.approx([decided[~well].mean(), decided[well].mean()])


def test_errors_are_the_worst_rows_with_their_reasons(found, fitted, patients):
    X, y = patients
    chances = cross_validate(fitted, X, y, folds=5, random_state=7).probabilities[0]
    own = chances[np.arange(len(y)), (y == "well").astype(int)]
    wrong = np.flatnonzero(own < 0.5)
    errors = found["errors"]
    assert errors["wrong"] == len(wrong)
    worst = sorted(wrong.tolist(), key=lambda row: own[row])[:10]
    assert [row["row"] for row in errors["rows"]] == worst
    for row in errors["rows"]:
        assert row["actual"] == y[row["row"]] != row["predicted"]
        told = row["base"] + row["rest"] + sum(part["contribution"] for part in row["reasons"])
        answer = fitted.predict_proba(X.iloc[[row["row"]]])[0]
        chance = answer[["ill", "well"].index(row["predicted"])]
        assert told == pytest.approx(math.log(chance / (1 - chance)), abs=1e-9)
        steps = waterfall(row)
        assert steps[-1]["log_odds"] == pytest.approx(row["log_odds"])
        assert all(0 <= step["low"] <= 1 and 0 <= step["high"] <= 1 for step in steps)


def test_a_bias_moves_the_decisions(patients):
    model = unnaive.NaiveBayes(threshold_bias={"ill": 0.3}).fit(*patients)
    biased = report.summarise(model, *patients, folds=None)["performance"]
    plain = report.summarise(model.set_params(threshold_bias=None), *patients, folds=None)
    assert biased["classes"][0]["predicted"] > plain["performance"]["classes"][0]["predicted"]
    assert biased["scores"][1] == plain["performance"]["scores"][1]


def test_new_rows_are_judged_by_the_model_itself(fitted):
    X, y = mixed(80, seed=11)
    found = report.summarise(fitted, X, y, folds=None)
    assert found["performance"]["protocol"]["kind"] == "new rows"
    wanted = pd.crosstab(y, fitted.predict(X)).to_numpy().tolist()
    assert found["performance"]["confusion"] == wanted


def test_columns_are_counted_by_class(found, patients):
    X, y = patients
    age, smoker, _, stage = found["data"]["columns"]
    counts = pd.crosstab(X["smoker"], y)
    assert [value["label"] for value in smoker["values"]] == list(counts.index)
    assert [value["by_class"] for value in smoker["values"]] == counts.to_numpy().tolist()
    assert smoker["missing"] == X["smoker"].isna().sum()
    assert age["kind"] == "bins"
    assert age["quartiles"] == pytest.approx(X["age"].quantile([0, 0.25, 0.5, 0.75, 1]).tolist())
    assert np.sum(age["histogram"]["by_class"]) == X["age"].notna().sum()
    assert (stage["kind"], stage["size"]) == ("categories", 3)
    assert found["data"]["missing_cells"] == X.isna().sum().sum()
    assert found["data"]["complete_rows"] == len(X.dropna())


def test_values_never_seen_are_told_apart_from_gaps(fitted):
    X, y = mixed(50, seed=5)
    X.loc[:9, "smoker"] = "pipe"
    X.loc[10:14, "smoker"] = None
    smoker = report.summarise(fitted, X, y, folds=None)["data"]["columns"][1]
    assert (smoker["unknown"], smoker["missing"]) == (10, X["smoker"].isna().sum())


def test_missing_values_as_a_category(patients):
    X, y = patients
    model = unnaive.NaiveBayes(missing_as_category=True).fit(X, y)
    found = report.summarise(model, X, y, folds=2)
    smoker = next(column for column in found["data"]["columns"] if column["name"] == "smoker")
    gaps = int(X["smoker"].isna().sum())
    assert (smoker["unknown"], smoker["missing"]) == (0, gaps)
    assert smoker["values"][-1]["label"] == "missing"
    assert smoker["values"][-1]["rows"] == gaps > 0
    start = [entry["start"] for entry in found["data"]["classes"]]
    assert start == pytest.approx(np.exp(model.fitted_.prior).tolist(), abs=1e-12)
    (nomogram,) = found["effects"]["nomograms"]
    scales = {column["name"]: column for column in nomogram["columns"]}
    assert scales["smoker"]["missing"]
    odds = model.explain(X[:40]).log_odds(positive=found["effects"]["positive"]).total
    places = list(X.columns)
    codes = model.schema_.encode(to_frame(X[:40]))
    for row in range(40):
        parts = [c["values"][codes[places.index(n), row]]["effect"] for n, c in scales.items()]
        assert nomogram["base"] + sum(parts) == pytest.approx(odds[row], abs=1e-6)


def test_the_same_seed_says_the_same(found, fitted, patients):
    again = report.summarise(fitted, *patients, folds=5, seed=7, name="patients.csv", n_jobs=2)
    ever = {"created": None, "performance": None}
    assert {**again, **ever} == {**found, **ever}
    assert again["performance"]["scores"] == found["performance"]["scores"]


def test_few_rows_of_a_class_make_fewer_folds(patients):
    X, y = patients[0].iloc[:40], patients[1].iloc[:40].copy()
    y.iloc[:3] = "rare"
    found = report.summarise(unnaive.NaiveBayes().fit(X, y), X, y)
    assert found["performance"]["protocol"]["folds"] == 3


def test_rows_are_drawn_with_the_shares_of_the_classes(fitted, patients):
    X, y = patients
    found = report.summarise(fitted, X, y, folds=3, max_rows=60, seed=1)
    rows = [entry["rows"] for entry in found["performance"]["classes"]]
    assert sum(rows) == found["performance"]["rows"] == pytest.approx(60, abs=1)
    assert rows[0] / sum(rows) == pytest.approx((y == "ill").mean(), abs=0.02)
    for row in found["errors"]["rows"]:
        assert row["actual"] == y[row["row"]]
        assert row["cells"][2] == X["cough"][row["row"]]


def test_a_slow_model_is_judged_on_fewer_rows(monkeypatch):
    X, y = mixed(9000)
    model = unnaive.NaiveBayes().fit(X.iloc[:100], y.iloc[:100])
    monkeypatch.setattr(budget, "_seconds", lambda _, rows: 1.0 + len(rows.codes) / 1000)
    rows = report_rows(model, X, y)
    assert budget.affordable(model, rows, 10, 1000.0, 0) == (10, None)
    assert budget.affordable(model, rows, 10, 65.0, 0) == (10, 5000)
    assert budget.affordable(model, rows, 10, 40.0, 0) == (5, 5000)
    assert budget.affordable(model, rows, 3, 10.0, 0) == (3, 2000)
    few = rows.take(np.arange(5000))
    assert budget.affordable(model, few, 10, 1.0, 0) == (10, None)
    found = report.summarise(model, X, y, seconds=40.0, errors=0)["performance"]
    assert (found["protocol"]["folds"], found["rows"]) == (5, 5000)


def test_wrong_settings(fitted, patients):
    with pytest.raises(ValueError, match="folds=1; it must be at least 2"):
        report.summarise(fitted, *patients, folds=1)
    with pytest.raises(ValueError, match="positive='sick' is not a class; the classes are"):
        report.summarise(fitted, *patients, positive="sick")
    with pytest.raises(SchemaMismatch, match="missing: 'age'; pass the columns"):
        report.summarise(fitted, patients[0].drop(columns="age"), patients[1])


# Pictures


ALL_ALIKE = {"aode", "aode-sr", "a2de"}  # every column is a parent of all others, none weighs more


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_every_structure_is_drawn(key):
    data = load_wdbc()
    X = pd.DataFrame(data.X[::3, :9], columns=data.names[:9])
    model = unnaive.make(key).fit(X, data.y[::3])
    found = report.summarise(model, X, data.y[::3], folds=None, errors=0)
    structure = found["structure"]
    json.dumps(found, allow_nan=False)
    owners = [model, *(member.model for member in getattr(model, "members_", ()))]
    assert bool(structure["pictures"]) == (key not in ALL_ALIKE)
    for picture in structure["pictures"]:
        drawn = ET.fromstring(draw_structure(picture, "y"))
        nodes = [node for node in drawn.iter("g") if "node" in node.get("class").split()]
        stories = {node.get("data-column"): node.get("aria-label") for node in nodes}
        assert set(stories) == {str(node["column"]) for node in picture["nodes"]} | {"-1"}
        edges = [edge for edge in drawn.iter("g") if edge.get("class") == "edge"]
        assert len(edges) == len(picture["edges"])
        for edge in picture["edges"]:
            if edge["child"] >= 0 and edge["parent"] >= 0:
                assert X.columns[edge["parent"]] in stories[str(edge["child"])]
        used = {X.columns[node["column"]] for node in picture["nodes"]}
        if len(owners) == 1:
            assert used | set(structure["left_out"]) == set(X.columns)


def test_wider_edges_tell_more(fitted, found):
    (picture,) = found["structure"]["pictures"]
    wanted = {(a, b): nats / math.log(2) for a, b, nats in fitted.structure_.edges}
    names = fitted.schema_.names
    for edge in picture["edges"]:
        pair = names[edge["parent"]], names[edge["child"]]
        assert edge["strength"] == pytest.approx(wanted[pair])
    drawn = ET.fromstring(draw_structure(picture, "y"))
    widths = {
        (int(edge.get("data-parent")), int(edge.get("data-child"))): float(
            edge.find("path").get("stroke-width")
        )
        for edge in drawn.iter("g")
        if edge.get("class") == "edge"
    }
    ranked = sorted(picture["edges"], key=lambda edge: edge["strength"])
    found_widths = [widths[edge["parent"], edge["child"]] for edge in ranked]
    assert found_widths == sorted(found_widths)


def test_deep_trees_are_an_outline_within_the_page():
    nodes = [
        {"column": i, "name": f"column {i}", "information": 0.1, "parents": [], "joined": []}
        for i in range(50)
    ]
    edges = [{"parent": i, "child": i + 1, "strength": 0.5} for i in range(49)]
    chain = {
        "unit": "bits",
        "class_is_above_all": True,
        "nodes": nodes,
        "edges": edges,
        "boxes": [],
    }
    drawn = ET.fromstring(draw_structure(chain, "y"))
    lines = {float(g.find("rect").get("y")) for g in drawn.iter("g") if "node" in g.get("class")}
    assert len(lines) >= 50
    assert float(drawn.get("width")) < 49 * 60


# Hostile data

NASTY = ["</script><script>alert(1)</script>", "\"q\" 'q' & <b>", "{{ 7 * 7 }} 年齢 🩺", "x" * 200]
IMAGE = "<img src=x onerror=alert(1)>"


def hostile():
    """Problems by name: what real files do to programs."""
    random = np.random.default_rng(0)

    def rows(n, d, k):
        X = pd.DataFrame({f"c{i}": random.integers(0, 3, n).astype(str) for i in range(d)})
        return X, pd.Series([f"k{label}" for label in random.integers(0, k, n)], name="y")

    found = {"one class": rows(30, 3, 1), "one column": rows(30, 1, 2), "one row": rows(1, 3, 1)}
    X, y = rows(12, 2, 2)
    found["all missing"] = X.where(X == "never"), y
    X, y = rows(900, 2, 2)
    found["300 categories"] = X.assign(many=[f"v{v}" for v in random.integers(0, 300, 900)]), y
    found["40 classes"] = rows(900, 4, 40)
    X, y = rows(60, 4, 2)
    X.columns = NASTY
    X.iloc[:, 0] = X.iloc[:, 0].map({"0": "</script>", "1": "<!--", "2": "\x00\x1b[31m"})
    found["nasty names"] = X, y.map({"k0": IMAGE, "k1": "\u2028]]>"}).rename("</title>{% x %}")
    X, y = rows(4, 2, 4)
    found["classes of one row"] = X, pd.Series(["a", "b", "c", "d"], name="y")
    X, y = rows(50, 1, 2)
    found["extreme numbers"] = X.assign(big=random.choice([1e308, -1e308], 50), same=5.0), y
    return found


HOSTILE = hostile()


class Reader(HTMLParser):
    """Collects tags, and the contents of scripts and styles, of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.inside, self.open = [], [], None

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.open = (tag, dict(attrs).get("type"))
            self.inside.append((*self.open, ""))

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            tag, kind, text = self.inside.pop()
            self.inside.append((tag, kind, text + data))


def read_page(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def assert_safe(path):
    """Nothing is loaded, nothing but our own scripts may run, and names are text alone."""
    reader = read_page(path)
    policy = next(a["content"] for t, a in reader.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for tag, kind, text in reader.inside:
        if kind == "application/json":
            json.loads(text)
            continue
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy, (tag, text[:50])
    for tag, attributes in reader.tags:
        assert tag not in {"img", "iframe", "object", "b onerror"}
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert "src" not in attributes
        assert re.match("#|data:,$", attributes.get("href", "#")), attributes


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("key", ["tan", "aode", "hnb", "bsej", "gaussian-nb", "full-bayes"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_hostile_data(key, name, tmp_path):
    X, y = HOSTILE[name]
    if key == "gaussian-nb":
        X = X.replace({1e308: 1e150, -1e308: -1e150})  # whose squares are numbers
    if key == "full-bayes":
        noise = np.random.default_rng(1).normal(size=X.shape)
        X = pd.DataFrame(noise, columns=X.columns).where(X.notna())
    model = unnaive.make(key).fit(X, y)
    path = tmp_path / "report.html"
    found = report.write(model, X, y, path, folds=3)
    json.dumps(found, allow_nan=False)
    assert_safe(path)
    text = path.read_text(encoding="utf-8")
    if name == "nasty names":
        assert "&lt;/script&gt;&lt;script&gt;alert(1)" in text
        assert "{{ 7 * 7 }}" in text
        assert IMAGE not in text
        assert "\u2028" not in text.split('id="explorer-data">')[1].split("</script>")[0]
    if name in {"one row", "classes of one row"}:
        assert "every class has a single row" in found["performance"]["error"]
        assert "could not be scored on these rows: every class has a single row" in text


@pytest.mark.long
def test_tables_too_large_for_a_page(fitted, patients, tmp_path):
    path = tmp_path / "report.html"
    found = report.write(fitted, *patients, path, folds=2, max_bytes=100)
    assert found["explorer_note"].startswith("There is no explorer: ")
    assert_safe(path)
    assert "explorer-data" not in path.read_text(encoding="utf-8")


def test_without_jinja(fitted, patients, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    _environment.cache_clear()
    with pytest.raises(ValueError, match=r'pip install "unnaive\[report\]"'):
        report.write(fitted, *patients, tmp_path / "report.html", folds=2)
    assert not list(tmp_path.iterdir())


def test_the_limit_of_sets_is_that_of_p_values():
    random = np.random.default_rng(3)
    for n, coverage in ((5, 0.9), (40, 0.9), (199, 0.8), (300, 0.95)):
        chances = random.dirichlet(np.ones(3), n).round(2)
        codes = random.integers(0, 3, n)
        scores = scores_of(chances, "lac")
        scored = Scored(scores[np.arange(n), codes], codes, np.zeros(n, dtype=np.int64))
        own = np.zeros(n, dtype=np.int64)
        p_values = p_values_of([(scored, scores)], own, np.ones(3), by_class=False)
        expected = sets_of(p_values, np.arange(3), coverage).included
        least = least_probability(chances[np.arange(n), codes], coverage)
        np.testing.assert_array_equal(chances >= least, expected)
