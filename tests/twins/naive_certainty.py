"""Intervals and prediction sets from their definitions, in plain Python."""

from __future__ import annotations

from math import exp, log1p, sqrt

NODES = {
    3: ((-(3**0.5), 1 / 6), (0.0, 2 / 3), (3**0.5, 1 / 6)),
    5: (
        (-2.856970013872806, 0.011257411327720689),
        (-1.355626179974266, 0.22207592200561263),
        (0.0, 8 / 15),
        (1.355626179974266, 0.22207592200561263),
        (2.856970013872806, 0.011257411327720689),
    ),
}


def gamma_quantile(variable, z):
    """Quantile of a variable (mean, variance, third cumulant), by Wilson and Hilferty's cubic."""
    mean, variance, third = variable
    lean = max(-1 / 3, min(1 / 3, third / (6 * max(variance**1.5, 1e-300))))
    b = z - lean
    return mean + sqrt(variance) * (b + lean * b**2 + lean**2 * b**3 / 3)


def log_sum(x, y):
    """log(e^x + e^y)."""
    return max(x, y) + log1p(exp(-abs(x - y)))


def log_sum_of(one, other, nodes):
    """Cumulants of log(e^X + e^Y) of two variables, by quadrature."""
    cells = [
        (u * w, log_sum(gamma_quantile(one, x), gamma_quantile(other, y)))
        for x, u in NODES[nodes]
        for y, w in NODES[nodes]
    ]
    mean = sum(w * f for w, f in cells)
    return mean, *(sum(w * (f - mean) ** power for w, f in cells) for power in (2, 3))


def quantiles(classes, reach):
    """Lower, median and upper bound of P(c | x) of every class, from its variable."""
    low = max(m - 3 * sqrt(v) for m, v, _ in classes)
    near = [c for c, (m, v, _) in enumerate(classes) if m + 2 * sqrt(v) >= low - 9]
    nodes = 5 if any(classes[c][1] > 4 for c in near) else 3

    def others(label):
        members = [c for c in near if c != label]
        if not members:
            members = [
                max((c for c in range(len(classes)) if c != label), key=lambda c: classes[c])
            ]
        before = [c for c in members if c < label]
        after = [c for c in reversed(members) if c > label]
        sums = []
        for side in (before, after):
            total = None
            for c in side:
                total = classes[c] if total is None else log_sum_of(total, classes[c], nodes)
            sums += [] if total is None else [total]
        return sums[0] if len(sums) == 1 else log_sum_of(*sums, nodes)

    def total():
        value = classes[near[0]]
        for c in near[1:]:
            value = log_sum_of(value, classes[c], nodes)
        return value

    bounds = []
    for label, (m, v, t) in enumerate(classes):
        rest = others(label) if label in near else total()
        odds = (m - rest[0], v + rest[1], t - rest[2])
        found = [gamma_quantile(odds, z) for z in (-reach, 0.0, reach)]
        bounds.append([1 / (1 + exp(-max(-708.0, min(708.0, value)))) for value in found])
    return bounds
