"""Models that are given paths of files learn from them as from the table in memory."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest

import unnaive
from partitions import features, patients
from unnaive.counts.engines import engine_of
from unnaive.counts.engines.sampling import sample_rows
from unnaive.exceptions import DataFileError, DataWarning, SchemaMismatch, UnnaiveError


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet")
    patients()[:700].to_parquet(folder / "a.parquet")
    patients()[700:].to_parquet(folder / "b.parquet")
    return folder


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    patients()[:700].to_csv(folder / "a.csv", index=False)
    patients()[700:].to_csv(folder / "b.csv", index=False)
    return folder


@pytest.mark.parametrize("key", ["nb", "tan", "kdb", "gaussian-tan"])
def test_models_of_files_are_those_of_memory(key, parquet, text):
    X, y = features(patients()), patients()["ill"]
    expected = unnaive.make(key).fit(X, y).predict_proba(X)
    for source in (parquet, str(parquet / "*.parquet"), sorted(text.iterdir())):
        model = unnaive.make(key).fit(source, "ill")
        assert model.sample_ is None
        assert np.array_equal(model.predict_proba(X), expected)


def test_the_sample_is_that_of_all_rows_one_after_the_other(parquet, text):
    stream = pa.Table.from_pandas(patients(), preserve_index=False).to_reader(100)
    sources = (engine_of(one) for one in (parquet, text, stream))
    drawn = [sample_rows(engine, "ill", size=200) for engine in sources]
    visits = [rows.frame.column(rows.frame.names.index("visits")).values for rows, _ in drawn]
    assert {said for _, said in drawn} == {(200, len(patients()))}
    assert np.array_equal(visits[0], visits[2])
    assert np.array_equal(visits[1], visits[2])


def test_a_column_that_is_text_in_one_file_is_text_in_all(text, tmp_path):
    """Also of a model that needs rows; numbers of the first file are then read again as text."""
    whole = patients().assign(visits=patients()["visits"].astype(str))
    whole.loc[len(whole) - 1, "visits"] = "many"
    patients()[:-1].to_csv(tmp_path / "a.csv", index=False)
    whole[-1:].to_csv(tmp_path / "b.csv", index=False)
    X = features(whole)
    for key in ("tan", "wanbia"):
        model = unnaive.make(key).fit(tmp_path, "ill")
        assert model.schema_.columns[1].categories == ("0", "1", "2", "3", "4", "many")
        expected = unnaive.make(key).fit(X, whole["ill"])
        assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("words", [1, 40_000])
def test_a_file_that_begins_again_is_counted_once(tmp_path, words):
    """Words far below the first block: one is a missing value, many make a column of text."""
    rows = [f"{i % 7},{'yes' if i % 3 else 'no'}" for i in range(400_000)]
    lines = ["visits,ill", *rows, *["many,yes"] * words]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    caught = pytest.warns(DataWarning, match="1 'many'") if words == 1 else nullcontext()
    with caught:
        model = unnaive.NaiveBayes().fit(tmp_path / "a.csv", "ill")
    assert model.counts_.total == 400_000 + words
    assert ("many" in model.schema_.columns[0].categories) is (words > 1)


def test_predictions_of_files_are_a_stream(parquet):
    X = features(patients())
    model = unnaive.TAN().fit(parquet, "ill")
    answers = model.predict_proba(parquet)
    assert isinstance(answers, pa.RecordBatchReader)
    table = answers.read_all()
    assert table.column_names == [*patients().columns, "probability_no", "probability_yes"]
    assert np.array_equal(table["probability_yes"].to_numpy(), model.predict_proba(X)[:, 1])
    assert table["smoker"].to_pylist() == pa.array(patients()["smoker"]).to_pylist()


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (lambda a, b: "nowhere.csv", "ill", "nowhere.csv: no such file"),
        (lambda a, b: a, "sick", "there is no column 'sick'"),
        (lambda a, b: a, patients()["ill"], "y of files must be the name"),
        (lambda a, b: a / "*.csv", "ill", "no file matches"),
    ],
)
def test_mistakes_leave_the_model_of_before(source, target, message, parquet, text):
    model = unnaive.TAN().fit(features(patients()), patients()["ill"])
    before = model.fitted_
    with pytest.raises((DataFileError, ValueError, TypeError), match=message):
        model.fit(source(parquet, text), target)
    assert model.fitted_ is before


def test_files_of_other_columns_and_predictions_of_text(parquet, text, tmp_path):
    patients().drop(columns="smoker").to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(DataFileError, match=r"other\.csv: there is no column 'smoker'"):
        unnaive.TAN().fit([parquet, tmp_path], "ill")
    with pytest.raises(SchemaMismatch, match="smoker"):
        unnaive.TAN().fit(parquet, "ill").predict(tmp_path / "other.csv")
    with pytest.raises(UnnaiveError, match=r"a\.csv does not say the types of its columns"):
        unnaive.TAN().fit(parquet, "ill").predict(text)
