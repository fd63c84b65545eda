"""Every picture and every HTML view in a real notebook, on small and large data.

``UNNAIVE_PICTURES=folder`` also writes what the notebook shows to files, to look at.
"""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

import pytest

SETUP = '''
import numpy as np
import pandas as pd
import unnaive
from unnaive.evaluate import compare, compare_many, cross_validate
from unnaive.explain import *

def patients(columns, classes, rows=360):
    """Numbers and categories, some missing, that depend on the class and on each other."""
    random = np.random.default_rng(columns + classes)
    label = random.integers(0, classes, rows)
    hidden = random.normal(size=rows)
    data = {}
    for place in range(columns):
        mixed = random.normal(size=rows) + hidden * (place % 3) + label * (place % 5) / classes
        if place % 2:
            data[f"measurement number {place}"] = mixed
        else:
            levels = np.array(["never", "in earlier years", "now and then", "daily"])
            data[f"habit {place}"] = levels[np.clip(mixed + 1, 0, 3).astype(int)]
    X = pd.DataFrame(data).mask(random.random((rows, columns)) < 0.03)
    names = ["healthy", "ill"] if classes == 2 else [f"diagnosis {c + 1}" for c in range(classes)]
    return X, pd.Series(np.array(names)[label], name="outcome")
'''
SIZES = {"small": (8, 2), "medium": (30, 24), "large": (70, 2)}
FITTED = """
X, y = patients({}, {})
nb, tan, hnb = (unnaive.make(key).fit(X, y) for key in ("nb", "tan", "hnb"))
data = {{"all": (X, y), "some": (X[:180], y[:180]), "others": (X[180:], y[180:])}}
comparison = compare(["nb", "tan", "hnb"], X, y, folds=2, metrics=["accuracy", "log_loss"])
comparisons = compare_many(["nb", "tan", "hnb"], data, folds=2, metrics=["accuracy"])
"""
PICTURES = [
    "tan.explain(X[:3]).plot(1)",
    "plot_importance(importance(tan))",
    "plot_confusion(tan, X, y)",
    "plot_reliability(tan, X, y)",
    "plot_roc(tan, X, y)",
    "plot_precision_recall(tan, X, y)",
    "nb.structure_.plot()",
    "tan.structure_.plot()",
    "plot_structure(hnb)",
    'plot_structure(unnaive.make("kdb").fit(X, y))',
    'plot_structure(unnaive.make("aode").fit(X, y))',
    "comparison.plot()",
    "comparisons.plot()",
]
VIEWS = [
    "tan",
    "tan.schema_",
    "tan.counts_",
    "tan.structure_",
    "tan.to_network()",
    "tan.explain(X[:3])",
    "importance(tan)",
    "unnaive.check_data(X, y)",
    "cross_validate(tan, X, y, folds=2)",
    "comparison",
    "comparisons",
    "nb.report(X, y, folds=2)",
]
SEARCHED = [  # models whose choices are drawn, on the small data
    'plot_threshold_path(unnaive.PHNB(threshold="loo").fit(X, y))',
    'plot_size_path(unnaive.CherryTreeNB(order="loo").fit(X, y))',
    "plot_score_path(unnaive.GeneralizedNB().fit(X, y), X, y)",
    "plot_cumulated_information(unnaive.GeneralizedNB().fit(X, y))",
    "plot_dependence_derivatives(dependence_derivatives(tan, X))",
    'plot_structure(unnaive.make("tan-multinet").fit(X, y))',
    'plot_structure(unnaive.make("fssj").fit(X, y))',
    'plot_structure(unnaive.make("bayesnet").fit(X, y))',
    'plot_structure(unnaive.make("auto").fit(X, y))',
]


def cells():
    """Yield the source of every cell, and what it must show: nothing, a picture or a view."""
    yield SETUP, None
    for size, shape in SIZES.items():
        yield FITTED.format(*shape), None
        yield from ((f"{source}  # {size}", "image/png") for source in PICTURES)
        yield from ((f"{source}  # {size}", "text/html") for source in VIEWS)
        if size == "small":
            yield from ((source, "image/png") for source in SEARCHED)
            yield 'unnaive.make("auto").fit(X, y).leaderboard_', "text/html"


def keep(folder, number, source, bundles):
    """Write what a cell shows to files."""
    name = f"{number:02d}-" + re.sub(r"\W+", "-", source).strip("-")[:60]
    for kind, ending in (("image/png", "png"), ("text/html", "html"), ("text/plain", "txt")):
        for data in (bundle[kind] for bundle in bundles if kind in bundle):
            content = base64.b64decode(data) if ending == "png" else data.encode()
            Path(folder, f"{name}.{ending}").write_bytes(content)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own packages
def test_every_picture_and_view_is_shown_in_a_notebook():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    sources, wanted = zip(*cells(), strict=True)
    code = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=code)
    nbclient.NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    for number, (cell, kind) in enumerate(zip(notebook.cells, wanted, strict=True)):
        bundles = [output.data for output in cell.outputs if "data" in output]
        if folder := os.environ.get("UNNAIVE_PICTURES"):
            keep(folder, number, cell.source, bundles)
        told = [output for output in cell.outputs if output.output_type in {"stream", "error"}]
        assert not told, (cell.source, told)
        assert kind is None or any(kind in bundle for bundle in bundles), cell.source
        for bundle in bundles:
            assert "Traceback" not in bundle.get("text/html", ""), cell.source
