r"""Tables of junction trees, clusters over separators, and the paper's replacement of zeros.

.. math:: P(c, x) = \prod_{\{i,j\}} P(c, x_i, x_j) \Big/ \prod_m P(c, x_m)^{\deg(m) - 1}

is, from a root downwards, a product of factors :math:`P(c, x_m, x_i) / P(c, x_m)`, each a table of
a column given its parent. So the look-ups of :class:`~unnaive.tables.trees.TreeTables` are used.
Cluster and separator are each estimated as one variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.tables.base import Tables, hopeless_rows, own_classes
from unnaive.tables.terms import Terms
from unnaive.tables.trees import column_factor, frequencies, joint_prior, joint_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import CodeArray, FloatArray, IntArray, State
    from unnaive.counts import JointCounts
    from unnaive.tables.base import Arrays
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.trees import HeldOut, TreeTables


def junction_factor(
    counts: JointCounts, column: int, parent: int, smoothing: Smoothing, held: HeldOut
) -> FloatArray:
    """Log P(c, x_parent, x) / P(c, x_parent) with missing slots; (k, v_parent + 1, v + 1).

    Both come from the rows in which both cells are observed. A cluster of probability 0 gives 0,
    even if its separator also has probability 0. Hierarchical smoothing applies to conditionals,
    so the factor is then that of a tree, and so is every view of the posterior.
    """
    if smoothing.is_hierarchical or smoothing.view is not None:
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
    """Return :func:`junction_factor` with the paper's substitutes for zeros (section 5).

    A cluster of 0 becomes P(c, x_i)·P(c, x_j) / P(c) of :func:`rescued_root`.
    """
    prior = _class_of(counts, column, smoothing, held)
    alone = _over(rescued_root(counts, column, smoothing, held), prior[:, None])
    factor = junction_factor(counts, column, parent, smoothing, held)
    entries = factor[:, :-1, :-1]
    return _slotted(alone, np.where(np.isneginf(entries), alone[:, None, :], entries))


def rescued_root(
    counts: JointCounts, column: int, smoothing: Smoothing, held: HeldOut
) -> FloatArray:
    """Log P(c, x), or log P(c)·P(x) where that is 0; shape (k, v).

    A value without any rows gets the same constant in every class.
    """
    marginal = counts.marginal(column)
    own = joint_root(counts, column, smoothing, held)
    frequency = frequencies(marginal.sum(axis=0), held.total, held.total)
    unseen = 1.0 / max(counts.total - held.total, 1.0)
    known = np.log(np.where(frequency > 0, frequency, unseen))
    independent = _class_of(counts, column, smoothing, held)[:, None] + known
    return np.asarray(np.where(np.isneginf(own), independent, own))


def _class_of(counts: JointCounts, column: int, smoothing: Smoothing, held: HeldOut) -> FloatArray:
    """Log P(c) among the rows in which a column is observed; shape (k,)."""
    return joint_prior(counts.marginal(column).sum(axis=1, keepdims=True), smoothing, held)[:, 0]


def _over(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide in logarithms, with 0/0 = 0."""
    impossible = np.isneginf(numerator)
    finite = np.where(np.isneginf(denominator), 0.0, denominator)
    return np.asarray(np.where(impossible, -np.inf, numerator - finite))


def _slotted(alone: FloatArray, given: FloatArray) -> FloatArray:
    """Add slots for a missing parent, where the factor is ``alone``, and for a missing cell."""
    factor = np.concatenate([given, alone[:, None]], axis=1)
    return np.pad(factor, ((0, 0), (0, 0), (0, 1)))


@dataclass(frozen=True, eq=False)
class RescuedTables(Tables):
    """Two tables; the second is used for rows to which the first gives probability 0.

    Attributes
    ----------
    plain : TreeTables
        The tables that are tried first.
    rescue : TreeTables
        Tables without zeros, with the same structure.
    """

    plain: TreeTables
    rescue: TreeTables

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        joint = self.plain.joint(codes, held, n_jobs)
        hopeless = hopeless_rows(joint)
        if len(hopeless):
            some = np.ascontiguousarray(codes[:, hopeless])
            joint[hopeless] = self.rescue.joint(some, held[hopeless], n_jobs)
        return joint

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint by the tables that are used for each row."""
        plain, rescue = self.plain.terms(codes), self.rescue.terms(codes)
        hopeless = np.isneginf(plain.joint.max(axis=1))[:, None]
        base = np.where(hopeless, rescue.base, plain.base)
        return Terms(plain.keys, base, np.where(hopeless[..., None], rescue.parts, plain.parts))

    def describe(self, arrays: Arrays) -> State:
        """Describe both tables."""
        parts = [self.plain.describe(arrays), self.rescue.describe(arrays)]
        return {"kind": "rescue", "parts": parts}

    def prefixes(
        self, codes: CodeArray, held: IntArray | None, order: IntArray, n_jobs: int | None = None
    ) -> Iterator[FloatArray]:
        """Yield the log joint given the first column of an order, the first two, and so on."""
        held = own_classes(held, codes)
        both = (t.prefixes(codes, held, order, n_jobs) for t in (self.plain, self.rescue))
        for joint, rescued in zip(*both, strict=True):
            hopeless = hopeless_rows(joint)
            joint[hopeless] = rescued[hopeless]
            yield joint
