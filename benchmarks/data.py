"""Rows drawn from a random tree-augmented structure with a fixed random seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

CLASS_WEIGHT = 0.2  # how much of a column's distribution is the class's own


@dataclass(frozen=True)
class Shape:
    """Size of a generated data set; the defaults are those of the speed targets."""

    rows: int = 80_000
    columns: int = 50
    values: int = 5
    classes: int = 2
    seed: int = 20240229

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows x {self.columns} columns x {self.values} values x "
            f"{self.classes} classes, seed {self.seed}"
        )


def tree_data(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return X (n, d) and y (n,), both int64 in C order.

    Column j depends on the class and on one earlier column drawn at random. Its
    distributions are Dirichlet(1): one a value of the parent, shared by the classes, mixed
    with one a class and value of the parent (weight ``CLASS_WEIGHT``), so that posteriors
    are spread over (0, 1) and a comparison of them says something.
    """
    rng = np.random.default_rng(shape.seed)
    n, d, v, k = shape.rows, shape.columns, shape.values, shape.classes
    y = rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 5.0)))
    y[:k] = np.arange(k)
    drawn = np.empty((d, n), dtype=np.uint8 if v <= 256 else np.uint32)
    for column in range(d):
        above = drawn[rng.integers(column)] if column else np.zeros(n, dtype=np.uint8)
        shared = rng.dirichlet(np.ones(v), size=(1, v))
        own = rng.dirichlet(np.ones(v), size=(k, v))
        cumulative = ((1 - CLASS_WEIGHT) * shared + CLASS_WEIGHT * own).cumsum(axis=2)
        uniform = rng.random(n)
        line = np.zeros(n, dtype=drawn.dtype)
        for value in range(v - 1):
            line += uniform > cumulative[y, above, value]
        line[: min(v, n)] = np.arange(min(v, n))
        drawn[column] = line
    return np.ascontiguousarray(drawn.T, dtype=np.int64), y.astype(np.int64)


def float_data(rows: int, columns: int, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers whose means depend on the class, and y."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=rows)
    X = rng.standard_normal((rows, columns))
    X += y[:, None] * np.linspace(0.0, 1.5, columns)
    return X, y


def save(folder: Path, X: np.ndarray, y: np.ndarray) -> None:
    """Write X and y for another process."""
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)


def load(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read X and y that :func:`save` wrote."""
    return np.load(folder / "X.npy"), np.load(folder / "y.npy")


def wdbc() -> Any:
    """Return Wisconsin Diagnostic Breast Cancer (569 x 30), as scikit-learn ships it."""
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415 - slow to import

    return load_breast_cancer(return_X_y=True)
