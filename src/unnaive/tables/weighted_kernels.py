"""Numba loops of weighted products: sums of terms, and how the conditional likelihood curves."""

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
    """Entries of all terms for classes and rows into out (m, k, n); cost n·m·k.

    ``held`` is a row's own class, whose entries come from the second set of tables, or −1.
    """
    for term in range(len(places)):
        for label in range(n_classes):
            line = tables[label]
            for row in range(places.shape[1]):
                out[term, label, row] = line[places[term, row]]
        for row in range(places.shape[1]):
            if held[row] >= 0:
                out[term, held[row], row] = tables[n_classes + held[row], places[term, row]]


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
    """Add the weighted entries (m, k, n) of rows start … stop to their joint (k, rows)."""
    for term in range(len(weights)):
        weight = weights[term]
        if weight != 0.0:
            for label in range(joint.shape[0]):
                line = entries[term, label, start:stop]
                for row in range(line.size):
                    joint[label, row] += weight * line[row]


@kernel
def loss_rows(entries, weights, prior, classes, importance, start, stop):
    """Log loss of rows start … stop, whose log joint is prior_c + Σ w_t entry_t(c)."""
    joint = joint_rows(entries, weights, prior, start, stop)
    return posterior_loss(joint, classes[start:stop], importance[start:stop])


@kernel
def joint_rows(entries, weights, prior, start, stop):
    """Log joint of rows start … stop; shape (k, rows)."""
    joint = np.empty((prior.size, stop - start))
    for label in range(prior.size):
        joint[label] = prior[label]
    weighted_joint(entries, weights, start, stop, joint)
    return joint


@kernel
def curve_rows(entries, weights, prior, classes, importance, start, stop, places, gradient, spread):
    """Log loss of rows start … stop; its derivatives are added to ``gradient`` (m + k,).

    The last k derivatives are the prior's. The second derivatives are the inner products of the
    lines of ``spread`` (lines, k − 1, rows): what is left of the entries' variance over classes,
    class by class. ``places`` (m + k,) are the lines; what has the last one is not wanted.
    """
    n_terms, n_classes, rows = len(weights), prior.size, stop - start
    joint = joint_rows(entries, weights, prior, start, stop)
    own, weight = classes[start:stop], importance[start:stop]
    loss = posterior_loss(joint, own, weight)
    share, size = spread_of_classes(joint, weight)
    mean = np.empty(rows)
    for term in range(n_terms):
        line = entries[term, :, start:stop]
        out = spread[places[term]]
        gradient[term] += spread_term(line, share, size, own, weight, mean, out)
    line = np.zeros((n_classes, rows), dtype=np.float32)
    for label in range(n_classes):
        line[label] = 1.0
        out = spread[places[n_terms + label]]
        gradient[n_terms + label] += spread_term(line, share, size, own, weight, mean, out)
        line[label] = 0.0
    return loss


@summing_kernel
def posterior_loss(joint, own, weight):
    """Make posteriors of log joints (k, rows), in place, and return the rows' log loss."""
    n_classes, rows = joint.shape
    loss = 0.0
    for row in range(rows):
        peak = joint[0, row]
        for label in range(1, n_classes):
            peak = max(peak, joint[label, row])
        truth, total = joint[own[row], row] - peak, 0.0
        for label in range(n_classes):
            joint[label, row] = math.exp(joint[label, row] - peak)
            total += joint[label, row]
        loss += weight[row] * (math.log(total) - truth)
        for label in range(n_classes):
            joint[label, row] /= total
    return loss


@kernel
def spread_of_classes(posterior, weight):
    """Share of a class among itself and later ones, and the root of what it adds to variances."""
    n_classes, rows = posterior.shape
    share = np.zeros((n_classes, rows))
    size = np.zeros((n_classes, rows), dtype=np.float32)
    later = posterior[n_classes - 1].copy()
    for label in range(n_classes - 2, -1, -1):
        for row in range(rows):
            chance = posterior[label, row]
            both = chance + later[row]
            variance = chance * later[row]
            if variance > 1e-30:  # numbers below the normal ones would be slow
                size[label, row] = math.sqrt(weight[row] * variance / both)
            if chance > 1e-30:
                share[label, row] = chance / both
            later[row] += chance
    return share, size


@summing_kernel
def spread_term(line, share, size, own, weight, mean, out):
    """Spread of one term's entries (k, rows) into out (k − 1, rows); return its derivative."""
    n_classes, rows = line.shape
    mean[:] = line[n_classes - 1]
    for label in range(n_classes - 2, -1, -1):
        for row in range(rows):
            gap = line[label, row] - mean[row]
            out[label, row] = size[label, row] * gap
            mean[row] += share[label, row] * gap
    total = 0.0
    for row in range(rows):
        total += weight[row] * (mean[row] - line[own[row], row])
    return total


@kernel
def bounded_step(curvature, gradient, room, sweeps, enough):
    """Minimise gᵀd + dᵀHd/2 with d ≥ ``room``, a coordinate at a time.

    Ends after a sweep in which no coordinate gains more than ``enough``.
    """
    step, slope = np.zeros(gradient.size), gradient.copy()
    for _ in range(sweeps):
        most = 0.0
        for place in range(gradient.size):
            if curvature[place, place] <= 0.0:
                continue
            move = max(-slope[place] / curvature[place, place], room[place] - step[place])
            if move != 0.0:
                step[place] += move
                most = max(most, abs(move * slope[place]))
                for other in range(gradient.size):
                    slope[other] += curvature[place, other] * move
        if most <= enough:
            break
    return step


@kernel
def mixture_shares(chances, importance, shares, rounds, enough):
    """Improve shares of members (m,) in rows of chances (n, m), by expectation–maximisation.

    A member's share is the mean of its share of every row's chance. Ends after a round in which
    no share moves by more than ``enough``.
    """
    n_rows, n_members = chances.shape
    for _ in range(rounds):
        better = np.zeros(n_members)
        for row in range(n_rows):
            total = 0.0
            for member in range(n_members):
                total += shares[member] * chances[row, member]
            for member in range(n_members):
                part = shares[member] * chances[row, member] / total
                better[member] += importance[row] * part
        most = np.abs(better - shares).max()
        shares[:] = better
        if most <= enough:
            break
