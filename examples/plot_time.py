"""
Fit and prediction time of all models
=====================================

Seconds to fit 2,000 samples of 12 features and to predict them, with one thread, on the machine
that built this page.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

import unnaive

rng = np.random.default_rng(0)
y = rng.integers(2, size=2000)
hidden = rng.integers(5, size=(2000, 12))
X = (hidden + (rng.random((2000, 12)) < 0.5) * y[:, None] + np.roll(hidden, 1, axis=1)) % 5
numbers = X + rng.normal(0, 0.3, X.shape)

# %%
# Each model is fitted once before the measurement, so that its import is not counted.

seconds = {}
for key in unnaive.all_models():
    rows = numbers if "gaussian" in key or key in ("full-bayes", "k-naive") else X
    settings = {"random_state": 0} if key in ("ienb", "pazzani-eda", "apnbc-eda") else {}
    model = unnaive.make(key, **settings)
    model.fit(rows[:300], y[:300]).predict(rows[:10])
    start = perf_counter()
    model.fit(rows, y)
    fitted = perf_counter()
    model.predict_proba(rows)
    seconds[key] = (fitted - start, perf_counter() - fitted)

# %%

figure, ax = plt.subplots(figsize=(7, 7.5), layout="constrained")
keys = sorted(seconds, key=lambda key: seconds[key][0])
places = np.arange(len(keys))
ax.barh(places - 0.2, [seconds[key][0] for key in keys], height=0.4, label="fit")
ax.barh(places + 0.2, [seconds[key][1] for key in keys], height=0.4, label="predict")
ax.set_yticks(places, keys)
ax.set_xscale("log")
ax.set_xlabel("seconds for 2,000 samples × 12 features of 5 values")
ax.legend()
