"""Rows of small files are kept between the two passes of a count without a schema."""

import pytest

import unnaive
from tests.counts.test_files import FILES, KINDS, table, write
from unnaive.counts.engines import files
from unnaive.io.parts import parquet, text


@pytest.mark.parametrize("room", [1, 8000, 2**31])
@pytest.mark.parametrize("weight", [None, "few"])
def test_files_that_fit_are_read_once(tmp_path, monkeypatch, room, weight):
    whole = table()
    write(whole, tmp_path, KINDS["mixed"])
    read = []
    for kind in (text.TextPart, parquet.ArrowPart):
        frames = kind.read

        def noted(self, *how, frames=frames):
            read.append(self.name)
            return frames(self, *how)

        monkeypatch.setattr(kind, "read", noted)
    monkeypatch.setattr(files, "KEPT", 2**31 // room)
    counts = unnaive.count(tmp_path, "y", sample_weight=weight, batch_rows=100)
    assert len(read) - FILES in {1: {FILES}, 8000: {1, 2, 3}, 2**31: {0}}[room]
    kept = whole if weight is None else whole.drop(columns="few")
    weights = None if weight is None else whole["few"]
    assert counts == unnaive.count(kept, "y", sample_weight=weights, schema=counts.schema)
