"""Factors over missing columns, compared with the tables' own look-up of every cell."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnaive._core.opening import open_cells, open_contexts
from unnaive.tables.family import CellTable, FamilyTable
from unnaive.tables.opening import OpenFactor, Rows

N_CLASSES, N_SETS = 2, 3


@st.composite
def families(draw):
    """Return sizes, a family, and its missing columns."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    family = tuple(draw(st.permutations(range(len(sizes)))))
    scope = draw(st.sets(st.sampled_from(family), min_size=1))
    return np.array(sizes), family, tuple(sorted(scope))


def contexts_of(sizes, parents, random):
    """Some of the contexts that are possible."""
    possible = int(np.prod(sizes[list(parents)]))
    return np.flatnonzero(random.random(possible) < 0.6)


def family_table(sizes, family, random, simpler):
    """A table with or without simpler ones behind it."""
    parents, v = family[1:], sizes[family[0]]
    if not parents:
        return FamilyTable((), np.zeros(1, np.int64), random.random((N_SETS, N_CLASSES, 1, v)))
    contexts = contexts_of(sizes, parents, random)
    rows = len(contexts) + (not simpler)
    below = family_table(sizes, family[:-1], random, simpler) if simpler else None
    return FamilyTable(parents, contexts, random.random((N_SETS, N_CLASSES, rows, v)), below)


def cell_table(sizes, family, random):
    """A table of cells that occurred."""
    parents, v = family[1:], int(sizes[family[0]])
    contexts = contexts_of(sizes, parents, random)
    slots = len(contexts) + 1
    cells = np.arange(N_CLASSES * slots * v).reshape(N_CLASSES, slots, v)[:, :-1].reshape(-1)
    keys = cells[random.random(len(cells)) < 0.5]
    entries, of_context = random.random((N_SETS, len(keys))), (N_SETS, N_CLASSES, slots)
    return CellTable(
        parents, contexts, keys, entries, random.random(of_context), random.random((N_SETS, v))
    )


@given(families(), st.sampled_from(["contexts", "simpler", "cells"]), st.integers(0, 99))
def test_lines_are_what_the_tables_look_up(given_family, kind, seed):
    sizes, family, scope = given_family
    random = np.random.default_rng(seed)
    if kind == "cells":
        table = cell_table(sizes, family, random)
    else:
        table = family_table(sizes, family, random, simpler=kind == "simpler")
    n = 3
    codes = random.integers(0, sizes[:, None], size=(len(sizes), n)).astype(np.uint16)
    codes[list(scope)] = 0
    held = random.integers(-1, N_CLASSES, size=n)
    factor = OpenFactor(table, family, scope, Rows(codes, held, sizes, (1, 2)))
    lines = factor.lines(0, n * N_CLASSES)
    for values in product(*(range(sizes[c]) for c in scope)):
        filled = codes.copy()
        filled[list(scope)] = np.array(values)[:, None]
        looked_up = table.look_up(filled, sizes, filled[family[0]])
        for row, label in product(range(n), range(N_CLASSES)):
            expected = looked_up[2 if held[row] == label else 1, label, row]
            assert lines[(row * N_CLASSES + label, *values)] == expected
    np.testing.assert_array_equal(factor.lines(1, 4), lines[1:4])


AXES = np.array([[3, 1, 0]])
ROW = np.zeros(1, np.int64)
WRONG = [
    {"axes": np.array([[4, 1, 0]])},  # more cells than out has
    {"axes": np.array([[3, -1, 0]])},
    {"axes": np.array([[3, 1, 2]])},
    {"axes": np.array([[3, 0, 1]])},  # a child of more values than the table has
    {"axes": np.zeros((0, 3), np.int64)},
    {"children": np.full(1, 2)},
    {"children": np.full(1, -1)},
    {"held": np.full(1, 2)},
    {"held": np.zeros(2, np.int64)},
    {"sets": (0, 3)},
    {"sets": (-1, 0)},
    {"first": 1},
    {"first": -1},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_numbers_are_refused(wrong):
    right = {"axes": AXES, "bases": ROW, "children": ROW, "held": ROW, "sets": (0, 1), "first": 0}
    out = np.empty((2, 3))
    contexts, random = np.arange(3), np.random.default_rng(0)
    cells = (ROW, np.zeros((N_SETS, 1)), random.random((N_SETS, 2, 4)), random.random((N_SETS, 2)))
    open_contexts(contexts, random.random((N_SETS, 2, 3, 2)), **right, out=out)
    open_cells(contexts, cells, **right, out=out)
    with pytest.raises(IndexError):
        open_contexts(contexts, random.random((N_SETS, 2, 3, 2)), **{**right, **wrong}, out=out)
    with pytest.raises(IndexError):
        open_cells(contexts, cells, **{**right, **wrong}, out=out)
