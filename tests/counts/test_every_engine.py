"""Every model on every engine: the file and answers of memory, or of the same sampled rows."""

from __future__ import annotations

import numpy as np
import pytest

import unnaive
from partitions import features
from servers import postgresql
from tests.counts.test_sampling import (
    OF_NUMBERS,
    cells,
    dask,
    files,
    lazy,
    numbers,
    relation,
    slow_hash,
    stream,
    table,
)
from unnaive.counts.engines import engine_of, sampling
from unnaive.io import store
from unnaive.models.base import CountsClassifier
from unnaive.models.persistence import state_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
SIZE = 60  # rows that models which need rows are fitted to
CANDIDATES = ["nb", "tan", "wanbia", "gaussian-nb"]  # of AutoBayes, whose fits take longest


@pytest.fixture(scope="module")
def server():
    """Start PostgreSQL; None where it cannot be started, which a test of its own says."""
    try:
        running = postgresql()
    except pytest.skip.Exception:
        yield None
        return
    with running:
        running.load(table(), "patients")
        yield running


@pytest.fixture(scope="module")
def sources(server, session, tmp_path_factory):
    """By engine, the rows as it has them, for all columns and for numbers only."""
    arrow, folder = pytest.importorskip("pyarrow"), tmp_path_factory.mktemp("engines")
    made = {}
    for kind, frame in (("all", table()), ("numbers", numbers())):
        (folder / kind).mkdir()
        whole = arrow.Table.from_pandas(frame, preserve_index=False)
        made[kind] = {
            "files": files(frame, folder / kind),
            "Parquet by path": str(folder / kind / "*.parquet"),
            "CSV by path": as_csv(frame, folder / f"{kind} as text"),
            "DuckDB": relation(frame, None),
            "polars": lazy(frame, None),
            "Dask": dask(frame, None),
            "Spark": session.createDataFrame(whole).coalesce(2),
        }
        if server is not None:
            made[kind]["PostgreSQL"] = query_of(server, frame)
    return made


def query_of(server, frame):
    """Query the rows of a server, with the types of the frame."""
    types = {"children": "children::bigint"}
    columns = ", ".join(types.get(name, name) for name in frame.columns)
    address = f"postgresql://postgres@/postgres?host={server.folder}"
    return unnaive.query(address, f"select {columns} from patients")


def test_postgresql_is_among_the_engines(server):
    if server is None:
        pytest.skip("there is no PostgreSQL server that could be started")
    assert server.run("select count(*) from patients") == [(str(len(table())),)]


def as_csv(frame, folder):
    """Write two files of text, the second one of a single row."""
    folder.mkdir()
    frame[:-1].to_csv(folder / "0.csv", index=False)
    frame[-1:].to_csv(folder / "1.csv", index=False)
    return folder


def made(key):
    model = unnaive.make(key, candidates=CANDIDATES) if key == "auto" else unnaive.make(key)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def learns_from_counts(model):
    return isinstance(model, CountsClassifier) and not model.recipe().needs_rows


@pytest.mark.parametrize("key", list(unnaive.all_models()))
def test_the_bits_are_those_of_memory(key, sources, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(sampling.sample_rows, "__defaults__", (None, SIZE))
    kind = "numbers" if key in OF_NUMBERS else "all"
    frame = numbers() if key in OF_NUMBERS else table()
    model, some, sample = made(key), frame, None
    if not learns_from_counts(model):
        some, sample = drawn(frame), (SIZE, len(frame))
    X = features(frame)
    expected = model.fit(features(some), some["ill"]).predict_joint_log_proba(X)
    file = saved(model, tmp_path)
    engines = {"stream": stream(frame, None), **sources[kind]}
    with cluster.client.as_current():
        for name, rows in engines.items():
            model.fit(rows, "ill")
            assert model.sample_ == sample, name
            assert saved(model, tmp_path) == file, name
            assert np.array_equal(model.predict_joint_log_proba(X), expected), name
            if name == "CSV by path":
                continue  # whose columns have no types before they are read
            again = stream(frame, None) if name == "stream" else rows
            answers = probabilities(model, again)
            assert np.array_equal(answers, model.predict_proba(X)), name


def drawn(frame):
    """Draw the sampled rows by the slow hash."""
    return frame.iloc[sorted(sorted(range(len(frame)), key=slow_hash)[:SIZE])]


def saved(model, folder):
    """Save all that a model has learned, but neither times nor how many rows there were."""

    def kept(state):
        if isinstance(state, list):
            return list(map(kept, state))
        if not isinstance(state, dict):
            return state
        return {name: kept(one) for name, one in state.items() if name not in {"sample", "seconds"}}

    store.save(folder / "model.unb", kept(state_of(model)), kind="model", written_by="")
    return (folder / "model.unb").read_bytes()


def test_the_sampled_rows_are_those_of_memory(sources, cluster):
    frame = table()
    some = drawn(frame)
    expected = cells(features(some)), some["ill"].tolist()
    with cluster.client.as_current():
        for name, rows in {"stream": stream(frame, None), **sources["all"]}.items():
            found, sampled = sampling.sample_rows(engine_of(rows), "ill", size=SIZE)
            labels = [found.target.cell(row) for row in range(SIZE)]
            assert sampled == (SIZE, len(frame)), name
            np.testing.assert_equal((cells(found.frame), labels), expected, err_msg=name)


def probabilities(model, rows):
    """Predict the rows of an engine lazily, and then run it; shape (n, k)."""
    lazily = model.predict_proba(features(rows) if hasattr(rows, "npartitions") else rows)
    if hasattr(lazily, "compute"):
        return lazily.compute().to_numpy()
    read = lazily.toArrow if hasattr(lazily, "toArrow") else lazily.read_all
    answers = read().to_pandas().filter(regex="^probability_")
    assert list(answers) == [f"probability_{label}" for label in model.classes_]
    return answers.to_numpy()
