"""Pictures: drawn where asked, with what the model saw."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from problems import made
from unnaive import KDB, PHNB, TAN, CherryTreeNB, DecomposableNB, GeneralizedNB, WeightedBayes
from unnaive.explain import (
    plot_cumulated_information,
    plot_score_path,
    plot_size_path,
    plot_term_path,
    plot_threshold_path,
)
from unnaive.structure.picture import WIDEST


def test_the_path_of_thresholds():
    problem = made(80, [3, 2, 4, 3], 2, gaps=0.1)
    model = PHNB(threshold="loo").fit(problem.X, problem.classes)
    ax = Figure().subplots()
    assert plot_threshold_path(model, ax) is ax
    line = ax.get_lines()[0]
    assert np.array_equal(line.get_ydata(), model.path_["log_loss"])
    drawn = ax.get_lines()[1].get_xdata()[0]
    assert drawn == model.structure_.members.sum()
    with pytest.raises(ValueError, match='fit the model with threshold="loo"'):
        plot_threshold_path(PHNB().fit(problem.X, problem.classes))


def labels(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize(
    "model",
    [
        GeneralizedNB(n_features=3),
        TAN(),
        KDB(),
        DecomposableNB(penalty=None),
        CherryTreeNB(order=4),
    ],
    ids=str,
)
def test_graphs_show_the_class_the_columns_and_their_edges(model, tmp_path):
    problem = made(200, [3, 2, 4, 3, 2], 2, gaps=0.1)
    model.fit(problem.X, problem.classes)
    ax = Figure().subplots()
    assert model.structure_.plot(ax) is ax
    used = [model.structure_.names[i] for i in model.structure_.used]
    assert sorted(labels(ax)) == sorted([model.structure_.target, *used])
    edges = [patch for patch in ax.patches if patch.get_gid() == "edge"]
    assert len(edges) == len(model.structure_.edges)
    places = [text.get_position() for text in ax.texts]
    assert len(set(places)) == len(places)
    model.structure_.plot().figure.savefig(tmp_path / "graph.png")


def test_edges_are_as_wide_as_they_are_informative():
    rows = np.random.default_rng(0).integers(0, 2, (400, 3))
    rows[:, 1] = rows[:, 0]  # the strong edge; the other is noise
    model = TAN().fit(rows, rows[:, 2])
    ax = model.structure_.plot()
    edges = [patch for patch in ax.patches if patch.get_gid() == "edge"]
    widths = sorted(edge.get_linewidth() for edge in edges)
    assert widths[0] < 1.0
    assert widths[1] == WIDEST


def test_names_are_drawn_as_they_are():
    X = {
        "a_{b}$x$": ["u", "v"] * 8,
        "a name that is far too long to draw": ["u", "u", "v", "v"] * 4,
    }
    model = TAN().fit(pd.DataFrame(X), ["no", "yes"] * 8)
    model.structure_.plot().figure.savefig(io.BytesIO())
    assert max(map(len, labels(model.structure_.plot()))) <= 20


def test_scores_of_the_first_columns():
    problem = made(120, [3, 2, 4, 3], 3, gaps=0.1)
    model = GeneralizedNB().fit(problem.X, problem.classes)
    ax = plot_score_path(model, problem.X, problem.classes)
    path = model.score_path(problem.X, problem.classes)
    assert len(ax.get_lines()) == len(path) - 1
    assert np.array_equal(ax.get_lines()[0].get_ydata(), path["accuracy"])


def test_information_adds_up():
    problem = made(120, [3, 2, 4, 3], 2)
    for model in (GeneralizedNB(n_features=3), CherryTreeNB(order=4)):
        model.fit(problem.X, problem.classes)
        ax = plot_cumulated_information(model)
        assert len(ax.patches) == len(model.feature_order_)
        assert ax.get_lines()[0].get_ydata()[-1] == pytest.approx(model.weight_ / np.log(2))


def test_overfitting_is_shown():
    problem = made(80, [3, 2, 4, 3, 3], 2)
    model = CherryTreeNB(order="loo").fit(problem.X, problem.classes)
    trained, left_out = (line.get_ydata() for line in plot_size_path(model).get_lines())
    assert trained[-1] - left_out[-1] > trained[0] - left_out[0]
    with pytest.raises(ValueError, match='fit the model with max_clique="loo"'):
        plot_size_path(DecomposableNB().fit(problem.X, problem.classes))


def test_the_price_of_fewer_terms_is_shown():
    problem = made(80, [3, 2, 4, 3, 3], 2)
    model = WeightedBayes(max_terms=1).fit(problem.X, problem.classes)
    (line,) = plot_term_path(model).get_lines()
    np.testing.assert_array_equal(line.get_xdata(), model.path_["terms"])
    np.testing.assert_array_equal(line.get_ydata(), model.path_["log_loss"])
    with pytest.raises(ValueError, match="fit the model with max_terms=1"):
        plot_term_path(WeightedBayes().fit(problem.X, problem.classes))
