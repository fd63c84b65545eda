"""
Three sites, one model
======================

Each site counts its own rows by an agreed schema and sends the counts. The model from the sum is
the model from all rows, to the bit. How much does a small site gain?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

import unnaive
from unnaive.datasets import make_waveform

data = make_waveform(3400, random_state=0)
X, y = data.X, np.asarray(data.y)
sites = {"small": slice(0, 100), "middle": slice(100, 400), "large": slice(400, 1400)}
X_test, y_test = X[1400:], y[1400:]

# %%
# The schema (categories, bins, classes) is agreed on; here it comes from the large site.
# Everyone counts by it, and sends a file. No row leaves its site.

schema = unnaive.count(X[sites["large"]], y[sites["large"]]).schema
counts = {name: unnaive.count(X[rows], y[rows], schema=schema) for name, rows in sites.items()}
together = unnaive.merge(*counts.values())
print(together)
print(together == unnaive.count(X[:1400], y[:1400], schema=schema))

# %%
# What each would have by itself, and what all have together:

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for shift, key in enumerate(("nb", "tan", "aode", "hnb")):
    models = [unnaive.make(key).fit_counts(own) for own in (*counts.values(), together)]
    losses = [log_loss(y_test, model.predict_proba(X_test)) for model in models]
    ax.bar(np.arange(4) + 0.2 * shift, losses, width=0.2, label=key)
ax.set_xticks(np.arange(4) + 0.3, [*sites, "together"])
ax.set_ylabel("log loss on 2,000 others")
ax.legend()
