"""Mistakes of a first day with the command line, and what its answers say to do."""

import json
from datetime import date, timedelta

import numpy as np
import pytest

import unnaive
from commands import HEADER, fails, patients, run, write
from unnaive.exceptions import DataFileError, WrongKindError
from unnaive.io.files import read
from unnaive.io.reading import Reading
from unnaive.models.intervals import Intervals


@pytest.fixture(scope="module")
def counted(folder):
    """Counts of the rows, made without a schema, and others with another one."""
    path = folder / "own.counts"
    run("count", folder / "patients.csv", "-t", "diagnosis", "--ignore", "id", "-o", path)
    run("count", folder / "patients.csv", "-t", "diagnosis", "-o", folder / "id.counts")
    return path


@pytest.fixture
def three(tmp_path):
    """Rows of three classes, and a model of them."""
    rows = [[*row[:5], ["ill", "unclear", "well"][row[0] % 3]] for row in patients(90, 1)]
    path = write(tmp_path / "three.csv", HEADER, rows)
    run("fit", path, "-t", "diagnosis", "-m", "nb", "-o", tmp_path / "three.unb")
    return path, tmp_path / "three.unb"


def test_different_dates_are_left_out(tmp_path):
    first = date(2023, 1, 1)
    rows = [
        [(first + timedelta(row[0])).strftime("%d.%m.%Y"), *row[1:]] for row in patients(100, 1)
    ]
    path = write(tmp_path / "d.csv", ["admitted", *HEADER[1:]], rows)
    fit = ["fit", path, "-t", "diagnosis", "-m", "tan", "-o", tmp_path / "m.unb", "--json"]
    result = run(*fit)
    assert json.loads(result.stdout)["left_out"] == ["admitted"]
    assert "left out: 'admitted' (dates); to use a column, --keep admitted" in result.stderr
    assert "admitted" not in unnaive.load(tmp_path / "m.unb").schema_.names
    kept = run(*fit, "--keep", "admitted")
    assert json.loads(kept.stdout)["left_out"] == []
    assert "admitted" in unnaive.load(tmp_path / "m.unb").schema_.names


def test_dates_that_are_often_the_same_stay(tmp_path):
    rows = [[f"{1 + row[0] % 4:02}.01.2023", *row[1:]] for row in patients(100, 1)]
    path = write(tmp_path / "d.csv", ["admitted", *HEADER[1:]], rows)
    fit = ["fit", path, "-t", "diagnosis", "-m", "tan", "-o", tmp_path / "m.unb", "--json"]
    assert json.loads(run(*fit).stdout)["left_out"] == []


def test_a_note_about_the_target_says_where_the_cure_is(tmp_path):
    rows = [[row[4], row[0]] for row in patients(60, 1)]
    path = write(tmp_path / "d.csv", ["town", "dose"], rows)
    told = run("fit", path, "-t", "dose", "-m", "nb", "-o", tmp_path / "m.unb").stderr
    assert f"note: what to do about it: unnaive check {path} -t dose" in told


def test_one_row_is_no_rows(tmp_path):
    path = write(tmp_path / "d.csv", HEADER, patients(1, 1))
    told = run("fit", path, "-t", "diagnosis", "-m", "nb", "-o", tmp_path / "m.unb").stderr
    assert "has one class only" in told
    assert "in 1 row\n" in told


def test_another_encoding_than_that_of_the_file(data):
    with pytest.raises(DataFileError, match=r"patients\.csv is not text in utf-16 .*--encoding"):
        read(data, reading=Reading(encoding="utf-16"))


def test_a_model_in_the_place_of_rows_or_counts(folder, model, counted, tmp_path):
    told = fails("fit", model, "-t", "diagnosis", "-o", tmp_path / "m.unb")
    assert "m.unb holds a model, not counts; write a counts file with unnaive count" in told
    assert "m.unb holds a model, not counts" in fails("drift", model, counted)
    told = fails("predict", counted, folder / "new.csv")
    assert "fit a model to it first" in told
    with pytest.raises(WrongKindError, match="fit a model to it first"):
        unnaive.load(counted)


def test_counts_of_another_schema(counted, folder):
    told = fails("drift", counted, folder / "id.counts")
    assert f"{counted} (here) and {folder / 'id.counts'} (there) cannot be compared" in told
    assert "--schema, with the same file for both" in told


@pytest.mark.parametrize("option", ["--interval", "--prediction-set"])
def test_percent_where_a_share_is_meant(option, model, data, tmp_path):
    out = tmp_path / "out.csv"
    result = run("predict", model, data, option, 90, "-o", out, code=2)
    assert f"90 is not between 0 and 1; 90 % is {option} 0.9" in result.stderr
    assert not out.exists()


def test_sets_that_are_not_calibrated(model, data):
    told = run("predict", model, data, "--prediction-set", 0.9).stderr
    assert "sets of m.unb are not calibrated; fit it with --prediction-sets" in told


def test_a_report_is_no_pdf(model, data, tmp_path):
    told = run("report", model, data, "-o", tmp_path / "r.pdf", code=2).stderr
    assert "r.pdf is neither .html nor .md" in told
    assert not (tmp_path / "r.pdf").exists()


def test_columns_that_cannot_change(model, data):
    given = ["explain", model, data, "--row", 1]
    free = run(*given, "--what-if", "--json")
    changed = [
        entry["column"] for entry in json.loads(free.stdout)["rows"][0]["what_if"]["changes"]
    ]
    fixed = run(*given, "--what-if", "--fixed", changed[0], "--json")
    others = json.loads(fixed.stdout)["rows"][0]["what_if"]["changes"]
    assert changed[0] not in [entry["column"] for entry in others]
    assert "it applies to --what-if" in run(*given, "--fixed", changed[0], code=2).stderr
    assert "fixed names 'tow', which is not a column" in fails(
        *given, "--what-if", "--fixed", "tow"
    )


def test_questions_are_about_the_class_that_is_explained(three):
    rows = write(three[0].parent / "new.csv", ["age"], [[20], [45], [80]])
    for row in (1, 2, 3):
        shown = run("explain", three[1], rows, "--row", row, "--ask").stdout
        explained = shown.split("diagnosis = ")[1].split(":")[0]
        assert f"; diagnosis = {explained} would be " in shown.split("what to ask next")[1]
    chosen = run("explain", three[1], rows, "--ask", "--positive", "unclear").stdout
    assert "; diagnosis = unclear would be " in chosen


def test_an_identifier_in_a_schema(tmp_path):
    rows = [[f"P{row[0]}", *row[1:]] for row in patients(60, 1)]
    path = write(tmp_path / "p.csv", HEADER, rows)
    told = run("schema", path, "-t", "diagnosis", "-o", tmp_path / "s.json").stderr
    assert "leave it out with --ignore id: schemas, counts and models list all its labels" in told


def test_three_classes_have_two_areas(three):
    told = run("evaluate", three[0], "-t", "diagnosis", "-m", "nb", "--folds", 3).stderr
    assert "AUC H-T: mean over pairs of classes (Hand and Till)" in told


def test_a_folder_that_is_not_there(model, tmp_path):
    loaded = unnaive.load(model)
    with pytest.raises(OSError, match=r"folder .*none does not exist; create it first"):
        loaded.save(tmp_path / "none" / "m.unb")


def test_files_are_named_by_their_endings_in_the_help_of_compare():
    assert ".xlsx, .jsonl" in " ".join(run("compare", "--help").stdout.split())


def test_rounded_intervals_are_never_certain():
    bounds = np.array([[0.99, 0.01]])
    intervals = Intervals(
        np.array([[0.9, 0.0001]]), bounds, np.array([[0.9999, 0.1]]), np.array(["no", "yes"]), 0.9
    )
    assert intervals.text(0, 0) == "99 % (90 % to > 99 %)"
    assert intervals.text(0, 1) == "1 % (< 1 % to 10 %)"
    flat = Intervals(bounds * 0 + 0.001, bounds * 0 + 0.001, bounds * 0 + 0.001, bounds[0], 0.9)
    assert flat.text(0, 0) == "< 1 % (< 1 %)"


def test_a_column_with_another_spelling(model, data, tmp_path):
    lines = data.read_text().split("\n", 1)
    other = tmp_path / "other.csv"
    other.write_text(lines[0].replace("town", "Town") + "\n" + lines[1])
    told = run("predict", model, other).stderr
    assert "treated as missing in every row: 'town'; if 'Town' is 'town', rename it\n" in told


def test_the_class_of_a_report(three, tmp_path):
    page = tmp_path / "r.html"
    run("report", three[1], three[0], "--folds", 3, "--positive", "ill", "-o", page)
    assert "log-odds of <bdi>ill</bdi>" in " ".join(page.read_text().split())


def test_another_column_as_the_target_of_a_report(model, data, tmp_path):
    told = fails("report", model, data, "-t", "town", "-o", tmp_path / "r.html")
    assert f"column 'town' of {data} has '" in told
    assert "which is no class of the model (ill, well); correct it, or name the target" in told


def test_an_address_is_no_file(tmp_path):
    told = fails("fit", "https://example.org/p.csv", "-t", "ill", "-o", tmp_path / "m.unb")
    assert "p.csv: no such file; download it first" in told


def test_the_command_that_makes_a_key_is_one_line():
    assert "\n  ssh-keygen -t ed25519\n" in run("sign", "--help").stdout
