"""Models that are sums of products: the logarithm of the sum is split exactly, see ``divisia``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.tables.hidden import HiddenParentTables
from unnaive.tables.super_parents import FirstAnswer
from unnaive.tables.terms.blend import posterior_terms
from unnaive.tables.terms.divisia import log_sum, shares_of_sum
from unnaive.tables.terms.split import Key, Terms, merged, observed, terms_of
from unnaive.tables.trees import AveragedTrees

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.tables.super_parents import SuperParentTables

_BLOCK_CELLS = 1 << 21  # factors that are looked at together


@terms_of.register(FirstAnswer)
def first_answer_terms(tables: FirstAnswer, codes: CodeArray) -> Terms:
    """Split AODE's mean, and its fallbacks where there is no super-parent."""
    naive = tables.simplest.terms(codes)
    rows = np.arange(codes.shape[1])
    found = []
    for some in tables.averages:
        resolved = some.resolved(np.ascontiguousarray(codes[:, rows]))
        here = _weights(some, resolved).sum(axis=0) > 0
        if here.any():
            found.append((rows[here], _of_mean(some, resolved[:, here], naive.base[rows[here]])))
        rows = rows[~here]
    if len(rows):
        found.append((rows, Terms(naive.keys, naive.base[rows], naive.parts[rows])))
    return merged(naive.base.shape, found)


def _slots(tables: SuperParentTables, codes: CodeArray) -> IntArray:
    """Rows of the tables that the super-parents of every row point at; shape (m, n)."""
    first, second, start, stride, second_stride = tables.parents.T
    wide = codes.astype(np.int64)
    at = start[:, None] + stride[:, None] * wide[first]
    return np.asarray(at + second_stride[:, None] * wide[second])


def _weights(tables: SuperParentTables, codes: CodeArray) -> FloatArray:
    return np.asarray(tables.weights[_slots(tables, codes)])


def _cells(tables: SuperParentTables, codes: CodeArray) -> IntArray:
    """Entries of single children: joint values of their groups with all others missing; (d, n)."""
    _, group, stride, start = tables.columns.T
    missing = np.diff(tables.slots) - 1
    others = np.bincount(group, stride * missing)[group].astype(np.int64) - stride * missing
    begin = np.zeros(group.max() + 1, dtype=np.int64)
    np.maximum.at(begin, group, start)  # only a group's first member has it
    return np.asarray((begin[group] + others)[:, None] + stride[:, None] * codes.astype(np.int64))


def _of_mean(tables: SuperParentTables, codes: CodeArray, base: FloatArray) -> Terms:
    """Split the weighted mean over super-parents, of which every row has some."""
    keys, places = _super_parent_keys(tables)
    n, k = base.shape
    parts = np.empty((n, k, len(keys)))
    size = max(1, _BLOCK_CELLS // max(1, k * len(tables.parents) * len(codes)))
    for low in range(0, n, size):
        rows = slice(low, min(low + size, n))
        shares = _shares(tables, codes[:, rows], base[rows])
        parts[rows] = shares.reshape(*shares.shape[:2], -1)[:, :, places]
    return Terms(keys, base, parts)


def _shares(tables: SuperParentTables, codes: CodeArray, base: FloatArray) -> FloatArray:
    """Share of every super-parent and column; shape (n, k, m, d)."""
    slots, cells = _slots(tables, codes), _cells(tables, codes)
    factors = tables.tables[: tables.n_classes][:, slots.T[:, :, None], cells.T[:, None, :]]
    factors = np.ascontiguousarray(factors.transpose(1, 0, 2, 3))
    member, first = np.arange(len(tables.parents)), tables.parents[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        own = factors[:, :, member, first] - base[:, :, None]
        weight = np.log(tables.weights[slots].T)[:, None, :]
    factors[:, :, member, first] = np.where(np.isneginf(base)[:, :, None], -np.inf, own)
    factors = np.where(np.isneginf(weight)[..., None], 0.0, factors)
    before = weight + base[:, :, None]
    return shares_of_sum(before + factors.sum(axis=-1), before, factors)


def _super_parent_keys(tables: SuperParentTables) -> tuple[tuple[Key, ...], IntArray]:
    """Terms, and their places among all pairs of a super-parent and a column."""
    used = np.flatnonzero(np.diff(tables.slots) > 1).tolist()
    n_columns = len(tables.slots) - 1
    keys: list[Key] = []
    places = []
    for member, (first, second) in enumerate(tables.parents[:, :2].tolist()):
        above = (first,) if first == second else (first, second)
        if not set(above) <= set(used):
            continue
        for column in used:
            if column == first:
                keys.append((above, ()))
            elif column not in above:
                keys.append(((column,), above))
            else:
                continue
            places.append(member * n_columns + column)
    return tuple(keys), np.array(places, dtype=np.int64)


@terms_of.register(AveragedTrees)
def averaged_trees_terms(tables: AveragedTrees, codes: CodeArray) -> Terms:
    """Split the log joint of trees that answer together."""
    found = [member.terms(codes) for member in tables.members]
    joints = [terms.joint for terms in found]
    if tables.of_posteriors:
        found = [posterior_terms(terms) for terms in found]
    base = found[0].base
    after = np.stack([terms.joint for terms in found], axis=-1)
    before = np.stack([terms.base for terms in found], axis=-1)
    keys = tuple(dict.fromkeys(key for terms in found for key in terms.keys))
    place = {key: index for index, key in enumerate(keys)}
    parts = np.zeros((*base.shape, len(keys)))
    stacked = np.stack([terms.parts for terms in found], axis=2)
    shares = shares_of_sum(after, before, stacked)
    for member, terms in enumerate(found):
        parts[:, :, [place[key] for key in terms.keys]] += shares[:, :, member]
    evidence = log_sum(np.concatenate(joints, axis=1)) - np.log(len(joints))
    return Terms(keys, base, parts, evidence if tables.of_posteriors else None)


@terms_of.register(HiddenParentTables)
def hidden_terms(tables: HiddenParentTables, codes: CodeArray) -> Terms:
    """Split the log joint of hidden parents."""
    sizes = tables.columns[:, 7]
    used = np.flatnonzero(sizes > 0).tolist()
    there = observed(codes, sizes)
    found: list[tuple[Key, FloatArray]] = []
    for column in used:
        members, shares = _bag(tables, codes, column)
        heard = there[members].any(axis=0) if len(members) else np.zeros(codes.shape[1], bool)
        chance, weight = shares[:-1].sum(axis=1), shares[-1].sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.log(chance / weight)
            split_up = np.where(chance[:, None] > 0, shares[:-1] / chance[:, None], 0.0)
            through = np.where(split_up > 0, split_up * factor[:, None], 0.0)
        lost = np.isneginf(factor)[:, None] & (shares[-1] > 0)
        through = np.where(lost, -np.inf, through)
        own = tables.alone[: tables.n_classes, tables.columns[column, 0] + codes[column]]
        alone = np.where(there[column] & ~heard, own, 0.0)
        found.append((((column,), ()), alone.T))
        for place, member in enumerate(members.tolist()):
            part = np.where(there[column] & heard, through[:, place], 0.0)
            found.append((((column,), (member,)), part.T))
    base = np.repeat(tables.alone[None, : tables.n_classes, -1], codes.shape[1], axis=0)
    parts = np.stack([part for _, part in found], axis=2) if found else np.zeros((*base.shape, 0))
    return Terms(tuple(key for key, _ in found), base, parts)


def _bag(tables: HiddenParentTables, codes: CodeArray, column: int) -> tuple[IntArray, FloatArray]:
    """Members of a column's bag, and weight × probability of each, then the weight; (k + 1, m, n).

    A missing member has 0 for both. Rows that lack the column's cell have anything.
    """
    group, stride, sizes = tables.columns[:, 1], tables.columns[:, 2], tables.columns[:, 7]
    first, last, start, width = tables.columns[column, 3:7]
    offsets = {int(group): int(offset) for group, offset in tables.groups[first:last]}
    near = np.array([j for j in np.flatnonzero(sizes > 0) if int(group[j]) in offsets], dtype=int)
    lines = np.concatenate([tables.tables[: tables.n_classes], tables.tables[-1:]])
    if not len(near):
        return near, np.zeros((len(lines), 0, codes.shape[1]))
    silent = np.bincount(group, stride * sizes)[group].astype(np.int64) - stride * sizes
    offset = np.array([offsets[int(group[j])] for j in near])
    value = np.minimum(codes[column].astype(np.int64), sizes[column] - 1)
    cells = (offset + silent[near])[:, None] + stride[near, None] * codes[near].astype(np.int64)
    shares = lines[:, start + value * width + cells]
    weights = lines[-1, start + offset + silent[near]]  # of each member's first value
    return near[weights > 0], shares[:, weights > 0]
