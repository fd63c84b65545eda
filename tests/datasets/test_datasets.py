"""Data sets by name: where they are looked for, how they are checked; and the made ones."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from datafiles import FOLDER, needs_data
from unnaive import NaiveBayes, datasets
from unnaive.datasets import catalogue, content, load, names, sources
from unnaive.exceptions import DataFileError, UnnaiveError
from unnaive.io.frames import Frame

ENTRIES = catalogue()


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No data folder, an empty cache, and a network that does not answer."""

    def offline(**settings):
        raise URLError("no network")

    monkeypatch.delenv("UNNAIVE_DATA", raising=False)
    monkeypatch.setenv("UNNAIVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "fetch_openml", offline)
    return tmp_path


def rows_of(data):
    """Count the rows of a data set, the class among them."""
    return Counter(tuple(row) for row in np.column_stack([data.X, data.y]).tolist())


def as_on_openml(frame):
    """Make what fetch_openml gives for a frame: labels as numbers, domains in another order."""
    columns, categories = [], {}
    for index in range(len(frame.names)):
        column = frame.column(index)
        name = f"V{index + 1}"
        if column.categories is None:
            columns.append(column.values)
        else:
            size = len(column.categories)
            categories[name] = list(reversed(column.categories))
            columns.append(np.where(column.values < 0, np.nan, size - 1 - column.values))
    names = [f"V{index + 1}" for index in range(len(frame.names))]
    return SimpleNamespace(
        data=np.column_stack(columns).astype(float), feature_names=names, categories=categories
    )


def frame_of(name):
    entry = ENTRIES[name]
    path = Path(FOLDER) / f"{name}.csv.gz"
    return content.settle(entry, sources.read_file(entry, path), name)


def test_import_is_cheap():
    code = (
        "import sys; from unnaive import datasets; datasets.names(); datasets.catalogue(); "
        "print(sorted({'numpy', 'pandas', 'sklearn', 'scipy', 'narwhals'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names():
    for name in datasets.__all__:
        assert getattr(datasets, name) is not None
    assert dir(datasets) == sorted(datasets.__all__)
    with pytest.raises(AttributeError, match="no attribute 'fetch'"):
        _ = datasets.fetch


def test_the_catalogue_is_consistent():
    assert list(ENTRIES) == list(names())
    for name, entry in ENTRIES.items():
        assert entry.name == name
        assert len(entry.digests) == entry.attributes + 1
        assert len(set(entry.names)) == entry.attributes
        assert set(entry.categories) <= set(entry.names)
        assert len(entry.classes) >= 2
        assert entry.title
        assert entry.source
        assert entry.licence
        assert entry.papers
        assert entry.test is None or ENTRIES[entry.test].names == entry.names
        assert len(bytes.fromhex(entry.sha256)) == len(bytes.fromhex(entry.content)) == 32
    numbers = [entry.openml for entry in ENTRIES.values() if entry.openml is not None]
    assert len(set(numbers)) == len(numbers)


def test_names_of_a_paper():
    assert len(names("PHNB")) == 9
    assert set(names("GNB")) >= {"wdbc", "heart-cleveland", "diabetes-early", "parkinsons"}
    with pytest.raises(UnnaiveError, match="must be one of GNB, PHNB"):
        names("TAN")


@needs_data
@pytest.mark.parametrize("name", names())
def test_every_set_loads(name):
    entry = ENTRIES[name]
    file = Path(FOLDER) / f"{name}.csv.gz"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == entry.sha256
    data = load(name)
    assert data.X.shape == (entry.rows, entry.attributes)
    assert data.names == entry.names
    assert data.classes == entry.classes
    assert data.categories == entry.categories
    assert set(data.y) <= set(data.classes)
    assert isinstance(data.frame, Frame)
    assert sum(data.frame.column(i).missing.sum() for i in range(entry.attributes)) == entry.missing
    assert (data.test is None) == (entry.test is None)
    assert pd.DataFrame(data.X).isna().sum().sum() == entry.missing


@needs_data
def test_labels_stay_labels_and_keep_their_declared_values():
    data = load("thyroid-ann-train")
    sex = data.frame.column(data.names.index("sex"))
    assert (sex.categories, sex.declared) == (("0", "1"), True)
    glass = load("glass")
    assert glass.X.dtype == np.float64
    model = NaiveBayes().fit(glass.frame, glass.labels)
    assert len(model.classes_) == 7
    assert len(NaiveBayes().fit(glass.frame, glass.y).classes_) == 6


@needs_data
def test_to_pandas_keeps_declared_values():
    data = load("soybean-large")
    X, y = data.to_pandas()
    assert X.shape == (683, 35)
    assert tuple(X["date"].cat.categories) == data.categories["date"]
    assert int(X.isna().sum().sum()) == 2337
    assert y.name == "class"
    by_pandas = NaiveBayes().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(
        by_pandas, NaiveBayes().fit(data.frame, data.labels).predict_proba(data.frame)
    )


@needs_data
def test_validation_parts():
    assert len(load("waveform-21").test.y) == 4700
    assert len(load("mofn-3-7-10").test.y) == 1024
    assert len(load("waveform-21-test").y) == 4700


@needs_data
@pytest.mark.parametrize("name", ["wdbc", "iris", "corral"])
def test_what_needs_no_file_equals_the_file(name, nowhere, monkeypatch):
    built_in = load(name)
    monkeypatch.setenv("UNNAIVE_DATA", FOLDER)
    data = load(name)
    np.testing.assert_array_equal(built_in.X, data.X)
    np.testing.assert_array_equal(built_in.y, data.y)
    assert not (nowhere / "cache").exists()


def test_unknown_names_are_met_with_close_ones():
    with pytest.raises(UnnaiveError, match="no data set 'Votes'; did you mean 'vote'"):
        load("Votes")
    with pytest.raises(UnnaiveError, match=r"one of unnaive\.datasets\.names\(\)"):
        load("../qqqqqqqqqqqq")


def test_not_found_names_places_and_cures(nowhere, monkeypatch):
    with pytest.raises(FileNotFoundError) as caught:
        load("vote")
    for part in (
        "UNNAIVE_DATA is not set",
        str(nowhere / "cache"),
        "no data 56 (URLError: <urlopen error no network>)",
        "connect to the network",
    ):
        assert part in str(caught.value)
    monkeypatch.setenv("UNNAIVE_DATA", str(nowhere / "typo"))
    with pytest.raises(
        FileNotFoundError, match=r"no such folder.*make_waveform\(4700\) makes"
    ) as c:
        load("waveform-21")
    assert "network" not in str(c.value)


def small_corral(folder, text=None):
    """Write corral.csv into a folder, with its text changed."""
    data = datasets.make_corral()
    lines = [",".join([*data.names, "class"])]
    lines += [",".join([*row, label]) for row, label in zip(data.X, data.y, strict=True)]
    folder.mkdir(exist_ok=True)
    (folder / "corral.csv").write_text((text or str)("\n".join(lines) + "\n"))


def test_a_plain_csv_of_the_same_values_will_do(nowhere, monkeypatch):
    monkeypatch.setenv("UNNAIVE_DATA", str(nowhere / "data"))
    small_corral(nowhere / "data", lambda text: "\ufeff" + text.replace("\n", "\r\n"))
    assert rows_of(load("corral")) == rows_of(datasets.make_corral())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: text.rindex("1,1,1,1,1,1,1")], "127 rows instead of 128"),
        (lambda text: text.replace("0,0,0,0,0,0,0", "0,0,0,0,1,0,0", 1), "column 'Irrelevant':"),
        (lambda text: text.replace("0,0,0,0,0,0,0", "0,0,0,0,,0,0", 1), "other values in column"),
    ],
)
def test_other_values_are_an_error_unless_told(nowhere, monkeypatch, change, message):
    monkeypatch.setenv("UNNAIVE_DATA", str(nowhere / "data"))
    small_corral(nowhere / "data", change)
    with pytest.raises(DataFileError, match=message) as caught:
        load("corral")
    assert str(nowhere / "data" / "corral.csv") in str(caught.value)
    assert "check=False" in str(caught.value)
    assert ENTRIES["corral"].sha256 in str(caught.value)
    assert load("corral", check=False).X.shape[1] == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("A1", "Z"), "from column 2 on.*'Z'.*'A1'"),
        (lambda text: text.replace(",class", ""), "from column 7 on"),
        (lambda text: text.replace("0,0,0,0,0,0,0", "0,0,0,0,2,0,0", 1), "'2' in row 1, which is"),
        (lambda text: text.replace("0,0,0,0,0,0,0", "0,0,0,0", 1), "row 1 has 4 cells"),
        (lambda text: text.splitlines()[0], "no rows"),
        (lambda text: "", "from column 1 on"),
        (lambda text: text + '"', "cannot be read"),
    ],
)
def test_other_files_are_an_error_in_any_case(nowhere, monkeypatch, change, message):
    monkeypatch.setenv("UNNAIVE_DATA", str(nowhere / "data"))
    small_corral(nowhere / "data", change)
    with pytest.raises(DataFileError, match=message):
        load("corral", check=False)


def test_damaged_files(nowhere, monkeypatch):
    monkeypatch.setenv("UNNAIVE_DATA", str(nowhere))
    path = nowhere / "corral.csv.gz"
    small_corral(nowhere)
    packed = gzip.compress((nowhere / "corral.csv").read_bytes())
    for damaged in (packed[:-20], b"no gzip", packed[:40] + b"xxxx" + packed[44:]):
        path.write_bytes(damaged)
        with pytest.raises(DataFileError, match="fetch it again"):
            load("corral")


def test_numbers_must_be_numbers():
    entry = ENTRIES["iris"]
    cells = sources.BUILT_IN["iris"]()
    cells[1] = ["wide"] * 150
    with pytest.raises(DataFileError, match="here: column 'sepalwidth' must have numbers"):
        content.settle(entry, cells, "here")
    with pytest.raises(DataFileError, match="here has 4 columns and 'iris' has 5"):
        content.settle(entry, cells[1:], "here")


def test_the_fingerprint_is_of_values_alone():
    entry = ENTRIES["iris"]
    cells = sources.BUILT_IN["iris"]()
    text = [[f" {number:.3f} " for number in column] for column in cells[:-1]]
    frame = content.settle(entry, [*text, cells[-1]], "here")
    assert content.fingerprint(frame)[0] == entry.content
    assert content.difference(entry, frame) == ""
    backwards = content.settle(entry, [column[::-1] for column in cells], "here")
    assert "another order" in content.difference(entry, backwards)


def test_zeros_and_gaps_have_one_form():
    column = content.Column("a", np.array([0.0, np.nan]))
    other = content.Column("b", np.array([-0.0, -np.nan]))
    frames = [Frame(("x",), 2, (c,)) for c in (column, other)]
    assert content.fingerprint(frames[0]) == content.fingerprint(frames[1])


@needs_data
@pytest.mark.parametrize("name", ["vote", "sick", "arrhythmia", "pima"])
def test_openml_is_asked_once(name, nowhere, monkeypatch):
    asked = []

    def server(**settings):
        asked.append(settings)
        return as_on_openml(frame_of(name))

    monkeypatch.setattr(sources, "fetch_openml", server)
    fetched = load(name)
    assert (nowhere / "cache" / f"{name}.csv.gz").exists()
    kept = load(name)
    assert [settings["data_id"] for settings in asked] == [ENTRIES[name].openml]
    monkeypatch.setenv("UNNAIVE_DATA", FOLDER)
    expected = load(name)
    for data in (fetched, kept):
        pd.testing.assert_frame_equal(pd.DataFrame(data.X), pd.DataFrame(expected.X))
        np.testing.assert_array_equal(data.y, expected.y)


@needs_data
def test_other_data_on_the_server_is_refused_and_not_kept(nowhere, monkeypatch):
    bunch = as_on_openml(frame_of("vote"))
    bunch.data[0, 3] = 1 - bunch.data[0, 3]
    monkeypatch.setattr(sources, "fetch_openml", lambda **settings: bunch)
    changed = ENTRIES["vote"].names[3]
    with pytest.raises(DataFileError, match=rf"OpenML \(data 56\) has other values in.*{changed}"):
        load("vote")
    assert load("vote", check=False).X.shape == (435, 16)
    assert not (nowhere / "cache").exists()


@needs_data
def test_a_cache_that_cannot_be_written_does_not_stop_it(nowhere, monkeypatch):
    (nowhere / "file").write_text("")
    bunch = as_on_openml(frame_of("vote"))
    monkeypatch.setattr(sources, "fetch_openml", lambda **settings: bunch)
    with pytest.warns(UserWarning, match="cannot be kept.*set UNNAIVE_CACHE"):
        data = load("vote", cache=nowhere / "file")
    assert len(data.y) == 435


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("UNNAIVE_CACHE", str(tmp_path))
    assert sources.cache_folder() == tmp_path
    assert sources.cache_folder(tmp_path / "given") == tmp_path / "given"
    monkeypatch.delenv("UNNAIVE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    for platform, parent in (("linux", tmp_path), ("win32", tmp_path), ("darwin", Path.home())):
        monkeypatch.setattr(sys, "platform", platform)
        assert sources.cache_folder().is_relative_to(parent)
        assert sources.cache_folder().name == "unnaive"


def test_datasets_made_by_hand():
    data = datasets.Dataset(np.eye(2), np.array(["a", "b"]), ("p", "q"), "t", "Two rows")
    assert repr(data) == "Dataset('Two rows', 2 rows, 2 columns, 2 classes)"
    assert data.labels.name == "t"
    assert data.frame.matrix is data.X
    X, y = data.to_pandas()
    assert list(X.columns) == ["p", "q"]
    assert y.tolist() == ["a", "b"]
    wdbc = datasets.load_wdbc()
    assert wdbc.labels.categories == wdbc.classes == ("benign", "malignant")
    assert wdbc.frame.matrix is wdbc.X


def test_corral_has_its_design():
    data = datasets.make_corral()
    assert len(data.y) == 128
    assert set(rows_of(data).values()) == {1, 3}
    a0, a1, b0, b1 = (data.X[:, :4] == "1").T
    np.testing.assert_array_equal(data.y == "1", (a0 & a1) | (b0 & b1))


@needs_data
def test_made_tables_equal_the_files():
    assert rows_of(datasets.make_corral()) == rows_of(load("corral"))
    learning, made = load("mofn-3-7-10"), datasets.make_m_of_n()
    assert rows_of(made) == rows_of(learning.test)
    assert rows_of(learning) <= rows_of(made)
    assert made.names == learning.names


def test_m_of_n():
    drawn = datasets.make_m_of_n(2, 3, 5, n_rows=20, random_state=0)
    assert len(rows_of(drawn)) == 20
    assert rows_of(drawn) <= rows_of(drawn.test)
    np.testing.assert_array_equal(drawn.y == "1", (drawn.X[:, 1:4] == "1").sum(axis=1) >= 2)
    again = datasets.make_m_of_n(2, 3, 5, n_rows=20, random_state=np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.X, again.X)
    for wrong in ({"m": 8}, {"relevant": 11}, {"columns": 17}, {"n_rows": 1025}, {"n_rows": 2.0}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}=.*whole number from"):
            datasets.make_m_of_n(**wrong)


def waves(data):
    """Weights of the triangles at 7, 11 and 15 in the mean row of each class."""
    h = np.maximum(6 - np.abs(np.arange(1, 22)[:, None] - [7, 11, 15]), 0)
    means = [data.X[data.y == label, :21].mean(axis=0) for label in data.classes]
    return np.linalg.lstsq(h, np.array(means).T, rcond=None)[0].T


def test_waveform():
    data = datasets.make_waveform(20_000, noise=True, random_state=0)
    half = [[0.5, 0, 0.5], [0.5, 0.5, 0], [0, 0.5, 0.5]]
    np.testing.assert_allclose(waves(data), half, atol=0.02)
    assert abs(data.X[:, 21:].mean()) < 0.01
    assert abs(data.X[:, 21:].std() - 1) < 0.01
    assert datasets.make_waveform(7, random_state=1).X.shape == (7, 21)
    with pytest.raises(ValueError, match="n_rows=0; it must be a whole number of at least 1"):
        datasets.make_waveform(0)


@needs_data
def test_waveform_is_like_the_file():
    file, made = load("waveform-21-test"), datasets.make_waveform(20_000, random_state=0)
    assert made.names == file.names
    np.testing.assert_allclose(waves(file), waves(made), atol=0.03)
    for label in file.classes:
        spread = [data.X[data.y == label].std(axis=0) for data in (file, made)]
        np.testing.assert_allclose(*spread, atol=0.1)


def test_monks():
    rules = {
        1: lambda a: a[0] == a[1] or a[4] == "1",
        2: lambda a: a.count("1") == 2,
        3: lambda a: (a[4] == "3" and a[3] == "1") or (a[4] != "4" and a[1] != "3"),
    }
    for problem, rule in rules.items():
        data = datasets.make_monks(problem)
        assert len(rows_of(data)) == 432
        assert [rule(row) for row in data.X.tolist()] == (data.y == "1").tolist()
        assert data.test is None


@pytest.mark.parametrize(("problem", "noise", "wrong"), [(1, None, 0), (3, None, 6), (2, 0.5, 61)])
def test_noise_of_monks(problem, noise, wrong):
    data = datasets.make_monks(problem, 122, noise=noise, random_state=0)
    truth = dict(zip(map(tuple, data.test.X), data.test.y, strict=True))
    assert len({tuple(row) for row in data.X}) == 122
    assert (
        sum(truth[tuple(row)] != label for row, label in zip(data.X, data.y, strict=True)) == wrong
    )


def test_monks_refuses():
    with pytest.raises(ValueError, match="problem=4; it must be 1, 2 or 3"):
        datasets.make_monks(4)
    with pytest.raises(ValueError, match=r"noise=0\.1; .*n_rows must be given"):
        datasets.make_monks(3, noise=0.1)
    with pytest.raises(ValueError, match="n_rows=433; it must be a whole number from 1 to 432"):
        datasets.make_monks(1, 433)
