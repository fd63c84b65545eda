"""Compare the times of two installations of this library in one run."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import data, report

SCRIPT = """
import json, sys, time, warnings
from pathlib import Path
import numpy as np
warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
import unnaive
from unnaive.counts.engines.memory import CodedRows, all_pairs
from unnaive.information.scores import FamilyScores
from unnaive.io.frames import to_column, to_frame
from unnaive.structure.climb import Climber, hill_climbing
from unnaive.tables.groups import GroupScores

times = {}

def measure(name, call, rounds=3):
    call()
    spent = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    times[name] = min(spent)

X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
numbers, labels = np.load(folder / "numbers.npy"), np.load(folder / "labels.npy")
for name, settings in {"NaiveBayes": {}, "TAN": {}, "AODE": {}, "HNB": {}, "WAODE": {}, "KDB": {"k": 2}}.items():
    model = getattr(unnaive, name)(discretize=None, n_jobs=2, **settings)
    measure(f"peers: {name} fit", lambda: model.fit(X, y))
    rows = X if name in ("NaiveBayes", "TAN", "KDB") else X[:20_000]
    measure(f"peers: {name} predict_proba", lambda: model.predict_proba(rows))
tan = unnaive.TAN(discretize=None, n_jobs=2).fit(X, y)
measure("limit: TAN leave-one-out", lambda: tan.loo_predict_proba(X, y))
wide = np.tile(X, (5, 2))
schema, codes = tan.schema_, None
big = unnaive.TAN(discretize=None).fit(wide[:1000], np.tile(y, 5)[:1000]).schema_
coded = CodedRows(big, big.encode(to_frame(wide)), np.tile(y, 5).astype(np.int64), None, 1)
coded._bitmaps
measure("limit: counting 400,000 x 100, one thread", lambda: coded.count_pairs(all_pairs(100)))
coded2 = CodedRows(coded.schema, coded.codes, coded.classes, None, 2)
coded2._bitmaps
measure("limit: counting 400,000 x 100, two threads", lambda: coded2.count_pairs(all_pairs(100)))
measure("limit: MDLP of numbers", lambda: unnaive.MDLP(n_jobs=2).fit(numbers, labels))
full = unnaive.FullBayes(n_jobs=2).fit(numbers, labels)
measure("knaive: FullBayes predict_proba", lambda: full.predict_proba(numbers))
nb = unnaive.NaiveBayes(n_jobs=2).fit(numbers, labels)
measure("numbers: NaiveBayes predict_proba", lambda: nb.predict_proba(numbers))
small = np.ascontiguousarray(np.concatenate([X.T[:30, :10_000], y[None, :10_000]]).astype(np.uint8))
free = np.zeros((31, 31), dtype=bool)
sizes = small.max(axis=1).astype(np.int64) + 1
measure("networks: hill climbing 10,000 x 30", lambda: hill_climbing(Climber(FamilyScores(small, sizes, "bic", n_jobs=2), 3, free, free)))
nb = unnaive.NaiveBayes(discretize=None)
if hasattr(nb, "coded"):
    few = nb.coded(nb._given(X[:2000, :18], y[:2000], None, first=True))[0]
else:  # version 0.1
    few = nb._learn_rows(*nb._rows(X[:2000, :18], y[:2000], None, reset=True))
genomes = np.random.default_rng(0).integers(0, 19, (400, 18))
scores = GroupScores(few.select(np.empty((0, 2), dtype=np.int64)), few, unnaive.Laplace(1.0))
measure("search: 400 groupings of 2,000 x 18", lambda: scores.of_genomes(genomes))
wdbc, ill = np.load(folder / "wdbc.npy"), np.load(folder / "ill.npy")
measure("auto on WDBC", lambda: unnaive.AutoBayes(n_jobs=2).fit(wdbc, ill))
measure("wanbia on WDBC", lambda: unnaive.make("wanbia", n_jobs=2).fit(wdbc, ill))
measure("phnb by leave-one-out on WDBC", lambda: unnaive.PHNB(threshold="loo", n_jobs=2).fit(wdbc, ill))
measure("kdb by leave-one-out on WDBC", lambda: unnaive.KDB(k="loo", n_features="loo", n_jobs=2).fit(wdbc, ill))
measure("ienb on WDBC", lambda: unnaive.IENB(random_state=0, n_jobs=2).fit(wdbc, ill), 1)
one = unnaive.TAN().fit(wdbc, ill)
measure("one row: TAN", lambda: one.predict_proba(wdbc[:1]), 500)
kdb = unnaive.KDB().fit(wdbc, ill)
measure("one row: KDB", lambda: kdb.predict_proba(wdbc[:1]), 500)
counts = lambda: unnaive.count([str(folder / "rows.parquet")], target="y", schema=tan.schema_, n_jobs=2)
measure("scale: counting 400,000 x 50 in Parquet, by a schema", counts)
measure("scale: the same, without one", lambda: unnaive.count([str(folder / "rows.parquet")], target="y", discretize=None, n_jobs=2), 1)
print(json.dumps(times))
"""


def run(before: str, after: str, rounds: int) -> None:
    """Measure two interpreters in turns; print the best of all rounds."""
    report.show_machine()
    found: dict[str, list[dict[str, float]]] = {before: [], after: []}
    with TemporaryDirectory() as name:
        _save(Path(name))
        for _ in range(rounds):
            for python, times in found.items():
                times.append(_times(python, name))
    rows = []
    for line in found[after][0]:
        old, new = (min(run[line] for run in found[python]) for python in (before, after))
        rows.append([line, report.duration(old), report.duration(new), f"{old / new:.2f} x"])
    report.section("Before and after, in turns")
    report.show(["", "before", "after", "faster"], rows)


def _times(python: str, folder: str) -> dict[str, float]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [python, "-c", SCRIPT, folder]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{python}: {done.stderr[-2000:]}")
    times: dict[str, float] = json.loads(done.stdout)
    return times


def _save(folder: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415 - optional
    from pyarrow import parquet  # noqa: PLC0415

    X, y = data.tree_data(data.Shape())
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 100_000)
    wdbc, ill = data.wdbc()
    arrays = {"X": X, "y": y, "labels": labels, "wdbc": wdbc, "ill": ill}
    arrays["numbers"] = labels[:, None] + rng.normal(size=(100_000, 30))
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    columns = {f"x{i}": np.tile(X[:, i], 5) for i in range(X.shape[1])}
    parquet.write_table(pa.table({**columns, "y": np.tile(y, 5)}), folder / "rows.parquet")
