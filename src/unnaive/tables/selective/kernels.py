"""Numba loops of the sweep over nested models: counts of contexts, left-out factors, scores."""

from __future__ import annotations

import math

import numpy as np

from unnaive._kernel import kernel
from unnaive.tables.kernels import log_estimate

TIE = 1e-10  # SPEC 0.7


@kernel
def count_contexts(place, values, classes, weights, table, totals):
    """Add rows to N (q, v, k) and to N of contexts (q, k), but for those of place −1; cost n."""
    for row in range(place.size):
        context = place[row]
        if context >= 0:
            table[context, values[row], classes[row]] += weights[row]
            totals[context, classes[row]] += weights[row]


@kernel
def smooth_rows(place, values, counts, own, alphas, total, out):
    """Log P(x | context, c) of every row, left out with its weight; cost n·k.

    ``counts``: N and N of contexts. ``own``: classes and weights of the rows. Rows of place −1
    keep what is in ``out``.
    """
    table, totals = counts
    classes, weights = own
    for row in range(place.size):
        context = place[row]
        if context < 0:
            continue
        for label in range(out.shape[1]):
            held = weights[row] if classes[row] == label else 0.0
            out[row, label] = log_estimate(
                table[context, values[row], label] - held,
                totals[context, label] - held,
                alphas[row],
                total,
                table.shape[1],
            )


@kernel
def lean_rows(place, values, counts, own, alpha, chances):
    """P(x | context, c) of every row, left out, from that with a parent less; cost n·k."""
    table, totals = counts
    classes, weights = own
    for row in range(place.size):
        context = place[row]
        if context < 0:
            continue
        for label in range(chances.shape[1]):
            held = weights[row] if classes[row] == label else 0.0
            count = max(table[context, values[row], label] - held, 0.0)
            size = max(totals[context, label] - held, 0.0)
            chances[row, label] = (count + alpha * chances[row, label]) / (size + alpha)


@kernel
def measure(joint, prior, classes, weights, out):
    """Add to ``out`` the rows' weighted hits, log loss and squared error; cost n·k.

    Where no class has a chance, the prior answers.
    """
    chances = np.empty(joint.shape[1])
    for row in range(joint.shape[0]):
        line = joint[row]
        best = line.max()
        if best == -np.inf:
            line = prior[row]
            best = line.max()
        total = 0.0
        guess = -1
        for label in range(line.size):
            chances[label] = math.exp(line[label] - best)
            total += chances[label]
            if guess < 0 and line[label] >= best - TIE:
                guess = label
        own = classes[row]
        error = (1.0 - chances[own] / total) ** 2
        for label in range(line.size):
            if label != own:
                error += (chances[label] / total) ** 2
        out[0] += weights[row] * (guess == own)
        out[1] += weights[row] * (best + math.log(total) - line[own])
        out[2] += weights[row] * error
