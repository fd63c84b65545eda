"""Spark: local[2] gives the counts and predictions of one process bit for bit, faults or not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unnaive
from partitions import ROWS, features, in_memory, patients
from unnaive.counts.engines import engine_of, spark
from unnaive.counts.engines.dispatch import Counting
from unnaive.counts.engines.sampling import sample_rows
from unnaive.counts.engines.spark import CountPieces
from unnaive.exceptions import SchemaMismatch, UnnaiveError

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def table(session):
    """Patients in six partitions; five distinct visits leave one of them empty."""
    arrow = pytest.importorskip("pyarrow")
    rows = session.createDataFrame(arrow.Table.from_pandas(patients(), preserve_index=False))
    return rows.repartition(6, "visits")


def test_a_task_that_fails_once_changes_nothing(table, tmp_path):
    from pyspark import TaskContext  # noqa: PLC0415 - optional

    failed = tmp_path / "failed"

    def fail_once(batches):
        for batch in batches:
            if TaskContext.get().attemptNumber() == 0 and not failed.exists():
                failed.write_text(str(batch.num_rows))
                raise RuntimeError("the disk is gone")
            yield batch

    failing = table.mapInArrow(fail_once, table.schema)
    assert unnaive.count(failing, "ill", schema=in_memory().schema) == in_memory()
    assert int(failed.read_text()) > 0


def test_counts_and_predictions_are_those_of_memory(table):
    frame = patients()
    model = unnaive.KDB().fit(table, "ill")  # a pass for the schema, for pairs, for families
    local = unnaive.KDB().fit(features(frame), frame["ill"])
    assert replace(model.counts_, families=()) == in_memory()
    assert model.counts_ == local.counts_
    answers = model.predict(model.predict_proba(table)).toArrow().to_pandas()
    assert len(answers) == ROWS
    again = answers[features(frame).columns]
    found = answers[["probability_no", "probability_yes"]].to_numpy()
    np.testing.assert_array_equal(found, local.predict_proba(again))
    assert answers["prediction"].tolist() == local.predict(again).tolist()


def test_errors_name_column_and_cure(table):
    schema = in_memory().schema
    with pytest.raises(
        UnnaiveError, match=r"^partition \d: the target has the label 'no'.*classes"
    ):
        unnaive.count(table, "ill", schema=unnaive.Schema(schema.columns, ("yes",), "ill"))
    with pytest.raises(SchemaMismatch, match="no column 'smoker'"):
        unnaive.count(table.drop("smoker"), "ill", schema=schema)
    with pytest.raises(SchemaMismatch, match=r"column 'more'.*drop it"):
        unnaive.count(table.withColumn("more", table["visits"]), "ill", schema=schema)
    with pytest.raises(ValueError, match="no column 'sick'"):
        unnaive.count(table, "sick")
    with pytest.raises(UnnaiveError, match="target is a ndarray; with Spark, name a column"):
        unnaive.count(table, patients()["ill"].to_numpy())
    with pytest.raises(UnnaiveError, match="no partition has any row"):
        unnaive.count(table.limit(0), "ill", schema=schema)
    model = unnaive.NaiveBayes().fit(features(patients()), patients()["ill"])
    with pytest.raises(UnnaiveError, match="column 'prediction' already"):
        model.predict(table.withColumn("prediction", table["visits"]))
    with pytest.raises(SchemaMismatch, match="missing: 'smoker'"):
        model.predict(table.drop("smoker"))


@pytest.mark.parametrize("weight", [None, "weight"])
def test_pieces_are_the_counts(weight, monkeypatch):
    monkeypatch.setattr(spark, "PIECE", 37)
    frame = patients().assign(weight=np.linspace(0.0, 2.0, ROWS) if weight else 1.0)
    frame = frame if weight else frame.drop(columns="weight")
    families = ((0, 1, 2), (3, 4), (1,))
    work = Counting(
        target="ill", weight=weight, schema=in_memory().schema, families=families, triples=True
    )
    pieces = CountPieces(work)
    parts = [work.run_part(frame[start:][:700]) for start in range(0, ROWS, 700)]
    found = {}
    for part in parts:
        for place, content in pieces.cut(part):
            assert len(content) < 8000
            piece = pieces.load(place, content)
            found[place] = pieces.add(found[place], piece) if place in found else piece
    again = {place: pieces.load(place, pieces.dump(piece)) for place, piece in found.items()}
    assert pieces.whole(again) == work.merge(parts)


@pytest.mark.parametrize("key", ["kdb", "a2de", "cherry", "auto"])
def test_models_of_counts_and_rows_are_those_of_memory(session, key):
    frame = patients()[["smoker", "visits", "pressure", "ill"]][:300]
    arrow = pytest.importorskip("pyarrow")
    rows = session.createDataFrame(arrow.Table.from_pandas(frame, preserve_index=False))
    X, model = features(frame), unnaive.make(key)
    expected = model.fit(X, frame["ill"]).predict_joint_log_proba(X)
    assert np.array_equal(model.fit(rows, "ill").predict_joint_log_proba(X), expected)


def test_sampled_rows_are_those_of_memory(session):
    arrow = pytest.importorskip("pyarrow")
    whole = arrow.Table.from_pandas(patients(), preserve_index=False)
    sources = (session.createDataFrame(whole), whole.to_reader(700))
    (mine, said), (theirs, _) = (sample_rows(engine_of(one), "ill", size=200) for one in sources)
    assert said == (200, len(patients()))
    for index in range(len(mine.frame.names)):
        one, other = mine.frame.column(index), theirs.frame.column(index)
        cells = ([column.cell(row) for row in range(200)] for column in (one, other))
        np.testing.assert_equal(*cells)
