"""Models in which a column has several parents: tables of families that occurred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._scikit import check_is_fitted
from unnaive.exceptions import UnnaiveError
from unnaive.information import family_information, mutual_information
from unnaive.models.base import CountsClassifier
from unnaive.structure.graph import FamilyGraph
from unnaive.tables.families import FamilyTables, family_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.schema import Schema


@dataclass(eq=False, repr=False, kw_only=True)
class FamilyClassifier(CountsClassifier):
    """Base of the models with a table for every column and its parents."""

    missing: str = "marginalize"

    @property
    def weight_(self) -> float:
        """Information of the whole model, W = Σ I(X_i;Y) + Σ I(X_i;X_parents|Y), in nats."""
        return float(self._gains.sum())

    @property
    def kl_gain_over_nb_(self) -> float:
        """How much nearer to the data than naive Bayes, in nats."""
        return float(self._beyond_class.sum())

    @property
    def _gains(self) -> FloatArray:
        """Information that every column adds, I(X_i;Y) + I(X_i;X_parents|Y); shape (d,)."""
        return self._of_used(mutual_information(self.counts_) + self._beyond_class)

    def _of_used(self, information: FloatArray) -> FloatArray:
        """Put 0 for columns that are not in the model; shape (d,)."""
        inside = np.isin(np.arange(len(information)), self.structure_.used)
        return np.where(inside, information, 0.0)

    @property
    def _beyond_class(self) -> FloatArray:
        """Information I(X_i;X_parents|Y) of every column; shape (d,)."""
        check_is_fitted(self)
        information = np.zeros(len(self.schema_.names))
        for family in self.counts_.families:
            information[family.columns[0]] = family_information(family.table)
        return information

    def _graph(self, families: Iterable[tuple[int, ...]], schema: Schema) -> FamilyGraph:
        return FamilyGraph(schema.names, schema.target, tuple(families))

    def _graph_of_counts(self, counts: JointCounts) -> FamilyGraph:
        """Return the graph whose families were counted."""
        if not counts.families and (counts.schema.sizes > 0).any():
            raise UnnaiveError(
                f"{type(self).__name__} needs counts of columns together with their parents, and "
                "these counts hold pairs alone; fit it on rows, or on counts_ of a fitted one"
            )
        return self._graph((family.columns for family in counts.families), counts.schema)

    def _restore_structure(self, state: Any, schema: Schema) -> FamilyGraph:
        return self._graph((tuple(family) for family in state["families"]), schema)

    def _pairs_of(self, structure: FamilyGraph) -> IntArray:
        return np.empty((0, 2), dtype=np.int64)

    def _families_of(self, structure: FamilyGraph) -> list[tuple[int, ...]]:
        return list(structure.families)

    def _make_tables(self, held_out: float | None = None) -> FamilyTables:
        return self._family_tables(self.counts_, held_out)

    def _family_tables(self, counts: JointCounts, held_out: float | None = None) -> FamilyTables:
        if self.missing not in {"marginalize", "drop"}:
            raise ValueError(f"missing={self.missing!r}; it must be 'marginalize' or 'drop'")
        return family_tables(
            counts,
            self._smoothing,
            class_prior=self._class_prior,
            marginalize=self.missing == "marginalize",
            held_out=held_out,
        )
