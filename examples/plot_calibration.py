"""
Calibration: naive Bayes is overconfident
=========================================

Of the samples to which a calibrated model gives a probability of 80 %, 80 in 100 have the class. A
reliability curve shows whether this holds.
"""

# %%
# The breast cancer data has 30 features, and many of them measure the same thing: radius,
# perimeter and area, each as mean, error and worst value. Naive Bayes treats them as independent
# evidence.

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
# Each model is fitted to a quarter of the samples, four times, and predicts the others.

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
# How often is a predicted class the true one, and how extreme are the predictions?

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
left.set_ylabel("observed frequency of malignant")
left.legend()
right.set_xlabel("predicted probability")
right.set_ylabel("rows")
right.set_yscale("log")

# %%
# Naive Bayes predicts probabilities near 0 or 1 for almost every sample. Where it is wrong, it is
# wrong with high confidence, and log loss punishes that. Calibration repairs much of it, and so
# does a model that takes the dependences into account.
