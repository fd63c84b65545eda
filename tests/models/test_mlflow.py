"""Models through MLflow: logged, loaded and served, they predict the same bits."""

import numpy as np
import pandas as pd
import pytest

import unnaive

mlflow = pytest.importorskip("mlflow", reason="pip install mlflow-skinny skops")
pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow and what it imports


@pytest.fixture
def rows():
    X = pd.DataFrame(
        {
            "age": [20.0, 70, 40, np.nan, 66, 50] * 20,
            "smoker": ["no", "yes", "no", None, "yes", "no"] * 20,
            "fever": [True, False, True, True, False, False] * 20,
        }
    )
    return X, pd.Series(["well", "ill", "well", "well", "ill", "ill"] * 20, name="diagnosis")


@pytest.mark.parametrize("serialization", ["skops", "cloudpickle"])
@pytest.mark.parametrize("key", ["nb", "tan", "kdb", "auto"])
def test_a_logged_model_predicts_the_same(key, serialization, rows, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"file:{tmp_path / 'runs'}")
    X, y = rows
    model = unnaive.make(key).fit(X, y)
    trusted = f"{type(model).__module__}.{type(model).__qualname__}"
    with mlflow.start_run():
        mlflow.log_metrics({"accuracy": model.score(X, y)})
        logged = mlflow.sklearn.log_model(
            model,
            name="model",
            serialization_format=serialization,
            skops_trusted_types=[trusted] if serialization == "skops" else None,
            pip_requirements=["unnaive"],
            pyfunc_predict_fn="predict_proba",
        )
    again = mlflow.sklearn.load_model(logged.model_uri)
    served = mlflow.pyfunc.load_model(logged.model_uri)
    expected = model.predict_proba(X)
    assert type(again) is type(model)
    assert (again.predict_proba(X) == expected).all()
    assert again.explain(X[:1]).text() == model.explain(X[:1]).text()
    assert (served.predict(X) == expected).all()
