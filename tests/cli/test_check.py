"""``unnaive check``, and the data check of the commands that fit models."""

import json

import pytest

from commands import HEADER, fails, patients, run, write

NOTES = "pain in the left knee since a week"


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    rows = [
        [*row[:5], f"{NOTES}, case {row[0]}", "A", row[5].upper() if row[0] < 30 else row[5]]
        for row in patients(80, 3)
    ]
    path = tmp_path_factory.mktemp("messy") / "messy.csv"
    return write(path, [*HEADER[:5], "notes", "site", "diagnosis"], rows)


@pytest.fixture(scope="module")
def tidy(tmp_path_factory):
    path = tmp_path_factory.mktemp("tidy") / "tidy.csv"
    return write(path, HEADER[1:], [row[1:] for row in patients(120, 4)])


def test_findings_in_a_table(messy):
    result = run("check", messy, "-t", "diagnosis")
    assert "3 warnings, 1 note in 80 rows and 7 columns" in result.stdout
    text = " ".join(result.stdout.split())
    assert "Column 'id' looks like an identifier: it numbers the rows" in text
    assert "The target 'diagnosis' has 4 classes, of which some seem to be" in text
    assert result.stderr == ""


def test_findings_as_json(messy):
    state = json.loads(run("check", messy, "-t", "diagnosis", "--json").stdout)
    assert state["leave_out"] == ["id", "notes"]
    kinds = [finding["kind"] for finding in state["findings"]]
    assert kinds == ["spellings", "identifier", "free text", "constant"]
    assert (state["rows"], state["columns"], state["target"]) == (80, 7, "diagnosis")
    state = json.loads(
        run(
            "check", messy, "-t", "diagnosis", "--json", "--ignore", "id", "--ignore", "site"
        ).stdout
    )
    assert state["leave_out"] == ["notes"]


def test_a_tidy_file(tidy, tmp_path):
    assert "no findings in 120 rows and 4 columns" in run("check", tidy, "-t", "diagnosis").stdout
    result = run("fit", tidy, "-t", "diagnosis", "-m", "nb", "-o", tmp_path / "m.unb")
    assert result.stderr == ""


def test_a_wrong_target(tidy):
    assert "has no column 'diagnose'; did you mean" in fails("check", tidy, "-t", "diagnose")


@pytest.mark.parametrize("command", ["fit", "evaluate", "compare"])
def test_findings_are_noted_once_and_columns_left_out(command, messy, tmp_path):
    options = ["-o", tmp_path / "m.unb"] if command == "fit" else ["--folds", 3]
    result = run(command, messy, "-t", "diagnosis", "-m", "nb", *options)
    lines = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    assert lines[0] == (
        "note: left out: 'id' (identifier), 'notes' (free text); to use a column, --keep id"
    )
    assert lines[1].startswith("note: the target 'diagnosis' has 4 classes, of which some seem")
    assert lines[2].startswith("note: also found: constant; details: unnaive check ")
    assert len(lines) == 3


def test_findings_in_json_and_columns_that_are_kept(messy, tmp_path):
    fit = ["fit", messy, "-t", "diagnosis", "-m", "nb", "-o", tmp_path / "m.unb", "--json"]
    state = json.loads(run(*fit).stdout)
    assert state["left_out"] == ["id", "notes"]
    assert len(state["findings"]) == 4
    result = run(*fit, "--keep", "id")
    assert json.loads(result.stdout)["left_out"] == ["notes"]
    assert "'id'" not in result.stderr
    assert "has no column 'ix'" in fails(*fit[:-1], "--keep", "ix")
    state = json.loads(
        run("evaluate", messy, "-t", "diagnosis", "-m", "nb", "--folds", 3, "--json").stdout
    )
    assert state["left_out"] == ["id", "notes"]


def test_a_file_of_identifiers_only_is_still_fitted(tmp_path):
    rows = [[f"P{row[0]}", row[5]] for row in patients(60, 1)]
    path = write(tmp_path / "d.csv", ["patient", "diagnosis"], rows)
    result = run("fit", path, "-t", "diagnosis", "-m", "nb", "-o", tmp_path / "m.unb")
    assert "left out" not in result.stderr
    assert "looks like an identifier" in result.stderr


def test_a_continuous_target(tmp_path):
    rows = [[row[4], row[0] + 0.5] for row in patients(40, 1)]
    path = write(tmp_path / "d.csv", ["town", "dose"], rows)
    message = fails("fit", path, "-t", "dose", "-m", "nb", "-o", tmp_path / "m.unb")
    assert "The target 'dose' has 40 different numbers with fractions, from 0.5 to 39.5" in message
    assert "cut it into classes" in message


def test_the_report_has_the_findings(messy, tmp_path):
    fit = run("fit", messy, "-t", "diagnosis", "-m", "nb", "-o", tmp_path / "m.unb")
    assert "left out" in fit.stderr
    report = ["report", tmp_path / "m.unb", messy, "--folds", 3, "--json"]
    page = tmp_path / "page.html"
    result = run(*report, "-o", page)
    kinds = [finding["kind"] for finding in json.loads(result.stdout)["findings"]]
    assert kinds == ["spellings", "constant"]
    assert "note: 2 findings about the data: at the top of the page" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert "Findings about the data: 2" in text
    assert "The target &#39;diagnosis&#39; has 4 classes" in text
