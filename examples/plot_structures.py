"""
What depends on what, by four models
====================================

The same patients, four answers. Each model joins columns that depend on each other once the class
is known; the wider an edge, the more informative.
"""

# %%
# The patients are made up: 500 people with a cough, some of whom have pneumonia.

import matplotlib.pyplot as plt
import pandas as pd

import unnaive
from unnaive.explain import plot_structure

patients = pd.read_csv("patients.csv")
X, y = patients.drop(columns="pneumonia"), patients["pneumonia"]

# %%
# TAN joins all columns in one tree, whether an edge is worth it or not. ``forest=True`` keeps
# those edges alone that the data can prove. ``decomposable`` does so, too, and may join more
# than two columns to one. ``kdb`` gives each column up to two parents.

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
# All four find that fever goes with crp, and smoking with cough, which goes with sputum. Ask
# the model how much nearer to the data it is than naive Bayes, and whether it pays on rows that
# it has not seen:

from unnaive.evaluate import leave_one_out

for name, model in {"nb": unnaive.NaiveBayes(), **models}.items():
    loss = leave_one_out(model, X, y).pooled.log_loss
    print(f"{name:18} log loss {loss:.3f}")
