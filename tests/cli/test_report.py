"""``unnaive report``: the page it writes, the JSON it prints, and how it fails."""

import json

import pytest
from typer.testing import CliRunner

import unnaive
from tests.report.test_report import assert_safe, mixed
from unnaive import report
from unnaive.cli.app import app
from unnaive.io.files import read


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    X, y = mixed()
    X.assign(id=range(len(X)), diagnosis=y).to_csv(path / "patients.csv", index=False)
    run("fit", path / "patients.csv", "-t", "diagnosis", "--ignore", "id", "-o", path / "m.unb")
    return path


@pytest.mark.long
def test_the_command_writes_a_page(folder, tmp_path):
    path = tmp_path / "report.html"
    result = run("report", folder / "m.unb", folder / "patients.csv", "-o", path, "--folds", 4)
    assert result.stdout == ""
    assert f"report written to {path} (" in result.stderr
    assert "not used, because the model does not have them: 'id'" in result.stderr
    assert_safe(path)
    text = path.read_text(encoding="utf-8")
    assert "<code>m.unb</code>, saved 20" in text
    assert f"by unnaive {unnaive.__version__}" in text
    assert "patients.csv" in text


@pytest.mark.long
def test_markdown_is_written_or_printed(folder, tmp_path):
    given = ["report", folder / "m.unb", folder / "patients.csv", "--folds", 4]
    printed = run(*given, "--to", "markdown").stdout
    assert printed.startswith("# ")
    assert "## Performance" in printed
    run(*given, "-o", tmp_path / "report.md")
    run(*given, "-o", tmp_path / "report.txt", "--to", "markdown")
    for name in ("report.md", "report.txt"):
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert written.splitlines()[:-1] == printed.splitlines()[:-1]
    assert "--output" in run(*given, "--to", "html", code=2).stderr


@pytest.mark.long
def test_the_command_is_the_function(folder):
    options = ["--folds", 4, "--seed", 3, "--positive", "ill", "--errors", 2, "--title", "Cough"]
    told = json.loads(
        run("report", folder / "m.unb", folder / "patients.csv", *options, "--json").stdout
    )
    frame, target = read(folder / "patients.csv").split("diagnosis")
    model = unnaive.load(folder / "m.unb")
    X = frame.__class__(frame.names[:4], frame.n_rows, frame.columns[:4])
    found = report.summarise(
        model, X, target, folds=4, seed=3, positive="ill", errors=2, title="Cough"
    )
    for part in ("title", "structure", "importance", "errors", "positive"):
        assert told[part] == json.loads(json.dumps(found[part])), part
    assert told["performance"]["roc"]["positive"] == "ill"


@pytest.mark.long
def test_a_class_of_another_name_and_new_rows(folder, tmp_path):
    X, y = mixed(60, seed=9)
    X.assign(truth=y).to_csv(tmp_path / "later.csv", index=False)
    given = ["report", folder / "m.unb", tmp_path / "later.csv", "--json"]
    told = json.loads(run(*given, "--target", "truth", "--new-rows").stdout)
    assert told["performance"]["protocol"]["kind"] == "new rows"
    assert "has no column 'diagnosis'" in run(*given, code=1).stderr


def test_the_command_says_what_is_wrong(folder, tmp_path):
    model, data = folder / "m.unb", folder / "patients.csv"
    assert "--output" in run("report", model, data, code=2).stderr
    assert "would be overwritten" in run("report", model, data, "-o", data, code=1).stderr
    wrong = run("report", model, data, "--positive", "sick", "--json", code=1).stderr
    assert "positive='sick' is not a class" in wrong
    text = data.read_text().replace(",well", ",fine")
    (tmp_path / "other.csv").write_text(text)
    told = run("report", model, tmp_path / "other.csv", "-o", tmp_path / "r.html", code=1).stderr
    assert "has 'fine', which is no class of the model (ill, well)" in told
    assert not (tmp_path / "r.html").exists()
