"""Interventions: the truncated product of tables, back-door adjustment, and what is refused."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unnaive.exceptions import UnnaiveError
from unnaive.structure.back_door import back_door_set
from unnaive.structure.dag import DAG
from unnaive.structure.front_door import front_door_set, identify, satisfies_front_door
from unnaive.tables.network import Network


@st.composite
def networks(draw, most=5):
    """A random network of some variables of one to three states, with zeros in its tables."""
    d = draw(st.integers(2, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = random.permutation(d)
    edges = [
        (int(order[i]), int(order[j]))
        for i, j in itertools.combinations(range(d), 2)
        if random.random() < 0.5
    ]
    dag = DAG.of_edges([f"v{i}" for i in range(d)], edges)
    sizes = random.integers(1, 4, d)
    tables = []
    for node, parents in enumerate(dag.parents):
        table = random.dirichlet(np.ones(sizes[node]), [sizes[p] for p in parents])
        tables.append(table)
    return Network(dag, tuple(tuple(range(v)) for v in sizes), tuple(tables))


def truncated(network, actions, effect):
    """P(effect | do(actions)): the product of all tables but those of the actions, summed up."""
    answer = [0.0] * len(network.states[effect])
    for state in itertools.product(*map(range, network.sizes.tolist())):
        if all(state[node] == code for node, code in actions.items()):
            factors = [
                float(table[(*(state[p] for p in parents), state[node])])
                for node, (parents, table) in enumerate(
                    zip(network.dag.parents, network.tables, strict=True)
                )
                if node not in actions
            ]
            answer[state[effect]] += math.prod(factors)
    return answer


@given(networks(), st.data())
@settings(max_examples=60)
def test_do_is_the_truncated_product(network, data):
    d = len(network.states)
    nodes = data.draw(st.lists(st.integers(0, d - 1), min_size=1, max_size=2, unique=True))
    actions = {node: data.draw(st.integers(0, int(network.sizes[node]) - 1)) for node in nodes}
    effect = data.draw(st.integers(0, d - 1))
    changed = network.do({f"v{node}": code for node, code in actions.items()})
    expected = truncated(network, actions, effect)
    np.testing.assert_allclose(changed.query(f"v{effect}"), expected, atol=1e-10)
    assert not any(changed.dag.parents[node] for node in nodes)


@given(networks(), st.data())
@settings(max_examples=60)
def test_adjustment_is_the_intervention(network, data):
    d = len(network.states)
    cause, effect = data.draw(st.permutations(range(d)))[:2]
    code = data.draw(st.integers(0, int(network.sizes[cause]) - 1))
    chosen = back_door_set(network.dag, cause, effect)
    action = {f"v{cause}": code}
    if chosen is None:
        assert cause in network.dag.descendants(effect)  # then nothing helps, and nothing is needed
        with pytest.raises(UnnaiveError, match="a back-door path from"):
            network.adjusted(f"v{effect}", action)
        return
    found = network.adjusted(f"v{effect}", action)
    np.testing.assert_allclose(found, truncated(network, {cause: code}, effect), atol=1e-10)
    for node in chosen:  # none can be left out
        fewer = [other for other in chosen if other != node]
        assert not network.dag.satisfies_back_door(cause, effect, fewer)


@given(networks(most=4), st.data())
@settings(max_examples=40)
def test_a_set_is_found_if_there_is_one(network, data):
    d, dag = len(network.states), network.dag
    cause, effect = data.draw(st.permutations(range(d)))[:2]
    observed = data.draw(st.lists(st.integers(0, d - 1), unique=True))
    any_set = any(
        dag.satisfies_back_door(cause, effect, some)
        for size in range(len(observed) + 1)
        for some in itertools.combinations(observed, size)
    )
    assert (back_door_set(dag, cause, effect, observed) is not None) == any_set


STONES = Network(
    DAG.of_edges(
        ("size", "treatment", "success"),
        [("size", "treatment"), ("size", "success"), ("treatment", "success")],
    ),
    (("small", "large"), ("open", "closed"), ("no", "yes")),
    (
        [357 / 700, 343 / 700],
        [[87 / 357, 270 / 357], [263 / 343, 80 / 343]],
        [[[6 / 87, 81 / 87], [36 / 270, 234 / 270]], [[71 / 263, 192 / 263], [25 / 80, 55 / 80]]],
    ),
)


def test_simpsons_paradox():
    seen = [STONES.query("success", {"treatment": t})[1] for t in ("open", "closed")]
    done = [STONES.do({"treatment": t}).query("success")[1] for t in ("open", "closed")]
    assert [round(p, 2) for p in seen] == [0.78, 0.83]
    assert [round(p, 2) for p in done] == [0.83, 0.78]
    adjusted = STONES.adjusted("success", {"treatment": "open"}, ["size"])[1]
    assert adjusted == pytest.approx(done[0], abs=1e-12)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: STONES.do({"age": 1}), "there is no variable 'age'"),
        (lambda: STONES.do({"size": "huge"}), "huge"),
        (lambda: STONES.do({"size": None}), "'size' is set to None, which is no state"),
        (lambda: STONES.adjusted("success", {"treatment": "open"}, []), "given nothing, a back-d"),
        (lambda: STONES.adjusted("size", {"treatment": "open"}), "given no variables, a back-door"),
        (lambda: STONES.adjusted("success", {}), "action has 0 variables"),
    ],
)
def test_what_is_refused(ask, message):
    with pytest.raises(UnnaiveError, match=message):
        ask()


def test_what_is_set_is_no_longer_evidence():
    changed = STONES.do({"treatment": "open"})
    np.testing.assert_allclose(changed.query("size"), STONES.query("size"))
    assert changed.query_table("treatment") == {"open": 1.0, "closed": 0.0}
    assert STONES.do({}).dag.edges == STONES.dag.edges


def three_conditions(dag, cause, effect, between):
    """Check the front-door criterion path by path (Pearl 2009, definition 3.3.3)."""
    graph = dag.to_networkx()
    directed = list(nx.all_simple_paths(graph, cause, effect))
    if not all(set(path[1:-1]) & set(between) for path in directed):
        return False
    if any(not dag.satisfies_back_door(cause, node) for node in between):
        return False
    return all(
        not any_open_back_door(dag, node, effect, {cause}, set(between) - {node})
        for node in between
    )


def any_open_back_door(dag, start, end, given_nodes, others):
    """Whether a path is open in the graph without the arrows that leave the set."""
    graph = dag.to_networkx()
    graph.remove_edges_from([(i, j) for i, j in dag.edges if i in {start, *others}])
    for path in nx.all_simple_paths(graph.to_undirected(), start, end):
        blocked = False
        for before, node, after in zip(path, path[1:], path[2:], strict=False):
            collider = graph.has_edge(before, node) and graph.has_edge(after, node)
            known = given_nodes & ({node, *nx.descendants(graph, node)} if collider else {node})
            blocked |= bool(known) != collider
        if not blocked:
            return True
    return False


@given(networks(), st.data())
@settings(max_examples=20)
def test_front_door_adjustment_is_the_intervention(network, data):
    names = list(network.dag.names)
    if len(names) < 3:
        return
    cause, effect = data.draw(st.permutations(names))[:2]
    between = front_door_set(network.dag, cause, effect)
    if between is None:
        return
    label = network.states[names.index(cause)][0]
    try:
        found = network.front_door(effect, {cause: label})
    except UnnaiveError as error:
        assert "never" in str(error) or "do not occur" in str(error)  # noqa: PT017
        return
    np.testing.assert_allclose(found, network.do({cause: label}).query(effect), atol=1e-9)


def smoking(seed=0, **tables):
    """Smoking acts on cancer through tar and cough only; a gene acts on smoking and cancer."""
    random = np.random.default_rng(seed)
    edges = [("gene", "smoking"), ("gene", "cancer"), ("smoking", "tar"), ("smoking", "cough")]
    edges += [("tar", "cancer"), ("cough", "cancer")]
    dag = DAG.of_edges(("gene", "smoking", "tar", "cough", "cancer"), edges)
    sizes = (2, 3, 2, 3, 2)
    drawn = [
        random.dirichlet(np.ones(v), [sizes[p] for p in parents])
        for v, parents in zip(sizes, dag.parents, strict=True)
    ]
    made = [tables.get(name, table) for name, table in zip(dag.names, drawn, strict=True)]
    return Network(dag, tuple(tuple(range(v)) for v in sizes), tuple(made))


@pytest.mark.parametrize("seed", range(4))
def test_the_front_door_is_adjusted_for_what_is_not_observed(seed):
    network = smoking(seed)
    for label in range(3):
        done = network.do({"smoking": label}).query("cancer")
        np.testing.assert_allclose(network.front_door("cancer", {"smoking": label}), done)
        np.testing.assert_allclose(
            network.front_door("cancer", {"smoking": label}, ["cough", "tar"]), done
        )
        assert np.abs(network.query("cancer", {"smoking": label}) - done).max() > 1e-4


def test_front_doors_through_which_nothing_is_seen():
    never = smoking(smoking=np.array([[0.0, 0.5, 0.5], [0.0, 0.2, 0.8]]))
    with pytest.raises(UnnaiveError, match="'smoking' is never 0, so nothing is known"):
        never.front_door("cancer", {"smoking": 0})
    np.testing.assert_allclose(
        never.front_door("cancer", {"smoking": 2}), never.do({"smoking": 2}).query("cancer")
    )
    sure = smoking(tar=np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    with pytest.raises(UnnaiveError, match="do not occur with all states of 'smoking'"):
        sure.front_door("cancer", {"smoking": 1})


def test_smoking_tar_and_cancer():
    edges = [("gene", "smoking"), ("gene", "cancer"), ("smoking", "tar"), ("tar", "cancer")]
    dag = DAG.of_edges(("gene", "smoking", "tar", "cancer"), edges)
    assert satisfies_front_door(dag, "smoking", "cancer", ["tar"])
    assert not satisfies_front_door(dag, "smoking", "cancer", [])
    assert not satisfies_front_door(dag, "smoking", "cancer", ["gene", "tar"])
    assert three_conditions(dag, "smoking", "cancer", ["tar"])
    assert front_door_set(dag, "smoking", "cancer", observed=["gene"]) is None
    assert identify(dag, "smoking", "cancer").criterion == "back-door"
    assert identify(dag, "smoking", "cancer", observed=["tar"]).given == ("tar",)
    assert identify(dag, "smoking", "cancer", observed=[]) is None
    assert identify(dag, "gene", "tar").formula == "P(tar | do(gene)) = P(tar | gene)"
    more = dag.with_edge("gene", "tar")
    assert not satisfies_front_door(more, "smoking", "cancer", ["tar"])


@given(networks(), st.data())
@settings(max_examples=20)
def test_the_front_door_is_checked_path_by_path(network, data):
    names = list(network.dag.names)
    if len(names) < 3:
        return
    cause, effect, *rest = data.draw(st.permutations(names))
    between = data.draw(st.lists(st.sampled_from(rest), unique=True, max_size=2))
    found = satisfies_front_door(network.dag, cause, effect, between)
    assert found == three_conditions(network.dag, cause, effect, between)


@pytest.mark.parametrize("seed", range(3))
def test_do_queries_equal_simulation(seed):
    random = np.random.default_rng(seed)
    action = {"treatment": "open"}
    drawn = STONES.do(action).sample(20_000, random_state=random).decode()
    share = np.mean(np.array(drawn["success"]) == "yes")
    assert set(drawn["treatment"]) == {"open"}
    expected = STONES.do(action).query("success")[1]
    assert abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / 20_000)


@pytest.mark.parametrize(
    ("action", "given_names", "message"),
    [
        ({"treatment": "open"}, ["size"], "do not satisfy the front-door"),
        ({"treatment": "open"}, None, "no variables do not satisfy"),
        ({}, None, "name the one that is set"),
    ],
)
def test_front_doors_that_are_refused(action, given_names, message):
    with pytest.raises(UnnaiveError, match=message):
        STONES.front_door("success", action, given_names)
