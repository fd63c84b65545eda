"""Files of rows: what is read, and what each wrong file is told."""

import csv
import gzip
import io
import math
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from unnaive.exceptions import DataFileError, DataWarning
from unnaive.io.arff import parse_arff
from unnaive.io.files import read
from unnaive.io.parts import text as parts_text
from unnaive.io.reading import MISSING


def values(column):
    """The cells of a column as Python sees them, None where missing."""
    if column.is_text:
        return [None if code < 0 else column.categories[code] for code in column.values]
    return [None if value != value else value for value in column.values.tolist()]


def table(frame):
    return {name: values(frame.column(i)) for i, name in enumerate(frame.names)}


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write


# CSV


def test_csv_types(write):
    path = write(
        "d.csv",
        "whole,real,flag,label,day,clock,none\n"
        "1,1.5,true,x,2020-01-31,10:30,\n"
        "2,NA,False,None,2020-02-01,11:00,?\n"
        "-3,2e3,TRUE,?,,,NaN\n",
    )
    frame = read(path)
    assert table(frame) == {
        "whole": [1, 2, -3],
        "real": [1.5, None, 2000.0],
        "flag": [True, False, True],
        "label": ["x", "None", None],
        "day": ["2020-01-31", "2020-02-01", None],
        "clock": ["10:30", "11:00", None],
        "none": [None, None, None],
    }
    assert frame.column(0).values.dtype == np.int64
    assert not frame.column(3).declared


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "CSV", "tsv", "tsv.gz"])
def test_endings(write, ending):
    separator = "\t" if "tsv" in ending else ","
    path = write(f"d.{ending}", "a,b\n1,x\n2,y\n".replace(",", separator))
    assert table(read(path)) == {"a": [1, 2], "b": ["x", "y"]}
    assert table(read(str(path))) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_separators_marks_and_newlines(write, separator, mark, newline):
    rows = [['"a, or; b"', "c"], ["1", "x"], ["", '"say ""so"""'], ["3", '"two\nlines"']]
    text = mark + newline.join(separator.join(row) for row in rows)
    frame = read(write("d.csv", text))
    assert table(frame) == {"a, or; b": [1, None, 3], "c": ["x", 'say "so"', "two\nlines"]}


@pytest.mark.parametrize("mark", MISSING)
@pytest.mark.parametrize("form", ["{}", '"{}"', " {} "])
def test_missing_is_one_thing(write, mark, form):
    cell = form.format(mark)
    path = write("d.csv", f"a,b,c,k\n1,x,true,k\n{cell},{cell},{cell},k\n")
    expected = {"a": [1, None], "b": ["x", None], "c": [True, None], "k": ["k", "k"]}
    assert table(read(path)) == expected


def test_blanks_around_cells_do_not_count(write):
    path = write(
        "adult.csv", "age, job, sex\n39, State-gov, Male\n ?, ?, Female \n50 , Private,\n\n"
    )
    assert table(read(path)) == {
        "age": [39, None, 50],
        "job": ["State-gov", None, "Private"],
        "sex": ["Male", "Female", None],
    }


def test_decimal_commas_among_semicolons(write):
    path = write("d.csv", "a;b;c\n1,5;1,5;1\n-2;x;2\nNA;3;,5\n")
    with pytest.warns(DataWarning, match="in columns 'a' and 'c', '1,5' is read as 1.5"):
        frame = read(path)
    assert table(frame) == {"a": [1.5, -2, None], "b": ["1,5", "x", "3"], "c": [1, 2, 0.5]}


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("abc", "labels"), ("1.5", "floats"), ("", "floats"), ("2020-01-01", "labels")],
)
@pytest.mark.parametrize("first", ["7", "", "2020-01-01"])
def test_types_are_those_of_the_whole_file(write, monkeypatch, cell, expected, first):
    monkeypatch.setattr(parts_text, "PIECE", 1 << 12)
    monkeypatch.setattr(parts_text, "_LOOKED_AT", 1 << 12)
    frame = read(write("d.csv", "a,b\n" + f"{first},x\n" * 20_000 + f"{cell},y\n" * 2000))
    column = frame.column(0)
    assert column.is_text == (expected == "labels" or first == "2020-01-01")
    wanted = {"7": 7, "": None, "2020-01-01": first}[first]
    assert values(column)[0] == (str(wanted) if column.is_text and wanted else wanted)


cells = st.sampled_from(
    [
        "1",
        "-2",
        "007",
        "1.5",
        "1e9",
        "inf",
        "x",
        "NA",
        "",
        "?",
        "true",
        "False",
        "2020-01-01",
        " 3 ",
        "é",
    ]
)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::unnaive.exceptions.DataWarning")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=st.lists(st.lists(cells, min_size=30, max_size=30), min_size=1, max_size=3))
def test_block_size_changes_nothing(write, monkeypatch, columns):
    columns = [["k"] * 30, *columns]
    text = io.StringIO()
    csv.writer(text).writerows(
        [[f"c{i}" for i in range(len(columns))], *zip(*columns, strict=True)]
    )
    path = write("d.csv", text.getvalue())
    one = table(read(path))
    with monkeypatch.context() as patch:
        patch.setattr(parts_text, "PIECE", 64)
        patch.setattr(parts_text, "_LOOKED_AT", 64)
        assert table(read(path)) == one
    for name, column in zip(one, columns, strict=True):
        for raw, value in zip(column, one[name], strict=True):
            assert value is None or raw not in MISSING
            if isinstance(value, str):
                assert value == raw.strip()


def test_rows_longer_than_a_block(write, monkeypatch):
    monkeypatch.setattr(parts_text, "PIECE", 1 << 14)
    names = [f"column-{i}" for i in range(2000)]
    row = ",".join(["a cell much longer than what is said of it in the header"] * 2000)
    path = write("d.csv", ",".join(names) + f"\n{row}\n")
    assert len(read(path).names) == 2000


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.csv", "", "is empty"),
        ("d.csv", "\ufeff \n", "is empty"),
        ("d.csv.gz", "", "is empty"),
        ("d.csv", "a,b\n", "header but no rows"),
        ("d.csv", "a,b,a\n1,2,3\n", "column name 'a' occurs 2 times; rename"),
        ("d.csv", "a, a\n1,2\n", "column name 'a' occurs 2 times; rename"),
        ("d.csv", ",a\n0,1\n", "column 1 has no name; name it, or remove"),
        ("d.csv", "a,b,\n0,1,\n", "column 3 has no name"),
        ("d.csv", "a,b\n1,2\n\n3,4,5\n", "line 4 has 3 cells and the header has 2; quote"),
        ("d.csv", "\n\na,b\n1,2\n3,4,5\n", "line 5 has 3 cells"),
        ("d.csv.gz", 'a,b\n1,"x\ny"\n3\n', "line 4 has 1 cells"),
        ("d.csv", 'a,b\n1,x\n2,"y\n3,z\n', "quote opened near line 3 is not closed"),
        ("d.csv", 'a,b\n1,x\n"2,y\n3,z\n', "quote opened near line 3 is not closed"),
        ("d.csv", b"PK\x03\x04 and so on", r"Excel workbook.*end in \.xlsx"),
        ("d.csv", b"\xd0\xcf\x11\xe0\xa1\xb1", "old Excel"),
        ("d.csv", gzip.compress(b"a,b\n1,2\n"), r"gzip-compressed.*end in \.gz"),
        ("d.csv", b"PAR1\x15\x04", r"is a Parquet file.*end in \.parquet"),
        ("d.csv", "% note\n% %\n@RELATION x\n", r"is an ARFF file.*end in \.arff"),
        ("d.csv", "<!DOCTYPE html><html>", "is a web page"),
        ("d.csv", b"a,b\n\0\0\1", "binary data"),
        ("d.parquet", "a,b\n1,2\n", "is text, not a Parquet file"),
        ("d.parquet", b"PAR1\x15\x04PAR1", "is damaged"),
        ("d.arff", b"PAR1\x15\x04", "is a Parquet file"),
        ("d.arff", "a,b\n1,2\n", "line 1: found 'a,b'"),
        ("d.xlsx", "a,b\n1,2\n", "is text, not a zip archive or an Excel workbook"),
        ("d", "a,b\n1,2\n", r"no known ending.*\.csv"),
        ("d.parquet.gz", "a,b\n1,2\n", r"no known ending.*\.csv"),
    ],
    ids=range(27),
)
def test_wrong_files(write, name, content, message):
    path = write(name, content)
    with pytest.raises(DataFileError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_a_word_that_looks_like_a_signature(write):
    assert read(write("d.csv", "PAR1,PAR2\n1,2\n")).names == ("PAR1", "PAR2")


def test_damaged_gzip(tmp_path, write):
    whole = write("d.csv.gz", "a,b\n" + "".join(f"{i},{i * i}\n" for i in range(50_000)))
    content = whole.read_bytes()
    for length in (5, 15, 1000, len(content) // 2, len(content) - 1):
        (tmp_path / "cut.csv.gz").write_bytes(content[:length])
        with pytest.raises(DataFileError, match=r"cut\.csv\.gz is cut off.*download it again"):
            read(tmp_path / "cut.csv.gz")
    altered = bytearray(content)
    altered[len(content) // 2] ^= 0xFF
    (tmp_path / "altered.csv.gz").write_bytes(altered)
    with pytest.raises(DataFileError, match="not a valid gzip file"):
        read(tmp_path / "altered.csv.gz")
    (tmp_path / "plain.csv.gz").write_text("a,b\n1,2\n")
    with pytest.raises(DataFileError, match=r"not a valid gzip file.*drop \.gz"):
        read(tmp_path / "plain.csv.gz")


def test_an_excel_workbook_named_csv(tmp_path):
    with zipfile.ZipFile(tmp_path / "book.csv", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(DataFileError, match="Excel"):
        read(tmp_path / "book.csv")


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such file.*absent\.csv"):
        read(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataFileError, match=r"folder\.csv is a folder"):
        read(tmp_path / "folder.csv")


def test_target_must_be_there(write):
    path = write("d.csv", "age,smoker\n1,no\n")
    assert read(path, target="smoker").names == ("age", "smoker")
    with pytest.raises(DataFileError, match="no column 'smokre'; did you mean 'smoker'"):
        read(path, target="smokre")
    with pytest.raises(DataFileError, match="no column 'y'; its columns are 'age', 'smoker'"):
        read(path, target="y")


def test_parquet_without_pyarrow(write, monkeypatch):
    path = write("d.parquet", b"PAR1\x15")
    for module in [m for m in sys.modules if m.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataFileError, match=r'pip install "unnaive\[files\]"'):
        read(path)
    arff = write("d.arff", "@attribute a real\n@data\n1\n")
    assert table(read(arff)) == {"a": [1]}


# Parquet


def test_parquet(tmp_path):
    columns = {
        "whole": [1, 2, 3],
        "real": [1.5, None, 2.5],
        "flag": [True, None, False],
        "label": ["x", None, "y"],
        "none": pa.nulls(3),
        "ordered": pd.Categorical(["low", None, "high"], ["low", "mid", "high"], ordered=True),
        "numbers": pa.array([5, 7, 5]).dictionary_encode(),
        "view": pa.array(["u", "v", None], pa.string_view()),
        "big": pa.array(["u", "v", None], pa.large_string()),
    }
    parquet.write_table(pa.table(columns), tmp_path / "d.parquet")
    frame = read(tmp_path / "d.parquet", target="label")
    assert table(frame) == {
        "whole": [1, 2, 3],
        "real": [1.5, None, 2.5],
        "flag": [True, None, False],
        "label": ["x", None, "y"],
        "none": [None, None, None],
        "ordered": ["low", None, "high"],
        "numbers": [5, 7, 5],
        "view": ["u", "v", None],
        "big": ["u", "v", None],
    }
    assert frame.column(5).categories == ("low", "mid", "high")
    assert frame.column(5).declared


def test_the_index_of_pandas_is_no_column(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[7, 9])
    frame.to_parquet(tmp_path / "d.parquet")
    assert read(tmp_path / "d.parquet").names == ("a", "b")


def test_parquet_errors(tmp_path):
    path = tmp_path / "d.parquet"
    parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), path)
    with pytest.raises(DataFileError, match="no rows"):
        read(path)
    parquet.write_table(pa.table({"day": pa.array([1], pa.date32())}), path)
    with pytest.raises(DataFileError, match=r"d\.parquet: column 'day' has dates.*convert"):
        read(path)
    two = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    parquet.write_table(two, path)
    with pytest.raises(DataFileError, match="column name 'a' occurs 2 times"):
        read(path)
    parquet.write_table(pa.table({"a": list(range(1000))}), path)
    content = path.read_bytes()
    for length in (6, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(DataFileError, match="is damaged"):
            read(path)


# ARFF

HEADER = """% a comment with 'quotes
@RELATION "patients of '24"   % why not
@Attribute 'body mass' REAL
@attribute smoker {no, 'used to', "don't", 50%, never}
@attribute rank INTEGER [0, 9]
@attribute note string

@DATA
"""


def arff(rows, header=HEADER):
    return table(parse_arff(header + rows))


def test_arff():
    frame = parse_arff(
        HEADER
        + "21.5, no, 3, fine\n"
        + "% a comment\n\n"
        + "?,?,?,?\r\n"
        + "1e3 ,'used to',4,'it\\'s, \\\\ \\% \\\"so\\\"' % said he\n"
        + '-0.5,"don\'t",5,"?"\n'
        + "7\t50%\t6\tend"
    )
    assert table(frame) == {
        "body mass": [21.5, None, 1000.0, -0.5, 7.0],
        "smoker": ["no", None, "used to", "don't", "50%"],
        "rank": [3, None, 4, 5, 6],
        "note": ["fine", None, 'it\'s, \\ % "so"', "?", "end"],
    }
    assert frame.column(1).categories == ("no", "used to", "don't", "50%", "never")
    assert [column.declared for column in frame.columns] == [False, True, False, False]


def test_arff_sparse_rows():
    rows = "{0 5, 1 'used to', 3 'a, b'}\n{ 3 x }\n{2 ?,3 ?}\n1,no,2,y\n"
    assert arff(rows) == {
        "body mass": [5.0, 0.0, 0.0, 1.0],
        "smoker": ["used to", "no", "no", "no"],
        "rank": [0, 0, None, 2],
        "note": ["a, b", "x", None, "y"],
    }
    header = "@attribute a numeric\n@attribute b {u,v}\n@data\n"
    assert arff("{}\n{1 v}", header) == {"a": [0, 0], "b": ["u", "v"]}


def test_arff_integers_and_a_question_mark_in_a_domain():
    header = "@attribute a integer\n@attribute b{x,y,?}\n@data\n"
    frame = parse_arff(header + "1,x\n2,?\n")
    assert frame.column(0).values.dtype == np.int64
    assert frame.column(1).categories == ("x", "y")
    assert arff("1.5,x\n?,y\n", header)["a"] == [1.5, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER, "has no rows after @data"),
        (HEADER + "1,no,2\n", "line 9: the row has 3 cells, and 4 attributes.*quotes"),
        (HEADER + "1,no,2,x,\n", "line 9: the row has 5 cells"),
        (HEADER + "\n1,No,2,x\n", r"line 10: attribute 'smoker' has value 'No', .*\{no, used to"),
        (HEADER + "?,no,2,x\nmuch,no,2,x\n", "line 10: attribute 'body mass' is real.*'much'"),
        (HEADER + "1,no,2,x,{0.5}\n", r"line 9: .*weight, \{0.5\}; .*not supported"),
        (HEADER + "{0 1, 3 x}, {2}\n", r"line 9: .*weight, \{2\}"),
        (HEADER + "1,no,2,'x\n", "line 9: the quotes of .*close them"),
        (HEADER + "1,no,2,'x'y\n", "line 9: the quotes of"),
        (HEADER + "{0 1}\n", "line 9: .*leaves out string attribute 'note'"),
        (HEADER + "{4 1, 3 x}\n", "line 9: .*index 4, and attributes are 0 to 3"),
        (HEADER + "{0 1, 0 2, 3 x}\n", "line 9: cannot read the sparse row at ' 0 2"),
        (HEADER + "{a 1}\n", "line 9: cannot read the sparse row"),
        (HEADER + "{0 1, 3 x\n", "line 9: cannot read the sparse row"),
        ("@attribute d date 'yyyy'\n@data\n1\n", "line 1: attribute 'd' has type 'date'; date"),
        ("@attribute d relational\n", "line 1: attribute 'd' has type 'relational'; relational"),
        ("@attribute d float\n", "line 1: attribute 'd' has type 'float'; declare it numeric"),
        ("@attribute d\n", "line 1: cannot read '@attribute d'"),
        ("@attribute 'd real\n", "line 1: cannot read"),
        ("@attribute d {a,b\n", "line 1: the domain of attribute 'd' is not closed"),
        ("@attribute d {a,,b}\n", "line 1: the domain of attribute 'd' has an empty place"),
        ("@attribute d {}\n", "line 1: the domain of attribute 'd' has an empty place"),
        ("@attribute d {a,b,a}\n", "line 1: the domain of attribute 'd' lists 'a' 2 times"),
        ("@attribute d real\n@attribute d real\n@data\n1,2\n", "declares attribute 'd' 2 times"),
        ("@relation x\n@data\n1\n", "no @attribute before @data"),
        ("@relation x\n@attribute d real\n", "no @data line"),
        ("@inputs a, b\n", "line 1: found '@inputs a, b' where"),
    ],
    ids=range(27),
)
def test_arff_errors(text, message):
    with pytest.raises(DataFileError, match=f"^f.arff.*{message}"):
        parse_arff(text, "f.arff")


labels = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\t"), max_size=8)


def quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@given(names=st.lists(labels, min_size=1, max_size=4, unique=True), data=st.data())
def test_arff_round_trip_of_any_labels(names, data):
    domains = [
        data.draw(st.lists(labels.filter(bool), min_size=1, max_size=4, unique=True)) for _ in names
    ]
    rows = data.draw(st.lists(st.tuples(*map(st.sampled_from, domains)), min_size=1, max_size=4))
    lines = [
        f"@attribute {quote(name)} {{{', '.join(map(quote, domain))}}}"
        for name, domain in zip(names, domains, strict=True)
    ]
    lines += ["@data", *(",".join(map(quote, row)) for row in rows)]
    frame = parse_arff("\n".join(lines))
    assert [column.categories for column in frame.columns] == [tuple(d) for d in domains]
    assert list(zip(*table(frame).values(), strict=True)) == rows


@pytest.mark.parametrize("ending", ["arff", "arff.gz", "ARFF"])
def test_arff_files_and_speed(write, ending):
    rng = np.random.default_rng(0)
    rows = rng.choice(["t", "f", "?"], size=(3196, 36))
    header = "\ufeff% note\n@relation kr\n" + "@attribute a{} {{t, f}}\n" * 36
    text = header.format(*range(36)) + "@data\n" + "\n".join(map(",".join, rows))
    path = write(f"d.{ending}", text)
    taken = []
    for _ in range(3):  # the first time imports
        start = time.process_time()
        frame = read(path, target="a35")
        taken.append(time.process_time() - start)
    assert min(taken) < 1
    assert values(frame.column(7)) == [None if cell == "?" else cell for cell in rows[:, 7]]
    assert math.isclose(frame.column(0).missing.mean(), (rows[:, 0] == "?").mean())
