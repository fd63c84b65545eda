"""Required and forbidden edges hold in every search, and members of a class agree with them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.structure.test_constraint import arrows, members, named, random_dag
from unnaive import BayesNet
from unnaive.structure.constraint import pc_stable
from unnaive.structure.dag import DAG, PDAG
from unnaive.structure.equivalence import greedy_equivalence_search
from unnaive.structure.knowledge import Knowledge

SEARCHES = ["hill-climbing", "tabu", "k2", "annealing", "genetic", "genetic-arcs", "pc", "ges"]


def drawn(random, n_nodes, most=4):
    """Draw requirements that some network can meet: edges along an order, prohibitions against."""
    pairs = list(combinations(random.permutation(n_nodes).tolist(), 2))
    random.shuffle(pairs)
    cut = int(random.integers(min(most, len(pairs)) + 1))
    required = [tuple(pair) for pair in pairs[:cut]]
    turned = [
        tuple(pair[::-1] if random.random() < 0.5 else pair) for pair in pairs[cut : 2 * cut + 2]
    ]
    return required, turned


def test_a_member_is_found_exactly_if_there_is_one():
    random = np.random.default_rng(0)
    outcomes = set()
    for _ in range(60):
        graph = random_dag(random, 5).cpdag()
        required, forbidden = drawn(random, 5, 2)
        known = Knowledge.of(graph.names, required, forbidden)
        agreeing = [
            dag
            for dag in members(graph)
            if arrows(dag) >= known.required and not arrows(dag) & known.forbidden
        ]
        member = known.member(graph)
        assert (member is not None) == bool(agreeing)
        assert member is None or member in agreeing
        outcomes.add(member is None)
    assert outcomes == {True, False}


def test_extensions_agree_even_if_no_network_has_the_colliders():
    square = PDAG(named(4), frozenset(), frozenset({(0, 1), (1, 2), (2, 3), (0, 3)}))
    known = Knowledge.of(named(4), [(2, 1)], [(0, 1), (0, 3), (3, 2)])
    found = arrows(known.extended(square))
    assert found >= known.required
    assert not found & known.forbidden
    assert found == {(2, 1), (1, 0), (3, 0), (2, 3)}


def test_an_edge_that_no_direction_allows_is_left_out():
    triangle = PDAG(named(3), frozenset({(0, 1), (1, 2), (2, 0)}), frozenset())
    known = Knowledge.of(named(3), [(0, 1), (1, 2)], [(0, 2)])
    assert arrows(known.extended(triangle)) == {(0, 1), (1, 2)}


def test_pc_leaves_out_an_edge_that_would_close_a_cycle():
    found = pc_stable(named(3), lambda *_: False, forbidden=[(1, 0), (2, 1), (0, 2)])
    assert found.graph.directed == {(0, 1), (1, 2)}
    assert not found.graph.undirected


def test_parents_beyond_the_limit_are_those_that_matter_least():
    dag = DAG.of_edges(named(5), [(0, 4), (1, 4), (2, 4), (3, 4)])
    known = Knowledge.of(named(5), [(0, 4)])

    def score(_, parents):
        return sum(parents)  # a parent of a higher number is worth more

    assert known.limited(dag, 2, score).parents[4] == (0, 3)
    assert known.limited(dag, 0, score).parents[4] == (0,)


def test_ges_stays_in_classes_that_agree():
    """Its score is that of the required edges and the gains of its moves."""
    random = np.random.default_rng(1)
    every = list({random_dag(random, 3, 0.6) for _ in range(900)})
    assert len(every) == 25
    for seed in range(60):
        random = np.random.default_rng(seed)
        truth = every[seed % 25]
        joint = {
            tuple(subset): float(value)
            for size in (1, 2, 3)
            for subset, value in zip(
                combinations(range(3), size), random.normal(size=3), strict=False
            )
        }

        def local(node, parents, joint=joint):
            whole = tuple(sorted((node, *parents)))
            return joint[whole] - joint.get(tuple(parents), 0.0)

        required, forbidden = drawn(random, 3, 2)
        known = Knowledge.of(truth.names, required, forbidden)
        found = greedy_equivalence_search(
            truth.names, local, required=required, forbidden=forbidden
        )
        assert arrows(found.dag) >= known.required
        assert not arrows(found.dag) & known.forbidden
        assert found.dag.cpdag() == found.graph
        start = DAG.of_edges(truth.names, required)
        total = sum(local(node, above) for node, above in enumerate(start.parents))
        assert found.score == pytest.approx(total + sum(move.gain for move in found.moves))


def table(random, n_rows=60, n_columns=5):
    y = random.integers(2, size=n_rows)
    X = (random.integers(3, size=(n_rows, n_columns)) + y[:, None]) % 3
    X[:, 1] = (X[:, 0] + (random.random(n_rows) < 0.2)) % 3
    return X.astype(float), y


@pytest.mark.long
@pytest.mark.parametrize("search", SEARCHES)
def test_no_search_breaks_a_requirement(search):
    """Random requirements, 72 for each search and thus 576 in all: none is broken."""
    for seed in range(72):
        random = np.random.default_rng(seed)
        X, y = table(random)
        names = [*(f"x{i}" for i in range(5)), "y"]
        arcs = [[(names[i], names[j]) for i, j in some] for some in drawn(random, len(names))]
        model = BayesNet(
            search=search,
            augmented=False,
            required=arcs[0],
            forbidden=arcs[1],
            max_parents=2,
            time_limit=0.02 if search in {"annealing", "genetic", "genetic-arcs"} else None,
            discretize=None,
            random_state=seed,
        ).fit(X, y)
        edges = set(model.structure_.edges)
        assert edges.issuperset(arcs[0])
        assert edges.isdisjoint(arcs[1])
        for node, above in enumerate(model.structure_.parents):
            needed = sum(child == names[node] for _, child in arcs[0])
            assert len(above) <= max(2, needed)


@pytest.mark.parametrize("search", ["hill-climbing", "pc", "ges", "k2"])
def test_tiers_are_the_order_of_time(search):
    random = np.random.default_rng(5)
    X, y = table(random, 400)
    tiers = [["x1"], ["y", 2], ["x0"]]
    model = BayesNet(search=search, augmented=False, tiers=tiers, discretize=None).fit(X, y)
    places = {"x1": 0, "y": 1, "x2": 1, "x0": 2}
    edges = model.structure_.edges
    assert ("x1", "x0") in edges
    assert all(places[i] <= places[j] for i, j in edges if i in places and j in places)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tiers": [["x0"], ["x0"]]}, "tiers: 'x0' is given twice"),
        ({"tiers": ["x0"]}, "must be a list of lists of variables"),
        ({"required": 3}, r"required=3; it must be a list of \(parent, child\)"),
        ({"tiers": [["nobody"]]}, "tiers: 'nobody' is not a column"),
        ({"tiers": [["x0"], ["x1"]], "required": [("x1", "x0")]}, "x1 -> x0 is required and"),
        ({"required": [("x0", "x1"), ("x1", "x0")], "search": "pc"}, "make a cycle: x0 -> x1"),
        ({"required": [("x0", "x1"), ("x1", "x0")], "search": "ges"}, "make a cycle: x0 -> x1"),
    ],
)
def test_contradictions_are_refused(settings, message):
    X, y = table(np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        BayesNet(augmented=False, **settings).fit(X, y)
