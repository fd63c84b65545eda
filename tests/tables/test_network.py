"""Bayesian networks with tables: every answer equals that of the whole joint table."""

import dataclasses
import itertools
import math
import string
from unittest.mock import Mock

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.io.networks import NetworkDescription, write_network
from unnaive.structure.dag import DAG
from unnaive.tables.elimination import elimination_order
from unnaive.tables.network import Network
from unnaive.tables.sampling import drawn

AB = DAG.of_edges(["a", "b"], [(0, 1)])
XY = (("x", "y"), ("u", "v"))
FAIR = [0.5, 0.5]
examples = settings(max_examples=120)


def made(sizes, seed, density=0.5, zeros=0.3):
    """Make a network in which any variable may be above any other, with zeros in its tables."""
    random = np.random.default_rng(seed)
    rank = random.permutation(len(sizes))
    d = range(len(sizes))
    above = [[j for j in d if rank[j] < rank[i] and random.random() < density] for i in d]
    tables = []
    for size, parents in zip(sizes, above, strict=True):
        table = random.gamma(0.7, size=[*(sizes[p] for p in parents), size]) + 1e-3
        table *= random.random(table.shape) > zeros
        table[table.sum(axis=-1) == 0] = 1.0
        tables.append(table / table.sum(axis=-1, keepdims=True))
    dag = DAG(tuple(string.ascii_lowercase[: len(sizes)]), tuple(map(tuple, above)))
    pairs = zip(dag.names, sizes, strict=True)
    states = tuple(tuple(f"{name}{code}" for code in range(size)) for name, size in pairs)
    return Network(dag, states, tuple(tables))


@st.composite
def networks(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=7))
    density = draw(st.sampled_from([0.0, 0.3, 0.6, 1.0]))
    return made(sizes, draw(st.integers(0, 2**32)), density, draw(st.sampled_from([0.0, 0.3, 0.6])))


def whole(network):
    """Return the joint table of all variables, multiplied out."""
    joint = np.ones(network.sizes)
    for node, table in enumerate(network.tables):
        family = [*network.dag.parents[node], node]
        shape = [network.sizes[v] if v in family else 1 for v in range(joint.ndim)]
        joint = joint * table.transpose(np.argsort(family)).reshape(shape)
    return joint


def sliced(joint, codes):
    """Set the joint table to 0 where it contradicts codes."""
    kept = np.zeros(joint.shape, dtype=bool)
    kept[tuple(slice(None) if code is None else code for code in codes)] = True
    return np.where(kept, joint, 0.0)


def said(network, codes):
    """Turn codes into evidence; None is not observed."""
    pairs = zip(network.dag.names, network.states, codes, strict=True)
    return {name: labels[code] for name, labels, code in pairs if code is not None}


def observations(network, data):
    """Draw the codes of some variables, None for the others, and say them as evidence."""
    codes = [data.draw(st.none() | st.integers(0, int(v) - 1)) for v in network.sizes]
    return codes, said(network, codes)


@given(networks(), st.data())
@examples
def test_queries_equal_the_whole_table(network, data):
    codes, evidence = observations(network, data)
    names = data.draw(st.lists(st.sampled_from(network.dag.names), unique=True, max_size=4))
    joint = sliced(whole(network), codes)
    if not joint.sum():
        with pytest.raises(UnnaiveError, match="this evidence cannot occur"):
            network.query(names, evidence)
        return
    asked = [network.dag.names.index(name) for name in names]
    others = tuple(v for v in range(joint.ndim) if v not in asked)
    expected = (joint / joint.sum()).sum(axis=others)
    expected = expected.transpose([sorted(asked).index(v) for v in asked])
    found = network.query(names, evidence)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    keys = itertools.product(*(network.states[v] for v in asked))
    table = dict(zip(keys, found.ravel().tolist(), strict=True))
    assert network.query_table(names, evidence) == table
    for name, node in zip(names, asked, strict=True):
        alone = network.query(name, evidence)
        assert alone.shape == (network.sizes[node],)
        table = dict(zip(network.states[node], alone.tolist(), strict=True))
        assert network.query_table(name, evidence) == table


@given(networks(), st.data())
@examples
def test_the_most_probable_explanation_is_the_highest_cell(network, data):
    codes, evidence = observations(network, data)
    joint = sliced(whole(network), codes)
    if not joint.sum():
        with pytest.raises(UnnaiveError, match="this evidence cannot occur"):
            network.most_probable(evidence)
        return
    found, log_probability = network.most_probable(evidence)
    assert set(found) == set(network.dag.names) - set(evidence)
    assert log_probability == pytest.approx(math.log(joint.max()), abs=1e-9)
    row = {**found, **evidence}
    place = map(tuple.index, network.states, (row[name] for name in network.dag.names))
    assert joint[tuple(place)] == pytest.approx(joint.max(), rel=1e-9)
    assert network.log_probability(row)[0] == log_probability


@given(networks(), st.data())
@examples
def test_log_probabilities_equal_the_whole_table(network, data):
    drawn = [observations(network, data) for _ in range(data.draw(st.integers(0, 6)))]
    joint = whole(network)
    with np.errstate(divide="ignore"):
        expected = [np.log(sliced(joint, codes).sum()) for codes, _ in drawn]
    rows = [evidence for _, evidence in drawn]
    found = network.log_probability(rows)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    if rows:
        cells = [[row.get(name) for name in network.dag.names] for row in rows]
        np.testing.assert_array_equal(network.log_probability(cells), found)
        frame = pd.DataFrame(rows, columns=list(network.dag.names)[::-1], dtype=object)
        np.testing.assert_array_equal(network.log_probability(frame), found)


@given(networks(), st.data())
@examples
def test_posteriors_equal_the_whole_table(network, data):
    node = data.draw(st.integers(0, len(network.sizes) - 1))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n = data.draw(st.sampled_from([0, 1, 40]))
    gaps = random.random((len(network.sizes), n)) < data.draw(st.sampled_from([0.0, 0.2, 0.7]))
    sizes = network.sizes[:, None]
    codes = np.where(gaps, sizes, random.integers(0, sizes, gaps.shape)).astype(np.uint8)
    found = network.posterior(network.dag.names[node], codes)
    assert found.shape == (n, network.sizes[node])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    joint = whole(network)
    others = tuple(v for v in range(joint.ndim) if v != node)
    for row, line in zip(codes.T.tolist(), found, strict=True):
        row[node] = network.sizes[node]
        seen = [None if code == v else code for code, v in zip(row, network.sizes, strict=True)]
        expected = sliced(joint, seen).sum(axis=others)
        if expected.sum():
            np.testing.assert_allclose(line, expected / expected.sum(), rtol=0, atol=1e-10)


@pytest.mark.long
@given(networks(), st.data())
@examples
def test_only_the_markov_blanket_matters(network, data):
    node = data.draw(st.integers(0, len(network.sizes) - 1))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    codes = np.stack([random.integers(0, v, 30) for v in network.sizes])
    blanket = sorted(network.dag.markov_blanket(node))
    outside = [v for v in range(len(codes)) if v not in blanket]
    changed = codes.copy()
    changed[outside] = [random.integers(0, network.sizes[v] + 1, 30) for v in outside]
    name = network.dag.names[node]
    found = network.posterior(name, codes)
    np.testing.assert_array_equal(network.posterior(name, changed), found)
    joint = whole(network)
    for row, line in zip(codes.T, found, strict=True):  # by elimination, only from the blanket
        seen = [int(code) if v in blanket else None for v, code in enumerate(row)]
        if sliced(joint, seen).sum():
            np.testing.assert_allclose(line, network.query(name, said(network, seen)), atol=1e-10)


def test_rows_that_leave_the_same_to_be_summed_out_are_answered_together(monkeypatch):
    network, _ = chain(40)
    codes = network.sample(200, random_state=0).codes
    gaps = np.random.default_rng(0).random(codes.shape) < 0.4
    gaps[[17, 18, 22, 23]] = False  # of 20's blanket, 19 and 21 are missing here and there
    spy = Mock(side_effect=network._eliminated)
    monkeypatch.setattr(Network, "_eliminated", spy)
    network.posterior("x20", np.where(gaps, 2, codes))
    answered = [call.args[0].shape[1] for call in spy.call_args_list]
    assert (len(answered), sum(answered)) == (4, 200)
    spy = Mock(side_effect=network._connected)
    monkeypatch.setattr(Network, "_connected", spy)
    gaps[[19, 21]] = False
    network.posterior("x20", np.where(gaps, 2, codes))
    assert spy.call_count == 1  # all of the blanket is there, whatever else is missing


def fewest_fills(scopes, kept, sizes):
    """Order variables by min-fill, with all prices computed again at each step."""
    graph, order = nx.Graph(), []
    graph.add_nodes_from(v for scope in scopes for v in scope)
    graph.add_edges_from(pair for scope in scopes for pair in itertools.combinations(scope, 2))

    def price(v):
        missing = nx.complement(graph.subgraph(graph[v])).number_of_edges()
        return missing, sizes[v] * math.prod(sizes[w] for w in graph[v]), v

    while left := set(graph) - set(kept):
        order.append(min(left, key=price))
        graph.add_edges_from(itertools.combinations(graph[order[-1]], 2))
        graph.remove_node(order[-1])
    return order


@given(st.integers(0, 2**32), st.integers(0, 3))
@settings(max_examples=60)
def test_the_order_joins_the_fewest_pairs(seed, n_kept):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, 9)
    scopes = [set(random.integers(0, 9, 3).tolist()) for _ in range(9)]
    kept = tuple(sorted(random.choice(9, n_kept, replace=False).tolist()))
    order, cliques = elimination_order(scopes, kept, sizes)
    assert (order, cliques[-1]) == (fewest_fills(scopes, kept, sizes.tolist()), kept)
    assert all(any(scope <= {*clique, *kept} for clique in cliques) for scope in scopes)


def test_a_row_that_cannot_occur_gets_the_marginal():
    network = Network(AB, XY, ([0.3, 0.7], [[1, 0], [1, 0]]))
    found = network.posterior("a", np.array([[2, 2], [1, 0]]))
    np.testing.assert_allclose(found, [[0.3, 0.7], [0.3, 0.7]])


@pytest.mark.parametrize("seed", range(16))
def test_frequencies_of_samples(seed):
    random = np.random.default_rng(seed)
    network = made(random.integers(1, 4, 4).tolist(), seed, density=0.7)
    joint, n = whole(network), 20_000
    row = np.unravel_index(random.choice(joint.size, p=joint.ravel()), joint.shape)
    codes = [int(code) if random.random() < 0.3 * (seed % 3) else None for code in row]
    sample = network.sample(n, said(network, codes), random_state=seed)
    joint = sliced(joint, codes)
    expected = n * joint.ravel() / joint.sum()
    cells = np.ravel_multi_index(tuple(sample.codes.astype(int)), joint.shape)
    observed = np.bincount(cells, minlength=joint.size)
    assert not observed[expected == 0].any()
    rare = expected < 5
    expected = np.append(expected[~rare], expected[rare].sum())
    observed = np.append(observed[~rare], observed[rare].sum())
    possible = expected > 0
    statistic = ((observed - expected)[possible] ** 2 / expected[possible]).sum()
    assert statistic <= chi2.ppf(1 - 1e-6, max(possible.sum() - 1, 1))


def test_samples_are_repeated_by_their_seed_and_read_by_people():
    network = made([2, 3, 2], 1)
    sample = network.sample(50, random_state=7)
    np.testing.assert_array_equal(sample.codes, network.sample(50, random_state=7).codes)
    assert (sample.codes != network.sample(50, random_state=8).codes).any()
    expected = {name: [f"{name}{c}" for c in sample.codes[v]] for v, name in enumerate("abc")}
    assert sample.decode() == expected
    assert network.sample(0).codes.shape == (3, 0)
    assert np.isfinite(network.log_probability(pl.DataFrame(expected))).all()


@given(st.lists(st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 7.0]), min_size=1, max_size=6).filter(any))
@settings(max_examples=50)
def test_what_has_no_weight_is_never_drawn(weights):
    none, possible = np.empty((0, 1), dtype=np.uint8), np.flatnonzero(weights)
    for number, expected in ((0.0, possible[0]), (1 - 2.0**-53, possible[-1])):
        stuck = Mock(random=Mock(return_value=np.array([number])))
        assert drawn(np.array(weights), none, stuck) == expected


def chain(n, seed=0):
    """Make a chain of variables with two states; return it and its transition table."""
    names = tuple(f"x{i}" for i in range(n))
    parents = ((), *((i,) for i in range(n - 1)))
    step = np.random.default_rng(seed).dirichlet([1, 1], 2)
    return Network(DAG(names, parents), (("no", "yes"),) * n, ([0.5, 0.5], *[step] * (n - 1))), step


def test_a_long_chain_does_not_underflow():
    network, step = chain(300)
    expected = np.array([0.5, 0.5]) @ np.linalg.matrix_power(step, 299)
    np.testing.assert_allclose(network.query("x299"), expected, atol=1e-12)
    ends = {"x0": "no", "x299": "yes"}
    far = np.linalg.matrix_power(step, 150) * np.linalg.matrix_power(step, 149)[:, 1][None]
    np.testing.assert_allclose(network.query("x150", ends), far[0] / far[0].sum(), atol=1e-12)
    everything = {f"x{i}": "no" for i in range(0, 300, 2)}
    expected = math.log(0.5) + 149 * math.log((step @ step)[0, 0])
    assert network.log_probability([everything])[0] == pytest.approx(expected, abs=1e-9)
    codes = network.sample(200, ends, random_state=0).codes
    assert codes[[0, 299]].T.tolist() == [[0, 1]] * 200
    assert network.most_probable(ends)[1] <= network.log_probability([ends])[0]


def test_what_is_nearly_impossible_can_be_told():
    n = 200
    names = ("root", *(f"x{i}" for i in range(n)))
    rare = np.array([[1 - 1e-9, 1e-9], [1 - 3e-9, 3e-9], [1.0, 0.0]])
    dag = DAG(names, ((), *[(0,)] * n))
    network = Network(dag, ((0, 1, 2), *[(False, True)] * n), ([0.5, 0.25, 0.25], *[rare] * n))
    evidence, expected = dict.fromkeys(names[1:], True), n * math.log(3e-9) + math.log(0.25)
    assert network.log_probability(evidence)[0] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(network.query("root", evidence), [3.0**-n * 2, 1, 0], atol=1e-10)
    assert network.most_probable(evidence)[0] == {"root": 1}
    ratio = network.query("root", dict.fromkeys(names[101:], True))
    assert ratio[0] / ratio[1] == pytest.approx(2 * 3.0**-100, rel=1e-9)


def grid(side):
    """Make a grid of variables, each with those above and left of it for parents."""
    random = np.random.default_rng(0)
    places = [(i, j) for i in range(side) for j in range(side)]
    parents = [[p for p in ((i - 1, j), (i, j - 1)) if p in places] for i, j in places]
    above = tuple(tuple(places.index(p) for p in own) for own in parents)
    tables = tuple(random.dirichlet([1, 1], [2] * len(own)) for own in above)
    names = tuple(f"{i}.{j}" for i, j in places)
    return Network(DAG(names, above), ((0, 1),) * len(names), tables)


def test_barren_nodes_are_not_looked_at():
    network = dataclasses.replace(grid(12), max_memory=2000)  # bytes; the whole takes far more
    assert network.query("0.0").tolist() == pytest.approx(network.tables[0].tolist())
    expected = network.tables[0] @ network.tables[1]
    np.testing.assert_allclose(network.query("0.1"), expected, atol=1e-12)
    assert network.sample(5, {"0.1": 1}, random_state=0).codes.shape == (144, 5)
    found = network.posterior("0.1", np.full((144, 1), 2))
    np.testing.assert_allclose(found, expected[None], atol=1e-12)
    with pytest.raises(TableTooLarge):
        network.query("11.11")


def test_tables_beyond_memory_are_refused_before_they_are_made():
    with pytest.raises(TableTooLarge, match=r"need [\d,]+\.\d\d GiB, more than .* \(2\.00 GiB\)"):
        grid(26).query("25.25")
    network = dataclasses.replace(grid(16), max_memory=2**20)
    names, codes = network.dag.names, np.repeat([[2], [1]], [255, 1], axis=0)
    for call in (
        network.most_probable,
        lambda: network.sample(1, {"15.15": 1}),
        lambda: network.posterior("0.0", codes),
        lambda: network.log_probability({"15.15": 1}),
        lambda: network.query(names, dict.fromkeys(names, 0)),
    ):
        with pytest.raises(TableTooLarge, match="observe some of these, query fewer, or raise"):
            call()
    with pytest.raises(TableTooLarge, match=r"the largest is of '0\.0', '0\.1'"):
        network.query(names[:20])
    enough = dataclasses.replace(grid(4), max_memory=4000).query("3.3")
    np.testing.assert_array_equal(enough, grid(4).query("3.3"))


def test_rows_are_answered_in_blocks(monkeypatch):
    network = made([3, 2, 3, 2, 2], 5, density=0.6)
    sample = network.sample(400, random_state=0)
    gaps = np.random.default_rng(1).random(sample.codes.shape) < 0.3
    codes = np.where(gaps, network.sizes[:, None], sample.codes)
    expected = network.posterior("c", codes)
    for module in ("network", "sampling"):
        monkeypatch.setattr(f"unnaive.tables.{module}._BLOCK_BYTES", 1)
    np.testing.assert_allclose(network.posterior("c", codes), expected, atol=1e-14)
    np.testing.assert_array_equal(network.sample(400, random_state=0).codes, sample.codes)


def test_labels_of_any_kind():
    network = Network(AB, ((1, 2.5), (True, False)), ([0.25, 0.75], [FAIR, [0.1, 0.9]]))
    expected = np.log([0.125, 0.75, 0.2])
    frame = pd.DataFrame({"b": [True, None, True], "a": [1, 2.5, np.nan]})
    declared = pd.DataFrame({"a": pd.Categorical([1.0], categories=[1.0, 7.0])})  # 7 is not there
    for rows, answer in (
        ([{"a": 1, "b": True}, {"a": 2.5, "b": None}, {"a": math.nan, "b": True}], expected),
        ([[1, True], [2.5, None], [None, True]], expected),
        (frame, expected),
        (pl.from_pandas(frame), expected),
        ({"a": pd.NA, "b": True}, expected[2:]),
        (frame[["a"]][:1], np.log([0.25])),
        (declared, np.log([0.25])),
    ):
        np.testing.assert_allclose(network.log_probability(rows), answer)
    np.testing.assert_allclose(network.query("a", {"b": None}), [0.25, 0.75])


def test_asked_and_observed_is_a_point():
    found = made([2, 3], 0, zeros=0.0).query(["b", "a"], {"b": "b1"})
    np.testing.assert_allclose(found.sum(axis=1), [0, 1, 0], atol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda n: n.query("z"), "there is no variable 'z'; the variables are 'a', 'b', 'c'"),
        (lambda n: n.query("a", {"y": 1}), "there is no variable 'y'"),
        (lambda n: n.query("a", {"b": "x"}), "'b' has no state 'x'; its states are 'b0', 'b1'"),
        (lambda n: n.query(["a", "c", "a"]), "asked for twice: 'a', 'c', 'a'"),
        (lambda n: n.query("a", ["b"]), r"evidence=\['b'\]; it must be a dictionary"),
        (lambda n: n.most_probable({"b": 0}), "variable 'b' has no state 0; its states"),
        (lambda n: n.sample(3, {"q": 0}), "there is no variable 'q'"),
        (lambda n: n.log_probability([{"a": "a0"}, {"a": "x"}]), "'a' has no state 'x'"),
        (lambda n: n.log_probability([["a0", "b0"]]), "rows have 2 columns, not 3"),
        (lambda n: n.log_probability(pd.DataFrame({"d": ["a0"]})), "no variable 'd'"),
        (lambda n: n.posterior("z", np.zeros((3, 1))), "there is no variable 'z'"),
        (lambda n: n.posterior("a", np.zeros((2, 5), int)), r"codes have shape \(2, 5\)"),
        (lambda n: n.posterior("a", np.full((3, 1), -1)), "states, one line for each of 3"),
    ],
)
def test_errors_name_the_variable_and_the_state(call, message):
    with pytest.raises(UnnaiveError, match=message):
        call(made([2, 2, 2], 0))


def test_impossible_evidence_is_named():
    network = Network(AB, XY, ([1, 0], [FAIR, [0, 1]]))
    with pytest.raises(UnnaiveError, match=r"cannot occur, its probability is 0: a='y', b='v'"):
        network.query("b", {"a": "y", "b": "v"})
    for call in (network.most_probable, lambda seen: network.sample(2, seen)):
        with pytest.raises(UnnaiveError, match=r"this evidence cannot occur.*: a='y'"):
            call({"a": "y"})
    assert network.log_probability([{"a": "y"}]).tolist() == [-np.inf]


@pytest.mark.parametrize(
    ("states", "tables", "message"),
    [
        (XY[:1], (FAIR, [FAIR, FAIR]), "2 variables, but 1 lists of states and 2 tables"),
        (XY, (FAIR,), "2 variables, but 2 lists of states and 1 tables"),
        ((("x", "x"), XY[1]), (FAIR, [FAIR, FAIR]), "variable 'a' has no states, or a state twice"),
        ((XY[0], ()), (FAIR, [[], []]), "variable 'b' has no states"),
        (XY, (FAIR, FAIR), r"'b' has shape \(2,\); by its parents \('a'\) and .* have \(2, 2\)"),
        (XY, ([FAIR], [FAIR, FAIR]), r"table of 'a' has shape \(1, 2\); by its parents \(none\)"),
        (XY, ([1.5, -0.5], [FAIR, FAIR]), "the table of 'a' has -0.5, which is not a probability"),
        (XY, (FAIR, [FAIR, [np.nan, 1]]), "the table of 'b' has nan"),
        (XY, ([0.5, 0.4], [FAIR, FAIR]), "the table of 'a' sums to 0.9, not to 1"),
        (XY, ([0.5, 0.500002], [FAIR, FAIR]), "the table of 'a' sums to 1.000002, not to 1"),
        (XY, (FAIR, [FAIR, [0.5, 0.6]]), "the table of 'b' given a='y' sums to 1.1, not to 1"),
    ],
)
def test_bad_tables(states, tables, message):
    with pytest.raises(UnnaiveError, match=message):
        Network(AB, states, tables)


def test_tables_are_copied_and_rounding_is_divided_out():
    own = np.array([0.5, 0.5 + 9e-7])
    network = Network(AB, XY, (own, [[0.3, 0.7], [0.6, 0.4]]))
    own[0] = 7.0
    with pytest.raises(ValueError, match="read-only"):
        network.tables[0][0] = 1.0
    assert np.exp(network.log_probability([{}, {"b": None}])).tolist() == [1.0, 1.0]
    rows = [{"a": a, "b": b} for a in XY[0] for b in XY[1]]
    assert np.exp(network.log_probability(rows)).sum() == pytest.approx(1.0, abs=1e-14)


@given(networks(), st.sampled_from(["bif", "xml"]))
@settings(max_examples=30)
def test_networks_are_exchanged(tmp_path_factory, network, ending):
    path = tmp_path_factory.mktemp("networks") / f"network.{ending}"
    network.write(path)
    again = Network.read(path)
    assert (again.dag, again.states) == (network.dag, network.states)
    for own, read in zip(network.tables, again.tables, strict=True):
        np.testing.assert_array_equal(read, own)


def test_descriptions_may_list_parents_in_any_order():
    network = made([2, 3, 4], 3, density=1.0)
    description = network.to_description("three")
    child = max(range(3), key=lambda node: len(network.dag.parents[node]))
    parents, tables = list(description.parents), list(description.tables)
    parents[child], tables[child] = parents[child][::-1], tables[child].transpose(1, 0, 2)
    changed = dataclasses.replace(description, parents=tuple(parents), tables=tuple(tables))
    again = Network.of_description(changed)
    assert (description.name, again.dag) == ("three", network.dag)
    np.testing.assert_array_equal(again.tables[child], network.tables[child])


def test_a_file_with_a_cycle_is_refused(tmp_path):
    both = np.array([FAIR, FAIR])
    turned = NetworkDescription("cycle", ("a", "b"), XY, ((1,), (0,)), (both, both))
    write_network(tmp_path / "cycle.bif", turned)
    with pytest.raises(UnnaiveError, match="cycle: a -> b -> a"):
        Network.read(tmp_path / "cycle.bif")
