"""Scores of families against slow twins, and the searches that use them."""

from __future__ import annotations

import math
import time
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import problems
from unnaive.exceptions import UnnaiveError
from unnaive.information.scores import FamilyScores
from unnaive.structure.climb import (
    ADD,
    DELETE,
    REVERSE,
    Climber,
    anneal,
    hill_climbing,
    k2_search,
    perturb,
)

KINDS = ["bic", "aic", "log-likelihood", "k2", "bd", "bdeu", "bdeu:10", "bd:2"]


def slow_score(rows, values, kind, node, parents, weights):
    """Mathematics 7.2 by loops, without rows that have a missing value in the family."""
    name, _, strength = kind.partition(":")
    both = zip(rows, weights, strict=True)
    seen = [(row, w) for row, w in both if all(row[i] is not None for i in (node, *parents))]
    counts = {}
    for row, weight in seen:
        context = tuple(row[p] for p in parents)
        counts.setdefault(context, [0.0] * values[node])[row[node]] += weight
    v, q = values[node], math.prod(values[p] for p in parents)
    total, known = sum(weights), sum(weight for _, weight in seen)
    scale = total / known if known else 1.0
    if name in {"bic", "aic", "log-likelihood"}:
        likelihood = sum(
            n * math.log(n / sum(cells)) for cells in counts.values() for n in cells if n > 0
        )
        price = {"bic": math.log(max(total, 1)) / 2, "aic": 1.0}.get(name, 0.0)
        return scale * likelihood - price * q * (v - 1)
    alpha = float(strength) if strength else {"k2": 1.0, "bd": 0.5, "bdeu": 1.0}[name]
    alpha = alpha / (v * q) if name == "bdeu" else alpha
    score = 0.0
    for cells in counts.values():
        score += math.lgamma(v * alpha) - math.lgamma(sum(cells) + v * alpha)
        score += sum(math.lgamma(n + alpha) - math.lgamma(alpha) for n in cells)
    return scale * score


@given(problems(max_columns=4, weighted=True), st.sampled_from(KINDS), st.booleans())
@settings(max_examples=120)
def test_scores_equal_the_slow_ones(problem, kind, weighted):
    rows = problem.coded()
    weights = problem.weights if weighted else [1.0] * len(problem.rows)
    scores = FamilyScores(
        rows.codes, np.array(problem.values), kind, np.array(weights) if weighted else None
    )
    d = len(problem.values)
    scores.score_pairs()
    for node in range(d):
        others = [i for i in range(d) if i != node]
        for parents in ((), tuple(others[:1]), tuple(others[:2]), tuple(others)):
            expected = slow_score(problem.rows, problem.values, kind, node, parents, weights)
            assert scores.local(node, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        found = scores.additions(node, (), np.array(others, dtype=np.int64))
        assert found.tolist() == [scores.local(node, (other,)) for other in others]


def made(n=400, d=6, seed=0):
    """Draw rows from a random sparse network of variables with three values."""
    random = np.random.default_rng(seed)
    codes = np.zeros((d, n), dtype=np.uint8)
    for i in range(d):
        above = random.choice(i, size=min(i, 2), replace=False) if i else []
        noise = random.random(n) < 0.35
        sums = sum((codes[p].astype(int) * (k + 1) for k, p in enumerate(above)), np.zeros(n, int))
        codes[i] = np.where(noise, random.integers(0, 3, n), (sums + i) % 3)
    return codes, np.full(d, 3)


def free(d):
    return np.zeros((d, d), dtype=bool), np.zeros((d, d), dtype=bool)


def climber(codes, sizes, kind="bic", max_parents=3, parents=(), required=None, forbidden=None):
    none, nothing = free(len(codes))
    required = none if required is None else required
    forbidden = nothing if forbidden is None else forbidden
    scores = FamilyScores(codes, sizes, kind)
    return Climber(scores, max_parents, required, forbidden, [set(p) for p in parents])


def graph(parents):
    found = nx.DiGraph()
    found.add_nodes_from(range(len(parents)))
    found.add_edges_from((p, i) for i, above in enumerate(parents) for p in above)
    return found


def test_equivalent_networks_score_the_same():
    codes, sizes = made()
    chains = [((), (0,), (1,)), ((1,), (2,), ()), ((1,), (), (1,))]
    for kind in ("bic", "aic", "bdeu", "bdeu:10"):
        scores = FamilyScores(codes[:3], sizes[:3], kind)
        totals = [scores.total(parents) for parents in chains]
        assert totals == pytest.approx([totals[0]] * 3, rel=1e-12)
    uneven = codes.copy()
    uneven[0] %= 2
    for kind in ("k2", "bd"):
        scores = FamilyScores(uneven[:3], np.array([2, 3, 3]), kind)
        totals = [scores.total(parents) for parents in chains]
        assert max(totals) - min(totals) > 1e-3


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["bic", "bdeu"])
def test_each_search_is_no_worse_than_the_simpler(seed, kind):
    codes, sizes = made(seed=seed)
    start = climber(codes, sizes, kind).score
    plain = hill_climbing(climber(codes, sizes, kind))
    tabu = hill_climbing(climber(codes, sizes, kind), tabu_length=100, tabu_rounds=20)
    assert tabu.score >= plain.score - 1e-9
    assert plain.score > start
    random = np.random.default_rng(seed)
    cooled = anneal(climber(codes, sizes, kind), random, rounds=200)
    for found in (plain, tabu, cooled):
        assert nx.is_directed_acyclic_graph(graph(found.parents))
        scores = FamilyScores(codes, sizes, kind)
        assert scores.total(found.parents) == pytest.approx(found.score, rel=1e-12)
        assert found.complete
        assert max(map(len, found.parents)) <= 3
    after = climber(codes, sizes, kind, parents=plain.parents)
    assert after.all_gains().max() <= 1e-9


def test_gains_are_differences_of_scores():
    codes, sizes = made(seed=3)
    search = climber(codes, sizes)
    random = np.random.default_rng(0)
    for _ in range(12):
        before = search.score
        (what, child, parent), gain = search.random_move(random)
        moved = [set(above) for above in search.parents]
        if what == ADD:
            moved[child].add(parent)
        elif what in {DELETE, REVERSE}:
            moved[child].remove(parent)
            if what == REVERSE:
                moved[parent].add(child)
        search.apply((what, child, parent))
        assert search.parents == moved
        assert nx.is_directed_acyclic_graph(graph(search.parents))
        assert search.score - before == pytest.approx(gain, abs=1e-8)


def test_all_legal_moves_are_offered():
    codes, sizes = made(seed=4)
    search = climber(codes, sizes, max_parents=2)
    perturb(search, 8, np.random.default_rng(1))
    gains = search.all_gains()
    for what, child, parent in product((ADD, DELETE, REVERSE), range(6), range(6)):
        moved = [set(above) for above in search.parents]
        there = parent in moved[child]
        legal = child != parent and (what != ADD) == there
        if legal and what == ADD:
            moved[child].add(parent)
        elif legal:
            moved[child].remove(parent)
            if what == REVERSE:
                moved[parent].add(child)
        legal = legal and nx.is_directed_acyclic_graph(graph(moved))
        legal = legal and max(map(len, moved)) <= 2
        assert np.isfinite(gains[what, child, parent]) == legal


def all_networks(d):
    pairs = [(i, j) for i in range(d) for j in range(i + 1, d)]
    for kinds in product((0, 1, 2), repeat=len(pairs)):
        parents = [[] for _ in range(d)]
        for (i, j), kind in zip(pairs, kinds, strict=True):
            if kind:
                parents[j if kind == 1 else i].append(i if kind == 1 else j)
        if nx.is_directed_acyclic_graph(graph(parents)):
            yield tuple(tuple(sorted(above)) for above in parents)


@pytest.mark.parametrize("seed", range(6))
def test_no_search_beats_all_networks(seed):
    codes, sizes = made(200, 4, seed=seed)
    scores = FamilyScores(codes, sizes, "bic")
    best = max(scores.total(parents) for parents in all_networks(4))
    for tabu in (0, 30):
        found = hill_climbing(climber(codes, sizes), tabu_length=100, tabu_rounds=tabu)
        assert found.score <= best + 1e-9
    assert found.score == pytest.approx(best, rel=0.01)
    ordered = k2_search(scores, [0, 1, 2, 3], 3, *free(4))
    assert ordered.score <= best + 1e-9
    for node, above in enumerate(ordered.parents):
        assert all(parent < node for parent in above)


def test_arcs_that_must_or_may_not_be():
    codes, sizes = made(seed=2)
    required, forbidden = free(6)
    required[5, 0] = forbidden[3, 1] = forbidden[1, 3] = True
    start = [(), (), (), (), (), (0,)]
    search = climber(codes, sizes, parents=start, required=required, forbidden=forbidden)
    found = hill_climbing(search, tabu_length=50, tabu_rounds=30)
    assert 0 in found.parents[5]
    assert 1 not in found.parents[3]
    assert 3 not in found.parents[1]


def test_time_and_interrupts_leave_the_best_so_far():
    codes, sizes = made(2000, 12)
    stopped = hill_climbing(climber(codes, sizes), limit=0.0)
    assert not stopped.complete
    assert stopped.moves == 0

    def interrupt(moves, _score):
        if moves == 3:
            raise KeyboardInterrupt

    part = hill_climbing(climber(codes, sizes), watch=interrupt)
    assert not part.complete
    assert part.moves == 3
    whole = hill_climbing(climber(codes, sizes))
    assert stopped.score < part.score < whole.score


def test_searches_with_weights_also_leave_the_best_so_far():
    codes, sizes = made(2000, 12)
    ones = np.ones(2000)

    def interrupt(moves, _score):
        if moves == 3:
            raise KeyboardInterrupt

    def weighted():
        scores = FamilyScores(codes, sizes, "bic", ones)
        return Climber(scores, 3, *free(12))

    part = hill_climbing(weighted(), watch=interrupt)
    plain = hill_climbing(climber(codes, sizes), watch=interrupt)
    assert (part.parents, part.moves, part.complete) == (plain.parents, 3, False)
    assert part.score == pytest.approx(plain.score, rel=1e-12)
    assert hill_climbing(weighted(), limit=-1.0).moves == 0


def test_annealing_that_is_interrupted_leaves_the_best_so_far(monkeypatch):
    codes, sizes = made(500, 6)
    empty, drawn, draw = climber(codes, sizes).score, [], Climber.random_move

    def interrupted(self, random):
        drawn.append(random)
        if len(drawn) > 20:
            raise KeyboardInterrupt
        return draw(self, random)

    monkeypatch.setattr(Climber, "random_move", interrupted)
    found = anneal(climber(codes, sizes), np.random.default_rng(0), rounds=100)
    assert len(drawn) == 21
    assert not found.complete
    assert found.score >= empty
    assert nx.is_directed_acyclic_graph(graph(found.parents))
    late = anneal(climber(codes, sizes), np.random.default_rng(0), rounds=100, limit=-1.0)
    assert (late.moves, late.complete) == (0, False)
    assert late.score == pytest.approx(empty, rel=1e-12)


def test_threads_change_nothing():
    codes, sizes = made(3000, 20)
    found = []
    for jobs in (1, 2):
        scores = FamilyScores(codes, sizes, "bdeu", n_jobs=jobs)
        found.append(hill_climbing(Climber(scores, 3, *free(20))))
    assert found[0] == found[1]


def test_many_contexts_are_numbered_anew():
    random = np.random.default_rng(0)
    codes = random.integers(0, 200, (5, 500)).astype(np.uint8)
    codes[0] = (codes[1] + codes[2]) % 200
    sizes = np.full(5, 200)
    scores = FamilyScores(codes, sizes, "log-likelihood")
    begin = time.process_time()
    for parents in ((1, 2), (1, 2, 3), (1, 2, 3, 4)):
        rows = codes.T.tolist()
        expected = slow_score(rows, sizes.tolist(), "log-likelihood", 0, parents, [1.0] * 500)
        assert scores.local(0, parents) == pytest.approx(expected, abs=1e-9)
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("kind", ["bics", "bdeu:-1", "bdeu:x", "bd:0", ""])
def test_scores_that_are_not_known(kind):
    with pytest.raises(UnnaiveError, match="it must be one of bic"):
        FamilyScores(np.zeros((1, 2), dtype=np.uint8), np.array([1]), kind)
