"""Slow twins of explanations, written only from their description.

Conventions are those of `naive`. A split is (base, parts): a list of log P(c), and for every class
a dictionary from (columns, through) to the term. Exponentials are not scaled, so problems must be
small.
"""

import itertools
import math

import naive
import naive_models

INF = math.inf


def mean(a, b):
    """Logarithmic mean L(a, b) of two positive numbers."""
    return a if math.isclose(a, b, rel_tol=1e-15) else (a - b) / (math.log(a) - math.log(b))


def lmdi(starts, parts):
    """Shares of every member's parts in log Σ e^after − log Σ e^before (Ang 2004).

    `starts` lists logarithms, `parts` a dictionary a member; after = before + Σ parts.
    """
    before = [math.exp(b) for b in starts]
    after = [math.exp(b + sum(part.values())) for b, part in zip(starts, parts, strict=True)]
    if sum(after) == 0:
        return [{t: -INF if part == -INF else 0.0 for t, part in m.items()} for m in parts]
    scale = mean(sum(after), sum(before))
    shares = []
    for a, b, member in zip(after, before, parts, strict=True):
        endless = [t for t, part in member.items() if part == -INF]
        if a == 0:
            lost = -b / scale
            shares.append({t: lost / len(endless) if t in endless else 0.0 for t in member})
        else:
            shares.append({t: mean(a, b) / scale * part for t, part in member.items()})
    return shares


def added(dictionaries):
    """Sum dictionaries key by key."""
    total = {}
    for part in dictionaries:
        for key, value in part.items():
            total[key] = total.get(key, 0.0) + value
    return total


def order_of(parents):
    """Columns by the longest chain of parents above them, then by position."""

    def depth(i):
        return 1 + max((depth(j) for j in parents[i]), default=-1)

    return sorted(range(len(parents)), key=lambda i: (depth(i), i))


def chain(joint, row, parents, order=None):
    """Split by the chain rule: what each observed cell adds to the log joint of those before."""
    shown = [None] * len(row)
    base = joint(shown)
    parts = [{((i,), tuple(parents[i])): 0.0 for i in range(len(row))} for _ in base]
    before = base
    for i in order or order_of(parents):
        if row[i] is None:
            continue
        shown[i] = row[i]
        after = joint(shown)
        for c, part in enumerate(parts):
            part[(i,), tuple(parents[i])] = after[c] - before[c]
        before = after
    return base, parts


def tree(data, policy, parents, row):
    """Split a tree's log joint."""
    above = [[] if j < 0 else [j] for j in parents]
    return chain(lambda shown: naive.tree_joint(*data, policy, parents, shown), row, above)


def aode(data, policy, row, members=None):
    """Split AODE: LMDI over super-parents, from P(c) to each one's joint."""
    rows, classes, k, values = data
    base = naive_models.log_prior(classes, k, policy)
    observed = [i for i, x in enumerate(row) if x is not None]
    often = [p for p in observed if naive.value_counts(rows, values, p)[row[p]] >= 1]
    parts = []
    for c in range(k):
        logs = []
        for p in often:
            own = naive.log(naive.joint_prior(*data, policy, p, row[p], c)) - base[c]
            member = {((p,), ()): own}
            for i in observed:
                if i != p:
                    chance = naive.factor_given(*data, policy, i, row[i], p, row[p], c)
                    member[(i,), (p,)] = naive.log(chance)
            logs.append(member)
        parts.append(added(lmdi([base[c]] * len(often), logs)))
    return base, parts


def hnb(data, policy, row):
    """Split hidden naive Bayes: every factor, shared by the bag as the mixture is."""
    _, classes, k, _ = data
    information = naive_models.cmi_matrix(*data)
    base = naive_models.log_prior(classes, k, policy)
    parts = [{} for _ in range(k)]
    for c, i in itertools.product(range(k), range(len(row))):
        heard = [
            j for j, x in enumerate(row) if j != i and x is not None and information[i][j] > 1e-12
        ]
        if row[i] is None:
            continue
        if not heard:
            parts[c][(i,), ()] = naive.log(naive.factor(*data, policy, i, row[i], c))
            continue
        votes = {
            j: information[i][j] * naive.factor_given(*data, policy, i, row[i], j, row[j], c)
            for j in heard
        }
        factor = math.log(sum(votes.values()) / sum(information[i][j] for j in heard))
        for j, vote in votes.items():
            parts[c][(i,), (j,)] = vote / sum(votes.values()) * factor
    return base, parts


def atan(data, policy, row):
    """Split ATAN: posteriors of all trees, each less its normaliser, then LMDI over trees."""
    _, _, k, values = data
    edges = naive.forest_edges(*data)
    members = []
    for root in range(len(values)):
        reached = naive.reach(len(values), edges, root)
        base, parts = tree(data, policy, [reached[i] for i in range(len(values))], row)
        normaliser = added(lmdi(base, parts))
        total = naive.log_sum(base)
        members.append(
            (
                [b - total for b in base],
                [{t: part - normaliser[t] for t, part in mine.items()} for mine in parts],
            )
        )
    shared = [
        added(lmdi([base[c] for base, _ in members], [parts[c] for _, parts in members]))
        for c in range(k)
    ]
    return members[0][0], shared


def log_odds(base, parts, c):
    """Split the log-odds of class c against all others: base, and a dictionary of terms."""
    others = [o for o in range(len(base)) if o != c]
    shares = added(lmdi([base[o] for o in others], [parts[o] for o in others]))
    start = base[c] - naive.log_sum([base[o] for o in others])
    return start, {t: part - shares[t] for t, part in parts[c].items()}


def entropy(chances):
    """Entropy in nats."""
    return -math.fsum(p * math.log(p) for p in chances if p > 0)


def expected_information(joint, values, row, i):
    """I(C; X_i | observed) in bits, over the values of a missing column."""
    joints = [joint([*row[:i], v, *row[i + 1 :]]) for v in range(values[i])]
    weights = [math.fsum(map(math.exp, logs)) for logs in joints]
    then = [entropy(naive.posterior(logs)) for logs in joints]
    now = entropy(naive.posterior(joint(row)))
    expected = math.fsum(w * h for w, h in zip(weights, then, strict=True)) / math.fsum(weights)
    return max(0.0, now - expected) / math.log(2)


def smallest_change(posterior, values, row, most):
    """Fewest changed cells that change the decision; of equals, the most probable new class.

    Returns (probability, size), or None.
    """
    decision = naive.first_best(posterior(row))
    for size in range(1, most + 1):
        best = None
        for columns in itertools.combinations(
            [i for i, x in enumerate(row) if x is not None], size
        ):
            for new in itertools.product(*(range(values[i]) for i in columns)):
                changed = list(row)
                for i, value in zip(columns, new, strict=True):
                    changed[i] = value
                chances = posterior(changed)
                label = naive.first_best(chances)
                if label != decision and (best is None or chances[label] > best):
                    best = chances[label]
        if best is not None:
            return best, size
    return None
