"""Compare all models that accept categories and numbers on the papers' smaller data sets.

    UNNAIVE_DATA=folder python examples/compare_models.py

The table of mean ranks in ``docs/choosing-a-model.md`` is the output of this script (about ten
minutes). Data sets that are not in the folder come from OpenML. All models have their default
parameters and the same folds.
"""
# ruff: noqa: T201 - a script that prints

from __future__ import annotations

import numpy as np

from unnaive import all_models
from unnaive.datasets import load
from unnaive.evaluate import compare_many

DATA = (
    *("wdbc", "heart-cleveland", "diabetes-early", "thyroid-ann-train", "parkinsons", "sick"),
    *("kr-vs-kp", "breast", "corral", "crx", "flare", "german", "glass", "glass2", "hepatitis"),
    *("iris", "pima", "segment", "soybean-large", "vehicle", "vote", "waveform-21"),
)
NUMBERS_ONLY = ("full-bayes", "k-naive", "gaussian-tan", "gaussian-kdb")


def main() -> None:
    """Print mean ranks of log loss and accuracy, best first."""
    sets = {}
    for name in DATA:
        data = load(name)
        sets[name] = (data.frame, data.labels)
    keys = [key for key in all_models() if key not in NUMBERS_ONLY]
    found = compare_many(keys, sets, folds=5, metrics=["log_loss", "accuracy"])
    ranks = {metric: found.friedman(metric).ranks for metric in ("log_loss", "accuracy")}
    losses, right = found.means("log_loss"), found.means("accuracy")
    print("| model | rank, log loss | log loss / naive Bayes' | rank, accuracy | accuracy |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for key in sorted(keys, key=ranks["log_loss"].__getitem__):
        ratio = np.exp(np.nanmean(np.log(losses[key] / losses["nb"])))
        cells = (ranks["log_loss"][key], ratio, ranks["accuracy"][key], np.nanmean(right[key]))
        print(f"| `{key}` | {cells[0]:.1f} | {cells[1]:.2f} | {cells[2]:.1f} | {cells[3]:.3f} |")
    print(f"\ncritical difference of ranks: {found.nemenyi('log_loss').critical:.1f}")
    for name, part in found.parts.items():
        for failure in part.failures:
            print(name, failure)


if __name__ == "__main__":
    main()
