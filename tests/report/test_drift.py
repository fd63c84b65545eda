"""The section on drift: rows of the report against counts of earlier rows."""

import numpy as np
import pandas as pd
import pytest

import unnaive
from commands import run
from unnaive.evaluate import drift
from unnaive.exceptions import SchemaMismatch
from unnaive.report.html import render


def wards(n, seed, share=0.2):
    """Patients of a month; more and more of them smoke."""
    chance = np.random.default_rng(seed)
    ill = chance.random(n) < 0.4
    smoker = np.where(chance.random(n) < share + 0.3 * ill, "<b>yes</b>", "no")
    age = chance.normal(50 + 10 * ill, 9).round(1)
    return pd.DataFrame({"age": age, "smoker": smoker, "ill": np.where(ill, "yes", "no")})


@pytest.fixture(scope="module")
def case():
    old, new = wards(900, 0), wards(700, 1, 0.5)
    model = unnaive.TAN().fit(old[["age", "smoker"]], old["ill"])
    return model, old, new[["age", "smoker"]], new["ill"]


def test_the_section_has_what_drift_finds(case):
    model, _, X, y = case
    old = model.counts_
    summary = model.report(X, y, folds=None, drift=old).summary
    new = unnaive.count(X, y, schema=old.schema)
    found = drift(old, new, model=unnaive.TAN())
    section = summary["drift"]
    assert section["alarms"] == len(found.alarms) > 0
    assert [tuple(one["columns"]) for one in section["changes"] if one["alarm"]] == [
        change.names for change in found.alarms
    ]
    assert section["cost"] == {"old": found.cost[0], "chance": found.cost[1]}
    assert "between 900 earlier rows and the 700 rows of this report" in section["sentence"]
    assert "probability of any false alarm is 5.0\xa0%" in section["sentence"]


def test_the_page_shows_it_as_text(case):
    model, _, X, y = case
    report = model.report(X, y, folds=None, drift=model.counts_)
    page, text = report.html(), report.markdown()
    assert '<li><a href="#drift">Drift</a></li>' in page
    section = page.split('<section id="drift"')[1].split("</section>")[0]
    assert "values by class" in section
    assert "&lt;b&gt;yes&lt;/b&gt;" in section
    assert "<b>yes" not in section
    assert "## Drift" in text
    assert "| smoker | values by class |" in text


def test_without_drift_there_is_no_alarm_and_without_counts_no_section(case):
    model, old, _, _ = case
    more = wards(800, 5)
    report = model.report(more[["age", "smoker"]], more["ill"], folds=None, drift=model.counts_)
    assert report.summary["drift"]["alarms"] == 0
    assert "Nothing differs beyond chance" in report.html()
    assert "comparisons within chance" in report.html()
    plain = model.report(old[["age", "smoker"]], old["ill"], folds=2)
    assert plain.summary["drift"] is None
    assert 'id="drift"' not in render(plain.summary)
    assert "## Drift" not in plain.markdown()


@pytest.mark.parametrize("key", ["gaussian-nb", "wanbia"])
def test_models_that_need_rows_have_no_cost(case, key):
    model, old, X, y = case
    other = unnaive.make(key).fit(old[["age", "smoker"]], old["ill"])
    section = other.report(X, y, folds=None, drift=model.counts_).summary["drift"]
    assert section["cost"] is None
    assert section["alarms"] > 0


def test_counts_of_other_columns_are_refused(case):
    model, old, X, y = case
    other = unnaive.count(old.rename(columns={"age": "years"}), "ill")
    with pytest.raises(SchemaMismatch, match="have column 'years', which these rows lack"):
        model.report(X, y, folds=None, drift=other)
    with pytest.raises(TypeError, match="drift= takes JointCounts of earlier rows, not str"):
        model.report(X, y, folds=None, drift="old.counts")


def test_columns_may_be_in_another_order(case):
    model, old, X, y = case
    turned = unnaive.count(old[["smoker", "age", "ill"]], "ill")
    section = model.report(X, y, folds=None, drift=turned).summary["drift"]
    assert section["alarms"] > 0


def test_the_command_line(case, tmp_path):
    model, _, X, y = case
    model.save(tmp_path / "model.unb")
    model.counts_.save(tmp_path / "old.counts")
    X.assign(ill=y).to_csv(tmp_path / "later.csv", index=False)
    files = [tmp_path / "model.unb", tmp_path / "later.csv", "--new-rows"]
    run("report", *files, "--drift", tmp_path / "old.counts", "-o", tmp_path / "page.html")
    assert 'id="drift"' in (tmp_path / "page.html").read_text()
