"""The recipes of docs/exporting.md: FastAPI, a Spark function, a browser page, run as printed."""

from __future__ import annotations

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unnaive
from browser import chromium_page, watch
from exports import started
from unnaive import export

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "exporting.md").read_text(encoding="utf-8")


def block(heading, language):
    """The first block of code below a heading."""
    below = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.search(rf"```{language}\n(.*?)```", below, re.DOTALL).group(1)


@pytest.fixture(scope="module")
def patients():
    rows = pd.read_csv(ROOT / "examples" / "patients.csv")
    X = rows.drop(columns="pneumonia")
    return unnaive.TAN().fit(X, rows["pneumonia"]), X


def test_fastapi(patients, tmp_path, monkeypatch):
    client = pytest.importorskip("fastapi.testclient", reason="FastAPI is not installed")
    model, X = patients
    model.save(tmp_path / "patients.unb")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(block("FastAPI", "python"), names)
    rows = [{k: v for k, v in row.items() if pd.notna(v)} for row in X[:5].to_dict("records")]
    with client.TestClient(names["app"]) as caller:
        for row in rows:
            answer = caller.post("/predict", json=row)
            assert answer.status_code == 200
            assert answer.json() == pytest.approx(model.predict_proba_one(row))


@pytest.mark.long
def test_spark_function(patients):
    model, X = patients
    with started("Spark SQL") as engine:
        frame = engine.session.createDataFrame(X.astype(object).where(X.notna(), None))
        names = {"pd": pd, "model": model, "frame": frame}
        exec(block("A Spark function", "python"), names)
        found = [row["p"] for row in names["scored"].collect()]
    np.testing.assert_allclose(found, model.predict_proba(X)[:, 1], rtol=0, atol=1e-9)


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, *args):
        """Say nothing."""


@pytest.mark.long
def test_browser_page(patients, tmp_path):
    model, _ = patients
    export.write(model, tmp_path / "model.js")
    (tmp_path / "index.html").write_text(block("A browser page", "html"), encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with chromium_page() as page:
            watched = watch(page)
            page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
            page.wait_for_selector("#answer:not(:empty)")
            answer = page.inner_text("#answer")
    finally:
        server.shutdown()
        server.server_close()
    row = {"age": 61, "fever": "high"}
    label = model.predict_one(row)
    chance = model.predict_proba_one(row)[label]
    assert answer == f"{label}, probability {chance:.3f}, mostly because of fever"
    assert watched.errors == []
