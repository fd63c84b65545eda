"""The recipes of docs/exporting.md: FastAPI, a browser page, run as printed."""

from __future__ import annotations

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

from browser import chromium_page, watch
from exports import patients, recipe
from unnaive import export


def test_fastapi(tmp_path, monkeypatch):
    client = pytest.importorskip("fastapi.testclient", reason="FastAPI is not installed")
    model, X = patients()
    model.save(tmp_path / "patients.unb")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(recipe("FastAPI", "python"), names)
    rows = [{k: v for k, v in row.items() if pd.notna(v)} for row in X[:5].to_dict("records")]
    with client.TestClient(names["app"]) as caller:
        for row in rows:
            answer = caller.post("/predict", json=row)
            assert answer.status_code == 200
            assert answer.json() == pytest.approx(model.predict_proba_one(row))


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, *args):
        """Say nothing."""


@pytest.mark.long
def test_browser_page(tmp_path):
    model, _ = patients()
    export.write(model, tmp_path / "model.js")
    (tmp_path / "index.html").write_text(recipe("A browser page", "html"), encoding="utf-8")
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
