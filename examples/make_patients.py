"""Generate ``patients.csv``: people with a cough, some of whom have pneumonia.

    python examples/make_patients.py > examples/patients.csv

All people are invented, and nothing in the table is medical knowledge. It has what real tables
have: numbers and categories, missing values, redundant columns (fever and crp), and columns that
depend on each other within a class (smoker and cough, age and oxygen saturation).
"""

from __future__ import annotations

import csv
import sys
from typing import Any

import numpy as np

ROWS = 500
MISSING = {"smoker": 0.06, "sputum": 0.10, "crp": 0.25, "saturation": 0.12}


def make_patients(rows: int = ROWS, seed: int = 0) -> dict[str, list[Any]]:
    """Return the columns; None is a missing value."""
    chance = np.random.default_rng(seed)
    ill = chance.random(rows) < 0.3
    age = np.clip(chance.normal(np.where(ill, 62, 50), 17), 18, 95).round().astype(int)
    sex = np.where(chance.random(rows) < 0.5, "f", "m")
    smoking = chance.random(rows)
    smoker = np.select([smoking < 0.25, smoking < 0.5], ["yes", "ex"], "no")
    inflamed = chance.normal(size=rows) + np.where(ill, 1.6, 0.0)
    heat = 37.0 + 0.55 * inflamed + chance.normal(0, 0.25, rows)
    fever = np.select([heat > 38.5, heat > 37.6], ["high", "low"], "no")
    crp = np.exp(1.6 + 0.95 * inflamed + chance.normal(0, 0.4, rows)).round(1)
    coughing = (smoker == "yes") * 1.6 + ill * 0.9 + chance.normal(size=rows)
    cough = np.select([coughing > 2.2, coughing > 0.8], ["severe", "mild"], "none")
    sputum = np.where(chance.random(rows) < np.where(cough == "none", 0.1, 0.55), "yes", "no")
    breathing = 98.5 - 0.045 * (age - 40) - np.where(ill, 2.6, 0.0) + chance.normal(0, 1.3, rows)
    saturation = np.clip(breathing, 80, 100).round(1)
    columns = {
        "age": age.tolist(),
        "sex": sex.tolist(),
        "smoker": smoker.tolist(),
        "fever": fever.tolist(),
        "cough": cough.tolist(),
        "sputum": sputum.tolist(),
        "crp": crp.tolist(),
        "saturation": saturation.tolist(),
    }
    for name, share in MISSING.items():
        gone = chance.random(rows) < share
        columns[name] = [
            None if hidden else cell for hidden, cell in zip(gone, columns[name], strict=True)
        ]
    return {**columns, "pneumonia": np.where(ill, "yes", "no").tolist()}


if __name__ == "__main__":
    patients = make_patients()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(patients)
    writer.writerows(zip(*patients.values(), strict=True))
