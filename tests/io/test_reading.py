"""Text files as they come: encodings, number styles, words among numbers, empty rows, workbooks.

Every test of CSV runs with and without pyarrow, and both must read the same.
"""

import json
import re
import sys
import warnings
from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import unnaive
from tests.io.test_files import table, write  # noqa: F401 - a fixture
from unnaive.exceptions import DataFileError
from unnaive.io.files import read
from unnaive.io.parts import open_part
from unnaive.io.parts import text as parts_text
from unnaive.io.parts.parquet import ParquetPart
from unnaive.io.reading import Reading


def hide_pyarrow(patch):
    for module in {"pyarrow", "pyarrow.csv", *sys.modules}:
        if module.partition(".")[0] == "pyarrow":
            patch.setitem(sys.modules, module, None)


@pytest.fixture(params=["pyarrow", "bare"])
def engine(request, monkeypatch):
    if request.param == "bare":
        hide_pyarrow(monkeypatch)
    return request.param


def noted(path, **options):
    """The cells of a file by column, and its notes as (kind, names, message)."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        frame = read(path, **options)
    notes = [entry.message for entry in caught]
    return table(frame), [(note.kind, note.names, str(note)) for note in notes]


NUMBERS = [str(number) for number in range(40)]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(write, engine, separator):  # noqa: F811
    path = write("d.csv", "a,b\n1,x\n2,y\n".replace(",", separator))
    assert noted(path) == ({"a": [1, 2], "b": ["x", "y"]}, [])


@pytest.mark.parametrize(
    ("encoding", "name"), [("latin-1", "cp1252"), ("utf-16", ""), ("utf-8-sig", ""), ("utf-8", "")]
)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_encodings_that_are_found(write, engine, encoding, name, ending):  # noqa: F811
    path = write(f"d.{ending}", "größe;b\n1;x\n2;café\n".encode(encoding))
    cells, notes = noted(path)
    assert cells == {"größe": [1, 2], "b": ["x", "café"]}
    if name:
        [(kind, names, message)] = notes
        assert (kind, names) == ("encoding", (name,))
        assert "line 1 has the byte 0xf6, which is not UTF-8; the file is read as Wind" in message
    else:
        assert notes == []


def test_an_encoding_that_shows_late(write, engine, monkeypatch):  # noqa: F811
    monkeypatch.setattr(parts_text, "_LOOKED_AT", 1 << 12)
    monkeypatch.setattr(parts_text, "PIECE", 1 << 12)
    path = write("d.csv", ("a,b\n" + "1,x\n" * 5000 + "2,café").encode("latin-1"))
    cells, [(kind, _, message)] = noted(path)
    assert cells["b"][-1] == "café"
    assert kind == "encoding"
    assert "line 5002 has the byte 0xe9" in message
    assert noted(path, reading=Reading(encoding="latin-1")) == (cells, [])


def test_bytes_that_windows_does_not_have(write, engine):  # noqa: F811
    cells, [(_, names, _)] = noted(write("d.csv", b"a,b\n1,\x81\xe9\n"))
    assert cells["b"] == ["\x81é"]
    assert names == ("latin-1",)


def test_an_encoding_that_is_given(write, engine):  # noqa: F811
    path = write("d.csv", "a,b\n1,Łódź\n".encode("cp1250"))
    assert noted(path, reading=Reading(encoding="cp1250")) == ({"a": [1], "b": ["Łódź"]}, [])
    path = write("d.csv", "a,b\n1,é\n".encode("utf-16-le"))
    assert noted(path, reading=Reading(encoding="utf-16-le"))[0] == {"a": [1], "b": ["é"]}
    with pytest.raises(DataFileError, match=r"is not text in ascii .*; name its encoding"):
        read(write("d.csv", "a,b\n1,é\n"), reading=Reading(encoding="ascii"))


def test_half_of_a_file_is_utf8(write, monkeypatch):  # noqa: F811
    monkeypatch.setattr(parts_text, "_LOOKED_AT", 1 << 12)
    path = write("d.csv", "größe,b\n".encode() + b"1,x\n" * 5000 + b"2,caf\xe9\n")
    with pytest.raises(DataFileError, match="line 5002 has the byte 0xe9, which is not UTF-8; sa"):
        read(path)


@pytest.mark.parametrize(
    ("text", "expected", "message"),
    [
        ("a;b\n1,5;x\n2;y\n", [1.5, 2], "in column 'a', '1,5' is read as 1.5"),
        ("a;b\n1.333,26;x\n2;y\n", [1333.26, 2], "'1.333,26' is read as 1333.26"),
        ('a,b\n"1,333.26",x\n2,y\n', [1333.26, 2], "'1,333.26' is read as 1333.26"),
        ('a,b\n"1,234,567",x\n2,y\n', [1234567, 2], "'1,234,567' is read as 1234567"),
        ("a;b\n1'333.5;x\n2;y\n", [1333.5, 2], "is read as 1333.5"),
        ("a;b\n1 333,5;x\n2;y\n", [1333.5, 2], "is read as 1333.5"),
        ("a;b\n1\u202f333,5;x\n2;y\n", [1333.5, 2], "is read as 1333.5"),
        ("a\tb\n76,344\tx\n2\ty\n", [76344, 2], "read as 76344, but it could also be 76.344"),
        ("a;b\n76,344;x\n2;y\n", [76.344, 2], "read as 76.344, but it could also be 76344"),
        ("a;b\n76,344;2.5\n2;3\n", [76344, 2], "read as 76344, but it could also be 76.344"),
        ("a\tb\n76,344\t2,5\n2\t3\n", [76.344, 2], "read as 76.344, but it could also be 76344"),
        ("a;b\n76,344;x\n0,5;y\n", [76.344, 0.5], "'76,344' is read as 76.344"),
        ("a;b\n1.333;2,5\n2;3\n", [1333, 2], "'1.333' is read as 1333, but it could also be 1.333"),
        ("a;b\n1.333;x\n2;3\n", [1.333, 2], ""),
        ("a;b\n1.5;x\n1,5;y\n", ["1.5", "1,5"], ""),
        ("a;b\n1,23,4;x\n2;y\n", ["1,23,4", "2"], ""),
        ("a;b\n1,;x\n2;y\n", ["1,", "2"], ""),
    ],
    ids=range(17),
)
def test_number_styles(write, engine, text, expected, message):  # noqa: F811
    cells, notes = noted(write("d.csv", text))
    assert cells["a"] == expected
    assert [(kind, "a" in names) for kind, names, _ in notes][:1] == [("numbers", True)] * bool(
        message
    )
    assert not message or message in notes[0][2]


def test_number_styles_that_are_given(write, engine):  # noqa: F811
    path = write("d.csv", "a;b;c\n76,344;1.333;7\n")
    for options, a, b in [
        ({"decimal": "."}, 76344, 1.333),
        ({"decimal": ","}, 76.344, 1333),
        ({"thousands": "."}, 76.344, 1333),
        ({"thousands": ","}, 76344, 1.333),
        ({"decimal": ".", "thousands": ""}, "76,344", 1.333),
        ({"decimal": ".", "keep_text": frozenset("a")}, "76,344", 1.333),
    ]:
        assert noted(path, reading=Reading(**options))[0] == {"a": [a], "b": [b], "c": [7]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "utf-99"}, "encoding='utf-99' is not known; pass for example utf-8"),
        ({"decimal": ";"}, "decimal=';'; it must be '.' or ','"),
        ({"thousands": "x"}, "thousands='x'; it must be one of"),
        ({"decimal": ",", "thousands": ","}, "both ','; they must differ"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        Reading(**options)


def test_a_few_words_among_numbers_are_missing(write, engine):  # noqa: F811
    path = write("d.csv", "\n".join(["pulse,b", *(f"{n},x" for n in NUMBERS), "refused,y"]))
    cells, [(kind, names, message)] = noted(path)
    assert cells["pulse"] == [*map(int, NUMBERS), None]
    assert (kind, names) == ("words", ("pulse",))
    assert message == (
        f"{path}: column 'pulse' has 40 numbers and 1 'refused'; words in a column of numbers "
        "are read as missing values"
    )
    assert noted(path, labels=["pulse"]) == ({**cells, "pulse": [*NUMBERS, "refused"]}, [])
    assert noted(path, reading=Reading(missing=("refused",))) == (cells, [])


@pytest.mark.parametrize("words", [["refused"] * 3, ["refused", "lost", "late"]])
def test_more_words_make_a_column_of_text(write, engine, words):  # noqa: F811
    path = write("d.csv", "\n".join(["pulse,b", *(f"{n},x" for n in [*NUMBERS, *words])]))
    assert noted(path)[0]["pulse"] == [*NUMBERS, *words]
    few = write("few.csv", "\n".join(["pulse,b", *(f"{n},x" for n in NUMBERS[:19]), "refused,x"]))
    assert noted(few)[0]["pulse"] == [*NUMBERS[:19], "refused"]


@pytest.mark.parametrize("word", ["-", ".", "None", "not measured"])
def test_spellings_that_are_missing_among_numbers_only(write, engine, word):  # noqa: F811
    path = write("d.csv", f"a,strand\n1.5,+\n{word},{word}\n")
    cells, [(kind, names, message)] = noted(path)
    assert cells == {"a": [1.5, None], "strand": ["+", word]}
    assert (kind, names) == ("words", ("a",))
    assert f"has 1 numbers and 1 {word!r}" in message


def test_words_that_come_late(write, engine, monkeypatch):  # noqa: F811
    monkeypatch.setattr(parts_text, "_LOOKED_AT", 1 << 10)
    monkeypatch.setattr(parts_text, "PIECE", 1 << 10)
    rows = [f"{n % 7},{n}\n" for n in range(5000)]
    path = write("d.csv", "a,b\n" + "".join(rows) + "lost,-\nlost,1\n")
    cells, [(_, names, message)] = noted(path)
    assert cells["a"][-2:] == [None, None]
    assert cells["b"][-2:] == [None, 1]
    assert names == ("a", "b")
    assert "'a' has 5,000 numbers and 2 'lost'; column 'b' has 5,001 numbers and 1 '-'" in message
    early = write("early.csv", "a,b\nlost,-\nlost,1\n" + "".join(rows))
    assert noted(early)[1][0][2].partition(":")[2] == message.partition(":")[2]


def test_missing_spellings_that_are_given(write, engine):  # noqa: F811
    path = write("d.csv", "a,b\n1,x\n -9 ,k.A.\n")
    assert noted(path, reading=Reading(missing=("-9", "k.A."))) == (
        {"a": [1, None], "b": ["x", None]},
        [],
    )


def test_empty_rows_are_skipped(write, engine):  # noqa: F811
    path = write("d.csv", 'a;b;c\n;;\n1;x;\n;;\n; ;\n2;y;"\n;;\n"\n;;\n\n;;5\n')
    cells, [(kind, _, message)] = noted(path)
    assert cells == {"a": [1, 2, None], "b": ["x", "y", None], "c": [None, ";;", "5"]}
    assert (kind, message) == ("rows", f"{path}: 4 empty rows were skipped")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n\n3,4,5\n", "line 4 has 3 cells and the header has 2; quote"),
        ('a,b\n1,x\n2,"y\n3,z\n', "quote opened near line 3 is not closed|line 3 has 2 cells"),
        ("a,b,a\n1,2,3\n", "column name 'a' occurs 2 times"),
        ("a,b\n", "header but no rows"),
    ],
    ids=range(4),
)
def test_wrong_files_without_pyarrow(write, engine, text, message):  # noqa: F811
    with pytest.raises(DataFileError, match=message):
        read(write("d.csv", text))


CELLS = ["1", "-2", "007", "1.5", "1e9", "inf", "1,5", "1.234", "1,234", "1.234,5", "+4", ".5"]
WORDS = ["5.", "x", "NA", "", "-", "None", "true", "False", " 3 ", "é"]
cells = st.sampled_from(CELLS + WORDS)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    columns=st.lists(st.lists(cells, min_size=8, max_size=8), min_size=1, max_size=3),
    numbers=st.booleans(),
)
def test_pyarrow_changes_nothing(write, monkeypatch, columns, numbers):  # noqa: F811
    if numbers:
        columns = [[*column, *["7"] * 160] for column in columns]
    columns = [["k"] * len(columns[0]), *columns]
    header = ";".join(f"c{i}" for i in range(len(columns)))
    path = write("d.csv", "\n".join([header, *map(";".join, zip(*columns, strict=True))]))
    fast = noted(path)
    with monkeypatch.context() as patch:
        patch.setattr(parts_text, "PIECE", 64)
        patch.setattr(parts_text, "_LOOKED_AT", 64)
        assert noted(path) == fast
    with monkeypatch.context() as patch:
        hide_pyarrow(patch)
        assert noted(path) == fast


def test_kinds_that_a_schema_gives(write, engine):  # noqa: F811
    path = write("d.csv", "a,b,c,d\n1,2,true,4\n2,3,False,\n")
    part = open_part(path)
    told = {"a": "text", "b": "float", "c": "bool", "d": "int"}
    [frame] = part.frames(10, told, False)
    assert table(frame) == {"a": ["1", "2"], "b": [2.0, 3.0], "c": [True, False], "d": [4, None]}
    wrong = open_part(write("w.csv", "a,b\n1,x\n2,y\n"))
    with pytest.raises(DataFileError, match="'b' has 'x', where it should have a number; correct"):
        list(wrong.frames(10, {"b": "float"}, False))
    with pytest.raises(DataFileError, match="'a' has '2', where it should have true or false"):
        list(open_part(write("v.csv", "a,b\n1,x\n2,x\n")).frames(10, {"a": "bool"}, False))


def test_batches_without_pyarrow(write, monkeypatch):  # noqa: F811
    hide_pyarrow(monkeypatch)
    part = open_part(write("d.csv", "a,b\n" + "1,x\n" * 25))
    assert [frame.n_rows for frame in part.frames(10, {}, False, {"b"})] == [10, 10, 5]


def test_counts_are_the_same(write, engine):  # noqa: F811
    rows = "".join(f"{n % 9},{n % 5};{'ab'[n % 9 > 4]}\n" for n in range(300))
    path = write("d.csv", "x;y\n" + rows + "lost;a\n")
    with pytest.warns(unnaive.exceptions.DataWarning) as whole:
        counts = unnaive.count(path, "y")
    with pytest.warns(unnaive.exceptions.DataWarning) as batches:
        assert unnaive.count([path], "y") == counts
    kinds = ["numbers", "words"]
    assert [entry.message.kind for entry in whole] == kinds
    assert sorted(entry.message.kind for entry in batches) == kinds


# JSON lines


def test_json_lines(write):  # noqa: F811
    rows = [
        {"a": 1, "b": "x", "c": True},
        {"a": 2.5, "c": False, "d": "7"},
        {"b": None, "a": None},
        {},
    ]
    text = "\n".join([*map(json.dumps, rows), ""])
    for ending in ("jsonl", "ndjson", "jsonl.gz"):
        path = write(f"d.{ending}", text)
        cells, [(kind, _, message)] = noted(path)
        assert cells == {
            "a": [1, 2.5],
            "b": ["x", None],
            "c": [True, False],
            "d": [None, 7],
        }
        assert kind == "rows"
        assert message.endswith("2 empty rows were skipped")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": \n', r"line 2: this is not JSON \(Expecting value.*\); write one object"),
        ('{"a": 1}\n[1]\n', r'line 2: this is not an object; write \{"column": value'),
        ('{"a": [1]}\n', "line 1: column 'a' has a list; write numbers"),
        ('{"a": {}}\n', "line 1: column 'a' has an object; write numbers"),
        ("{}\n", "has a header but no rows"),
    ],
    ids=range(5),
)
def test_wrong_json_lines(write, text, message):  # noqa: F811
    with pytest.raises(DataFileError, match=message):
        read(write("d.jsonl", text))


# Excel


@pytest.fixture
def workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")

    def workbook(rows, *sheets):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        for title in sheets:
            book.create_sheet(title)
        book.save(tmp_path / "d.xlsx")
        return tmp_path / "d.xlsx"

    return workbook


def test_workbook(workbook):
    rows = [
        ["age", " smoker ", "day", "at", "dose", "sum", None],
        [61, "no", date(2020, 1, 31), datetime(2020, 1, 31, 10, 30), "1,5", 1],
        [],
        [62.5, True, date(2020, 2, 1), None, "2", 2],
        [],
    ]
    cells, notes = noted(workbook(rows, "More"))
    assert cells == {
        "age": [61, 62.5],
        "smoker": ["no", "true"],
        "day": ["2020-01-31", "2020-02-01"],
        "at": ["2020-01-31T10:30:00", None],
        "dose": [1.5, 2],
        "sum": [1, 2],
    }
    assert [kind for kind, _, _ in notes] == ["sheet", "numbers", "rows"]
    assert "the workbook has 2 sheets; only 'Sheet' is read" in notes[0][2]


def test_formulas_are_not_computed(workbook):
    cells, _ = noted(workbook([["a", "b"], [1, "=1+1"], [2, "=A1"]]))
    assert cells == {"a": [1, 2], "b": [None, None]}


def test_wrong_workbooks(workbook, write, monkeypatch):  # noqa: F811
    path = workbook([["a"], [1, 2]])
    with pytest.raises(DataFileError, match="row 2 has a value to the right of the last column"):
        read(path)
    content = path.read_bytes()
    with pytest.raises(DataFileError, match="is damaged or not an Excel workbook"):
        read(write("cut.xlsx", content[: len(content) // 2]))
    with pytest.raises(DataFileError, match="column 1 has no name"):
        read(workbook([]))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataFileError, match=r'openpyxl; pip install "unnaive\[excel\]", or save'):
        read(path)


# Parquet and messages


def refusal(path):
    """The message of a file that cannot be read, or nothing."""
    try:
        read(path)
    except DataFileError as error:
        return str(error)
    return ""


def test_parquet_with_damaged_metadata(tmp_path):
    path = tmp_path / "d.parquet"
    columns = pa.table({"a": [1, 2], "b": ["x", "y"]})
    for metadata in (b"{", b"\xff\xfe", b"[" * 100_000):
        parquet.write_table(columns.replace_schema_metadata({"pandas": metadata}), path)
        assert re.fullmatch(
            r"\S+d\.parquet is damaged \(.+\); write or download it again", refusal(path)
        )
    for metadata in (b'{"index_columns": 5}', b"[]", b"null", b'"x"'):
        parquet.write_table(columns.replace_schema_metadata({"pandas": metadata}), path)
        assert read(path).names == ("a", "b")
    parquet.write_table(columns, path)
    content = np.frombuffer(path.read_bytes(), np.uint8).copy()
    random = np.random.default_rng(0)
    for _ in range(200):
        damaged = content.copy()
        damaged[random.integers(4, len(content) - 4, 4)] ^= random.integers(1, 255, 4, np.uint8)
        path.write_bytes(damaged.tobytes())
        assert refusal(path).isprintable()  # one line, without control characters


def test_parquet_with_codes_beyond_the_labels(tmp_path, monkeypatch):
    """A damaged file may hold such codes, and pyarrow hands them on."""
    path, labels = tmp_path / "d.parquet", pa.array(["x", "y"])
    parquet.write_table(pa.table({"a": ["x", "y"]}), path)
    for code in (2, -1):
        codes = pa.array([0, code], pa.int32())
        wrong = pa.DictionaryArray.from_arrays(codes, labels, safe=False)
        batch = pa.RecordBatch.from_arrays([wrong], ["a"])
        monkeypatch.setattr(ParquetPart, "batches", lambda *_, batch=batch, **__: iter([batch]))
        assert "is damaged" in refusal(path)
