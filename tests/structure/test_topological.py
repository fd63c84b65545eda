"""Columns in an order in which parents come before children."""

import pytest

from unnaive.exceptions import UnnaiveError
from unnaive.structure.graph import topological


def test_longer_chains_come_later_and_ties_go_by_position():
    assert topological([(2,), (), (), (0, 1)], range(4)) == [1, 2, 0, 3]
    assert topological([(2,), (), (), (0, 1)], [3, 0]) == [0, 3]


def test_a_chain_of_many_columns():
    chain = [(column + 1,) for column in range(5000)]
    assert topological([*chain, ()], range(5001)) == list(range(5000, -1, -1))


@pytest.mark.parametrize("parents", [[(0,)], [(1,), (0,)], [(), (2,), (3, 0), (1,)]])
def test_a_cycle_is_an_error(parents):
    with pytest.raises(UnnaiveError, match="the parents make a cycle"):
        topological(parents, range(len(parents)))
