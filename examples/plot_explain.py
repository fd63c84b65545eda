"""
Explaining one prediction with three models
===========================================

How much each feature contributes to the log-odds of pneumonia for one patient, by three models. For
every model the contributions add up exactly to the predicted log-odds.
"""

# %%
# The patients are invented. The fourth one has a severe cough, a raised crp and a low oxygen
# saturation.

import matplotlib.pyplot as plt
import pandas as pd

import unnaive
from unnaive.explain import ask_next, importance, plot_waterfall, what_if

patients = pd.read_csv("patients.csv")
X, y = patients.drop(columns="pneumonia"), patients["pneumonia"]
patient = X[3:4]
models = {key: unnaive.make(key).fit(X, y) for key in ("nb", "tan", "hnb")}

# %%
# Naive Bayes counts fever and crp in full, though both measure the same inflammation. TAN uses
# the probability of crp given fever, and hidden naive Bayes uses a weighted mean over all other
# features.

figure, axes = plt.subplots(3, 1, figsize=(8, 12), layout="constrained")
for ax, (key, model) in zip(axes, models.items(), strict=True):
    plot_waterfall(model.explain(patient), ax=ax)
    ax.set_title(key)

# %%
# The same as text, and the smallest change that would change the decision:

print(models["tan"].explain(patient).text())
print()
print(what_if(models["tan"], patient, fixed=["age", "sex"]).text())

# %%
# For another patient only age and fever are known. Which measurement is expected to be most
# informative?

for question in ask_next(models["tan"], {"age": 70, "fever": "low"}):
    print(f"{question.column:12} {question.information:.3f} bits")

# %%
# Over all patients: the mean contribution to the log-odds of the true class.

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for key, model in models.items():
    found = importance(model, X, y)
    ax.plot(found.values, found.names, "o", label=key)
ax.axvline(0, color="0.7", linewidth=0.8)
ax.set_xlabel(found.unit)
ax.legend()
