"""
Why this patient?
=================

One patient, three models, and what each column adds to the log-odds of pneumonia. The bars sum to
the answer exactly, for every model.
"""

# %%
# The patients are made up. The fourth one has a severe cough, a raised crp and little oxygen.

import matplotlib.pyplot as plt
import pandas as pd

import unnaive
from unnaive.explain import ask_next, importance, plot_waterfall, what_if

patients = pd.read_csv("patients.csv")
X, y = patients.drop(columns="pneumonia"), patients["pneumonia"]
patient = X[3:4]
models = {key: unnaive.make(key).fit(X, y) for key in ("nb", "tan", "hnb")}

# %%
# Naive Bayes counts fever and crp in full, though both tell of the same inflammation. The tree
# counts crp given fever, and the hidden parents hear a little of everything.

figure, axes = plt.subplots(3, 1, figsize=(8, 12), layout="constrained")
for ax, (key, model) in zip(axes, models.items(), strict=True):
    plot_waterfall(model.explain(patient), ax=ax)
    ax.set_title(key)

# %%
# In words, and what would change the decision:

print(models["tan"].explain(patient).text())
print()
print(what_if(models["tan"], patient, fixed=["age", "sex"]).text())

# %%
# Of somebody else only age and fever are known. What should be measured first?

for question in ask_next(models["tan"], {"age": 70, "fever": "low"}):
    print(f"{question.column:12} {question.information:.3f} bits")

# %%
# Over all patients: the mean contribution to the log-odds of each row's own class.

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for key, model in models.items():
    found = importance(model, X, y)
    ax.plot(found.values, found.names, "o", label=key)
ax.axvline(0, color="0.7", linewidth=0.8)
ax.set_xlabel(found.unit)
ax.legend()
