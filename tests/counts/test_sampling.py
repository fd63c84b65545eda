"""Models that need rows get the same rows from every engine, and all of them if there are few."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

import unnaive
from partitions import features, patients
from unnaive.counts.engines import engine_of, sampling
from unnaive.counts.engines.sampling import hash_of, sample_rows
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.io.frames import Column, joined_columns, to_frame
from unnaive.models.base import CountsClassifier

SIZE = 500
OF_NUMBERS = {"full-bayes", "k-naive"}
SLOW = {"pazzani-eda", "apnbc-eda", "ienb", "auto"}
KEYS = [pytest.param(k, marks=[pytest.mark.long] * (k in SLOW)) for k in unnaive.all_models()]


@cache
def table():
    """A few patients, and numbers that the Gaussian models take."""
    rows = patients()[["smoker", "visits", "children", "pressure", "ill"]][:150]
    return rows.assign(pressure=rows["pressure"].fillna(100.0), visits=rows["visits"] * 1.5)


def numbers():
    return table()[["visits", "pressure", "ill"]]


def stream(frame, _):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame).to_reader(37)


def lazy(frame, _):
    return pytest.importorskip("polars").from_pandas(frame).lazy()


def relation(frame, _):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(pytest.importorskip("pyarrow").Table.from_pandas(frame))


def files(frame, folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    whole = arrow.Table.from_pandas(frame, preserve_index=False)
    for number, start in enumerate(range(0, len(frame), len(frame) // 3)):
        parquet.write_table(whole.slice(start, len(frame) // 3), folder / f"{number}.parquet")
    return pytest.importorskip("pyarrow.dataset").dataset(folder)


def dask(frame, _):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=4)


def bag(frame, _):
    cuts = [frame[:10], frame[10:10], frame[10:90], frame[90:]]
    return pytest.importorskip("dask.bag").from_sequence(cuts, npartitions=2)


SOURCES = [stream, lazy, relation, files, dask, bag]


@pytest.fixture(autouse=True)
def synchronous():
    with pytest.importorskip("dask").config.set(scheduler="synchronous"):
        yield


def cells(frame):
    frame = to_frame(frame)
    columns = [frame.column(index) for index in range(len(frame.names))]
    return [[column.cell(row) for row in range(frame.n_rows)] for column in columns]


def slow_hash(position):
    mask = 2**64 - 1
    mixed = (position + 1) * 0x9E3779B97F4A7C15 & mask
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & mask
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & mask
    return mixed ^ mixed >> 31


def test_the_hash_is_its_slow_twin_and_favours_no_position():
    positions = np.arange(100_000)
    hashes = hash_of(positions)
    assert hashes[:50].tolist() == [slow_hash(place) for place in range(50)]
    chosen = positions[np.argsort(hashes)[:10_000]]
    assert abs(np.histogram(chosen, 10)[0] - 1000).max() < 4 * np.sqrt(900)


@pytest.mark.parametrize("source", SOURCES)
def test_every_engine_draws_the_same_rows_in_their_order(source, tmp_path):
    frame = patients().assign(weight=np.arange(len(patients())) % 3)
    chosen = sorted(sorted(range(len(frame)), key=slow_hash)[:SIZE])
    engine = engine_of(source(frame, tmp_path))
    rows, sampled = sample_rows(engine, "ill", "weight", SIZE)
    assert sampled == (SIZE, len(frame))
    expected = frame.iloc[chosen]
    np.testing.assert_equal(cells(rows.frame), cells(features(expected.drop(columns="weight"))))
    assert [rows.target.cell(row) for row in range(SIZE)] == expected["ill"].tolist()
    assert rows.weights.tolist() == expected["weight"].tolist()


@pytest.mark.parametrize("key", KEYS)
def test_every_model_on_every_engine_is_that_of_memory(key, tmp_path):
    frame = numbers() if key in OF_NUMBERS else table()
    sources = [stream, files] if key in SLOW else SOURCES
    model = unnaive.make(key)
    if "random_state" in model.get_params():
        model = partial(unnaive.make, key, random_state=0)()
    X = features(frame)
    expected = model.fit(X, frame["ill"]).predict_joint_log_proba(X)
    for place, source in enumerate(sources):
        folder = tmp_path / str(place)
        folder.mkdir()
        model.fit(source(frame, folder), "ill")
        assert model.sample_ is None
        assert np.array_equal(model.predict_joint_log_proba(X), expected), source.__name__


@pytest.mark.parametrize("key", ["wanbia", "gaussian-nb", "decomposable"])
def test_a_model_of_a_sample_says_so_and_keeps_it(key, tmp_path, monkeypatch):
    monkeypatch.setattr(sampling.sample_rows, "__defaults__", (None, SIZE))
    frame = patients()[["smoker", "visits", "pressure", "ill"]]
    model = unnaive.make(key).fit(lazy(frame, tmp_path), "ill")
    assert model.sample_ == (SIZE, len(frame))
    chosen = sorted(sorted(range(len(frame)), key=slow_hash)[:SIZE])
    some = frame.iloc[chosen]
    memory = unnaive.make(key).fit(features(some), some["ill"])
    X = features(frame[:100])
    assert np.array_equal(model.predict_proba(X), memory.predict_proba(X))
    model.save(tmp_path / "model.unb")
    assert unnaive.load(tmp_path / "model.unb").sample_ == (SIZE, len(frame))
    assert model.fit(features(some), some["ill"]).sample_ is None
    lines = model.fit(dask(frame, None), "ill").report(X, frame["ill"][:100], folds=None)
    assert "a sample of 500 of 3,000 rows" in str(lines.summary["model"]["limits"])


def test_calibration_and_leave_one_out_choices_take_rows_from_streams(tmp_path):
    frame, X = table(), features(table())
    for model in (unnaive.TAN(calibrate="loo"), unnaive.KDB(k="loo")):
        expected = model.fit(X, frame["ill"]).predict_proba(X)
        assert isinstance(model, CountsClassifier)
        assert np.array_equal(model.fit(lazy(frame, tmp_path), "ill").predict_proba(X), expected)


def test_predictions_of_models_of_rows_are_lazy(tmp_path):
    frame, X = table(), features(table())
    model = unnaive.make("gaussian-tan").fit(lazy(frame, tmp_path), "ill")
    answers = model.predict_proba(files(frame, tmp_path)).read_all()["probability_yes"]
    assert np.array_equal(answers.to_numpy(), model.predict_proba(X)[:, 1])


def test_parts_of_columns_are_joined():
    empty = Column("a", np.array([-1]), ())
    flags = Column("a", np.array([True, False]))
    assert np.isnan(joined_columns([Column("a", np.array([1])), empty]).values[1])
    both = joined_columns([flags, Column("a", np.array([1, -1]), (True, False))])
    assert [both.cell(row) for row in range(4)] == [True, False, False, None]
    assert joined_columns([flags, flags]).values.dtype == bool
    with pytest.raises(ValueError, match="'a' has numbers in some parts and labels in others"):
        joined_columns([Column("a", np.array([1])), Column("a", np.array([0]), ("x",))])
    declared = pd.Series(["x", "y"], dtype=pd.CategoricalDtype(["y", "x", "z"]))
    kept = to_frame(pd.DataFrame({"a": declared})).column(0)
    assert joined_columns([kept, kept]).categories == ("y", "x", "z")
    assert joined_columns([kept, kept]).declared


def test_parts_with_other_columns_or_no_weights_are_refused():
    delayed = pytest.importorskip("dask").delayed
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "ill": ["no", "yes"], "w": ["5", "7"]})
    part = frame[["a", "b", "ill"]]
    for other in (part[["b", "a", "ill"]], part.rename(columns={"b": "c"})):
        with pytest.raises(SchemaMismatch, match=r"columns \['a', 'b'\] in one partition, \['"):
            sample_rows(engine_of([delayed(part), delayed(other)]), "ill")
    with pytest.raises(UnnaiveError, match="sample_weight 'w' must be numbers"):
        sample_rows(engine_of([delayed(frame)]), "ill", "w")
