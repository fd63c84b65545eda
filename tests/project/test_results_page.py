"""The results page is what its generator makes of the stored results."""

import json
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from unnaive.exceptions import DataFileError
from unnaive.papers import Line, Reproduction, page

DOCS = Path(__file__).parents[2] / "docs"
LINE = Line(
    table="2",
    data="sick",
    model="HNB",
    metric="accuracy %",
    published=97.79,
    ours=97.1,
    deviation=0.123,
    tolerance=0.5,
    honest=96.0,
    note="a | b",
)
SETTINGS = {"paper": "phnb", "seed": 0, "quick": False, "runs": 3, "honest": True}


def result(*lines, paper="phnb"):
    return Reproduction(paper, f"The {paper} paper", SETTINGS, lines, ("odd | end",), 600.0)


def test_the_page_is_what_is_stored():
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    assert text == page.results_page(DOCS / "results"), f"make it anew: {page.COMMAND}"


def test_nothing_is_stored(tmp_path):
    text = page.results_page(tmp_path / "nowhere")
    assert text == page.results_page(tmp_path)
    for key in page.PAPERS:
        assert f"    unnaive reproduce {key} --honest -o docs/results/{key}.json" in text


def test_some_is_stored(tmp_path):
    lines = LINE, replace(LINE, metric="test time", published=None, ours=0.5), replace(LINE, ours=1)
    (tmp_path / "b.json").write_text(result(*lines).to_json(), encoding="utf-8")
    only = replace(LINE, table="error matrices", honest=None, published=0.97, metric="F1", note="")
    (tmp_path / "a.json").write_text(result(only, paper="knaive").to_json(), encoding="utf-8")
    text = page.results_page(tmp_path)
    assert text.index("## The phnb paper (`phnb`)") < text.index("## The knaive paper")
    assert "Ji, Yu & Zhang: packaged hidden naive Bayes.\n\nThe paper's protocol: missing" in text
    assert "*3 runs, seed 0, with honest figures, 10 minutes of processor time*" in text
    assert "### Table 2\n\nAccuracy %:\n\n| data | model | paper |" in text
    assert "| sick | HNB | 97.79 | 97.10 ± 0.12 | -0.69 | **no** | 96.00 | a \\| b |" in text
    assert "### Error matrices\n\n| data | model | metric | paper | ours | difference |" in text
    assert "- odd \\| end" in text
    assert "unnaive reproduce gnb" in text
    assert "unnaive reproduce phnb --honest" not in text.partition("## Missing")[2]


def test_numbers_of_runs_and_times(tmp_path):
    lines = replace(LINE, runs=3, note=""), replace(LINE, data="nursery", runs=10, note="")
    names, rows = page.layout(lines, page._MARKS)
    assert [row[names.index("runs")] for row in rows] == ["3", "10"]
    assert "runs" not in page.layout(lines[:1], page._MARKS)[0]
    known = replace(result(*lines), seconds=90.0, resumed=7, untimed=5)
    (tmp_path / "a.json").write_text(known.to_json(), encoding="utf-8")
    told = "*3 runs, seed 0, with honest figures, 90 s of processor time; the time of 5 earlier"
    assert f"{told} units is not known*" in page.results_page(tmp_path)


def test_every_paper_has_an_experiment():
    for key, name in page.PAPERS.items():
        module = import_module(f"unnaive.papers.{key}")
        assert getattr(module, name).key == key
        assert page._protocol(key)[0]


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"paper": "phnb", "lines": [{}]}'])
def test_what_is_no_result(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(DataFileError, match=r"x\.json is not a result of unnaive reproduce"):
        page.results_page(tmp_path)


def test_another_paper_is_no_result(tmp_path):
    other = {**result(LINE).to_dict(), "paper": "other"}
    (tmp_path / "x.json").write_text(json.dumps(other))
    with pytest.raises(DataFileError, match="is not a result"):
        page.results_page(tmp_path)


def test_the_command(tmp_path, monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "argv", ["page", str(tmp_path)])
    page.main()
    assert capsysbinary.readouterr().out.decode() == page.results_page(tmp_path)
    monkeypatch.setattr(sys, "argv", ["page", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit, match="name the folder of results"):
        page.main()


@pytest.mark.parametrize(
    ("value", "metric", "text"),
    [
        (None, "accuracy %", ""),
        (5.126, "accuracy %", "5.13"),
        (0.5, "f1", "0.5000"),
        (345, "benign as benign", "345.00"),
        (105300.4, "evaluations", "105,300"),
    ],
)
def test_figures(value, metric, text):
    assert page.figure(value, metric) == text
