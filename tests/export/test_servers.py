"""SQL in a PostgreSQL server and in Spark, both started here."""

from __future__ import annotations

import pytest

from exports import assert_predictions, assert_scored, fitted, started

pytest.importorskip("sqlglot")
pytestmark = pytest.mark.long  # servers
KEYS = {
    "PostgreSQL": [
        "tan",
        "aode",
        "hnb",
        "gaussian-nb",
        "gaussian-tan",
        "full-bayes",
        "kdb",
        "auto",
    ],
    "Spark SQL": ["tan", "aode"],
}


@pytest.mark.parametrize("name", KEYS)
def test_predictions_are_those_of_python(name):
    with started(name) as engine:
        for key in KEYS[name]:
            assert_scored(engine, *fitted(key, seed=1))
        if name == "PostgreSQL":
            model, X = fitted("tan", seed=2)
            answer = engine.score(model, X, inline=3)
            assert_predictions(model, X, answer.labels, answer.probabilities)
