"""The JSON document: its schema, the scorer in the documentation, files, the command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import unnaive
from benchmarks.engines import plain_rows
from commands import run
from exports import assert_predictions, fitted
from unnaive import export
from unnaive.exceptions import UnnaiveError

PAGE = Path(__file__).parents[2] / "docs" / "exporting.md"
SHORT, REST = [
    block
    for block in re.findall(
        r"```{code-block} python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    if "Scorer" in block
]


def assert_documented(key):
    """The document is valid, and the scorer of the documentation predicts as Python does."""
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    model, X = fitted(key, seed=1)
    assert_scored(model, X[:40], validator)


def assert_scored(model, X, validator):
    document = json.loads(model.to_json())
    validator(export.json_schema()).validate(document)
    names: dict[str, object] = {}
    exec(SHORT + REST, names)
    scorer = names["Complete"](document)
    rows = [dict(zip(X.columns, row, strict=True)) for row in plain_rows(X)]
    labels, chances = zip(*map(scorer.predict, rows), strict=True)
    assert_predictions(model, X, labels, chances)


@pytest.mark.parametrize("key", ["tan", "aode", "hnb", "gaussian-nb", "full-bayes", "auto"])
def test_the_scorer_of_the_documentation(key):
    assert_documented(key)


def test_contexts_that_did_not_occur_have_the_shares_with_fewer_parents():
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    a, b = random.integers(0, 4, (2, 200))
    b = np.where(a == 3, 0, b)  # so that a = 3, b > 0 are contexts without rows
    c = (a + b + (random.random(200) < 0.2)) % 3
    X = pandas.DataFrame({"a": a, "b": b, "c": c}).astype(str)
    model = unnaive.KDB(k=2, smoothing="hierarchical").fit(X, (a + c) % 2)
    new = pandas.DataFrame({"a": ["3", "3", "3"], "b": ["1", "2", "0"], "c": ["0", "1", "2"]})
    family = next(f for f in model.counts_.families if len(f.columns) == 3)
    assert len(family.contexts) < 16
    assert_scored(model, pandas.concat([new, X[:10]]), validator)


@pytest.mark.parametrize(
    "array", [{"values": "?"}, {"values": "", "places": ""}, {"values": "", "width": 1}, {}]
)
def test_the_schema_refuses_arrays_that_are_none(array):
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(fitted("nb")[0].to_json())
    document["arrays"][0] = array
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(export.json_schema()).validate(document)


@pytest.mark.long
@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_every_model(key):
    assert_documented(key)


def test_the_command(tmp_path):
    model, _ = fitted("nb")
    model.save(tmp_path / "m.unb")
    printed = run("export", tmp_path / "m.unb", "-o", tmp_path / "m.json", "--json").stdout
    assert json.loads(printed)["bytes"] == (tmp_path / "m.json").stat().st_size
    assert (tmp_path / "m.json").read_text(encoding="utf-8") == model.to_json()
    pytest.importorskip("sqlglot")
    run("export", tmp_path / "m.unb", "-o", tmp_path / "m.sql", "--table", "a.b", "--explain", "2")
    assert (tmp_path / "m.sql").read_text() == model.to_sql("a.b", explain=2) + ";\n"
    told = run("export", tmp_path / "m.unb", "-o", tmp_path / "m.xyz", code=2).stderr
    assert "'m.xyz' does not tell the format; add --to json" in " ".join(told.split())
    assert not (tmp_path / "m.xyz").exists()
    for option in (["--explain", "2"], ["--key", "id"], ["--table", "a"], ["--dialect", "spark"]):
        told = run("export", tmp_path / "m.unb", "-o", tmp_path / "n.js", *option, code=1).stderr
        assert f"{option[0]} is for SQL, and n.js is not" in " ".join(told.split())
    assert not list(tmp_path.glob("n.*"))


def test_the_scorer_is_short_and_plain():
    assert sum(bool(line.strip()) for line in SHORT.splitlines()) <= 60
    assert "numpy" not in SHORT + REST


def test_files_of_every_format(tmp_path):
    pytest.importorskip("sqlglot")
    pytest.importorskip("onnx")
    model, _ = fitted("nb")
    for name in ("m.json", "m.js", "m.sql", "m.onnx"):
        export.write(model, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert json.loads((tmp_path / "m.json").read_text())["model"] == "NaiveBayes"
    with pytest.raises(ValueError, match=r"the format of 'm\.txt' is not known"):
        export.write(model, tmp_path / "m.txt")
    with pytest.raises(ValueError, match="contributions are exported as SQL, not as 'onnx'"):
        export.write(model, tmp_path / "n.onnx", explain=1)
    model.set_params(handle_unknown="error")
    with pytest.raises(UnnaiveError, match="handle_unknown"):
        export.write(model, tmp_path / "n.js")
    assert not list(tmp_path.glob("n.*"))


def test_endings_in_capitals(tmp_path):
    export.write(fitted("nb")[0], tmp_path / "m.MJS")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.MJS", "m.d.mts"]


@pytest.mark.parametrize("blocked", ["m.js", "m.d.ts"])
def test_a_module_and_its_types_are_written_together(tmp_path, blocked):
    (tmp_path / blocked).mkdir()
    with pytest.raises(PermissionError):
        export.write(fitted("nb")[0], tmp_path / "m.js")
    assert [path.name for path in tmp_path.iterdir()] == [blocked]
