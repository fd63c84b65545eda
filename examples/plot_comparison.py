"""
Comparing models on several data sets
=====================================

Mean ranks, Friedman's test, and a critical difference diagram. Models that are joined by a bar do
not differ significantly.
"""

# %%
# These data sets are generated or included, so nothing is downloaded. ``unnaive.datasets.load``
# loads the data sets of the papers.

import matplotlib.pyplot as plt

from unnaive import datasets
from unnaive.evaluate import compare_many
from unnaive.explain import plot_critical_difference

made = {
    "wdbc": datasets.load_wdbc(),
    "corral": datasets.make_corral(),
    "3 of 7": datasets.make_m_of_n(3, 7, n_rows=300, random_state=0),
    "waveform": datasets.make_waveform(300, random_state=0),
    "monks 1": datasets.make_monks(1),
    "monks 3": datasets.make_monks(3),
}
sets = {name: (data.frame, data.y) for name, data in made.items()}
keys = ["nb", "tan", "aode", "hnb", "kdb", "bsej"]
found = compare_many(keys, sets, folds=5, metrics=["log_loss"])

# %%

print(f"{'':10}", *(f"{key:>7}" for key in keys))
for line in found.table("log_loss"):
    print(f"{line['data']:10}", *(f"{line[key]:7.3f}" for key in keys))

# %%
# Six data sets are few, so most of the differences are not significant.

figure, ax = plt.subplots(figsize=(8, 2.5), layout="constrained")
verdict = found.nemenyi("log_loss")
plot_critical_difference(verdict.ranks, verdict.critical, ax=ax)
