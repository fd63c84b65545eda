"""WEKA 3.6.14's posteriors to 1e-9; see golden/README.md for how they were made."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from datafiles import nominal
from unnaive import AODE, HNB, TAN, WAODE, MEstimate, NaiveBayes
from unnaive.counts import CodedRows
from unnaive.information import conditional_mutual_information
from unnaive.io.frames import Column, Frame

GOLDEN = Path(__file__).parents[1] / "golden"
MODELS = {
    "nb": NaiveBayes(),
    "aode": AODE(),
    "aode-f5": AODE(min_count=5),
    "aode-f50": AODE(min_count=50),
    "aode-m": AODE(smoothing=MEstimate(1)),
    "aodesr": AODE(subsumption=True, smoothing=MEstimate(1)),
    "aodesr-laplace": AODE(subsumption=True),
    "hnb": HNB(smoothing="weka"),
    "waode": WAODE(),
}
COMPLETE = ("kr-vs-kp", "nursery", "soybean-large", "made")
CASES = [
    (data, key)
    for data in (*COMPLETE, "vote", "soybean-large-missing", "made-missing")
    for key in [*MODELS, "tan"]
    if key != "tan" or data in COMPLETE  # WEKA's BayesNet fills gaps by itself
]


def golden(data):
    return json.loads(gzip.decompress((GOLDEN / f"{data}.json.gz").read_bytes()))


@pytest.mark.parametrize(("data", "key"), [c for c in CASES if c[1] in golden(c[0])["models"]])
def test_posteriors_equal_weka(data, key):
    known = golden(data)
    expected = known["models"][key]
    model = TAN(parents=expected["parents"]) if key == "tan" else MODELS[key]
    schema, codes, classes = nominal(known["data"], known["preprocessing"] is not None)
    model.fit_counts(CodedRows(schema, codes, classes).count())
    names = [column.name for column in schema.columns]
    columns = [
        Column(name, np.append(np.arange(size), -1)[line], schema.columns[i].categories)
        for i, (name, size, line) in enumerate(zip(names, schema.sizes, codes, strict=True))
    ]
    got = model.predict_proba(Frame(tuple(names), codes.shape[1], tuple(columns)))
    posteriors = known["models"][expected.get("same_as", key)]["proba"]
    difference = got[:: known["row_step"]] - np.array(posteriors)
    assert np.abs(difference).max() < 1e-9


@pytest.mark.parametrize("data", COMPLETE)
def test_our_tree_weighs_as_much_as_wekas(data):
    known = golden(data)
    schema, codes, classes = nominal(data, known["preprocessing"] is not None)
    counts = CodedRows(schema, codes, classes).count()
    ours = TAN().fit_counts(counts).structure_
    matrix = conditional_mutual_information(counts)
    parents = known["models"]["tan"]["parents"]
    theirs = sum(matrix[child, parent] for child, parent in enumerate(parents) if parent >= 0)
    assert ours.weights.sum() == pytest.approx(theirs, abs=1e-9)
