"""Draw the made-up data sets of ``made/``, so that every run compares with WEKA.

``python draw.py`` draws three classes and a tree of dependences; ``e`` is determined by ``d``,
which AODEsr drops; one value is rare.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "made"
SIZES = {"a": 2, "b": 3, "c": 5, "d": 4, "e": 2, "f": 3}
N_ROWS = 240


def main() -> None:
    """Write a complete set, the same with missing cells, and one of numbers."""
    random = np.random.default_rng(7)
    target = random.choice(3, N_ROWS, p=[0.5, 0.3, 0.2])
    a = (random.random(N_ROWS) < 0.25 + 0.25 * target).astype(int)
    b = np.where(random.random(N_ROWS) < 0.6, (a + target) % 3, random.integers(0, 3, N_ROWS))
    c = np.where(random.random(N_ROWS) < 0.02, 4, (b + random.integers(0, 2, N_ROWS)) % 4)
    d = np.where(
        random.random(N_ROWS) < 0.7, (a * 2 + target // 2) % 4, random.integers(0, 4, N_ROWS)
    )
    f = np.where(random.random(N_ROWS) < 0.5, target, random.integers(0, 3, N_ROWS))
    codes = dict(zip(SIZES, (a, b, c, d, d // 2, f), strict=True))
    columns = {name: [f"{name}{code}" for code in codes[name]] for name in SIZES}
    labels = [f"k{code}" for code in target]
    missing = random.random((len(SIZES), N_ROWS)) < 0.08
    scattered = {
        name: ["" if is_missing else value for value, is_missing in zip(cells, line, strict=True)]
        for (name, cells), line in zip(columns.items(), missing, strict=True)
    }
    numbers = {
        "x": np.round(random.normal(target, 0.8), 2).tolist(),
        "y": np.round(random.exponential(1.0 + (target == 1)), 3).tolist(),
        "z": random.integers(0, 9, N_ROWS).tolist(),
    }
    domain = [
        {"name": name, "type": "nominal", "values": [f"{name}{i}" for i in range(size)]}
        for name, size in SIZES.items()
    ]
    numeric = [{"name": name, "type": "numeric"} for name in numbers]
    classes = {"name": "class", "type": "nominal", "values": ["k0", "k1", "k2"]}
    FOLDER.mkdir(exist_ok=True)
    sets = {"made": columns, "made-missing": scattered, "made-numbers": numbers}
    for name, cells in sets.items():
        write(name, {**cells, "class": labels})
    schema = {"made": domain, "made-missing": domain, "made-numbers": numeric}
    text = json.dumps({name: [*lines, classes] for name, lines in schema.items()}, indent=1)
    (FOLDER / "schema.json").write_text(text + "\n")


def write(name: str, columns: dict[str, list[object]]) -> None:
    """Write one CSV, compressed without name or time: equal content, equal bytes."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    with (
        (FOLDER / f"{name}.csv.gz").open("wb") as stream,
        gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as file,
    ):
        file.write(text.getvalue().encode())


if __name__ == "__main__":
    main()
