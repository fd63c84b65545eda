"""Streams of arrow batches give the counts of rows in memory bit for bit."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset

import unnaive
from partitions import features, in_memory, patients
from unnaive.counts.engines import streams
from unnaive.counts.engines.streaming import bytes_of
from unnaive.exceptions import DataFileError, UnnaiveError
from unnaive.io.frames import Column

TABLE = pa.Table.from_pandas(patients(), preserve_index=False)


def reader(rows=700):
    return pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(rows))


class Capsule:
    """A source of another library that has nothing but the arrow interface."""

    def __arrow_c_stream__(self, requested_schema=None):
        return reader().__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def relation():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as connection:
        yield connection.from_arrow(TABLE)


@pytest.fixture(scope="module")
def lazy():
    return pytest.importorskip("polars", reason="polars is not installed").from_arrow(TABLE).lazy()


@pytest.fixture
def cursor():
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi", reason="adbc is not installed")
    with dbapi.connect() as connection, connection.cursor() as cursor:
        plain = TABLE.set_column(4, "treated", TABLE["treated"].cast("int8").cast("string"))
        cursor.adbc_ingest("patients", plain)
        cursor.execute("select * from patients")
        yield cursor


@pytest.mark.parametrize(
    "source",
    [reader, lambda: reader(1), Capsule, lambda: dataset.dataset(TABLE).scanner()],
    ids=["reader", "rows one by one", "capsule", "scanner"],
)
def test_streams_of_arrow(source):
    assert unnaive.count(source(), "ill") == in_memory()
    assert unnaive.count(source(), "ill", schema=in_memory().schema) == in_memory()


def test_duckdb_and_polars(relation, lazy):
    for source in (relation, relation.filter("true"), lazy):
        assert unnaive.count(source, "ill") == in_memory()
        assert unnaive.count(source, "ill", schema=in_memory().schema) == in_memory()


def test_a_cursor_of_a_database(cursor):
    rows = patients().assign(treated=TABLE["treated"].cast("int8").cast("string").to_pandas())
    assert unnaive.count(cursor, "ill") == unnaive.count(rows, "ill")


@pytest.mark.parametrize("name", ["nb", "tan", "kdb", "aode", "a2de", "hnb", "atan"])
def test_models_learn_from_streams(name, relation, lazy):
    """Also what needs a second or third pass, and a stream that can be read only once."""
    expected = unnaive.make(name).fit(features(patients()), patients()["ill"])
    for source in (relation, lazy, reader()):
        model = unnaive.make(name).fit(source, "ill")
        answers = model.predict_proba(features(patients()))
        assert np.array_equal(answers, expected.predict_proba(features(patients())))


def test_models_keep_names_that_look_like_those_of_arrays():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"x0": [1, 2, 1, 2], "x1": [3, 3, 4, 4], "y": [0, 1, 0, 1]})
    model = unnaive.NaiveBayes().fit(table.to_reader(2), "y")
    assert model.feature_names_in_.tolist() == ["x0", "x1"]
    model.predict(table.drop("y").to_pandas())  # without a warning of scikit-learn


def test_predictions_are_a_stream_beside_the_columns(relation, lazy):
    model = unnaive.TAN().fit(relation, "ill")
    expected = model.predict_proba(features(patients()))
    for source in (relation, lazy, reader()):
        answers = model.predict_proba(source)
        assert isinstance(answers, pa.RecordBatchReader)
        table = answers.read_all()
        assert table.column_names == [*TABLE.column_names, "probability_no", "probability_yes"]
        assert np.array_equal(table["probability_yes"].to_numpy(), expected[:, 1])
        assert table["visits"].equals(TABLE["visits"])
    assert model.predict(relation).read_all()["prediction"].to_pylist() == list(
        model.predict(features(patients()))
    )
    named = TABLE.append_column("prediction", TABLE["ill"])
    with pytest.raises(UnnaiveError, match="a column 'prediction' already"):
        model.predict(pa.RecordBatchReader.from_batches(named.schema, named.to_batches()))


def test_a_stream_that_can_be_read_once_and_does_not_fit(monkeypatch, lazy):
    monkeypatch.setattr(streams, "ROOM", 1000)
    with pytest.raises(UnnaiveError, match=r"RecordBatchReader can be read only once.*schema="):
        unnaive.TAN().fit(reader(), "ill")
    with pytest.raises(UnnaiveError, match=r"RecordBatchReader can be read only once.*schema="):
        unnaive.count(reader(), "ill", max_memory=200_000)
    few = unnaive.count(reader(), "ill", max_memory=200_000, schema=in_memory().schema)
    assert few == in_memory()
    unnaive.TAN().fit(lazy, "ill")


def test_the_memory_of_held_rows_is_that_of_their_labels_too():
    texts = tuple(f"{place:090}" for place in range(500))
    held = sum(map(sys.getsizeof, (texts, *texts)))
    column = Column("a", np.arange(500, dtype=np.int32), texts)
    assert bytes_of(column, column) == pytest.approx(2 * (held + 2000), rel=0.01)


class Spent(Capsule):
    """A source that gives its rows once and does not say so."""

    def __init__(self):
        self.given = False

    def __arrow_c_stream__(self, requested_schema=None):
        if self.given:
            raise ValueError("spent")
        self.given = True
        return super().__arrow_c_stream__(requested_schema)


def test_a_stream_that_turns_out_to_be_spent(monkeypatch):
    assert unnaive.count(Spent(), "ill") == in_memory()
    assert unnaive.TAN().fit(Spent(), "ill").counts_ == in_memory()
    monkeypatch.setattr(streams, "ROOM", 1000)
    with pytest.raises(UnnaiveError, match="Spent can be read only once"):
        unnaive.TAN().fit(Spent(), "ill")
    assert unnaive.TAN().fit(Capsule(), "ill").counts_ == in_memory()


class Changing:
    """A source whose rows are others in the last of three passes."""

    def __init__(self, last):
        self.passes = [TABLE, TABLE, last]

    def __arrow_c_stream__(self, requested_schema=None):
        now = self.passes.pop(0)
        return now.to_reader(700).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("key", ["kdb", "a2de"])
@pytest.mark.parametrize(
    ("last", "message"),
    [
        (TABLE[:1000], "3,000 in one pass, 1,000 in the next"),
        (pa.concat_tables([TABLE[1:], TABLE[3:4]]), "3,000 in one pass, other ones in the next"),
    ],
)
def test_rows_that_change_between_passes_are_no_model(monkeypatch, key, last, message):
    monkeypatch.setattr(streams, "ROOM", 1000)
    assert TABLE["ill"][0] != TABLE["ill"][3]
    with pytest.raises(UnnaiveError, match=f"the rows changed while they were read: {message}"):
        unnaive.make(key).fit(Changing(last), "ill")
    same = unnaive.make(key).fit(Changing(TABLE), "ill")
    expected = unnaive.make(key).fit(features(patients()), patients()["ill"])
    assert same.counts_ == expected.counts_


def test_partitions_whose_rows_change_are_not_sampled():
    delayed, passes = pytest.importorskip("dask").delayed, []

    def part():
        passes.append(None)
        return patients()[: 50 + len(passes)]

    with (
        pytest.importorskip("dask").config.set(scheduler="synchronous"),
        pytest.raises(UnnaiveError, match=r"51 in one pass, 52 in the next"),
    ):
        unnaive.make("wanbia").fit([delayed(part, pure=False)()], "ill")


def test_a_stream_that_breaks_off():
    def batches():
        yield from TABLE.to_batches(1000)[:2]
        raise ConnectionResetError("connection lost")

    broken = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    with pytest.raises(DataFileError, match=r"broke off after 2,000 rows: .*connection lost"):
        unnaive.count(broken, "ill")


def generator():
    yield from TABLE.to_batches(700)


@pytest.mark.parametrize("source", [generator, lambda: TABLE.to_batches(700)], ids=["made", "list"])
def test_batches_that_a_program_makes(source):
    assert unnaive.count(source(), "ill") == in_memory()
    model = unnaive.KDB().fit(source(), "ill")
    expected = model.predict_proba(features(patients()))
    answers = model.predict_proba(source()).read_all()
    assert np.array_equal(answers["probability_yes"].to_numpy(), expected[:, 1])
    sampled = unnaive.GaussianNaiveBayes().fit(source(), "ill")
    assert sampled.predict_proba(source()).read_all().num_rows == len(patients())


def test_a_generator_is_read_once_and_a_list_again(monkeypatch):
    monkeypatch.setattr(streams, "ROOM", 1000)
    with pytest.raises(UnnaiveError, match="the generator can be read only once"):
        unnaive.TAN().fit(generator(), "ill")
    assert unnaive.TAN().fit(TABLE.to_batches(700), "ill").counts_ == in_memory()


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (
            lambda b: b.set_column(1, "visits", b["visits"].cast("string")),
            r"2 of a batch is 'visits' \(string\), ",
        ),
        (
            lambda b: b.set_column(1, "visits", b["visits"].cast("double")),
            r"2 of a batch is 'visits' \(double\), ",
        ),
        (lambda b: b.drop_columns(["visits"]), "2 of a batch is 'children' .* 'visits'"),
        (lambda b: b.select(b.schema.names[::-1]), "1 of a batch is 'ill' .* 'smoker'"),
        (lambda b: b.select(b.schema.names[:-1]), "6 of a batch is absent, and of .* 'ill'"),
        (lambda b: b.to_pylist(), "it gives a list, and not a record batch of arrow"),
    ],
)
def test_a_batch_of_another_kind_is_one_sentence(later, message):
    """Nothing is half-learned: the model of before stays."""
    first, second, *_ = TABLE.to_batches(700)
    model = unnaive.TAN().fit(reader(), "ill")
    before = model.fitted_
    for learner in (model.fit, unnaive.GaussianNaiveBayes().fit, unnaive.count):
        with pytest.raises(DataFileError, match=f"broke off after 700 rows: .*{message}") as lost:
            learner(iter([first, later(second)]), "ill")
        assert "\n" not in str(lost.value)
    assert model.fitted_ is before
    with pytest.raises(DataFileError, match="there is no batch"):
        unnaive.count(iter([]), "ill")


def only_the_target():
    pandas, delayed = TABLE.select(["ill"]).to_pandas(), pytest.importorskip("dask").delayed
    frames = pytest.importorskip("dask.dataframe")
    arrow = TABLE.select(["ill"])
    yield from (pandas, arrow, arrow.to_reader(), dataset.dataset(arrow), arrow.to_batches(700))
    yield from (frames.from_pandas(pandas, npartitions=2), [delayed(pandas), delayed(pandas)])


@pytest.mark.parametrize("place", range(7))
def test_a_table_that_has_only_the_target_has_nothing_to_learn_from(place, tmp_path):
    source = list(only_the_target())[place]
    with pytest.raises(UnnaiveError, match="there is no column but the target 'ill'; at least one"):
        unnaive.count(source, "ill")
    if place < 2:  # scikit-learn wants other words for tables in memory
        source.to_csv(tmp_path / "a.csv", index=False) if place == 0 else None
        source = tmp_path / "a.csv"
    if place != 1:
        for model in (unnaive.TAN(), unnaive.GaussianNaiveBayes()):
            with pytest.raises(UnnaiveError, match="there is no column but the target 'ill'"):
                model.fit(source, "ill")


def test_two_columns_of_one_name():
    twice = pa.Table.from_arrays(
        [TABLE["visits"], TABLE["children"], TABLE["ill"]], ["n", "n", "y"]
    )
    for source in (twice.to_reader(), dataset.dataset(twice), twice):
        with pytest.raises(ValueError, match="column name 'n' occurs"):
            unnaive.count(source, "y")


def test_a_query_that_fails(relation):
    with pytest.raises(DataFileError, match=r"DuckDBPyRelation .*Conversion"):
        unnaive.count(relation.project("cast(smoker as integer) as s, ill"), "ill")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: unnaive.TAN().fit(s, patients()["ill"]), "y of a stream must be the name"),
        (lambda s: unnaive.TAN().fit(s, "nothing"), "there is no column 'nothing'"),
        (lambda s: unnaive.TAN().fit(s, "ill", np.ones(3)), "sample_weight of a stream"),
        (lambda s: unnaive.TAN().partial_fit(s, "ill"), "read as a stream; take its rows"),
        (lambda s: unnaive.count(s, "ill", checkpoint="x"), "a checkpoint needs files"),
    ],
)
def test_mistakes(call, message, relation):
    with pytest.raises((TypeError, ValueError), match=message):
        call(relation)


def test_no_rows(relation):
    with pytest.raises(UnnaiveError, match="no rows in the DuckDBPyRelation"):
        unnaive.count(relation.limit(0), "ill")
    with pytest.raises(UnnaiveError, match="there is nothing to learn from"):
        unnaive.TAN().fit(relation.limit(0), "ill")
