"""
Concept drift: adding, fading and subtracting counts
====================================================

A stream delivers one batch of samples a day. After 40 days the relation between features and class
changes. A model that adds up all samples adapts slowly. A model that lets old counts fade, or
subtracts old days, adapts within a few days.
"""

import matplotlib.pyplot as plt
import numpy as np

import unnaive

rng = np.random.default_rng(0)


def day(number, rows=200):
    """Return the samples of a day; from day 40 on the first feature is inverted."""
    y = rng.integers(2, size=rows)
    turned = y if number < 40 else 1 - y
    first = np.where(rng.random(rows) < 0.85, turned, 1 - turned)
    second = np.where(rng.random(rows) < 0.6, y, 1 - y)
    return np.column_stack([first, second, first ^ (rng.random(rows) < 0.2)]), y


days = [day(number) for number in range(80)]
schema = unnaive.count(*days[0], discretize=None).schema

# %%
# Counts can be added, subtracted and multiplied by a factor (``decay``).

counted = [unnaive.count(*rows, schema=schema) for rows in days]


def add_up(counts, number):
    """Keep all days."""
    return counts + counted[number]


def fade(counts, number):
    """Give every day nine tenths of the weight of the next day."""
    return counts.decay(0.9) + counted[number]


def slide(counts, number):
    """Subtract the day ten days ago."""
    counts = counts + counted[number]
    return counts - counted[number - 10] if number >= 10 else counts


ways = {"all days": add_up, "decay 0.9": fade, "last 10 days": slide}
right = {name: [] for name in ways}
for name, add in ways.items():
    counts = counted[0]
    for number in range(1, len(days)):
        model = unnaive.TAN().fit_counts(counts)
        right[name].append(model.score(*days[number]))  # predict first, then learn
        counts = add(counts, number)

# %%

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, line in right.items():
    ax.plot(range(1, len(days)), line, label=name)
ax.axvline(40, color="0.6", linestyle=":")
ax.set_xlabel("day")
ax.set_ylabel("accuracy on the day's samples")
ax.legend(loc="lower right")
