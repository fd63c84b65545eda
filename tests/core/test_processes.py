"""The compiled core in threads, in forked and spawned processes, and over many fits."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from unnaive import AODE, KDB, TAN

LEAK = """
import resource, sys
import numpy as np
from unnaive import TAN, KDB
rng = np.random.default_rng(0)
X, y = rng.integers(0, 4, (200, 8)), rng.integers(0, 3, 200)

def resident():
    with open("/proc/self/statm") as status:
        return int(status.read().split()[1]) * resource.getpagesize() / 2**20

def work(times):
    for _ in range(times):
        TAN(discretize=None, n_jobs=2).fit(X, y).predict_proba(X)
        KDB().fit(X, y).loo_predict_proba(X, y)

work(60)
before = resident()
work(int(sys.argv[1]))
print(resident() - before)
"""


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    return (y[:, None] + rng.integers(0, 3, (3000, 12))) % 4, y


def fitted(rows):
    return [make(discretize=None, n_jobs=2).fit(*rows) for make in (TAN, AODE, KDB)]


def answers(models, X):
    return [model.predict_proba(X) for model in models]


@pytest.mark.long
def test_sixteen_threads_predict_at_once(rows):
    models = fitted(rows)
    alone = answers(models, rows[0])
    with ThreadPoolExecutor(16) as threads:
        for found in threads.map(lambda _: answers(models, rows[0]), range(48)):
            assert all(map(np.array_equal, found, alone))


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="there is no fork on Windows")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_go_on_where_threads_were_used(rows, way):
    models = fitted(rows)
    alone = answers(models, rows[0])
    with ProcessPoolExecutor(2, multiprocessing.get_context(way)) as processes:
        for found in processes.map(answers, [models] * 4, [rows[0]] * 4, timeout=120):
            assert all(map(np.array_equal, found, alone))
        refitted = processes.submit(fitted, rows).result(timeout=120)
    assert all(map(np.array_equal, answers(refitted, rows[0]), alone))


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_many_fits_leave_no_memory_behind():
    program = [sys.executable, "-c", LEAK, "100"]
    grown = float(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    assert grown < 4.0
