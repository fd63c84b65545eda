"""Dask: two worker processes give the counts of one process bit for bit, also after faults."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import unnaive
from partitions import ROWS, features, in_memory, patients
from unnaive.counts.engines import engine_of
from unnaive.counts.engines.dispatch import Counting
from unnaive.exceptions import SchemaMismatch, TableTooLarge, UnnaiveError
from unnaive.models.classifier import Classifier
from unnaive.models.partitioned import compact


@pytest.fixture(scope="module")
def dask():
    for module in ("dask.dataframe", "dask.bag"):
        pytest.importorskip(module, reason="dask is not installed")
    return pytest.importorskip("dask")


@pytest.fixture
def table(dask):
    return dask.dataframe.from_pandas(patients(), npartitions=13)


@pytest.mark.long
def test_partitions_merge_in_any_order():
    rng = np.random.default_rng(3)
    work = Counting(target="ill", schema=in_memory().schema)
    of_row = rng.integers(1000, size=ROWS)
    results = [work.run_part(patients()[of_row == part]) for part in range(1000)]
    assert any(result is None for result in results)  # empty partitions
    while len(results) > 1:
        order = rng.permutation(len(results))
        groups = np.array_split(order, -(-len(order) // 5))
        results = [work.merge(results[i] for i in group) for group in groups]
    assert results[0] == in_memory()


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_schedulers_in_the_process(dask, table, scheduler):
    with dask.config.set(scheduler=scheduler):
        assert unnaive.count(table, "ill", schema=in_memory().schema) == in_memory()
        assert unnaive.count(table, "ill") == in_memory()


@pytest.mark.long
def test_worker_processes(cluster, table):
    with cluster.client.as_current():
        model = unnaive.KDB().fit(table, "ill")  # a pass for the schema, for pairs, for families
        answers = model.predict_proba(table.drop(columns="ill")).compute()
    local = unnaive.KDB().fit(features(patients()), patients()["ill"])
    assert replace(model.counts_, families=()) == in_memory()
    assert model.counts_ == local.counts_
    np.testing.assert_array_equal(answers, local.predict_proba(features(patients())))


@pytest.mark.long
def test_bags_and_delayed_frames_and_labels_beside(dask, table):
    parts = np.array_split(np.random.default_rng(0).permutation(ROWS), 11)
    frames = [patients().iloc[part] for part in [*parts, parts[0][:0]]]
    bag = dask.bag.from_sequence(frames, npartitions=4)
    delayed = [dask.delayed(frame) for frame in frames]
    expected = in_memory()
    with dask.config.set(scheduler="synchronous"):
        for source in (bag, delayed):
            assert unnaive.count(source, "ill") == expected
        beside = unnaive.count(table.drop(columns="ill"), table["ill"], schema=expected.schema)
        assert beside == expected
        assert unnaive.count(delayed[:1], "ill") == unnaive.count(frames[0], "ill")
        model = unnaive.TAN().fit(delayed, "ill")
        assert np.array_equal(
            dask.compute(model.predict_proba([dask.delayed(features(frames[0]))]))[0][0],
            model.predict_proba(features(frames[0])),
        )
        answers = model.predict(bag.map(features)).compute()
    assert [len(part) for part in answers] == [len(frame) for frame in frames]
    assert answers[1].tolist() == model.predict(features(frames[1])).tolist()


def test_weights_are_a_column_or_beside(dask, table):
    weights = pd.Series(np.linspace(0.0, 2.0, ROWS), name="weight")
    expected = unnaive.count(patients(), "ill", sample_weight=weights, schema=in_memory().schema)
    inside = table.assign(weight=dask.dataframe.from_pandas(weights, npartitions=13))
    with dask.config.set(scheduler="synchronous"):
        by_name = unnaive.count(inside, "ill", sample_weight="weight", schema=expected.schema)
        beside = unnaive.count(table, "ill", sample_weight=inside["weight"], schema=expected.schema)
        assert beside == by_name
        np.testing.assert_allclose(by_name.pairs, expected.pairs, rtol=1e-12)
        with pytest.raises(UnnaiveError, match=r"sample_weight 'weight' is -1.0 in row 0"):
            unnaive.count(inside.assign(weight=-1.0), "ill", sample_weight="weight")
        with pytest.raises(UnnaiveError, match="no partition has any row of a weight above 0"):
            unnaive.count(inside.assign(weight=0.0), "ill", sample_weight="weight")


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_predictions_are_those_of_memory(dask, table, method):
    model = unnaive.AODE(threshold_bias={"yes": 0.2})
    model.fit(features(patients()), patients()["ill"])
    rows = features(table)
    rows = rows[rows["visits"] > 1]  # an index with holes
    with dask.config.set(scheduler="synchronous"):
        found = getattr(model, method)(rows)
        answers = found.compute()
    local = features(patients())[patients()["visits"] > 1]
    np.testing.assert_array_equal(answers, getattr(model, method)(local))
    assert answers.index.equals(local.index)
    assert np.all(answers.dtypes == found._meta.dtypes)
    if method != "predict":
        assert answers.columns.tolist() == ["no", "yes"]


@pytest.mark.parametrize("name", sorted(unnaive.all_models()))
def test_models_answer_without_their_counts(name):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(150, 2)), rng.integers(3, size=(150, 2))])
    model = unnaive.make(name).fit(X, (X[:, 0] + X[:, 3] > 1).astype(int))
    light = pickle.loads(pickle.dumps(compact(model)))
    np.testing.assert_array_equal(light.predict_proba(X), model.predict_proba(X))


@pytest.mark.long
def test_models_travel_once_and_without_counts(dask, cluster, table, monkeypatch):
    sent = []
    model = unnaive.AODE().fit(features(patients()), patients()["ill"])
    assert compact(model).counts_.pairs.size == 0 < model.counts_.pairs.size
    plain = Classifier.__reduce_ex__

    def pickled(self, protocol):
        sent.append(1)
        return plain(self, protocol)

    monkeypatch.setattr(Classifier, "__reduce_ex__", pickled)
    with cluster.client.as_current():
        model.predict(features(table.repartition(npartitions=2))).compute()
        few = len(sent)
        model.predict(features(table.repartition(npartitions=40))).compute()
    assert 0 < len(sent) <= 2 * few


def test_errors_name_column_and_cure(dask, table):
    schema, frame = in_memory().schema, patients()
    late = frame.assign(ill=frame["ill"].where(frame.index < ROWS - 1, "unsure"))
    parts = [dask.delayed(late[:2000]), dask.delayed(late[2000:])]
    other = [dask.delayed(frame[:10]), dask.delayed(frame[10:].rename(columns={"smoker": "snus"}))]
    mixed = [dask.delayed(frame[:10]), dask.delayed(frame[10:].assign(visits="many"))]
    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(UnnaiveError, match=r"partition 1: .*'unsure' in row 999.*classes"):
            unnaive.count(parts, "ill", schema=schema)
        with pytest.raises(SchemaMismatch, match="partition 1: there is no column 'smoker'"):
            unnaive.count(other, "ill", schema=schema)
        with pytest.raises(SchemaMismatch, match=r"snus.*same columns"):
            unnaive.count(other, "ill")
        with pytest.raises(SchemaMismatch, match=r"'visits'.*convert"):
            unnaive.count(mixed, "ill")
        with pytest.raises(UnnaiveError, match="target has 13 partitions, the frame 2"):
            unnaive.count(features(table).repartition(npartitions=2), table["ill"], schema=schema)
        shifted = [dask.delayed(frame["ill"][1:]), dask.delayed(frame["ill"][:0])]
        with pytest.raises(UnnaiveError, match="index differs"):
            unnaive.count([dask.delayed(features(frame))] * 2, shifted, schema=schema)
    with pytest.raises(SchemaMismatch, match="no column 'smoker'"):
        unnaive.count(table.drop(columns="smoker"), "ill", schema=schema)
    with pytest.raises(TableTooLarge, match="all pairs"):
        unnaive.count(table, "ill", schema=schema, max_memory=10)
    with pytest.raises(TypeError, match="X is a Dask Series"):
        engine_of(table["ill"])


def test_models_refuse_what_they_cannot_learn(dask, table):
    model = unnaive.BayesNet().fit(features(patients()[:100]), patients()["ill"][:100])
    before = model.structure_
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match="no column 'sick'"),
    ):
        model.fit(table, "sick")
    assert model.structure_ is before
    with pytest.raises(SchemaMismatch, match="smoker"):
        model.predict(table.drop(columns="smoker"))


def _slow(frame, folder, number):
    time.sleep(0.15)
    (folder / str(number)).touch()
    return frame


@pytest.mark.long
def test_a_killed_worker_changes_nothing(dask, cluster, tmp_path):
    parts = np.array_split(np.arange(ROWS), 24)
    frames = [
        dask.delayed(_slow)(patients().iloc[part], tmp_path, number)
        for number, part in enumerate(parts)
    ]
    done_at_death = []

    def kill():
        while len(list(tmp_path.iterdir())) < 6:
            time.sleep(0.02)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        done_at_death.append(len(list(tmp_path.iterdir())))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with cluster.client.as_current():
        assert unnaive.count(frames, "ill", schema=in_memory().schema) == in_memory()
    killer.join(timeout=10)
    assert 6 <= done_at_death[0] < 24


@pytest.mark.long
@pytest.mark.parametrize("key", ["kdb", "a2de", "cherry", "wanbia", "gaussian-tan", "auto"])
def test_models_of_counts_and_rows_on_two_processes(dask, cluster, key):
    frame = patients()[["smoker", "visits", "pressure", "ill"]][:300]
    X, model = features(frame), unnaive.make(key)
    expected = model.fit(X, frame["ill"]).predict_joint_log_proba(X)
    with cluster.client.as_current():
        model.fit(dask.dataframe.from_pandas(frame, npartitions=5), "ill")
    assert np.array_equal(model.predict_joint_log_proba(X), expected)
