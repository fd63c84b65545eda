"""
Choosing a threshold when errors have different costs
=====================================================

The model estimates probabilities; costs only decide the threshold. So the same model serves a
clinic that can afford many false positives and one that cannot.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import unnaive
from unnaive.explain import plot_precision_recall, plot_roc

patients = pd.read_csv("patients.csv")
X, y = patients.drop(columns="pneumonia"), patients["pneumonia"]
learn = np.arange(len(y)) % 2 == 0
model = unnaive.HNB().fit(X[learn], y[learn])
ill = (y[~learn] == "yes").to_numpy()
chance = model.predict_proba(X[~learn])[:, 1]

# %%
# If a false negative costs r times a false positive, predict "ill" from a probability of
# 1 / (1 + r) on. Is this threshold, which follows from the costs only, close to the one that turns
# out best on the test samples?

ratios = np.array([1, 2, 5, 10, 20])
thresholds = np.linspace(0.005, 0.995, 199)
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for ratio in ratios:
    false_negatives = np.array([(ill & (chance < threshold)).sum() for threshold in thresholds])
    false_positives = np.array([(~ill & (chance >= threshold)).sum() for threshold in thresholds])
    (line,) = ax.plot(
        thresholds,
        ratio * false_negatives + false_positives,
        label=f"a false negative costs {ratio}",
    )
    at = 1 / (1 + ratio)
    ax.plot(
        at,
        np.interp(at, thresholds, ratio * false_negatives + false_positives),
        "o",
        color=line.get_color(),
    )
ax.set_ylim(0, 200)
ax.set_xlabel('predict "ill" from this probability on (dots: 1 / (1 + r))')
ax.set_ylabel("total cost, in false positives")
ax.legend()

# %%
# ``threshold_bias`` makes ``predict`` use another threshold. The ROC curve shows all thresholds;
# the dot is the one that ``predict`` uses.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
careful = unnaive.HNB(threshold_bias={"yes": 0.6}).fit(X[learn], y[learn])
plot_roc(careful, X[~learn], y[~learn], ax=left)
plot_precision_recall(careful, X[~learn], y[~learn], ax=right)
