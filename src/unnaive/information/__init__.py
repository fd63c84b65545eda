"""Entropy, mutual information and conditional mutual information, from raw frequencies.

All in nats, never smoothed; each measure uses the rows where all of its variables are
observed (Mathematics 0.4, 0.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.information import conditional_information
from unnaive.counts.joint import starts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from unnaive._typing import AnyArray, CountArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema

_ROUNDING = 1e-12
_PAIRS_A_TASK = 2048

__all__ = [
    "class_mutual_information",
    "conditional_mutual_information",
    "entropy",
    "family_information",
    "group_information",
    "information_of_pairs",
    "mutual_information",
    "pairwise_mutual_information",
]


def entropy(counts: AnyArray) -> float:
    """Entropy H of a table of counts in nats.

    Examples
    --------
    >>> import numpy as np
    >>> print(round(entropy(np.array([9, 5])) / np.log(2), 6))
    0.940286
    """
    frequencies = counts[counts > 0] / counts.sum()
    return float(-(frequencies * np.log(frequencies)).sum())


def mutual_information(source: JointCounts | CodedRows) -> FloatArray:
    r"""Mutual information :math:`I(X_i;Y)` of every column with the class in nats; shape (d,).

    .. math:: I(X_i;Y) = \sum_{x,c} p(x,c) \log \frac{p(x,c)}{p(x)\,p(c)}
    """
    sizes = source.schema.sizes
    column = np.repeat(np.arange(len(sizes)), sizes)
    joint = source.values.astype(np.float64)
    of_value = joint.sum(axis=0)
    of_class = np.stack([np.bincount(column, row, len(sizes)) for row in joint])
    total = of_class.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = joint * total[column] / (of_value * of_class[:, column])
        terms = np.where(joint > 0, joint * np.log(ratio), 0.0).sum(axis=0)
        information = np.bincount(column, terms, len(sizes)) / total
    return _not_negative(np.where(total > 0, information, 0.0))


def conditional_mutual_information(
    source: JointCounts | CodedRows, n_jobs: int | None = None, guard: float = 0.0
) -> FloatArray:
    r"""Information :math:`I(X_i;X_j|Y)` of every pair of columns in nats; shape (d, d).

    .. math:: I(X_i;X_j|Y) = \sum p(x_i,x_j,c)
              \log \frac{p(x_i,x_j,c)\,p(c)}{p(x_i,c)\,p(x_j,c)}

    Symmetric, with a diagonal of zeros. Rows (rather than counts) are scored tile by tile:
    their tables are never all in memory. Terms whose numerator or denominator is below
    ``guard`` count as 0 (WEKA's hidden naive Bayes has 1e-6).
    """
    return _of_pairs(source, n_jobs, guard, lambda tables: tables)


def pairwise_mutual_information(
    source: JointCounts | CodedRows, n_jobs: int | None = None
) -> FloatArray:
    """Information I(X_i;X_j) of every pair of columns, whatever the class; shape (d, d)."""
    return _of_pairs(source, n_jobs, 0.0, lambda tables: tables.sum(axis=0, keepdims=True))


def class_mutual_information(
    source: JointCounts | CodedRows, label: int, n_jobs: int | None = None
) -> FloatArray:
    """Information I(X_i;X_j) of every pair of columns among the rows of one class; (d, d)."""
    return _of_pairs(source, n_jobs, 0.0, lambda tables: tables[label : label + 1])


def information_of_pairs(rows: CodedRows, pairs: IntArray, n_jobs: int | None = None) -> FloatArray:
    """Information I(X_i;X_j|Y) of some pairs of columns; shape (m,).

    Of rows grouped by :meth:`~unnaive.counts.CodedRows.given` it is given these columns, too.
    """
    scored = [scores for _, scores in _scores(rows.pair_chunks(pairs), rows.schema, n_jobs)]
    return _not_negative(np.concatenate([np.empty(0), *scored]))


def group_information(grouped: CodedRows, plain: CodedRows) -> FloatArray:
    r"""Information :math:`I(X_i;X_M|Y)` of every column with some columns M together; shape (d,).

    .. math:: I(X_i;X_M|Y) = I(X_i;(Y,X_M)) - I(X_i;Y)

    ``grouped`` are the rows by :meth:`~unnaive.counts.CodedRows.given` M, ``plain`` the same rows
    by class. For a member of M it is H(X_i|Y).
    """
    return np.maximum(mutual_information(grouped) - mutual_information(plain), 0.0)


def family_information(table: CountArray) -> float:
    """Information I(X;X_parents|Y) of a table (k, contexts, v) in nats."""
    terms = entropy(table.sum(axis=2)) + entropy(table.sum(axis=1))
    return max(terms - entropy(table.sum(axis=(1, 2))) - entropy(table), 0.0)


def _of_pairs(
    source: JointCounts | CodedRows,
    n_jobs: int | None,
    guard: float,
    choose: Callable[[CountArray], CountArray],
) -> FloatArray:
    """Score every pair of columns by its table, of which ``choose`` may take a part."""
    matrix = np.zeros((len(source.schema.sizes), len(source.schema.sizes)))
    chunks = ((pairs, choose(counted)) for pairs, counted in source.pair_chunks())
    for pairs, scores in _scores(chunks, source.schema, n_jobs, guard):
        matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = scores
    # Terms that a guard leaves out may be what keeps the sum above zero.
    return np.maximum(matrix, 0.0) if guard > 0 else _not_negative(matrix)


def _scores(
    chunks: Iterable[tuple[IntArray, CountArray]],
    schema: Schema,
    n_jobs: int | None,
    guard: float = 0.0,
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield pairs with the information in their tables."""
    sizes = schema.sizes
    for pairs, counted in chunks:
        tables: AnyArray = np.ascontiguousarray(counted)
        starts = starts_of(sizes[pairs[:, 0]] * sizes[pairs[:, 1]])
        scores = np.empty(len(pairs))

        def score(part: tuple[int, int]) -> None:
            low, high = part
            begins, out = starts[low : high + 1], scores[low:high]  # noqa: B023 - run at once
            conditional_information(tables, pairs[low:high], begins, sizes, guard, out)  # noqa: B023

        _parallel.run(score, _parallel.row_blocks(len(pairs), _PAIRS_A_TASK), n_jobs)
        yield pairs, scores


def _not_negative(information: FloatArray) -> FloatArray:
    """Set what rounding left below zero to zero; more than rounding is a bug."""
    if information.min(initial=0.0) < -_ROUNDING:
        raise ArithmeticError(
            f"information of {information.min()} nats: a measure that cannot be negative is; "
            "please report this as a bug"
        )
    return np.maximum(information, 0.0)
