"""Rows and models for exported forms, and the engines that run them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unnaive
from benchmarks.engines import ENGINES, KEY, NotHere, unseen

ROOT = Path(__file__).parents[2]
NUMBERS_ONLY = {"full-bayes", "k-naive"}


def clinic(seed, k, *, numbers_only=False, rows=160):
    """Numbers, text, booleans and codes with gaps, and classes that depend on them."""
    random = np.random.default_rng(seed)
    classes = np.append(np.arange(k), random.integers(k, size=rows - k))
    hidden = random.normal(size=rows) + classes
    data = {}
    for place in range(3):
        noise = random.normal(size=rows)
        column = hidden * random.normal() + noise + classes * random.normal()
        data[f"number {place}"] = np.where(random.random(rows) < 0.1, np.nan, column)
    if not numbers_only:
        wards = np.array(["a", "b ", 'it\'s "c"', "line\nbreak", "é%_\\"])
        codes = (classes + (hidden > 1) * random.integers(2, size=rows)) % 5
        data['wa\'rd "x"; --'] = np.where(random.random(rows) < 0.1, None, wards[codes])
        data["flag"] = pd.array((hidden + random.normal(size=rows)) > 1, dtype="boolean")
        data["flag"][random.random(rows) < 0.1] = pd.NA
        data["grade"] = np.where(
            random.random(rows) < 0.1, np.nan, (classes + random.integers(3, size=rows)) % 4
        )
    labels = np.array([f"class {label}" for label in range(k)])[classes]
    return pd.DataFrame(data), labels


def fitted(key, seed=0, k=3):
    """Fit a model of the register to rows of a clinic; also return rows to score.

    The model is fitted once for all tests; each has a copy, whose parameters it may set.
    """
    model, X = _fitted(key, seed, k)
    return copy(model), X.copy()


@cache
def _fitted(key, seed, k):
    X, y = clinic(seed, k, numbers_only=key in NUMBERS_ONLY)
    model = unnaive.make(key)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(X, y), unseen(X, seed)


@contextmanager
def started(name):
    """Start an engine; skips the test where it is not installed."""
    try:
        engine = ENGINES[name]()
    except NotHere as error:
        pytest.skip(str(error))
    with engine:
        yield engine


def assert_predictions(model, X, labels, probabilities, atol=1e-9):
    """Labels are equal on all rows, and probabilities to the tolerance."""
    expected = model.predict_proba(X)
    np.testing.assert_allclose(np.asarray(probabilities, dtype=float), expected, rtol=0, atol=atol)
    assert list(labels) == model.predict(X).tolist()


def assert_scored(engine, model, X):
    """An engine's labels and probabilities are the model's."""
    answer = engine.score(model, X)
    assert_predictions(model, X, answer.labels, answer.probabilities)


def assert_explained(database, model, X, most=3):
    """The strongest contributions to the log-odds of the label, strongest first."""
    query = model.to_sql(database.table, key=KEY, dialect=database.dialect, explain=most)
    database.load(X)
    rows = sorted(database.run(query), key=lambda row: int(row[0]))
    odds = model.explain(X).log_odds(positive=model.predict(X).tolist())
    for row, own in zip(rows, odds.contributions, strict=True):
        found = row[-2 * most :]
        sizes = -np.sort(-np.abs(own))
        for rank in range(most):
            name, value = found[2 * rank : 2 * rank + 2]
            if name is None:
                assert value is None
                assert sizes[rank] == pytest.approx(0, abs=1e-9)
                continue
            assert float(value) == pytest.approx(own[odds.labels.index(name)], abs=1e-9)
            assert abs(float(value)) == pytest.approx(sizes[rank], abs=1e-9)


def recipe(heading, language):
    """The first block of code below a heading of the page on exports."""
    page = (ROOT / "docs" / "exporting.md").read_text(encoding="utf-8")
    below = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.search(rf"```{language}\n(.*?)```", below, re.DOTALL).group(1)


def patients():
    """The model of that page, and its rows."""
    rows = pd.read_csv(ROOT / "examples" / "patients.csv")
    X = rows.drop(columns="pneumonia")
    return unnaive.TAN().fit(X, rows["pneumonia"]), X
