"""Rows, a model of them and new rows, for all tests of the command line."""

import pytest

from commands import HEADER, patients, run, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows to learn from, a model of them, and new rows in another order with a new town."""
    path = tmp_path_factory.mktemp("cli")
    write(path / "patients.csv", HEADER, patients(200, 1))
    new = [row[4::-1] for row in patients(30, 2, ["Oslo", "Paris"])]
    write(path / "new.csv", HEADER[4::-1], new)
    run(
        "fit",
        path / "patients.csv",
        "-t",
        "diagnosis",
        "-m",
        "tan",
        "--ignore",
        "id",
        "-o",
        path / "m.unb",
    )
    return path


@pytest.fixture
def data(folder):
    return folder / "patients.csv"


@pytest.fixture
def model(folder):
    return folder / "m.unb"
