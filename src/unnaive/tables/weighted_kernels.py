"""Numba loops of weighted products: sums of terms, and the conditional likelihood's gradient."""

from __future__ import annotations

import math

import numpy as np

from unnaive._kernel import kernel, summing_kernel


@kernel
def place_terms(codes, terms, start, stop, places):
    """Cell of every term's table for rows start … stop, into places (m, rows); cost n·m.

    ``terms`` (m, 4): column, its parent (−1: none), slots of the column, start of the table.
    """
    for term in range(len(terms)):
        column, parent = terms[term, 0], terms[term, 1]
        slots, first = terms[term, 2], terms[term, 3]
        for row in range(start, stop):
            place = first + np.int64(codes[column, row])
            if parent >= 0:
                place += np.int64(codes[parent, row]) * slots
            places[term, row - start] = place


@kernel
def gather_terms(places, tables, held, n_classes, out):
    """Entries of all terms for rows and classes into out (m, n, k); cost n·m·k.

    ``held`` is a row's own class, whose entries come from the second set of tables, or −1.
    """
    for term in range(len(places)):
        for row in range(places.shape[1]):
            place = places[term, row]
            for label in range(n_classes):
                own = n_classes if held[row] == label else 0
                out[term, row, label] = tables[label + own, place]


@kernel
def sum_terms(places, tables, held, out):
    """Add the entries of all terms to the log joint out (n, k); cost n·m·k."""
    n_classes = out.shape[1]
    for term in range(len(places)):
        for row in range(places.shape[1]):
            place = places[term, row]
            for label in range(n_classes):
                own = n_classes if held[row] == label else 0
                out[row, label] += tables[label + own, place]


@kernel
def weighted_joint(entries, weights, start, stop, joint):
    """Add the weighted entries (m, n, k) of rows start … stop to their joint (rows, k)."""
    n_classes = joint.shape[1]
    flat = joint.reshape(-1)
    for term in range(len(weights)):
        weight = weights[term]
        if weight != 0.0:
            line = entries[term].reshape(-1)[start * n_classes : stop * n_classes]
            for place in range(flat.size):
                flat[place] += weight * line[place]


@kernel
def conditional_loss(entries, weights, prior, classes, importance, start, stop, gradient):
    """Log loss of rows start … stop, its derivatives added to ``gradient`` (m + k,).

    The log joint is prior_c + Σ w_t entry_t(c); the last k derivatives are the prior's.
    """
    n_classes = prior.size
    rows = stop - start
    joint = np.empty((rows, n_classes))
    for row in range(rows):
        for label in range(n_classes):
            joint[row, label] = prior[label]
    weighted_joint(entries, weights, start, stop, joint)
    loss = 0.0
    for row in range(rows):
        peak = -np.inf
        for label in range(n_classes):
            peak = max(peak, joint[row, label])
        own = joint[row, classes[start + row]]
        total = 0.0
        for label in range(n_classes):
            joint[row, label] = math.exp(joint[row, label] - peak)
            total += joint[row, label]
        weight = importance[start + row]
        loss += weight * (peak + math.log(total) - own)
        for label in range(n_classes):
            joint[row, label] *= weight / total
        joint[row, classes[start + row]] -= weight
        for label in range(n_classes):
            gradient[weights.size + label] += joint[row, label]
    flat = joint.reshape(-1)
    for term in range(len(weights)):
        line = entries[term].reshape(-1)[start * n_classes : stop * n_classes]
        gradient[term] += dot(line, flat)
    return loss


@summing_kernel
def dot(line, flat):
    """Inner product; the same for the same numbers, whoever computes it."""
    total = 0.0
    for place in range(flat.size):
        total += line[place] * flat[place]
    return total
