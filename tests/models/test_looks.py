"""How models look in a notebook and a debugger: nothing raises, fitted or not."""

from __future__ import annotations

import copy
import pickle
import pydoc

import numpy as np
import pytest
from sklearn.base import clone

import unnaive
from problems import GAUSSIAN

VARIANTS = {
    "tan-multinet-loo": lambda: unnaive.TAN(per_class=True),
    "tan-bad-forest": lambda: unnaive.TAN(forest="x"),
    "tan-loo": lambda: unnaive.TAN(n_features="loo"),
    "aode-weighted": lambda: unnaive.AODE(weights="discriminative"),
    "gnb-paper": lambda: unnaive.GeneralizedNB(paper=True),
}
MODELS = {**unnaive.all_models(), **VARIANTS}


def rows():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 80)
    X = random.integers(0, 3, (80, 4)) + y[:, None]
    return X.astype(float), y


def fitted(key):
    X, y = rows()
    if key in GAUSSIAN:
        X = X + np.random.default_rng(1).normal(size=X.shape)
    model = MODELS[key]()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(X, y), X


@pytest.mark.parametrize("key", sorted(set(MODELS)))
@pytest.mark.parametrize("is_fitted", [False, True])
def test_nothing_raises(key, is_fitted):
    if is_fitted and key == "tan-bad-forest":
        pytest.skip("it cannot be fitted")
    model, X = fitted(key) if is_fitted else (MODELS[key](), None)
    names = dir(model)
    for name in names:
        if not name.startswith("__"):
            getattr(model, name, None)  # raises anything but an AttributeError
    assert "predict_proba" in names
    assert type(model).__name__ in repr(model)
    assert type(model).__name__ in model._repr_html_()
    assert pydoc.render_doc(model)
    for twin in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert repr(twin) == repr(model)
        if is_fitted:
            assert np.array_equal(twin.predict_proba(X), model.predict_proba(X))
    assert repr(clone(model)) == repr(model)
    assert not hasattr(clone(model), "classes_")


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_every_structure_can_be_shown(key):
    pytest.importorskip("matplotlib")
    networkx = pytest.importorskip("networkx")
    structure = getattr(fitted(key)[0], "structure_", None)
    if structure is None:
        assert key == "auto"
        return
    assert structure.plot() is not None
    assert structure.to_dot().startswith("digraph {")
    assert isinstance(structure.to_networkx(), networkx.DiGraph)
    assert structure._repr_html_().startswith("<table>")
    assert all(len(edge) in {2, 3} for edge in structure.edges)


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_a_failed_fit_leaves_the_model_as_it_was(key):
    model, X = fitted(key)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="row"):
        model.fit(X[:3], [0, 1])
    with pytest.raises(ValueError, match="n_jobs='many'"):
        model.set_params(n_jobs="many").fit(X, np.arange(len(X)) % 2)
    model.set_params(n_jobs=None)
    assert np.array_equal(model.predict_proba(X), before)
    assert model.n_features_in_ == X.shape[1]


def test_nothing_is_changed_by_parameters_until_the_next_fit():
    for key in ("tan", "gaussian-tan", "full-bayes", "k-naive", "gaussian-nb", "aode"):
        model, X = fitted(key)
        before = model.predict_proba(X)
        changed = {"var_smoothing": 1.0} if "var_smoothing" in model.get_params() else {}
        if "smoothing" in model.get_params():
            changed["smoothing"] = "ml"
        model.set_params(**changed, class_prior=[0.9, 0.1])
        assert np.array_equal(model.predict_proba(X), before)
