"""Junction trees of generalized naive Bayes and of clusters, against plain definitions."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

import naive_generalized as slow
from problems import HOSTILE, made, problems
from tests.models.test_nb_tan_aode import fitted
from unnaive import CherryTreeNB, DecomposableNB, GeneralizedNB
from unnaive.exceptions import UnnaiveError
from unnaive.structure.junction import junction_tree

MODELS = [
    GeneralizedNB(method="greedy", smoothing="ml"),
    GeneralizedNB(smoothing="ml"),
    CherryTreeNB(order=4, smoothing="ml"),
    DecomposableNB(penalty=None, smoothing="ml"),
]


def assert_junction_tree(tree):
    """It is a tree, no cluster lies in another, and every column's clusters hang together."""
    graph = tree.to_networkx()
    assert len(graph) == len(tree.members)
    assert not graph or nx.is_tree(graph)
    assert not any(set(a) <= set(b) for a, b in itertools.permutations(tree.members, 2))
    for name in {name for cluster in tree.clusters for name in cluster}:
        inside = [cluster for cluster in tree.clusters if name in cluster]
        assert nx.is_connected(graph.subgraph(inside))
    for one, two, separator in tree.edges:
        assert set(separator) == set(one) & set(two)


@given(problems(sizes=(1, 2, 3), max_columns=5), st.sampled_from(MODELS))
@settings(max_examples=40)
def test_clusters_over_separators_are_the_model(problem, model):
    model = fitted(model, problem)
    tree = model.junction_tree_
    assert_junction_tree(tree)
    if all(cell is not None for row in problem.rows for cell in row):
        data = (*problem.data, ("ml",))
        pieces = [list(tree.members), tree.shared]
        expected = [slow.pieces_joint(*data, pieces, row) for row in problem.rows]
        joint = model.predict_joint_log_proba(problem.X)
        np.testing.assert_allclose(joint, expected, atol=1e-8)


@given(problems(sizes=(2, 3), max_columns=4), st.sampled_from(MODELS))
@settings(max_examples=30)
def test_divergence_is_the_sum_of_its_definition(problem, model):
    if any(cell is None for row in problem.rows for cell in row):
        return
    model, n = fitted(model, problem), len(problem.rows)
    rows = [(*row, c) for row, c in zip(problem.rows, problem.classes, strict=True)]
    joint = model.predict_joint_log_proba(problem.X)
    expected = math.fsum(
        math.log(rows.count(row) / n) - joint[place, row[-1]] for place, row in enumerate(rows)
    )
    found = model.kl_divergence(problem.X, problem.classes)
    assert found == pytest.approx(expected / n, abs=1e-9)
    assert found >= -1e-9


def rows_of(problem):
    """All rows as if of one class."""
    return problem.rows, [0] * len(problem.rows)


def test_divergence_falls_by_the_weight():
    problem = made(60, [3, 2, 4, 2], 2, seed=1)
    rows = [(*row, c) for row, c in zip(problem.rows, problem.classes, strict=True)]
    whole = slow.entropy([rows.count(row) for row in sorted(set(rows))])
    alone = [
        slow.entropy(list(slow.state_counts(*rows_of(problem), (i,)).values())) for i in range(4)
    ]
    classes = slow.entropy([problem.classes.count(c) for c in range(2)])
    for kind in MODELS:
        model = fitted(kind, problem)
        expected = sum(alone) + classes - whole - model.weight_
        found = model.kl_divergence(problem.X, problem.classes)
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_shapes(name):
    for model in (GeneralizedNB(), DecomposableNB()):
        assert_junction_tree(fitted(model, HOSTILE[name]).junction_tree_)


def test_gaps_have_no_divergence():
    problem = made(30, [3, 2], 2, gaps=0.3, seed=1)
    model = fitted(GeneralizedNB(), problem)
    with pytest.raises(UnnaiveError, match=r"column 'x.' has missing values"):
        model.kl_divergence(problem.X, problem.classes)


def test_the_papers_figure_2():
    """P(X) = P(123) P(234) P(125) P(126) / (P(12)² P(23)), of a cherry tree without a class."""
    names = tuple("123456")
    tree = junction_tree(names, "y", [(0, 1, 2), (1, 2, 3), (0, 1, 4), (0, 1, 5)])
    assert tree.shared == [(1, 2), (0, 1), (0, 1)]
    assert repr(tree) == "JunctionTree(4 clusters, 3 separators)"
    ax = tree.plot()
    texts = [text.get_text() for text in ax.texts]
    assert {"y, 1, 2, 3", "y, 2, 3", "y, 1, 2"} <= set(texts)
    assert ax.get_title() == "4 clusters, 3 separators"
    assert ">y, 1, 2, 3</td>" in tree._repr_html_()


def test_lines_run_through_no_box_but_their_own():
    names = ("a", "a longer name", "b", "c", "d", "e", "f", "g")
    families = [(0, 1), (2, 0), (3, 1), (4, 0), (5, 1), (6, 3), (7, 3)]
    tree = junction_tree(names, "y", families)
    ax = tree.plot()
    FigureCanvasAgg(ax.figure).draw()
    boxes = [text.get_bbox_patch().get_window_extent() for text in ax.texts]
    lines = [patch for patch in ax.patches if patch.get_gid() == "edge"]
    assert len(lines) == len(tree.joins)
    for line in lines:
        path = ax.transData.transform_path(line.get_path())
        (points,) = path.to_polygons(closed_only=False)
        steps = np.linspace(points[:-1], points[1:], 20).reshape(-1, 2)
        crossed = [box for box in boxes if box.padded(-1).count_contains(steps)]
        assert len(crossed) == 3  # two clusters and their separator


def test_no_clusters():
    assert junction_tree((), "y", []).clusters == []
