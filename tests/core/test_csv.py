"""The CSV parser of the core against Python's csv module, pyarrow and numbers written out."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnaive._core import csv as core

SKIPPED, INTEGER, FLOAT, TRUTH, TEXT, EMPTY, COMMA, GROUPED, DOTTED = range(9)
LENIENT = 0x80
NUMBERS = {INTEGER, FLOAT, COMMA, GROUPED, DOTTED}
MISSING = ["NA", "?"]


def parse(text, kinds, separator=",", missing=MISSING):
    """Columns of a text as lists of Python values, or None where the parser gives up."""
    raw = np.frombuffer(text.encode() if isinstance(text, str) else text, np.uint8)
    most = core.most_rows(raw)
    numbers, labels = np.empty((len(kinds), most)), np.empty((len(kinds), most), np.int32)
    codes = np.array(kinds, np.uint8)
    rows, absent, texts = core.parse(raw, ord(separator), codes, missing, numbers, labels)
    if rows < 0:
        return None
    columns, at_number, at_label = [], 0, 0
    for place, kind in enumerate(kind & ~LENIENT for kind in kinds):
        if kind in NUMBERS:
            values = numbers[at_number, :rows]
            whole = kind == INTEGER and not absent[place]
            columns.append((values.view(np.int64) if whole else values).tolist())
            at_number += 1
        elif kind == TRUTH:
            columns.append([None if code < 0 else bool(code) for code in labels[at_label, :rows]])
            at_label += 1
        elif kind == TEXT:
            columns.append(
                [None if code < 0 else texts[place][code] for code in labels[at_label, :rows]]
            )
            at_label += 1
    return columns


def look(text, width, separator=","):
    """Counts of every kind, and words, of every column."""
    raw = np.frombuffer(text.encode(), np.uint8)
    counts = np.zeros((width, 9), np.int64)
    rows, words = core.look(raw, ord(separator), MISSING, counts)
    return rows, counts, words


def test_every_kind_is_read():
    text = "1,1.5,true,ü b,\n-2,-1e3,False,yes,NA\n"
    assert parse(text, [INTEGER, FLOAT, TRUTH, TEXT, EMPTY]) == [
        [1, -2],
        [1.5, -1000.0],
        [True, False],
        ["ü b", "yes"],
    ]


def test_missing_integers_make_floats():
    column = parse("1\nNA\n3\n", [INTEGER])[0]
    assert column[::2] == [1.0, 3.0]
    assert np.isnan(column[1])


def test_ends_of_lines_and_empty_lines():
    for text in ("1,a\r\n\r\n2,b", "1,a\n\n\n2,b\n", "1,a\r2,b\r"):
        assert parse(text, [INTEGER, TEXT]) == [[1, 2], ["a", "b"]]


def test_quotes():
    text = '"a, b","x ""y"" z"\n"line\nbreak",""\n'
    assert parse(text, [TEXT, TEXT]) == [["a, b", "line\nbreak"], ['x "y" z', None]]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("1,2\n3\n", [FLOAT, FLOAT]),
        ("1,2,3\n", [FLOAT, FLOAT]),
        ('a"b,1\n', [TEXT, FLOAT]),
        ('"a"b,1\n', [TEXT, FLOAT]),
        ('"open,1\n', [TEXT, FLOAT]),
        ("one\n", [FLOAT]),
        ("1.5\n", [INTEGER]),
        ("+1\n", [FLOAT]),
        ("1e\n", [FLOAT]),
        ("9223372036854775808\n", [INTEGER]),
        ("yes\n", [TRUTH]),
        ("1\n", [EMPTY]),
        (b"\xff\n", [TEXT]),
        (b"\xed\xa0\x80\n", [TEXT]),
        ("1,23,4\n", [GROUPED]),
    ],
)
def test_it_gives_up(text, kinds):
    assert parse(text, kinds, separator=";" if GROUPED in kinds else ",") is None


def test_a_lenient_column_takes_words_for_missing():
    column = parse("61\nnot measured\n70\n", [FLOAT | LENIENT])[0]
    assert column[::2] == [61.0, 70.0]
    assert np.isnan(column[1])


def test_commas_and_groups():
    text = "1,5;1,234.5;1.234,5\n-0,25;12;12,5\n2;1,234,567;1.234.567\n"
    assert parse(text, [COMMA, GROUPED, DOTTED], ";") == [
        [1.5, -0.25, 2.0],
        [1234.5, 12.0, 1234567.0],
        [1234.5, 12.5, 1234567.0],
    ]


def test_looks_are_counted():
    rows, counts, words = look("1,true,a\n2.5,NA,b\n,false,3\n", 3)
    assert rows == 3
    assert counts[0].tolist() == [0, 1, 2, 0, 0, 1, 1, 0, 0]
    assert counts[1, [TRUTH, EMPTY, TEXT]].tolist() == [2, 1, 0]
    assert counts[2, [INTEGER, TEXT]].tolist() == [1, 2]
    assert words == [[], [], ["a", "b"]]


CELLS = st.text(st.sampled_from('ab ü,"\n;x1'), max_size=6)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8))
def test_labels_are_those_of_pythons_csv(rows):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    expected = [[cell or None for cell in column] for column in zip(*rows, strict=True)]
    assert parse(out.getvalue(), [TEXT, TEXT]) == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_are_exact(numbers):
    for spelled in (repr, "{:.17g}".format, "{:.3f}".format):
        texts = [spelled(number) for number in numbers]
        assert parse("\n".join(texts), [FLOAT]) == [[float(text) for text in texts]]


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=20))
def test_integers_are_exact(numbers):
    assert parse("\n".join(map(str, numbers)), [INTEGER]) == [numbers]


@given(st.binary(max_size=60), st.integers(1, 4), st.sampled_from([b",", b";"]))
def test_any_bytes_are_read_or_refused(text, width, separator):
    raw = np.frombuffer(text, np.uint8)
    most = core.most_rows(raw)
    numbers, labels = np.empty((width, most)), np.empty((width, most), np.int32)
    for kind in range(9):
        kinds = np.full(width, kind, np.uint8)
        rows = core.parse(raw, separator[0], kinds, MISSING, numbers, labels)[0]
        assert -1 <= rows <= most
    core.look(raw, separator[0], MISSING, np.zeros((width, 9), np.int64))


def test_arguments_are_checked():
    raw, none = np.frombuffer(b"1\n", np.uint8), np.empty((0, 2), np.int32)
    with pytest.raises(IndexError, match="too few rows of numbers"):
        core.parse(raw, 44, np.array([FLOAT], np.uint8), [], np.empty((0, 2)), none)
    with pytest.raises(IndexError, match="kinds must be"):
        core.parse(raw, 44, np.array([9], np.uint8), [], np.empty((1, 2)), none)
    with pytest.raises(IndexError, match="differ in length"):
        core.parse(raw, 44, np.array([FLOAT], np.uint8), [], np.empty((1, 3)), none)
    assert (
        core.parse(raw, 44, np.array([FLOAT], np.uint8), [], np.empty((1, 0)), none[:, :0])[0] < 0
    )
    with pytest.raises(IndexError, match="every kind"):
        core.look(raw, 44, [], np.zeros((1, 3), np.int64))
