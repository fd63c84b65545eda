"""One door for tables: every library's frame gives the same model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from unnaive import TAN, NaiveBayes, count
from unnaive.io.frames import to_column, to_frame

ROWS = {
    "color": ["red", "blue", None, "red", "green", "blue"] * 5,
    "size": [1.5, None, 2.5, 9.5, 8.25, 7.0] * 5,
    "count": [1, 2, 3, 1, None, 2] * 5,
    "flag": [True, False, None, True, True, False] * 5,
}
LABELS = ["no", "no", "no", "yes", "yes", "yes"] * 5

FRAMES = {
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas nullable": lambda: pd.DataFrame(ROWS).convert_dtypes(),
    "pandas category": lambda: pd.DataFrame(ROWS).astype({"color": "category"}),
    "pandas object": lambda: pd.DataFrame(ROWS, dtype=object),
    "pandas arrow": lambda: pd.DataFrame(ROWS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(ROWS),
    "polars categorical": lambda: pl.DataFrame(ROWS).with_columns(
        pl.col("color").cast(pl.Categorical)
    ),
    "pyarrow": lambda: pa.table(ROWS),
    "pyarrow dictionary": lambda: pa.table(
        {**ROWS, "color": pa.array(ROWS["color"]).dictionary_encode()}
    ),
    "numpy object": lambda: np.array(list(zip(*ROWS.values(), strict=True)), dtype=object),
    "list": lambda: [list(row) for row in zip(*ROWS.values(), strict=True)],
}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]()


def test_every_frame_gives_the_same_model(frame):
    reference = TAN().fit(FRAMES["polars"](), LABELS)
    model = TAN().fit(frame, LABELS)
    assert model.schema_.sizes.tolist() == [3, 2, 3, 2]
    assert np.array_equal(model.predict_proba(frame), reference.predict_proba(FRAMES["polars"]()))


def test_names_are_kept_where_there_are_any(frame):
    model = NaiveBayes().fit(frame, LABELS)
    if isinstance(frame, np.ndarray | list):
        assert not hasattr(model, "feature_names_in_")
    else:
        assert list(model.feature_names_in_) == list(ROWS)


def test_names_are_checked_at_predict():
    model = NaiveBayes().fit(FRAMES["pandas"](), LABELS)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAMES["pandas"]().rename(columns={"size": "weight"}))
    with pytest.raises(ValueError, match="feature"):
        model.predict(FRAMES["pandas"]()[["color", "size"]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(to_frame(FRAMES["pandas"]()[["size", "color", "count", "flag"]]))


def test_declared_categories_are_honoured_even_if_absent():
    frame = pd.DataFrame(
        {
            "grade": pd.Categorical(["b", "a"], categories=["c", "b", "a"], ordered=True),
            "kind": pd.Categorical(["u", "u"], categories=["u", "w"]),
        }
    )
    schema = NaiveBayes().fit(frame, [0, 1]).schema_
    assert schema.columns[0].categories == ("c", "b", "a")
    assert schema.columns[1].categories == ("u", "w")
    enum = pl.DataFrame({"grade": pl.Series(["b", "a"], dtype=pl.Enum(["c", "b", "a"]))})
    assert NaiveBayes().fit(enum, [0, 1]).schema_.columns[0].categories == ("c", "b", "a")
    target = pd.Series(pd.Categorical(["x", "y"], categories=["z", "y", "x"]))
    assert list(NaiveBayes().fit([[1], [2]], target).classes_) == ["x", "y", "z"]


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT], ids=str)
def test_missing_is_one_thing(missing):
    column = to_frame(np.array([["a"], [missing], ["b"]], dtype=object)).column(0)
    assert column.missing.tolist() == [False, True, False]
    numbers = to_frame(np.array([[1.5], [missing], [2]], dtype=object)).column(0)
    assert np.array_equal(numbers.values, [1.5, np.nan, 2], equal_nan=True)


TARGETS = {
    "str": ["b", "a", "b"],
    "int": [2, 1, 2],
    "float": [2.0, 1.0, 2.0],
    "bool": [True, False, True],
    "numpy object": np.array(["b", "a", "b"], dtype=object),
    "numpy int8": np.array([2, 1, 2], dtype=np.int8),
    "pandas str": pd.Series(["b", "a", "b"]),
    "pandas Int64": pd.Series([2, 1, 2], dtype="Int64"),
    "pandas boolean": pd.Series([True, False, True], dtype="boolean"),
    "polars int": pl.Series([2, 1, 2]),
    "polars str": pl.Series(["b", "a", "b"]),
    "pyarrow": pa.chunked_array([["b"], ["a", "b"]]),
}


@pytest.mark.parametrize("labels", TARGETS.values(), ids=TARGETS)
def test_targets_of_every_type(labels):
    model = NaiveBayes().fit([["u"], ["v"], ["u"]], labels)
    plain = labels.to_pylist() if isinstance(labels, pa.ChunkedArray) else list(labels)
    assert model.predict([["u"], ["v"], ["u"]]).tolist() == plain
    assert model.classes_.tolist() == sorted(set(plain))


def test_unknown_categories_and_the_error():
    X = pd.DataFrame({"smoker": ["no", "yes", "no", None], "age": [20.5, 60.5, 30.5, 40.5]})
    model = NaiveBayes().fit(X, [0, 1, 0, 1])
    new = pd.DataFrame({"smoker": ["ex", None], "age": [50.5, 50.5]})
    chances = model.predict_proba(new)
    assert np.array_equal(chances[0], chances[1])
    strict = NaiveBayes(handle_unknown="error").fit(X, [0, 1, 0, 1])
    strict.predict(new[1:])
    message = "column 'smoker' has value 'ex' not seen in fit; use handle_unknown=\"missing\""
    with pytest.raises(ValueError, match=message):
        strict.predict(new)


def test_integers_are_categories_whatever_their_range():
    y = np.arange(400) % 2
    for column in (y, y + 100, y - 7, y * 10**12, y * 200, (np.arange(400) % 300), -y):
        for dtype in (np.int64, np.int32, np.float64):
            X = column.astype(dtype).reshape(-1, 1)
            model = NaiveBayes(discretize=None).fit(X, y)
            assert list(model.schema_.columns[0].categories) == sorted(set(X[:, 0].tolist()))
            assert model.score(X, y) == 1.0
            unseen = model.predict_proba(np.array([[10**6 + 1]], dtype=dtype))
            assert unseen == pytest.approx(model.predict_proba(np.array([[np.nan]])))


def test_integers_outside_the_first_rows():
    X = np.zeros((3000, 2), dtype=int)
    X[2500, 0], X[2600, 1] = -5, 900
    model = NaiveBayes(discretize=None).fit(X, np.arange(3000) % 2)
    assert [c.categories for c in model.schema_.columns] == [(-5, 0), (0, 900)]
    assert model.counts_.marginal(0)[:, 0].sum() == 1


def test_whole_numbers_of_few_values_are_categories_by_default():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 5, 200), random.normal(size=200)])
    schema = NaiveBayes().fit(X, X[:, 1] > 0).schema_
    assert schema.columns[0].categories == (0.0, 1.0, 2.0, 3.0, 4.0)
    assert len(schema.columns[1].edges) == 1
    all_numbers = NaiveBayes(categorical_features=[]).fit(X, X[:, 1] > 0).schema_
    assert all_numbers.columns[0].edges == ()
    named = pd.DataFrame(X, columns=["a", "b"])
    chosen = NaiveBayes(categorical_features=["b"], discretize="quantile").fit(named, X[:, 1] > 0)
    assert chosen.schema_.columns[1].size == 200


def test_labels_of_bins_are_readable():
    schema = TAN().fit(FRAMES["pandas"](), LABELS).schema_
    assert [schema.columns[1].label(i) for i in range(2)] == ["≤ 4.75", "> 4.75"]


def test_fortran_order_slices_and_readonly_arrays():
    X = np.random.default_rng(0).integers(0, 4, (100, 6))
    y = X[:, 0] % 2
    reference = TAN(discretize=None).fit(X[:, ::2].copy(), y).predict_proba(X[:, ::2].copy())
    frozen = X[:, ::2].copy()
    frozen.setflags(write=False)
    for variant in (X[:, ::2], np.asfortranarray(X[:, ::2]), frozen, X[:, ::2].astype(np.int8)):
        assert np.array_equal(
            TAN(discretize=None).fit(variant, y).predict_proba(variant), reference
        )


def test_a_series_of_one_column_is_a_target():
    assert to_column(pd.DataFrame({"y": ["a", "b"]})).categories == ("a", "b")


def test_numbers_at_any_address_are_read():
    """Arrays that come over a network, as to a worker of Dask, may begin at an odd address."""

    def sent(values):
        return np.frombuffer(b"." + values.tobytes(), values.dtype, offset=1).reshape(values.shape)

    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(40, 3)), rng.integers(5, size=(40, 3))):
        y = (X[:, 0] > 0).astype(int)
        expected = TAN().fit(X, y).predict_proba(X)
        odd = sent(X)
        assert not odd.flags.aligned
        frame = pd.DataFrame(sent(np.ascontiguousarray(X.T)).T, copy=False)
        for given in (odd, frame.set_axis(list("abc"), axis=1)):
            model = TAN().fit(given, sent(y))
            assert np.array_equal(model.predict_proba(given), expected)
            assert np.array_equal(count(given, sent(y)).pairs, model.counts_.pairs)


@pytest.mark.parametrize("method", ["explain", "partial_fit"])
def test_a_path_where_rows_are_needed_is_named(method, tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    model = NaiveBayes().fit(pd.DataFrame(ROWS), LABELS)
    labels = () if method == "explain" else (LABELS,)
    for name in (path, str(path)):
        with pytest.raises(TypeError, match=r"rows\.csv' is the name of a file.*read_csv"):
            getattr(model, method)(name, *labels)
