"""The maximum spanning tree against Kruskal's algorithm, with equal and infinite weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from unnaive._core.trees import spanning_tree
from unnaive.structure import maximum_spanning_tree

WEIGHTS = [0.0, 1.0, 1.0 + 1e-11, 2.0, -3.0, np.inf, -np.inf, np.nan]


@given(st.integers(0, 9), st.integers(1, len(WEIGHTS)), st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_the_tree_is_that_of_kruskal(d, n_weights, seed):
    random = np.random.default_rng(seed)
    upper = np.triu(random.choice(random.permutation(WEIGHTS)[:n_weights], (d, d)), 1)
    weights, active = upper + upper.T, random.random(d) < 0.8
    used = np.flatnonzero(active)
    known = np.where(np.isnan(weights), -np.inf, weights)[np.ix_(used, used)]
    expected = [(used[i], used[j]) for i, j in naive.spanning_edges(known.tolist())]
    found = maximum_spanning_tree(weights, active)
    assert sorted(map(tuple, found.tolist())) == sorted(expected)
    assert found.shape == (max(len(used) - 1, 0), 2)


@pytest.mark.parametrize("weight", [np.inf, -np.inf, np.nan])
def test_weights_that_are_all_alike_join_all_to_the_first(weight):
    weights = np.full((4, 4), weight)
    assert maximum_spanning_tree(weights).tolist() == [[0, 1], [0, 2], [0, 3]]


@pytest.mark.parametrize("shapes", [((2, 3), 3, 3), ((3, 3), 2, 3), ((3, 3), 3, 2)])
def test_the_kernel_refuses_other_shapes(shapes):
    weights, active, edges = shapes
    with pytest.raises(IndexError, match="differ in shape"):
        spanning_tree(
            np.zeros(weights), np.ones(active, dtype=bool), np.zeros((edges, 2), dtype=np.int64)
        )
