r"""Tables of trees by clusters over separators, and the paper's rescue of zeros.

.. math:: P(c, x) = \prod_{\{i,j\}} P(c, x_i, x_j) \Big/ \prod_m P(c, x_m)^{\deg(m) - 1}

is, hung from a root, a product of factors :math:`P(c, x_m, x_i) / P(c, x_m)`, each a table of
a column given its mother. So the look-ups of :class:`~unnaive.tables.trees.TreeTables` serve.
Cluster and separator are estimated as one variable each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive.tables.base import Tables, own_classes
from unnaive.tables.trees import column_factor, frequencies, joint_prior, joint_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.trees import HeldOut, TreeTables


def junction_factor(
    counts: JointCounts, column: int, parent: int, smoothing: Smoothing, held: HeldOut
) -> FloatArray:
    """Log P(c, x_parent, x) / P(c, x_parent) with missing slots; (k, v_parent + 1, v + 1).

    Both come from the rows that have both cells. A cluster that never occurred has no chance,
    even if its separator has none either. Hierarchical smoothing is of conditionals: the factor
    then is that of a tree.
    """
    if smoothing.is_hierarchical:
        return column_factor(counts, column, parent, smoothing, held)
    pair = counts.pair(parent, column)
    cluster = joint_prior(pair.reshape(len(pair), -1), smoothing, held).reshape(pair.shape)
    separator = joint_prior(pair.sum(axis=2), smoothing, held)
    prior = _class_of(counts, column, smoothing, held)
    alone = _over(joint_root(counts, column, smoothing, held), prior[:, None])
    return _slotted(alone, _over(cluster, separator[:, :, None]))


def rescued_factor(
    counts: JointCounts, column: int, parent: int, smoothing: Smoothing, held: HeldOut
) -> FloatArray:
    """Give what :func:`junction_factor` does, with the paper's substitutes for zeros (section 5).

    A cluster of 0 becomes P(c, x_i)·P(c, x_j) / P(c) of :func:`rescued_root`.
    """
    prior = _class_of(counts, column, smoothing, held)
    alone = _over(rescued_root(counts, column, smoothing, held), prior[:, None])
    factor = junction_factor(counts, column, parent, smoothing, held)
    given = factor[:, :-1, :-1]
    return _slotted(alone, np.where(np.isneginf(given), alone[:, None, :], given))


def rescued_root(
    counts: JointCounts, column: int, smoothing: Smoothing, held: HeldOut
) -> FloatArray:
    """Log P(c, x), and log P(c)·P(x) where that is 0; shape (k, v).

    A value that no row has gets a constant, which every class shares.
    """
    marginal = counts.marginal(column)
    own = joint_root(counts, column, smoothing, held)
    frequency = frequencies(marginal.sum(axis=0), held.total, held.total)
    unseen = 1.0 / max(counts.total - held.total, 1.0)
    known = np.log(np.where(frequency > 0, frequency, unseen))
    independent = _class_of(counts, column, smoothing, held)[:, None] + known
    return np.asarray(np.where(np.isneginf(own), independent, own))


def _class_of(counts: JointCounts, column: int, smoothing: Smoothing, held: HeldOut) -> FloatArray:
    """Log P(c) among the rows that have a column's cell; shape (k,)."""
    return joint_prior(counts.marginal(column).sum(axis=1, keepdims=True), smoothing, held)[:, 0]


def _over(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide in logarithms, with 0/0 = 0."""
    impossible = np.isneginf(numerator)
    finite = np.where(np.isneginf(denominator), 0.0, denominator)
    return np.asarray(np.where(impossible, -np.inf, numerator - finite))


def _slotted(alone: FloatArray, given: FloatArray) -> FloatArray:
    """Put the factor and, for a missing parent, the one without it into a table with slots."""
    factor = np.zeros((given.shape[0], given.shape[1] + 1, given.shape[2] + 1))
    factor[:, -1, :-1] = alone
    factor[:, :-1, :-1] = given
    return factor


@dataclass(frozen=True, eq=False)
class RescuedTables(Tables):
    """Tables, and others for the rows that no class has any chance of by the first."""

    plain: TreeTables
    rescue: TreeTables

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log joint of every row and class; shape (n, k)."""
        joint = self.plain.joint(codes, held, n_jobs)
        hopeless = np.flatnonzero(np.isneginf(joint).all(axis=1))
        if len(hopeless):
            part = np.ascontiguousarray(codes[:, hopeless])
            joint[hopeless] = self.rescue.joint(part, held[hopeless], n_jobs)
        return joint

    def prefixes(
        self, codes: CodeArray, held: IntArray | None, order: IntArray, n_jobs: int | None = None
    ) -> Iterator[FloatArray]:
        """Yield the log joint by the first column of an order, by the first two, and so on."""
        held = own_classes(held, codes)
        pairs = zip(
            self.plain.prefixes(codes, held, order, n_jobs),
            self.rescue.prefixes(codes, held, order, n_jobs),
            strict=True,
        )
        for joint, rescued in pairs:
            hopeless = np.isneginf(joint).all(axis=1)
            joint[hopeless] = rescued[hopeless]
            yield joint
