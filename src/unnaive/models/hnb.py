"""Hidden naive Bayes, whole and packaged."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, log
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive._ties import TIE_TOLERANCE
from unnaive.counts.joint import all_pairs
from unnaive.counts.sizes import require_memory
from unnaive.exceptions import UnnaiveError
from unnaive.information import conditional_mutual_information
from unnaive.models.base import CountsClassifier
from unnaive.structure.bags import HiddenParents, average_information, bag_members, bag_weights
from unnaive.tables.hidden import (
    HiddenParentTables,
    hidden_parent_tables,
    sweep_bytes,
    table_bytes,
    threshold_path,
)
from unnaive.tables.smoothing import MEstimate, Smoothing

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema


@dataclass(eq=False, repr=False, kw_only=True)
class HNB(CountsClassifier):
    r"""Hidden naive Bayes: every column has a hidden parent, the mean of all others.

    .. math:: P(c, x) \propto P(c) \prod_i \sum_{j \ne i} W_{ij}\, P(x_i \mid x_j, c),
              \qquad W_{ij} = \frac{I(X_i;X_j|Y)}{\sum_l I(X_i;X_l|Y)}

    A column that shares no information with others has its factor P(x_i | c). A missing cell
    has no factor and no vote in others' hidden parents. Leave-one-out holds the weights at
    those of all rows. ``smoothing="weka"`` also copies how WEKA rounds small terms of the
    information.

    Parameters
    ----------
    {parameters}

    References
    ----------
    Zhang, Jiang & Su, "Hidden naive Bayes", AAAI 2005; Jiang, Zhang & Cai, IEEE TKDE 21, 2009.

    Examples
    --------
    >>> from unnaive import HNB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 3
    >>> model = HNB().fit(X, [0, 1, 1, 0] * 3)
    >>> model.predict(X[:4])
    array([0, 1, 1, 0])
    """

    default_smoothing: ClassVar[Smoothing] = MEstimate(1.0)

    def _learn_structure(self, source: JointCounts | CodedRows) -> HiddenParents:
        return self._bags(self._information(source), -inf, source)

    def _information(self, source: JointCounts | CodedRows) -> FloatArray:
        return conditional_mutual_information(source, self.n_jobs, self._smoothing.guard)

    def _bags(
        self,
        information: FloatArray,
        threshold: float,
        source: JointCounts | CodedRows,
        rule: str = "ge",
    ) -> HiddenParents:
        """Pack the bags by a threshold in bits, once their tables are known to fit."""
        schema = source.schema
        members = bag_members(information, threshold * log(2), rule)
        weights = bag_weights(information, members)
        needed = table_bytes(schema.sizes, weights, len(schema.classes))
        require_memory(schema, needed, self.max_memory, f"the tables of {type(self).__name__}")
        return HiddenParents(schema.names, schema.target, members, weights, threshold)

    def _restore_structure(self, state: Any, schema: Schema) -> HiddenParents:
        square = (len(schema.names), len(schema.names))
        if state["members"].shape != square or state["weights"].shape != square:
            raise UnnaiveError("the bags do not fit the columns")
        return HiddenParents(schema.names, schema.target, **state)

    def _pairs_of(self, structure: HiddenParents) -> IntArray:
        return all_pairs(len(structure.names))

    def _make_tables(self, held_out: float | None = None) -> HiddenParentTables:
        return hidden_parent_tables(
            self.counts_,
            self.structure_.weights,
            self._smoothing,
            class_prior=self._class_prior,
            held_out=held_out,
        )


@dataclass(eq=False, repr=False, kw_only=True)
class PHNB(HNB):
    r"""Packaged hidden naive Bayes: hidden parents of those columns alone that tell much.

    Column j is in the bag of column i if I(X_i;X_j|Y) reaches a threshold; the hidden parent
    is the weighted mean over the bag, and a column with an empty bag depends on the class
    alone. A threshold of −inf is hidden naive Bayes, one of +inf naive Bayes.

    Parameters
    ----------
    threshold : "average", "loo" or float, default="average"
        Least information in bits; the mean over all pairs; or, of all thresholds there are,
        the one of best exact leave-one-out score, found in one sweep of O(n·k·d²).
    criterion : {"accuracy", "log_loss"}, default="accuracy"
        What ``threshold="loo"`` looks at; the larger threshold, so the faster model, on ties.
    rule : {"ge", "gt"}, default="ge"
        Whether the threshold must be reached (the paper's listing) or exceeded (its prose).
    {parameters}

    Attributes
    ----------
    threshold_path_ : dict of arrays
        With ``threshold="loo"``: ``threshold`` (bits, falling), ``members`` (of all bags),
        ``accuracy`` and ``log_loss`` by leave-one-out.

    References
    ----------
    Ji, Yu & Zhang, "Packaged hidden naive Bayes"; its future work 1 and 2 are done here.

    Examples
    --------
    >>> from unnaive import PHNB
    >>> X = [["a", "u", 1], ["a", "v", 2], ["b", "u", 2], ["b", "v", 1]] * 3
    >>> PHNB(threshold=0.5).fit(X, [0, 1, 1, 0] * 3).structure_.bags["x0"]
    ['x1']
    """

    threshold: Any = "average"
    criterion: str = "accuracy"
    rule: str = "ge"

    def _learn_structure(self, source: JointCounts | CodedRows) -> HiddenParents:
        if self.rule not in {"ge", "gt"}:
            raise ValueError(f"rule={self.rule!r}; it must be 'ge' or 'gt'")
        information, threshold = self._information(source), self.threshold
        if isinstance(threshold, str) and threshold == "average":
            threshold = average_information(information) / log(2)
        elif isinstance(threshold, str) and threshold == "loo":
            raise UnnaiveError(
                'threshold="loo" looks at rows, and counts have none; call fit with all rows, or '
                "give the threshold that it found there"
            )
        if not isinstance(threshold, Real) or isinstance(threshold, bool) or isnan(threshold):
            raise ValueError(
                f"threshold={threshold!r}; it must be 'average', 'loo' or a number of bits"
            )
        return self._bags(information, float(threshold), source, self.rule)

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> HiddenParents:
        if not (isinstance(self.threshold, str) and self.threshold == "loo"):
            return self._learn_structure(source)
        if self.criterion not in {"log_loss", "accuracy"}:
            raise ValueError(f"criterion={self.criterion!r}; it must be 'log_loss' or 'accuracy'")
        information = self._information(source)
        self.threshold_path_ = self._sweep(information, rows)
        score = self.threshold_path_[self.criterion]
        score = -score if self.criterion == "log_loss" else score
        best = int(np.argmax(score >= score.max() - TIE_TOLERANCE))
        return self._bags(information, float(self.threshold_path_["threshold"][best]), rows)

    def _sweep(self, information: FloatArray, rows: CodedRows) -> dict[str, Any]:
        """Score the thresholds between all distinct values of information, falling."""
        schema = rows.schema
        needed = sweep_bytes(schema.sizes, len(schema.classes))
        require_memory(schema, needed, self.max_memory, "the sweep over thresholds of PHNB")
        pairs = all_pairs(len(information))
        of_pair = information[pairs[:, 0], pairs[:, 1]]
        order = np.argsort(-of_pair, kind="stable")
        pairs, of_pair = pairs[order], of_pair[order]
        marks = np.append(-np.diff(of_pair) > TIE_TOLERANCE, np.ones(min(len(pairs), 1), bool))
        found = threshold_path(
            rows,
            rows.count(),
            self._smoothing,
            pairs=pairs,
            information=of_pair,
            marks=marks,
            class_prior=self._class_prior,
        )
        ends = np.flatnonzero(marks)
        between = (of_pair[ends[:-1]] + of_pair[ends[:-1] + 1]) / 2 if len(ends) else ends
        edges = np.concatenate([[inf], between, [-inf][: len(ends)]])
        members = np.concatenate([[0], 2 * (ends + 1)])
        return {
            "threshold": edges / log(2),
            "members": members,
            "accuracy": found[:, 1],
            "log_loss": found[:, 0],
        }
