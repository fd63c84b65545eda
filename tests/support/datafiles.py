"""The papers' data sets, where they are: the folder named by $UNNAIVE_DATA."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from unnaive.io.files import read
from unnaive.schema import CategoricalColumn, Schema

FOLDER = os.environ.get("UNNAIVE_DATA")
needs_data = pytest.mark.skipif(
    FOLDER is None, reason="set UNNAIVE_DATA to the folder of the papers' data sets"
)


MADE = Path(__file__).parents[1] / "golden" / "made"  # drawn by golden/draw.py, always there


def folder_of(name):
    """Folder of a data set; the test is skipped where there is none."""
    if not name.startswith("made") and FOLDER is None:
        pytest.skip("set UNNAIVE_DATA to the folder of the papers' data sets")
    return MADE if name.startswith("made") else Path(FOLDER)


def nominal(name, replace_missing=False):
    """Frame, target column and schema of a data set of declared categories."""
    path = folder_of(name)
    declared = json.loads((path / "schema.json").read_text())[name]
    frame, target = read(path / f"{name}.csv.gz").split("class")
    columns = tuple(CategoricalColumn(c["name"], tuple(c["values"])) for c in declared[:-1])
    schema = Schema(columns, tuple(declared[-1]["values"]), "class")
    codes = schema.encode(frame)
    if replace_missing:
        for line, column in zip(codes, columns, strict=True):
            line[line == column.size] = np.bincount(line, minlength=column.size)[:-1].argmax()
    return schema, codes, schema.encode_target(target)
