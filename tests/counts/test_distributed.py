"""Clusters with less memory than the data, and workers that are killed in the second pass."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from uuid import uuid4

import numpy as np
import pytest

import unnaive
from unnaive.counts.engines.dispatch import Work

pytestmark = pytest.mark.long
COLUMNS, PARTS, PART_ROWS = 20, 14, 250_000  # 40 MB of doubles a part, 560 MB in all
LIMIT = "420MB"  # of each of two workers
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

    def __init__(self, rows=PART_ROWS):
        self.rows = rows

    def __arrow_c_stream__(self, requested_schema=None):
        arrow = pytest.importorskip("pyarrow")
        batches = (arrow.RecordBatch.from_pydict(part(i, self.rows)) for i in range(PARTS))
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
