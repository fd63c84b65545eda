"""
What gaps cost
==============

Cells go missing at random, in training and in test. Summing them out is compared with filling
them in by the mean of the column, the usual advice.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

import unnaive
from unnaive.datasets import load_wdbc

data = load_wdbc()
X, y = data.X[:, :10], data.y
shares = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def with_gaps(share, seed):
    """Return the rows with a share of their cells gone."""
    gone = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gone, np.nan, X)


# %%
# All models bin numbers in the same way.

models = {
    "TAN, gaps summed out": unnaive.TAN(),
    "TAN, cells filled in": make_pipeline(SimpleImputer(), unnaive.TAN()),
    "naive Bayes, gaps left out": unnaive.NaiveBayes(),
    "naive Bayes, cells filled in": make_pipeline(SimpleImputer(), unnaive.NaiveBayes()),
}
losses = {name: [] for name in models}
for share in shares:
    for name, model in models.items():
        found = []
        for seed in range(3):
            table = with_gaps(share, seed)
            learn = np.arange(len(y)) % 3 != seed
            model.fit(table[learn], y[learn])
            found.append(log_loss(y[~learn], model.predict_proba(table[~learn])))
        losses[name].append(np.mean(found))

# %%

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, line in losses.items():
    ax.plot(shares, line, marker="o", linestyle="--" if "filled" in name else "-", label=name)
ax.set_xlabel("share of cells that are missing")
ax.set_ylabel("log loss on new rows")
ax.legend()

# %%
# A filled cell claims to be known. TAN pays more for that than naive Bayes, since it learns
# dependences between cells that were never there.
