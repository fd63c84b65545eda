"""The programs of ``fuzz``: they find what they should, and the inputs that found something."""

import os
import sys
import time
import types
import zipfile
from io import BytesIO

import pytest

from fuzz import files, fits, pages, run
from unnaive.exceptions import DataFileError
from unnaive.io.files import read

pytestmark = pytest.mark.filterwarnings("ignore")
SLOW = {"xlsx": 3, "csv": 8, "csv-gz": 8, "tsv": 8, "parquet-notes": 8}


@pytest.mark.skipif(os.name == "nt", reason="there is no fork on Windows")
def test_faults_crashes_and_hangs_are_told(monkeypatch, capsys):
    def bare(seed):
        raise KeyError(seed)

    def refuses(seed):
        run.check_message(ValueError("line\nline" if seed == 3 else "a line"))

    def ends(seed):
        if seed == 2:
            os._exit(3)
        if seed == 5:
            sum(range(10**10))  # no signal interrupts it
        time.sleep(0.03)
        return ""

    made = {"bare": bare, "refuses": refuses, "ends": ends, "fine": lambda _: ""}
    fake = types.SimpleNamespace(subjects=lambda _: made)
    monkeypatch.setitem(sys.modules, "fuzz.fake", fake)
    monkeypatch.setattr(run, "HANG", 0.5)
    monkeypatch.setattr(run, "TURN", 0.001)
    assert run.kind("fake", "ends", run.Budget(20.0, 10, 0)) == 2
    assert run.kind("fake", "bare", run.Budget(5.0, 4, 7)) == 4
    assert run.kind("fake", "refuses", run.Budget(5.0, 6, 0)) == 1
    assert run.kind("fake", "fine", run.Budget(5.0, 9, 0)) == 0
    shown = capsys.readouterr().out
    assert "--only ends --seed 2: crash" in shown
    assert "--only ends --seed 5: does not end" in shown
    assert "KeyError at" in shown
    assert "--only bare --seed 7" in shown
    assert "--only refuses --seed 3: AssertionError" in shown
    assert "9 inputs" in shown


@pytest.fixture(scope="module")
def formats(tmp_path_factory):
    return files.subjects(tmp_path_factory.mktemp("files"))


def test_altered_files_are_refused_or_read(formats):
    wrong = {}
    for name, subject in formats.items():
        for seed in range(SLOW.get(name, 25)):
            if fault := run.attempt(subject, seed):
                wrong[name, seed] = fault
    assert not wrong


def test_names_and_cells_stay_text(tmp_path):
    subjects = pages.subjects(tmp_path)
    for name in ("views-tan", "report", "terminal-explain", "terminal-json"):
        assert not run.attempt(subjects[name], 1), name


@pytest.mark.parametrize(
    ("key", "seeds"),
    [
        ("nb", range(8)),
        ("tan", range(8)),
        ("gaussian-tan", range(8)),
        ("cherry", [27]),  # many values, many missing: took more than 5 seconds
        ("full-bayes", [100069]),  # copies of columns: weight 2 was not the same sample twice
        ("k-naive", [1010022, 1020042, 1020049]),  # the same, and after samples were forgotten
        ("gaussian-kdb", [1020016]),  # a column without values was a category in lists of rows
        ("decomposable", [2400122]),  # partial_fit refused what fit accepted: pairs it never needs
        ("wanbia", [2600142]),  # the same
        ("weighted-tan", [3100138]),  # the same
    ],
)
def test_hostile_fits(key, seeds, tmp_path):
    subject = fits.subjects(tmp_path)[key]
    assert [fault for seed in seeds if (fault := run.attempt(subject, seed))] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "seed"),
    [
        *(("ienb", 100034), ("ienb", 3400003), ("kdb", 21000009)),
        *(("tan-multinet", 2800046), ("a2de", 2200074), ("gaussian-kdb", 30000121)),
        *(("atan", 3100011), ("tan-multinet", 50000241)),
    ],
)
def test_fits_that_took_long(key, seed, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "LIMIT", 2 * run.LIMIT)  # other tests slow each other down
    assert not run.attempt(fits.subjects(tmp_path)[key], seed)


@pytest.mark.parametrize(
    ("key", "seed"), [("gaussian-kdb", 40200220), ("gnb-a", 40300086), ("phnb", 50000041)]
)
def test_fits_that_broke_a_promise(key, seed, tmp_path):
    assert not run.attempt(fits.subjects(tmp_path)[key], seed)


# Files that were not refused properly


def test_a_schema_without_columns(formats):
    assert not run.attempt(formats["schema"], 52000917)


def test_a_byte_order_mark_and_blanks(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("\n \n".encode("utf-16"))
    with pytest.raises(DataFileError, match="is empty; it needs a header and rows"):
        read(path)


def test_only_separators(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(",,,\n,,,\n")
    with pytest.raises(DataFileError, match="has no name"):
        read(path)


def test_a_workbook_with_damaged_compression(tmp_path):
    content = bytearray(files.samples()["xlsx"])
    with zipfile.ZipFile(BytesIO(content)) as archive:
        sheet = archive.getinfo("xl/worksheets/sheet1.xml")
    start = sheet.header_offset + 30 + len(sheet.filename)
    content[start : start + 40] = b"\xff" * 40
    path = tmp_path / "rows.xlsx"
    path.write_bytes(content)
    with pytest.raises(DataFileError, match="damaged or not an Excel workbook"):
        read(path)
