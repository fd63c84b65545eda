"""Genes of independent Gaussians: the same numbers as one gene after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnaive.search import Box, continuous
from unnaive.search.continuous import GaussianNetwork


def drawn_one_by_one(network: GaussianNetwork, n: int, random: np.random.Generator) -> np.ndarray:
    """Draw gene after gene, and value after value until all are within their bounds."""
    genes = np.empty((n, network.space.n_genes))
    for gene in network.order:
        mean, deviation = network.means[gene], network.deviations[gene]
        low, high = network.space.low[gene], network.space.high[gene]
        values = [random.standard_normal() * deviation + mean for _ in range(n)]
        for _ in range(20):
            for row, value in enumerate(values):
                if not low <= value <= high:
                    values[row] = random.standard_normal() * deviation + mean
        genes[:, gene] = [min(max(value, low), high) for value in values]
    return genes


def network_of(means: list[float], deviations: list[float], order: tuple[int, ...]):
    """Return independent Gaussians within 0 and 1."""
    d = len(means)
    apart, slopes = ((),) * d, (np.empty(0),) * d
    space = Box([0.0] * d, [1.0] * d)
    return GaussianNetwork(
        space, "redraw", order, apart, np.array(means), np.array(deviations), slopes
    )


@given(
    st.lists(st.tuples(st.floats(-2.0, 3.0), st.floats(0.0, 2.0)), min_size=1, max_size=6),
    st.integers(1, 7),
    st.sampled_from([np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64]),
    st.randoms(use_true_random=False),
)
def test_genes_are_those_of_one_after_the_other(gaussians, n, source, shuffler):
    order = list(range(len(gaussians)))
    shuffler.shuffle(order)
    network = network_of(*map(list, zip(*gaussians, strict=True)), tuple(order))
    random, twin = (np.random.Generator(source(7)) for _ in range(2))
    found, expected = network.sample(n, random), drawn_one_by_one(network, n, twin)
    np.testing.assert_array_equal(found, expected)
    assert random.random() == twin.random()  # no number more was taken


@pytest.mark.parametrize("most", [1, 3, 50])
def test_the_number_of_normals_at_a_time_changes_nothing(most, monkeypatch):
    network = network_of([0.5, -0.3, 1.2] * 9, [0.4, 0.2, 0.1] * 9, tuple(range(27)))
    random, twin = (np.random.default_rng(0) for _ in range(2))
    expected = network.sample(11, twin)
    monkeypatch.setattr(continuous, "_MOST_NORMALS", most)
    np.testing.assert_array_equal(network.sample(11, random), expected)
    assert random.random() == twin.random()
