"""Servers that tests start, where they can be started."""

import pytest


def postgresql():
    """Start a real server of PostgreSQL, a context manager; skip the test if there is none."""
    pytest.importorskip("adbc_driver_postgresql", reason="adbc is not installed")
    from benchmarks.engines import NotHere, PostgreSQL  # noqa: PLC0415 - starts a server

    try:
        return PostgreSQL()
    except NotHere as error:
        pytest.skip(str(error))
