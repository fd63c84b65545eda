"""The data check: every kind of finding, and none on clean data."""

import json
import time
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_moons,
)

import unnaive
from unnaive import checks
from unnaive.checks.labels import kind_of

N = 300
rng = np.random.default_rng(0)
Y = np.where(rng.random(N) < 0.4, "ill", "well")
CLEAN = pd.DataFrame(
    {
        "age": rng.integers(18, 90, N),
        "crp": rng.lognormal(size=N).round(2),
        "sex": rng.choice(["f", "m"], N),
        "town": rng.choice(["Bern", "Oslo", "Rome"], N),
    }
)


def found(column=None, y=Y, name="x", **more):
    """Kinds found in the clean table with one more column, or with another target."""
    frame = CLEAN if column is None else CLEAN.assign(**{name: column})
    return unnaive.check_data(frame, y, **more)


def kinds(check):
    return [(finding.kind, finding.columns) for finding in check.findings]


def only(check):
    assert len(check.findings) == 1, check.text()
    return check.findings[0]


# No finding on clean data


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_clean_data_of_scikit_learn(load):
    data = load(as_frame=True)
    assert unnaive.check_data(data.data, data.target).findings == ()
    assert unnaive.check_data(data.data.to_numpy(), data.target.to_numpy()).findings == ()
    assert unnaive.check_data(data.frame, target="target").findings == ()


def test_digits_has_constant_columns_and_nothing_else():
    data = load_digits(as_frame=True)
    expected = ("pixel_0_0", "pixel_4_0", "pixel_4_7")
    assert kinds(unnaive.check_data(data.data, data.target)) == [(checks.CONSTANT, expected)]


def dependent(rng, n):
    a = rng.integers(0, 3, n)
    b = (a + (rng.random(n) < 0.3)) % 3
    return np.stack([a, b, rng.integers(0, 2, n), rng.integers(0, 4, n)], axis=1)


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: make_classification(500, 12, random_state=3),
        lambda rng: make_moons(400, noise=0.3, random_state=3),
        lambda rng: (rng.integers(0, 2, (1000, 6)), rng.integers(0, 3, 1000)),
        lambda rng: (rng.normal(170, 9, (200, 3)).round(), rng.integers(0, 2, 200)),
        lambda rng: (rng.integers(1500, 9000, (250, 2)), rng.choice(["no", "yes"], 250)),
        lambda rng: (dependent(rng, 600), rng.integers(0, 2, 600)),
    ],
    ids=["gaussian", "moons", "binary", "rounded", "whole", "dependent"],
)
def test_clean_generated_data(make):
    assert unnaive.check_data(*make(np.random.default_rng(5))).findings == ()


def test_the_clean_table_is_clean():
    assert found().findings == ()
    assert found(y=None).findings == ()


# Columns


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (np.arange(1, N + 1), "it numbers the rows from 1 to 300"),
        (np.arange(N, 0, -1), "it numbers the rows from 300 to 1"),
        (np.arange(N).astype(str), "it numbers the rows from 0 to 299"),
        (np.cumsum(rng.integers(1, 9, N)), "its whole numbers increase from row to row"),
        (rng.permutation(N) + 5000, "nearly every row has its own whole number"),
        (rng.permutation(N) + 0.0, "nearly every row has its own whole number"),
        (rng.integers(10**9, 10**10, N), "nearly every row has its own number of 10 digits"),
        ([f"P{i:04}" for i in rng.permutation(N)], "nearly every row has its own value"),
        ([f"Anna {i}" for i in range(N)], "nearly every row has its own value"),
    ],
)
def test_identifiers(column, reason):
    check = found(column)
    finding = only(check)
    assert (finding.kind, finding.columns) == (checks.IDENTIFIER, ("x",))
    assert f"Column 'x' looks like an identifier: {reason} (" in finding.evidence
    assert "300 different values in 300 rows" in finding.evidence
    assert "X.drop(columns=['x']) in pandas" in finding.cure
    assert "--keep x" in finding.cure
    assert check.leave_out == ["x"]


@pytest.mark.parametrize("name", ["patient_id", "id", "ID", "patientId", "case-nr", "MRN"])
def test_an_identifier_that_repeats_is_known_by_its_name(name):
    column = rng.integers(0, 2 * N, N)
    assert kinds(found(column, name=name)) == [(checks.IDENTIFIER, (name,))]
    assert kinds(found(column.astype(str), name=name)) == [(checks.IDENTIFIER, (name,))]
    assert found(rng.integers(0, 40, N), name=name).leave_out == []


@pytest.mark.parametrize(
    "column",
    [
        rng.normal(size=N),
        rng.integers(0, 10**5, N),  # such as an income
        rng.lognormal(10, 2, N).round(),
        np.sort(rng.normal(size=N)),
        rng.integers(2000, 5000, N),
    ],
)
@pytest.mark.parametrize("name", ["x", "acid", "thyroid", "valid"])
def test_measurements_are_no_identifiers(column, name):
    assert found(column, name=name).findings == ()


def test_free_text():
    words = ["pain", "in", "the", "left", "knee", "since", "a", "week", "fever", "cough"]
    finding = only(found([" ".join(rng.choice(words, 9)) for _ in range(N)]))
    assert finding.kind == checks.FREE_TEXT
    assert "is free text: 9 words per cell on average, and 300 different texts" in finding.evidence
    assert found(rng.choice(["no known disease at all", "ill"], N)).findings == ()


def test_a_column_that_decides_the_class():
    finding = only(found(np.where(Y == "ill", "code 7", "code 1")))
    assert finding.kind == checks.LEAKAGE
    assert "Column 'x' decides the class 'y' by itself in all 300 rows" in finding.evidence
    assert "--ignore x" in finding.cure
    column = np.where(Y == "ill", rng.integers(0, 3, N), rng.integers(3, 6, N))
    column[0] = 5 - column[0]
    finding = only(found(column))
    assert finding.kind == checks.LEAKAGE
    assert "in 299 of 300 rows" in finding.evidence
    column[:20] = 5 - column[:20]
    assert found(column).findings == ()


def test_missing_values_that_decide_the_class():
    column = np.where(Y == "ill", rng.normal(size=N), np.nan)
    check = found(column)
    assert kinds(check) == [
        (checks.LEAKAGE, ("x",)),
        (checks.MOSTLY_MISSING, ("x",)),
    ]
    assert "Whether column 'x' is missing decides the class" in check.findings[0].evidence


def test_constants_and_missing_columns():
    frame = CLEAN.assign(site="A", unit=1.0, none=np.nan)
    check = unnaive.check_data(frame, Y)
    assert kinds(check) == [(checks.ALL_MISSING, ("none",)), (checks.CONSTANT, ("site", "unit"))]
    assert check.findings[0].evidence == "Column 'none' has no value in any of 300 rows."
    assert "Columns 'site', 'unit' are constant" in check.findings[1].evidence
    half = pd.Series(["yes", None] * (N // 2))
    finding = only(found(half))
    assert finding.kind == checks.CONSTANT
    assert "has the single value 'yes' in 150 rows and is missing in 150" in finding.evidence


def test_mostly_missing():
    column = np.where(np.arange(N) % 10 < 7, np.nan, rng.normal(size=N))
    finding = only(found(column))
    assert finding.kind == checks.MOSTLY_MISSING
    assert "is missing in 210 of 300 rows (70 %)" in finding.evidence
    column[np.arange(N) % 10 < 4] = 1.5
    assert found(column).findings == ()


def test_duplicate_columns():
    both = CLEAN.assign(code=np.where(CLEAN.sex == "f", 1, 0), age_months=12 * CLEAN.age)
    check = unnaive.check_data(both.assign(town2=both.town), Y)
    assert {columns for _, columns in kinds(check)} == {
        ("age", "age_months"),
        ("sex", "code"),
        ("town", "town2"),
    }
    assert {kind for kind, _ in kinds(check)} == {checks.DUPLICATE_COLUMNS}
    text = check.text()
    assert "'age' and 'age_months' have the same numbers in another unit" in text
    assert "'sex' and 'code' have the same content under other values" in text
    assert "'town' and 'town2' have the same values" in text
    almost = both.code.to_numpy().copy()
    almost[7] = 1 - almost[7]
    assert found(almost).findings == ()


def test_numbers_and_words():
    column = rng.integers(50, 120, N).astype(object)
    column[[3, 9, 200]] = "not measured"
    for cells in (column, column.astype(str)):
        finding = only(found(cells, name="pulse"))
        assert finding.kind == checks.NUMBERS_AND_WORDS
        assert finding.evidence.startswith(
            "Column 'pulse' has 297 numbers and 3 × 'not measured'"  # noqa: RUF001
        )
        assert "pandas.to_numeric(X['pulse'], errors='coerce')" in finding.cure
    grades = rng.choice(["1", "2", "3", "none"], N)
    assert found(grades).findings == ()


def test_separators():
    money = [f"{x:,}" for x in rng.integers(900, 90_000, N)]
    finding = only(found(money))
    assert finding.kind == checks.SEPARATORS
    assert "thousands separators" in finding.evidence
    assert ".replace(',', '')" in finding.cure
    commas = [f"{x:.2f}".replace(".", ",") for x in rng.normal(size=N)]
    finding = only(found(commas))
    assert finding.kind == checks.SEPARATORS
    assert "decimal commas in 300 of 300 cells" in finding.evidence


def test_numbers_as_text():
    finding = only(found(rng.integers(18, 90, N).astype(str)))
    assert finding.kind == checks.NUMBERS_AS_TEXT
    assert found(rng.integers(0, 5, N).astype(str)).findings == ()
    assert found([f"{x:05}" for x in rng.integers(0, 90, N)]).findings == ()


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%Y-%m-%d %H:%M", "%d %b %Y", "%B %d, %Y"]
)
def test_dates(form):
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D")
    finding = only(found(days.strftime(form).to_numpy()))
    assert (finding.kind, finding.columns) == (checks.DATES, ("x",))
    assert "different dates as text, such as" in finding.evidence


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
def test_dates_that_models_refuse(make):
    days = [datetime(2020, 1, 1 + day, 12) for day in range(30)] + [None]
    result = unnaive.check_data(
        make({"when": days, "x": [0.5] * 30 + [1.5]}), ["a"] * 15 + ["b"] * 16
    )
    finding = next(one for one in result.findings if one.kind == checks.DATES)
    assert finding.evidence == "Column 'when' has 30 different dates; models do not take dates."
    assert result.n_columns == 2


def test_dates_as_objects():
    rows = [{"when": date(2020, 1, 1 + day % 30)} for day in range(N)]
    assert only(unnaive.check_data(rows)).kind == checks.DATES


def test_dates_as_numbers():
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.permutation(N), unit="D")
    assert kinds(found(days.strftime("%Y%m%d").to_numpy().astype(int))) == [(checks.DATES, ("x",))]


def test_spellings_of_a_column():
    column = rng.choice(["Oslo", "oslo", "Oslo ", "Bern"], N)
    finding = only(found(column))
    assert finding.kind == checks.SPELLINGS
    assert "'Oslo'" in finding.evidence
    assert "'oslo'" in finding.evidence
    assert "'Oslo '" in finding.evidence
    assert found(rng.choice(["a", "b", "c"], N)).findings == ()


# The target and the rows


def test_spellings_of_the_target():
    y = rng.choice([0, 1, "No", "Yes", "no", "yes"], N).astype(object)
    finding = only(found(y=y))
    assert finding.kind == checks.SPELLINGS
    assert finding.severity == checks.WARNING
    assert "The target 'y' has 6 classes, of which some seem to be the same" in finding.evidence
    assert kinds(found(y=rng.choice(["ill", "ill ", "well"], N))) == [(checks.SPELLINGS, ("y",))]


@pytest.mark.parametrize(
    "y", [rng.normal(size=N), rng.integers(0, 500, N), rng.integers(0, 9, N) / 2]
)
def test_a_continuous_target(y):
    finding = only(found(y=y))
    assert (finding.kind, finding.severity) == (checks.CONTINUOUS_TARGET, checks.ERROR)
    assert "pandas.cut" in finding.cure


def test_a_continuous_target_as_text():
    finding = only(found(y=[f"{x:.2f}".replace(".", ",") for x in rng.normal(size=N)]))
    assert (finding.kind, finding.severity) == (checks.SEPARATORS, checks.ERROR)
    finding = only(found(y=rng.integers(0, 90, N).astype(str)))
    assert (finding.kind, finding.severity) == (checks.NUMBERS_AS_TEXT, checks.ERROR)
    assert found(y=rng.integers(1, 13, N).astype(str)).findings == ()


def test_the_classes():
    assert kinds(found(y=["ill"] * N)) == [(checks.ONE_CLASS, ("y",))]
    many = [f"c{i % 40}" for i in range(N)]
    assert kinds(found(y=many)) == [(checks.MANY_CLASSES, ("y",))]
    rare = Y.astype(object)
    rare[:3] = "dead"
    finding = only(found(y=rare))
    assert finding.kind == checks.RARE_CLASS
    assert "'dead' in 3 of 300 rows" in finding.evidence
    rare[:3] = None
    finding = only(found(y=rare))
    assert (finding.kind, finding.severity) == (checks.MISSING_TARGET, checks.ERROR)
    assert "is missing in 3 of 300 rows (1 %)" in finding.evidence
    assert kinds(found(y=[None] * N)) == [(checks.MISSING_TARGET, ("y",))]


def test_leakage_is_found_where_the_class_is_known():
    y = Y.astype(object)
    y[:10] = None
    column = np.where(Y == "ill", "a", "b")
    assert kinds(found(column, y=y)) == [
        (checks.MISSING_TARGET, ("y",)),
        (checks.LEAKAGE, ("x",)),
    ]


def test_duplicate_rows():
    wide = CLEAN.assign(w=rng.normal(size=N), v=rng.normal(size=N), u=rng.normal(size=N))
    twice = pd.concat([wide, wide[:30]])
    finding = only(unnaive.check_data(twice, np.append(Y, Y[:30])))
    assert finding.kind == checks.DUPLICATE_ROWS
    assert (
        "30 of 330 rows (9.1 %) repeat an earlier row; one row occurs 2 times" in finding.evidence
    )
    check = unnaive.check_data(twice.assign(nr=np.arange(330)), np.append(Y, Y[:30]))
    assert kinds(check) == [(checks.IDENTIFIER, ("nr",)), (checks.DUPLICATE_ROWS, ())]
    other = np.append(Y, np.where(Y[:30] == "ill", "well", "ill"))
    assert unnaive.check_data(twice, other).findings == ()


# The result


def test_the_result():
    frame = CLEAN.assign(patient=[f"P{i}" for i in range(N)], site="A", y=Y)
    check = unnaive.check_data(frame, target="y")
    assert repr(check) == (
        "<DataCheck: 1 warning, 1 note in 300 rows and 6 columns; leave out 'patient'>"
    )
    state = json.loads(json.dumps(check.to_dict()))
    assert state["leave_out"] == ["patient"]
    assert [finding["kind"] for finding in state["findings"]] == ["identifier", "constant"]
    assert set(state["findings"][0]) == {"kind", "columns", "severity", "evidence", "cure"}
    html = check._repr_html_()
    assert "<td>identifier</td>" in html
    assert html.count("<tr>") == 3
    assert unnaive.check_data(CLEAN, Y)._repr_html_().count("table") == 0
    assert len(check.text().splitlines()) == 5


@pytest.mark.parametrize(
    "to",
    [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame.to_dict("records")],
    ids=["polars", "arrow", "mappings"],
)
def test_other_frames(to):
    frame = CLEAN.assign(patient=[f"P{i}" for i in range(N)], site="A", y=Y)
    expected = unnaive.check_data(frame, target="y")
    assert unnaive.check_data(to(frame), target="y") == expected


def test_wrong_calls():
    with pytest.raises(ValueError, match="both y and target='y'"):
        unnaive.check_data(CLEAN, Y, target="y")
    with pytest.raises(ValueError, match="no column 'z'"):
        unnaive.check_data(CLEAN, target="z")
    with pytest.raises(ValueError, match="X has 300 rows and y has 2 labels"):
        unnaive.check_data(CLEAN, ["a", "b"])


def test_few_rows():
    for n in range(1, 12):
        unnaive.check_data(CLEAN[:n], Y[:n])
        unnaive.check_data(CLEAN[:n].assign(x=np.nan, z=None), Y[:n])
    assert unnaive.check_data([[np.inf, 1.0], [np.nan, 2.0]], [0, 1]).n_columns == 2


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("12", "number"),
        ("-1.5E+3", "number"),
        ("1'234.50", "thousands"),
        ("1.234,5", "thousands"),
        ("12 345", "thousands"),
        ("0,5", "comma"),
        ("12.5.2020", "date"),
        ("12-5/2020", "word"),
        ("<5", "word"),
        ("", "word"),
    ],
)
def test_kinds_of_labels(label, kind):
    assert kind_of(label) == kind


@pytest.mark.long
def test_large_tables_take_about_a_second():
    rows = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            f"c{i}": (rows.normal(size=200_000), rows.integers(0, 9, 200_000))[i % 2]
            for i in range(50)
        }
    )
    start = time.process_time()
    assert unnaive.check_data(frame, rows.integers(0, 2, 200_000)).findings == ()
    assert time.process_time() - start < 3.0  # about 0.5 on an idle machine
