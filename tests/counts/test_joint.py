"""Counts equal those of the slow twin bit for bit, whichever way they were made."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import naive
import unnaive
from problems import HOSTILE, Problem, made, problems
from unnaive.counts import CodedRows, JointCounts
from unnaive.counts.cells import by_context
from unnaive.counts.sizes import pair_bytes
from unnaive.exceptions import SchemaMismatch, TableTooLarge, UnnaiveError
from unnaive.information import group_information


def assert_equal_to_twin(problem, counts):
    data, w = problem.data, problem.weights
    same = np.array_equal if w is None else np.allclose
    assert same(counts.class_counts, naive.class_counts(problem.classes, problem.k, w))
    for i in range(len(problem.values)):
        assert same(counts.marginal(i), naive.marginal(*data, i, w))
        for j in range(i + 1, len(problem.values)):
            table = np.array(naive.pair(*data, i, j, w)).reshape(counts.pair(i, j).shape)
            assert same(counts.pair(i, j), table)
            assert same(counts.pair(j, i), table.transpose(0, 2, 1))


@given(problems())
@settings(max_examples=150)
def test_counts_equal_the_twin(problem):
    assert_equal_to_twin(problem, problem.coded().count())


@given(problems(weighted=True))
@settings(max_examples=60)
def test_weighted_counts_equal_the_twin(problem):
    assert_equal_to_twin(problem, problem.coded().count())


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_shapes(name):
    problem = HOSTILE[name]
    if len(problem.rows) > 1000:
        return assert_equal_to_histogram(problem)
    return assert_equal_to_twin(problem, problem.coded().count())


def assert_equal_to_histogram(problem):
    counts = problem.coded(n_jobs=2).count()
    codes = np.array(problem.rows).T
    table = np.zeros((problem.k, *problem.values), dtype=np.int64)
    np.add.at(table, (np.array(problem.classes), *codes), 1)
    assert np.array_equal(counts.pair(0, 1), table)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_bits_for_any_number_of_threads(weighted):
    problem = made(5000, [2, 3, 5, 20, 9, 16, 17, 4, 3, 2], 3, gaps=0.1)
    weights = np.random.default_rng(1).random(5000) if weighted else None
    one, three = (
        CodedRows(c.schema, c.codes, c.classes, weights, n_jobs).count()
        for c, n_jobs in ((problem.coded(), 1), (problem.coded(), 3))
    )
    assert one == three


@given(problems(max_rows=40))
@settings(max_examples=60)
def test_counts_add_and_subtract(problem):
    rows = problem.coded()
    whole = rows.count()
    at = len(problem.rows) // 2
    parts = [
        CodedRows(
            rows.schema, np.ascontiguousarray(rows.codes[:, part]), rows.classes[part]
        ).count()
        for part in (slice(None, at), slice(at, None))
    ]
    assert reduce(add, parts) == whole
    assert whole - parts[1] == parts[0]


def test_weighted_counts_subtract_to_nothing():
    rows = made(50, [3, 4], 2).coded()
    weights = np.random.default_rng(0).random(50)
    counts = CodedRows(rows.schema, rows.codes, rows.classes, weights).count()
    assert (counts - counts).total == 0


def test_subtracting_strangers_is_refused():
    few, many = made(3, [2, 2], 2).coded().count(), made(30, [2, 2], 2, seed=1).coded().count()
    with pytest.raises(UnnaiveError, match="never counted"):
        few - many


def test_counts_of_other_columns_do_not_add():
    a, b = made(9, [2, 3], 2).coded().count(), made(9, [2, 4], 2).coded().count()
    with pytest.raises(SchemaMismatch, match=r"column 'x1': 3 categories .* there; encode both"):
        a + b
    with pytest.raises(SchemaMismatch, match="classes"):
        a + made(9, [2, 3], 3).coded().count()
    with pytest.raises(SchemaMismatch, match="pairs"):
        a + a.without_pairs()


def test_counts_travel(tmp_path):
    counts = made(30, [2, 3, 40], 3, gaps=0.2).coded().count()
    counts.save(tmp_path / "site.counts")
    assert JointCounts.load(tmp_path / "site.counts") == counts


def test_chunks_of_pairs_cover_all_pairs(monkeypatch):
    rows = made(60, [2, 3, 5, 4, 2, 20], 2, gaps=0.1).coded()
    whole = rows.count()
    monkeypatch.setattr("unnaive.counts.engines.memory.CHUNK_BYTES", 300)
    chunks = list(rows.pair_chunks())
    assert len(chunks) > 3
    assert np.array_equal(np.concatenate([pairs for pairs, _ in chunks]), whole.pair_columns)
    assert np.array_equal(np.concatenate([t for _, t in chunks], axis=1), whole.pairs)


def test_count_by_name_and_with_a_schema():
    frame = pd.DataFrame({"a": ["u", "v", "v"], "y": [1, 0, 1], "b": [1.5, None, 2.5]})
    counts = unnaive.count(frame, target="y")
    assert counts.schema.names == ("a", "b")
    assert counts == unnaive.count(frame, target="y", schema=counts.schema)
    with pytest.raises(ValueError, match="there is no column 'z'"):
        unnaive.count(frame, target="z")


def test_tables_are_sized_before_they_are_made():
    X = np.arange(120_000).reshape(-1, 2)
    counts = unnaive.count(X, target=np.arange(60_000) % 2, discretize=None)
    assert counts.nbytes < 5e6  # the cells that occurred
    for whole in (counts.filled, lambda: counts.pair(0, 1)):
        with pytest.raises(TableTooLarge, match=r"7,200,000,000 cells.*60,000 values"):
            whole()


@pytest.mark.long
def test_a_wide_column_does_not_explode():
    labels = np.arange(100_000).astype(str)
    X = np.column_stack([labels, np.arange(100_000) % 3]).astype(object)
    with pytest.warns(UserWarning, match="column 'x0' has 100,000 labels in 100,000 rows"):
        counts = unnaive.count(X, target=np.arange(100_000) % 2)
    assert counts.nbytes < 20e6
    assert counts.pair(0, 1).sum() == 100_000


def test_counts_and_schemas_have_a_short_repr_and_a_table():
    X = [["a<b", 1.5], ["c", 2.5], ["c", 3.5]]
    counts = unnaive.count(X, ["no", "yes", "yes"], discretize="width", bins=2)
    assert repr(counts) == "JointCounts(3 rows, 2 columns, 2 classes, 1 pairs, 144 bytes)"
    assert repr(counts.schema) == "Schema(2 columns, 2 classes, target 'y')"
    for shown in (counts, counts.schema):
        table = shown._repr_html_()
        assert f">{type(shown).__name__}(" in table
        assert ">x1</td>" in table
    assert "no: 1, yes: 2" in counts._repr_html_()
    assert "a&lt;b, c" in counts.schema._repr_html_()


def test_tables_of_all_pairs_are_sized_exactly():
    problem = made(20, [2, 3, 4], 2)
    cells = 2 * (2 * 3 + 2 * 4 + 3 * 4)
    assert pair_bytes(problem.schema) == 8 * cells
    assert problem.coded().count().pairs.size == cells


def test_tables_of_families_are_whole_numbers_unless_rows_have_weights():
    problem = made(40, [2, 3, 4], 2, gaps=0.1)
    (plain,) = problem.coded().count_families([(0, 1, 2)])
    assert plain.table.dtype == np.int64
    weighted = type(problem)(*problem.data, weights=[0.5] * 40)
    (half,) = weighted.coded().count_families([(0, 1, 2)])
    assert half.table.dtype == np.float64
    np.testing.assert_array_equal(2 * half.table, plain.table)


def test_families_add_from_any_place_in_memory():
    # a cluster may put an array into the middle of a buffer
    problem = made(40, [2, 3, 4], 2)
    (family,) = problem.coded().count_families([(0, 1, 2)])
    odd = np.frombuffer(b"_" + family.contexts.tobytes(), np.int64, offset=1)
    assert not odd.flags.aligned
    received = replace(family, contexts=odd)
    assert received.combine(received, np.add) == family.combine(family, np.add)


def test_counts_with_triples_are_not_added_to_counts_without():
    rows = made(9, [2, 3, 2], 2).coded()
    without = rows.count()
    held = replace(without, triples=rows.count_triples())
    assert (held + held).total == 18
    for one, other in ((held, without), (without, held)):
        with pytest.raises(SchemaMismatch, match="triples of columns are held on one side only"):
            one + other


def test_counts_are_added_to_counts_only():
    counts = made(9, [2, 3], 2).coded().count()
    assert counts != "counts"
    assert sum([counts, counts]) == counts + counts
    for combine in (lambda: counts + 3, lambda: counts - 3, lambda: counts + "3"):
        with pytest.raises(TypeError, match="unsupported operand"):
            combine()


def many_values(problem):
    """The same rows in a schema with values that never occur."""
    values = [v + 40 for v in problem.values]
    return Problem(problem.rows, problem.classes, problem.k, values, problem.weights)


def occurring(rows, columns):
    """The cells of a family that occurred, by the values of child and parents, and the class."""
    (counted,) = rows.count_families([columns])
    sizes = rows.schema.sizes
    family = by_context(counted, sizes, rows.n_classes)
    assert (np.diff(family.contexts) > 0).all()
    parents = list(columns[1:])
    values = np.stack(np.unravel_index(family.contexts, (1, *sizes[parents])), axis=1).tolist()
    cells = zip(*(place.tolist() for place in np.nonzero(family.table)), strict=True)
    return {(c, x, *values[q][1:]): family.table[c, q, x] for c, q, x in cells}


@given(problems(max_columns=4, weighted=True, sizes=(1, 2, 3)))
@settings(max_examples=60)
def test_values_that_never_occur_change_no_family_and_no_information(problem):
    d = len(problem.values)
    dense, sparse = problem.coded(), many_values(problem).coded()
    for columns in ((0,), tuple(range(d))[-3:], tuple(reversed(range(d)))):
        few, many = occurring(dense, columns), occurring(sparse, columns)
        assert few == pytest.approx(many, rel=1e-15)
        information = [
            group_information(r.given(columns), r.seen(columns)) for r in (dense, sparse)
        ]
        np.testing.assert_allclose(*information, atol=1e-12)


def test_rows_are_grouped_by_class_and_joint_value():
    sparse = many_values(made(60, [2, 3, 2], 3, gaps=0.1))
    rows = sparse.coded().given((0, 2))
    keys = [
        (c, row[0], row[2])
        for c, row in zip(sparse.classes, sparse.rows, strict=True)
        if row[0] is not None and row[2] is not None
    ]
    numbers = sorted(set(keys))
    assert rows.classes.tolist() == [numbers.index(key) for key in keys]
    assert rows.n_classes == len(numbers)


def test_what_cannot_be_counted_or_added_is_named():
    with pytest.raises(ValueError, match="pairs='some'; it must be 'all' or None"):
        unnaive.count([["a"]], ["x"], pairs="some")
    with pytest.raises(ValueError, match="zero"):  # new scikit-learn refuses it in its own words
        unnaive.count([["a"], ["b"]], ["x", "y"], sample_weight=[0.0, 0.0])
    with pytest.raises(UnnaiveError, match=r"sample_weight is -1\.0 in row 1"):
        unnaive.count([["a"], ["b"]], ["x", "y"], sample_weight=[1.0, -1.0])
    rows = made(9, [2, 3, 2], 2).coded()
    counts = rows.count()
    for gamma in (0, 1.5, float("nan")):
        with pytest.raises(ValueError, match=f"gamma={gamma}; it must be above 0 and at most 1"):
            counts.decay(gamma)
    held = replace(counts, families=tuple(rows.count_families([(0, 1, 2)])))
    with pytest.raises(SchemaMismatch, match="1 families of columns are held here, other 0 there"):
        held + counts
