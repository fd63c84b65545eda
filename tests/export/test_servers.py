"""SQL in a PostgreSQL server and in Spark; each is started once for all that it runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unnaive
from exports import (
    assert_explained,
    assert_predictions,
    assert_scored,
    fitted,
    patients,
    recipe,
    started,
)
from hostile import assert_survives

pytest.importorskip("sqlglot")
pytestmark = pytest.mark.long  # servers
KEYS = ["tan", "aode", "hnb", "gaussian-nb", "gaussian-tan", "full-bayes", "kdb", "auto"]


@pytest.mark.filterwarnings("ignore:class True has")
def test_postgres():
    with started("PostgreSQL") as engine:
        for key in KEYS:
            assert_scored(engine, *fitted(key, seed=1))
        model, X = fitted("tan", seed=2)
        answer = engine.score(model, X, inline=3)
        assert_predictions(model, X, answer.labels, answer.probabilities)
        assert_explained(engine, *fitted("tan", k=2))
        assert_survives(engine, 25)
        X = pd.DataFrame(np.random.default_rng(0).integers(1, 4, (40, 3)), columns=list("abc"))
        X.iloc[:2] = [[1, 1, 1], [1, 2, 2]]  # a variance of nearly 0, with roots that decimals cut
        model = unnaive.FullBayes().fit(X, np.arange(40) < 2)
        rows = X.astype(float).assign(a=np.nan)
        answer = engine.score(model, rows)
        assert_predictions(model, rows, answer.labels, answer.probabilities, atol=1e-13)
        query = unnaive.NaiveBayes().fit(X, np.ones(len(X))).to_sql("my rows", dialect="postgres")
        kinds = f'SELECT DISTINCT pg_typeof(label), pg_typeof("p_1.0") FROM ({query}) AS answers'
        assert engine.run(kinds) == [("double precision", "double precision")]


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark():
    with started("Spark SQL") as engine:
        assert_scored(engine, *fitted("tan", seed=1, k=2))
        assert_explained(engine, *fitted("nb", k=3))
        assert_survives(engine, 4)
        model, X = patients()
        frame = engine.session.createDataFrame(X.astype(object).where(X.notna(), None))
        names = {"pd": pd, "model": model, "frame": frame}
        exec(recipe("A Spark function", "python"), names)
        found = [row["p"] for row in names["scored"].collect()]
        np.testing.assert_allclose(found, model.predict_proba(X)[:, 1], rtol=0, atol=1e-9)
