"""Descriptions of tables as plain values, with which exported models compute the log joint.

Every kind of tables has a method ``describe`` that returns such a dictionary. It has a ``kind``;
its numbers are positions in :class:`~unnaive.export.arrays.Arrays`. The first axis of every
table is the class.

``product``
    ``base`` (k,), and ``factors``, parents before children. A factor is the probability of its
    ``children`` given its ``parents``; one without children belongs to the class. Each of its
    ``tables`` is indexed by the values of its ``columns``. The first ``sparse`` of these form a
    context: its position in ``contexts``, or else the last entry of the table, or a look-up in
    the ``simpler`` table. A table that is ``shared`` has no axis of classes.
    With ``marginalize`` a factor has one table, and missing columns are summed out. Without, the
    first table whose columns are all observed is used, or none.
``average``
    Log mean over ``members``, the super-parents: ``table`` (k, values of members, values of
    columns) has log P(x_i | c, x_p) and, at p itself, log P(c, x_p). ``implied`` lists pairs of
    values of which the second makes the first superfluous. ``base`` is log P(c).
``hidden``
    ``base``, ``alone`` = log P(x_i | c) (k, values), and for every column its ``bag``: members,
    weights W_ij, and W_ij P(x_i | x_j, c) in a table (k, values of i, values of all members).
``gaussian``
    ``base``, ``means`` (k, m) and ``covariances`` (k, m, m), or (k, m) variances where ``forms`` is
    "independent". Where it is "cells", numbers depend on categorical columns: each of ``families``,
    parents before children, has a ``child``, its ``parents``, ``labels`` with their ``sizes``
    (missing values included), and ``intercept``, ``slopes`` and ``noise`` of every class and cell.
    The contributions of columns are averaged over ``orders`` of them, each a list
    of positions in ``columns``; they act ``through`` other columns.
``classes``, ``sum``, ``mean``, ``first``, ``rescue``
    Combine ``parts``: one part per class; the sum; the log mean of posteriors (or joints); the
    first part that has an answer; the first part that gives some class a positive probability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray
    from unnaive._typing import State as Description
    from unnaive.tables.base import Arrays

_LARGEST = 2**53  # the largest integer up to which a double holds every integer exactly


def product(
    base: FloatArray, factors: list[Description], arrays: Arrays, *, marginalize: bool
) -> Description:
    """Describe a product of factors with the log prior ``base`` (k,)."""
    shared = {"base": arrays.add(base), "marginalize": bool(marginalize)}
    return {"kind": "product", "factors": factors, **shared}


def factor(
    children: Sequence[int], parents: Sequence[int], tables: list[Description]
) -> Description:
    """Describe a factor P(children | parents, class)."""
    return {"children": list(children), "parents": list(parents), "tables": tables}


def table(
    columns: Sequence[int], values: FloatArray, arrays: Arrays, contexts: IntArray | None = None
) -> Description:
    """Describe a table indexed by columns, parents first.

    With ``contexts``, the numbers of the joint values that occurred, the table is sparse in all
    columns that share its second axis: those before the child, or all of a group.
    """
    sparse = 0 if contexts is None else len(columns) - (values.ndim - 2)
    described = {"columns": list(columns), "sparse": sparse, "values": arrays.add(values)}
    if contexts is None:
        return described
    if contexts.max(initial=0) > _LARGEST:
        raise UnnaiveError("a table has more contexts than a page can number; join fewer columns")
    return {**described, "contexts": arrays.add(contexts)}
