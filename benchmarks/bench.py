"""Shared by the parts of ``limit``: the rows, measuring, and the figures so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks import report
from unnaive.counts import CodedRows
from unnaive.counts.sizes import all_pairs
from unnaive.io.frames import to_column, to_frame
from unnaive.schema import learn_schema

if TYPE_CHECKING:
    import numpy as np


@dataclass
class Bench:
    """The rows, the settings of the measurement, and the targets so far."""

    X: np.ndarray
    y: np.ndarray
    rounds: int
    jobs: int
    targets: list[list[str]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def judge(self, name: str, value: float, wanted: float, unit: str, *, at_least: bool) -> None:
        """Record a figure that has a target."""
        self.figures[name] = value
        self.targets.append(report.target(name, value, wanted, unit, at_least=at_least))

    def coded(self, n_jobs: int) -> CodedRows:
        """Return the coded rows with their bitmaps."""
        schema, codes, classes = learn_schema(to_frame(self.X), to_column(self.y), n_jobs=self.jobs)
        rows = CodedRows(schema, codes, classes, None, n_jobs)
        rows.count_pairs(all_pairs(len(codes))[:1])
        return rows
