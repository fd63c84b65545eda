"""Hidden naive Bayes, whole and packaged."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._ties import TIE_TOLERANCE
from unnaive.counts.joint import all_pairs
from unnaive.information import conditional_mutual_information
from unnaive.models.base import CountsClassifier
from unnaive.models.choice import criterion_of, select
from unnaive.models.recipe import Learned, Recipe, TableMaker
from unnaive.parameters import is_number, one_of, parameter
from unnaive.structure.bags import HiddenParents, average_information, bag_members, bag_weights
from unnaive.tables.hidden import (
    HiddenParentTables,
    hidden_parent_tables,
    sweep_bytes,
    table_bytes,
    threshold_path,
)
from unnaive.tables.smoothing import MEstimate, Smoothing, smoothing_policy

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.recipe import Estimate, Source, Task


@dataclass(frozen=True, eq=False)
class HiddenFactors(TableMaker):
    """Tables of every column given its hidden parent."""

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> HiddenParentTables:
        """Estimate the tables, once they are known to fit into memory."""
        bags, sizes = learned.graph(HiddenParents), counts.schema.sizes
        how.require(counts.schema, table_bytes(sizes, bags.weights, counts.n_classes))
        return hidden_parent_tables(
            counts, bags.weights, how.smoothing, class_prior=how.class_prior, held_out=held_out
        )


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
    family: ClassVar[str] = "hidden parents"
    assumption: ClassVar[str] = (
        "Every column depends on the weighted mean of all others, its hidden parent. What three or "
        "more columns only tell together is not seen."
    )

    def recipe(self) -> Recipe:
        """Weigh all columns in every column's bag by their information."""
        return Recipe(self._fill_bags, HiddenFactors(), structure=HiddenParents)

    def _fill_bags(self, source: Source, rows: CodedRows | None) -> Learned:
        return Learned(packed(self.information_of(source), -inf, source))

    def information_of(self, source: Source) -> FloatArray:
        """I(X_i;X_j|Y) as the weights take it; shape (d, d)."""
        guard = smoothing_policy(self.smoothing, self.default_smoothing).guard
        return conditional_mutual_information(source, self.n_jobs, guard)


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
    criterion : {"log_loss", "accuracy"}, default="log_loss"
        What ``threshold="loo"`` looks at; the larger threshold, so the faster model, on ties.
    rule : {"ge", "gt"}, default="ge"
        Whether the threshold must be reached (the paper's listing) or exceeded (its prose).
    {parameters}

    Attributes
    ----------
    path_ : dict of arrays
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

    threshold: float | str = parameter(
        "average",
        "a number of bits",
        also=("average", "loo"),
        test=lambda value: is_number(value) or (isinstance(value, float) and not isnan(value)),
    )
    criterion: str = criterion_of()
    rule: str = one_of("ge", "gt")

    assumption: ClassVar[str] = (
        "Every column depends on the weighted mean of those others alone that tell much about it. "
        "What three or more columns only tell together is not seen."
    )

    def recipe(self) -> Recipe:
        """Pack the bags by a threshold, which leave-one-out may find."""
        by_rows = self.threshold == "loo"
        return Recipe(
            learn=self._fill_bags,
            tables=HiddenFactors(),
            choose=self._best_threshold if by_rows else None,
            structure=HiddenParents,
            keeps=by_rows,
        )

    def _fill_bags(self, source: Source, rows: CodedRows | None) -> Learned:
        if self.threshold == "loo":  # rows choose, see below
            return Learned(packed(np.zeros((len(source.schema.names),) * 2), inf, source))
        information, threshold = self.information_of(source), self.threshold
        if threshold == "average":
            threshold = average_information(information) / log(2)
        return Learned(packed(information, float(threshold), source, self.rule))

    def _best_threshold(self, learned: Learned, task: Task) -> Learned:
        """Score the thresholds between all distinct values of information, falling."""
        rows, how, information = task.rows, task.maker.how, self.information_of(task.source)
        schema = rows.schema
        needed = sweep_bytes(schema.sizes, len(schema.classes))
        how.require(schema, needed, "the sweep over thresholds of PHNB")
        pairs = all_pairs(len(information))
        of_pair = information[pairs[:, 0], pairs[:, 1]]
        order = np.argsort(-of_pair, kind="stable")
        pairs, of_pair = pairs[order], of_pair[order]
        marks = np.append(-np.diff(of_pair) > TIE_TOLERANCE, np.ones(min(len(pairs), 1), bool))
        scores = threshold_path(
            rows,
            rows.count(),
            how.smoothing,
            pairs=pairs,
            information=of_pair,
            marks=marks,
            class_prior=how.class_prior,
        )
        ends = np.flatnonzero(marks)
        between = (of_pair[ends[:-1]] + of_pair[ends[:-1] + 1]) / 2 if len(ends) else ends
        edges = np.concatenate([[inf], between, [-inf][: len(ends)]]) / log(2)
        members = np.concatenate([[0], 2 * (ends + 1)])
        path = select(scores[:, ::-1], self.criterion, threshold=edges, members=members)
        bags = packed(information, float(edges[path.best]), rows)
        return Learned(bags, trace={"path_": path.table})


def packed(
    information: FloatArray, threshold: float, source: Source, rule: str = "ge"
) -> HiddenParents:
    """Pack the bags by a threshold in bits."""
    members = bag_members(information, threshold * log(2), rule)
    weights = bag_weights(information, members)
    return HiddenParents(source.schema.names, source.schema.target, members, weights, threshold)
