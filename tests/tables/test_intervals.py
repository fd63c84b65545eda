"""Interval estimation naive Bayes, Mathematics 9.3 and 15.4: slow twins, worked number, threads."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_search as slow
import weather
from problems import HOSTILE, Problem, made, problems
from unnaive import ML, BDeu, Laplace, MEstimate, NaiveBayes
from unnaive._core.intervals import project
from unnaive.tables.intervals import (
    IntervalFitness,
    Intervals,
    interval_bounds,
    interval_joint,
)

TWIN = {"centred": "centred", "linear": "unit", "absolute": "absolute"}
SMALL = ["one row", "one class", "one value", "all missing", "40 classes", "d = 1", "n < d"]
SMALL = [HOSTILE[name] for name in [*SMALL, "fewer rows than a word, a class absent"]]
WEATHER = Problem(weather.ROWS, weather.CLASSES, 2, weather.VALUES)
decodings = st.fixed_dictionaries(
    {
        "encoding": st.sampled_from(sorted(TWIN)),
        "repair": st.sampled_from(["project", "normalise"]),
        "z": st.sampled_from([0.0, 0.3, 1.96, 1000.0]),
        "alpha": st.sampled_from([0.0, 0.5, 1.0]),
    }
)


@st.composite
def grouped(draw, **options):
    """Give a problem of few values and groups of its columns, up to three in one."""
    problem = draw(problems(max_rows=12, max_columns=4, sizes=(1, 2, 3), **options))
    if problem.weights is not None:  # those above 1 are many rows, see test_heavy_rows
        problem = replace(problem, weights=[min(weight, 1.0) for weight in problem.weights])
    return problem, draw_groups(problem, draw(st.integers(0, 2**32 - 1)))


def draw_groups(problem, seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, len(problem.values) + 1, len(problem.values))
    return [group for group in slow.groups_of(labels.tolist()) if len(group) <= 3]


def intervals_of(problem, groups=None, **options):
    coded = problem.coded()
    return Intervals.of(
        coded.codes,
        coded.classes,
        coded.weights,
        problem.values,
        problem.k,
        groups=groups,
        **options,
    )


def fitness_of(intervals, problem, **options):
    coded = problem.coded()
    return IntervalFitness(intervals, coded.codes, coded.classes, coded.weights, **options)


def twin_options(decoding):
    return {**decoding, "encoding": TWIN[decoding["encoding"]], "layout": "class"}


def data_of(problem):
    return problem.rows, problem.classes, problem.values, problem.k


def left_out_joint(intervals, genome, problem, n_jobs=None):
    """Log joint of every row without it, rows of one weight at a time."""
    coded = problem.coded()
    weights = np.array(problem.weights or [1.0] * len(problem.rows))
    found = np.empty((len(weights), problem.k))
    for weight in np.unique(weights):
        some = weights == weight
        held, codes = coded.classes[some], coded.codes[:, some]
        found[some] = interval_joint(intervals, genome, codes, held, n_jobs, held_out=weight)
    return found


def random_genome(intervals, seed):
    """Genes of every kind: inside, on the ends, in the middle; not all zero."""
    random = np.random.default_rng(seed)
    genes = random.random(intervals.size)
    ends = random.choice([0.0, 0.5, 1.0, np.nan], intervals.size, p=[0.15, 0.15, 0.15, 0.55])
    return np.where(np.isnan(ends), genes, ends)


def close(got, expected, tolerance=1e-9):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


def test_worked_interval():
    _, low, high = interval_bounds([2, 4, 3], clip=False)
    assert (round(low[0], 4), round(high[0], 4)) == (-0.0329, 0.5329)
    point, low, high = interval_bounds([2, 4, 3])
    assert (point[0], low[0]) == (0.25, 1e-6)
    assert high[0] == pytest.approx(0.25 + 1.96 * math.sqrt(0.25 * 0.75 / 9))
    table = intervals_of(WEATHER).tables[0]
    assert table[0].tolist() == [2.0, 4.0, 3.0]


def test_a_class_without_rows_has_wide_intervals():
    point, low, high = interval_bounds(np.zeros((2, 4)))
    assert (point == 0.25).all()
    assert (low == 1e-6).all()
    assert (high == 1 - 1e-6).all()
    _, low, high = interval_bounds(np.zeros(4), z=0)
    assert (low == 0.25).all()
    assert (high == 0.25).all()


@given(
    st.lists(st.floats(0, 50), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.5, 1.96, 50.0]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
def test_bounds_are_the_twins(counts, z, alpha, clip):
    expected = slow.interval_bounds(counts, z, alpha, clip)
    for got, wanted in zip(interval_bounds(counts, z, alpha, clip=clip), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-15)


@settings(max_examples=300)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-9, 0.05, 1.0, 30.0]))
def test_projection_is_exact(n_values, seed, width):
    random = np.random.default_rng(seed)
    inside = random.dirichlet(np.full(n_values, 0.5))
    low = inside - width * random.random(n_values) * random.integers(0, 2, n_values)
    high = inside + width * random.random(n_values) * random.integers(0, 2, n_values)
    values = random.choice([0.0, 0.3, 1.0], n_values) + random.random() * random.random(n_values)
    out = np.empty(n_values)
    project(np.stack([values, low, high]), out)
    assert abs(math.fsum(out) - 1) < 1e-12
    assert (out >= low).all()
    assert (out <= high).all()
    close(out, slow.project_to_box_simplex(values.tolist(), low.tolist(), high.tolist()), 1e-11)


@settings(max_examples=120)
@given(grouped(weighted=True), decodings, st.integers(0, 2**32 - 1))
def test_decoding_is_the_twins(case, decoding, seed):
    problem, groups = case
    intervals = intervals_of(problem, groups, **decoding)
    genome = random_genome(intervals, seed)
    genome[genome == 0] = 0.25  # the twin divides by a sum of nothing but zeros
    prior, tables = intervals.decode(genome)
    expected = slow.ienb_tables(
        genome.tolist(),
        *data_of(problem),
        groups,
        weights=problem.weights,
        **twin_options(decoding),
    )
    close(prior, expected[0])
    for table, wanted in zip(tables, expected[1], strict=True):
        close(table, wanted)
    for line in [prior, *(line for table in tables for line in table)]:
        assert abs(line.sum() - 1) < 1e-12


@settings(max_examples=100)
@given(problems(weighted=True), st.sampled_from(sorted(TWIN)), st.integers(0, 2**32 - 1))
def test_projected_distributions_stay_in_their_boxes(problem, encoding, seed):
    intervals = intervals_of(problem, encoding=encoding)
    prior, tables = intervals.decode(random_genome(intervals, seed))
    everything = zip([intervals.class_counts, *intervals.tables], [prior, *tables], strict=True)
    for counts, found in everything:
        _, low, high = interval_bounds(counts)
        assert (found >= low).all()
        assert (found <= high).all()
        assert (np.abs(found.sum(axis=-1) - 1) < 1e-12).all()


@settings(max_examples=100)
@given(grouped(weighted=True), decodings, st.integers(0, 2**32 - 1))
def test_leave_one_out_is_the_twins(case, decoding, seed):
    check_leave_one_out(*case, decoding, seed)


@pytest.mark.parametrize("problem", SMALL)
@pytest.mark.parametrize("encoding", sorted(TWIN))
def test_leave_one_out_of_hostile_shapes_is_the_twins(problem, encoding):
    if len(problem.rows) > 20:  # the twin refits for every row
        problem = Problem(problem.rows[:20], problem.classes[:20], problem.k, problem.values)
    decoding = {"encoding": encoding, "repair": "project", "z": 1.96, "alpha": 1.0}
    check_leave_one_out(problem, slow.singletons(problem.values), decoding, 0)


def check_leave_one_out(problem, groups, decoding, seed):
    intervals = intervals_of(problem, groups, **decoding)
    genome = random_genome(intervals, seed)
    genome[genome == 0] = 0.25
    predictions, joints = slow.ienb_leave_one_out(
        genome.tolist(), *data_of(problem), groups, problem.weights, **twin_options(decoding)
    )
    got = left_out_joint(intervals, genome, problem)
    close(got, joints, 1e-8)
    if clear(joints):
        weights = problem.weights or [1] * len(predictions)
        expected = slow.n_correct(predictions, problem.classes, weights) / sum(weights)
        assert fitness_of(intervals, problem)(genome[None])[0] == pytest.approx(expected)


def clear(joints):
    """Whether no class is so near to the best of its row that rounding decides."""
    logs = np.maximum(np.array(joints), -1e6)
    below = logs.max(axis=1, keepdims=True) - logs
    return not ((below > 1e-13) & (below < 1e-6)).any()


@settings(max_examples=60)
@given(grouped(weighted=True), decodings, st.integers(0, 2**32 - 1))
def test_resubstitution_is_the_twins(case, decoding, seed):
    problem, groups = case
    decoding = {**decoding, "alpha": 0.5}  # the twin has no answer where no class has a chance
    intervals = intervals_of(problem, groups, **decoding)
    genome = np.maximum(random_genome(intervals, seed), 0.1)
    data = (*data_of(problem), groups, problem.weights)
    predictions, joints = slow.ienb_resubstitution(genome.tolist(), *data, **twin_options(decoding))
    close(interval_joint(intervals, genome, problem.coded().codes), joints, 1e-8)
    close(interval_joint(intervals, genome, problem.coded().codes, problem.classes), joints, 1e-8)
    if clear(joints):
        expected = slow.n_correct(predictions, problem.classes, problem.weights)
        got = fitness_of(intervals, problem, kind="resubstitution")(genome[None])[0]
        assert got == pytest.approx(expected / sum(problem.weights))


@settings(max_examples=80)
@given(grouped(weighted=True), st.sampled_from(["project", "normalise"]))
def test_point_genome_is_naive_bayes(case, repair):
    """For any row that is left out; the linear encoding has no such genome."""
    problem, groups = case
    intervals = intervals_of(problem, groups, repair=repair)
    assert (intervals.point == 0.5).all()
    predictions, joints = slow.grouped_leave_one_out(
        *data_of(problem), groups, partial="marginal", weights=problem.weights
    )
    close(left_out_joint(intervals, intervals.point, problem), joints, 1e-10)
    if clear(joints):
        expected = slow.n_correct(predictions, problem.classes, problem.weights)
        got = fitness_of(intervals, problem)(intervals.point[None])[0]
        assert got == pytest.approx(expected / sum(problem.weights))


@settings(max_examples=60)
@given(problems(weighted=True), st.sampled_from(sorted(TWIN)), st.integers(0, 2**32 - 1))
def test_no_width_is_naive_bayes_exactly(problem, encoding, seed):
    intervals = intervals_of(problem, z=0, encoding=encoding)
    prior, tables = intervals.decode(random_genome(intervals, seed))
    for counts, found in zip(
        [intervals.class_counts, *intervals.tables], [prior, *tables], strict=True
    ):
        total = counts.sum(axis=-1, keepdims=True) + counts.shape[-1]
        np.testing.assert_allclose(found, (counts + 1) / total, rtol=4e-16)


@settings(max_examples=60)
@given(grouped(weighted=True), st.sampled_from(["linear", "absolute"]))
def test_point_genome_of_other_encodings(case, encoding):
    problem, groups = case
    intervals = intervals_of(problem, groups, encoding=encoding)
    if encoding == "linear":
        expected = slow.point_genome(
            *data_of(problem), groups, layout="class", weights=problem.weights
        )
        np.testing.assert_allclose(intervals.point, expected, rtol=1e-12)
    prior, tables = intervals.decode(intervals.point)
    close(prior, interval_bounds(intervals.class_counts)[0], 1e-12)
    for counts, table in zip(intervals.tables, tables, strict=True):
        close(table, interval_bounds(counts)[0], 1e-12)


def test_weather():
    """Mathematics 9.1: naive Bayes has 7 of 14, {outlook × temperature, humidity, windy} has 8."""
    for groups, right in [
        (None, 7),
        ([(0, 1), (2,), (3,)], 8),
        ([(0, 2), (3,)], 11),
        ([], 9),
    ]:
        intervals = intervals_of(WEATHER, groups)
        assert fitness_of(intervals, WEATHER)(intervals.point[None])[0] == right / 14
    intervals = intervals_of(WEATHER)
    right = fitness_of(intervals, WEATHER, kind="resubstitution")(intervals.point[None])[0]
    assert right == 13 / 14


def test_tables_without_a_row():
    problem = made(60, [3, 4], 3, gaps=0.1)
    intervals = intervals_of(problem)
    genome = random_genome(intervals, 1)
    left = intervals.left_out(genome)
    genes, parts = slow.split_genome(genome.tolist(), problem.values, 3, [(0,), (1,)], "class")
    for c in range(3):
        others = intervals.class_counts - (np.arange(3) == c)
        close(left.prior[c], slow.ienb_decode(genes, others.tolist(), encoding="centred"))
        for counts, part, own in zip(intervals.tables, parts, left.own, strict=True):
            for x in range(counts.shape[1]):
                others = counts[c] - (np.arange(counts.shape[1]) == x)
                expected = slow.ienb_decode(part[c], others.tolist(), encoding="centred")[x]
                assert own[c, x] == pytest.approx(expected, abs=1e-12)


@pytest.mark.long
def test_own_cells_of_wide_tables():
    """A table of hundreds of cells, most of them empty, every genome its own order of edges."""
    random = np.random.default_rng(3)
    counts = random.poisson(0.4, 300).astype(float)
    counts[:3] = [40.0, 7.0, 0.0]
    intervals = Intervals.from_counts([counts.sum()], [counts[None]])
    for encoding in ("centred", "linear"):
        intervals = Intervals.from_counts([counts.sum()], [counts[None]], encoding=encoding)
        genome = random.random(301) ** 3
        own = intervals.left_out(genome).own[0][0]
        for x in [0, 1, 2, *random.choice(300, 10)]:
            others = np.maximum(counts - (np.arange(300) == x), 0)
            if counts[x] == 0:
                others = counts
            expected = slow.ienb_decode(genome[1:], others.tolist(), encoding=TWIN[encoding])[x]
            assert own[x] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_same_bits_for_any_number_of_threads(n_jobs):
    problem = made(300, [3, 4, 2, 5], 5, gaps=0.1)
    intervals = intervals_of(problem, [(0, 2), (1,), (3,)])
    genomes = np.random.default_rng(0).random((23, intervals.size))
    one, more = (fitness_of(intervals, problem, n_jobs=n)(genomes) for n in (1, n_jobs))
    assert one.tobytes() == more.tobytes()
    one, more = (left_out_joint(intervals, genomes[0], problem, n) for n in (1, n_jobs))
    assert one.tobytes() == more.tobytes()


def test_blocks_and_order_of_rows_do_not_matter():
    problem = made(9000, [3, 4], 3, gaps=0.1)
    intervals, coded = intervals_of(problem, [(0, 1)]), problem.coded()
    genome = random_genome(intervals, 0)
    joint = left_out_joint(intervals, genome, problem)
    best = np.argmax(joint >= joint.max(axis=1, keepdims=True) - 1e-10, axis=1)
    expected = np.mean(best == coded.classes)
    assert fitness_of(intervals, problem)(genome[None])[0] == pytest.approx(expected, abs=1e-15)
    rows = np.random.default_rng(0).permutation(9000)
    own = coded.classes[rows]
    own[::2] = -1
    mixed = interval_joint(intervals, genome, coded.codes[:, rows], own, held_out=1.0)
    np.testing.assert_array_equal(mixed[1::2], joint[rows[1::2]])
    new = interval_joint(intervals, genome, coded.codes[:, rows[::2]])
    np.testing.assert_array_equal(mixed[::2], new)
    for options in ({"held_out": 1.0}, {"held": own[::2]}, {"held": coded.classes[rows[::2]]}):
        same = interval_joint(intervals, genome, coded.codes[:, rows[::2]], **options)
        np.testing.assert_array_equal(same, new)


@pytest.mark.parametrize("seed", range(5))
def test_of_classes_that_tie_the_lowest_is_predicted(seed):
    """The same factors in another order: equal but for rounding."""
    counts = np.random.default_rng(seed).integers(1, 30, 40)
    tables = [[[a, 30 - a], [b, 30 - b]] for a, b in zip(counts, counts[::-1], strict=True)]
    intervals = Intervals.from_counts([30, 30], tables)
    codes, classes = np.zeros((40, 2), dtype=np.uint8), np.array([0, 1])
    fitness = IntervalFitness(intervals, codes, classes, np.array([1, 2]), kind="resubstitution")
    assert fitness(intervals.point[None]) == pytest.approx([1 / 3])


def test_rows_without_weight_do_not_count():
    problem = made(30, [3, 2], 2, gaps=0.1)
    coded, weights = problem.coded(), np.array([0.0, 1.5] * 15)
    whole = Intervals.of(coded.codes, coded.classes, weights, problem.values, 2)
    some = weights > 0
    half = Intervals.of(coded.codes[:, some], coded.classes[some], None, problem.values, 2)
    assert whole.tables[0].tolist() == (1.5 * half.tables[0]).tolist()
    genomes = np.random.default_rng(0).random((5, whole.size))
    everyone = IntervalFitness(whole, coded.codes, coded.classes, weights)
    weighed = IntervalFitness(whole, coded.codes[:, some], coded.classes[some], weights[some])
    assert everyone(genomes).tolist() == weighed(genomes).tolist()


def test_column_of_no_values_says_nothing():
    codes, classes = np.array([[0, 0, 0], [0, 1, 1]], dtype=np.uint8), np.array([0, 1, 1])
    for groups in ([(0,), (1,)], [(0, 1)], [(0,)]):
        intervals = Intervals.of(codes, classes, None, [0, 2], 2, groups=groups)
        joint = interval_joint(intervals, intervals.point, codes[:, :1], classes[:1], held_out=1.0)
        expected = [0.25, 0.75]
        if (1,) in groups:
            expected = [0.25 * 0.5, 0.75 * 0.25]
        close(np.exp(joint[0]), expected)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"encoding": "unit"}, "encoding='unit'; it must be one of 'centred', 'linear'"),
        ({"repair": "clip"}, "repair='clip'"),
        ({"z": -1.0}, "z=-1.0; it must be a number ≥ 0"),
        ({"alpha": math.nan}, "alpha=nan"),
    ],
)
def test_bad_settings(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        intervals_of(WEATHER, **options)


def test_bad_genomes_and_rows():
    intervals, coded = intervals_of(WEATHER), WEATHER.coded()
    with pytest.raises(ValueError, match="22 genes"):
        intervals.decode(np.zeros(21))
    with pytest.raises(ValueError, match="22 genes"):
        fitness_of(intervals, WEATHER)(np.zeros(22))
    with pytest.raises(ValueError, match="kind='cv'"):
        fitness_of(intervals, WEATHER, kind="cv")
    with pytest.raises(ValueError, match="no row has any weight"):
        IntervalFitness(intervals, coded.codes, coded.classes, np.zeros(14))


@given(grouped(), st.integers(0, 2**31))
@settings(max_examples=30)
def test_heavy_rows(case, seed):
    """A row of weight 3 is three rows, of which one is left out."""
    problem, groups = case
    random = np.random.default_rng(seed)
    times = random.integers(1, 4, len(problem.rows))
    heavy = replace(problem, weights=times.astype(float).tolist())
    many = replace(
        problem,
        rows=[row for row, n in zip(problem.rows, times, strict=True) for _ in range(n)],
        classes=np.repeat(problem.classes, times).tolist(),
    )
    intervals = intervals_of(heavy, groups)
    genomes = random.random((3, intervals.size))
    expected = fitness_of(intervals_of(many, groups), many)(genomes)
    np.testing.assert_allclose(fitness_of(intervals, heavy)(genomes), expected, atol=1e-12)


@pytest.mark.parametrize("policy", [MEstimate(1.0), BDeu(1.0), Laplace(0.5), ML()])
def test_other_smoothing(policy):
    """Without width the intervals are naive Bayes' estimates, whatever the smoothing."""
    problem = HOSTILE["n < d"]
    nb = NaiveBayes(smoothing=policy).fit_counts(problem.coded().count(np.empty((0, 2), int)))
    each, shared = policy.shares(1)
    pseudo = {"alpha": each, "shared": (shared, policy.shares(problem.k)[1])}
    intervals = intervals_of(problem, z=0.0, **pseudo)
    found = interval_joint(intervals, intervals.point, problem.coded().codes)
    np.testing.assert_allclose(found, nb.predict_joint_log_proba(problem.X), atol=1e-12)
