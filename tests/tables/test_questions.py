"""Questions to networks: soft findings, MAP, sensitivity, value of information, by enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables.test_network import made, networks, observations, sliced, whole
from unnaive import Network
from unnaive.exceptions import UnnaiveError
from unnaive.structure.dag import DAG

examples = settings(max_examples=15)
SHARES = np.linspace(0.1, 0.9, 12).reshape(4, 3)
AGES = Network(
    DAG.of_edges(["age", "dose", "ill"], [(0, 2), (1, 2)]),
    (("≤ 18", "(18, 65]", "> 65", "missing"), (0, 1, 2.5), ("no", "yes")),
    ([0.2, 0.5, 0.2, 0.1], [0.5, 0.3, 0.2], np.stack([SHARES, 1 - SHARES], axis=2)),
    bins={"age": (18, 65)},
)


def weighted(joint, node, chances):
    """Multiply the whole table by P(finding | state) of a variable."""
    return joint * np.reshape(chances, [-1 if v == node else 1 for v in range(joint.ndim)])


@given(networks(), st.data())
@examples
def test_soft_findings_weigh_the_whole_table(network, data):
    node = data.draw(st.integers(0, len(network.sizes) - 1))
    chance = st.floats(0, 1, width=16)
    size = int(network.sizes[node])
    chances = data.draw(st.lists(chance, min_size=size, max_size=size))
    codes, evidence = observations(network, data)
    codes[node] = None
    name = network.dag.names[node]
    evidence[name] = dict(zip(network.states[node], chances, strict=True))
    joint = weighted(sliced(whole(network), codes), node, chances)
    asked = data.draw(st.integers(0, joint.ndim - 1))
    if not joint.sum() > 1e-300:
        return
    expected = joint.sum(axis=tuple(v for v in range(joint.ndim) if v != asked)) / joint.sum()
    target = network.dag.names[asked]
    np.testing.assert_allclose(network.query(target, evidence), expected, atol=1e-10)
    np.testing.assert_allclose(network.marginals(evidence)[target], expected, atol=1e-10)
    np.testing.assert_allclose(network.marginals([evidence])[target][0], expected, atol=1e-10)
    _, log = network.most_probable(evidence)
    assert log == pytest.approx(math.log(joint.max()))
    sample = network.sample(3, evidence, random_state=0)
    assert sample.names == network.dag.names
    assert (joint[tuple(sample.codes)] > 0).all()


@pytest.mark.parametrize(
    ("finding", "states"),
    [
        (["≤ 18", "> 65"], [0, 2]),
        ({"missing"}, [3]),
        (slice(None, 65), [0, 1]),
        (slice(18, 65), [1]),
        (slice(18, None), [1, 2]),
        ((10, 70), [0, 2]),
    ],
)
def test_one_of_several_states_and_ranges(finding, states):
    prior = AGES.query("age")[states]
    expected = sum(
        share * AGES.query("ill", {"age": AGES.states[0][code]})
        for share, code in zip(prior / prior.sum(), states, strict=True)
    )
    np.testing.assert_allclose(AGES.query("ill", {"age": finding}), expected)


def test_ranges_of_numbers_that_are_no_bins():
    expected = AGES.query("ill", {"dose": [1, 2.5]})
    np.testing.assert_array_equal(AGES.query("ill", {"dose": slice(0, 3)}), expected)


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"age": slice(20, 65)}, "ends at 20, inside of a bin"),
        ({"ill": slice(0, 1)}, "variable 'ill' has no numbers"),
        ({"ill": {"yes": 2}}, "has 2 for state 'yes'; give P"),
        ({"ill": ["maybe"]}, "no state 'maybe'"),
        ({"ill": [None]}, "names None, which is no state"),
        ({"ill": []}, "cannot occur"),
    ],
)
def test_findings_that_are_refused(evidence, message):
    with pytest.raises(UnnaiveError, match=message):
        AGES.query("dose", evidence)


@given(networks(), st.data())
@examples
def test_map_equals_enumeration(network, data):
    codes, evidence = observations(network, data)
    joint = sliced(whole(network), codes)
    if not joint.sum():
        return
    free = [v for v in range(joint.ndim) if codes[v] is None]
    asked = data.draw(st.lists(st.sampled_from(free), unique=True)) if free else []
    table = joint.sum(axis=tuple(v for v in range(joint.ndim) if v not in asked))
    states, log = network.most_probable(evidence, [network.dag.names[v] for v in asked])
    assert set(states) == {network.dag.names[v] for v in asked}
    assert log == pytest.approx(math.log(table.max()))
    found = [network.states[v].index(states[network.dag.names[v]]) for v in sorted(asked)]
    assert table[tuple(found)] == pytest.approx(table.max())


@pytest.mark.parametrize("seed", range(8))
def test_map_of_two_variables_sums_out_the_others(seed):
    network = made([2, 3, 2, 3, 2], seed, 0.6, 0.0)
    names, joint = network.dag.names, whole(network)
    for asked in itertools.combinations(range(5), 2):
        observed = next(v for v in range(5) if v not in asked)
        seen = joint.take([1], axis=observed)
        table = seen.sum(axis=tuple(v for v in range(5) if v not in asked))
        evidence = {names[observed]: network.states[observed][1]}
        states, log = network.most_probable(evidence, [names[v] for v in reversed(asked)])
        best = np.unravel_index(table.argmax(), table.shape)
        assert states == {names[v]: network.states[v][b] for v, b in zip(asked, best, strict=True)}
        assert log == pytest.approx(math.log(table.max()))


def test_sensitivity_needs_evidence_that_can_occur():
    dag = DAG.of_edges(["ill", "test"], [("ill", "test")])
    network = Network(dag, (("no", "yes"),) * 2, ([1.0, 0.0], [[1.0, 0.0], [0.1, 0.9]]))
    asked = {"ill": "yes"}
    with pytest.raises(UnnaiveError, match="the evidence cannot occur, whatever the entry"):
        network.sensitivity(asked, "test", {"ill": "yes", "test": "yes"}, {"test": "yes"})
    with pytest.raises(UnnaiveError, match="the evidence cannot occur, its probability is 0"):
        network.sensitivity(asked, "ill", {"ill": "yes"}, {"test": "yes"})


@given(networks(), st.data(), st.floats(0, 1))
@examples
def test_sensitivity_equals_a_changed_table(network, data, entry):
    node, asked = (data.draw(st.integers(0, len(network.sizes) - 1)) for _ in range(2))
    codes, evidence = observations(network, data)
    codes[asked] = None
    evidence.pop(network.dag.names[asked], None)
    family = (*network.dag.parents[node], node)
    place = tuple(data.draw(st.integers(0, int(network.sizes[v]) - 1)) for v in family)
    state = network.states[asked][0]
    named = {network.dag.names[v]: network.states[v][c] for v, c in zip(family, place, strict=True)}
    if not sliced(whole(network), codes).sum():
        return
    found = network.sensitivity(
        {network.dag.names[asked]: state}, network.dag.names[node], named, evidence
    )
    assert found.entry == network.tables[node][place]
    assert found.value == pytest.approx(
        network.query(network.dag.names[asked], evidence)[0], abs=1e-10
    )
    table = network.tables[node].copy()
    row = table[place[:-1]]
    rest = 1 - row[place[-1]]
    if len(row) == 1 or rest < 1e-9:
        return
    row *= (1 - entry) / rest
    row[place[-1]] = entry
    changed = Network(
        network.dag, network.states, (*network.tables[:node], table, *network.tables[node + 1 :])
    )
    joint = sliced(whole(changed), codes)
    if joint.sum() > 1e-9:
        expected = np.moveaxis(joint, asked, 0)[0].sum() / joint.sum()
        assert found.at(entry) == pytest.approx(expected, abs=1e-9)


def test_derivative_and_what_is_needed():
    dag = DAG.of_edges(["ill", "test"], [("ill", "test")])
    network = Network(dag, (("no", "yes"),) * 2, ([0.99, 0.01], [[0.95, 0.05], [0.1, 0.9]]))
    entry = {"test": "yes", "ill": "no"}
    found = network.sensitivity({"ill": "yes"}, "test", entry, {"test": "yes"})
    step = (found.at(0.05 + 1e-6) - found.at(0.05 - 1e-6)) / 2e-6
    assert found.derivative == pytest.approx(step, rel=1e-5)
    assert found.at(found.needed(0.5)) == pytest.approx(0.5)
    assert found.needed(0.001) is None
    with pytest.raises(UnnaiveError, match="name the states of 'ill', 'test'"):
        network.sensitivity({"ill": "yes"}, "test", {"test": "yes"})
    with pytest.raises(UnnaiveError, match="asked for and observed"):
        network.sensitivity({"ill": "yes"}, "test", entry, {"ill": "yes"})


def entropy(chances):
    return -sum(p * math.log(p) for p in chances if p > 0)


@given(networks(), st.data())
@examples
def test_value_of_information_is_the_expected_loss_of_entropy(network, data):
    codes, evidence = observations(network, data)
    if not sliced(whole(network), codes).sum():
        return
    free = [name for name in network.dag.names if name not in evidence]
    if not free:
        return
    target = data.draw(st.sampled_from(free))
    found = network.value_of_information(target, evidence)
    assert sorted(found) == sorted(set(free) - {target})
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for name, value in found.items():
        table = network.query([name, target], evidence)
        after = sum(row.sum() * entropy(row / row.sum()) for row in table if row.sum() > 0)
        assert value == pytest.approx(entropy(table.sum(axis=0)) - after, abs=1e-9)


def test_what_tells_nothing_more():
    with pytest.raises(UnnaiveError, match="'ill' is observed"):
        AGES.value_of_information("ill", {"ill": "no"})
    with pytest.raises(UnnaiveError, match="'ill' is the target"):
        AGES.value_of_information("ill", candidates=["ill"])
    assert list(AGES.value_of_information("ill", candidates=["dose"])) == ["dose"]
