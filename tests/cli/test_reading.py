"""The command line on data files as they come: options, notes, and no pyarrow."""

import sys

import pytest
from typer.testing import CliRunner

from unnaive.cli.app import app

ROWS = [
    f"{60 + n % 40},{n % 10};{'yes' if n % 3 else 'no'};{'ab'[n % 40 > 19]}" for n in range(120)
]


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.stderr, result.stdout


@pytest.fixture(params=["pyarrow", "bare"])
def rows(request, monkeypatch, tmp_path):
    """A file with a decimal comma, words among numbers, an empty row, and text in Latin-1."""
    if request.param == "bare":
        for module in {"pyarrow", "pyarrow.csv", "pyarrow.compute", *sys.modules}:
            if module.partition(".")[0] == "pyarrow":
                monkeypatch.setitem(sys.modules, module, None)
    lines = ["puls;größe;y", *ROWS[:60], ";;", "not measured;yes;a", *ROWS[60:]]
    path = tmp_path / "rows.csv"
    path.write_bytes("\n".join([*lines, ""]).encode("latin-1"))
    return path


BYTE = "line 1 has the byte 0xf6, which is not UTF-8; the file is read as Windows-1252"
WORDS = "column 'puls' has 120 numbers and 1 'not measured'; words in a column of numbers are read"
NOTES = (
    f"{BYTE}; choose another encoding with --encoding",
    "in column 'puls', '99,9' is read as 99.9; choose other marks with --decimal and --thousands",
    f"{WORDS} as missing values; keep them with --keep-text puls",
    "1 empty row was skipped",
)


def test_notes_name_the_options(rows):
    model = rows.with_name("model.unb")
    code, errors, _ = run("fit", rows, "-t", "y", "-m", "nb", "-o", model)
    assert code == 0
    assert errors.splitlines() == [f"note: {rows}: {note}" for note in NOTES]
    code, errors, out = run("predict", model, rows)
    assert code == 0
    assert len(out.splitlines()) == 1 + 121
    for note in NOTES:
        assert f"note: {rows}: {note}\n" in errors
    assert run("evaluate", rows, "-t", "y", "-m", "nb", "--folds", "2")[0] == 0


def test_options_answer_the_notes(rows):
    model = rows.with_name("model.unb")
    fit = ("fit", rows, "-t", "y", "-m", "nb", "-o", model, "--encoding", "latin-1")
    code, errors, _ = run(*fit, "--missing", "not measured", "--decimal", ",")
    assert code == 0
    assert "measured" not in errors
    assert "0xf6" not in errors
    code, errors, out = run(*fit, "--keep-text", "puls")
    assert code == 0
    assert "2 categorical, 0 numeric" in " ".join(out.split())
    code, errors, _ = run(*fit, "--keep-text", "pulse")
    assert code == 1
    assert "has no column 'pulse'; did you mean 'puls'?" in errors


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--encoding", "utf-99"), "encoding='utf-99' is not known; pass for example utf-8"),
        (("--encoding", "utf-8"), "is not text in utf-8"),
        (("--decimal", "x"), "decimal='x'; it must be '.' or ','"),
        (("--thousands", "x"), "thousands='x'; it must be one of"),
    ],
)
def test_wrong_options(rows, option, message):
    code, errors, _ = run("fit", rows, "-t", "y", "-o", rows.with_name("m.unb"), *option)
    assert code == 1
    assert message in errors


def test_words_where_a_model_has_numbers(rows):
    model, new = rows.with_name("model.unb"), rows.with_name("new.csv")
    assert run("fit", rows, "-t", "y", "-m", "nb", "-o", model)[0] == 0
    new.write_text("puls;größe\n70,5;yes\nlost;no\n")
    code, errors, _ = run("predict", model, new)
    assert code == 1
    assert "column 'puls' has 'lost', where it should have a number; correct it, leave" in errors
    code, errors, out = run("predict", model, new, "--missing", "lost")
    assert code == 0
    assert len(out.splitlines()) == 3


def test_counts_with_options(rows):
    schema, counts = rows.with_name("schema.json"), rows.with_name("site.counts")
    options = ("--missing", "not measured")
    assert run("schema", rows, "-t", "y", "-o", schema, *options)[0] == 0
    code, errors, _ = run("count", rows, "--schema", schema, "-o", counts, *options)
    assert code == 0
    assert "is read as 99.9" in errors
    assert "measured" not in errors
    code, errors, _ = run("fit", counts, "-o", rows.with_name("m.unb"), "--keep-text", "puls")
    assert code == 1
    assert "--keep-text applies to rows, and" in errors


def test_a_workbook_is_not_a_counts_file(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["a", "y"], *[[n, "xy"[n % 2]] for n in range(40)]]:
        book.active.append(row)
    book.save(tmp_path / "rows.xlsx")
    code, errors, _ = run("fit", tmp_path / "rows.xlsx", "-t", "y", "-o", tmp_path / "m.unb")
    assert code == 0
    assert "error" not in errors
