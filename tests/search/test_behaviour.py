"""Results of estimation-of-distribution algorithms, and their stopping rules."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import ortho_group

from unnaive.search import EBNA, EGNA, EMNA, MIMIC, UMDA, Box, Categories, MIMICc, UMDAc
from unnaive.search.climbing import by_tests
from unnaive.structure.climb import hill_climbing

ALL = [UMDA, MIMIC, EBNA, UMDAc, MIMICc, EGNA, EMNA]
GAUSSIAN = ALL[3:]


def space_of(kind, n_genes=6):
    box = Box([-5] * n_genes, [5] * n_genes)
    return box if kind in GAUSSIAN else Categories([4] * n_genes)


def ones(genomes):
    return genomes.sum(axis=1)


def solved(algorithm, space, fitness, n_runs):
    """Compute the share of runs that reach the bound."""
    runs = [algorithm.maximise(space, fitness, random_state=seed) for seed in range(n_runs)]
    return np.mean([run.reason == "bound" for run in runs])


@pytest.mark.long
@pytest.mark.parametrize("kind", [UMDA, MIMIC, EBNA])
def test_one_max(kind):
    assert solved(kind(bound=30), Categories([2] * 30), ones, 50) > 0.95


@pytest.mark.long
def test_pairs_need_dependencies():
    """The two genes of a block must differ, so a single gene is not informative (XOR)."""

    def xor(genomes):
        return (genomes[:, ::2] != genomes[:, 1::2]).sum(axis=1)

    shares = [solved(k(bound=20), Categories([2] * 40), xor, 12) for k in (UMDA, MIMIC, EBNA)]
    assert shares[0] < 0.5
    assert min(shares[1:]) > 0.8


@pytest.mark.long
def test_traps_need_dependencies():
    """Blocks of three ones are best, but every one except the last lowers the fitness."""
    worth = np.array([0.9, 0.8, 0.0, 1.0])

    def traps(genomes):
        return worth[genomes.reshape(len(genomes), -1, 3).sum(axis=2)].sum(axis=1)

    sizes = {"population": 300, "selected": 150, "offspring": 300, "bound": 5 - 1e-9}
    shares = [solved(k(**sizes), Categories([2] * 15), traps, 12) for k in (UMDA, MIMIC, EBNA)]
    shares.append(solved(EBNA(score="pc", **sizes), Categories([2] * 15), traps, 3))
    assert shares[0] < 0.2
    assert min(shares[1:]) > 0.8


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.long] * (k is EMNA)) for k in GAUSSIAN]
)
def test_sphere(kind):
    space = Box([-5] * 5, [5] * 5)
    assert solved(kind(bound=-1e-3), space, lambda g: -((g - 0.7) ** 2).sum(axis=1), 10) == 1


@pytest.mark.long
def test_a_turned_ellipsoid_needs_dependencies():
    axes = ortho_group.rvs(5, random_state=3)

    def ellipsoid(genomes):
        return -(((genomes - 0.7) @ axes) ** 2 * 10.0 ** np.arange(5)).sum(axis=1)

    found = {
        kind: [
            kind(bound=-1e-3).maximise(Box([-5] * 5, [5] * 5), ellipsoid, random_state=s).fitness
            for s in range(6)
        ]
        for kind in (UMDAc, EGNA, EMNA)
    }
    assert max(found[UMDAc]) < min(*found[EGNA], *found[EMNA])
    assert min(found[EGNA]) > -1e-3


@pytest.mark.parametrize("kind", ALL)
def test_same_seed_same_run(kind):
    def run(state):
        return kind(max_generations=5).maximise(space_of(kind), ones, random_state=state)

    first, second, other = run(3), run(np.random.default_rng(3)), run(4)
    assert first.best.tolist() == second.best.tolist()
    assert [g.mean for g in first.history] == [g.mean for g in second.history]
    assert [g.mean for g in first.history] != [g.mean for g in other.history]
    legacy = [run(np.random.RandomState(5)) for _ in range(2)]
    assert legacy[0].history[-1].mean == legacy[1].history[-1].mean
    assert run(None).complete


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("replacement", ["truncation", "elite-1"])
def test_the_best_never_falls(kind, replacement):
    found = kind(replacement=replacement, max_generations=12, patience=None).maximise(
        space_of(kind), lambda g: -((g - 1) ** 2).sum(axis=1), random_state=0
    )
    bests = [generation.best for generation in found.history]
    assert bests == sorted(bests)
    assert bests[-1] == found.fitness > bests[0] or bests[0] == 0


def test_a_generation_may_lose_the_best_but_the_result_does_not():
    found = UMDA(replacement="generational", max_generations=30, patience=None).maximise(
        Categories([50] * 8), lambda g: -np.abs(g - 25).sum(axis=1), random_state=0
    )
    bests = [generation.best for generation in found.history]
    assert bests != sorted(bests)
    assert found.fitness == max(bests)


@pytest.mark.parametrize("kind", ALL)
def test_evaluations_are_counted(kind):
    told = []
    calls = []

    def fitness(genomes):
        calls.append(len(genomes))
        return ones(genomes)

    algorithm = kind(population=40, selected=20, offspring=70, max_generations=3, patience=None)
    found = algorithm.maximise(space_of(kind), fitness, random_state=0, watch=told.append)
    assert found.history == tuple(told)
    assert [g.number for g in told] == list(range(found.generations + 1))
    assert [g.evaluations for g in told] == [40 + 70 * g.number for g in told]
    assert found.evaluations == 40 + 70 * found.generations
    assert found.evaluations - found.cache_hits == sum(calls)
    assert all(a.seconds <= b.seconds for a, b in pairwise(told))
    assert (found.complete, found.reason) == (True, "max_generations")


def test_paper_setting():
    sizes = {"population": 500, "selected": 500, "offspring": 1000}
    end = {"patience": None, "stall": 1, "max_generations": 1000}
    assert UMDA.paper() == UMDA(**sizes, **end, alpha=0.0)
    assert MIMIC.paper(bound=1) == MIMIC(**sizes, **end, alpha=0.0, bound=1)
    assert UMDAc.paper() == UMDAc(**sizes, **end)
    found = UMDA.paper(bound=20).maximise(Categories([2] * 20), ones, random_state=0)
    assert found.fitness == 20
    assert found.evaluations % 1000 == 500


def test_reasons_to_stop():
    space = Categories([2] * 12)
    bound = UMDA(bound=3).maximise(space, ones, random_state=0)
    assert (bound.reason, bound.generations) == ("bound", 0)
    flat = UMDA(patience=4).maximise(space, lambda g: np.zeros(len(g)), random_state=0)
    assert (flat.reason, flat.generations) == ("patience", 4)
    assert UMDA(max_generations=0).maximise(space, ones).reason == "max_generations"
    one = UMDA(alpha=0.0, patience=None).maximise(space, ones, random_state=0)
    assert (one.reason, one.fitness) == ("one individual", 12)
    late = UMDA(time_limit=0).maximise(space, ones, random_state=0)
    assert (late.reason, late.complete, late.generations) == ("time_limit", False, 0)


def test_the_paper_stops_when_nothing_is_added():
    ones = lambda genomes: genomes.sum(axis=1)  # noqa: E731
    found = UMDA.paper().maximise(Categories([2] * 12), ones, random_state=0)
    assert (found.reason, found.fitness) in {("stall", 12.0), ("one individual", 12.0)}
    flat = UMDA(patience=None, stall=3).maximise(
        Categories([2] * 12), lambda genomes: np.zeros(len(genomes)), random_state=0
    )
    assert (flat.reason, flat.generations) == ("stall", 3)
    moved = UMDA(patience=None, stall=1, replacement="generational", max_generations=6).maximise(
        Categories([2] * 12), lambda genomes: np.zeros(len(genomes)), random_state=0
    )
    assert moved.reason == "max_generations"


def test_ties_break_the_patience_not():
    """Further columns rank individuals, but only the first is the fitness."""
    space = Categories([5] * 6)
    found = UMDA(patience=3).maximise(
        space, lambda g: np.column_stack([np.zeros(len(g)), -g.sum(axis=1)]), random_state=0
    )
    assert (found.reason, found.generations, found.fitness) == ("patience", 3, 0.0)
    assert found.best.sum() < 6


def test_of_equals_the_lowest_genome_is_best():
    space = Categories([3] * 4)
    seeds = [[2, 0, 0, 0], [0, 2, 1, 0], [0, 2, 0, 1], [1, 0, 0, 0]]
    found = UMDA(population=4, selected=2, max_generations=0).maximise(
        space, lambda g: np.zeros(len(g)), seeds=seeds
    )
    assert found.best.tolist() == [0, 2, 0, 1]


def test_seeds_are_the_first_individuals():
    seen = []

    def fitness(genomes):
        seen.append(genomes.copy())
        return ones(genomes)

    algorithm = UMDA(max_generations=1)
    algorithm.maximise(Categories([7] * 9), fitness, seeds=[[6] * 9, [0] * 9], random_state=0)
    algorithm.maximise(Categories([7] * 9), fitness, random_state=0)
    assert seen[0][:2].tolist() == [[6] * 9, [0] * 9]
    assert seen[0][2:].tolist() == seen[2][2:].tolist()


def test_equal_keys_are_scored_once():
    """Labels of groups do not matter, only which genes are together."""

    def canonical(genomes):
        return np.array([[row.index(value) for value in row] for row in genomes.tolist()])

    seen = []

    def fitness(genomes):
        seen.extend(map(tuple, canonical(genomes).tolist()))
        return np.array([len(set(row)) for row in genomes.tolist()])

    space = Categories([5] * 4)
    algorithm = UMDA(max_generations=5, patience=None)
    found = algorithm.maximise(space, fitness, key=canonical, random_state=0)
    assert len(seen) == len(set(seen)) <= 15  # partitions of four
    assert found.evaluations - found.cache_hits == len(seen)
    plain = algorithm.maximise(space, fitness, random_state=0)
    assert plain.fitness == found.fitness
    assert plain.cache_hits < found.cache_hits


def test_clipped_numbers_are_scored_once():
    algorithm = UMDAc(bounds="clip", max_generations=8, patience=None)
    found = algorithm.maximise(Box([0, 0], [1, 1]), ones, random_state=0)
    assert found.fitness == 2.0
    assert found.cache_hits > 0


def test_no_number_is_the_worst():
    def fitness(genomes):
        return np.where(genomes[:, 0] > 0, np.nan, ones(genomes))

    found = UMDA().maximise(Categories([2] * 8), fitness, random_state=0)
    assert found.fitness == 7
    nothing = UMDA(patience=2).maximise(
        Categories([2] * 8), lambda g: np.full(len(g), np.nan), random_state=0
    )
    assert (nothing.fitness, nothing.reason) == (-np.inf, "patience")
    both = UMDA(max_generations=1).maximise(
        Categories([2] * 8), lambda g: np.where(g[:, 0] > 0, np.inf, -np.inf), random_state=0
    )
    assert both.fitness == np.inf


@pytest.mark.parametrize("kind", ALL)
def test_an_interrupt_returns_the_best_so_far(kind):
    calls = []

    def fitness(genomes):
        calls.append(len(genomes))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return ones(genomes)

    found = kind(patience=None).maximise(space_of(kind), fitness, random_state=0)
    assert (found.complete, found.reason, found.generations) == (False, "interrupt", 2)
    assert found.evaluations == 300
    assert found.fitness == max(generation.best for generation in found.history)


def test_an_early_interrupt_is_raised():
    def fitness(genomes):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        UMDA().maximise(Categories([2] * 4), fitness)


@pytest.mark.parametrize("kind", [EBNA, EGNA])
def test_an_interrupt_of_the_climb_is_heard(kind, monkeypatch):
    def interrupted(climber):  # hill climbing hears it, and says that it was not finished
        return hill_climbing(climber, limit=-1.0)

    def watch(generation):
        if generation.number == 2:
            monkeypatch.setattr("unnaive.search.climbing.hill_climbing", interrupted)

    found = kind(patience=None).maximise(space_of(kind), ones, random_state=0, watch=watch)
    assert (found.complete, found.reason, found.generations) == (False, "interrupt", 2)


@pytest.mark.parametrize("kind", [EBNA, EGNA])
def test_later_networks_start_from_the_last(kind):
    """If no move gains, hill climbing returns its start, and the empty graph without one."""
    random = np.random.default_rng(0)
    space = space_of(kind, 3)
    related = space.uniform(60, random)
    related[:, 1] = related[:, 0]
    algorithm = kind()
    first = algorithm.model_of(related, space)
    assert {frozenset((i, p)) for i, above in enumerate(first.parents) for p in above} == {
        frozenset((0, 1))
    }
    again = algorithm.model_of(related[:30], space, first)
    assert again.parents == first.parents
    free = algorithm.model_of(space.uniform(60, random), space, first)
    assert free.parents == ((), (), ())


def test_pc_keeps_the_strongest_parents():
    random = np.random.default_rng(0)
    first, second, third = random.integers(2, size=(3, 4000))
    weak = np.where(random.random(4000) < 0.4, third, random.integers(2, size=4000))
    child = 4 * first + 2 * second + weak
    genes, sizes = np.stack([first, second, third, child]), np.array([2, 2, 2, 8])
    assert by_tests(genes, sizes, 0.01, 3) == ((), (), (), (0, 1, 2))
    assert by_tests(genes, sizes, 0.01, 2)[3] == (0, 1)


@pytest.mark.parametrize("score", ["k2", "bdeu", "bdeu:10", "aic", "log-likelihood"])
def test_scores_pass_through(score):
    random = np.random.default_rng(0)
    genomes = random.integers(0, 2, (60, 4))
    bic = EBNA().model_of(genomes, Categories([2] * 4))
    other = EBNA(score=score, max_parents=2).model_of(genomes, Categories([2] * 4))
    assert sum(map(len, bic.parents)) <= sum(map(len, other.parents))
    assert EBNA(score=score, bound=12).maximise(Categories([2] * 12), ones, random_state=0).complete


def test_egna_sees_dependence_however_small_the_population_is():
    """A prior of unit variance would dominate a population that has almost converged."""
    random = np.random.default_rng(0)
    genomes = random.normal(size=(50, 2)) @ [[1, 1], [0, 0.3]] * 1e-5 + 3
    for score in ("bge", "bic"):
        model = EGNA(score=score).model_of(genomes, Box([-5, -5], [5, 5]))
        assert sum(map(len, model.parents)) == 1
