"""
Accuracy of differentially private counts
=========================================

Noise can be added to counts before they leave a site, so that nobody can infer from them whether a
certain person was counted (differential privacy). A smaller ε gives stronger privacy and needs more
noise. With more samples the noise matters less.
"""

import matplotlib.pyplot as plt
import numpy as np

import unnaive
from unnaive.counts.privacy import noisy

rng = np.random.default_rng(0)


def make_rows(rows):
    """Return samples of six features, some of which depend on each other."""
    y = rng.integers(2, size=rows)
    first = (y + (rng.random(rows) < 0.3)) % 2
    second = (first + (rng.random(rows) < 0.2)) % 3
    others = (y[:, None] * (rng.random((rows, 4)) < 0.4) + rng.integers(2, size=(rows, 4))) % 3
    return np.column_stack([first, second, others]), y


X_test, y_test = make_rows(4000)
schema = unnaive.count(*make_rows(2000), discretize=None).schema

# %%

epsilons = (0.1, 0.3, 1.0, 3.0)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for rows, style in ((300, ":"), (3000, "--"), (30000, "-")):
    counts = unnaive.count(*make_rows(rows), schema=schema)
    for key, color in (("nb", "C0"), ("tan", "C1")):
        scores = [
            np.mean(
                [
                    unnaive.make(key).fit_counts(noisy(counts, epsilon)).score(X_test, y_test)
                    for _ in range(3)
                ]
            )
            for epsilon in epsilons
        ]
        ax.plot(epsilons, scores, style, color=color, marker="o", label=f"{key}, {rows} samples")
ax.set_xscale("log")
ax.set_xlabel("ε")
ax.set_ylabel("accuracy on test samples")
ax.legend()
