"""The folder of the papers' data sets."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder(given: str | None) -> Path:
    """Return the folder of the data sets: ``--data``, or ``UNNAIVE_DATA`` in the environment."""
    folder = given or os.environ.get("UNNAIVE_DATA")
    if not folder or not (Path(folder) / "schema.json").exists():
        raise SystemExit("name the folder of the papers' data sets: --data FOLDER or $UNNAIVE_DATA")
    return Path(folder)
