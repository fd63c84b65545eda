"""Sets of columns whose dependence derivative ratios cancel out best."""

from __future__ import annotations

from dataclasses import replace
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.balance import search
from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from unnaive._typing import BoolArray, CodeArray, FloatArray, IntArray

    Half = list[tuple[FloatArray, IntArray]]  # by number of members: sorted sums, their masks

ENUMERATED_COLUMNS = 20
HALVED_COLUMNS = 44
REFINED_COLUMNS = 30  # columns of a rounded solution that are chosen again exactly
TABLE_CELLS = 2**26  # of reachable sums: one or two bytes each
TABLE_WORK = 2**32  # cells times columns
TAIL_CELLS = 2**20  # sums of the last columns, listed for branch and bound
NODE_BUDGET = 2**24  # of branch and bound per size; eight listed sums count as a node


@dataclass(frozen=True)
class BalancedSet:
    """Best set of a size: its columns, ascending, its weight, and the gap.

    The weight is the norm of |log w(S)|, or log w(S) if the smallest is wanted. No set of that
    size is better by more than the gap, which is 0.0 if the search was exact.
    """

    columns: tuple[int, ...]
    weight: float
    gap: float


def balanced_sets(
    u: ArrayLike,
    sizes: Iterable[int],
    *,
    objective: str = "balanced",
    weights: ArrayLike | None = None,
) -> dict[int, BalancedSet]:
    r"""Find the best set of columns of every size in ``sizes``.

    .. math:: \log w(S) = \sum_{i \in S} u_i

    "balanced" minimizes :math:`|\log w(S)|`, "smallest" minimizes :math:`\log w(S)`. If ``u`` has
    several rows, one per pair of classes, the weight of S is the largest :math:`|\log w(S)|` of
    all rows, or their mean weighted by ``weights``.

    With one row, the search is meet-in-the-middle up to 44 columns, then dynamic programming
    over rounded sums with refinement. With several rows, all sets are enumerated up to 20
    columns, then branch and bound is used. Sets whose weights differ by at most 1e-10, or by
    rounding, are tied, and the lexicographically first wins. Beyond 44 columns, or 20 with
    several rows, the first set found wins; the same call always finds the same set.

    Parameters
    ----------
    u : array of shape (d,) or (m, d)
        Mean log dependence derivative ratio of every column, by pair of classes.
    sizes : iterable of int
        Numbers of columns in a set, each from 1 to d.
    objective : {"balanced", "smallest"}
        "smallest" needs a single row, since the sign of a pair of classes is arbitrary.
    weights : array of shape (m,), optional
        Weights of the rows; without them the largest row counts.

    Returns
    -------
    dict
        The best set by size.

    References
    ----------
    Horowitz & Sahni, "Computing partitions with applications to the knapsack problem",
    Journal of the ACM 21(2), 1974. Ibarra & Kim, "Fast approximation algorithms for the
    knapsack and sum of subset problems", Journal of the ACM 22(4), 1975.

    Examples
    --------
    >>> balanced_sets([0.5, -0.25, 2.0, -0.375], [1, 2])[2]
    BalancedSet(columns=(0, 3), weight=0.125, gap=0.0)
    >>> balanced_sets([[0.5, -0.5, 1.0], [1.0, 1.0, -1.0]], [2])[2].columns
    (1, 2)
    """
    lines = _checked_lines(u, weights)
    n_columns = lines.shape[1]
    wanted = sorted({index(size) for size in sizes})
    if not wanted or wanted[0] < 1 or wanted[-1] > n_columns:
        raise ValueError(f"sizes={wanted}; there must be at least one, each from 1 to {n_columns}")
    if objective == "smallest" and len(lines) == 1:
        return {size: _smallest(lines[0], size) for size in wanted}
    if objective != "balanced":
        raise ValueError(f"objective={objective!r}; it is 'balanced', or 'smallest' with one line")
    lines = lines[lines.any(axis=1)] if lines.any() else lines[:1]
    if len(lines) == 1:
        of_one = _met_in_the_middle if n_columns <= HALVED_COLUMNS else _stepped
        return of_one(lines[0], wanted)
    of_several = _enumerated if n_columns <= ENUMERATED_COLUMNS else _branched
    return of_several(lines, wanted, weights is not None)


def best_set(found: dict[int, BalancedSet]) -> BalancedSet:
    """Choose the best set over all sizes: least weight, on ties the smallest, then the first.

    Examples
    --------
    >>> best_set(balanced_sets([0.5, -0.25, 2.0, -0.25], range(1, 5))).columns
    (0, 1, 3)
    """
    if not found:
        raise ValueError("there is no set to choose from")
    least = min(found.values(), key=lambda one: one.weight).weight
    tied = [one for one in found.values() if one.weight <= least + TIE_TOLERANCE]
    return min(tied, key=lambda one: (len(one.columns), one.columns))


def _checked_lines(u: ArrayLike, weights: ArrayLike | None) -> FloatArray:
    """Check the rows (m, d) of ``u`` and multiply them by their normalized weights."""
    lines = np.atleast_2d(np.asarray(u, dtype=np.float64))
    if lines.ndim != 2 or not lines.size:
        raise ValueError(f"u has shape {np.shape(u)}; it must be (d,) or (m, d), not empty")
    with np.errstate(over="ignore"):
        if not np.isfinite(4 * np.abs(lines).sum()):
            raise ValueError("u holds a nan, an infinity or numbers too large to be summed")
    if weights is None:
        return lines
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != lines.shape[:1]:
        raise ValueError(f"weights have shape {shares.shape}; u has {len(lines)} lines")
    if not np.isfinite(shares).all() or shares.min() < 0 or not shares.any():
        raise ValueError(f"weights={shares}; they must be finite, not negative and not all 0")
    return np.asarray(lines * (shares / shares.sum())[:, None])


def _rounding(lines: FloatArray) -> float:
    """Largest difference that rounding can make between two equal weights."""
    return float(8 * np.finfo(np.float64).eps * np.abs(lines).sum())


def _norm(sums: FloatArray, added: bool) -> FloatArray:
    """Weights of sets from their sums (m, ...): the largest row, or the sum of all rows."""
    return np.asarray((np.sum if added else np.max)(np.abs(sums), axis=0))


def _weighed(lines: FloatArray, added: bool, columns: IntArray) -> BalancedSet:
    columns = np.sort(columns)
    weight = float(_norm(lines[:, columns].sum(axis=1), added))
    return BalancedSet(tuple(columns.tolist()), weight, 0.0)


def _smallest(line: FloatArray, size: int) -> BalancedSet:
    """Find the set of least sum; of the columns tied with its largest, it has the lowest ones."""
    tolerance = max(TIE_TOLERANCE, _rounding(line))
    last = np.partition(line, size - 1)[size - 1]
    clear = np.flatnonzero(line < last - tolerance)
    tied = np.flatnonzero(np.abs(line - last) <= tolerance)
    columns = np.sort(np.concatenate([clear, tied[: size - len(clear)]]))
    return BalancedSet(tuple(columns.tolist()), float(line[columns].sum()), 0.0)


def _subset_sums(lines: FloatArray) -> FloatArray:
    """Sum every subset of the columns of (m, h), by doubling; shape (m, 2ʰ).

    The position of a set is a mask whose highest bit is the first column, so of two sets of the
    same size the lexicographically first has the larger mask.
    """
    sums = np.zeros((len(lines), 1))
    for column in lines.T[::-1]:
        sums = np.concatenate([sums, sums + column[:, None]], axis=1)
    return sums


def _members(mask: int, n_columns: int) -> IntArray:
    return np.flatnonzero(mask >> np.arange(n_columns)[::-1] & 1)


def _enumerated(lines: FloatArray, sizes: list[int], added: bool) -> dict[int, BalancedSet]:
    """Exact search that weighs all sets."""
    n_columns = lines.shape[1]
    weights = np.zeros(2**n_columns)
    for line in lines:
        sums = np.abs(_subset_sums(line[None])[0])
        weights = weights + sums if added else np.maximum(weights, sums)
    counts = np.bitwise_count(np.arange(2**n_columns))
    tolerance = max(TIE_TOLERANCE, _rounding(lines))
    sets = {}
    for size in sizes:
        masks = np.flatnonzero(counts == size)
        chosen = masks[weights[masks] <= weights[masks].min() + tolerance][-1]
        sets[size] = _weighed(lines, added, _members(int(chosen), n_columns))
    return sets


def _by_count(sums: FloatArray) -> tuple[IntArray, IntArray]:
    """Sort masks by number of members, then by sum; also return where each number begins."""
    counts = np.bitwise_count(np.arange(len(sums), dtype=np.uint32))
    return np.lexsort((sums, counts)), np.append(0, np.cumsum(np.bincount(counts)))


def _half(line: FloatArray) -> Half:
    """Sorted sums of all sets of half the columns and their masks, by number of members."""
    sums = _subset_sums(line[None])[0]
    masks, starts = _by_count(sums)
    return [(sums[members], members) for members in np.split(masks, starts[1:-1])]


def _misses(sums: FloatArray, others: FloatArray, target: float) -> FloatArray:
    """Distance from the target of each sum plus the best of the other, sorted sums."""
    wanted = target - sums
    place = np.searchsorted(others, wanted)
    above = others[np.minimum(place, len(others) - 1)]
    below = others[np.maximum(place - 1, 0)]
    return np.minimum(np.abs(above - wanted), np.abs(below - wanted))


def _pair(left: Half, right: Half, size: int, target: float, tolerance: float) -> tuple[int, int]:
    """Find the set whose sum is nearest to the target, as masks of its halves; first on ties.

    For every number of members in the left half, the shorter list of sums is looked up in the
    longer one. Of the left halves that come near enough with some right half, the first is
    taken, and then the first of its right halves.
    """
    least = {}
    for count in range(max(0, size - len(right) + 1), min(size, len(left) - 1) + 1):
        short, long = sorted((left[count][0], right[size - count][0]), key=len)
        least[count] = float(_misses(short, long, target).min())
    enough = min(least.values()) + tolerance
    chosen, rest = -1, 0.0
    for count in [count for count in least if least[count] <= enough]:
        sums, masks = left[count]
        near = _misses(sums, right[size - count][0], target) <= enough
        first = int(masks[near].max(initial=-1))
        if first > chosen:
            chosen, rest = first, float(target - sums[masks == first][0])
    sums, masks = right[size - chosen.bit_count()]
    return chosen, int(masks[np.abs(sums - rest) <= enough].max())


def _met_in_the_middle(line: FloatArray, sizes: list[int]) -> dict[int, BalancedSet]:
    """Exact search that lists the subset sums of both halves and finds two that cancel out."""
    middle = len(line) // 2
    left, right = _half(line[:middle]), _half(line[middle:])
    tolerance = max(TIE_TOLERANCE, _rounding(line))
    sets = {}
    for size in sizes:
        first, second = _pair(left, right, size, 0.0, tolerance)
        mask = first << len(line) - middle | second
        sets[size] = _weighed(line[None], False, _members(mask, len(line)))
    return sets


def _stepped(line: FloatArray, sizes: list[int]) -> dict[int, BalancedSet]:
    r"""Nearly exact search: dynamic programming over sums in whole steps δ, then refinement.

    With :math:`r_i = u_i / \delta` rounded, :math:`|\sum_S u_i| \ge \delta |\sum_S r_i| -
    \sum_S |u_i - \delta r_i|`, so the least sum of steps bounds the least weight. The largest
    :math:`|u_i|` is a whole number of steps, so that sums of ±1 are bounded exactly. A set of
    more than half of the columns is the complement of a smaller one whose sum is near the total.
    """
    exponent = int(np.frexp(np.abs(line).max())[1])
    scaled = np.ldexp(line, -exponent)
    n_columns = len(line)
    n_cells = min(TABLE_CELLS, TABLE_WORK // n_columns) // (n_columns // 2 + 1)
    largest, room = np.abs(scaled).max(), n_cells / (np.abs(scaled).sum() or 1.0)
    step = largest / max(1.0, np.floor(largest * room)) or 1.0
    steps = np.rint(scaled / step).astype(np.int64)
    last = _last_members(steps, max(min(size, n_columns - size) for size in sizes))
    sums = step * (np.arange(last.shape[1]) + steps[steps < 0].sum())
    errors = np.cumsum(np.sort(np.abs(scaled - step * steps))[::-1])
    order = np.argsort(scaled, kind="stable")
    least, most = np.cumsum(scaled[order]), np.cumsum(scaled[order][::-1])
    sets = {}
    for size in sizes:
        if least[size - 1] >= 0 or most[size - 1] <= 0 or size == n_columns:
            extreme = order[:size] if least[size - 1] >= 0 else order[-size:]
            sets[size] = _weighed(line[None], False, extreme)
            continue
        few, small = min(size, n_columns - size), 2 * size <= n_columns
        misses = np.abs(sums - (0.0 if small else scaled.sum()))
        misses[last[few] == np.iinfo(last.dtype).max] = np.inf
        members = _rebuilt(last, steps, few, int(np.argmin(misses)))
        inside = np.isin(np.arange(n_columns), members, invert=not small)
        columns = _refined(scaled, _exchanged(scaled[None], inside, False))
        result = _weighed(line[None], False, columns)
        bound = max(0.0, float(np.ldexp(misses.min() - errors[few - 1], exponent)))
        sets[size] = replace(result, gap=max(0.0, result.weight - bound))
    return sets


def _last_members(steps: IntArray, most: int) -> CodeArray:
    """Least n such that some sets of a size within the first n columns have a sum.

    The n-th column is a member of such a set, so the set can be rebuilt from the table, which
    has the shape (most + 1, sums). Position 0 is the sum of all negative steps. If no set has
    the sum, the entry is the largest integer.
    """
    kind = np.min_scalar_type(len(steps) + 1)
    width = int(np.abs(steps).sum()) + 1
    last = np.full((most + 1, width), np.iinfo(kind).max, dtype=kind)
    last[0, -steps[steps < 0].sum()] = 0
    buffer = np.empty(width, dtype=kind)
    for number, step in enumerate(steps.tolist(), start=1):
        source = slice(max(0, -step), width - max(0, step))
        target = slice(max(0, step), width - max(0, -step))
        reached = buffer[source]
        for count in range(min(number, most), 0, -1):
            np.maximum(last[count - 1, source], kind.type(number), out=reached)
            np.minimum(last[count, target], reached, out=last[count, target])
    return last


def _rebuilt(last: CodeArray, steps: IntArray, count: int, place: int) -> list[int]:
    """Columns of a set with ``count`` members and the sum at a position of the table."""
    members: list[int] = []
    for left in range(count, 0, -1):
        members.append(int(last[left, place]) - 1)
        place -= int(steps[members[-1]])
    return members


def _refined(line: FloatArray, inside: BoolArray) -> IntArray:
    """Improve a set by choosing some of its columns again, exactly, by meet-in-the-middle.

    The columns to choose again are spread evenly over the values inside and outside the set.
    """
    order = np.argsort(line, kind="stable")
    members, others = order[inside[order]], order[~inside[order]]
    share = min(len(members), max(REFINED_COLUMNS // 2, REFINED_COLUMNS - len(others)))
    sides = ((members, share), (others, REFINED_COLUMNS - share))
    places = [np.unique(np.linspace(0, len(side) - 1, n).astype(int)) for side, n in sides]
    free = np.concatenate([members[places[0]], others[places[1]]])
    left, right = free[::2], free[1::2]
    kept = np.setdiff1d(members, free)
    wanted, target = len(members) - len(kept), -float(line[kept].sum())
    first, second = _pair(_half(line[left]), _half(line[right]), wanted, target, _rounding(line))
    chosen = left[_members(first, len(left))], right[_members(second, len(right))]
    return np.concatenate([kept, *chosen])


def _branched(lines: FloatArray, sizes: list[int], added: bool) -> dict[int, BalancedSet]:
    """Branch and bound, exact within a budget; columns are sorted by falling largest |u|.

    A node of the search has decided on the first columns. What the other columns can add lies,
    in every row, between the sums of the smallest and of the largest of them, which bounds the
    weight. The last columns are not branched on: the sums of all their sets are listed by number
    of members and sorted by a combination of rows, and only the sets that keep this combination
    below the best weight are weighed. When the budget is used up, the gap follows from the least
    bound of all nodes that were not searched.
    """
    n_lines, n_columns = lines.shape
    order = np.argsort(-np.abs(lines).max(axis=0), kind="stable")
    ordered = np.ascontiguousarray(lines[:, order].T)
    head = n_columns - min(n_columns // 2, max(TAIL_CELLS // n_lines, 2).bit_length() - 1)
    low = _least_sums(ordered, head, max(sizes))
    problem = (ordered, low, -_least_sums(-ordered, head, max(sizes)), added)
    tail, masks = _tail(ordered[head:], added)
    sets = {}
    for size in sizes:
        inside = _exchanged(lines, np.isin(np.arange(n_columns), order[-size:]), added)
        guide = inside[order].astype(np.int64)
        limits = (float(_norm(lines[:, inside].sum(axis=1), added)), NODE_BUDGET, _rounding(lines))
        path = np.empty(head, dtype=np.int64)
        place, open_bound = search(problem, tail, size, guide, limits, path)
        columns = np.flatnonzero(inside)
        if place >= 0:
            ends = head + _members(int(masks[place]), n_columns - head)
            columns = order[np.concatenate([np.flatnonzero(path), ends])]
        result = _weighed(lines, added, columns)
        sets[size] = replace(result, gap=max(0.0, result.weight - open_bound))
    return sets


def _least_sums(ordered: FloatArray, head: int, most: int) -> FloatArray:
    """Least sums of n columns from a column on, by column and n; shape (head + 1, most + 1, m)."""
    low = np.zeros((head + 1, most + 1, ordered.shape[1]))
    for begin in range(head + 1):
        sums = np.cumsum(np.sort(ordered[begin:], axis=0), axis=0)
        low[begin, 1 : len(sums) + 1] = sums[:most]
    return low


def _tail(
    ordered: FloatArray, added: bool
) -> tuple[tuple[FloatArray, FloatArray, IntArray, FloatArray], IntArray]:
    """List the sums of all sets of columns (h, m), and their masks.

    They are sorted by a mix of rows that never exceeds the weight: the largest row, or all rows
    with fixed signs if they are added.
    """
    lead = int(np.argmax(np.abs(ordered).sum(axis=0)))
    signs = np.where(ordered[:, lead] @ ordered < 0, -1.0, 1.0) if added else 0.0
    mix = np.where(np.arange(ordered.shape[1]) == lead, 1.0, signs)
    sums = _subset_sums(ordered.T).T
    mixed = sums @ mix
    masks, starts = _by_count(mixed)
    return (np.ascontiguousarray(sums[masks]), mixed[masks], starts, mix), masks


def _exchanged(lines: FloatArray, inside: BoolArray, added: bool) -> BoolArray:
    """Swap a column of the set with one outside, the best pair first, while the weight falls."""
    while not inside.all():
        members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
        sums = lines[:, members].sum(axis=1)
        changed = (sums[:, None] - lines[:, members])[:, :, None] + lines[:, None, others]
        weights = _norm(changed, added)
        leaves, enters = np.unravel_index(np.argmin(weights), weights.shape)
        swapped = inside.copy()
        swapped[[members[leaves], others[enters]]] = False, True
        if _norm(lines[:, swapped].sum(axis=1), added) >= _norm(sums, added):
            break
        inside = swapped
    return inside
