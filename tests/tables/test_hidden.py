"""Tables of hidden parents take the memory that was asked for."""

import numpy as np
import pytest

from problems import made
from unnaive.tables.hidden import hidden_parent_tables, table_bytes
from unnaive.tables.smoothing import smoothing_policy


@pytest.mark.parametrize("kept", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("sizes", [[2, 3, 4, 2], [3, 40, 9]])
def test_memory_is_that_of_the_tables_and_the_chances_of_pairs(sizes, kept):
    random, k = np.random.default_rng(0), 3
    counts = made(50, sizes, k).coded().count()
    weights = random.random((len(sizes), len(sizes))) * (random.random(len(sizes)) < kept)
    np.fill_diagonal(weights, 0.0)
    tables = hidden_parent_tables(counts, weights, smoothing_policy("laplace", "laplace")).tables
    n_slots = sum(size + 1 for size in sizes)
    needed = table_bytes(np.array(sizes), weights, k)
    assert needed == tables.nbytes + 8 * k * n_slots**2
