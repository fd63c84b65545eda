"""Slow twins of numbers beside labels, written only from docs/mathematics.md (7.7).

Rows of numbers and classes as in naive_gaussian; the labels of a row are codes, None where missing.
"""

import itertools
import math

import numpy as np

from naive_gaussian import marginal_density, observed, take, topological, with_priors


def cell_rows(rows, labels, classes, c, family, parents, cell):
    """Rows of class c that have all numbers of a family, in a cell; None in it stands for any."""
    return [
        take(row, family)
        for row, own, y in zip(rows, labels, classes, strict=True)
        if y == c
        and all(row[i] is not None for i in family)
        and all(v is None or own[j] == v for j, v in zip(parents, cell, strict=True))
    ]


def cell_moments(model, rows, labels, classes, c, family, parents, cell, weight):
    """Mean and covariance of a cell: those of the class count for `weight` rows more."""
    center = model.means[c][family]
    spread = model.covariances[c][np.ix_(family, family)]
    known = cell_rows(rows, labels, classes, c, family, parents, cell)
    if not parents or not known:
        return center, spread
    n, own = len(known), np.mean(known, axis=0)
    scatter = sum(np.outer(x - own, x - own) for x in known)
    away = own - center
    between = n * weight / (n + weight) * np.outer(away, away)
    return (
        (n * own + weight * center) / (n + weight),
        (scatter + between + weight * spread) / (n + weight),
    )


def label_information(model, rows, labels, classes, i, j, weight):
    """½ Σ_cv P(c, v) [log σ_c² - log σ_cv²] over the rows that have the number and the label."""
    total, information = 0, 0.0
    for c, v in sorted({(y, own[j]) for own, y in zip(labels, classes, strict=True)}, key=str):
        n = 0 if v is None else len(cell_rows(rows, labels, classes, c, [i], [j], [v]))
        if n:
            _, spread = cell_moments(model, rows, labels, classes, c, [i], [j], [v], weight)
            information += n * (math.log(model.covariances[c][i, i]) - math.log(spread[0, 0]))
            total += n
    return max(information / total / 2, 0.0) if total else 0.0


def mixed_joint(model, rows, labels, classes, parents, by_label, weight, row, own):
    """Log p(c) + log p(numbers | labels, c) per class; missing numbers integrated out."""

    def density(c):
        d = len(parents)
        center, sigma = np.zeros(d), np.zeros((d, d))
        for i in topological(parents):
            family, cell = [i, *parents[i]], [own[j] for j in by_label[i]]
            mean_of, spread = cell_moments(
                model, rows, labels, classes, c, family, by_label[i], cell, weight
            )
            slopes = np.linalg.solve(spread[1:, 1:], spread[1:, 0])
            center[i] = mean_of[0] + slopes @ (center[parents[i]] - mean_of[1:])
            line = slopes @ sigma[parents[i], :]
            sigma[i, :], sigma[:, i] = line, line
            noise = spread[0, 0] - slopes @ spread[1:, 0]
            sigma[i, i] = noise + slopes @ sigma[np.ix_(parents[i], parents[i])] @ slopes
        return marginal_density(row, observed(row), center, sigma)

    return with_priors(model, density)


def mixed_tan(information, by_label):
    """Parents of the mixed tree of largest information, by trying every number's parents."""
    m, best = len(information), (-math.inf, None)
    options = [
        [(None, j) for j in range(len(by_label[i]))] + [(p, None) for p in range(m) if p != i]
        for i in range(m)
    ]
    for chosen in itertools.product(*options):
        total = sum(
            by_label[i][j] if p is None else information[i][p] for i, (p, j) in enumerate(chosen)
        )
        seen = {i for i, (p, _) in enumerate(chosen) if p is None}
        while more := {i for i, (p, _) in enumerate(chosen) if p in seen} - seen:
            seen |= more
        if len(seen) == m and total > best[0] + 1e-12:
            best = (total, chosen)
    return best
