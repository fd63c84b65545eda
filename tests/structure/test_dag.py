"""Directed graphs against networkx, on all graphs of four nodes and on textbook examples."""

from __future__ import annotations

import pickle
import random
from functools import cache
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unnaive.exceptions import UnnaiveError
from unnaive.io import store
from unnaive.structure.dag import DAG, PDAG

LETTERS = tuple("abcdefghijklmnopqrst")


def graph_of(text, names=None):
    """Make a graph of edges like "ab cb"."""
    edges = [tuple(edge) for edge in text.split()]
    return DAG.of_edges(names or sorted({name for edge in edges for name in edge}), edges)


def partial(text, lines, names):
    """Make a graph of edges like "ab cb" with, and others like "cd" without direction."""
    directed, undirected = ([tuple(edge) for edge in part.split()] for part in (text, lines))
    return PDAG(tuple(names), frozenset(directed), frozenset(undirected))


def drawn(source, n_nodes, density):
    """Draw a graph with a random order of nodes."""
    order = source.sample(range(n_nodes), n_nodes)
    edges = [pair for pair in combinations(order, 2) if source.random() < density]
    return DAG.of_edges(LETTERS[:n_nodes], edges)


@st.composite
def graphs(draw, most=8):
    n_nodes = draw(st.integers(1, most))
    order = draw(st.permutations(range(n_nodes)))
    edges = [pair for pair in combinations(order, 2) if draw(st.booleans())]
    return DAG.of_edges(LETTERS[:n_nodes], edges)


@cache
def all_graphs(n_nodes):
    """Enumerate all DAGs: 1, 3, 25 and 543 of them."""
    found = []
    pairs = list(combinations(range(n_nodes), 2))
    for ways in product([0, 1, -1], repeat=len(pairs)):
        edges = [pair[::way] for pair, way in zip(pairs, ways, strict=True) if way]
        if nx.is_directed_acyclic_graph(nx.DiGraph(edges)):
            found.append(DAG.of_edges(LETTERS[:n_nodes], edges))
    return found


def arrows(graph):
    return {(i, j) for j, above in enumerate(graph.parents) for i in above}


def pattern(directed, undirected=()):
    """Return skeleton and v-structures, by definition."""
    skeleton = {frozenset(edge) for edge in (*directed, *undirected)}
    colliders = {
        (frozenset([i, j]), k)
        for (i, k), (j, other) in product(directed, directed)
        if k == other and i != j and frozenset([i, j]) not in skeleton
    }
    return frozenset(skeleton), frozenset(colliders)


@cache
def classes(n_nodes):
    """Return members of every Markov equivalence class."""
    found = {}
    for graph in all_graphs(n_nodes):
        found.setdefault(pattern(arrows(graph)), []).append(graph)
    return found


def shared(members):
    """Return the edges that have the same direction in all members."""
    return set.intersection(*(arrows(member) for member in members))


# d-separation


@pytest.mark.parametrize(
    ("edges", "given", "separated"),
    [
        ("ab bc", "", False),  # chain
        ("ab bc", "b", True),
        ("ba bc", "", False),  # fork
        ("ba bc", "b", True),
        ("ab cb", "", True),  # collider
        ("ab cb", "b", False),
        ("ab cb bd", "d", False),  # its descendants
        ("ab cb bd de", "e", False),
        ("ab cb bd de", "be", False),
        ("ab cb cd", "d", True),  # a descendant of another node tells nothing
        ("ab cb dc", "bd", False),
        ("ac", "", False),
        ("ac ab bc", "b", False),
    ],
)
def test_paths_of_three(edges, given, separated):
    graph = graph_of(edges)
    assert graph.d_separated("a", "c", list(given)) is separated
    assert graph.d_separated("c", "a", list(given)) is separated


def test_exercise_of_chens_notes():
    graph = DAG.of_edges(["X1", "X2", "X3", "X4"], [("X1", "X3"), ("X2", "X3"), ("X2", "X4")])
    assert graph.d_separated("X1", "X2")
    assert graph.d_separated("X1", "X4", "X2")
    assert not graph.d_separated("X1", "X2", "X3")


def test_d_separation_equals_networkx():
    source = random.Random(0)
    answers = []
    for _ in range(1000):
        graph = drawn(source, source.randint(2, 12), source.choice([0.1, 0.2, 0.3, 0.6]))
        twin = graph.to_networkx()
        for _ in range(4):
            parts = [source.randrange(5) for _ in graph.names]
            first, second, known = ({i for i, p in enumerate(parts) if p == q} for q in range(3))
            named = [{graph.names[i] for i in part} for part in (first, second, known)]
            expected = nx.is_d_separator(twin, *named)
            assert graph.d_separated(first, second, known) == expected
            assert graph.d_separated(*named) == expected
            if first and second:
                answers.append(expected)
    assert 0.2 < np.mean(answers) < 0.8


@given(graphs(), st.data())
@settings(max_examples=100)
def test_sets_that_overlap(graph, data):
    nodes = st.sets(st.integers(0, len(graph.names) - 1))
    first, second, known = data.draw(nodes), data.draw(nodes), data.draw(nodes)
    expected = not (first & second) - known and nx.is_d_separator(
        nx.relabel_nodes(graph.to_networkx(), {name: i for i, name in enumerate(graph.names)}),
        first - known,
        second - known,
        known,
    )
    assert graph.d_separated(first, second, known) == expected
    assert graph.d_separated(second, first, known) == expected


def test_overlaps_on_a_chain():
    graph = graph_of("ab bc")
    assert not graph.d_separated("a", "a")
    assert graph.d_separated("a", "a", "a")
    assert graph.d_separated("a", ["a", "b"], ["a"])
    assert graph.d_separated([], "b")
    assert graph.d_separated("a", ["b", "c"], "b")
    assert not graph.d_separated(["a", "b"], ["b", "c"], "a")


@given(graphs())
@settings(max_examples=60)
def test_blankets_are_the_least_that_separates(graph):
    everything = set(range(len(graph.names)))
    for node in everything:
        blanket = graph.markov_blanket(node)
        assert graph.d_separated(node, everything - blanket - {node}, blanket)
        for member in blanket:
            less = blanket - {member}
            assert not graph.d_separated(node, everything - less - {node}, less)


# parts of a graph


@given(graphs())
@settings(max_examples=150)
def test_orders_relatives_and_moral_graph_equal_networkx(graph):
    twin, names = graph.to_networkx(), graph.names
    assert list(twin) == list(names)
    assert set(twin.edges) == set(graph.edges)
    assert [names[i] for i in graph.order] == list(nx.lexicographical_topological_sort(twin))
    for i, name in enumerate(names):
        assert {names[j] for j in graph.ancestors(i)} == nx.ancestors(twin, name)
        assert {names[j] for j in graph.descendants(name)} == nx.descendants(twin, name)
        assert [names[j] for j in graph.children[i]] == sorted(twin.successors(name))
        assert [names[j] for j in graph.parents[i]] == sorted(twin.predecessors(name))
    moral = nx.moral_graph(twin)
    assert graph.moral == {tuple(sorted(map(names.index, edge))) for edge in moral.edges}


def test_parts_of_a_small_graph():
    graph = DAG(["a", "b", "c", "d"], [[], [], [1, 0], ["c"]])
    assert graph == DAG(("a", "b", "c", "d"), ((), (), (0, 1), (2,)))
    assert graph.children == ((2,), (2,), (3,), ())
    assert graph.edges == [("a", "c"), ("b", "c"), ("c", "d")]
    assert graph.order == (0, 1, 2, 3)
    assert graph.moral == {(0, 1), (0, 2), (1, 2), (2, 3)}
    assert graph.markov_blanket("a") == {1, 2}
    assert graph.ancestors(["c", "d"]) == {0, 1, 2}
    assert graph.ancestors("c") == {0, 1}
    assert graph.descendants([]) == frozenset()
    assert DAG.of_edges(graph.names, [(3, 1), (1, 0)]).order == (2, 3, 1, 0)


def test_empty_graphs():
    graph = DAG.empty(["a", "b"])
    assert graph.parents == ((), ())
    assert graph.edges == []
    assert graph.d_separated("a", "b")
    assert graph.cpdag() == PDAG(("a", "b"), frozenset(), frozenset())
    assert graph.cpdag().to_dag() == graph
    none = DAG.empty([])
    assert none.order == ()
    assert none.cpdag().to_dag() == none


def test_nodes_by_position_name_and_numpy():
    graph = graph_of("ab bc")
    assert graph.ancestors(np.int64(2)) == graph.ancestors("c") == graph.ancestors(2) == {0, 1}
    assert graph.descendants(np.array([0, 1])) == {1, 2}
    assert graph.d_separated(0, {"c"}, (1,))
    assert DAG.of_edges(["a", "b"], np.array([[1, 0]])).parents == ((1,), ())
    assert type(DAG.of_edges(["a", "b"], np.array([[1, 0]])).parents[0][0]) is int
    assert graph.with_edge("a", 2).cpdag().adjacent("a") == {1, 2}


def test_graphs_are_values():
    first, second = graph_of("ab cb"), graph_of("cb ab")
    assert first == second
    assert hash(first) == hash(second)
    assert first != graph_of("ba cb")
    assert len({first.cpdag(), second.cpdag(), graph_of("ab bc").cpdag()}) == 2
    assert pickle.loads(pickle.dumps(first)) == first
    with pytest.raises(AttributeError):
        first.parents = ()


def test_edges_come_go_and_turn():
    graph = graph_of("ab bc")
    assert graph.with_edge("a", "c").edges == [("a", "b"), ("a", "c"), ("b", "c")]
    assert graph.without_edge(0, "b").edges == [("b", "c")]
    assert graph.reversed_edge("b", "c").edges == [("a", "b"), ("c", "b")]
    assert graph.edges == [("a", "b"), ("b", "c")]


def test_graphs_are_stored(tmp_path):
    graph = graph_of("ab cb bd")
    store.save(tmp_path / "graph", graph.state())
    assert DAG.of_state(store.load(tmp_path / "graph")) == graph


def test_pictures():
    graph = DAG.of_edges(['say "a"', "b\\"], [(0, 1)])
    nodes, edge = ['  "say \\"a\\"";', '  "b\\\\";'], '  "say \\"a\\"" -> "b\\\\";'
    assert graph.to_dot().splitlines() == ["digraph {", *nodes, edge, "}"]
    mixed = partial("ab cb", "bd", "abcde")
    expected = '  "a" -> "b";\n  "c" -> "b";\n  "b" -> "d" [dir=none];\n}'
    assert mixed.to_dot().endswith(f'  "e";\n{expected}')
    twin = mixed.to_networkx()
    assert list(twin) == list("abcde")
    assert set(twin.edges) == {("a", "b"), ("c", "b"), ("b", "d"), ("d", "b")}


# interventions


def test_surgery():
    graph = graph_of("ab ac bd cd")
    assert graph.do("d").edges == [("a", "b"), ("a", "c")]
    assert graph.do(["b", 2]).edges == [("b", "d"), ("c", "d")]
    assert graph.do([]) == graph


PEARL = "ac ad bd be cx dx dy ey xf fy"  # Causality, figure 3.4, with its nodes X1 … X6 as a … f


@pytest.mark.parametrize(
    ("edges", "given", "holds"),
    [
        ("zx zy xy", "", False),  # confounder
        ("zx zy xy", "z", True),
        ("xz zy", "", True),  # mediator
        ("xz zy", "z", False),
        ("xz yz xy", "", True),  # collider, below both
        ("xz yz xy", "z", False),
        ("ax az by bz xy", "", True),  # the letter M
        ("ax az by bz xy", "z", False),
        ("ax az by bz xy", "za", True),
        ("ax az by bz xy", "zb", True),
        ("xy xz", "z", False),  # a descendant that blocks nothing
        ("xy yz", "z", False),
        ("yx", "", False),
        (PEARL, "cd", True),
        (PEARL, "de", True),
        (PEARL, "d", False),
        (PEARL, "ab", False),
        (PEARL, "cdf", False),
        ("zx zy xy", "zx", False),  # neither cause nor effect are adjusted for
        ("ax ay", "ay", False),
    ],
)
def test_back_door(edges, given, holds):
    assert graph_of(edges).satisfies_back_door("x", "y", list(given)) is holds


# classes


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 4])
def test_classes_by_brute_force(n_nodes):
    assert len(all_graphs(n_nodes)) == [1, 3, 25, 543][n_nodes - 1]
    found = {}
    for members in classes(n_nodes).values():
        (drawn_class,) = {member.cpdag() for member in members}
        assert drawn_class not in found
        found[drawn_class] = members
        assert drawn_class.directed == shared(members)
        rest = {frozenset(edge) for edge in arrows(members[0]) - drawn_class.directed}
        assert {frozenset(edge) for edge in drawn_class.undirected} == rest
        assert all(i < j for i, j in drawn_class.undirected)
        assert drawn_class.to_dag() in members
    assert len(found) == [1, 2, 11, 185][n_nodes - 1]


def test_classes_say_the_same_of_independence():
    said = {}
    for graph in all_graphs(4):
        answers = tuple(
            graph.d_separated(*pair, known)
            for pair in combinations(range(4), 2)
            for size in range(3)
            for known in combinations(sorted({0, 1, 2, 3} - set(pair)), size)
        )
        said.setdefault(answers, set()).add(graph.cpdag())
    assert len(said) == 185
    assert all(len(found) == 1 for found in said.values())


@pytest.mark.parametrize("seed", range(40))
def test_larger_classes_are_exact(seed):
    source = random.Random(seed)
    graph = drawn(source, source.randint(5, 14), source.choice([0.15, 0.3, 0.5]))
    found = graph.cpdag()
    extended = found.to_dag()
    assert pattern(arrows(extended)) == pattern(arrows(graph))
    assert extended.cpdag() == found
    assert found.meek() == found.meek(background=True) == found
    for i, j in found.undirected:  # either way there is a member
        for edge in ((i, j), (j, i)):
            known = PDAG(graph.names, found.directed | {edge}, found.undirected - {(i, j)})
            member = known.meek(background=True).to_dag()
            assert edge in arrows(member)
            assert pattern(arrows(member)) == pattern(arrows(graph))
    for i, j in found.directed:  # the other way there is none
        turned = PDAG(graph.names, found.directed - {(i, j)} | {(j, i)}, found.undirected)
        try:
            member = turned.to_dag()
        except UnnaiveError:
            continue
        assert pattern(arrows(member)) != pattern(arrows(graph))


@pytest.mark.parametrize(
    ("edges", "lines", "new"),
    [
        ("ca", "ab", "ab"),  # R1
        ("ac cb", "ab", "ab"),  # R2
        ("cb db", "ab ac ad", "ab"),  # R3
    ],
)
def test_rules(edges, lines, new):
    names = sorted(set(edges + lines) - {" "})
    found = partial(edges, lines, names).meek()
    assert found == partial(f"{edges} {new}", lines.replace(new, ""), names)


def test_the_fourth_rule():
    known = partial("dc cb", "ab ac ad", "abcd")
    assert known.meek() == known
    assert known.meek(background=True) == partial("dc cb ab", "ac ad", "abcd")
    apart = partial("dc cb", "ab ad", "abcd")  # a and c are not joined, so the first rule applies
    assert apart.meek(background=True) == partial("dc cb ba ad", "", "abcd")


def test_background_by_brute_force():
    needed = 0
    for members in classes(4).values():
        start = members[0].cpdag()
        lines = sorted(start.undirected)
        for ways in product([0, 1, -1], repeat=len(lines)):
            if sum(map(abs, ways)) > 3:
                continue
            told = {line[::way] for line, way in zip(lines, ways, strict=True) if way}
            left = {line for line, way in zip(lines, ways, strict=True) if not way}
            agreeing = [member for member in members if told <= arrows(member)]
            if agreeing:
                known = PDAG(start.names, start.directed | told, frozenset(left))
                assert known.meek(background=True).directed == shared(agreeing)
                needed += known.meek().directed != shared(agreeing)
    assert needed


def test_extensions_by_brute_force():
    pairs = list(combinations(range(4), 2))
    acyclic = {frozenset(arrows(graph)) for graph in all_graphs(4)}
    refused = 0
    for kinds in product(["none", 1, -1, "line"], repeat=len(pairs)):
        joined = list(zip(pairs, kinds, strict=True))
        directed = {pair[::kind] for pair, kind in joined if kind in (1, -1)}
        lines = [pair for pair, kind in joined if kind == "line"]
        wanted = pattern(directed, lines)
        choices = (
            frozenset(directed | {line[::way] for line, way in zip(lines, ways, strict=True)})
            for ways in product([1, -1], repeat=len(lines))
        )
        possible = {each for each in choices if each in acyclic and pattern(each) == wanted}
        graph = PDAG(LETTERS[:4], frozenset(directed), frozenset(lines))
        if possible:
            assert frozenset(arrows(graph.to_dag())) in possible
        else:
            refused += 1
            with pytest.raises(UnnaiveError, match="no directions avoid both a cycle and a new"):
                graph.to_dag()
    assert refused > 100


def test_the_lowest_node_comes_last():
    assert partial("", "ab bc", "abc").to_dag().edges == [("b", "a"), ("c", "b")]
    assert partial("", "ab bc ac", "abc").to_dag().order == (2, 1, 0)


def test_nodes_around_a_node():
    graph = partial("ab bc", "bd ae", "abcdef")
    assert graph.neighbours("b") == graph.neighbours(1) == {3}
    assert graph.parents_of("b") == {0}
    assert graph.children_of("b") == {2}
    assert graph.adjacent("b") == {0, 2, 3}
    assert graph.adjacent("f") == frozenset()
    assert PDAG(("a", "b"), frozenset(), frozenset({("b", 0)})).undirected == {(0, 1)}


# errors


ERRORS = [
    (lambda: graph_of("ab bc ca"), "^the edges make a cycle: a -> b -> c -> a$"),
    (lambda: graph_of("ba ac cb bd"), "make a cycle: a -> c -> b -> a$"),
    (lambda: graph_of("cd dc ca bc"), "make a cycle: c -> d -> c$"),
    (lambda: DAG(("a", "b"), ((1,), (0,))), "make a cycle: a -> b -> a$"),
    (lambda: graph_of("ab aa"), "make a cycle: a -> a$"),
    (lambda: graph_of("ab bc").with_edge("c", "a"), "make a cycle: a -> b -> c -> a$"),
    (lambda: graph_of("ab bc ac").reversed_edge(0, 2), "make a cycle: a -> b -> c -> a$"),
    (lambda: graph_of("ab ab"), "the edge a -> b is given twice"),
    (lambda: graph_of("ab bc").with_edge("b", "c"), "the edge b -> c is given twice"),
    (lambda: DAG(("a", "b"), ((), (0, "a"))), "the edge a -> b is given twice"),
    (lambda: graph_of("ab").without_edge("b", "a"), "there is no edge b -> a"),
    (lambda: graph_of("ab").reversed_edge("b", "a"), "there is no edge b -> a"),
    (lambda: graph_of("aq", ["a", "b"]), "there is no node 'q'; the 2 nodes are a, b$"),
    (lambda: graph_of("ab").ancestors("ab"), "there is no node 'ab'; the 2 nodes are a, b$"),
    (lambda: DAG(("a", "b"), ((), (2,))), "there is no node 2; the 2 nodes are a, b$"),
    (lambda: DAG(("a", "b"), ((), (-1,))), "there is no node -1; the 2 nodes"),
    (lambda: graph_of("ab").do(np.int64(5)), "there is no node 5; the 2 nodes"),
    (lambda: graph_of("ab").do(True), "there is no node True; the 2 nodes"),
    (lambda: graph_of("ab").do([1.0]), r"there is no node 1.0; the 2 nodes"),
    (lambda: graph_of("ab").d_separated("a", "b", "c"), "there is no node 'c'"),
    (lambda: graph_of("ab").cpdag().adjacent(9), "there is no node 9"),
    (lambda: DAG.empty(["a", "b", "a"]), "two nodes are called 'a'; names must differ"),
    (lambda: DAG.empty("abc"), "names='abc'; it must be a sequence of strings"),
    (lambda: DAG.empty(["a", 1]), r"names=\['a', 1\]; it must be a sequence of strings"),
    (lambda: DAG(("a", "b"), ((),)), "2 nodes have 1 sets of parents"),
    (lambda: DAG.of_state({"names": ["a"], "parents": [[0]]}), "make a cycle: a -> a"),
    (lambda: partial("aa", "", "ab"), "'a' cannot be joined to itself"),
    (lambda: partial("", "bb", "ab"), "'b' cannot be joined to itself"),
    (lambda: partial("ab ba", "", "ab"), "'b' and 'a' are joined twice"),
    (lambda: partial("ab", "ba", "ab"), "'b' and 'a' are joined twice"),
    (lambda: partial("", "ab ba", "ab"), "'b' and 'a' are joined twice"),
    (lambda: partial("ab bc ca", "", "abcd").to_dag(), "^a, b, c: no directions avoid both"),
    (lambda: partial("ab", "bc cd da", "abcd").to_dag(), "^a, b, c, d: no directions avoid"),
]


@pytest.mark.parametrize(("make", "message"), ERRORS, ids=range(len(ERRORS)))
def test_errors_name_the_nodes(make, message):
    with pytest.raises(UnnaiveError, match=message):
        make()


def test_messages_stay_short():
    graph = DAG.empty([f"column {i}" for i in range(1000)])
    with pytest.raises(UnnaiveError, match=r"the 1000 nodes are column 0, .* …$") as caught:
        graph.do("q")
    assert len(str(caught.value)) < 400
