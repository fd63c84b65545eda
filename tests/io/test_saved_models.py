"""Models that version 0.1 saved: they load, and answer what they answered then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unnaive
from unnaive.schema.document import load_schema

FOLDER = Path(__file__).parents[1] / "golden" / "models"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def rows(kind: str) -> pd.DataFrame:
    """Rows that were asked for: strings, numbers, missing cells and a category never seen."""
    given = EXPECTED["rows"][kind]
    frame = pd.DataFrame(given["cells"], columns=given["columns"])
    return frame.astype({name: float for name in frame if name in {"a", "b", "e"}})


def test_every_model_has_a_file() -> None:
    assert set(EXPECTED["models"]) >= set(unnaive.all_models())


@pytest.mark.parametrize("name", sorted(EXPECTED["models"]))
def test_answers_as_it_did(name: str) -> None:
    told = EXPECTED["models"][name]
    model, asked = unnaive.load(FOLDER / f"{name}.unb"), rows(told["rows"])
    joint = model.predict_joint_log_proba(asked)
    np.testing.assert_allclose(joint, told["joint"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        model.predict_proba(asked), told["posterior"], rtol=1e-12, atol=1e-12
    )
    assert model.predict(asked).tolist() == told["predicted"]


def test_counts_and_schema_of_version_0_1_load() -> None:
    counts = unnaive.JointCounts.load(FOLDER.parent / "files" / "weather.counts")
    schema = load_schema(FOLDER.parent / "files" / "weather.json")
    assert counts.schema == schema
    assert counts.class_counts.tolist() == [5, 9]
    model = unnaive.TAN().fit_counts(counts)
    row = {"outlook": "sunny", "temperature": 66, "humidity": 90, "windy": True}
    np.testing.assert_allclose(model.predict_proba_one(row)["no"], 0.7377049180327869, rtol=1e-12)
