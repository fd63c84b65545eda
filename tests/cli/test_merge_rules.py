"""``unnaive merge --rules --grow``: sites that wrote their schemas themselves."""

import json

import pytest

import unnaive
from commands import fails, run
from unnaive.counts import JointCounts, merge
from unnaive.counts.rules import Rules

RULES = {"columns": {"raucht": "smoker"}, "categories": {"smoker": {"J": "yes", "N": "no"}}}


@pytest.fixture
def sites(tmp_path):
    oslo = [{"smoker": "no", "town": "Oslo"}, {"smoker": "yes", "town": "Oslo"}]
    bern = [{"town": "Bern", "raucht": "J"}, {"town": "Bern", "raucht": "N"}]
    unnaive.count(oslo, ["ill", "well"]).save(tmp_path / "oslo.counts")
    unnaive.count(bern, ["ill", "well"]).save(tmp_path / "bern.counts")
    (tmp_path / "rules.json").write_text(json.dumps(RULES))
    return tmp_path


def test_counts_are_brought_together(sites):
    files = [sites / "oslo.counts", sites / "bern.counts"]
    run("merge", *files, "--rules", sites / "rules.json", "--grow", "-o", sites / "all.counts")
    counts = JointCounts.load(sites / "all.counts")
    assert counts == merge(*files, rules=Rules(**RULES), grow=True)
    assert counts.schema.columns[1].categories == ("Bern", "Oslo")
    assert counts.marginal(0).tolist() == [[1, 1], [1, 1]]


def test_what_differs_is_named_and_nothing_is_written(sites):
    files = [sites / "oslo.counts", sites / "bern.counts"]
    message = fails("merge", *files, "-o", sites / "all.counts")
    assert "columns ['smoker', 'town'] here, ['town', 'raucht'] there" in message
    assert "or unnaive merge --rules, --grow" in message
    message = fails("merge", *files, "--rules", sites / "rules.json", "-o", sites / "all.counts")
    assert "column 'town'" in message
    assert "only here: 'Oslo'; only there: 'Bern'" in message
    (sites / "rules.json").write_text(json.dumps({"columns": {"rauch": "smoker"}}))
    message = fails(
        "merge", *files, "--rules", sites / "rules.json", "--grow", "-o", sites / "all.counts"
    )
    assert "columns ['smoker'] are only here, ['raucht'] only there" in message
    assert not (sites / "all.counts").exists()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"classes": {"ill": float("nan")}}, "the target has text such as 'well' beside nan"),
        ({"classes": {"ill": float("nan"), "well": 1}}, "the target has the value nan"),
        ({"categories": {"smoker": {"no": 1}}}, "column 'smoker' has text such as 'yes' beside 1"),
        ({"columns": {"smoker": "y"}}, "two columns of one file are called 'y'"),
        ({"columns": {"smoker": ""}}, "a column has no name"),
    ],
)
def test_names_that_could_not_be_read_again_are_refused(sites, rules, message):
    assert unnaive.count([["a"]], ["ill"]).schema.target == "y"
    (sites / "rules.json").write_text(json.dumps(rules))
    said = fails("merge", sites / "oslo.counts", "--rules", sites / "rules.json", "-o", sites / "a")
    assert message in said
    assert "oslo.counts: by the rules" in said
    assert not (sites / "a").exists()
