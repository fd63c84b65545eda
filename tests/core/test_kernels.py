"""The compiled kernels give one result on all processors and refuse wrong indices."""

import numpy as np
import pytest

from unnaive import _core
from unnaive._core import (
    balance,
    buckets,
    coding,
    counting,
    discretize,
    information,
    intervals,
    screening,
    weighting,
)
from unnaive.structure import balanced

CODES = (np.uint8, np.uint16, np.uint32)
zeros = np.zeros


def whole(*numbers):
    return np.array(numbers, dtype=np.int64)


@pytest.fixture
def levels():
    """Use each instruction set of the processor, the best last, then restore it."""
    yield range(_core.level() + 1)
    _core.set_level(-1)


def additions(dtype, weighted):
    """Score candidates of several widths with missing values in 5000 rows."""
    rng = np.random.default_rng(3)
    sizes = np.array([2, 3, 1, 17, 40, 5])
    codes = np.stack([rng.integers(0, size + 1, 5000) for size in sizes]).astype(dtype)
    groups = rng.integers(0, 13, 5000).astype(np.uint32)
    out = np.empty((6, 2))
    counts = np.arange(1, 1 if weighted else 5001)
    information.score_additions(
        codes,
        np.arange(6),
        np.stack([sizes, sizes + 1], axis=1),
        groups,
        (3, 4),
        rng.random(5000) if weighted else np.empty(0),
        np.append(0.0, counts * np.log(counts)),
        zeros((6, 3)),
        out,
    )
    return out


def curve():
    """Compute loss, gradient and spread of 403 rows of four classes."""
    rng = np.random.default_rng(3)
    entries = rng.normal(size=(5, 4, 410)).astype(np.float32)
    gradient, spread = zeros(9), np.empty((9, 3, 403), dtype=np.float32)
    rows = (rng.random(5), rng.normal(size=4), rng.integers(0, 4, 410), rng.random(410), 3, 406)
    loss = weighting.curve_rows(entries, *rows, np.arange(9), gradient, spread)
    assert loss == weighting.loss_rows(entries, *rows)
    return np.concatenate([[loss], gradient, spread.ravel()])


@pytest.mark.parametrize("dtype", CODES)
@pytest.mark.parametrize("weighted", [False, True])
def test_all_levels_score_alike(dtype, weighted, levels):
    found = []
    for level in levels:
        _core.set_level(level)
        found.append(additions(dtype, weighted))
    assert all(np.array_equal(found[0], other) for other in found)


def test_all_levels_curve_alike(levels):
    found = []
    for level in levels:
        _core.set_level(level)
        found.append(curve())
    assert all(np.array_equal(found[0], other) for other in found)


PAIRS = {
    "tables": zeros((2, 6)),
    "pairs": np.array([[0, 1]]),
    "starts": whole(0, 6),
    "sizes": whole(2, 3),
    "guard": 0.0,
    "out": zeros(1),
}
ADDITIONS = {
    "codes": zeros((3, 50), np.uint8),
    "candidates": whole(0, 2, 1),
    "extents": np.full((3, 2), 2),
    "groups": zeros(50, np.uint32),
    "shape": (2, 2),
    "weights": zeros(0),
    "logs": zeros(51),
    "settings": zeros((3, 3)),
    "out": zeros((3, 2)),
}
BOTH_WAYS = {
    "tables": zeros(6, np.int64),
    "pairs": np.array([[0, 1]]),
    "starts": whole(0, 6),
    "sizes": whole(2, 3),
    "logs": zeros(10),
    "settings": zeros((1, 2, 3)),
    "out": zeros((1, 2, 2)),
}
SUMS = {
    "places": zeros((2, 8), np.int64),
    "tables": zeros((4, 5)),
    "held": np.full(8, -1),
    "out": zeros((8, 2)),
}
CURVE = {
    "entries": zeros((3, 2, 9), np.float32),
    "weights": zeros(3),
    "prior": zeros(2),
    "classes": zeros(9, np.int64),
    "importance": np.ones(9),
    "start": 1,
    "stop": 9,
    "places": np.arange(5),
    "gradient": zeros(5),
    "spread": zeros((6, 1, 8), np.float32),
}
SCREEN = {
    "codes": zeros((2, 9), np.uint8),
    "sizes": whole(0, 3),
    "families": np.array([[0, 1, -1], [1, -1, -1]]),
    "classes": zeros(9, np.int64),
    "importance": np.ones(9),
    "chances": np.full((9, 4), 0.25),
    "most": 100,
    "gains": zeros(2),
    "variances": zeros(2),
}
SPLIT = {
    "codes": whole(0, 1, 0, 1),
    "weights": np.ones(4),
    "ends": zeros(4, np.int64),
    "table": zeros(5),
    "scratch": zeros((3, 2)),
    "first": 0,
    "last": 4,
    "candidates": 3.0,
}
COLLAPSE = {
    "values": zeros(4),
    "codes": whole(0, 1, 0, 1),
    "weights": np.ones(4),
    "ends": zeros(4, np.int64),
    "latest": whole(-1, -1),
}
HALVE = {
    "cuts": zeros(5, np.int64),
    "number": 1,
    "ranks": np.arange(9.0),
    "total": 9.0,
    "few": 6,
    "least": 1,
}
FIND = {
    "values": np.arange(6.0),
    "shifts": zeros(buckets.BINADES, np.uint8),
    "index": np.full(8, -1, np.int32),
    "keys": zeros(4, np.uint64),
    "size": 0,
    "rows": zeros(6, np.int32),
}
ADD = {
    "values": zeros(2),
    "rows": zeros(2, np.int32),
    "classes": zeros(2, np.int64),
    "weights": zeros(2),
    "ends": zeros((3, 2)),
    "counts": zeros((3, 2)),
}
RULE = (1.64, 1.0, intervals.CENTRED, intervals.PROJECT, 0.0)


def setting(*starts):
    return np.ones(2), np.ones((2, 3)), whole(*starts), RULE, RULE


LEFT_OUT = {
    "genome": np.full(8, 0.5),
    "weight": 1.0,
    "setting": setting(0, 2, 3),
    "prior": zeros((2, 2)),
    "own": zeros((2, 3)),
}
WRONG = [
    (intervals.fill_left_out, LEFT_OUT, {"setting": setting(1, 2, 3)}),
    (intervals.fill_left_out, LEFT_OUT, {"setting": setting(0, 2, 2)}),
    (information.conditional_information, PAIRS, {"pairs": np.array([[0, 2]])}),
    (information.conditional_information, PAIRS, {"starts": whole(0, 7)}),
    (information.conditional_information, PAIRS, {"starts": whole(-1, 5)}),
    (information.conditional_information, PAIRS, {"sizes": whole(-2, -3)}),
    (information.conditional_information, PAIRS, {"sizes": whole(2, 2**62)}),
    (information.score_additions, ADDITIONS, {"codes": np.full((3, 50), 2, np.uint8)}),
    (information.score_additions, ADDITIONS, {"groups": np.full(50, 5, np.uint32)}),
    (information.score_additions, ADDITIONS, {"candidates": whole(0, 3, 1)}),
    (information.score_additions, ADDITIONS, {"extents": np.full((3, 2), 2**40)}),
    (information.score_additions, ADDITIONS, {"shape": (2**31, 2**31)}),
    (information.score_additions, ADDITIONS, {"logs": zeros(50)}),
    (
        information.score_additions,
        ADDITIONS,
        {"weights": np.ones(50), "codes": np.full((3, 50), 2, np.uint8)},
    ),
    (information.score_both_ways, BOTH_WAYS, {"tables": np.full(6, 9)}),
    (information.score_both_ways, BOTH_WAYS, {"tables": np.full(6, -1)}),
    (weighting.sum_terms, SUMS, {"places": np.full((2, 8), -1)}),
    (weighting.sum_terms, SUMS, {"places": np.full((2, 8), 5)}),
    (weighting.sum_terms, SUMS, {"held": np.full(8, 2)}),
    (weighting.sum_terms, SUMS, {"held": zeros(8, np.int64), "tables": zeros((3, 5))}),
    (weighting.curve_rows, CURVE, {"classes": np.full(9, 2)}),
    (weighting.curve_rows, CURVE, {"stop": 10}),
    (weighting.curve_rows, CURVE, {"places": np.arange(5) + 2}),
    (weighting.curve_rows, CURVE, {"spread": zeros((6, 1, 7), np.float32)}),
    (screening.score_families, SCREEN, {"sizes": whole(0, 1 << 62)}),  # overflows to few sums
    (screening.score_families, SCREEN, {"sizes": whole(0, -1)}),
    (screening.score_families, SCREEN, {"families": np.array([[2, -1, -1], [1, -1, -1]])}),
    (screening.score_families, SCREEN, {"classes": np.full(9, 4)}),
    (screening.score_families, SCREEN, {"chances": zeros((8, 4))}),
    (discretize.best_split, SPLIT, {"codes": whole(0, 2, 0, 1)}),
    (discretize.best_split, SPLIT, {"last": 5}),
    (discretize.collapse, COLLAPSE, {"codes": whole(0, -1, 0, 1)}),
    (discretize.collapse, COLLAPSE, {"latest": whole(-1, 7)}),
    (discretize.halve, HALVE, {"cuts": whole(9, 0, 0, 0, 0)}),
    (discretize.halve, HALVE, {"few": 7}),
    (buckets.find_buckets, FIND, {"index": np.full(8, 7, np.int32)}),
    (buckets.find_buckets, FIND, {"index": zeros(8, np.int32), "size": 1}),
    (buckets.find_buckets, FIND, {"index": np.full(6, -1, np.int32)}),
    (buckets.find_buckets, FIND, {"shifts": np.full(buckets.BINADES, 64, np.uint8)}),
    (buckets.add_rows, ADD, {"rows": np.full(2, 3, np.int32)}),
    (buckets.add_rows, ADD, {"classes": np.full(2, -1)}),
]


@pytest.mark.parametrize("n_edges", [0, 1, 2, 3, 24, 25, 26, 31, 32, 33, 63, 64, 254])
def test_bins_are_the_edges_below_on_all_levels(n_edges, levels):
    rng = np.random.default_rng(n_edges)
    edges = np.unique(rng.integers(-900, 900, 4 * n_edges) / 8)[:n_edges].astype(float)
    values = np.concatenate([edges, rng.normal(0, 60, 197), [np.nan, -0.0, 1e300, -1e300]])
    wanted = np.searchsorted(edges, values)
    wanted[np.isnan(values)] = len(edges) + 1
    for dtype in CODES[n_edges > 253 :]:
        for level in levels:
            _core.set_level(level)
            codes = zeros((1, len(values)), dtype)
            spans = whole(0, len(edges))
            assert coding.look_up_floats(values[:, None], edges, spans, codes, 0) == -1
            np.testing.assert_array_equal(codes[0], wanted)
    values[[70, 200 % len(values)]] = -np.inf, np.inf
    assert coding.look_up_floats(values[:, None], edges, spans, codes, 0) == 0


@pytest.mark.parametrize(("kernel", "right", "wrong"), WRONG)
def test_wrong_numbers_are_refused(kernel, right, wrong):
    def copied(arguments):
        both = arguments.items()
        return {key: one.copy() if isinstance(one, np.ndarray) else one for key, one in both}

    kernel(**copied(right))
    with pytest.raises(IndexError, match=kernel.__name__):
        kernel(**copied(right | wrong))


def test_wrong_types_are_refused():
    with pytest.raises(TypeError):
        information.conditional_information(**PAIRS | {"tables": zeros((2, 6), np.float32)})
    with pytest.raises(TypeError):
        information.score_additions(**ADDITIONS | {"codes": zeros((50, 3), np.uint8).T})


def test_a_full_table_of_slots_is_refused():
    with pytest.raises(IndexError, match="not empty"):
        buckets.fill_index(zeros(3, np.uint64), zeros(8, np.int32))


def test_search_refuses_what_does_not_fit(monkeypatch):
    calls = []

    def recorded(*arguments):
        calls.append(arguments)
        return balance.search(*arguments)

    monkeypatch.setattr(balanced, "search", recorded)
    balanced.balanced_sets(np.random.default_rng(0).normal(size=(2, 22)), [5])
    problem, tail, size, guide, limits, path = calls[0]
    for wrong in (
        (problem, tail, 6, guide, limits, path),
        (problem, tail, size, guide + 1, limits, path),
        (problem, tail, size, guide, limits, path[:2]),
        (problem, (*tail[:2], tail[2] + 9999, tail[3]), size, guide, limits, path),
        ((problem[0][:9], *problem[1:]), tail, size, guide, limits, path),
    ):
        with pytest.raises(IndexError, match="search"):
            balance.search(*wrong)


@pytest.mark.parametrize("length", [0, 1, 3, 4, 31, 32, 37, 64, 511, 512, 545, 760, 1048])
def test_words_are_counted_alike_on_all_levels(length, levels):
    rng = np.random.default_rng(length)
    words = rng.integers(0, 2**64, (7, length), dtype=np.uint64)
    layout = np.array([[0, 2, 0, 2], [2, 5, 2, 5]])
    bits = np.array([[int(np.bitwise_count(a & b).sum()) for b in words[2:]] for a in words[:2]])
    for level in levels:
        _core.set_level(level)
        out = zeros((1, 10), dtype=np.int64)
        runs, pair = np.array([0, length]), np.array([[0, 1]])
        counting.count_pairs(
            words, layout, runs, pair, whole(0), zeros((1, 7), dtype=np.int64), out
        )
        np.testing.assert_array_equal(out[0].reshape(2, 5), bits)


@pytest.mark.parametrize("dtype", CODES)
@pytest.mark.parametrize("sizes", [(1, 1), (2, 40), (50, 17), (200, 300), (255, 257)])
def test_rows_without_weights_count_once(dtype, sizes):
    rng, n_rows = np.random.default_rng(5), 1000
    beyond = [min(size + 3, np.iinfo(dtype).max + 1) for size in sizes]  # codes that do not count
    codes = np.stack([rng.integers(0, most, n_rows) for most in beyond]).astype(dtype)
    classes = rng.integers(0, 3, n_rows).astype(np.uint8)
    expected = zeros((3, *sizes), dtype=np.int64)
    for c, a, b in zip(classes, *codes, strict=True):
        if a < sizes[0] and b < sizes[1]:
            expected[c, a, b] += 1
    layout = np.array([[0, 0, 0, sizes[0]], [0, 0, sizes[0], sizes[1]]])
    for weights in (np.empty(0, dtype=np.int64), np.ones(n_rows, dtype=np.int64)):
        out = np.full((3, 2 + sizes[0] * sizes[1]), 7)
        counting.add_pairs(codes, classes, weights, layout, np.array([[0, 1]]), whole(1), out)
        np.testing.assert_array_equal(out[:, 1:-1].reshape(3, *sizes), expected + 7)
        assert (out[:, [0, -1]] == 7).all()
