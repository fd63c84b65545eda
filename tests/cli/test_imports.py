"""Commands start quickly: they import neither scikit-learn nor pandas unless they need them."""

import csv
import subprocess
import sys

import numpy as np
import pytest

import unnaive
from unnaive.io.files import read

PROGRAM = """
import sys
from unnaive.cli.app import main
try:
    main()
finally:
    heavy = {"sklearn", "scipy", "pandas", "narwhals", "joblib", "rich", "matplotlib"}
    print("imported:", *sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def run(*words):
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    line = next(line for line in found.stderr.splitlines() if line.startswith("imported:"))
    return found.stdout, line.split()[1:]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("start") / "rows.csv"
    rng = np.random.default_rng(0)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["age", "smoker", "cough", "pulse", "ill"])
        for _ in range(120):
            ill = int(rng.integers(2))
            smoker = rng.choice(["no", "yes", "ex, long ago", ""])
            cough = "true" if rng.random() < 0.3 + 0.4 * ill else "false"
            pulse = round(float(rng.normal(70 + 8 * ill, 9)), 1)
            writer.writerow([int(rng.integers(20, 80)), smoker, cough, pulse, "ny"[ill]])
    return path


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["fit", "--help"]])
def test_help_imports_nothing(words):
    assert run(*words)[1] == []


def test_the_list_of_models_imports_the_table_alone():
    assert run("models")[1] == ["rich"]


@pytest.mark.long
@pytest.mark.parametrize("key", ["tan", "kdb", "auto"])
def test_learning_and_predicting_do_without_scikit_learn(rows, tmp_path, key):
    model = tmp_path / "model.unb"
    _, imported = run("fit", rows, "--target", "ill", "--model", key, "-o", model)
    assert not {"sklearn", "pandas", "narwhals", "joblib"} & set(imported)
    answers, imported = run("predict", model, rows, "--proba", "--precision", "17")
    assert imported == []
    loaded = unnaive.load(model)
    frame = read(rows).select(loaded.schema_.names)
    lines = list(csv.reader(answers.splitlines()))[1:]
    assert [line[0] for line in lines] == loaded.predict(frame).tolist()
    assert [list(map(float, line[1:])) for line in lines] == loaded.predict_proba(frame).tolist()
    again = unnaive.make(key).fit(frame, read(rows).split("ill")[1])
    np.testing.assert_array_equal(again.predict_proba(frame), loaded.predict_proba(frame))
