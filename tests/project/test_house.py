"""The house: import time, sizes of files and functions, parameters that are read."""

from __future__ import annotations

import ast
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unnaive
from statements import statements
from unnaive.search import UMDA

ROOT = Path(__file__).parents[2]
SOURCES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]


def test_import_is_free():
    code = (
        "import sys, time; start = time.process_time(); import unnaive; "
        "spent = time.process_time() - start; "
        "heavy = {'pandas', 'polars', 'pyarrow', 'matplotlib', 'sklearn', 'scipy', "
        "'dask', 'pyspark'}; "
        "print(spent < 0.3, sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True []"


def test_models_do_not_import_the_optional_libraries():
    code = (
        "import sys, sklearn.base; before = set(sys.modules); "  # they bring pandas along
        "from unnaive import TAN; TAN().fit([[1, 2], [3, 4]], [0, 1]).predict([[1, 2]]); "
        "print(sorted({'pandas', 'polars', 'pyarrow', 'matplotlib', 'networkx', 'dask', "
        "'pyspark'} & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_sizes():
    long = []
    for path in SOURCES:
        text, place = path.read_text(), path.relative_to(ROOT)
        if len(text.splitlines()) > 500:
            long.append(str(place))
        for node in statements(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                documented = ast.get_docstring(node) is not None
                code = node.body[documented:]  # the signature and the docstring do not count
                if code and node.end_lineno - code[0].lineno >= 60:
                    long.append(f"{place}: {node.name}")
    assert not long


def test_all_names_are_there():
    for name in unnaive.__all__:
        assert getattr(unnaive, name) is not None
    assert set(unnaive.__all__) <= set(dir(unnaive))


def test_packages_are_attributes():
    code = (
        "import sys, unnaive; assert 'unnaive.evaluate' not in sys.modules; "
        "print(unnaive.datasets.load.__name__, unnaive.evaluate.compare.__name__, "
        "unnaive.explain.what_if.__name__, unnaive.search.UMDA.__name__, "
        "unnaive.papers.reproduce.__name__, unnaive.report.write.__name__, "
        "{'datasets', 'evaluate', 'explain', 'papers', 'report', 'search'} <= set(dir(unnaive)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "load",
        "compare",
        "what_if",
        "UMDA",
        "reproduce",
        "write",
        "True",
    ]


CHANGES = {
    "discretize": "width",
    "bins": 3,
    "categorical_features": [0],
    "categories": {"b": [0, 1, 2, 3]},
    "min_frequency": "typo",
    "max_categories": "typo",
    "missing_as_category": "typo",
    "smoothing": "backoff",
    "class_prior": [0.3, 0.7],
    "threshold_bias": [0.0, 1.0],
    "handle_unknown": "error",
    "max_memory": 10,
    "root": "b",
    "parents": [None, 0, 0, 0, 0],
    "forest": True,
    "missing": "drop",
    "min_count": 40,
    "subsumption": True,
    "critical": 100,
    "per_class": True,
    "average": "joint",
    "k": 1,
    "min_cmi": 0.1,
    "threshold": math.inf,
    "criterion": "bic",
    "parent": "b",
    "joint_prior": False,
    "rule": "gt",
    "weighted": True,
    "method": "greedy",
    "n_features": 2,
    "parametrization": "junction",
    "paper": True,
    "max_clique": 2,
    "order": 2,
    "penalty": "aic",
    "start": "typo",
    "var_smoothing": 0.5,
    "ddof": 100,
    "shrinkage": 0.5,
    "pooling": 0.5,
    "naivete": "strong",
    "exact_k": False,
    "weighting": "typo",
    "objective": "smallest",
    "norm": "typo",
    "joint": "pseudo",
    "random_state": 7,
    "search": "typo",
    "augmented": False,
    "max_parents": 0,
    "required": [("a", "b")],
    "forbidden": [("y", "b")],
    "tiers": [["d"], ["y"]],
    "structure": [("d", "y")],
    "n_restarts": "typo",
    "time_limit": 0,
    "alpha": 1e-12,
    "delete": "typo",
    "algorithm": "typo",
    "seed_with": "typo",
    "tune": "typo",
    "max_weight": 0.5,
    "polish": "typo",
    "max_iter": 0,
    "increment": "literal",
    "target": "probabilities",
    "z": 0.0,
    "encoding": "absolute",
    "repair": "typo",
    "calibrate": "loo",
    "dependences": "none",
    "n_pairs": 0,
    "pair_penalty": 50.0,
    "pseudo_count": 5.0,
    "max_terms": 1,
    "choose": "best",
    "candidates": ["nb"],
    "time_budget": "typo",
    "weights": "discriminative",
}
FEW = UMDA(population=4, selected=2, offspring=4, max_generations=1)  # that find nothing good
INERT = {"n_jobs"}  # by promise: the same bits for any number of threads
BASE = {"bins": {"discretize": "quantile"}, "critical": {"subsumption": True}}
OWN = {  # what a parameter is changed to, and beside what, in one model
    ("aode-sr", "subsumption"): ({}, False),
    ("tan-multinet", "per_class"): ({}, False),
    ("tan-multinet", "root"): ({}, "c"),
    ("phnb", "criterion"): ({"threshold": "loo"}, "typo"),
    ("phnb", "rule"): ({}, "typo"),
    ("spode", "criterion"): ({}, "typo"),
    ("kdb", "max_k"): ({"k": "loo"}, "typo"),
    **{(key, "criterion"): ({"n_features": "loo"}, "typo") for key in ("nb", "tan", "kdb")},
    ("tan-multinet", "criterion"): ({"n_features": "loo"}, "typo"),
    ("gnb-a", "criterion"): ({"n_features": "loo"}, "typo"),
    ("gnb-o", "criterion"): ({"n_features": "loo"}, "typo"),
    ("gnb-a", "method"): ({}, "typo"),
    ("gnb-o", "method"): ({}, "typo"),
    **{
        (f"gaussian-{key}", name): (beside, change)
        for key in ("nb", "tan", "kdb")
        for name, beside, change in (
            ("categorical_features", {}, [2]),
            ("smoothing", {"categorical_features": [2]}, "laplace:50"),
            ("handle_unknown", {"categorical_features": ["d"]}, "error"),
            ("cell_weight", {"categorical_features": ["d"]}, 0.5),
        )
    },
    ("bayesnet", "criterion"): ({}, "typo"),
    ("bayesnet", "alpha"): ({"search": "pc", "augmented": False}, 1e-30),
    ("bayesnet", "random_state"): ({}, "typo"),
    **{(key, "criterion"): ({}, "typo") for key in ("fssj", "bsej", "pazzani-eda")},
    **{
        (key, name): ({"search": "eda", **beside}, change)
        for key in ("fssj", "bsej", "pazzani-eda")
        for name, beside, change in (
            ("paper", {"algorithm": FEW, "criterion": "log_loss", "random_state": 0}, True),
            ("bins", {"discretize": "quantile"}, 0),
            ("categories", {}, {"typo": [0, 1]}),
            ("discretize", {}, "typo"),
            ("algorithm", {}, "typo"),
            ("random_state", {}, "typo"),
        )
    },
    ("apnbc", "random_state"): ({"search": "eda"}, "typo"),
    ("apnbc-eda", "random_state"): ({}, "typo"),
    **{(key, "max_weight"): ({}, 0.5) for key in ("apnbc", "apnbc-eda")},
    **{(key, "criterion"): ({}, "typo") for key in ("apnbc", "apnbc-eda", "iterative", "ienb")},
    ("iterative", "order"): ({}, "typo"),
    ("iterative", "random_state"): ({"order": "shuffle"}, 7),
    ("ienb", "random_state"): ({}, "typo"),
    ("ienb", "paper"): ({"encoding": "linear"}, True),
    **{(key, "penalty"): ({}, 50.0) for key in ("wanbia", "weighted-tan", "weighted-pairs")},
    ("wanbia", "dependences"): ({}, "tree"),
    ("wanbia", "pair_penalty"): ({"dependences": "pairs"}, 50.0),
    **{(key, "n_pairs"): ({"dependences": "pairs"}, 0) for key in ("wanbia", "weighted-tan")},
    ("auto", "choose"): ({"candidates": ["nb", "tan"]}, "best"),
    ("auto", "categories"): ({"candidates": ["nb"]}, {"b": [0, 1, 2, 3]}),
    ("k-naive", "k"): ({}, 4),
    ("k-naive", "components"): ({"k": 3}, "pca"),
    ("k-naive", "n_factors"): ({"k": 1, "components": "factors"}, 1),
    ("k-naive", "random_state"): ({"k": "cv"}, "typo"),
    ("k-naive", "exact_k"): ({"k": 4}, False),
    ("k-naive", "naivete"): ({"k": 3}, "strong"),
    ("k-naive", "objective"): ({"k": 3}, "smallest"),
}


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_every_parameter_is_read(key):
    random = np.random.default_rng(0)
    latent = random.integers(0, 2, 300)
    X = pd.DataFrame(
        {
            "a": latent + random.normal(size=300),
            "b": np.where(random.random(300) < 0.4, np.nan, random.integers(0, 3, 300)),
            "c": (latent ^ (random.random(300) < 0.3)).astype(int),
            "d": latent,
            "e": latent & (random.random(300) < 0.4),  # implies d, some 60 times
        }
    )
    y = latent ^ (random.random(300) < 0.2)
    unknown = X.assign(d=5)
    before = {}  # of the settings beside which parameters are changed, most often none
    for name in set(unnaive.make(key).get_params()) - INERT:
        base, change = OWN.get((key, name), (BASE.get(name, {}), CHANGES.get(name)))
        if repr(base) not in before:
            before[repr(base)] = observed(key, base, X, y, unknown)
        changed = observed(key, {**base, name: change}, X, y, unknown)
        assert changed != before[repr(base)], name


def observed(key, settings, X, y, unknown):
    """Tell what a user sees: probabilities of known and unknown rows, or the error."""
    try:
        model = unnaive.make(key, **settings).fit(X, y)
        known, new = model.predict_proba(X).tolist(), model.predict_proba(unknown).tolist()
        structure = type(getattr(model, "structure_", None)).__name__
        return known, new, model.predict(X).tolist(), structure
    except ValueError as error:
        return str(error)
