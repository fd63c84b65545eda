"""Intervals and prediction sets from their definitions, in plain Python."""

from __future__ import annotations

from math import exp, log, log1p, sqrt

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
    """Cumulants of log(e^X + e^Y) of two variables, by quadrature with two numbers of nodes."""
    cells = [
        (u * w, log_sum(gamma_quantile(one, x), gamma_quantile(other, y)))
        for x, u in NODES[nodes[0]]
        for y, w in NODES[nodes[1]]
    ]
    mean = sum(w * f for w, f in cells)
    return mean, *(sum(w * (f - mean) ** power for w, f in cells) for power in (2, 3))


def series(variables):
    """Cumulants of log Σ e^X of narrow variables, by derivatives of the logarithm at the means."""
    top = max(m for m, _, _ in variables)
    whole = sum(exp(m - top) for m, _, _ in variables)
    p = [exp(m - top) / whole for m, _, _ in variables]
    v, t = [v for _, v, _ in variables], [t for _, _, t in variables]
    q = [1.5 * own**2 / max(spread, 1e-90) for spread, own in zip(v, t, strict=True)]
    every = range(len(p))
    mean, variance, third = top + log(whole), 0.0, 0.0
    for i in every:  # what one variable does by itself, by its cumulants
        d = [p[i], p[i] * (1 - p[i]), p[i] * (1 - p[i]) * (1 - 2 * p[i])]
        d.append(p[i] * (1 - p[i]) * (1 - 6 * p[i] + 6 * p[i] ** 2))
        mean += d[1] * v[i] / 2 + d[2] * t[i] / 6 + d[3] * q[i] / 24
        variance += d[0] ** 2 * v[i] + d[0] * d[1] * t[i] + (d[0] * d[2] / 3 + d[1] ** 2 / 4) * q[i]
        third += d[0] ** 3 * t[i] + 1.5 * d[0] ** 2 * d[1] * q[i]
    for i in every:  # and two of them together, or one of them twice
        for j in every:
            same = i == j
            second = p[i] * (same - p[j])
            mixed = p[i] * (1 - p[i]) * (1 - 2 * p[i]) if same else -p[i] * p[j] * (1 - 2 * p[j])
            fourth = -p[i] * p[j] * (1 - 2 * p[i] - 2 * p[j] + 6 * p[i] * p[j])
            fourth = p[i] * (1 - p[i]) * (1 - 6 * p[i] + 6 * p[i] ** 2) if same else fourth
            mean += fourth * v[i] * v[j] / 8
            variance += (second**2 / 2 + p[i] * mixed) * v[i] * v[j]
            third += 3 * p[i] * p[j] * second * v[i] * v[j]
    return mean, max(variance, 0.0), third


def others_of(classes):
    """Of every class the variable of the sum of the others that matter."""
    low = max(m - 3 * sqrt(v) for m, v, _ in classes)
    near = [c for c, (m, v, _) in enumerate(classes) if m + 2 * sqrt(v) >= low - 9]
    tame = [c for c in near if classes[c][1] <= 0.1 and abs(classes[c][2]) <= 0.1 * classes[c][1]]
    nodes = 5 if len(near) > 1 and any(classes[c][1] > 4 for c in near) else 3
    parts = [tame] * bool(tame) + [[c] for c in near if c not in tame]

    def sum_of(members, left_out=None):
        """Sum some parts from the left; variables, and nodes for the next sum."""
        total = None
        for part in members:
            inside = [classes[c] for c in part if c != left_out]
            if not inside:
                continue
            own = (series(inside) if len(inside) > 1 else inside[0], 3 if part is tame else nodes)
            total = join(total, own)
        return total

    def join(one, other):
        if one is None or other is None:
            return one or other
        return log_sum_of(one[0], other[0], (one[1], other[1])), nodes

    found = []
    for label in range(len(classes)):
        rest = None
        if label not in near:
            rest = sum_of(parts)
        elif label in tame:
            rest = join(sum_of(parts[:1], label), sum_of(parts[:0:-1]))
        elif len(near) > 1:
            place = parts.index([label])
            rest = join(sum_of(parts[:place]), sum_of(parts[:place:-1]))
        if rest is None:
            rest = (max((m, v, t) for c, (m, v, t) in enumerate(classes) if c != label),)
        found.append(rest[0])
    return found


def quantiles(classes, reach):
    """Lower, median and upper bound of P(c | x) of every class, from its variable."""
    bounds = []
    for (m, v, t), rest in zip(classes, others_of(classes), strict=True):
        odds = (m - rest[0], v + rest[1], t - rest[2])
        found = [gamma_quantile(odds, z) for z in (-reach, 0.0, reach)]
        bounds.append([1 / (1 + exp(-max(-708.0, min(708.0, value)))) for value in found])
    return bounds


def point_quantiles(classes, points, shares):
    """Quantiles of P(c | x) of every class at points (k, m) of normal variables."""
    chances = []
    for line in zip(*points, strict=True):
        joint = [gamma_quantile(one, z) for one, z in zip(classes, line, strict=True)]
        total = sum(exp(max(value - max(joint), -700)) for value in joint)
        chances.append([exp(max(value - max(joint), -700)) / total for value in joint])
    bounds = []
    for values in map(sorted, zip(*chances, strict=True)):
        places = [min(max(share * len(values) - 0.5, 0.0), len(values) - 1) for share in shares]
        above = [min(int(place) + 1, len(values) - 1) for place in places]
        bounds.append(
            [
                values[int(place)] + (place % 1) * (values[end] - values[int(place)])
                for place, end in zip(places, above, strict=True)
            ]
        )
    return bounds
