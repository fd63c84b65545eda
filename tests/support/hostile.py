"""Schemas with hostile names and values, and labels of every type."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unnaive
from benchmarks.engines import Database
from exports import assert_scored
from unnaive.exceptions import UnnaiveError

ATTACKS = [
    '\'; DROP TABLE "witness"; --',
    '"; DROP TABLE witness; --',
    "`; DROP TABLE witness; --",
    "') OR 1=1 --",
    "\\'; DROP TABLE witness; --",
    "\\",
    "\\\\'",
    "'",
    '"',
    "``",
    "a\nb",
    "a\r\nb\t",
    "$1",
    "$$",
    "{}",
    "{0}",
    "%s",
    "?",
    ":name",
    "/* */",
    "--",
    "<!--</script>",
    "\u2028",
    "${process.exit()}",
    "select",
    "label",
    "probabilities",
    "p_0",
    "place",
    "value",
    "code",
    "source",
    "s0",
    "v0",
    "x0",
    "the_key",
    "__proto__",
    "constructor",
    "é",
    "e\u0301",
    "ﬀ",
    "ẞ",
    "İ",
    "漢字",
    "🙂",
    "NULL",
    "nan",
    "true",
    "1",
    " ",
    " a",
    "a ",
    "x" * 100,
    "é" * 100,
]
TEXTS = st.sampled_from(ATTACKS) | st.text(max_size=8)
NAMES = st.lists(TEXTS, min_size=1, max_size=4, unique=True)
VALUES = st.lists(TEXTS | st.just(""), min_size=2, max_size=5, unique=True)
LABELS = st.sampled_from([[True, False], [3, -1], [2.0, -1.0], ["None", "nan"], ["", " "]])
CASES = {"suppress_health_check": list(HealthCheck), "deadline": None, "derandomize": True}


def made(names, values, labels, seed):
    """A model of text columns with hostile names and values, and rows with gaps to score."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame({name: random.choice(values, size=40).astype(object) for name in names})
    X[names[0]] = values * (40 // len(values)) + values[: 40 % len(values)]
    y = np.array(labels, dtype=object)[random.integers(len(labels), size=40)]
    y[: len(labels)] = labels
    kinds = [unnaive.NaiveBayes, unnaive.TAN, unnaive.AODE]
    model = kinds[seed % 3]().fit(X, np.array(y.tolist()))
    rows = X.copy()
    rows[random.random(rows.shape) < 0.2] = None
    rows.iloc[-1] = "never seen"
    return model, rows


def assert_scored_or_refused(engine, model, X):
    """The engine agrees with Python, or the export names what it cannot do."""
    try:
        assert_scored(engine, model, X)
    except UnnaiveError as error:
        told = str(error)
        assert "\n" not in told
        assert "column" in told or "class" in told
        return False
    return True


def assert_survives(engine, examples):
    """Score many hostile models; other tables of a database stay as they were."""
    if isinstance(engine, Database):
        engine.load(pd.DataFrame({"a": ["kept"]}), "witness")

    @given(NAMES, VALUES, VALUES | LABELS, st.integers(0, 2))
    @settings(max_examples=examples, **CASES)
    def check(names, values, labels, seed):
        assert_scored_or_refused(engine, *made(names, values, labels, seed))

    check()
    if isinstance(engine, Database):
        assert [row[0] for row in engine.run("SELECT a FROM witness")] == ["kept"]
