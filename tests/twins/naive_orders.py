"""Slow twin of averages over networks: all orders one by one (Koivisto & Sood 2004, section 2)."""

import itertools
import math


def family_probabilities(weights):
    """Probabilities of families over all orders, from {parents: log weight} of every variable."""
    d, total = len(weights), 0.0
    sums = [dict.fromkeys(families, 0.0) for families in weights]
    for order in itertools.permutations(range(d)):
        agreeing = [
            {a: math.exp(w) for a, w in weights[i].items() if set(a) <= set(order[:place])}
            for place, i in enumerate(order)
        ]
        weight = math.prod(sum(families.values()) for families in agreeing)
        total += weight
        for i, families in zip(order, agreeing, strict=True):
            for parents, own in families.items():
                sums[i][parents] += weight and weight * own / sum(families.values())
    return [{a: s / total for a, s in families.items()} for families in sums]


def n_orders(parents):
    """Count the orders in which the parents of every variable precede it."""
    return sum(
        all(set(parents[i]) <= set(order[:place]) for place, i in enumerate(order))
        for order in itertools.permutations(range(len(parents)))
    )
