"""Clusters with less memory than the data, and workers that are killed in the second pass."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from uuid import uuid4

import numpy as np
import pytest

import unnaive
from unnaive.counts.engines.dispatch import Work

pytestmark = pytest.mark.long
COLUMNS, PARTS, PART_ROWS = 20, 20, 250_000  # 42 MB of doubles a part, 840 MB in all
LIMIT = "600MB"  # of each of two workers; from four fifths of it on a worker waits
EXECUTOR = 700  # MiB of each of two executors, and of address space of each of its Python processes
PASSES = 3  # of KDB: schema, pairs, families
NAMES = [f"x{i}" for i in range(COLUMNS)]


def part(number, rows=PART_ROWS):
    """Rows of one part: doubles of five values, each in part a copy of the column before."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, 2, rows)
    made, before = {}, y.astype(np.int8)
    for name in NAMES:
        fresh = rng.integers(0, 5, rows, dtype=np.int8)
        before = np.where(fresh > 2, before, fresh)
        made[name] = before.astype(float)
    return {**made, "y": y}


class Rows:
    """All parts, one after the other, as a stream of arrow batches."""

    def __arrow_c_stream__(self, requested_schema=None):
        arrow = pytest.importorskip("pyarrow")
        batches = (arrow.RecordBatch.from_pydict(part(i)) for i in range(PARTS))
        first = arrow.RecordBatch.from_pydict(part(0, 1))
        reader = arrow.RecordBatchReader.from_batches(first.schema, batches)
        return reader.__arrow_c_stream__(requested_schema)


def noted(number, folder, rows=PART_ROWS):
    """Make a part, and note that it was made."""
    import pandas as pd  # noqa: PLC0415 - runs on a worker

    made = pd.DataFrame(part(number, rows))
    (folder / f"{number}-{uuid4().hex}").touch()
    return made


def kill_in_last_pass(folder, victim, done):
    """Kill a process when a few parts of the last pass are made; note how many."""
    while (made := len(list(folder.iterdir()))) < (PASSES - 1) * PARTS + 3:
        time.sleep(0.01)
    os.kill(victim(), signal.SIGKILL)
    done.append(made)


def test_dask_with_little_memory_and_a_worker_that_is_killed_while_families_are_counted(tmp_path):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    dask = pytest.importorskip("dask")
    notes, done = tmp_path / "notes", []
    notes.mkdir()
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=LIMIT,
            dashboard_address=":0",
            local_directory=str(tmp_path / "dask"),
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        frames = [dask.delayed(noted)(number, notes) for number in range(PARTS)]

        def victim():
            return next(iter(cluster.workers.values())).pid

        killer = threading.Thread(target=kill_in_last_pass, args=(notes, victim, done), daemon=True)
        killer.start()
        with client.as_current():
            model = unnaive.KDB(k=2).fit(frames, "y")
        killer.join(timeout=10)
    assert 0 < done[0] - (PASSES - 1) * PARTS < PARTS  # the first two passes lost nothing
    assert len(list(notes.iterdir())) > PASSES * PARTS  # and the last one began some parts again
    expected = unnaive.KDB(k=2).fit(Rows(), "y")
    assert model.counts_.total == PARTS * PART_ROWS
    assert model.structure_.families
    assert model.counts_ == expected.counts_


def killed_in_last_pass(numbers, folder):
    """Make one part of each row of a batch; once in the last pass, kill the executor instead."""
    psutil = pytest.importorskip("psutil")
    pyarrow = pytest.importorskip("pyarrow")
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            (folder / f"{number}-{uuid4().hex}").touch()
            last = len(list(folder.glob("*-*"))) > (PASSES - 1) * PARTS + 3
            if last and not (folder / "killed").exists():
                (folder / "killed").touch()
                parents = psutil.Process().parents()
                next(one for one in parents if one.name() == "java").kill()
            yield pyarrow.RecordBatch.from_pydict(part(number))


def fit_on_spark(folder):
    """Fit on two executors with little memory; one of them is killed."""
    from pyspark import cloudpickle  # noqa: PLC0415 - optional
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": f"{EXECUTOR}m",
        "spark.executor.pyspark.memory": f"{EXECUTOR}m",
        "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
        "spark.local.dir": str(folder / "spark"),
        "spark.sql.shuffle.partitions": "2",
    }
    builder = SparkSession.builder.master(f"local-cluster[2,1,{EXECUTOR}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    types = ", ".join([*(f"{name} double" for name in NAMES), "y long"])
    notes = folder / "notes"
    parts = spark.range(0, PARTS, 1, PARTS)
    rows = parts.mapInArrow(lambda numbers: killed_in_last_pass(numbers, notes), types)
    unnaive.KDB(k=2).fit(rows, "y").save(folder / "model.unb")
    spark.stop()


def test_spark_with_little_memory_and_an_executor_that_is_killed_while_families_are_counted(
    tmp_path,
):
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    notes = tmp_path / "notes"
    notes.mkdir()
    fitting = multiprocessing.get_context("spawn").Process(target=fit_on_spark, args=(tmp_path,))
    fitting.start()
    fitting.join(timeout=300)
    fitting.kill()
    assert fitting.exitcode == 0
    assert (notes / "killed").exists()
    assert len(list(notes.glob("*-*"))) > PASSES * PARTS  # some parts were begun again
    model = unnaive.load(tmp_path / "model.unb")
    assert model.counts_ == unnaive.KDB(k=2).fit(Rows(), "y").counts_


@pytest.mark.parametrize("parts", [2, 40])
def test_dask_sends_the_schema_once_to_a_worker_and_not_with_each_part(
    cluster, tmp_path, monkeypatch, parts
):
    dask = pytest.importorskip("dask")
    sent = Counter()
    plain = Work.__reduce_ex__

    def pickled(self, protocol):
        sent[type(self).__name__] += 1
        return plain(self, protocol)

    monkeypatch.setattr(Work, "__reduce_ex__", pickled)
    frames = [dask.delayed(noted)(number, tmp_path, 50) for number in range(parts)]
    with cluster.client.as_current():
        unnaive.KDB(k=2).fit(frames, "y")
    assert sent["Counting"] <= 6  # of two passes, however many parts there are
    assert sent["Sketching"] <= 3
