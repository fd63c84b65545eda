"""A program that only loads a model and predicts does not import scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import unnaive
from unnaive.datasets import load_wdbc

LOAD = """
import sys, unnaive
model = unnaive.load({path!r})
row = {{f"x{{place}}": 1.0 for place in range(6)}}
model.predict_one(row), model.predict_proba_one(row)
import numpy as np
chances = model.predict_proba(np.load({rows!r}))
assert np.array_equal(chances, np.load({chances!r}))
assert not {{"sklearn", "scipy", "pandas", "joblib"}} & set(sys.modules)
print(repr(model))
"""
USE = """
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
X, y = np.load({rows!r}), np.load({labels!r})
assert is_classifier(model)
assert clone(model).get_params() == model.get_params()
assert repr(clone(model)) == repr(model)
assert cross_val_score(clone(model), X, y, cv=3).min() > 0.8
assert make_pipeline(StandardScaler(), unnaive.TAN()).fit(X, y).score(X, y) > 0.85
search = GridSearchCV(unnaive.NaiveBayes(), {{"smoothing": ["laplace", "bdeu"]}}, cv=3).fit(X, y)
assert search.best_score_ > 0.85
assert CalibratedClassifierCV(clone(model), cv=3).fit(X, y).score(X, y) > 0.85
fitted = unnaive.GaussianNaiveBayes().fit(X, y)
assert fitted.score(X, y) > 0.85
try:
    unnaive.TAN().predict(X)
except Exception as error:
    assert type(error).__name__ == "NotFittedError"
try:
    model.set_params(wrong=1)
except ValueError as error:
    assert "wrong" in str(error)
else:
    raise AssertionError
"""


@pytest.fixture(params=["tan", "gaussian-tan", "auto"])
def saved(request, tmp_path):
    data = load_wdbc()
    X, y = data.X[:, :6], (data.y == "malignant").astype(int)
    model = unnaive.make(request.param).fit(X, y)
    model.save(tmp_path / "model.unb")
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "labels.npy", y)
    np.save(tmp_path / "chances.npy", model.predict_proba(X))
    names = {"path": "model.unb", "rows": "rows.npy", "labels": "labels.npy"}
    return {key: str(tmp_path / name) for key, name in {**names, "chances": "chances.npy"}.items()}


@pytest.mark.long
@pytest.mark.parametrize("later", [False, True], ids=["predicts", "then scikit-learn"])
def test_loading_and_predicting(saved, later):
    program = (LOAD + (USE if later else "")).format(**saved)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in {"TAN()", "GaussianTAN()", "AutoBayes()"}
