"""``unnaive predict``: cells, digits, columns that are absent or kept."""

import csv
import json

import unnaive
from commands import HEADER, fails, run, write
from unnaive import ConformalClassifier
from unnaive.cli.rows import match
from unnaive.io.files import read


def test_round_trip(folder, model, tmp_path):
    result = run("predict", model, folder / "new.csv", "--proba", "--precision", 17)
    lines = list(csv.DictReader(result.stdout.splitlines()))
    assert len(lines) == 30
    loaded = unnaive.load(model)
    frame = read(folder / "new.csv")
    order = [frame.names.index(name) for name in loaded.schema_.names]
    matched = type(frame)(loaded.schema_.names, 30, tuple(frame.columns[i] for i in order))
    assert [line["diagnosis"] for line in lines] == loaded.predict(matched).tolist()
    chances = [[float(line["P(ill)"]), float(line["P(well)"])] for line in lines]
    assert chances == loaded.predict_proba(matched).tolist()
    assert "the model does not have them: 'id'" in result.stderr
    assert "'town' has unseen categories, which are treated as missing: 'Paris'" in result.stderr

    out = tmp_path / "out.csv"
    written = run("predict", model, folder / "new.csv", "--proba", "--precision", 17, "-o", out)
    assert written.stdout == ""
    assert "30 rows written to" in written.stderr
    assert out.read_text() == result.stdout


def test_predict_json(data, model):
    found = json.loads(run("predict", model, data, "--proba", "--json").stdout)
    assert found["target"] == "diagnosis"
    assert found["classes"] == ["ill", "well"]
    assert len(found["predicted"]) == len(found["probabilities"]) == 200
    short = json.loads(run("predict", model, data, "--json").stdout)
    assert short["predicted"] == found["predicted"]
    assert "probabilities" not in short


def test_one_row_whose_labels_look_like_numbers(model, tmp_path):
    path = write(tmp_path / "one.csv", HEADER[1:5], [[50, "no", 2, "Oslo"]])
    word = write(tmp_path / "word.csv", HEADER[1:5], [[50, "no", "2", "Oslo"], ["", "", "x", ""]])
    result = run("predict", model, path, "--proba")
    assert result.stdout.splitlines() == run("predict", model, word, "--proba").stdout.split()[:2]


def test_unknown_values_are_refused_if_so_wished(folder, data, tmp_path):
    path = tmp_path / "m.unb"
    options = ["-t", "diagnosis", "--ignore", "id", "--set", "handle_unknown=error"]
    run("fit", data, *options, "-o", path)
    result = run("predict", path, folder / "new.csv", code=1)
    assert "treated as missing" not in result.stderr
    assert "column 'town' has value 'Paris' not seen in fit" in result.stderr


def test_columns_that_are_not_there_are_missing(model, tmp_path):
    header, cells = ["age", "town", "smoker", "stage"], [50, "Oslo", "", ""]
    short = write(tmp_path / "short.csv", header[:2], [cells[:2]])
    whole = write(tmp_path / "whole.csv", header, [cells, [60, "Bern", "no", 2]])
    result = run("predict", model, short, "--proba")
    missing = "columns not in short.csv, treated as missing in every row: 'smoker', 'stage'"
    assert result.stderr == f"note: {missing}\n"
    expected = run("predict", model, whole, "--proba").stdout.splitlines()[:2]
    assert result.stdout.splitlines() == expected
    assert f"note: {missing}" in run("explain", model, short).stderr
    other = write(tmp_path / "other.csv", ["a", "b"], [[1, 2]])
    assert "other.csv has no column 'age', which the model needs" in fails("predict", model, other)


def test_predict_keeps_columns(model, tmp_path):
    rows = [["007", 50, "Oslo", "a,b"], ["008", "", "Bern", ""]]
    path = write(tmp_path / "d.csv", ["id", "age", "town", "note"], rows)
    shown = run("predict", model, path, "--keep", "id,age", "--keep", "note").stdout
    lines = list(csv.reader(shown.splitlines()))
    assert lines[0] == ["id", "age", "note", "diagnosis"]
    assert [line[:3] for line in lines[1:]] == [["007", "50", "a,b"], ["008", "", ""]]
    found = json.loads(run("predict", model, path, "--keep", "id", "--json").stdout)
    assert found["kept"] == {"id": ["007", "008"]}
    assert "no column 'idd'; did you mean 'id'?" in fails("predict", model, path, "--keep", "idd")


def test_the_kept_target_is_not_overwritten(model, data):
    header = run("predict", model, data, "--keep", "diagnosis").stdout.splitlines()[0]
    assert header == "diagnosis,predicted diagnosis"


def test_digits_of_probabilities(model, data):
    exact = run("predict", model, data, "--proba", "--precision", 17).stdout.splitlines()[1:]
    for digits, options in [(6, []), (2, ["--precision", 2])]:
        lines = run("predict", model, data, "--proba", *options).stdout.splitlines()[1:]
        for line, full in zip(lines, exact, strict=True):
            wanted = [float(f"{float(cell):.{digits}g}") for cell in full.split(",")[1:]]
            assert [float(cell) for cell in line.split(",")[1:]] == wanted
            assert all(
                len(cell.strip("0.").split("e")[0]) <= digits + 1 for cell in line.split(",")[1:]
            )


def test_predict_intervals_and_sets(data, model, tmp_path):
    """Bounds and sets of the command line are those of Python."""
    flags = ("--interval", 0.8, "--prediction-set", 0.9, "--precision", 17)
    lines = list(csv.DictReader(run("predict", model, data, *flags).stdout.splitlines()))
    loaded, frame = unnaive.load(model), read(data)
    matched = match(data, frame, loaded)
    bounds, sets = loaded.predict_interval(matched, 0.8), loaded.predict_set(matched, 0.9)
    labels = [str(label) for label in loaded.classes_]
    for name, bound in (("lower", bounds.lower), ("upper", bounds.upper)):
        found = [[float(line[f"{name}({label})"]) for label in labels] for line in lines]
        assert found == bound.tolist()
    assert [line["set"] for line in lines] == [
        "|".join(map(str, sets.labels(row))) for row in range(len(sets))
    ]
    as_json = json.loads(run("predict", model, data, *flags, "--json").stdout)
    assert as_json["upper"] == bounds.upper.tolist()
    assert [[str(label) for label in one] for one in as_json["sets"]] == [
        [str(label) for label in sets.labels(row)] for row in range(len(sets))
    ]
    conformal = ConformalClassifier(loaded).fit(
        matched, frame.column(frame.names.index("diagnosis"))
    )
    conformal.save(tmp_path / "sets.unb")
    shown = run(
        "predict", tmp_path / "sets.unb", data, "--prediction-set", 0.9
    ).stdout.splitlines()[1:]
    calibrated = conformal.predict_set(matched, 0.9)
    assert [line[1] for line in csv.reader(shown)] == [
        "|".join(map(str, calibrated.labels(row))) for row in range(len(calibrated))
    ]


def test_fit_calibrates_sets(data, tmp_path):
    """A model with prediction sets is fitted, explained and read by the other commands."""
    path = tmp_path / "with.unb"
    fitted = ("fit", data, "-t", "diagnosis", "-m", "nb", "-o", path, "--prediction-sets")
    run(*fitted)
    loaded = unnaive.load(path)
    assert isinstance(loaded, ConformalClassifier)
    shown = run("explain", path, data).stdout
    assert "how sure: " in shown
    assert "\nrows behind the terms\n  " in shown
    told = json.loads(run("explain", path, data, "--json").stdout)["rows"][0]["certainty"]
    assert len(told["lower"]) == len(loaded.classes_)
