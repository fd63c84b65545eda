"""Counting files in batches gives the counts of memory bit for bit, and names bad files."""

from __future__ import annotations

import gzip
import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import unnaive
from unnaive.exceptions import (
    DataFileError,
    DataWarning,
    ModelFileError,
    SchemaMismatch,
    TableTooLarge,
)
from unnaive.io.parts import list_files, text

ROWS, FILES = 1200, 4


def table(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "few": rng.integers(0, 4, rows),
            "label": rng.choice(["u", "v", "w"], rows),
            "number": np.round(rng.normal(size=rows), 2),
            "truth": rng.random(rows) < 0.5,
            "y": rng.choice(["no", "yes"], rows),
        }
    )
    frame.loc[frame["y"] == "yes", "number"] += 1
    frame.loc[rng.random(rows) < 0.1, ["label", "number"]] = None
    return frame


@pytest.fixture(scope="module")
def whole():
    return table()


def write(frame, folder, endings=("parquet",)):
    """Write a table to several files in order."""
    for number, start in enumerate(range(0, len(frame), ROWS // FILES)):
        part = frame.iloc[start : start + ROWS // FILES]
        ending = endings[number % len(endings)]
        path = folder / f"{number}.{ending}"
        if ending == "parquet":
            part.to_parquet(path, row_group_size=170)
        else:
            part.to_csv(path, index=False, sep="\t" if "tsv" in ending else ",")
    return folder


KINDS = {"parquet": ("parquet",), "csv": ("csv",), "mixed": ("csv", "parquet", "tsv", "csv.gz")}


@pytest.mark.parametrize("endings", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("batch_rows", [37, 1 << 17])
def test_files_are_counted_as_in_memory(tmp_path, whole, endings, batch_rows):
    write(whole, tmp_path, endings)
    expected = unnaive.count(whole, "y")
    assert unnaive.count(tmp_path, "y", batch_rows=batch_rows) == expected
    pattern = str(tmp_path / "*.*")
    again = unnaive.count(pattern, "y", schema=expected.schema, batch_rows=batch_rows, n_jobs=2)
    assert again == expected


def test_all_ways_to_name_files(tmp_path, whole):
    write(whole, tmp_path)
    expected = unnaive.count(whole, "y")
    paths = [str(path) for path in tmp_path.iterdir()]
    assert unnaive.count(paths[::-1], "y") == expected
    assert unnaive.count(ds.dataset(tmp_path), "y") == expected
    table = pa.concat_tables([pq.read_table(path) for path in sorted(paths)])
    assert unnaive.count(ds.dataset(table), "y") == expected
    few = ds.dataset(tmp_path).filter(ds.field("few") > 1)
    in_memory = unnaive.count(whole[whole["few"] > 1], "y", schema=expected.schema)
    assert unnaive.count(few, "y", schema=expected.schema) == in_memory
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".0.parquet.crc").write_text("")
    assert unnaive.count(tmp_path, "y") == expected
    assert [path.name for path in list_files(tmp_path)] == [f"{i}.parquet" for i in range(FILES)]
    with pytest.raises(DataFileError, match="listed twice"):
        unnaive.count([paths[0], paths[0]], "y")
    with pytest.raises(DataFileError, match="no file matches"):
        unnaive.count(str(tmp_path / "*.csv"), "y")
    with pytest.raises(ValueError, match="target must be the name of a column"):
        unnaive.count(tmp_path, whole["y"])
    with pytest.raises(TypeError, match="unexpected keyword argument 'check_point'"):
        unnaive.count(tmp_path, "y", schema=expected.schema, check_point=tmp_path / "x")
    with pytest.raises(TypeError, match="checkpoint= is for rows in files"):
        unnaive.count(whole, "y", checkpoint=tmp_path / "x")


def test_partitioned_folders_are_datasets(tmp_path, whole):
    whole.dropna().to_parquet(tmp_path, partition_cols=["label"])
    with pytest.raises(DataFileError, match="partitioning='hive'"):
        unnaive.count(tmp_path, "y")
    order = ["few", "number", "truth", "y", "label"]
    counted = unnaive.count(ds.dataset(tmp_path, partitioning="hive"), "y")
    assert counted == unnaive.count(whole.dropna()[order], "y")


@pytest.mark.parametrize("rows", [1, 25, 131_072])
def test_one_file_may_be_counted_in_batches(tmp_path, whole, rows):
    whole = whole[:60]
    whole.to_parquet(tmp_path / "all.parquet")
    expected = unnaive.count(whole, "y", pairs=None)
    path = tmp_path / "all.parquet"
    assert unnaive.count(path, "y", pairs=None) == expected
    assert unnaive.count(path, "y", pairs=None, batch_rows=rows) == expected


def test_columns_may_come_in_another_order(tmp_path, whole):
    whole[:600].to_parquet(tmp_path / "a.parquet")
    whole[600:][["y", "truth", "number", "label", "few"]].to_csv(tmp_path / "b.csv", index=False)
    assert unnaive.count(tmp_path, "y") == unnaive.count(whole, "y")


def test_declared_categories_keep_their_order(tmp_path, whole):
    graded = whole.assign(label=pd.Categorical(whole["label"], categories=["w", "u", "none", "v"]))
    write(graded, tmp_path)
    counts = unnaive.count(tmp_path, "y", batch_rows=100)
    assert counts == unnaive.count(graded, "y")
    assert counts.schema.columns[1].categories == ("w", "u", "none", "v")


def test_weights_are_a_column(tmp_path, whole):
    weights = np.random.default_rng(0).integers(0, 4, ROWS)
    write(whole.assign(times=weights), tmp_path)
    counts = unnaive.count(tmp_path, "y", sample_weight="times", batch_rows=100)
    expected = unnaive.count(whole, "y", sample_weight=weights, schema=counts.schema)
    assert counts == expected


CSV = {
    "a late decimal": ["1", "2", "3.5", "4"],
    "a late word": ["1", "2", "three", "4"],
    "blanks and gaps": [" 1", "NA ", "3", " ? "],
    "late truth": ["true", "False", "?", "TRUE"],
    "truth and more": ["true", "false", "maybe", "true"],
    "dates": ["2020-01-01", "2020-01-02", "", "2020-01-01"],
    "leading zeros": ["007", "12", "x1", "12"],
    "large": ["9007199254740993", "9007199254740992", "9007199254740993", "9007199254740992"],
}


@pytest.mark.parametrize("cells", CSV.values(), ids=CSV)
@pytest.mark.parametrize("parted", [False, True])
def test_what_a_csv_column_is_takes_all_of_it(tmp_path, monkeypatch, cells, parted):
    monkeypatch.setattr(text, "PIECE", 1 << 10)
    monkeypatch.setattr(text, "_LOOKED_AT", 64)
    lines = [f"{cell},{i % 3},{'ab'[i % 2]}\n" for i, cell in enumerate(np.repeat(cells, 30))]
    (tmp_path / "all.csv").write_text("x,z,y\n" + "".join(lines))
    expected = unnaive.count(tmp_path / "all.csv", "y")
    (tmp_path / "parts").mkdir()
    bounds = [0, 30, 70, 120] if parted else [0, 120]
    for start, stop in pairwise(bounds):
        (tmp_path / "parts" / f"{start:03d}.csv").write_text("x,z,y\n" + "".join(lines[start:stop]))
    counts = unnaive.count(tmp_path / "parts", "y", batch_rows=10)
    assert counts == expected
    assert unnaive.count(tmp_path / "parts", "y", schema=expected.schema) == expected


def test_decimal_commas(tmp_path):
    lines = [f"{i % 40},{i % 7};{'ab'[i % 40 > 20]}\n" for i in range(200)]
    (tmp_path / "all.csv").write_text("x;y\n" + "".join(lines))
    with pytest.warns(DataWarning, match=r"'39,5' is read as 39\.5"):
        expected = unnaive.count(tmp_path / "all.csv", "y")
    assert expected.schema.columns[0].size == 2
    with pytest.warns(DataWarning, match=r"'39,5' is read as 39\.5"):
        assert unnaive.count([tmp_path / "all.csv"], "y") == expected


def test_empty_files_are_files_without_rows(tmp_path, whole):
    write(whole, tmp_path, ("csv", "parquet"))
    (tmp_path / "7.csv").write_text("few,label,number,truth,y\n")
    whole[:0].to_parquet(tmp_path / "8.parquet")
    assert unnaive.count(tmp_path, "y") == unnaive.count(whole, "y")
    (tmp_path / "9.csv").write_text("")
    with pytest.raises(DataFileError, match=r"9\.csv is empty"):
        unnaive.count(tmp_path, "y")
    with pytest.raises(unnaive.exceptions.UnnaiveError, match=r"no rows in .*7\.csv;"):
        unnaive.count([tmp_path / "7.csv"], "y")


def truncate(path):
    path.write_bytes(path.read_bytes()[:-200])


def spoil(path):
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(content)


BAD = {
    "truncated": (truncate, r"2\.parquet is damaged"),
    "spoilt": (spoil, r"2\.parquet is damaged"),
    "gone": (Path.unlink, r"2\.parquet"),
    "empty": (lambda path: path.write_bytes(b""), r"2\.parquet is empty"),
    "no column": (lambda path: table().drop(columns="few").to_parquet(path), r"2\.parquet.*'few'"),
    "one more": (lambda path: table().assign(more=1).to_parquet(path), r"2\.parquet.*'more'"),
    "no target": (lambda path: table().drop(columns="y").to_parquet(path), r"2\.parquet.*'y'"),
    "a gap in the target": (
        lambda path: table().assign(y=[None, *table()["y"][1:]]).to_parquet(path),
        r"2\.parquet, rows 1 to .*'y' is missing in 1",
    ),
    "text for numbers": (
        lambda path: table().assign(number="many").to_parquet(path),
        r"2\.parquet.*column 'number'",
    ),
    "dates": (
        lambda path: table().assign(few=pd.Timestamp("2020-01-01")).to_parquet(path),
        r"2\.parquet: column 'few' has dates or times",
    ),
}


@pytest.mark.parametrize(("harm", "message"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("given", [False, True])
def test_a_bad_file_is_named_or_left_out(tmp_path, whole, harm, message, given):
    write(whole, tmp_path)
    paths = sorted(tmp_path.iterdir())
    harm(paths[2])
    schema = unnaive.count(whole, "y").schema if given else None
    with pytest.raises(DataFileError, match=message):
        unnaive.count(paths, "y", schema=schema, batch_rows=100)
    told = []
    with pytest.warns(UserWarning, match="1 of 4 files are bad"):
        counts = unnaive.count(
            paths, "y", schema=schema, batch_rows=100, skip_bad_files=True, watch=told.append
        )
    rest = pd.concat([whole[:600], whole[900:]])
    assert counts == unnaive.count(rest, "y", schema=counts.schema)
    assert given or counts.schema == unnaive.count(rest, "y").schema
    assert told[-1].skipped == (str(paths[2]),)


def test_an_unknown_class_is_named(tmp_path, whole):
    write(whole, tmp_path)
    schema = unnaive.count(whole, "y").schema
    late = whole[:300].copy()
    late.iloc[250, -1] = "never"
    late.to_parquet(tmp_path / "1.parquet")
    with pytest.raises(DataFileError, match=r"1\.parquet, rows 201 to 300.*'never'.*'no', 'yes'"):
        unnaive.count(tmp_path, "y", schema=schema, batch_rows=100)
    with pytest.warns(UserWarning, match="'never'"):
        counts = unnaive.count(tmp_path, "y", schema=schema, batch_rows=100, skip_bad_files=True)
    rest = pd.concat([whole[:300], whole[600:]])
    assert counts == unnaive.count(rest, "y", schema=schema)


def test_a_damaged_csv_is_named(tmp_path, whole):
    write(whole, tmp_path, ("csv",))
    with (tmp_path / "2.csv").open("a") as file:
        file.write("1,2,3\n")
    with pytest.raises(DataFileError, match=r"2\.csv: line 302 has 3 cells"):
        unnaive.count(tmp_path, "y")
    content = gzip.compress((tmp_path / "1.csv").read_bytes())
    (tmp_path / "2.csv").unlink()
    (tmp_path / "2.csv.gz").write_bytes(content[:-50])
    with pytest.raises(DataFileError, match=r"2\.csv\.gz is cut off"):
        unnaive.count(tmp_path, "y")


def test_tables_beyond_memory_are_refused_before_the_count(tmp_path, whole):
    write(whole, tmp_path)
    with pytest.raises(TableTooLarge, match="3 tables at a time"):
        unnaive.count(tmp_path, "y", max_memory=1000)


def test_progress(tmp_path, whole):
    write(whole, tmp_path)
    told = []
    unnaive.count(tmp_path, "y", batch_rows=100, watch=told.append)
    assert [p.stage for p in told] == sorted((p.stage for p in told), reverse=True)
    assert told[-1].done == told[-1].total == FILES
    assert told[-1].rows == ROWS
    assert {Path(p.part).name for p in told} == {f"{i}.parquet" for i in range(FILES)}


def test_an_error_of_the_watcher_stops_the_count(tmp_path, whole):
    write(whole, tmp_path)

    def watch(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        unnaive.count(tmp_path, "y", watch=watch)


def stop_after(number):
    """Make a watcher that stops the count after some calls."""

    def watch(_, told=[]):  # noqa: B006
        told.append(1)
        if len(told) == number:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5, 6, 7])
def test_resumed_with_columns_in_another_order_and_late_text(tmp_path, whole, moment):
    note = tmp_path / "note"
    changed = whole.assign(few=whole["few"].astype(object))
    changed.loc[1000:1099, "few"] = "many"
    changed[:600].to_csv(tmp_path / "a.csv", index=False)
    changed[600:][list(whole)[::-1]].to_csv(tmp_path / "b.csv", index=False)
    changed.to_csv(tmp_path / "all.tsv", index=False, sep="\t")
    expected = unnaive.count(tmp_path / "all.tsv", "y")
    files = str(tmp_path / "*.csv")
    with pytest.raises(KeyboardInterrupt):
        unnaive.count(files, "y", checkpoint=note, watch=stop_after(moment))
    assert unnaive.count(files, "y", checkpoint=note) == expected


def test_checkpoint_of_other_settings(tmp_path, whole):
    folder, note = tmp_path / "data", tmp_path / "note"
    folder.mkdir()
    write(whole, folder)
    counts = unnaive.count(folder, "y", checkpoint=note)
    told = []
    assert unnaive.count(folder, "y", checkpoint=note, watch=told.append) == counts
    assert told == []
    for how, message in {
        "bins": ({"bins": 7}, "learning was"),
        "pairs": ({"pairs": None}, "pairs was 'all' and now is None"),
        "schema": ({"schema": counts.schema}, "now it is given"),
    }.values():
        with pytest.raises(SchemaMismatch, match=message):
            unnaive.count(folder, "y", checkpoint=note, **how)
    with pytest.raises(SchemaMismatch, match=r"3\.parquet was counted, but is not listed"):
        unnaive.count(sorted(folder.iterdir())[:3], "y", checkpoint=note)
    whole[:10].to_parquet(folder / "9.parquet")
    with pytest.raises(SchemaMismatch, match=r"9\.parquet is new"):
        unnaive.count(folder, "y", checkpoint=note)
    (folder / "9.parquet").unlink()
    whole[:10].to_parquet(folder / "3.parquet")
    with pytest.raises(SchemaMismatch, match=r"3\.parquet was changed"):
        unnaive.count(folder, "y", checkpoint=note)
    truncate(note)
    with pytest.raises(ModelFileError, match="damaged"):
        unnaive.count(folder, "y", checkpoint=note)


def test_checkpoint_of_another_schema(tmp_path, whole):
    write(whole, tmp_path)
    note = tmp_path / "note"
    first, second = (unnaive.count(whole, "y", bins=b, discretize="width").schema for b in (4, 5))
    unnaive.count(str(tmp_path / "*.parquet"), "y", schema=first, checkpoint=note)
    with pytest.raises(SchemaMismatch, match="column 'number': 5 bins"):
        unnaive.count(str(tmp_path / "*.parquet"), "y", schema=second, checkpoint=note)


def test_a_bad_file_can_be_left_out_later(tmp_path, whole):
    folder, note = tmp_path / "data", tmp_path / "note"
    folder.mkdir()
    write(whole, folder)
    spoil(folder / "2.parquet")
    schema = unnaive.count(whole, "y").schema
    with pytest.raises(DataFileError):
        unnaive.count(folder, "y", schema=schema, checkpoint=note)
    with pytest.warns(UserWarning, match=r"2\.parquet"):
        counts = unnaive.count(folder, "y", schema=schema, checkpoint=note, skip_bad_files=True)
    assert counts.total == 900
    with pytest.warns(UserWarning, match=r"2\.parquet"):
        assert counts == unnaive.count(
            folder, "y", schema=schema, checkpoint=note, skip_bad_files=True
        )
    with pytest.raises(DataFileError):
        unnaive.count(folder, "y", schema=schema, checkpoint=note)


KILL = """
import os, signal, sys, time
from pathlib import Path
import numpy as np
import unnaive
from unnaive.counts.engines.checkpoint import Checkpoint
from unnaive.io import store

folder, note, log = sys.argv[1] + "/*.*", Path(sys.argv[2]), Path(sys.argv[3])
unnaive.count(np.arange(20).reshape(10, 2), [0, 1] * 5)
rng = np.random.default_rng(7)

def child():
    def watch(progress):
        with log.open("a") as file:
            file.write(f"{progress.stage} {progress.part}\\n")
        time.sleep(0.004)
    unnaive.count(folder, "y", checkpoint=note, batch_rows=50, watch=watch).save(sys.argv[4])

killed = rounds = 0
while True:
    done = {"schema": [], "count": []}
    if note.exists():
        state = store.load(note, kind="checkpoint")
        done = {"schema": state["sketched"], "count": state["counted"]}
    log.write_text("")
    pid = os.fork()
    if not pid:
        child()
        os._exit(0)
    if rounds < 20:
        time.sleep(rng.uniform(0.05, 0.4))
        os.kill(pid, signal.SIGKILL)
    finished = os.waitpid(pid, 0)[1] == 0
    for line in log.read_text().splitlines():
        stage, part = line.split()
        assert part not in done[stage], f"{part} was read again"
    rounds += 1
    killed += not finished
    if finished and rounds > 20:
        break
    if finished:
        note.unlink()
print(killed)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
def test_killed_at_random_moments_and_resumed(tmp_path, whole):
    data = tmp_path / "data"
    data.mkdir()
    write(whole, data, KINDS["mixed"])
    paths = [str(tmp_path / name) for name in ("note", "log", "counts")]
    done = subprocess.run(
        [sys.executable, "-c", KILL, str(data), *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 5
    assert unnaive.JointCounts.load(tmp_path / "counts") == unnaive.count(whole, "y")
    assert sorted(path.name for path in tmp_path.iterdir() if ".tmp" not in path.name) == [
        "counts",
        "data",
        "log",
        "note",
    ]


@pytest.mark.long
def test_memory_does_not_grow_with_the_rows(tmp_path):
    code = (
        "import sys, resource, unnaive; "
        "unnaive.count(sys.argv[1:2], 'y', batch_rows=4096); "
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
        "unnaive.count(sys.argv[2:], 'y', batch_rows=4096); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    rng = np.random.default_rng(0)
    for number in range(6):
        columns = {f"x{i}": rng.integers(0, 5, 60_000) for i in range(20)}
        frame = pd.DataFrame({**columns, "y": rng.integers(0, 2, 60_000)})
        frame.to_parquet(tmp_path / f"{number}.parquet", row_group_size=10_000)
    paths = sorted(str(path) for path in tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True
    )
    held = 6 * 60_000 * 21 * 8 / 1024
    assert int(done.stdout) < held / 2


def test_no_warnings_without_need(tmp_path, whole):
    write(whole, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unnaive.count(tmp_path, "y", skip_bad_files=True)


def test_rough_edges_are_told(tmp_path):
    rng = np.random.default_rng(0)
    crowd = 1000 + rng.normal(size=20_000) * 1e-6
    around = np.concatenate([crowd, rng.uniform(-1024, 1024, 20_000) * rng.random(20_000) ** 9])
    frame = pd.DataFrame({"x": around, "y": rng.integers(0, 2, 40_000)})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match="those of 'x' with up to 25"):
        unnaive.count([tmp_path / "a.parquet"], "y")
