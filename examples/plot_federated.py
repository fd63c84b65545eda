"""
Federated learning: three sites, one model
==========================================

Each site counts its own samples with an agreed schema and sends the counts. The model from the
merged counts equals, bit for bit, the model from all samples together. How much does a small site
gain?
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
# The sites agree on a schema (categories, bins, classes); here it comes from the large site. Each
# site counts with it and sends one file. No sample leaves its site.

schema = unnaive.count(X[sites["large"]], y[sites["large"]]).schema
counts = {name: unnaive.count(X[rows], y[rows], schema=schema) for name, rows in sites.items()}
together = unnaive.merge(*counts.values())
print(together)
print(together == unnaive.count(X[:1400], y[:1400], schema=schema))

# %%
# The log loss of each site's own model, and of the merged model:

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for shift, key in enumerate(("nb", "tan", "aode", "hnb")):
    models = [unnaive.make(key).fit_counts(batch) for batch in (*counts.values(), together)]
    losses = [log_loss(y_test, model.predict_proba(X_test)) for model in models]
    ax.bar(np.arange(4) + 0.2 * shift, losses, width=0.2, label=key)
ax.set_xticks(np.arange(4) + 0.3, [*sites, "together"])
ax.set_ylabel("log loss on 2,000 test samples")
ax.legend()
