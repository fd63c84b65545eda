"""Slow twin of the sweep over nested models, written only from Mathematics 15.6 and 15.7.

Every row is left out in turn, and the others are counted again. Parents and concentrations are
those of all rows.
"""

import functools
import math

import naive
import naive_models

GRID = [2.0**power for power in range(-1, 15)]


def path(rows, classes, k, values, policy, max_k, weights=None):
    """{(parents, columns): (accuracy, log loss, Brier)} of all prefixes and numbers of parents."""
    order, parents = naive_models.kdb_structure(rows, classes, k, values, max_k, None, weights)
    models = [(m, s) for m in range(max_k + 1) for s in range(len(order) + 1)]
    share = [1.0] * len(rows) if weights is None else weights
    sums = {model: [0.0, 0.0, 0.0] for model in models}
    alphas = functools.cache(
        lambda i, kept: concentrations((rows, classes, share), values, i, list(kept))
    )
    for t, row in enumerate(rows):
        others = (rows[:t] + rows[t + 1 :], classes[:t] + classes[t + 1 :], k, values)
        rest = share[:t] + share[t + 1 :]
        prior = naive_models.log_prior(others[1], k, prior_policy(policy), rest)
        for m, s in models:
            joint = list(prior)
            for i in order[:s]:
                if row[i] is None:
                    continue
                kept = before_the_gap(parents[i][:m], row)
                for c in range(k):
                    if policy[0] == "hierarchical":
                        data = (*others[:2], rest)
                        p = leaning(data, values, i, kept, row, c, alphas(i, tuple(kept)))
                    else:
                        p = naive_models.family_factor(*others, policy, i, kept, row, c, rest)
                    joint[c] += naive.log(p)
            chances = naive.posterior(joint, prior)
            for index, score in enumerate(scores(chances, classes[t])):
                sums[m, s][index] += share[t] * score
    return {model: [total / sum(share) for total in line] for model, line in sums.items()}


def prior_policy(policy):
    """P(c) under hierarchical smoothing has one pseudo-count."""
    return ("m-estimate", 1.0) if policy[0] == "hierarchical" else policy


def before_the_gap(parents, row):
    """Parents up to the first one that is missing."""
    for place, parent in enumerate(parents):
        if row[parent] is None:
            return parents[:place]
    return parents


def scores(chances, actual):
    """Hit, log loss and squared error of one row."""
    guess = naive.first_best([naive.log(p) for p in chances])
    errors = [(p - (c == actual)) ** 2 for c, p in enumerate(chances)]
    return float(guess == actual), -naive.log(chances[actual]), math.fsum(errors)


def leaning(data, values, i, parents, row, c, alphas, held=0.0):
    """P(x_i | c, first parents), one α per depth; ``held`` is subtracted from every count.

    P(x_i | c) is counted in the rows that have x_i, all below in those that have all parents.
    """
    p = 1 / values[i]
    for depth, alpha in enumerate([1.0, *alphas]):
        given = {j: row[j] for j in parents[: max(depth - 1, 0)]}
        whole = [i, *parents] if depth > 1 else [i]
        label = None if depth == 0 else c
        context = count(data, whole, given, label) - held
        both = count(data, whole, {**given, i: row[i]}, label) - held
        p = (max(both, 0.0) + alpha * p) / (max(context, 0.0) + alpha)
    return p


def count(data, whole, given, label):
    """Weight of the rows that have some cells, some values and, if given, a class."""
    return sum(
        weight
        for row, of, weight in zip(*data, strict=True)
        if all(row[j] is not None for j in whole)
        and all(row[j] == value for j, value in given.items())
        and label in {None, of}
    )


def concentrations(data, values, i, parents):
    """Choose α of every depth that maximizes the likelihood with one row less in every count."""
    chosen = []
    for depth in range(len(parents) + 1):
        whole = [i, *parents] if depth else [i]
        seen = [
            (row, c, weight)
            for row, c, weight in zip(*data, strict=True)
            if all(row[j] is not None for j in whole)
        ]
        gains = [
            math.fsum(
                weight * math.log(leaning(data, values, i, parents, row, c, [*chosen, alpha], 1.0))
                for row, c, weight in seen
            )
            for alpha in GRID
        ]
        chosen.append(GRID[naive.first_best(gains)])
    return chosen
