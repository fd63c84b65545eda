"""
Missing values: marginalization and imputation
==============================================

Values are removed at random, from training and test samples. Marginalizing over the missing values,
which these models do, is compared with imputing the mean of the feature.
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


def with_missing(share, seed):
    """Return the samples with a share of their values removed."""
    gone = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gone, np.nan, X)


# %%
# All models discretize in the same way.

models = {
    "TAN, missing values marginalized": unnaive.TAN(),
    "TAN, mean imputed": make_pipeline(SimpleImputer(), unnaive.TAN()),
    "naive Bayes, missing values marginalized": unnaive.NaiveBayes(),
    "naive Bayes, mean imputed": make_pipeline(SimpleImputer(), unnaive.NaiveBayes()),
}
losses = {name: [] for name in models}
for share in shares:
    for name, model in models.items():
        scores = []
        for seed in range(3):
            table = with_missing(share, seed)
            learn = np.arange(len(y)) % 3 != seed
            model.fit(table[learn], y[learn])
            scores.append(log_loss(y[~learn], model.predict_proba(table[~learn])))
        losses[name].append(np.mean(scores))

# %%

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, line in losses.items():
    ax.plot(shares, line, marker="o", linestyle="--" if "imputed" in name else "-", label=name)
ax.set_xlabel("share of missing values")
ax.set_ylabel("log loss on test samples")
ax.legend()

# %%
# An imputed value is treated as if it had been observed. This harms TAN more than naive Bayes,
# because TAN learns dependences between the imputed values.
