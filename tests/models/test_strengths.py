"""Strengths of arcs, their threshold, and the averaged network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unnaive import BayesNet
from unnaive.exceptions import UnnaiveError
from unnaive.models.strengths import ArcStrengths, arc_strengths, significant_above
from unnaive.structure.dag import DAG


def lawn(n=300, seed=0):
    random = np.random.default_rng(seed)
    rain, sprinkler = random.random((2, n)) < [[0.3], [0.4]]
    wet = (rain | sprinkler) ^ (random.random(n) < 0.05)
    return np.column_stack([rain, sprinkler]), wet


def test_strengths_are_those_of_drawn_rows():
    """A bootstrap sample is a fit to rows with repetitions; all pairs are counted by hand."""
    X, y = lawn(60)
    model = BayesNet(augmented=False)
    found = arc_strengths(model, X, y, n_samples=15, random_state=3)
    random, expected = np.random.default_rng(3), np.zeros((3, 3))
    lines = np.column_stack([X, y])
    unique, counts = np.unique(lines, axis=0, return_counts=True)
    for _ in range(15):
        drawn = np.repeat(unique, random.multinomial(60, counts / 60), axis=0)
        pattern = BayesNet(augmented=False, categories=[[False, True]] * 2).fit(
            drawn[:, :2], drawn[:, 2]
        )
        pattern = DAG(found.names, pattern.structure_.parents).cpdag()
        for i, j in pattern.directed:
            expected[i, j] += 1
        for i, j in pattern.undirected:
            expected[i, j] += 0.5
            expected[j, i] += 0.5
    np.testing.assert_allclose(found.found, expected / 15)


def test_the_averaged_network_and_its_threshold():
    strengths = arc_strengths(BayesNet(augmented=False), *lawn(), n_samples=20)
    assert strengths.averaged().edges == [("x0", "y"), ("x1", "y")]
    assert strengths.strength[0, 1] <= strengths.threshold < strengths.strength[0, 2]
    again = arc_strengths(BayesNet(augmented=False), *lawn(), n_samples=20)
    np.testing.assert_array_equal(again.found, strengths.found)
    assert "20 samples, 2 arcs" in repr(strengths)
    assert "strength" in strengths._repr_html_()
    assert strengths.plot().get_xlabel() == "strength"
    assert strengths.averaged(threshold=1.0).edges == []
    fitted = BayesNet(structure=strengths.averaged()).fit(*lawn())
    assert fitted.structure_.edges == [("x0", "y"), ("x1", "y")]


def test_an_arc_that_closes_a_cycle_is_reversed():
    found = np.array([[0, 0.9, 0.0], [0.0, 0, 0.8], [0.7, 0.0, 0]])
    strengths = ArcStrengths(("a", "b", "c"), found, 10)
    assert strengths.averaged(0.5).edges == [("a", "b"), ("a", "c"), ("b", "c")]


def area(strengths, level):
    """Area between the distribution of strengths and an ideal one, on a fine grid."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    share = (strengths[None] <= grid[:, None]).mean(axis=1)
    return np.abs(share - level).mean()


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12))
@settings(max_examples=15)
def test_the_threshold_has_the_least_area(numbers):
    strengths = np.array(numbers) / 20
    level = (strengths <= significant_above(strengths)).mean()
    levels = np.arange(len(strengths) + 1) / len(strengths)
    least = min(area(strengths, candidate) for candidate in levels)
    own = min(
        area(strengths, level), area(strengths, 0.0) if significant_above(strengths) == 0 else 9
    )
    assert own <= least + 1e-3


def test_what_is_refused():
    with pytest.raises(UnnaiveError, match="structure is given"):
        arc_strengths(BayesNet(structure=[("x0", "y")]), *lawn(20))
    with pytest.raises(TypeError, match="it must be a BayesNet"):
        arc_strengths("bayesnet", *lawn(20))
    with pytest.raises(ValueError, match="n_samples=0"):
        arc_strengths(BayesNet(), *lawn(20), n_samples=0)
