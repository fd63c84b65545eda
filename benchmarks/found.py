"""The results of a measured library, and whether its tree and posteriors equal ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

CHECK_ROWS = 2000


class Absent(Exception):
    """The library is not installed; the text is the command that installs it."""


@dataclass(frozen=True)
class Job:
    """The job of a process: the folder of the rows, repeats, threads."""

    name: str
    folder: str
    repeats: int
    jobs: int


@dataclass
class Finding:
    """The results of a process."""

    status: str = "ok"
    message: str = ""
    version: str = ""
    threads: str = ""
    timings: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def time(self, model: str, operation: str, seconds: float, rows: int | None = None) -> None:
        """Record a time; ``rows`` is the number of predicted rows, if any."""
        entry = {"model": model, "operation": operation, "seconds": seconds, "rows": rows}
        self.timings.append(entry)

    def check(self, what: str, theirs: np.ndarray, ours: np.ndarray, tolerance: float) -> None:
        """Record the largest difference between two arrays of posteriors."""
        difference = float(np.abs(np.asarray(theirs) - np.asarray(ours)).max())
        entry = {"what": what, "rows": len(ours), "difference": difference, "tolerance": tolerance}
        self.checks.append(entry)


def parents_of(edges: Iterable[tuple[str, str]], n_columns: int) -> list[int]:
    """Return each column's parent besides y, -1 for none, from edges between "x3", "x7" and "y"."""
    parents = [-1] * n_columns
    for parent, child in edges:
        if parent != "y":
            parents[int(child[1:])] = int(parent[1:])
    return parents


def check_tree(found: Finding, X: Any, y: Any, parents: list[int], theirs: np.ndarray) -> None:
    """Compare the trees, and the posteriors with the other library's tree."""
    from unnaive import TAN  # noqa: PLC0415

    def edges(of: Any) -> set[tuple[int, int]]:
        return {tuple(sorted((int(p), c))) for c, p in enumerate(of) if p >= 0}

    own, other = edges(TAN(discretize=None).fit(X, y).structure_.parents), edges(parents)
    found.notes.append(f"{len(own & other)} of its {len(other)} edges are among our {len(own)}")
    given = TAN(discretize=None, parents=parents).fit(X, y)
    ours = given.predict_proba(X[: len(theirs)])
    found.check("posteriors, TAN(parents= its tree)", theirs, ours, 1e-9)
