"""Counts of the cells that occurred are the same numbers as tables of all cells."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from unnaive.counts import cells as cells_module
from unnaive.counts.cells import (
    CellCounts,
    count_cells,
    family_of,
    family_state,
    packed,
    unpacked,
)
from unnaive.counts.families import FamilyCounts, count_family
from unnaive.counts.privacy import noisy, suppress
from unnaive.counts.sizes import largest_pair_bytes, pair_bytes, wide_bytes
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.information import (
    class_mutual_information,
    conditional_mutual_information,
    pairwise_mutual_information,
)

SIZES = np.array([3, 1, 4])


def coded(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random codes of columns, with missing cells, and classes."""
    random = np.random.default_rng(seed)
    codes = np.stack([random.integers(size + 1, size=n) for size in SIZES]).astype(np.uint8)
    return codes, random.integers(2, size=n)


def counted_slowly(columns: tuple[int, ...], codes: np.ndarray, classes: np.ndarray) -> dict:
    """Count joint values row by row; the child comes last in a key."""
    order = (*columns[1:], columns[0])
    rows = zip(classes.tolist(), codes[list(order)].T.tolist(), strict=True)
    whole = (
        (c, *row) for c, row in rows if all(v < SIZES[i] for v, i in zip(row, order, strict=True))
    )
    return dict(sorted(Counter(whole).items()))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 12), st.integers(0, 99), st.sampled_from([(0,), (1, 0), (0, 2), (2, 0, 1)]))
def test_cells_are_counted_as_row_by_row(n: int, seed: int, columns: tuple[int, ...]) -> None:
    codes, classes = coded(n, seed)
    fixed = {"weights": None, "sizes": SIZES, "n_classes": 2}
    cells = count_cells(columns, codes, classes, **fixed)
    labels, values = cells.digits(SIZES)
    keys = zip(
        labels.tolist(), *(values[c].tolist() for c in (*columns[1:], columns[0])), strict=True
    )
    assert dict(zip(keys, cells.table.tolist(), strict=True)) == counted_slowly(
        columns, codes, classes
    )
    assert cells.fits(SIZES, 2)
    assert CellCounts.from_state(cells.state()) == cells
    assert cells.by_context(SIZES, 2) == count_family(columns, codes, classes, **fixed)
    for other in itertools.permutations(columns):
        assert cells.given(other, SIZES) == count_cells(other, codes, classes, **fixed)


@pytest.fixture
def by_cells(monkeypatch):
    """Return a function that sets from how many cells on only those that occurred are held."""
    return lambda limit: monkeypatch.setattr(cells_module, "DENSE_CELLS", limit)


def table(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = np.array(
        [[f"a{v}" for v in random.integers(s, size=n)] for s in (3, 7, 20)], dtype=object
    ).T
    X[random.random(X.shape) < 0.1] = None
    return X, random.integers(3, size=n)


def both_ways(by_cells, weights=None) -> list[unnaive.counts.JointCounts]:
    X, y = table()
    found = []
    for limit in (1 << 18, 0):
        by_cells(limit)
        found.append(unnaive.count(X, y, sample_weight=weights))
    return found


def test_pairs_are_the_same_in_both_forms(by_cells) -> None:
    full, cells = both_ways(by_cells)
    assert not full.cells
    assert len(cells.cells) == 3
    assert cells.pairs.size == 0
    for pair in itertools.permutations(range(3), 2):
        assert np.array_equal(full.pair(*pair), cells.pair(*pair))
    assert cells.filled() == full
    for measure in (conditional_mutual_information, pairwise_mutual_information):
        np.testing.assert_allclose(measure(cells), measure(full), rtol=1e-12, atol=1e-15)
    found = [class_mutual_information(counts, 1) for counts in (cells, full)]
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-15)
    guarded = [conditional_mutual_information(counts, guard=1e-3) for counts in (cells, full)]
    np.testing.assert_allclose(*guarded, rtol=1e-12, atol=1e-15)


def test_weights_are_added_in_the_order_of_rows(by_cells) -> None:
    full, cells = both_ways(by_cells, np.random.default_rng(1).random(60))
    assert cells.filled() == full


def test_cells_add_subtract_and_are_saved(by_cells, tmp_path) -> None:
    by_cells(0)
    X, y = table()
    whole = unnaive.count(X, y)
    first, rest = (
        unnaive.count(X[rows], y[rows], schema=whole.schema)
        for rows in (slice(0, 25), slice(25, 60))
    )
    assert first + rest == whole
    assert whole - rest == first
    assert whole.decay(0.5).pair(0, 2).sum() == whole.pair(0, 2).sum() / 2
    whole.save(tmp_path / "counts")
    assert unnaive.counts.JointCounts.load(tmp_path / "counts") == whole
    by_cells(1 << 18)
    assert unnaive.count(X[25:], y[25:], schema=whole.schema) + first == whole.filled()


def test_suppressed_cells_leave_no_trace(by_cells) -> None:
    full, cells = both_ways(by_cells)
    hidden = suppress(cells, 3)
    assert hidden.filled() == suppress(full, 3)
    assert all((one.table >= 3).all() for one in hidden.cells)


def test_noise_reaches_cells_without_rows(by_cells) -> None:
    pytest.importorskip("opendp")
    assert not noisy(both_ways(by_cells)[1], 1.0).cells


def test_large_families_are_stored_by_cells(by_cells, monkeypatch) -> None:
    codes, classes = coded(40, 3)
    family = count_family((0, 2), codes, classes, weights=None, sizes=SIZES, n_classes=2)
    monkeypatch.setattr(cells_module, "_LEAST_STORED", 2)
    monkeypatch.setattr(cells_module, "_STORED_SHARE", 0)
    by_cells(2)
    state = family_state(family, SIZES, 2)
    assert state["counts"].dtype == np.uint8
    assert isinstance(family_of(state, SIZES, 2), CellCounts)
    by_cells(1 << 18)
    restored = family_of(state, SIZES, 2)
    assert isinstance(restored, FamilyCounts)
    assert restored == family


def test_mostly_empty_tables_are_stored_by_cells() -> None:
    table = np.zeros((2, 9000), dtype=np.int64)
    table[1, ::700] = 300
    stored = packed(table)
    assert [stored[name].dtype for name in ("steps", "counts")] == [np.uint16, np.uint16]
    assert np.array_equal(unpacked(stored, table.shape), table)
    assert isinstance(packed(table[:, :700]), np.ndarray)
    assert np.array_equal(unpacked(packed(table * 0.5), table.shape), table * 0.5)


@pytest.mark.parametrize(("key", "most", "bits"), [("low", 250, 8), ("half", 16, 4)])
def test_few_large_counts_do_not_widen_the_others(key, most, bits) -> None:
    table = np.random.default_rng(0).integers(1, most, size=(3, 9001))
    table[1, 7:9] = [256, 2**40]
    stored = packed(table)
    assert stored[key].dtype == np.uint8
    assert stored[key].nbytes == (table.size * bits + 7) // 8
    assert stored["counts"].tolist() == [256 >> bits, 2**40 >> bits]
    assert np.array_equal(unpacked(stored, table.shape), table)
    for wrong in ({key: stored[key][:1]}, {"counts": stored["counts"] << (22 + bits)}):
        with pytest.raises(UnnaiveError, match="do not fit"):
            unpacked({**stored, **wrong}, table.shape)


@pytest.mark.parametrize("weights", [None, np.resize([0.5, 2.0], 300)])
def test_counts_are_stored_by_the_narrowest_type(weights) -> None:
    random = np.random.default_rng(0)
    X, y = random.integers(3, size=(300, 4)), random.integers(2, size=300)
    model = unnaive.A2DE(discretize=None).fit(X, y, sample_weight=weights)
    counts = unnaive.KDB(discretize=None).fit(X, y, sample_weight=weights).counts_
    family = counts.state()["families"][0]
    tables = [model.counts_.state()[key] for key in ("values", "pairs", "triples")]
    kinds = [table.dtype.name for table in (*tables, family["table"], family["contexts"])]
    plain = ["uint8"] * 5
    assert kinds == (plain if weights is None else ["float64"] * 4 + ["uint8"])
    for held in (model.counts_, counts):
        again = unnaive.JointCounts.from_state(held.state())
        assert again == held
        assert all(a.dtype == b.dtype for a, b in zip(again.tables, held.tables, strict=True))


def test_huge_tables_are_refused_with_their_column() -> None:
    sizes = np.array([100_000, 100_000])
    cells = CellCounts((1, 0), np.array([5]), np.array([1]))
    with pytest.raises(TableTooLarge, match="column 1 has 100,000 values; leave it out"):
        cells.filled(sizes, 2)
    five = np.full(5, 100_000)
    with pytest.raises(TableTooLarge, match="100,000 values"):
        count_cells(
            (0, 1, 2, 3, 4),
            np.zeros((5, 1), int),
            np.zeros(1, int),
            weights=None,
            sizes=five,
            n_classes=2,
        )


def test_memory_of_wide_pairs_grows_with_rows() -> None:
    columns = [[f"v{i}" for i in range(size)] for size in (2, 3, 100_000)]
    counts = unnaive.count([["v0", "v1", "v2"]], ["a"], categories=columns, pairs=None)
    assert wide_bytes(counts.schema) == (8 * 300_000, 1)
    assert pair_bytes(counts.schema) == 8 * (6 + 200_000 + 300_000)
    assert pair_bytes(counts.schema, 10) == 8 * (6 + 200_000) + 160
    assert largest_pair_bytes(counts.schema, 10) == 160
