"""
Naive Bayes is too sure of itself
=================================

Of the rows to which a model gives 80 %, 80 in 100 should have the class. A reliability curve shows
whether they do.
"""

# %%
# The breast cancer data has 30 columns, of which many measure the same: radius, perimeter and
# area, each as mean, error and worst. Naive Bayes counts all of them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss

import unnaive
from unnaive.datasets import load_wdbc

data = load_wdbc()
ill = (data.y == "malignant").astype(int)
models = {
    "naive Bayes": unnaive.NaiveBayes(),
    "naive Bayes, calibrated": CalibratedClassifierCV(unnaive.NaiveBayes(), cv=5),
    "TAN": unnaive.TAN(),
    "hidden naive Bayes": unnaive.HNB(),
}

# %%
# Each model learns from a quarter of the rows, four times, and is asked about the others.

chances = {name: [] for name in models}
asked = []
for part in range(4):
    learn = np.arange(len(ill)) % 4 == part
    asked.append(ill[~learn])
    for name, model in models.items():
        model.fit(data.X[learn], ill[learn])
        chances[name].append(model.predict_proba(data.X[~learn])[:, 1])
actual = np.concatenate(asked)

# %%
# How often do predictions come true, and how extreme are they?

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
edges = np.array([0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0])
for name, parts in chances.items():
    said = np.concatenate(parts)
    place = np.clip(np.searchsorted(edges, said, side="right") - 1, 0, len(edges) - 2)
    seen = [cell for cell in range(len(edges) - 1) if (place == cell).sum() >= 10]
    left.plot(
        [said[place == cell].mean() for cell in seen],
        [actual[place == cell].mean() for cell in seen],
        marker="o",
        label=f"{name}: log loss {log_loss(actual, said):.2f}",
    )
    right.hist(said, bins=20, histtype="step", label=name)
left.plot([0, 1], [0, 1], color="0.7", linestyle=":")
left.set_xlabel("predicted probability")
left.set_ylabel("share that was malignant")
left.legend()
right.set_xlabel("predicted probability")
right.set_ylabel("rows")
right.set_yscale("log")

# %%
# Naive Bayes hardly ever says anything but 0 or 1. Where it is wrong it is wrong with
# certainty, which log loss does not forgive. Calibration repairs much of it; so does a model
# that counts each story once.
