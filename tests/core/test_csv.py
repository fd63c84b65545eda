"""The CSV parser of the core against Python's csv module, patterns and numbers written out."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnaive._core import csv as core

SKIPPED, INTEGER, FLOAT, TRUTH, TEXT, EMPTY, BINARY, WORDS = range(8)
NUMBERS, TRUTHS = {INTEGER, FLOAT}, {TRUTH, BINARY}
MISSING = ["NA", "?"]
STYLES = core.STYLES.split("|")
BLANK = "[ \u00a0\u202f]"


def call(text, kinds, separator=",", missing=MISSING, style="."):
    """What the parser returns, and its numbers and labels."""
    raw = np.frombuffer(text.encode() if isinstance(text, str) else text, np.uint8)
    most = core.most_rows(raw)
    numbers, labels = np.empty((len(kinds), most)), np.empty((len(kinds), most), np.int32)
    styles = np.full(len(kinds), STYLES.index(style), np.uint8)
    absent = [missing] * len(kinds)
    codes = np.array(kinds, np.uint8)
    result = core.parse(raw, ord(separator), codes, styles, absent, numbers, labels)
    return result, numbers, labels


def parse(text, kinds, **how):
    """Columns of a text as lists of Python values, or None where a cell does not fit."""
    (rows, _, absent, texts, _), numbers, labels = call(text, kinds, **how)
    if rows < 0:
        return None
    columns, at_number, at_label = [], 0, 0
    for place, kind in enumerate(kinds):
        if kind in NUMBERS:
            values = numbers[at_number, :rows]
            whole = kind == INTEGER and not absent[place]
            columns.append((values.view(np.int64) if whole else values).tolist())
            at_number += 1
        elif kind in TRUTHS:
            columns.append([None if code < 0 else bool(code) for code in labels[at_label, :rows]])
            at_label += 1
        elif kind in {TEXT, WORDS}:
            columns.append(
                [None if code < 0 else texts[place][code] for code in labels[at_label, :rows]]
            )
            at_label += 1
    return columns


def fault(text, kinds, **how):
    """Line, number of cells, column and cell where the parser stops."""
    return call(text, kinds, **how)[0][-1]


def look(text, width, separator=","):
    raw = np.frombuffer(text.encode(), np.uint8)
    return core.look(raw, ord(separator), np.ones(width, np.uint8), MISSING)


def pattern(marks):
    """The numbers of a style as a regular expression."""
    decimal, thousands = marks[0], BLANK if marks[1:] == " " else re.escape(marks[1:])
    digits = rf"[0-9]+|[1-9][0-9]{{0,2}}(?:{thousands}[0-9]{{3}})+" if thousands else "[0-9]+"
    decimals = r"\.[0-9]*" if decimal == "." else ",[0-9]+"
    number = rf"(?:(?:{digits})(?:{decimals})?|{re.escape(decimal)}[0-9]+)"
    return re.compile(rf"[+-]?(?:{number}(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))")


PATTERNS = {marks: pattern(marks) for marks in STYLES}


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
    for text in ("1,a\r\n\r\n2,b", "1,a\n\n \n2,b\n", "1,a\r2,b\r", "1,a\r2,b\n"):
        assert parse(text, [INTEGER, TEXT]) == [[1, 2], ["a", "b"]]


def test_rows_without_content_are_counted():
    (rows, empty, *_), _, _ = call(',\n1,a\n , \n,,,,\n\n"",\n2,b', [INTEGER, TEXT])
    assert (rows, empty) == (3, 3)


def test_quotes():
    text = '"a, b","x ""y"" z"\n"line\nbreak",""\n5" or 6",x"y"\n"a"b c," ""d"\n'
    assert parse(text, [TEXT, TEXT]) == [
        ["a, b", "line\nbreak", '5" or 6"', "ab c"],
        ['x "y" z', None, 'x"y"', '"d'],
    ]


@pytest.mark.parametrize(
    ("text", "kinds", "expected"),
    [
        ("1,2\n\n3\n", [FLOAT, FLOAT], (2, 1, -1, b"")),
        ("1,2,3\n", [FLOAT, FLOAT], (0, 3, -1, b"")),
        ('a,1\n"open,1\n', [TEXT, FLOAT], (1, 0, -1, b"")),
        ('"\r\n",1\r\n2\r\n', [TEXT, FLOAT], (2, 1, -1, b"")),
        ("1\n one \n", [FLOAT], (1, 1, 0, b"one")),
        ("1.5\n", [INTEGER], (0, 1, 0, b"1.5")),
        ("1e\n", [FLOAT], (0, 1, 0, b"1e")),
        ("1\x002\n", [INTEGER], (0, 1, 0, b"1\x002")),
        ("1-2\n", [FLOAT], (0, 1, 0, b"1-2")),
        ("9223372036854775808\n", [INTEGER], (0, 1, 0, b"9223372036854775808")),
        ("-9223372036854775808\n", [INTEGER], (0, 1, 0, b"-9223372036854775808")),
        ("yes\n", [TRUTH], (0, 1, 0, b"yes")),
        ("1\n", [TRUTH], (0, 1, 0, b"1")),
        ("2\n", [BINARY], (0, 1, 0, b"2")),
        ("1\n", [EMPTY], (0, 1, 0, b"1")),
        ("a\n1.234\n", [WORDS], (1, 1, 0, b"1.234")),
        (b"\xff\n", [TEXT], (0, 1, 0, b"\xff")),
        (b"\xed\xa0\x80\n", [TEXT], (0, 1, 0, b"\xed\xa0\x80")),
    ],
)
def test_it_says_where_it_stops(text, kinds, expected):
    assert parse(text, kinds) is None
    assert fault(text, kinds) == expected


def test_binary_truth_and_words():
    assert parse("1,a\ntrue,\n0,NA\nNA,b", [BINARY, WORDS]) == [
        [True, True, False, None],
        ["a", None, None, "b"],
    ]


def test_a_number_may_spell_a_missing_value():
    column = parse("61\n-9\n70\n", [FLOAT], missing=["-9"])[0]
    assert column[::2] == [61.0, 70.0]
    assert np.isnan(column[1])


def test_blanks_are_those_of_python():
    for code in [*range(0x2100), 0x3000, 0xFEFF]:
        blank = chr(code)
        if blank not in '\n\r,"':
            assert parse(f"{blank}x{blank},1", [TEXT, FLOAT])[0] == [f"{blank}x{blank}".strip()]


@given(st.lists(st.text("0123456789.,'eE+- \u00a0\u202finfat", max_size=9), max_size=20))
def test_numbers_are_those_of_the_patterns(texts):
    cells = [text.strip() for text in texts]
    for cell in filter(None, cells):
        for marks, known in PATTERNS.items():
            column = parse(cell, [FLOAT], separator=";", missing=[], style=marks)
            if not known.fullmatch(cell):
                assert column is None
                continue
            plain = re.sub(BLANK if marks[1:] == " " else "[ ]", "", cell)
            plain = plain.replace(marks[1:], "") if marks[1:] else plain
            np.testing.assert_equal(column, [[float(plain.replace(marks[0], "."))]])


def test_numbers_beyond_the_largest_and_the_smallest():
    assert parse("1e400\n-1e400\n1e-400\n", [FLOAT]) == [[np.inf, -np.inf, 0.0]]


def test_looks_are_told():
    rows, empty, looks, _ = look("1,true,a\n2.5,NA,b\n,,\n,false,3\n+1.25,a,b\n", 3)
    assert (rows, empty) == (4, 1)
    dots = sum(1 << i for i, marks in enumerate(STYLES) if marks[0] == ".")
    every = (1 << len(STYLES)) - 1
    assert looks == [
        (3, False, dots, "+1.25", [], []),
        (0, True, every, "", ["true", "false", "a"], [1, 1, 1]),
        (1, True, every, "", ["a", "b"], [1, 2]),
    ]
    assert look("9223372036854775808\n", 1)[2] == [(1, False, every, "", [], [])]
    many = "\n".join(f"w{i}" for i in range(core.MOST_WORDS + 1))
    assert look(many, 1)[2][0][4] is None


@given(st.lists(st.text("01.,' +-eax", min_size=1, max_size=6), min_size=1, max_size=20))
def test_styles_are_those_of_the_patterns(cells):
    known = [text.strip() for text in cells]
    numbers = [cell for cell in known if any(p.fullmatch(cell) for p in PATTERNS.values())]
    marked = [cell for cell in numbers if not re.fullmatch("-?[0-9]+", cell)]
    styles = [
        1 << i for i, p in enumerate(PATTERNS.values()) if all(p.fullmatch(cell) for cell in marked)
    ]
    words = Counter(cell for cell in known if cell and cell not in numbers)
    _, _, [(n, whole, mask, example, found, times)], _ = look("\n".join(known) + "\n", 1, ";")
    assert (n, whole, mask) == (len(numbers), not marked, sum(styles))
    assert example == max(marked, key=lambda text: (len(text), text), default="")
    assert dict(zip(found, times, strict=True)) == words


def test_the_header_is_the_first_row():
    raw = np.frombuffer(b'\n,,\n"a, b" ,c\r\n1,2\n', np.uint8)
    assert core.header(raw, ord(",")) == ([b"a, b ", b"c"], 15)
    assert core.header(raw[:8], ord(","))[1] == -1
    assert core.header(np.frombuffer(b"a;b", np.uint8), ord(";")) == ([b"a", b"b"], 3)


@pytest.mark.parametrize(
    ("text", "whole"),
    [("1,2\n3", 4), ("1,2", 0), ('1,2\n"a\n', 4), ('1,2\n"a\n",3\r4', 11), ('5",\n6,7\n8', 8)],
)
def test_pieces_end_with_a_row(text, whole):
    assert core.row_end(np.frombuffer(text.encode(), np.uint8), ord(",")) == whole


CELLS = st.text(st.sampled_from('ab ü,"\n;x1'), max_size=6)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8))
def test_labels_are_those_of_pythons_csv(rows):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    expected = [[cell.strip() or None for cell in column] for column in zip(*rows, strict=True)]
    assert parse(out.getvalue(), [TEXT, TEXT]) == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_are_exact(numbers):
    for spelled in (repr, "{:.17g}".format, "{:.3f}".format):
        texts = [spelled(number) for number in numbers]
        assert parse("\n".join(texts), [FLOAT]) == [[float(text) for text in texts]]


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=20))
def test_integers_are_exact(numbers):
    assert parse("\n".join(map(str, numbers)), [INTEGER]) == [numbers]


@given(st.binary(max_size=60), st.integers(1, 4), st.sampled_from([",", ";"]))
def test_any_bytes_are_read_or_refused(text, width, separator):
    raw = np.frombuffer(text, np.uint8)
    for kind in range(8):
        rows = call(text, [kind] * width, separator=separator)[0][0]
        assert -1 <= rows <= core.most_rows(raw)
    core.look(raw, ord(separator), np.ones(width, np.uint8), MISSING)
    assert 0 <= core.row_end(raw, ord(separator)) <= len(raw)
    assert -1 <= core.header(raw, ord(separator))[1] <= len(raw)


def test_arguments_are_checked():
    raw, zero = np.frombuffer(b"1\n", np.uint8), np.zeros(1, np.uint8)
    floats, none = np.array([FLOAT], np.uint8), np.empty((0, 2), np.int32)
    with pytest.raises(IndexError, match="too few rows of numbers"):
        core.parse(raw, 44, floats, zero, [[]], np.empty((0, 2)), none)
    with pytest.raises(IndexError, match="too few rows of labels"):
        core.parse(raw, 44, np.array([TEXT], np.uint8), zero, [[]], np.empty((0, 2)), none)
    with pytest.raises(IndexError, match="kinds must be"):
        core.parse(raw, 44, np.array([8], np.uint8), zero, [[]], np.empty((1, 2)), none)
    with pytest.raises(IndexError, match="styles must be"):
        core.parse(raw, 44, floats, np.array([7], np.uint8), [[]], np.empty((1, 2)), none)
    with pytest.raises(IndexError, match="differ in number"):
        core.parse(raw, 44, floats, zero, [], np.empty((1, 2)), none)
    with pytest.raises(IndexError, match="differ in length"):
        core.parse(raw, 44, floats, zero, [[]], np.empty((1, 3)), none)
    assert core.parse(raw, 44, floats, zero, [[]], np.empty((1, 0)), none[:, :0])[0] < 0
    with pytest.raises(IndexError, match="must be a column"):
        core.look(raw, 44, zero[:0], [])
