"""Entropy, mutual information and conditional mutual information, from raw frequencies.

All measures are in nats and are never smoothed. Each uses the samples in which all of its
variables are observed (Mathematics 0.4, 0.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.information import conditional_information
from unnaive._docstrings import described_like
from unnaive.counts.sizes import starts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from unnaive._typing import AnyArray, CountArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.counts.cells import CellCounts
    from unnaive.schema import Schema

_ROUNDING = 1e-12
_PAIRS_A_TASK = 2048
_KEPT = "_information_of_pairs"
_MOST_SUMS = 8  # sums for each cell; if there were more, only those that are used are numbered

__all__ = [
    "cell_information",
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
    r"""Entropy of a table of counts, in nats.

    .. math:: H = -\sum_x p(x) \log p(x)

    Parameters
    ----------
    counts : ndarray
        Counts or weights, in any shape; their sum must be above 0.

    Returns
    -------
    float
        The entropy of the relative frequencies.

    See Also
    --------
    mutual_information : Information between features and the class.

    Examples
    --------
    >>> import numpy as np
    >>> print(round(entropy(np.array([9, 5])) / np.log(2), 6))
    0.940286
    """
    frequencies = counts[counts > 0] / counts.sum()
    return float(-(frequencies * np.log(frequencies)).sum())


def mutual_information(source: JointCounts | CodedRows) -> FloatArray:
    r"""Mutual information :math:`I(X_i;Y)` of every feature with the class, in nats.

    .. math:: I(X_i;Y) = \sum_{x,c} p(x,c) \log \frac{p(x,c)}{p(x)\,p(c)}

    Parameters
    ----------
    source : JointCounts or CodedRows
        Counts, or coded samples.

    Returns
    -------
    ndarray of shape (d,)
        The information; 0 for a feature without observed values.

    See Also
    --------
    conditional_mutual_information : Information between features, given the class.

    Examples
    --------
    >>> import unnaive
    >>> counts = unnaive.count([["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]], [0, 0, 1, 1])
    >>> mutual_information(counts).round(3).tolist()  # log 2, and 0
    [0.693, 0.0]
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
    r"""Information :math:`I(X_i;X_j|Y)` of every pair of features given the class, in nats.

    .. math:: I(X_i;X_j|Y) = \sum p(x_i,x_j,c)
              \log \frac{p(x_i,x_j,c)\,p(c)}{p(x_i,c)\,p(x_j,c)}

    It measures how much two features depend on each other within the classes, and decides which
    arcs TAN has. Samples (rather than counts) are scored in tiles, so that the tables of all pairs
    are never in memory together.

    Parameters
    ----------
    source : JointCounts or CodedRows
        Counts of all pairs, or coded samples.
    n_jobs : int or None, default=None
        Number of threads.
    guard : float, default=0.0
        Terms whose numerator or denominator is below it count as 0. WEKA's hidden naive Bayes
        uses 1e-6.

    Returns
    -------
    ndarray of shape (d, d)
        A symmetric matrix with zeros on the diagonal.

    See Also
    --------
    pairwise_mutual_information : The same without the class.
    class_mutual_information : The same in one class.
    information_of_pairs : The same for some pairs.

    Examples
    --------
    >>> import unnaive
    >>> counts = unnaive.count([["a", "x"], ["b", "y"], ["a", "x"], ["b", "y"]], [0, 0, 1, 1])
    >>> conditional_mutual_information(counts).round(3).tolist()
    [[0.0, 0.693], [0.693, 0.0]]
    """
    if guard:
        return _of_pairs(source, n_jobs, guard)
    kept = source.__dict__  # several models learn from the same counts
    if _KEPT not in kept:
        kept[_KEPT] = _of_pairs(source, n_jobs)
    return np.array(kept[_KEPT])


def pairwise_mutual_information(
    source: JointCounts | CodedRows, n_jobs: int | None = None
) -> FloatArray:
    r"""Information :math:`I(X_i;X_j)` of every pair of features, without the class, in nats.

    Parameters
    ----------
    source : JointCounts or CodedRows
        Counts of all pairs, or coded samples.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    ndarray of shape (d, d)
        A symmetric matrix with zeros on the diagonal.

    See Also
    --------
    conditional_mutual_information : The information given the class.

    Examples
    --------
    >>> import unnaive
    >>> counts = unnaive.count([["a", "x"], ["b", "x"], ["a", "y"], ["b", "y"]], [0, 1, 1, 0])
    >>> pairwise_mutual_information(counts).tolist()  # they depend on each other only in a class
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return _of_pairs(
        source,
        n_jobs,
        choose=lambda tables: tables.sum(axis=0, keepdims=True),
        among=lambda cells: cells.without_class(source.schema.sizes),
    )


@described_like(pairwise_mutual_information)
def class_mutual_information(
    source: JointCounts | CodedRows, label: int, n_jobs: int | None = None
) -> FloatArray:
    r"""Information :math:`I(X_i;X_j|Y=c)` of every pair of features in one class, in nats.

    Parameters
    ----------
    source : JointCounts or CodedRows
        Counts of all pairs, or coded samples.
    label : int
        Position of the class.
    n_jobs : int or None, default=None
        Number of threads.

    See Also
    --------
    conditional_mutual_information : The mean over classes, weighted by P(c).

    Examples
    --------
    >>> import unnaive
    >>> counts = unnaive.count([["a", "x"], ["b", "x"], ["a", "y"], ["b", "y"]], [0, 1, 1, 0])
    >>> class_mutual_information(counts, 0).round(3).tolist()
    [[0.0, 0.693], [0.693, 0.0]]
    """
    return _of_pairs(
        source,
        n_jobs,
        choose=lambda tables: tables[label : label + 1],
        among=lambda cells: cells.of_class(label, source.schema.sizes),
    )


def information_of_pairs(rows: CodedRows, pairs: IntArray, n_jobs: int | None = None) -> FloatArray:
    r"""Information :math:`I(X_i;X_j|Y)` of some pairs of features given the class, in nats.

    Parameters
    ----------
    rows : CodedRows
        Coded samples. If they are grouped by :meth:`~unnaive.counts.CodedRows.given`, the
        information is also given those features.
    pairs : ndarray of shape (m, 2)
        Pairs of features i < j.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    ndarray of shape (m,)
        The information of each pair.

    See Also
    --------
    conditional_mutual_information : The information of all pairs.

    Examples
    --------
    >>> from unnaive.counts import CodedRows
    >>> from unnaive.schema import CategoricalColumn, Schema
    >>> schema = Schema((CategoricalColumn("a", (0, 1)), CategoricalColumn("b", (0, 1))), (0, 1))
    >>> codes = np.array([[0, 1, 0, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> rows = CodedRows(schema, codes, np.array([0, 0, 1, 1]))
    >>> information_of_pairs(rows, np.array([[0, 1]])).round(3).tolist()
    [0.693]
    """
    matrix = np.zeros((len(rows.codes), len(rows.codes)))
    for some, scores in _scores(rows.pair_chunks(pairs), rows.schema, n_jobs):
        matrix[some[:, 0], some[:, 1]] = scores
    for cells in rows.cell_counts(pairs):
        matrix[cells.columns[::-1]] = cell_information(cells, rows.schema.sizes)
    return _not_negative(matrix[pairs[:, 0], pairs[:, 1]])


def group_information(grouped: CodedRows, plain: CodedRows) -> FloatArray:
    r"""Information :math:`I(X_i;X_M|Y)` of every feature with a set M of features, in nats.

    .. math:: I(X_i;X_M|Y) = I(X_i;(Y,X_M)) - I(X_i;Y)

    Parameters
    ----------
    grouped : CodedRows
        Coded samples, grouped by :meth:`~unnaive.counts.CodedRows.given` M.
    plain : CodedRows
        The same samples, not grouped.

    Returns
    -------
    ndarray of shape (d,)
        The information of each feature; H(X_i | Y) for a member of M.

    See Also
    --------
    family_information : The same for one feature, from a table.

    Examples
    --------
    >>> from unnaive.counts import CodedRows
    >>> from unnaive.schema import CategoricalColumn, Schema
    >>> schema = Schema((CategoricalColumn("a", (0, 1)), CategoricalColumn("b", (0, 1))), (0, 1))
    >>> codes = np.array([[0, 1, 0, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> rows = CodedRows(schema, codes, np.array([0, 0, 1, 1]))
    >>> group_information(rows.given((0,)), rows).round(3).tolist()
    [0.693, 0.693]
    """
    return np.maximum(mutual_information(grouped) - mutual_information(plain), 0.0)


def family_information(table: CountArray) -> float:
    r"""Information :math:`I(X;X_M|Y)` of a feature with its parents M, in nats.

    Parameters
    ----------
    table : ndarray of shape (k, q, v)
        Counts of the classes, of the joint values of the parents, and of the feature's values.

    Returns
    -------
    float
        The information.

    See Also
    --------
    group_information : The same for all features.

    Examples
    --------
    >>> round(family_information(np.array([[[1, 0], [0, 1]]])), 3)
    0.693
    """
    terms = entropy(table.sum(axis=2)) + entropy(table.sum(axis=1))
    return max(terms - entropy(table.sum(axis=(1, 2))) - entropy(table), 0.0)


def _of_pairs(
    source: JointCounts | CodedRows,
    n_jobs: int | None,
    guard: float = 0.0,
    choose: Callable[[CountArray], CountArray] = np.asarray,
    among: Callable[[CellCounts], CellCounts] = lambda cells: cells,
) -> FloatArray:
    """Score every pair of features; ``choose`` and ``among`` may select or sum its classes."""
    matrix = np.zeros((len(source.schema.sizes), len(source.schema.sizes)))
    chunks = ((pairs, choose(counted)) for pairs, counted in source.pair_chunks())
    for pairs, scores in _scores(chunks, source.schema, n_jobs, guard):
        matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = scores
    for cells in source.cell_counts():
        score = cell_information(among(cells), source.schema.sizes, guard)
        matrix[cells.columns] = matrix[cells.columns[::-1]] = score
    # With a guard, the sum may be below 0, since some of its terms are left out.
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
            begins, out = starts[low : high + 1], scores[low:high]  # noqa: B023 - run inside the loop
            conditional_information(tables, pairs[low:high], begins, sizes, guard, out)  # noqa: B023

        _parallel.run(score, _parallel.row_blocks(len(pairs), _PAIRS_A_TASK), n_jobs)
        yield pairs, scores


def cell_information(cells: CellCounts, sizes: IntArray, guard: float = 0.0) -> float:
    r"""Information :math:`I(X_i;X_j|Y)` of two features given the class, in nats.

    Parameters
    ----------
    cells : CellCounts
        Counts of the cells of the two features that occurred.
    sizes : ndarray of shape (d,)
        Number of values of every feature.
    guard : float, default=0.0
        As in :func:`conditional_mutual_information`.

    Returns
    -------
    float
        The information; cells that did not occur add nothing to it.

    See Also
    --------
    conditional_mutual_information : The information of all pairs.

    Examples
    --------
    >>> from unnaive.counts.cells import CellCounts
    >>> cells = CellCounts((1, 0), np.array([0, 3]), np.array([1, 1]))
    >>> round(cell_information(cells, np.array([2, 2])), 3)
    0.693
    """
    first, counts = cells.keys // int(sizes[cells.columns[0]]), cells.table.astype(np.float64)
    classes, values = cells.digits(sizes)
    second = classes * sizes[cells.columns[0]] + values[cells.columns[0]]
    least = guard * counts.sum() ** 2
    above = counts * _summed(classes, counts)
    below = _summed(first, counts) * _summed(second, counts)
    used = (above >= least) & (below >= least) & (counts > 0)
    terms = counts[used] * np.log(above[used] / below[used])
    return float(terms.sum() / counts.sum()) if counts.sum() > 0 else 0.0


def _summed(numbers: IntArray, counts: FloatArray) -> FloatArray:
    """Sum of the counts that have the same number, for each of them; shape (m,)."""
    if numbers.max(initial=0) > _MOST_SUMS * (len(numbers) + 1):
        _, numbers = np.unique(numbers, return_inverse=True)
    return np.asarray(np.bincount(numbers.reshape(-1), counts)[numbers.reshape(-1)])


def _not_negative(information: FloatArray) -> FloatArray:
    """Set small negative values, which come from rounding, to 0; larger ones are a bug."""
    if information.min(initial=0.0) < -_ROUNDING:
        raise ArithmeticError(
            f"the information is {information.min()} nats, but it cannot be negative; please "
            "report this as a bug"
        )
    return np.maximum(information, 0.0)
