"""
A missed case costs more than a false alarm
===========================================

Probabilities first, costs second: the same model serves a clinic that can afford false alarms and
one that cannot.
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
# If a miss costs r times a false alarm, say "ill" from a probability of 1 / (1 + r) on. Is that
# border, which comes from arithmetic alone, near the best one that can be found afterwards?

ratios = np.array([1, 2, 5, 10, 20])
borders = np.linspace(0.005, 0.995, 199)
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for ratio in ratios:
    missed = np.array([(ill & (chance < border)).sum() for border in borders])
    alarms = np.array([(~ill & (chance >= border)).sum() for border in borders])
    (line,) = ax.plot(borders, ratio * missed + alarms, label=f"a miss costs {ratio}")
    at = 1 / (1 + ratio)
    ax.plot(at, np.interp(at, borders, ratio * missed + alarms), "o", color=line.get_color())
ax.set_ylim(0, 200)
ax.set_xlabel('say "ill" from this probability on (dots: 1 / (1 + r))')
ax.set_ylabel("total cost, in false alarms")
ax.legend()

# %%
# ``threshold_bias`` makes ``predict`` use such a border. All borders at once are the ROC curve;
# the dot is where ``predict`` stands.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
careful = unnaive.HNB(threshold_bias={"yes": 0.6}).fit(X[learn], y[learn])
plot_roc(careful, X[~learn], y[~learn], ax=left)
plot_precision_recall(careful, X[~learn], y[~learn], ax=right)
