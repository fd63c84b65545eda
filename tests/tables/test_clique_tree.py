"""Clique trees: all marginals at once equal those of the whole table."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables.test_network import chain, grid, made, networks, observations, sliced, whole
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.tables import clique_tree

examples = settings(max_examples=15)


def enumerated(network, joint):
    """Return the marginals of a joint table, variable by variable."""
    every = range(joint.ndim)
    sums = (joint.sum(axis=tuple(v for v in every if v != node)) for node in every)
    return {name: one / joint.sum() for name, one in zip(network.dag.names, sums, strict=True)}


@given(networks(), st.data(), st.sampled_from([0, 16, 10_000]))
@examples
def test_marginals_equal_the_whole_table(network, data, merged):
    codes, evidence = observations(network, data)
    joint = sliced(whole(network), codes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clique_tree, "_MERGED_CELLS", merged)
        if not joint.sum():
            with pytest.raises(UnnaiveError, match="cannot occur"):
                network.marginals(evidence)
            return
        found = network.marginals(evidence)
    for name, expected in enumerated(network, joint).items():
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-12)


def assert_clique_tree(network):
    tree = network._tree
    for node, above in enumerate(network.dag.parents):
        assert {node, *above} <= set(tree.scopes[tree.homes[node]])
    for v in range(len(network.sizes)):
        inside = [place for place, scope in enumerate(tree.scopes) if v in scope]
        joined = [place for place in inside if tree.parents[place] in inside]
        assert len(joined) == len(inside) - 1  # a tree of its own
    assert all(up == -1 or up > place for place, up in enumerate(tree.parents))


@given(networks())
@examples
def test_a_clique_tree_covers_families_and_keeps_variables_together(network):
    assert_clique_tree(network)


def test_cliques_that_are_joined_to_smaller_ones(monkeypatch):
    moved, reattach = [], clique_tree._reattach

    def watched(cliques, above, widths):
        before = list(above)
        reattach(cliques, above, widths)
        for place, (old, new) in enumerate(zip(before, above, strict=True)):
            if old != new:
                cells = [math.prod(widths[v] for v in cliques[one]) for one in (old, new)]
                assert cells[1] < cells[0]
                assert cliques[place] & cliques[old] <= cliques[new]
                moved.append(place)

    monkeypatch.setattr(clique_tree, "_reattach", watched)
    monkeypatch.setattr(clique_tree, "_MERGED_CELLS", 0)
    for seed in range(12):
        network = made([2, 3, 2, 3, 2, 2, 2, 3, 2, 2], seed, 0.3, 0.2)
        assert_clique_tree(network)
        for name, expected in enumerated(network, whole(network)).items():
            np.testing.assert_allclose(network.marginals()[name], expected, rtol=0, atol=1e-12)
    assert len(moved) > 5


@given(networks(), st.data())
@examples
def test_a_batch_is_answered_row_by_row(network, data):
    rows = network.sample(4, random_state=data.draw(st.integers(0, 99))).decode()
    frame = pd.DataFrame(rows, dtype=object)
    hidden = data.draw(st.lists(st.booleans(), min_size=frame.size, max_size=frame.size))
    frame = frame.mask(np.reshape(hidden, frame.shape))
    together = network.marginals(frame)
    for place, row in enumerate(frame.to_dict("records")):
        for name, expected in network.marginals(row).items():
            np.testing.assert_allclose(together[name][place], expected, rtol=0, atol=1e-12)


def test_the_tree_is_made_once(monkeypatch):
    network = made([2, 3, 2, 2], 0)
    network.marginals()
    monkeypatch.setattr("unnaive.tables.network.CliqueTree", None)
    network.marginals({"a": "a1"})


def test_trees_beyond_memory_are_refused_before_they_are_made():
    with pytest.raises(TableTooLarge, match="more than max_memory"):
        dataclasses.replace(grid(6), max_memory=1000).marginals()


def test_what_only_logarithms_can_hold_is_answered():
    network, _ = chain(40)
    first, others = np.array([1e-200, 1.0]), np.array([[1.0, 1e-200]] * 2)
    rare = dataclasses.replace(network, tables=(first, *[others] * 39))
    no, yes = network.states[0]
    evidence = dict(zip(rare.dag.names, (no, yes, yes), strict=False))
    found = rare.marginals(evidence)
    for name in rare.dag.names[:6]:
        np.testing.assert_allclose(found[name], rare.query(name, evidence), atol=1e-12)


@given(networks(), st.data())
@examples
def test_log_probabilities_of_many_patterns_equal_the_whole_table(network, data):
    joint, rows, expected = whole(network), [], []
    for _ in range(4):
        codes, row = observations(network, data)
        rows.append(row)
        total = sliced(joint, codes).sum()
        expected.append(math.log(total) if total else -math.inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unnaive.tables.network._MANY_PATTERNS", 0)
        np.testing.assert_allclose(network.log_probability(rows), expected, rtol=1e-9, atol=1e-9)
