"""Slow twin of AODE whose super-parents have discriminative weights (Mathematics 5.2, 15.10).

Conventions are those of `naive`. `data` is (rows, classes, k, values); a policy may also be
("hierarchical", s), with one concentration s for every level.
"""

import math

import naive
import naive_models
import naive_weighted


def member(data, policy, p, row):
    """Log P(c, x_p) Π P(x_i | c, x_p) per class."""
    if policy[0] == "hierarchical":
        return naive_weighted.spode(naive_weighted.Hierarchy(*data, s=policy[1]), p, row)
    return naive.spode(*data, policy, p, row)


def members(data, policy, row, min_count=1, critical=None):
    """Log joint by every super-parent, None where it has no say."""
    rows, values = data[0], data[3]
    shown = row if critical is None else naive.subsumed(rows, values, row, critical)
    often = [
        x is not None and naive.value_counts(rows, values, p)[x] >= min_count
        for p, x in enumerate(shown)
    ]
    return [member(data, policy, p, shown) if heard else None for p, heard in enumerate(often)]


def weighted_aode(data, policy, row, shares, **options):
    """Log of the weighted mean of those that have a say; None if there are none."""
    said = members(data, policy, row, **options)
    heard = [(joint, w) for joint, w in zip(said, shares, strict=True) if joint is not None]
    return naive_models.mean_joint(*zip(*heard, strict=True), data[2]) if heard else None


def left_out_members(data, policy, **options):
    """What the members say of every row, each made of the other rows; as [row][member]."""
    rows, classes, k, values = data

    def predict(others, labels, _, row):
        return members((others, labels, k, values), policy, row, **options)

    return naive.leave_one_out(predict, rows, classes)


def softmax(theta):
    """Weights that sum to 1."""
    return [math.exp(one - naive.log_sum(theta)) for one in theta]


def loss(said, classes, theta, importance=None):
    """Σ log Σ_p w_p S_rp − log Σ_p w_p T_rp, and half the squares of θ around its mean.

    Rows whose posterior does not depend on the weights are left out.
    """
    mean = math.fsum(theta) / len(theta)
    total = math.fsum((one - mean) ** 2 for one in theta) / 2
    logs = [math.log(w) for w in softmax(theta)]
    for t, (row, c) in enumerate(zip(said, classes, strict=True)):
        heard = [(w, joint) for w, joint in zip(logs, row, strict=True) if joint is not None]
        own = naive.log_sum([w + joint[c] for w, joint in heard] or [-math.inf])
        if own > -math.inf:
            every = naive.log_sum([w + one for w, joint in heard for one in joint])
            total += (1.0 if importance is None else importance[t]) * (every - own)
    return total
