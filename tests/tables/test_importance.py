"""Estimates by sampling agree with the whole table, as well as their standard errors say."""

import dataclasses
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables.test_clique_tree import enumerated
from tests.tables.test_network import grid, made, networks, observations, sliced, whole
from unnaive import Network, read_network
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.structure.dag import DAG
from unnaive.tables.importance import ImportanceSampler, effective, tempered

FOLDER = Path(os.environ.get("UNNAIVE_NETWORKS", "nowhere"))
FEW = 6  # standard errors


def agrees(found, exact, most=FEW):
    """Check an estimate; what has no error is exact."""
    assert found.probabilities.shape == found.standard_errors.shape == exact.shape
    assert found.probabilities.sum() == pytest.approx(1.0)
    apart = np.abs(found.probabilities - exact)
    assert (apart <= most * found.standard_errors + 1e-9).all()


@given(networks(), st.data(), st.integers(0, 2**32))
@settings(max_examples=40)
def test_estimates_agree_with_the_whole_table(network, data, seed):
    codes, evidence = observations(network, data)
    joint = sliced(whole(network), codes)
    how = {"method": "sampling", "n_samples": 2000, "random_state": seed}
    if not joint.sum():
        with pytest.raises(UnnaiveError, match="its probability is 0"):
            network.marginals(evidence, **how)
        return
    try:
        found = network.marginals(evidence, **how)
    except UnnaiveError:  # only where the evidence is improbable
        assert joint.sum() < 0.01
        return
    for name, exact in enumerated(network, joint).items():
        agrees(found[name], exact)
    names = data.draw(st.lists(st.sampled_from(network.dag.names), unique=True, max_size=3))
    agrees(network.query(names, evidence, **how), network.query(names, evidence))


@given(networks(), st.data())
@settings(max_examples=20)
def test_parts_are_those_that_findings_separate(network, data):
    """Hidden ancestors of findings are in one part if and only if no finding separates them."""
    codes, _ = observations(network, data)
    seen = [v for v, code in enumerate(codes) if code is not None]
    filled = network.sizes.copy()
    filled[seen] = [code for code in codes if code is not None]
    try:
        sampler = ImportanceSampler(network, filled, np.random.default_rng(0))
    except UnnaiveError:
        return
    hidden = [v for v in network.dag.ancestors(seen) if v not in seen]
    for v in hidden:
        for w in hidden:
            same = sampler.touched[v] == sampler.touched[w]
            apart = v != w and network.dag.d_separated(v, w, given=seen)
            assert len(sampler.touched[v]) == 1
            assert same or apart


def test_the_error_is_that_of_repeated_estimates():
    """Of 200 seeds, the spread is the standard error, and about two thirds lie within one."""
    network = made([2, 3, 2, 3, 2, 2], 11, density=0.7, zeros=0.0)
    evidence = {"b": "b1", "f": "f0"}
    exact = network.query("d", evidence)
    found = [
        network.query("d", evidence, method="sampling", n_samples=500, random_state=seed)
        for seed in range(200)
    ]
    estimates = np.array([one.probabilities for one in found])
    errors = np.array([one.standard_errors for one in found])
    np.testing.assert_allclose(estimates.std(axis=0), errors.mean(axis=0), rtol=0.2)
    np.testing.assert_allclose(estimates.mean(axis=0), exact, atol=4 * errors.max() / 200**0.5)
    inside = (np.abs(estimates - exact) < errors).mean()
    assert 0.6 < inside < 0.76


def test_learned_proposals_answer_for_rare_findings():
    """Ten symptoms of a disease that one in a thousand has: without learning, no sample has it."""
    names = ["ill", *(f"s{i}" for i in range(10))]
    dag = DAG.of_edges(names, [(0, i + 1) for i in range(10)])
    tables = ([0.999, 0.001], *[[[0.9, 0.1], [0.1, 0.9]]] * 10)
    network = Network(dag, (("no", "yes"),) * 11, tables)
    evidence = dict.fromkeys(names[1:], "yes")
    found = network.query("ill", evidence, method="sampling")
    agrees(found, network.query("ill", evidence))
    assert found.effective_samples > 3000


def test_the_same_seed_gives_the_same_bits():
    network = made([2, 3, 2, 3], 3)
    evidence, seeds = {"c": "c0"}, (5, 5, 6)
    one, same, other = (
        network.marginals(evidence, method="sampling", random_state=s)["a"] for s in seeds
    )
    np.testing.assert_array_equal(one.probabilities, same.probabilities)
    assert (one.probabilities != other.probabilities).any()


def test_batches_and_soft_findings():
    network = made([2, 3, 2, 3], 3, zeros=0.0)
    rows = [{"a": "a1"}, {"b": ["b0", "b2"], "d": {"d0": 0.5, "d1": 0.1}}, {}]
    found = network.marginals(rows, method="sampling")
    for name, exact in network.marginals(rows).items():
        apart = np.abs(found[name].probabilities - exact)
        assert (apart <= FEW * found[name].standard_errors + 1e-9).all()
        assert found[name].effective_samples.shape == (3,)
    alone = network.query("c", rows[1], method="sampling")
    agrees(alone, network.query("c", rows[1]))
    nothing = network.marginals([], method="sampling")
    for name, exact in network.marginals([]).items():
        assert nothing[name].probabilities.shape == exact.shape
        assert nothing[name].standard_errors.shape == exact.shape
        assert nothing[name].effective_samples.shape == (0,)
    frame = pd.DataFrame({"a": ["a0", "a1"], "b": ["b2", None]})
    assert network.marginals(frame, method="sampling")["d"].probabilities.shape == (2, 3)


def test_without_rows_and_without_variables():
    network = made([2, 3], 3)
    found, exact = network.marginals([], method="sampling"), network.marginals([])
    for name, answer in found.items():
        assert answer.probabilities.shape == answer.standard_errors.shape == exact[name].shape
        assert answer.effective_samples.shape == (0,)
    nothing = Network(DAG((), ()), (), ())
    for method in ("exact", "sampling"):
        assert nothing.marginals(method=method) == {}
    assert nothing.query([]) == nothing.query([], method="sampling").probabilities == 1.0


def test_what_is_observed_is_certain():
    network = made([2, 3, 2], 3, zeros=0.0)
    found = network.query(["b", "a"], {"b": "b1"}, method="sampling")
    assert (found.probabilities[[0, 2]] == 0).all()
    assert (found.standard_errors[[0, 2]] == 0).all()
    assert (found.standard_errors[1] > 0).all()
    known = network.query("b", {"b": "b1"}, method="sampling")
    assert known.probabilities.tolist() == [0, 1, 0]
    assert known.standard_errors.tolist() == [0, 0, 0]
    nothing = network.query([], {"b": "b1"}, method="sampling")
    assert nothing.probabilities == 1.0


def test_refusals_name_sampling_and_sampling_answers():
    network = dataclasses.replace(grid(12), max_memory=2**20)
    with pytest.raises(TableTooLarge, match=r'or estimate the answer by query\(…, method="samp'):
        network.query("11.11")
    with pytest.raises(TableTooLarge, match=r'by marginals\(…, method="sampling"\)'):
        network.marginals()
    with pytest.raises(TableTooLarge, match=r"10,000 samples would need .* lower n_samples"):
        network.query("11.11", method="sampling")
    evidence = {"0.5": 1, "11.10": 0}
    found = network.query("11.11", evidence, method="sampling", n_samples=4000)
    agrees(found, dataclasses.replace(network, max_memory=2**31).query("11.11", evidence))


def test_impossible_evidence_is_refused():
    dag = DAG.of_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
    same = [[1.0, 0.0], [0.0, 1.0]]
    network = Network(dag, ((0, 1),) * 3, ([0.5, 0.5], same, same))
    with pytest.raises(UnnaiveError, match="cannot occur, its probability is 0: a=0, b=1"):
        network.query("c", {"a": 0, "b": 1}, method="sampling")
    for evidence in ({"a": 0, "c": 1}, {"a": 0, "c": {1: 0.5}}, {"b": []}):
        with pytest.raises(UnnaiveError, match=r"0\.0 effective ones agree .* raise n_samples"):
            network.query("b", evidence, method="sampling")
    unlikely = Network(dag, ((0, 1),) * 3, ([1 - 1e-6, 1e-6], same, same))
    agrees(unlikely.query("b", {"a": 1}, method="sampling"), np.array([0.0, 1.0]))


def test_wrong_settings():
    network = made([2, 2], 0)
    with pytest.raises(UnnaiveError, match="method='gibbs'; it must be 'exact' or 'sampling'"):
        network.query("a", method="gibbs")
    with pytest.raises(UnnaiveError, match=r"method=\['sampling'\]; it must be"):
        network.query("a", method=["sampling"])
    with pytest.raises(UnnaiveError, match="method='gibbs'"):
        network.marginals(method="gibbs")
    for number in (0, -5, 2.5, True, "many"):
        with pytest.raises(UnnaiveError, match="it must be a whole number"):
            network.query("a", method="sampling", n_samples=number)
    with pytest.raises(UnnaiveError, match="it must be a dictionary or None"):
        network.query("a", [{"b": "b0"}], method="sampling")
    few = network.query("a", method="sampling", n_samples=2)
    assert few.probabilities.sum() == 1.0


@given(st.lists(st.floats(-200, 5), min_size=2, max_size=50), st.floats(1, 50))
@settings(max_examples=30)
def test_tempered_weights_have_the_effective_number(logs, wanted):
    logs, wanted = np.array(logs), min(wanted, len(logs) - 0.5)
    weights = tempered(logs, wanted)
    number = weights.sum() ** 2 / (weights**2).sum()
    assert number >= wanted - 1e-9
    assert weights.sum() == pytest.approx(number)
    if effective(logs) >= wanted:
        np.testing.assert_allclose(weights / weights.max(), np.exp(logs - logs.max()))
    order = np.argsort(logs)
    assert all(low <= high + 1e-12 for low, high in pairwise(weights[order]))


@pytest.mark.long
@pytest.mark.skipif(not FOLDER.is_dir(), reason="UNNAIVE_NETWORKS is not set")
@pytest.mark.parametrize("n_findings", [0, 3, 8])
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.bif.gz")), ids=lambda path: path.name)
def test_public_networks_agree_with_exact_answers(path, n_findings):
    network, random = read_network(path), np.random.default_rng(1)
    row = network.sample(1, random_state=2).decode()
    chosen = random.permutation(len(network.sizes))[: min(n_findings, len(network.sizes) // 2)]
    evidence = {network.dag.names[v]: row[network.dag.names[v]][0] for v in chosen}
    found = network.marginals(evidence, method="sampling")
    squares = []
    for name, exact in network.marginals(evidence).items():
        agrees(found[name], exact, most=7)
        free = found[name].standard_errors > 0
        apart = (found[name].probabilities - exact)[free] / found[name].standard_errors[free]
        squares += (apart**2).tolist()
    assert len(network.sizes) < 20 or np.mean(squares) < 2
