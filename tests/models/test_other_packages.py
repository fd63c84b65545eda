"""A model outside the package: registered, it can do all that the package's own can."""

from __future__ import annotations

import json
from inspect import getsource

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import unnaive
from commands import run
from fits import without_row
from other_package import SuperParentTAN, hung
from problems import made
from tests.explain.test_explanation import add_up
from tests.report.test_explorer_engine import assert_same, page  # noqa: F401 - a fixture
from unnaive.exceptions import ModelFileError, UnnaiveError
from unnaive.models.registry import Entry, _discovered
from unnaive.report.card import describe_model

X, Y = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]] * 6), [0, 1, 1, 0] * 6


@pytest.fixture
def registered():
    yield unnaive.register("sp-tan", SuperParentTAN)
    unnaive.unregister("sp-tan")


def xor(n=200, gaps=0.1):
    """The class is whether two columns differ; a third is chance."""
    problem = made(n, [2, 2, 3], 2, gaps=0.0, seed=1)
    cells = problem.X.copy()
    y = np.where(cells[:, 0] != cells[:, 1], "differ", "same")
    cells[np.random.default_rng(0).random(cells.shape) < gaps] = np.nan
    return pd.DataFrame(cells, columns=["a", "b", "c"]), y


def test_it_is_short():
    lines = (getsource(SuperParentTAN) + getsource(hung)).splitlines()
    code = [line for line in lines if line.strip()]
    assert len(code) <= 55, "with its docstring"
    inside = getsource(SuperParentTAN).split('"""')
    assert len([line for line in (inside[0] + inside[2]).splitlines() if line.strip()]) <= 40


def test_it_learns_what_naive_bayes_cannot():
    frame, y = xor()
    model = SuperParentTAN().fit(frame, y)
    assert {("a", "b"), ("b", "a")} & {edge[:2] for edge in model.structure_.edges}
    assert model.score(frame, y) > unnaive.NaiveBayes().fit(frame, y).score(frame, y) + 0.2


def test_rows_are_added_and_forgotten():
    frame, y = xor()
    model = SuperParentTAN().fit(frame, y)
    before = model.predict_proba(frame)
    model.partial_fit(frame[:50], y[:50])
    assert not np.array_equal(model.predict_proba(frame), before)
    np.testing.assert_array_equal(model.forget(frame[:50], y[:50]).predict_proba(frame), before)


def test_leave_one_out_equals_refits():
    frame, y = xor(60)
    model = SuperParentTAN().fit(frame, y)
    refits = [
        without_row(model, frame, y, row).predict_proba(frame[row : row + 1])[0]
        for row in range(len(y))
    ]
    np.testing.assert_allclose(model.loo_predict_proba(frame, y), refits, atol=1e-12)


def test_explanations_add_up():
    frame, y = xor()
    add_up(SuperParentTAN().fit(frame, y), frame)


def test_the_page_agrees_with_python(page, registered):  # noqa: F811
    frame, y = xor()
    model = SuperParentTAN(calibrate="loo").fit(frame, y)
    assert_same(page, model)


def test_the_report_knows_it(registered, tmp_path):
    frame, y = xor()
    model = unnaive.make("sp-tan").fit(frame, y)
    card = describe_model(model, type("Rows", (), {"labels": ["differ", "same"]}))
    assert card["key"] == "sp-tan"
    assert card["assumes"] == SuperParentTAN.assumption
    assert card["references"] == [
        'Keogh & Pazzani, "Learning augmented Bayesian classifiers", AI & Statistics 1999.'
    ]


def test_saved_and_loaded(registered, tmp_path):
    frame, y = xor()
    model = SuperParentTAN(smoothing="bdeu").fit(frame, y)
    model.save(tmp_path / "model.unb")
    back = unnaive.load(tmp_path / "model.unb")
    assert isinstance(back, SuperParentTAN)
    np.testing.assert_array_equal(back.predict_proba(frame), model.predict_proba(frame))
    unnaive.unregister("sp-tan")
    try:
        with pytest.raises(ModelFileError, match=r"no model class 'SuperParentTAN'.*register"):
            unnaive.load(tmp_path / "model.unb")
    finally:
        unnaive.register("sp-tan", SuperParentTAN)


def test_on_the_command_line(registered, tmp_path):
    frame, y = xor()
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    fit = run(
        "fit", tmp_path / "rows.csv", "-t", "y", "--model", "sp-tan", "-o", tmp_path / "m.unb"
    )
    assert fit.exit_code == 0, fit.output
    assert run("predict", tmp_path / "m.unb", tmp_path / "rows.csv").exit_code == 0
    listed = json.loads(run("models", "--json").stdout)
    assert "sp-tan" in [one["key"] for one in listed]


def test_found_by_its_entry_point(monkeypatch):
    monkeypatch.setattr(
        "unnaive.models.registry._discovered",
        lambda: {"sp-tan": Entry("SuperParentTAN", "other_package")},
    )
    assert isinstance(unnaive.make("sp-tan"), SuperParentTAN)
    assert "sp-tan" in unnaive.all_models()
    assert unnaive.models.class_of("SuperParentTAN") is SuperParentTAN


def test_what_cannot_be_registered():
    assert _discovered() == {} or _discovered()
    with pytest.raises(TypeError, match="is not the class of a model"):
        unnaive.register("tree", 3)
    with pytest.raises(ValueError, match="is taken"):
        unnaive.register("tan", SuperParentTAN)
    with pytest.raises(ValueError, match="stays registered"):
        unnaive.unregister("tan")


@pytest.mark.long
@parametrize_with_checks([SuperParentTAN()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


class Imposter(SuperParentTAN):
    """Another class of a name that is taken."""


Imposter.__name__ = "SuperParentTAN"


def test_names_are_taken_once(registered, monkeypatch):
    with pytest.raises(ValueError, match="is taken"):
        unnaive.register("other", Imposter)
    with pytest.raises(ValueError, match="was not registered"):
        unnaive.unregister("nobody")
    broken = {"gone": Entry("Model", "no_such_package"), "odd": Entry("Path", "pathlib")}
    monkeypatch.setattr("unnaive.models.registry._discovered", lambda: broken)
    with pytest.raises(UnnaiveError, match="'no_such_package' cannot be imported"):
        unnaive.make("gone")
    with pytest.warns(UserWarning, match="is left out"):
        assert "tan" in unnaive.all_models()
