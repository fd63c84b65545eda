"""EM: expected counts row by row, a path that never falls, and what is learned."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables.test_network import networks, whole
from unnaive import Network
from unnaive.exceptions import UnnaiveError
from unnaive.structure.dag import DAG
from unnaive.tables import em
from unnaive.tables.em import expectation_maximization, structural_em


def with_gaps(network, n, seed, share=0.3):
    """Sample rows as codes, and hide cells at random."""
    random = np.random.default_rng(seed)
    codes = network.sample(n, random_state=random).codes.astype(int)
    return np.where(random.random(codes.shape) < share, -1, codes)


def decoded(network, codes):
    """Turn codes into a frame with missing cells."""
    columns = zip(network.dag.names, network.states, codes, strict=True)
    return pd.DataFrame(
        {name: [None if c < 0 else labels[c] for c in line] for name, labels, line in columns},
        dtype=object,
    )


def one_step(network, codes):
    """Complete every row in all ways, count, and divide; return tables and log-likelihood."""
    counts = [np.zeros(table.shape) for table in network.tables]
    joint, log = whole(network), 0.0
    for row in codes.T:
        choices = [[c] if c >= 0 else range(v) for c, v in zip(row, joint.shape, strict=True)]
        cells = list(itertools.product(*choices))
        total = sum(joint[cell] for cell in cells)
        log += math.log(total)
        for cell, (node, table) in itertools.product(cells, enumerate(counts)):
            place = tuple(cell[v] for v in (*network.dag.parents[node], node))
            table[place] += joint[cell] / total
    pairs = zip(counts, network.tables, strict=True)
    tables = [
        np.where(
            c.sum(axis=-1, keepdims=True) > 0, c / np.maximum(c.sum(-1, keepdims=True), 1e-300), t
        )
        for c, t in pairs
    ]
    return tables, log


@given(networks(), st.integers(0, 99))
@settings(max_examples=6)
def test_a_structure_is_scored_by_its_likelihood_less_half_of_log_n_a_parameter(network, seed):
    codes = with_gaps(network, 12, seed)
    free = sum(math.prod(table.shape[:-1]) * (table.shape[-1] - 1) for table in network.tables)
    expected = one_step(network, codes)[1] - 0.5 * math.log(12) * free
    found = em._bic(network, em.encoded(network, decoded(network, codes)))
    assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


@given(networks(), st.integers(0, 99))
@settings(max_examples=6)
def test_a_step_equals_completing_every_row(network, seed):
    codes = with_gaps(network, 12, seed)
    start = Network.uniform(network.dag, network.states, random_state=seed)
    result = expectation_maximization(start, decoded(network, codes), max_steps=1)
    tables, log = one_step(start, codes)
    assert result.path[0] == pytest.approx(log)
    for found, expected in zip(result.network.tables, tables, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


@given(networks(), st.integers(0, 99), st.sampled_from([0.0, 0.5]))
@settings(max_examples=6)
def test_the_path_never_falls(network, seed, pseudo_count):
    rows = decoded(network, with_gaps(network, 30, seed, 0.5))
    start = Network.uniform(network.dag, network.states, random_state=seed)
    result = expectation_maximization(start, rows, pseudo_count=pseudo_count, max_steps=30)
    assert (np.diff(result.path) >= 0).all()
    if not pseudo_count:
        assert result.network.log_probability(rows).sum() == pytest.approx(result.path[-1])


def test_complete_rows_are_counted_at_once():
    dag = DAG.of_edges(["a", "b"], [(0, 1)])
    start = Network.uniform(dag, (("x", "y"), ("u", "v")))
    rows = [{"a": "x", "b": "u"}, {"a": "x", "b": "v"}, {"a": "y", "b": "v"}, {"a": "x", "b": "u"}]
    result = expectation_maximization(start, rows)
    assert result.converged
    assert len(result.path) == 3  # the second step gains nothing
    np.testing.assert_allclose(result.network.tables[1], [[2 / 3, 1 / 3], [0, 1]])
    assert "converged" in repr(result)


def test_a_hidden_variable_is_found():
    dag = DAG.of_edges(["class", "a", "b", "c"], [(0, 1), (0, 2), (0, 3)])
    table = [[0.9, 0.1], [0.1, 0.9]]
    truth = Network(dag, ((0, 1),) * 4, ([0.4, 0.6], table, table, table))
    rows = truth.sample(3000, random_state=0).decode()
    del rows["class"]
    start = Network.uniform(dag, truth.states, random_state=1)
    found = expectation_maximization(start, pd.DataFrame(rows)).network
    share = found.query("class")
    assert sorted(share.round(1)) == [0.4, 0.6]


def test_rows_that_the_start_excludes():
    dag = DAG.empty(["a", "b"])
    start = Network(dag, (("x", "y"), ("u", "v")), ([1, 0], [0.5, 0.5]))
    with pytest.raises(UnnaiveError, match="probability 0 by the tables to start from: a='y'"):
        expectation_maximization(start, [{"a": "y"}])
    with pytest.raises(UnnaiveError, match="probability 0 by the tables to start from"):
        expectation_maximization(start, [{"a": "y", "b": "u"}])
    with pytest.raises(UnnaiveError, match="a row; a cell is one state or missing"):
        expectation_maximization(start, [{"a": ["x", "y"]}])
    with pytest.raises(UnnaiveError, match="allows no probability 0, and the table of 'a'"):
        expectation_maximization(start, [{"a": "x"}], pseudo_count=1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_steps": 0}, "max_steps=0; it must be a whole number of at least 1"),
        ({"max_steps": 2.5}, "max_steps=2.5; it must be"),
        ({"pseudo_count": -1}, "pseudo_count=-1; it must be a number of at least 0"),
        ({"pseudo_count": math.inf}, "pseudo_count=inf"),
        ({"pseudo_count": "some"}, "pseudo_count='some'"),
        ({"tolerance": math.nan}, "tolerance=nan; it must be a number"),
    ],
)
def test_settings_that_are_refused(settings, message):
    start = Network.uniform(DAG.empty(["a"]), (("x", "y"),))
    with pytest.raises(UnnaiveError, match=message):
        expectation_maximization(start, [{"a": "x"}], **settings)


def test_no_rows():
    start = Network.uniform(DAG.empty(["a"]), (("x", "y"),))
    assert expectation_maximization(start, []).network.query("a").tolist() == [0.5, 0.5]
    with pytest.raises(UnnaiveError, match="there are no rows"):
        structural_em(start, [])
    with pytest.raises(UnnaiveError, match="max_parents='two'; it must be a whole number"):
        structural_em(start, [{"a": "x"}], max_parents="two")


def test_structural_em_finds_the_graph_of_incomplete_rows(monkeypatch):
    dag = DAG.of_edges(["a", "b", "c"], [(0, 2), (1, 2)])
    table = [[[0.97, 0.03], [0.3, 0.7]], [[0.25, 0.75], [0.01, 0.99]]]
    truth = Network(dag, ((0, 1),) * 3, ([0.4, 0.6], [0.5, 0.5], table))
    rows = decoded(truth, with_gaps(truth, 600, 0, 0.15))
    start = Network.uniform(DAG.of_edges(dag.names, [(0, 1), (1, 2)]), truth.states)
    result = structural_em(start, rows)
    assert result.network.dag.cpdag() == dag.cpdag()
    assert (np.diff(result.path) > 0).all()
    monkeypatch.setattr(em, "_MOST_COMPLETIONS", 3)  # rows with more are sampled
    assert structural_em(start, rows).network.dag.cpdag() == dag.cpdag()
