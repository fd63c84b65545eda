"""The genetic algorithm: what children are, what it finds, networks by order and by arcs."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import made
from tests.models.test_nb_tan_aode import fitted
from unnaive import AdjustedNB, BayesNet, PazzaniNB
from unnaive.exceptions import UnnaiveError
from unnaive.information.scores import FamilyScores
from unnaive.models.orders import GeneticArcs, GeneticOrders, arcs_of, ordered
from unnaive.search import Box, Categories, GenePool, Genetic
from unnaive.structure.climb import k2_search


@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 10_000))
@settings(max_examples=40)
def test_children_have_their_parents_genes(n_genes, n_parents, seed):
    random = np.random.default_rng(seed)
    for space in (Categories([3] * n_genes), Box([-1.0] * n_genes, [2.0] * n_genes)):
        parents = space.uniform(n_parents, random)
        children = GenePool(parents, space, 1.0, 0.0).sample(20, random)
        for child in children:
            pairs = itertools.product(parents, repeat=2)
            assert any(((child == one) | (child == two)).all() for one, two in pairs)
        copies = GenePool(parents, space, 0.0, 0.0).sample(20, random)
        assert all((child == parents).all(axis=1).any() for child in copies)
        anew = GenePool(parents, space, 0.5, 1.0).sample(20, random)
        np.testing.assert_array_equal(space.checked(anew, "genomes"), anew)


def test_mutation_is_one_gene_of_a_child_by_default():
    space = Categories([1000] * 10)
    pool = Genetic()._learn(np.zeros((2, 10), dtype=np.int64), space, None)
    changed = (pool.sample(2000, np.random.default_rng(0)) != 0).sum() / 2000
    assert changed == pytest.approx(1.0, abs=0.1)


def test_numbers_and_categories():
    ones = Genetic(bound=12).maximise(Categories([2] * 12), lambda g: g.sum(axis=1), random_state=0)
    assert ones.fitness == 12
    box = Box([-3.0] * 3, [3.0] * 3)
    sphere = Genetic(max_generations=80, patience=None)
    found = sphere.maximise(box, lambda genomes: -(genomes**2).sum(axis=1), random_state=0)
    assert found.fitness > -0.1
    again = sphere.maximise(box, lambda genomes: -(genomes**2).sum(axis=1), random_state=0)
    np.testing.assert_array_equal(found.best, again.best)


def test_models_take_it():
    problem = made(40, [2, 3, 2], 3, seed=1)
    brief = Genetic(population=10, selected=5, offspring=10, max_generations=5)
    groups = fitted(PazzaniNB(search="eda", algorithm=brief), problem)
    assert groups.loo_score_ >= groups.naive_loo_score_
    weights = fitted(AdjustedNB(search="eda", algorithm=brief), problem)
    assert weights.adjusted_accuracy_ >= weights.naive_accuracy_
    with pytest.raises(ValueError, match="mutation=2"):
        Genetic(mutation=2).maximise(Categories([2]), lambda g: g[:, 0])


def test_orders_keep_required_arcs():
    required = np.zeros((4, 4), dtype=bool)
    required[0, 3] = required[1, 0] = True  # 3 before 0 before 1
    for seed in range(20):
        order = ordered(np.random.default_rng(seed).random(4), required)
        assert sorted(order) == [0, 1, 2, 3]
        assert order.index(3) < order.index(0) < order.index(1)
    required[3, 1] = True
    with pytest.raises(UnnaiveError, match="make a cycle"):
        ordered(np.zeros(4), required)


def test_the_best_order_of_all_is_found():
    problem = made(80, [2, 3, 2, 2, 3], 2, seed=5)
    codes, none = problem.coded().codes, np.zeros((5, 5), dtype=bool)
    scores = FamilyScores(codes, np.array(problem.values), "aic")
    best = max(
        k2_search(scores, list(order), 3, none, none).score
        for order in itertools.permutations(range(5))
    )
    found = GeneticOrders(scores, 3, none, none).search(np.random.default_rng(0))
    assert found.score == pytest.approx(best, abs=1e-9)


def test_networks_by_order():
    problem = made(60, [2, 3, 2], 2, seed=2)
    model = fitted(BayesNet(search="genetic", required=[(2, 0)]), problem)
    assert ("x2", "x0") in model.structure_.edges
    again = fitted(BayesNet(search="genetic", required=[(2, 0)]), problem)
    assert again.structure_.edges == model.structure_.edges


def repaired(genome, most, required, forbidden):
    """Twin of arcs_of: arcs one by one, cycles looked for by networkx."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(required)))
    graph.add_edges_from((parent, child) for child, parent in np.argwhere(required))
    for pair, gene in zip(itertools.combinations(range(len(required)), 2), genome, strict=True):
        if not gene:
            continue
        parent, child = pair if gene == 1 else pair[::-1]
        if forbidden[child, parent] or graph.in_degree(child) >= most:
            continue
        graph.add_edge(parent, child)
        if not nx.is_directed_acyclic_graph(graph):
            graph.remove_edge(parent, child)
    return tuple(tuple(sorted(map(int, graph.predecessors(node)))) for node in graph)


@given(st.integers(0, 10_000))
@settings(max_examples=60)
def test_arcs_that_break_a_rule_are_left_out(seed):
    random = np.random.default_rng(seed)
    d, most = int(random.integers(1, 7)), int(random.integers(0, 4))
    genome = random.integers(0, 3, d * (d - 1) // 2)
    required = np.tril(random.random((d, d)) < 0.1, -1)
    forbidden = (random.random((d, d)) < 0.2) & ~required
    expected = repaired(genome, most, required, forbidden)
    assert arcs_of(genome, most, required, forbidden) == expected


def test_the_best_network_of_all_is_found_by_arcs():
    problem = made(80, [2, 3, 2, 2], 2, seed=5)
    codes, none = problem.coded().codes, np.zeros((4, 4), dtype=bool)
    scores = FamilyScores(codes, np.array(problem.values), "aic")
    genomes = itertools.product(range(3), repeat=6)
    best = max(scores.total(arcs_of(np.array(one), 3, none, none)) for one in genomes)
    found = GeneticArcs(scores, 3, none, none).search(np.random.default_rng(0))
    assert found.score == pytest.approx(best, abs=1e-9)
    problem = made(60, [2, 3, 2], 2, seed=2)
    model = fitted(BayesNet(search="genetic-arcs", required=[(2, 0)]), problem)
    assert ("x2", "x0") in model.structure_.edges
    with pytest.raises(UnnaiveError, match="cycle"):
        fitted(BayesNet(search="genetic-arcs", required=[(2, 0), (0, 2)]), problem)
    alone = fitted(BayesNet(search="genetic-arcs"), made(30, [2], 2, seed=2))
    assert alone.structure_.edges == [("y", "x0")]
