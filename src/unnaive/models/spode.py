"""Super-parent one-dependence estimators: one column is everyone's parent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.exceptions import UnnaiveError
from unnaive.information import (
    conditional_mutual_information,
    mutual_information,
    pairwise_mutual_information,
)
from unnaive.models.left_out import left_out_scores
from unnaive.models.tree import TreeClassifier, column_position
from unnaive.structure import ParentGraph, super_parent_scores, with_parents
from unnaive.structure.graph import LEFT_OUT
from unnaive.tables.trees import joint_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.tables.trees import TreeTables

_CRITERIA = ("mi", "cmi", "loo", "bic", "aic")


@dataclass(eq=False, repr=False, kw_only=True)
class SPODE(TreeClassifier):
    r"""Super-parent one-dependence estimator.

    .. math:: P(c, x) = P(c, x_p) \prod_{i \ne p} P(x_i \mid c, x_p)

    Parameters
    ----------
    criterion : {"mi", "cmi", "loo", "bic", "aic"}, default="mi"
        How the super-parent p is chosen: by I(X_p;Y); by what all others then tell about the
        class; by exact leave-one-out accuracy (log loss on ties); by a penalised likelihood.
    parent : str or int, default=None
        The super-parent itself, instead of a criterion.
    joint_prior : bool, default=True
        Estimate P(c, x_p) as one variable, as AODE does, rather than as P(c)·P(x_p | c).
    {parameters}

    References
    ----------
    Yang, Webb, Cerquides, Korb, Boughton & Ting, "To select or to weigh: a comparative study
    of linear combination schemes for superparent-one-dependence estimators", IEEE TKDE 19, 2007.

    Examples
    --------
    >>> from unnaive import SPODE
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 3
    >>> SPODE(parent=1).fit(X, [0, 1, 1, 0] * 3).structure_.parents
    array([ 1, -1])
    """

    criterion: str = "mi"
    parent: Any = None
    joint_prior: bool = True

    def _learn_structure(self, source: JointCounts | CodedRows) -> ParentGraph:
        if self.criterion not in _CRITERIA:
            raise ValueError(f"criterion={self.criterion!r}; it must be one of {_CRITERIA}")
        information = conditional_mutual_information(source, self.n_jobs)
        if self.parent is not None:
            return self._star(
                column_position(self.parent, source.schema, "parent"), information, source
            )
        if self.criterion == "loo":
            raise UnnaiveError(
                'criterion="loo" looks at rows, and counts have none; call fit with all rows, or '
                "choose another criterion"
            )
        pairwise = np.zeros_like(information)
        if self.criterion == "cmi":
            pairwise = pairwise_mutual_information(source, self.n_jobs)
        relevance = mutual_information(source)
        scores = super_parent_scores(self.criterion, source, relevance, information, pairwise)
        return self._star(first_best(self._active(scores, source)), information, source)

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> ParentGraph:
        if self.parent is not None or self.criterion != "loo":
            return self._learn_structure(source)
        information = conditional_mutual_information(source, self.n_jobs)
        stars = [self._star(p, information, source) for p in range(len(information))]
        found = np.array([self._left_out_scores(rows, star) for star in stars])
        accuracy = self._active(found[:, 0], source)
        best = accuracy >= accuracy.max() - TIE_TOLERANCE
        return stars[first_best(np.where(best, found[:, 1], -np.inf))]

    @staticmethod
    def _active(scores: FloatArray, source: JointCounts | CodedRows) -> FloatArray:
        """Leave out columns that have no value in any row."""
        return np.where(source.schema.sizes > 0, scores, -np.inf)

    def _star(
        self, parent: int, information: FloatArray, source: JointCounts | CodedRows
    ) -> ParentGraph:
        schema = source.schema
        parents = np.where(schema.sizes > 0, parent, LEFT_OUT)
        parents[parent] = -1
        return with_parents(schema.names, schema.target, parents, information)

    def _left_out_scores(self, rows: CodedRows, star: ParentGraph) -> FloatArray:
        """Leave-one-out accuracy and log-likelihood of one star; shape (2,)."""
        counts = rows.select(star.pairs)

        def joints(weight: float, codes: CodeArray, held: IntArray) -> Iterator[FloatArray]:
            tables = self._tree(star, weight, counts, **self._root)
            yield self._joint(tables, codes, held, self.n_jobs)

        return np.asarray(left_out_scores(self, rows, counts, joints)[0])

    @property
    def _root(self) -> dict[str, Any]:
        return {"root_of": joint_root if self.joint_prior else None}

    def _make_tables(self, held_out: float | None = None) -> TreeTables:
        return self._tree(self.structure_, held_out, **self._root)
