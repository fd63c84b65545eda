"""
Structures that four models learn from the same data
====================================================

Each model joins features that depend on each other given the class. The wider an edge, the larger
the conditional mutual information of the two features.
"""

# %%
# The patients are invented: 500 people with a cough, some of whom have pneumonia.

import matplotlib.pyplot as plt
import pandas as pd

import unnaive
from unnaive.explain import plot_structure

patients = pd.read_csv("patients.csv")
X, y = patients.drop(columns="pneumonia"), patients["pneumonia"]

# %%
# TAN joins all features in one tree, also where the dependence is weak. ``forest=True`` keeps only
# the edges that improve BIC. ``decomposable`` does this, too, and may join more than two features
# in one cluster. ``kdb`` gives each feature up to two parents.

models = {
    "tan": unnaive.TAN(),
    "tan, forest=True": unnaive.TAN(forest=True),
    "decomposable": unnaive.DecomposableNB(),
    "kdb": unnaive.KDB(k=2),
}
figure, axes = plt.subplots(2, 2, figsize=(12, 7), layout="constrained")
for (name, model), ax in zip(models.items(), axes.flat, strict=True):
    plot_structure(model.fit(X, y), ax)
    ax.set_title(name)

# %%
# All four models find the dependences between fever and crp, smoking and cough, cough and sputum.
# Leave-one-out shows whether these dependences improve the predictions:

from unnaive.evaluate import leave_one_out

for name, model in {"nb": unnaive.NaiveBayes(), **models}.items():
    loss = leave_one_out(model, X, y).pooled.log_loss
    print(f"{name:18} log loss {loss:.3f}")
