"""Pictures of explanations, structures and quality: drawn where asked, with what was found."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.metrics import confusion_matrix

import unnaive
from problems import made
from tests.explain.test_explanation import fitted
from unnaive import HNB, TAN, BayesNet, NaiveBayes, PazzaniNB
from unnaive.counts import cells
from unnaive.datasets import load_wdbc
from unnaive.exceptions import UnnaiveError
from unnaive.explain import (
    importance,
    plot_confusion,
    plot_importance,
    plot_precision_recall,
    plot_reliability,
    plot_roc,
    plot_structure,
    plot_waterfall,
)
from unnaive.explain.cells import heaviest
from unnaive.explain.structure import pair_information
from unnaive.information import conditional_mutual_information
from unnaive.structure.picture import WIDEST

WDBC = load_wdbc()


def labels(ax):
    return sorted(text.get_text() for text in ax.texts)


def drawn_edges(ax):
    return [patch for patch in ax.patches if patch.get_gid() == "edge"]


# Waterfalls


def test_the_way_from_the_prior_to_the_answer():
    found = TAN().fit(WDBC.X[:, :5], WDBC.y).explain(WDBC.X[:9, :5])
    ax = Figure().subplots()
    assert found.plot(4, ax=ax) is ax
    odds = found.log_odds(by="group")
    widths = sorted(bar.get_width() for bar in ax.patches)
    assert widths == pytest.approx(sorted(odds.contributions[4]))
    first, last = (line.get_xdata()[0] for line in ax.get_lines() if line.get_marker() == "D")
    assert (first, last) == pytest.approx((odds.base[4], odds.total[4]))
    assert ax.get_xlabel() == "log-odds of 'malignant'"
    assert ax.child_axes[0].get_xlabel() == "probability"
    other = found.plot(4, positive="benign")
    assert sorted(-bar.get_width() for bar in other.patches) == pytest.approx(widths)


def test_weak_and_missing_attributes():
    X = WDBC.X[:1, :8].copy()
    X[0, :2] = np.nan
    found = NaiveBayes().fit(WDBC.X[:, :8], WDBC.y).explain(X)
    ax = plot_waterfall(found, most=3)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(ax.patches) == 4
    assert names[-2] == "3 weaker columns"
    assert not any("missing" in name for name in names)
    total = sum(bar.get_width() for bar in ax.patches)
    assert total == pytest.approx(found.log_odds().contributions.sum())


def test_infinite_contributions_are_drawn(tmp_path):
    X = [["a", "u"], ["a", "v"], ["b", "v"]] * 4
    model = NaiveBayes(smoothing="ml").fit(pd.DataFrame(X, columns=["$x", "y$"]), [0, 0, 1] * 4)
    found = model.explain(pd.DataFrame([["a", "v"]], columns=["$x", "y$"]))
    ax = found.plot()
    assert "-∞" in labels(ax)
    assert np.isfinite([bar.get_width() for bar in ax.patches]).all()
    ax.figure.savefig(tmp_path / "waterfall.png")


# Structures


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_every_model_is_drawn_with_its_columns_and_the_class(key, tmp_path):
    problem = made(120, [3, 2, 4, 3, 2], 2, gaps=0.05)
    X = pd.DataFrame(problem.X, columns=list("abcde"))
    model = fitted(key, X, pd.Series(problem.classes, name="ill"))
    ax = Figure().subplots()
    assert plot_structure(model, ax) is ax
    drawn = set(labels(ax))
    if key == "tan-multinet":
        assert {"ill = 0", "ill = 1"} < drawn
    else:
        assert "ill" in drawn
    used = getattr(heaviest(model).structure_, "used", None)
    if used is not None:
        assert {"abcde"[column] for column in used} <= drawn
    places = [text.get_position() for text in ax.texts]
    assert len(set(places)) == len(places)
    plot_structure(model).figure.savefig(tmp_path / "structure.png")


def copies():
    """Columns of which the first two are the same, and the class."""
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (400, 4))
    X[:, 1] = X[:, 0]
    return X, X[:, 2] ^ (random.random(400) < 0.2)


@pytest.mark.parametrize(
    "model",
    [TAN(), unnaive.KDB(), HNB(), BayesNet(), unnaive.TAN(per_class=True)],
    ids=str,
)
def test_the_widest_edge_is_the_most_informative(model):
    X, y = copies()
    ax = plot_structure(model.fit(X, y))
    widths = [edge.get_linewidth() for edge in drawn_edges(ax)]
    assert max(widths) == WIDEST
    assert sorted(widths)[-3:].count(WIDEST) <= 2  # one, or one a class


def test_information_of_groups_is_that_of_pairs():
    X = np.random.default_rng(0).integers(0, 2, (300, 4))
    y = X[:, 0] ^ X[:, 2]
    groups = PazzaniNB().fit(X, y)
    joined = pair_information(groups)
    pairs = conditional_mutual_information(TAN().fit(X, y).counts_)
    known = np.isfinite(joined)
    assert known.any()
    np.testing.assert_allclose(joined[known], pairs[known], atol=1e-12)
    ax = plot_structure(groups)
    frames = [patch for patch in ax.patches if patch.get_gid() == "frame"]
    boxes = sum(len(group) > 1 for group in groups.structure_.groups)
    assert len(frames) == 1 + boxes  # one frame has all columns


@pytest.mark.parametrize("dense", [1 << 18, 1])
def test_information_of_what_was_counted_is_that_of_all_pairs(dense, monkeypatch):
    """Also if families are held by the cells that occurred."""
    X, y = copies()
    X = np.random.default_rng(1).integers(0, 4, (400, 24)) + 4 * X[:, :1]
    every = conditional_mutual_information(TAN(discretize=None).fit(X, y).counts_)
    monkeypatch.setattr(cells, "DENSE_CELLS", dense)
    model = unnaive.KDB(k=1, discretize=None, max_memory=200_000).fit(X, y)
    assert not model.counts_.has_all_pairs
    found = pair_information(model)
    known = np.isfinite(found)
    assert known.sum() > 4
    np.testing.assert_allclose(found[known], every[known], atol=1e-12)


def test_information_of_numbers_and_labels():
    X, y = copies()
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"label": X[:, 0].astype(str), "other": X[:, 3].astype(str)})
    frame["number"] = X[:, 0] + random.normal(size=400)
    frame["noise"] = random.normal(size=400)
    found = pair_information(unnaive.GaussianTAN().fit(frame, y))
    np.testing.assert_array_equal(found, found.T)
    strong = {(0, 2), (2, 0)}
    pairs = {(i, j) for i in range(4) for j in range(4) if i != j}
    assert min(found[pair] for pair in strong) > 0.05 > max(found[pair] for pair in pairs - strong)


def test_curves_of_all_thresholds_pass_through_the_decisions():
    X, y = copies()
    model = TAN().fit(X, y)
    chosen = model.predict(X) == 1
    rates = chosen[y == 0].mean(), chosen[y == 1].mean()
    curve, _, decided = plot_roc(model, X, y).get_lines()
    assert [*zip(*decided.get_data(), strict=True)] == [rates]
    assert rates in [*zip(*curve.get_data(), strict=True)]
    curve, _, decided = plot_precision_recall(model, X, y).get_lines()
    assert [*zip(*decided.get_data(), strict=True)] == [(rates[1], (y[chosen] == 1).mean())]
    for plot in (plot_roc, plot_precision_recall):
        with pytest.raises(ValueError, match="positive='yes' is not a class"):
            plot(model, X, y, positive="yes")
        with pytest.raises(UnnaiveError, match="all rows are of class 1, or none is"):
            plot(model, X, np.ones(400))


def test_a_class_that_has_parents_is_drawn_below_them():
    X, y = copies()
    model = BayesNet(augmented=False, required=[("x2", "y"), ("y", "x3")]).fit(X, y)
    ax = plot_structure(model)
    height = {text.get_text(): text.get_position()[1] for text in ax.texts if text.get_text()}
    assert height["x2"] > height["y"] > height["x3"]


def test_a_picture_of_too_many_edges_says_so():
    problem = made(100, [2] * 12, 2)
    ax = plot_structure(unnaive.HNB(discretize=None).fit(problem.X, problem.classes))
    assert ax.get_title() == "HNB: the strongest 24 of 66 dependences"
    assert len(drawn_edges(ax)) == 24
    ax = plot_structure(unnaive.AODE(discretize=None).fit(problem.X, problem.classes), max_edges=5)
    assert ax.get_title().startswith("AODE: the most informative 5 of 12 super-parents")
    assert len(drawn_edges(ax)) == 5


# Importance, calibration, confusion


def test_importance_is_drawn_in_order():
    model = TAN().fit(WDBC.X, WDBC.y)
    found = importance(model)
    ax = Figure().subplots()
    assert plot_importance(found, most=5, ax=ax) is ax
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [name for name, _ in found.ranked[:5]]
    assert [bar.get_width() for bar in ax.patches] == [value for _, value in found.ranked[:5]]
    assert ax.get_title() == "the first 5 of 30 columns"


def test_reliability_counts_every_row():
    model = TAN().fit(WDBC.X[::2], WDBC.y[::2])
    X, y = WDBC.X[1::2], WDBC.y[1::2]
    ax = plot_reliability(model, X, y, bins=5)
    chances, ill = model.predict_proba(X)[:, 1], y == "malignant"
    rows = [(chances >= low) & (chances < low + 0.2 + (low > 0.7)) for low in np.arange(5) / 5]
    assert [int(text.get_text()) for text in ax.texts] == [int(r.sum()) for r in rows if r.any()]
    line = ax.get_lines()[1]
    np.testing.assert_allclose(line.get_xdata(), [chances[r].mean() for r in rows if r.any()])
    np.testing.assert_allclose(line.get_ydata(), [ill[r].mean() for r in rows if r.any()])
    error = sum(abs(chances[r].mean() - ill[r].mean()) * r.sum() for r in rows if r.any()) / len(y)
    assert ax.get_title() == f"expected calibration error {error:.3f}"
    with pytest.raises(ValueError, match="bins=0"):
        plot_reliability(model, X, y, bins=0)


def test_confusion_is_that_of_scikit_learn():
    problem = made(150, [3, 2, 4], 3)
    model = NaiveBayes(discretize=None).fit(problem.X, problem.classes)
    ax = plot_confusion(model, problem.X, problem.classes)
    expected = confusion_matrix(problem.classes, model.predict(problem.X))
    counts = [int(text.get_text().split("\n")[0]) for text in ax.texts]
    assert counts == expected.ravel().tolist()
    assert ax.get_title() == f"{np.trace(expected)} of 150 rows correct"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a class without rows
        plot_confusion(model, problem.X[:1], problem.classes[:1])
    with pytest.raises(UnnaiveError, match="150 rows and 3 labels"):
        plot_confusion(model, problem.X, problem.classes[:3])
