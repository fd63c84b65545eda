"""CSV rows parsed by the compiled core, and rows that cannot be read."""

import numpy as np
import pytest

import unnaive
from unnaive.io.parts.parsing import CellError, parse
from unnaive.io.reading import MISSING, Format, Style

KINDS = {"n": "int", "x": "float", "t": "bool", "s": "text", "e": "none"}


def parsed(text, kinds=KINDS, separator=",", names=tuple(KINDS)):
    formats = {name: Format(kind) for name, kind in kinds.items()}
    return parse(np.frombuffer(text.encode(), np.uint8), separator, names, formats, MISSING)[0]


def test_columns_are_plain_arrays():
    n, x, t, s, e = parsed("1,2.5,true, a ,\n2,NA,False,?,NA\n").columns
    assert n.values.dtype == np.int64
    assert n.values.tolist() == [1, 2]
    assert x.values[0] == 2.5
    assert np.isnan(x.values[1])
    assert (t.values.tolist(), t.categories) == ([1, 0], (False, True))
    assert (s.values.tolist(), s.categories) == ([0, -1], ("a",))
    assert np.isnan(e.values).all()


def test_labels_that_differ_by_blanks_are_one():
    column = parsed("a\n a\nb\n", {"s": "text"}, names=("s",)).columns[0]
    assert (column.values.tolist(), column.categories) == ([0, 0, 1], ("a", "b"))


def test_only_the_chosen_columns_are_read():
    frame = parsed("1,x,true,a,\n", {"n": "int", "s": "text"})
    assert frame.names == ("n", "s")
    assert frame.n_rows == 1


@pytest.mark.parametrize("text", ["1,2\n", "1,2,true,a,,7\n", "one,2,true,a,\n", '1,2,true,"a,\n'])
def test_other_rows_are_refused(text):
    with pytest.raises(CellError):
        parsed(text)


def test_words_and_styles():
    formats = {"x": Format("float", Style(",", "."), frozenset({"lost"}))}
    text = np.frombuffer(b"1.234,5\nlost\n2\n", np.uint8)
    frame, empty = parse(text, ";", ("x",), formats, MISSING)
    assert frame.columns[0].values[::2].tolist() == [1234.5, 2]
    assert np.isnan(frame.columns[0].values[1])
    assert empty == 0


def test_counts_of_a_file_are_those_of_its_rows(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.normal(50, 10, 500).round(3),
            "visits": rng.integers(0, 5, 500),
            "smoker": rng.choice(["no", "yes, daily", 'the "ex"'], 500),
            "fever": rng.choice([True, False], 500),
            "y": rng.choice(["ill", "well"], 500),
        }
    ).mask(rng.random((500, 5)) < [0.1, 0.1, 0.1, 0, 0])
    table.to_csv(tmp_path / "rows.csv", index=False)
    X, y = table.drop(columns="y").convert_dtypes(), table["y"]
    X["fever"] = X["fever"].astype(bool)
    schema = unnaive.count(X, y, discretize="quantile").schema
    from_file = unnaive.count(tmp_path / "rows.csv", "y", schema=schema)
    assert from_file == unnaive.count(X, y, schema=schema)
