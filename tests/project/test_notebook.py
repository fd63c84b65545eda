"""Every picture and every HTML view in a real notebook, on small and large data.

``UNNAIVE_PICTURES=folder`` also writes what the notebook shows to files, to look at.
"""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

import pytest

from unnaive import explain

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
numbers = X.select_dtypes("number")
comparison = compare(["nb", "tan", "hnb"], X, y, folds=2, metrics=["accuracy", "log_loss"])
"""
# Pictures, and the sizes of the data at which their look differs.
PICTURES = {
    "tan.explain(X[:3]).plot(1)": SIZES,
    "plot_importance(importance(tan))": {"small", "medium"},
    "plot_confusion(tan, X, y)": {"small", "medium"},
    "plot_reliability(tan, X, y)": {"small"},
    "plot_roc(tan, X, y)": {"small"},
    "plot_precision_recall(tan, X, y)": {"small"},
    "nb.structure_.plot()": {"medium"},
    "tan.structure_.plot()": SIZES,
    "plot_structure(hnb)": {"small", "medium"},
    'plot_structure(unnaive.make("kdb").fit(X, y))': {"small", "large"},
    'plot_structure(unnaive.make("aode").fit(X, y))': {"small", "large"},
    'plot_structure(unnaive.make("tan-multinet").fit(X, y))': {"small"},
    'plot_structure(unnaive.make("fssj").fit(X, y))': {"small"},
    'plot_structure(unnaive.make("bayesnet").fit(X, y))': {"small"},
    'plot_structure(unnaive.make("auto").fit(X, y))': {"small"},
    'plot_threshold_path(unnaive.PHNB(threshold="loo").fit(X, y))': {"small"},
    'plot_size_path(unnaive.CherryTreeNB(order="loo").fit(X, y))': {"small"},
    'plot_term_path(unnaive.WeightedBayes(max_terms=1).fit(X, y))': {"small"},
    "plot_score_path(unnaive.GeneralizedNB().fit(X, y), X, y)": {"small"},
    "plot_cumulated_information(unnaive.GeneralizedNB().fit(X, y))": {"small"},
    "plot_dependence_derivatives(dependence_derivatives(tan, X))": {"small"},
    "plot_set_weights(unnaive.KNaiveBayes(k=2).fit(numbers, y), numbers, y, n_sets=9)": {"small"},
    "comparison.plot()": {"small"},
    "comparisons.plot()": {"small"},
}
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
    "nb.report(X, y, folds=2)",
]
FEW = """
half = X[::2], y[::2]
comparisons = compare_many(["nb", "tan"], {"all": (X, y), "half": half}, folds=2)
"""


def cells():
    """Yield the source of every cell, and what it must show: nothing, a picture or a view."""
    yield SETUP, None
    for size, shape in SIZES.items():
        yield FITTED.format(*shape), None
        if size == "small":
            yield FEW, None
            yield "comparisons", "text/html"
            yield 'unnaive.make("auto").fit(X, y).leaderboard_', "text/html"
        drawn = [source for source, sizes in PICTURES.items() if size in sizes]
        yield from ((f"{source}  # {size}", "image/png") for source in drawn)
        yield from ((f"{source}  # {size}", "text/html") for source in VIEWS)


def test_every_plot_is_in_the_notebook():
    drawn = " ".join(PICTURES)
    names = {name for name in explain.__all__ if name.startswith("plot_")}
    shown_by_methods = {"plot_critical_difference", "plot_waterfall"}
    assert {name for name in names if name not in drawn} == shown_by_methods


def keep(folder, number, source, bundles):
    """Write what a cell shows to files."""
    name = f"{number:02d}-" + re.sub(r"\W+", "-", source).strip("-")[:60]
    for kind, ending in (("image/png", "png"), ("text/html", "html"), ("text/plain", "txt")):
        for data in (bundle[kind] for bundle in bundles if kind in bundle):
            content = base64.b64decode(data) if ending == "png" else data.encode()
            Path(folder, f"{name}.{ending}").write_bytes(content)


@pytest.mark.long
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
