"""GES: operators against all DAGs of a class, gains, exhaustive search, recovery, time."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import combinations, product
from time import monotonic, process_time, sleep

import networkx as nx
import numpy as np
import pytest
from scipy.special import gammaln

from tests.structure.test_constraint import arrows, members, named, random_dag, relabelled, sampled
from unnaive.structure import equivalence
from unnaive.structure.dag import DAG, PDAG
from unnaive.structure.equivalence import greedy_equivalence_search, moved
from unnaive.structure.marks import Marks


def counted(rows, node, parents):
    """N(parents, value) as a dictionary of dictionaries, from distinct rows with their counts."""
    found = {}
    for row, count in rows.items():
        context = tuple(row[parent] for parent in parents)
        found.setdefault(context, Counter())[row[node]] += count
    return found


def slow_bic(codes, sizes):
    """BIC of a family from its counts, Mathematics 7.2."""
    rows = Counter(map(tuple, codes.T.tolist()))

    @cache
    def score(node, parents):
        total = 0.0
        for cells in counted(rows, node, parents).values():
            n = sum(cells.values())
            total += sum(count * math.log(count / n) for count in cells.values())
        q = math.prod(sizes[parent] for parent in parents)
        return total - math.log(codes.shape[1]) / 2 * q * (sizes[node] - 1)

    return score


def slow_bdeu(codes, sizes, strength=1.0):
    """BDeu of a family from its counts, Mathematics 7.2."""
    rows = Counter(map(tuple, codes.T.tolist()))

    @cache
    def score(node, parents):
        q = math.prod(sizes[parent] for parent in parents)
        alpha = strength / (q * sizes[node])
        total = 0.0
        for cells in counted(rows, node, parents).values():
            total += gammaln(strength / q) - gammaln(strength / q + sum(cells.values()))
            total += sum(gammaln(alpha + count) - gammaln(alpha) for count in cells.values())
        return float(total)

    return score


def gaussian_bic(covariance, n_rows):
    """BIC of a linear Gaussian family from (true or sampled) covariances."""

    def score(node, parents):
        rest = list(parents)
        left = covariance[node, node]
        if rest:
            to_rest = covariance[node, rest]
            left -= to_rest @ np.linalg.solve(covariance[np.ix_(rest, rest)], to_rest)
        return -n_rows / 2 * math.log(left) - math.log(n_rows) / 2 * len(rest)

    return score


def true_covariance(dag, random):
    """Covariances of a linear Gaussian network with clear coefficients."""
    n = len(dag.names)
    weights = np.zeros((n, n))
    for parent, child in sorted(arrows(dag)):
        weights[child, parent] = random.choice([-1, 1]) * random.uniform(0.5, 1.5)
    total = np.linalg.inv(np.eye(n) - weights)
    return total @ np.diag(random.uniform(0.5, 2, n)) @ total.T


def score_by_chance(seed, spread=1.0):
    """g(family) − g(parents) of a random function of sets: decomposable, score equivalent."""

    @cache
    def joint(nodes):
        random = np.random.default_rng([seed, *nodes])
        return float(random.normal()) * spread if len(nodes) > 1 else 0.0

    return lambda node, parents: joint(tuple(sorted((node, *parents)))) - joint(parents)


def total(score, dag):
    return sum(score(node, parents) for node, parents in enumerate(dag.parents))


@cache
def all_dags(n_nodes):
    pairs = list(combinations(range(n_nodes), 2))
    found = []
    for kinds in product(range(3), repeat=len(pairs)):
        edges = [pair[:: 2 * kind - 3] for pair, kind in zip(pairs, kinds, strict=True) if kind]
        if nx.is_directed_acyclic_graph(nx.DiGraph(edges)):
            found.append(DAG.of_edges(named(n_nodes), edges))
    return found


def operators(graph, offers, score):
    """List all moves that GES may make in a class."""
    marks = Marks(graph)
    pairs = product(range(len(graph.names)), repeat=2)
    found = [move for pair in pairs for move in offers(score, marks, *pair)]
    return [move for move in found if equivalence._allows(marks, move)]


def inserts(graph, score=lambda _, parents: len(parents)):
    def offers(score, marks, *pair):
        return equivalence._inserts(score, len(graph.names), marks, *pair)

    return operators(graph, offers, score)


def deletes(graph, score=lambda _, parents: -len(parents)):
    return operators(graph, equivalence._deletes, score)


def neighbouring_classes(graph):
    """Find the classes of all DAGs with one edge more, and with one less, than a DAG of a class."""
    more, less = set(), set()
    for dag in members(graph):
        edges = arrows(dag)
        for pair in set(product(range(len(dag.names)), repeat=2)) - edges:
            candidate = nx.DiGraph(edges | {pair})
            if pair[::-1] not in edges and nx.is_directed_acyclic_graph(candidate):
                more.add(dag.with_edge(*pair).cpdag())
        less |= {dag.without_edge(*edge).cpdag() for edge in edges}
    return more, less


@pytest.mark.long
def test_moves_reach_exactly_the_classes_one_edge_away():
    """Chickering's theorems 15 and 17, on all 185 classes of four nodes and some of five."""
    random = np.random.default_rng(0)
    classes = {dag.cpdag() for dag in all_dags(4)}
    assert len(classes) == 185
    classes |= {random_dag(random, 5).cpdag() for _ in range(40)}
    for graph in classes:
        more, less = neighbouring_classes(graph)
        assert {moved(graph, move) for move in inserts(graph)} == more
        assert {moved(graph, move) for move in deletes(graph)} == less


@pytest.mark.long
def test_gains_are_differences_of_scores():
    random = np.random.default_rng(1)
    checked = 0
    for seed in range(60):
        graph = random_dag(random, 6).cpdag()
        chance = score_by_chance(seed)

        def score(node, parents, chance=chance):
            return chance(node, tuple(sorted(parents)))

        before = total(chance, graph.to_dag())
        for move in inserts(graph, score) + deletes(graph, score):
            after = total(chance, moved(graph, move).to_dag())
            assert after - before == pytest.approx(move.gain, abs=1e-9)
            checked += 1
    assert checked > 500


def replayed(found, names, score):
    """Repeat the moves, check the gain of each, and return the last graph."""
    graph = PDAG(tuple(names), frozenset(), frozenset())
    for move in found.moves:
        after = moved(graph, move)
        gain = total(score, after.to_dag()) - total(score, graph.to_dag())
        assert gain == pytest.approx(move.gain, abs=1e-6)
        assert move.gain > 0
        assert len(after.directed | after.undirected) - len(graph.directed | graph.undirected) == (
            1 if move.kind == "insert" else -1
        )
        graph = after
    return graph


@pytest.mark.parametrize("make", [slow_bic, slow_bdeu])
def test_every_move_keeps_its_promise(make):
    random = np.random.default_rng(2)
    for n_rows in (30, 300, 3000):
        truth = random_dag(random, 6, density=0.5)
        codes = sampled(truth, [2, 3, 2, 2, 3, 2], n_rows, random)
        score = make(codes, [2, 3, 2, 2, 3, 2])
        found = greedy_equivalence_search(truth.names, score)
        assert replayed(found, truth.names, score) == found.graph
        assert found.score == pytest.approx(total(score, found.graph.to_dag()))
        assert found.score >= total(score, DAG.empty(truth.names))
        assert found.graph == found.graph.to_dag().cpdag()
        assert found.complete
        kinds = [move.kind for move in found.moves]
        assert kinds == sorted(kinds, reverse=True)  # no insertion after a deletion


@pytest.mark.long
def test_moves_of_a_score_by_chance_keep_their_promise_and_stop_at_the_top():
    for seed in range(60):
        score = score_by_chance(seed)
        found = greedy_equivalence_search(named(6), score)
        assert replayed(found, named(6), score) == found.graph
        best = max(total(score, dag) for dag in members(found.graph))
        assert found.score == pytest.approx(best)
        _, less = neighbouring_classes(found.graph)
        assert all(total(score, graph.to_dag()) <= best + 1e-9 for graph in less)


@pytest.mark.long
def test_what_is_not_recomputed_has_not_changed(monkeypatch):
    """Moves are the same as if all offers were computed again after each move."""
    random = np.random.default_rng(3)
    scores = [score_by_chance(seed) for seed in range(40)]
    for _ in range(30):
        truth = random_dag(random, 9)
        scores.append(gaussian_bic(true_covariance(truth, random), 1e6))
    short = [greedy_equivalence_search(named(9), score) for score in scores]

    def everything(before, after, move):
        return list(product(range(len(after.parents)), repeat=2))

    monkeypatch.setattr(equivalence, "_stale", everything)
    assert [greedy_equivalence_search(named(9), score) for score in scores] == short
    assert sum(move.kind == "delete" for found in short for move in found.moves) > 50


@pytest.mark.long
def test_exhaustive_search_is_seldom_better():
    """GES finds the best of all DAGs at the rates that were measured with this test."""
    random = np.random.default_rng(4)
    hits = Counter()
    rounds = 60
    for n_nodes, make in product((3, 4), (slow_bic, slow_bdeu)):
        for _ in range(rounds):
            truth = random_dag(random, n_nodes)
            sizes = random.integers(2, 4, n_nodes).tolist()
            codes = sampled(truth, sizes, int(random.choice([50, 200, 1000])), random, 1.0)
            score = make(codes, sizes)
            best = max(total(score, dag) for dag in all_dags(n_nodes))
            found = greedy_equivalence_search(truth.names, score)
            assert found.score <= best + 1e-8
            hits[n_nodes, make.__name__] += found.score >= best - 1e-8
    assert min(hits.values()) >= 0.85 * rounds, hits


@pytest.mark.long
def test_true_covariances_give_the_class_itself():
    """Chickering's theorem: a locally consistent score finds the true class."""
    random = np.random.default_rng(5)
    deleted = 0
    for _ in range(100):
        truth = random_dag(random, int(random.integers(4, 9)))
        score = gaussian_bic(true_covariance(truth, random), 1e9)
        found = greedy_equivalence_search(truth.names, score)
        assert found.graph == truth.cpdag()
        deleted += any(move.kind == "delete" for move in found.moves)
    assert deleted > 40  # inserting alone goes beyond the truth more often than not


@pytest.mark.long
@pytest.mark.parametrize("make", [slow_bic, slow_bdeu])
def test_many_rows_give_the_class_most_of_the_time(make):
    random = np.random.default_rng(6)
    hits = 0
    for _ in range(20):
        truth = random_dag(random, 5, density=0.4)
        codes = sampled(truth, [2, 3, 2, 3, 2], 10_000, random)
        found = greedy_equivalence_search(truth.names, make(codes, [2, 3, 2, 3, 2]))
        hits += found.graph == truth.cpdag()
    assert hits >= 12


@pytest.mark.long
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_no_network_of_the_class_has_more_parents(most):
    random = np.random.default_rng(7)
    reached = 0
    for seed in range(25):
        for score in (
            score_by_chance(seed),
            gaussian_bic(true_covariance(random_dag(random, 6, density=0.8), random), 1e6),
        ):
            found = greedy_equivalence_search(named(6), score, max_parents=most)
            counts = {max(map(len, dag.parents)) for dag in members(found.graph)}
            assert len(counts) == 1
            assert counts.pop() <= most
            reached += max(map(len, found.graph.to_dag().parents)) == most
    assert reached > 25


def test_names_do_not_matter():
    random = np.random.default_rng(8)
    for _ in range(20):
        truth = random_dag(random, 7)
        covariance = true_covariance(truth, random)
        places = random.permutation(7).tolist()
        back = np.argsort(places)
        first = greedy_equivalence_search(named(7), gaussian_bic(covariance, 300))
        second = greedy_equivalence_search(
            named(7), gaussian_bic(covariance[np.ix_(back, back)], 300)
        )
        assert second.graph == relabelled(first.graph, places)
        assert second.score == pytest.approx(first.score)


def test_ties_go_to_the_first_and_nothing_is_random():
    def pairs_alike(node, parents):
        return {0: 0.0, 1: 1.0}.get(len(parents), -10.0)

    found = greedy_equivalence_search(named(4), pairs_alike)
    assert (found.moves[0].target, found.moves[0].source) == (0, 1)
    assert found.graph.undirected == {(0, 1), (0, 2), (0, 3)}
    flat = greedy_equivalence_search(named(4), lambda *_: 1.0)
    assert (flat.moves, flat.score) == ([], 4.0)
    codes = np.random.default_rng(9).integers(0, 2, (6, 40))
    runs = [greedy_equivalence_search(named(6), slow_bdeu(codes, [2] * 6, 10.0)) for _ in range(3)]
    assert runs[0] == runs[1] == runs[2]


def test_each_family_is_scored_once():
    asked = Counter()
    chance = score_by_chance(3)

    def score(node, parents):
        asked[node, parents] += 1
        assert list(parents) == sorted(parents)
        return chance(node, parents)

    greedy_equivalence_search(named(6), score)
    assert set(asked.values()) == {1}


def test_time_ends_the_search():
    random = np.random.default_rng(10)
    truth = random_dag(random, 10, density=0.5)
    quick = gaussian_bic(true_covariance(truth, random), 1e5)

    def slow(node, parents):
        sleep(0.0005)
        return quick(node, parents)

    start = monotonic()
    found = greedy_equivalence_search(truth.names, slow, limit=0.15)
    assert monotonic() - start < 1.5
    assert not found.complete
    assert found.graph == found.graph.to_dag().cpdag()
    assert replayed(found, truth.names, quick) == found.graph
    assert found.score >= total(quick, DAG.empty(truth.names))
    none = greedy_equivalence_search(truth.names, quick, limit=0)
    assert (none.complete, none.moves) == (False, [])
    assert none.score == pytest.approx(total(quick, DAG.empty(truth.names)))
    assert greedy_equivalence_search(truth.names, quick, limit=60).complete


@pytest.mark.long
def test_thirty_variables_take_seconds():
    random = np.random.default_rng(11)
    truth = random_dag(random, 30, density=0.1)
    score = gaussian_bic(true_covariance(truth, random), 1e5)
    start = process_time()
    found = greedy_equivalence_search(truth.names, score, max_parents=5)
    assert process_time() - start < 15
    assert replayed(found, truth.names, score) == found.graph


@pytest.mark.parametrize("n_nodes", [0, 1, 2])
def test_few_variables(n_nodes):
    found = greedy_equivalence_search(named(n_nodes), lambda _, parents: float(len(parents)))
    assert len(found.graph.undirected) == (n_nodes == 2)
    assert found.complete


def test_bad_bounds():
    with pytest.raises(ValueError, match="max_parents=-1; it must be at least 0"):
        greedy_equivalence_search(["a"], lambda *_: 0.0, max_parents=-1)


def test_an_edge_never_closes_a_cycle_of_edges_directed_before():
    triangle = PDAG(("a", "b", "c"), frozenset(), frozenset({(0, 1), (0, 2), (1, 2)}))
    marks = Marks(triangle)
    assert not marks.forced(0, 2, background=False)
    marks.direct(0, 1)
    marks.direct(1, 2)
    assert marks.forced(0, 2, background=False)
    assert not marks.forced(2, 0, background=False)
