"""Posterior probabilities of arcs, from a model and rows."""

import itertools

import numpy as np
import pytest

import naive_orders
from tests.models.test_strengths import lawn
from unnaive import BayesNet, NaiveBayes
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.models.averaging import arc_probabilities


def test_the_averaged_network_its_threshold_and_plot():
    average = arc_probabilities(BayesNet(augmented=False, criterion="bdeu"), *lawn())
    assert average.averaged().edges == [("x0", "y"), ("x1", "y")]
    assert average.strength[0, 1] <= average.threshold < average.strength[0, 2]
    assert average.plot().get_xlabel() == "strength"
    assert "3 variables, 2 arcs" in repr(average)
    assert "strength" in average._repr_html_()
    parents = average.parent_sets("y")
    assert parents[0][0] == ("x0", "x1")
    assert sum(chance for _, chance in average.parent_sets("x0", least=0)) == pytest.approx(1)
    with pytest.raises(UnnaiveError, match="no variable 'z'; the variables are 'x0'"):
        average.parent_sets("z")


@pytest.mark.parametrize("criterion", ["bic", "bdeu:5", "k2"])
def test_likelihoods_of_three_variables_by_hand(criterion):
    """All 25 graphs of three variables, each as often as it has orders."""
    X, y = lawn(40, seed=2)
    model = BayesNet(augmented=False, criterion=criterion)
    codes = np.column_stack([X, y]).T.astype(np.uint8)
    scores = model._scores(model.coded(model._given(X, y, None, first=True))[0])
    np.testing.assert_array_equal(scores.codes, codes)
    found, total = np.zeros((3, 3)), 0.0
    subsets = [[(), (1,), (2,), (1, 2)], [(), (0,), (2,), (0, 2)], [(), (0,), (1,), (0, 1)]]
    for parents in itertools.product(*subsets):  # with cycles, which have no order
        weight = naive_orders.n_orders(parents) * np.exp(scores.total(parents))
        total += weight
        for child, above in enumerate(parents):
            found[list(above), child] += weight
    average = arc_probabilities(model, X, y)
    np.testing.assert_allclose(average.found, found / total, rtol=1e-9)


def test_what_is_known_is_kept():
    known = BayesNet(augmented=False, required=[("x1", "x0")], tiers=[["y"], ["x0", "x1"]])
    average = arc_probabilities(known, *lawn())
    assert average.found[1, 0] == pytest.approx(1.0)
    assert average.found[:, 2].max() == 0.0
    augmented = arc_probabilities(BayesNet(), *lawn())
    np.testing.assert_allclose(augmented.found[2], [1, 1, 0])
    forbidden = arc_probabilities(BayesNet(forbidden=[("x0", "x1"), ("x1", "x0")]), *lawn())
    np.testing.assert_array_equal(forbidden.found[:2, :2], 0)


def test_threads_change_no_bit_and_priors_differ():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (60, 6))
    X[:, 3] |= X[:, 0]
    y = X[:, 3] ^ (rng.random(60) < 0.2)
    averages = [arc_probabilities(BayesNet(n_jobs=n), X, y) for n in (1, 3)]
    np.testing.assert_array_equal(averages[0].found, averages[1].found)
    other = arc_probabilities(BayesNet(), X, y, prior="sizes")
    assert other.strength[:6, :6].sum() < averages[0].strength[:6, :6].sum()


def test_missing_values_and_constant_columns():
    X = [["a", None, "u"], ["b", "s", "u"], ["a", "t", "u"], [None, "s", "u"]] * 5
    average = arc_probabilities(BayesNet(augmented=False), X, [0, 1, 0, 1] * 5)
    assert np.isfinite(average.found).all()
    assert (average.strength <= 1 + 1e-12).all()


def test_what_is_refused():
    with pytest.raises(UnnaiveError, match="structure is given"):
        arc_probabilities(BayesNet(structure=[("x0", "y")]), *lawn(20))
    with pytest.raises(TypeError, match=r"model=NaiveBayes\(\); it must be a BayesNet"):
        arc_probabilities(NaiveBayes(), *lawn(20))
    with pytest.raises(ValueError, match="prior='flat'"):
        arc_probabilities(BayesNet(), *lawn(20), prior="flat")
    with pytest.raises(TableTooLarge, match="3 variables"):
        arc_probabilities(BayesNet(max_memory=100), *lawn(20))
    cycle = BayesNet(augmented=False, required=[("x0", "x1"), ("x1", "y"), ("y", "x0")])
    with pytest.raises(UnnaiveError, match="contradict each other"):
        arc_probabilities(cycle, *lawn(20))
