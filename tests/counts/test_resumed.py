"""A count that is killed at any moment of either pass continues to the same bits."""

import os
import subprocess
import sys

import pytest

import unnaive
from tests.counts.test_files import KINDS, table, write

KILLS = 20  # in each pass
SCRIPT = """
import os, signal, sys, time
from pathlib import Path
import numpy as np
import unnaive
from unnaive.io import store

folder, note, log, output = sys.argv[1] + "/*.*", *map(Path, sys.argv[2:5])
rng = np.random.default_rng(11)
options = {"batch_rows": 50, "checkpoint": note}

def child():
    def watch(progress):
        with log.open("a") as file:
            file.write(f"{progress.stage} {progress.part}\\n")
        time.sleep(0.002)
    unnaive.count(folder, "y", watch=watch, **options).save(output)

def started():
    log.write_text("")
    pid = os.fork()
    if not pid:
        child()
        os._exit(0)
    return pid

def seen(stage):
    return [line.split()[1] for line in log.read_text().splitlines() if line.split()[0] == stage]

assert os.waitpid(started(), 0)[1] == 0
batches = {stage: len(seen(stage)) for stage in ("schema", "count")}
expected = output.read_bytes()
for stage, number in batches.items():
    for _ in range(int(sys.argv[5])):
        note.unlink()
        output.unlink()
        pid, chosen = started(), int(rng.integers(1, number + 1))
        while len(seen(stage)) < chosen:
            time.sleep(0.0005)
        time.sleep(rng.uniform(0, 0.004))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        done = {"schema": [], "count": []}
        if note.exists():
            state = store.load(note, kind="checkpoint")
            done = {"schema": state["sketched"], "count": state["counted"]}
        assert os.waitpid(started(), 0)[1] == 0
        assert output.read_bytes() == expected, (stage, chosen)
        assert not set(seen("schema")) & set(done["schema"]), "a finished file was learned again"
        assert not set(seen("count")) & set(done["count"]), "a finished file was counted again"
print(batches)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_random_moments_of_either_pass(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write(table(), data, KINDS["mixed"])
    paths = [str(tmp_path / name) for name in ("note", "log", "counts")]
    command = [sys.executable, "-c", SCRIPT, str(data), *paths, str(KILLS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert unnaive.JointCounts.load(tmp_path / "counts") == unnaive.count(table(), "y")
