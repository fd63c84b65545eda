"""Estimation-of-distribution algorithms against slow twins, and in edge cases."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_eda
from unnaive.exceptions import UnnaiveError
from unnaive.information.scores import FamilyScores
from unnaive.search import (
    EBNA,
    EGNA,
    EMNA,
    MIMIC,
    UMDA,
    Box,
    Categories,
    MIMICc,
    UMDAc,
    evaluations,
)
from unnaive.search.climbing import by_tests

DISCRETE = [UMDA, MIMIC, EBNA]
GAUSSIAN = [UMDAc, MIMICc, EGNA, EMNA]
SMALL = {"population": 12, "selected": 6, "offspring": 15, "max_generations": 4}
ALPHAS = [0.0, 0.5, 1.0, 3.0]


@st.composite
def populations(draw, max_genes=5, max_rows=25):
    """Draw sizes, and genomes whose genes depend on each other."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=max_genes))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    space = Categories(sizes)
    genomes = space.uniform(draw(st.integers(1, max_rows)), random)
    copied = random.random(genomes.shape) < 0.6
    return space, np.where(copied, genomes[:, :1] % space.counts, genomes)


@st.composite
def clouds(draw):
    """Draw a box and genomes with correlated genes."""
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    d = draw(st.integers(1, 5))
    rows = random.normal(size=(draw(st.integers(d + 3, 30)), d))
    genomes = rows @ random.normal(size=(d, d)) + random.normal(size=d)
    return Box(genomes.min(axis=0) - 1, genomes.max(axis=0) + 1), genomes


def assert_tables(model, rows, sizes, alpha, unseen):
    """Compare every table with the twin's, contexts as numbers of the parents' values."""
    for gene, found in enumerate(model.conditionals):
        if not found.parents:
            alone = naive_eda.umda(rows, sizes, alpha)[gene]
            assert found.probabilities.tolist() == pytest.approx(np.array([alone]))
            continue
        expected = naive_eda.conditional(rows, sizes, gene, found.parents, alpha)
        number = {}
        for context in expected:
            number[context] = 0
            for parent, value in zip(found.parents, context, strict=True):
                number[context] = number[context] * sizes[parent] + value
        ordered = sorted(expected, key=number.get)
        assert found.contexts.tolist() == [number[context] for context in ordered]
        tables = [expected[context] for context in ordered] + [unseen(gene)]
        assert found.probabilities == pytest.approx(np.array(tables))


@given(populations(), st.sampled_from(ALPHAS), st.sampled_from([0.0, 0.05, 0.2]))
@settings(max_examples=60)
def test_umda_is_the_twin(population, alpha, p_min):
    space, genomes = population
    found = UMDA(alpha=alpha, p_min=p_min).model_of(genomes, space)
    expected = naive_eda.umda(genomes.tolist(), space.sizes, alpha)
    for table, slow in zip(found.probabilities, expected, strict=True):
        assert table[0] == pytest.approx(naive_eda.floored(slow, p_min))
        assert table.min() >= p_min - 1e-15
        assert table.sum() == pytest.approx(1.0)


@given(populations(), st.sampled_from(ALPHAS))
@settings(max_examples=60)
def test_mimic_is_the_twin(population, alpha):
    space, genomes = population
    rows = genomes.tolist()
    model = MIMIC(alpha=alpha).model_of(genomes, space)
    assert list(model.order) == naive_eda.mimic_chain(rows, space.n_genes)
    for before, gene in zip(model.order, model.order[1:], strict=False):
        assert model.parents[gene] == (before,)
    alone = naive_eda.umda(rows, space.sizes, alpha)
    assert_tables(model, rows, space.sizes, alpha, alone.__getitem__)


@given(populations(), st.integers(0, 3))
@settings(max_examples=40)
def test_the_first_ebna_is_the_twin(population, max_parents):
    space, genomes = population
    rows = genomes.tolist()
    model = EBNA(max_parents=max_parents).model_of(genomes, space)
    assert list(model.parents) == naive_eda.algorithm_b(rows, space.sizes, max_parents)
    assert_tables(
        model, rows, space.sizes, 1.0, lambda gene: [1 / space.sizes[gene]] * space.sizes[gene]
    )


@given(populations(max_rows=60), st.integers(0, 3), st.sampled_from([0.01, 0.05, 0.3]))
@settings(max_examples=60)
def test_ebna_by_pc_is_the_twin(population, max_parents, significance):
    space, genomes = population
    rows = genomes.tolist()
    algorithm = EBNA(score="pc", max_parents=max_parents, significance=significance)
    model = algorithm.model_of(genomes, space)
    twin = naive_eda.PC(rows, space.sizes, significance)
    graph, separators = twin.skeleton(max_parents)
    found = by_tests(genomes.T, space.counts, significance, max_parents)
    assert model.parents == found
    joined = {frozenset((above, gene)) for gene, parents in enumerate(found) for above in parents}
    assert joined <= graph
    assert naive_eda.acyclic(found)
    crowded = {gene for gene, parents in enumerate(found) if len(parents) == max_parents}
    assert all(pair & crowded for pair in graph - joined)  # arcs are dropped from these alone
    if joined == graph and twin.consistent(graph, separators):
        assert twin.colliders_of(found) == twin.colliders(graph, separators)
    assert_tables(
        model, rows, space.sizes, 1.0, lambda gene: [1 / space.sizes[gene]] * space.sizes[gene]
    )


@given(populations(), st.integers(0, 10_000))
@settings(max_examples=25)
def test_the_next_ebna_climbs_to_a_peak(population, seed):
    space, genomes = population
    later = genomes[np.random.default_rng(seed).integers(len(genomes), size=30)]
    algorithm = EBNA(max_parents=2)
    first = algorithm.model_of(genomes, space)
    scores = FamilyScores(np.ascontiguousarray(later.T.astype(np.uint8)), space.counts)
    parents = algorithm.model_of(later, space, first).parents
    total = scores.total(parents)
    assert total >= scores.total(first.parents)
    for other in naive_eda.neighbours(parents, 2):
        assert scores.total(other) <= total + 1e-8
    slow = sum(naive_eda.bic(later.tolist(), space.sizes, i, p) for i, p in enumerate(parents))
    assert total == pytest.approx(slow)


@given(clouds())
@settings(max_examples=40)
def test_gaussian_parameters_are_the_twins(cloud):
    space, genomes = cloud
    rows = genomes.tolist()
    for algorithm in (
        UMDAc(),
        MIMICc(),
        EGNA(),
        EGNA(score="bic", max_parents=1),
        EMNA(sigma_min=0),
    ):
        model = algorithm.model_of(genomes, space)
        assert model.means == pytest.approx(genomes.mean(axis=0))
        for gene, above in enumerate(model.parents):
            slopes, deviation = naive_eda.regression(rows, gene, above)
            assert model.slopes[gene] == pytest.approx(slopes, rel=1e-6, abs=1e-7)
            assert model.deviations[gene] == pytest.approx(deviation, rel=1e-6, abs=1e-6)
    chained = MIMICc().model_of(genomes, space)
    assert list(chained.order) == naive_eda.mimic_gaussian_chain(rows, space.n_genes)


def covariance_of(model):
    """Compute the covariance from slopes and deviations: x − μ = B (x − μ) + s·noise."""
    d = len(model.means)
    arcs = np.zeros((d, d))
    for gene in range(d):
        arcs[gene, list(model.parents[gene])] = model.slopes[gene]
    spread = np.linalg.inv(np.eye(d) - arcs)
    return spread @ np.diag(model.deviations**2) @ spread.T


@given(clouds())
@settings(max_examples=30)
def test_emna_has_the_covariance(cloud):
    space, genomes = cloud
    model = EMNA().model_of(genomes, space)
    implied = covariance_of(model)
    expected = [[naive_eda.covariance(a, b) for b in genomes.T] for a in genomes.T]
    assert implied == pytest.approx(np.array(expected), rel=1e-6, abs=1e-6)


def test_uncorrelated_genes_make_mimicc_umdac():
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * [1.0, 2.0, 3.0]
    space = Box([-5] * 3, [5] * 3)
    chained, alone = (kind().model_of(signs, space) for kind in (MIMICc, UMDAc))
    assert chained.order == (0, 1, 2)
    assert np.concatenate(chained.slopes).tolist() == [0.0, 0.0]
    assert chained.means.tolist() == alone.means.tolist()
    assert chained.deviations.tolist() == alone.deviations.tolist() == [1.0, 2.0, 3.0]


@given(populations(), st.sampled_from([UMDA(alpha=0.0), UMDA(), MIMIC(alpha=0.0), EBNA()]))
@settings(max_examples=15)
def test_samples_have_the_probabilities(population, algorithm):
    space, genomes = population
    model = algorithm.model_of(genomes, space)
    n = 20_000
    drawn = model.sample(n, np.random.default_rng(0))
    assert drawn.dtype == np.int64
    assert drawn.flags.c_contiguous
    assert ((drawn >= 0) & (drawn < space.counts)).all()
    for gene, found in enumerate(model.conditionals):
        numbers = np.zeros(n, dtype=np.int64)
        for parent in found.parents:
            numbers = numbers * space.sizes[parent] + drawn[:, parent]
        rows = {int(number): row for row, number in enumerate(found.contexts)}
        for number in np.unique(numbers):
            mine = drawn[numbers == number, gene]
            expected = found.probabilities[rows.get(int(number), -1)]
            shares = np.bincount(mine, minlength=len(expected)) / len(mine)
            assert np.abs(shares - expected).max() < 6.5 * math.sqrt(0.25 / len(mine))
            assert not shares[expected == 0].any()


@pytest.mark.parametrize("kind", GAUSSIAN)
def test_gaussian_samples_have_the_moments(kind):
    random = np.random.default_rng(1)
    genomes = random.normal(size=(200, 3)) @ [[1, 1, 0], [0, 0.5, 0.4], [0, 0, 0.3]]
    model = kind(bounds="clip").model_of(genomes, Box([-50] * 3, [50] * 3))
    drawn = model.sample(200_000, random)
    assert drawn.mean(axis=0) == pytest.approx(genomes.mean(axis=0), abs=0.02)
    assert np.cov(drawn.T) == pytest.approx(covariance_of(model), abs=0.02)


@pytest.mark.parametrize("kind", GAUSSIAN)
@pytest.mark.parametrize("bounds", ["redraw", "clip", "reflect"])
def test_genes_stay_within_bounds(kind, bounds):
    random = np.random.default_rng(0)
    space = Box([0, 0, 3, 0], [1, 1e-3, 3, 1])
    genomes = space.uniform(40, random)
    genomes[:20, 0] = 1.0
    drawn = kind(bounds=bounds).model_of(genomes, space).sample(500, random)
    assert ((drawn >= space.low) & (drawn <= space.high)).all()
    on_bounds = (drawn[:, 3] == 0) | (drawn[:, 3] == 1)
    assert on_bounds.any() == (bounds == "clip")
    assert (drawn[:, 2] == 3).all()


def test_reflection_is_a_mirror():
    space = Box([0], [1])
    model = UMDAc(bounds="reflect").model_of(np.array([[0.9], [1.0]]), space)
    wide = UMDAc(bounds="clip").model_of(np.array([[0.9], [1.0]]), Box([-9], [9]))
    folded, free = (m.sample(100, np.random.default_rng(0))[:, 0] for m in (model, wide))
    assert folded == pytest.approx(np.where(free > 1, 2 - free, free))


def test_a_gene_is_redrawn_twenty_times():
    space = Box([0], [1e-9])
    model = UMDAc(sigma_min=1.0).model_of(np.array([[0.0]]), space)
    far = type(model)(space, "redraw", (0,), ((),), np.array([1.0]), np.zeros(1), (np.zeros(0),))
    assert far.sample(3, np.random.default_rng(0)).tolist() == [[1e-9]] * 3


@dataclass(frozen=True, kw_only=True)
class Recorder(UMDA):
    """Record what was selected and what was drawn."""

    chosen: list = field(default_factory=list)
    drawn: list = field(default_factory=list)

    def model_of(self, selected, space, previous=None):
        self.chosen.append(selected.tolist())
        model = super().model_of(selected, space)
        recorder = self

        class Spy:
            def sample(self, n, random):
                genomes = model.sample(n, random)
                recorder.drawn.append(genomes.tolist())
                return genomes

        return Spy()


def scored(genomes):
    return [((float(sum(g)), float(g[0] - g[-1])), g) for g in genomes]


@given(
    populations(max_rows=2),
    st.sampled_from(["truncation", "elite-1", "generational"]),
    st.integers(0, 1000),
)
@settings(max_examples=40)
def test_the_loop_is_the_twin(population, replacement, seed):
    space, _ = population
    recorder = Recorder(replacement=replacement, **SMALL)
    initial = space.uniform(12, np.random.default_rng(seed))
    result = recorder.maximise(
        space,
        lambda g: np.column_stack([g.sum(axis=1), g[:, 0] - g[:, -1]]),
        seeds=initial,
        random_state=seed,
    )
    old = naive_eda.best_first(scored(initial.tolist()))
    everyone = list(old)
    for step, (selected, drawn) in enumerate(zip(recorder.chosen, recorder.drawn, strict=True)):
        assert selected == [genome for _, genome in old[:6]]
        old = naive_eda.next_population(old, scored(drawn), replacement, 12)
        everyone += scored(drawn)
        assert result.history[step + 1].best == old[0][0][0]
        assert result.history[step + 1].mean == pytest.approx(
            sum(scores[0] for scores, _ in old) / 12
        )
    assert result.best.tolist() == naive_eda.best_ever(everyone)
    assert result.evaluations == len(everyone)
    distinct = len({tuple(genome) for _, genome in everyone})
    assert result.cache_hits == len(everyone) - distinct


@pytest.mark.parametrize("kind", DISCRETE + GAUSSIAN)
@pytest.mark.parametrize("empty", [True, False])
def test_hostile_spaces(kind, empty):
    n = 0 if empty else 3
    space = Categories([1] * n) if kind in DISCRETE else Box([2.0] * n, [2.0] * n)
    found = kind().maximise(space, lambda g: np.zeros(len(g)), random_state=0)
    assert found.best.shape == (n,)
    assert (found.reason, found.generations, found.evaluations) == ("one individual", 0, 100)
    assert found.cache_hits == 99
    model = kind().model_of(space.uniform(5, np.random.default_rng(0)), space)
    assert model.sample(4, np.random.default_rng(0)).shape == (4, n)
    mixed = Categories([1, 2, 1]) if kind in DISCRETE else Box([0, 0, 1], [0, 1, 1])
    found = kind(**SMALL).maximise(mixed, lambda g: g.sum(axis=1), random_state=0)
    assert found.fitness == pytest.approx(1 + (kind in GAUSSIAN), abs=0.2)


@pytest.mark.parametrize("kind", DISCRETE + GAUSSIAN)
def test_a_population_of_one(kind):
    space = Categories([3, 3]) if kind in DISCRETE else Box([0, 0], [1, 1])
    found = kind(population=1, selected=1, offspring=1).maximise(
        space, lambda g: g.sum(axis=1), random_state=0
    )
    assert (found.generations, found.evaluations) == (0, 1)
    few = kind(population=2, selected=1, offspring=3, replacement="elite-1", max_generations=3)
    assert few.maximise(space, lambda g: g.sum(axis=1), random_state=1).generations > 0


@pytest.mark.long
def test_wide_genes_and_many_values():
    space = Categories([300, 70_000, 2])
    genomes = space.uniform(50, np.random.default_rng(0))
    for algorithm in (UMDA(), MIMIC(), EBNA()):
        drawn = algorithm.model_of(genomes, space).sample(20, np.random.default_rng(0))
        assert (drawn < space.counts).all()


BAD = [
    (UMDA(selected=101), "selected=101 is more than population=100; lower selected"),
    (UMDA(population=0), "population=0; it must be a whole number of at least 1"),
    (UMDA(offspring=1.5), "offspring=1.5; it must be a whole number"),
    (UMDA(selected=True), "selected=True"),
    (UMDA(replacement="typo"), "replacement='typo'; it must be 'truncation', 'elite-1' or 'gen"),
    (UMDA(replacement="elite-1", offspring=98), "offspring=98 cannot replace population=100"),
    (UMDA(replacement="generational", offspring=99), "offspring=99 cannot replace"),
    (UMDA(max_generations=-1), "max_generations=-1; it must be a whole number of at least 0"),
    (UMDA(patience=0), "patience=0; it must be a whole number of at least 1"),
    (UMDA(bound="high"), "bound='high'; it must be a number"),
    (UMDA(bound=math.nan), "bound=nan; it must be a number"),
    (UMDA(time_limit=-1), "time_limit=-1; it must be a number of at least 0"),
    (UMDA(alpha=-1), "alpha=-1; it must be a number of at least 0"),
    (UMDA(p_min=0.4), "p_min=0.4; it must be a number from 0 to 0.333333"),
    (MIMIC(alpha="1"), "alpha='1'"),
    (EBNA(score="gini"), "score='gini'; it must be one of bic, aic"),
    (EBNA(score="pc", significance=1), "significance=1; it must be a number between 0 and 1"),
    (EBNA(score=3), "score=3"),
    (EBNA(max_parents=-1), "max_parents=-1"),
    (UMDAc(), "UMDAc searches Box, not Categories; see unnaive.search"),
]


@pytest.mark.parametrize(("algorithm", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_parameters(algorithm, message):
    with pytest.raises(UnnaiveError) as caught:
        algorithm.maximise(Categories([2, 3]), lambda g: g.sum(axis=1))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (UMDA(), "UMDA searches Categories, not Box"),
        (UMDAc(bounds="wrap"), "bounds='wrap'; it must be 'redraw', 'clip' or 'reflect'"),
        (MIMICc(sigma_min=-1.0), "sigma_min=-1.0; it must be a number from 0 to 1"),
        (EGNA(score="k2"), "score='k2'; it must be 'bge' or 'bic'"),
        (EGNA(max_parents=0.5), "max_parents=0.5"),
    ],
)
def test_bad_parameters_for_boxes(algorithm, message):
    with pytest.raises(UnnaiveError) as caught:
        algorithm.maximise(Box([0], [1]), lambda g: g.sum(axis=1))
    assert str(caught.value).startswith(message)


def test_too_many_joint_values_are_refused():
    with pytest.raises(UnnaiveError, match=r"max_parents=12: .* lower max_parents"):
        EBNA(max_parents=12).maximise(Categories([100] * 20), lambda g: g.sum(axis=1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Categories([2, 0]), r"sizes\[1\]=0; a gene needs 1 to"),
        (lambda: Categories([2.5]), r"sizes=\[2.5\]; it must list"),
        (lambda: Categories(3), "sizes=3; it must list"),
        (lambda: Box([0], [0, 1]), "low has 1 numbers and high 2"),
        (lambda: Box([1], [0]), "gene 0: low=1, high=0; bounds must be finite"),
        (lambda: Box([0], [math.inf]), "gene 0: low=0, high=inf"),
        (lambda: Box([math.nan], [0]), "gene 0: low=nan"),
        (lambda: Box([-1.7e308], [1.7e308]), "gene 0"),
        (lambda: Box(0, 1), "low and high must list numbers"),
    ],
)
def test_bad_spaces(make, message):
    with pytest.raises(UnnaiveError, match=message):
        make()


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([[0, 3]], r"seeds\[0\], gene 1: 3 is outside of the space; .* whole number of 0 to 2"),
        ([[0, 1], [0.5, 1]], r"seeds\[1\], gene 0: 0.5 is outside"),
        ([[0, math.nan]], r"seeds\[0\], gene 1: nan"),
        ([0, 1], r"seeds has shape \(2,\); it must have one genome per row, of 2 genes"),
        ([["a", "b"]], "seeds must be an array of numbers"),
        ([[0, 0]] * 101, "seeds has 101 genomes, more than population=100; raise population"),
    ],
)
def test_bad_seeds(seeds, message):
    with pytest.raises(UnnaiveError, match=message):
        UMDA().maximise(Categories([2, 3]), lambda g: g.sum(axis=1), seeds=seeds)
    with pytest.raises(UnnaiveError, match=r"seeds\[0\], gene 0: 2 .* a number of 0 to 1"):
        UMDAc().maximise(Box([0], [1]), lambda g: g.sum(axis=1), seeds=[[2.0]])


@pytest.mark.parametrize(
    ("fitness", "message"),
    [
        (lambda g: g.sum(), r"fitness returned an array of shape \(\) for 6 genomes; it must"),
        (lambda g: np.zeros(3), r"shape \(3,\) for 6 genomes"),
        (lambda g: np.zeros((len(g), 0)), r"shape \(6, 0\)"),
        (lambda g: np.zeros((len(g), 1, 1)), r"shape \(6, 1, 1\)"),
        (lambda g: ["a"] * len(g), "fitness returned list, which is not an array of numbers"),
        (lambda g: None, "fitness returned an array of shape"),
    ],
)
def test_bad_fitness(fitness, message):
    space = Categories([2, 3])
    seeds = [[i, j] for i in range(2) for j in range(3)]
    with pytest.raises(UnnaiveError, match=message):
        UMDA(population=6, selected=3).maximise(space, fitness, seeds=seeds)


def test_columns_must_not_change():
    calls = []

    def fitness(genomes):
        calls.append(len(genomes))
        return np.zeros((len(genomes), len(calls)))

    with pytest.raises(UnnaiveError, match="fitness returned 2 columns, 1 before"):
        UMDA().maximise(Categories([9] * 9), fitness, random_state=0)


def test_bad_keys_and_random_states():
    space = Categories([2, 3])
    with pytest.raises(UnnaiveError, match=r"key returned an array of shape .* whole numbers"):
        UMDA().maximise(space, lambda g: g.sum(axis=1), key=lambda g: g * 0.5)
    with pytest.raises(UnnaiveError, match="key returned an array of shape"):
        UMDA().maximise(space, lambda g: g.sum(axis=1), key=lambda g: g[:2])
    for state in (-1, "seven"):
        with pytest.raises(UnnaiveError, match="random_state="):
            UMDA().maximise(space, lambda g: g.sum(axis=1), random_state=state)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(evaluations, "_MOST_BYTES", 10 * (4 + 300))
    space = Categories([9] * 4)
    known = evaluations.Evaluations(space, lambda g: g.sum(axis=1))
    genomes = space.uniform(100, np.random.default_rng(0))
    for _ in range(2):
        assert known.scores(genomes)[:, 0].tolist() == genomes.sum(axis=1).tolist()
        assert len(known._known) == 10
    assert known.scores(genomes[-5:]).shape == (5, 1)
    assert known.hits >= 5
