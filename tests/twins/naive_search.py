"""Slow twins of classifiers, written from Mathematics 9 and 15.4 and Robles et al. only.

Rows and weights are those of `naive`: codes with None where missing, one number per row. Data come
as (rows, y, sizes, k): rows, classes 0..k-1, cardinalities, number of classes. `alpha` is a number,
for Laplace, or a policy of `naive`. A group is a tuple of columns, one variable whose cells are the
joint values in row-major order (last column fastest); groups are sorted by their lowest column.
"""

import itertools
import math

import naive
import naive_models

FLOOR = 0.01
EPSILON = 1e-6


def policy_of(alpha):
    """Return the policy that `alpha` stands for."""
    return alpha if isinstance(alpha, tuple) else ("laplace", alpha)


def singletons(sizes):
    """Return the groups of naive Bayes."""
    return [(i,) for i in range(len(sizes))]


def in_order(groups):
    """Sort groups by their lowest column, without empty ones."""
    return sorted(tuple(sorted(group)) for group in groups if group)


def n_correct(predictions, y, weights=None):
    """Weight of the rows that are predicted correctly."""
    weights = weights or [1] * len(y)
    return sum(w for p, c, w in zip(predictions, y, weights, strict=True) if p == c)


# Naive Bayes over groups (Mathematics 9.4, 0.8)


def cells_of(row, group, sizes):
    """Cells of a group that agree with the observed part of a row: one if nothing is missing."""
    joints = itertools.product(*(range(sizes[i]) for i in group))
    agrees = [
        all(row[i] in (x, None) for i, x in zip(group, joint, strict=True)) for joint in joints
    ]
    return [cell for cell, fits in enumerate(agrees) if fits]


def group_counts(rows, y, sizes, k, group, weights=None):
    """N(c, x_G) as [c][cell], from the rows where all columns of the group are observed."""
    counts = [[0] * math.prod(sizes[i] for i in group) for _ in range(k)]
    for row, c, w in zip(rows, y, weights or [1] * len(rows), strict=True):
        if all(row[i] is not None for i in group):
            counts[c][cells_of(row, group, sizes)[0]] += w
    return counts


def group_factor(counts, c, cells, alpha=1.0, partial="counts"):
    """P(x_G in cells | c) of a group's counts [c][cell]; more cells where a part is missing.

    "counts": the counts are summed over the missing part, then smoothed as a variable of the
    values of the observed part (Mathematics 0.8). "marginal": the smoothed cells are summed.
    """
    policy, k, v, total = policy_of(alpha), len(counts), len(counts[c]), sum(counts[c])
    overall = [sum(column) for column in zip(*counts, strict=True)]
    if partial == "counts":
        n = sum(counts[c][cell] for cell in cells)
        share = math.fsum(naive.share(overall, cell) for cell in cells)
        return naive.smooth(policy, n, total, v // len(cells), k, share)
    return math.fsum(
        naive.smooth(policy, counts[c][cell], total, v, k, naive.share(overall, cell))
        for cell in cells
    )


def grouped_joint(rows, y, sizes, k, groups, row, alpha=1.0, partial="counts", weights=None):
    """Log P(c) + Σ log P(x_G | c) per class, over the groups.

    The context of P(x_G | c) is the number of rows of class c with all of G observed. A group
    with a part missing has no factor ("drop") or that of the observed part (see group_factor).
    """
    joint = naive_models.log_prior(y, k, policy_of(alpha), weights)
    for group in groups:
        missing = [row[i] is None for i in group]
        if not (any(missing) if partial == "drop" else all(missing)):
            counts = group_counts(rows, y, sizes, k, group, weights)
            cells = cells_of(row, group, sizes)
            for c in range(k):
                joint[c] += naive.log(group_factor(counts, c, cells, alpha, partial))
    return joint


def leave_one_out_of(predict, rows, y, k, alpha=1.0, weights=None):
    """(predictions, log joints) of every row by predict(others, y, weights, row) without it.

    Of classes within TIE_TOL the lowest is predicted, by the prior if all are impossible.
    """

    def prior(_, labels, other_weights, __):
        return naive_models.log_prior(labels, k, policy_of(alpha), other_weights)

    joints = naive.leave_one_out(predict, rows, y, weights)
    priors = naive.leave_one_out(prior, rows, y, weights)
    posteriors = [naive.posterior(*both) for both in zip(joints, priors, strict=True)]
    return [naive.first_best(posterior) for posterior in posteriors], joints


def grouped_leave_one_out(rows, y, sizes, k, groups, alpha=1.0, partial="counts", weights=None):
    """(predictions, log joints) of every row, each from a refit without it; sizes and k kept."""

    def predict(others, labels, other_weights, row):
        data = (others, labels, sizes, k)
        return grouped_joint(*data, groups, row, alpha, partial, other_weights)

    return leave_one_out_of(predict, rows, y, k, alpha, weights)


def grouped_correct(rows, y, sizes, k, groups, weights=None, **options):
    """Leave-one-out fitness of groups, not divided by n."""
    data = (rows, y, sizes, k)
    predictions, _ = grouped_leave_one_out(*data, groups, weights=weights, **options)
    return n_correct(predictions, y, weights)


# FSSJ and BSEJ (Mathematics 9.4)


def forward_moves(groups, d):
    """FSSJ's moves: adds by attribute, then joins by attribute, then group."""
    unused = [i for i in range(d) if not any(i in group for group in groups)]
    moves = [[*groups, (i,)] for i in unused]
    for i, g in itertools.product(unused, range(len(groups))):
        moves.append([*groups[:g], (*groups[g], i), *groups[g + 1 :]])
    return [in_order(move) for move in moves]


def backward_moves(groups, d, delete="group"):
    """BSEJ's moves: deletes by group or by attribute ("member"), then joins by pair of groups."""
    if delete == "group":
        moves = [[g for g in groups if g != gone] for gone in groups]
    else:
        used = [i for i in range(d) if any(i in group for group in groups)]
        moves = [[[j for j in group if j != i] for group in groups] for i in used]
    for a, b in itertools.combinations(groups, 2):
        moves.append([*(g for g in groups if g not in (a, b)), a + b])
    return [in_order(move) for move in moves]


def climb(start, moves, fitness, price=None, least=0):
    """Take the first best move while it is strictly better: (groups, fitness, n, history).

    n counts the candidates scored, the start not among them, or price(groups) a step; history
    is [(groups, fitness)], the start first. The first `least` moves are taken in any case.
    """
    history = [(start, fitness(start))]
    evaluations = 0
    while True:
        groups, current = history[-1]
        candidates = moves(groups)
        if not candidates:
            return groups, current, evaluations, history
        scores = [fitness(candidate) for candidate in candidates]
        evaluations += price(groups) if price else len(scores)
        if max(scores) <= current + naive.TIE_TOL and len(history) > least:
            return groups, current, evaluations, history
        best = naive.first_best(scores)
        history.append((candidates[best], scores[best]))


def fssj(rows, y, sizes, k, **options):
    """Forward selection and joining from no groups: (groups, correct, evaluations, history)."""

    def fitness(groups):
        return grouped_correct(rows, y, sizes, k, groups, **options)

    return climb([], lambda groups: forward_moves(groups, len(sizes)), fitness)


def bsej(rows, y, sizes, k, delete="group", **options):
    """Backward elimination and joining from naive Bayes; returns what fssj does."""

    def fitness(groups):
        return grouped_correct(rows, y, sizes, k, groups, **options)

    start = singletons(sizes)
    return climb(start, lambda groups: backward_moves(groups, len(sizes), delete), fitness)


# Pazzani-EDA (Mathematics 9.5)


def groups_of(genome):
    """Return the groups of a genome: columns of one label from 1 up; 0 is unused."""
    labels = sorted(set(genome) - {0})
    return in_order([[i for i, g in enumerate(genome) if g == label] for label in labels])


def canonical(genome):
    """Relabel the groups 1, 2, .. in the order of their first appearance; 0 stays."""
    names = {0: 0}
    for label in genome:
        names.setdefault(label, len(names))
    return [names[label] for label in genome]


def pazzani_fitness(genome, rows, y, sizes, k, weights=None, **options):
    """Leave-one-out accuracy of a genome's groups."""
    groups = groups_of(genome)
    correct = grouped_correct(rows, y, sizes, k, groups, weights=weights, **options)
    return correct / sum(weights or [1] * len(y))


def pazzani_key(genome, fitness):
    """Sort key, best first: fitness, fewer attributes, fewer groups, lower genome."""
    used = sum(label > 0 for label in genome)
    return -fitness, used, len(groups_of(genome)), tuple(genome)


# Models of free tables, [group][c][cell]


def normalised(tables):
    """Divide every distribution by its sum."""
    return [[[p / math.fsum(line) for p in line] for line in table] for table in tables]


def tables_joint(prior, tables, sizes, groups, row):
    """Log joint of a row under P(c) and P(x_G | c) as given; missing members are summed out."""
    joint = [naive.log(p) for p in prior]
    for group, table in zip(groups, tables, strict=True):
        cells = cells_of(row, group, sizes)
        for c, line in enumerate(table):
            joint[c] += naive.log(math.fsum(line[cell] for cell in cells))
    return joint


# Iterative Bayes (Mathematics 9.2)


def iterative_posterior(prior, tables, sizes, row, target="counts"):
    """P(c | x) of entries: each distribution is its entries over their sum, or as they are."""
    if target == "unnormalized":
        joint = [naive.log(p) for p in prior]
        for i, x in enumerate(row):
            for c in range(len(prior)):
                joint[c] += 0 if x is None else naive.log(tables[i][c][x])
    else:
        joint = tables_joint(prior, normalised(tables), sizes, singletons(sizes), row)
    return naive.posterior(joint, [naive.log(p) for p in prior])


def iterative_loss(prior, tables, rows, y, sizes, criterion, target, weights=None):
    """Mean of 1 - P(y | x), or with "max" of 1 - max P(c | x)."""
    posteriors = [iterative_posterior(prior, tables, sizes, row, target) for row in rows]
    sure = [p[c] if criterion == "true" else max(p) for p, c in zip(posteriors, y, strict=True)]
    return naive.weighted_mean([1 - p for p in sure], weights)


def iterative_pass(prior, tables, rows, y, sizes, increment, target, order, weights=None):
    """Return new tables after one pass over the rows in the given order.

    Every distribution touched is floored at FLOOR and, with "probabilities", renormalised.
    """
    tables = [[list(line) for line in table] for table in tables]
    for t in order:
        p = iterative_posterior(prior, tables, sizes, rows[t], target)
        chosen, k = naive.first_best(p), len(prior)
        step = (1 - p[chosen]) / k if increment == "parenthesised" else 1 - p[chosen] / k
        step *= (1 if chosen == y[t] else -1) * (weights[t] if weights else 1)
        for (i, x), c in itertools.product(enumerate(rows[t]), range(k)):
            if x is not None:
                line = tables[i][c]
                line[x] += step if c == chosen else -step / 2
                line = [max(entry, FLOOR) for entry in line]
                total = math.fsum(line) if target == "probabilities" else 1
                tables[i][c] = [entry / total for entry in line]
    return tables


def iterative_bayes(
    rows,
    y,
    sizes,
    k,
    increment="parenthesised",
    target="counts",
    criterion="true",
    order="given",
    max_iter=10,
    alpha=1.0,
    weights=None,
):
    """(entries [i][c][x], losses, best iteration); losses[0] is naive Bayes's.

    Entries start as N(c, x) + alpha, or with "probabilities" as P(x | c). `order` is "given" or
    a list of row orders, one a pass, begun again when used up. Stops at the first pass whose
    loss is not below the one before, and returns the entries before that pass.
    """
    orders = [range(len(rows))] if order == "given" else order
    prior = naive.class_prior(y, k, policy_of(alpha), weights)
    counts = [group_counts(rows, y, sizes, k, group, weights) for group in singletons(sizes)]
    tables = [[[n + alpha for n in line] for line in table] for table in counts]
    tables = tables if target == "counts" else normalised(tables)
    losses = [iterative_loss(prior, tables, rows, y, sizes, criterion, target, weights)]
    for t in range(max_iter):
        turn = orders[t % len(orders)]
        new = iterative_pass(prior, tables, rows, y, sizes, increment, target, turn, weights)
        losses.append(iterative_loss(prior, new, rows, y, sizes, criterion, target, weights))
        if losses[-1] >= losses[-2] - naive.TIE_TOL:
            return tables, losses, t
        tables = new
    return tables, losses, max_iter


# IENB (Mathematics 9.3) and IENB on groups (Mathematics 15.4)


def interval_bounds(counts, z=1.96, alpha=1.0, clip=True):
    """(p̂, low, high) of one distribution of counts, each a list over its values.

    p̂ ± z sqrt(p̂ (1 - p̂) / N), N the sum of the counts; N = 0 gives [ε, 1 - ε], z = 0 always p̂.
    Clipped to [ε, 1 - ε], but never past p̂, so that p̂ is always in the box (v = 1, huge N).
    """
    n, v = sum(counts), len(counts)
    policy = policy_of(alpha)
    point = [naive.smooth(policy, x, n, v, 1, naive.share(counts, t)) for t, x in enumerate(counts)]
    low, high = [], []
    for p in point:
        half = 0.0 if z == 0 else z * math.sqrt(p * (1 - p) / n) if n > 0 else math.inf
        low.append(min(max(p - half, EPSILON), p) if clip else p - half)
        high.append(max(min(p + half, 1 - EPSILON), p) if clip else p + half)
    return point, low, high


def project_to_box_simplex(values, low, high):
    """Nearest point with low ≤ p ≤ high and sum 1: values less a multiplier, cut to the box."""

    def cut(multiplier):
        boxes = zip(values, low, high, strict=True)
        return [min(max(x - multiplier, a), b) for x, a, b in boxes]

    if math.fsum(low) > 1 + 1e-12 or math.fsum(high) < 1 - 1e-12:
        raise ValueError("the box has no distribution")
    least = min(x - b for x, b in zip(values, high, strict=True))
    most = max(x - a for x, a in zip(values, low, strict=True))
    while least < (middle := (least + most) / 2) < most:
        if math.fsum(cut(middle)) > 1:
            least = middle
        else:
            most = middle
    return min(cut(least), cut(most), key=lambda p: abs(math.fsum(p) - 1))


def ienb_decode(u, counts, z=1.96, alpha=1.0, repair="project", encoding="unit"):
    """Return the distribution of one genome part u over the intervals of counts.

    Encoding: "unit" low + u (high - low); "absolute" u itself; "centred" goes from low by p̂ at
    u = 1/2 to high. Repair: "project" onto the box and the simplex, or "normalise".
    """
    values = []
    for x, p, a, b in zip(u, *interval_bounds(counts, z, alpha), strict=True):
        if encoding == "unit":
            values.append(a + x * (b - a))
        elif encoding == "absolute":
            values.append(x)
        else:
            values.append(p + (2 * x - 1) * (b - p if x > 0.5 else p - a))
    if repair == "normalise":
        return [value / math.fsum(values) for value in values]
    _, low, high = interval_bounds(counts, z, alpha)
    return project_to_box_simplex(values, low, high)


def split_genome(genome, sizes, k, groups, layout="paper"):
    """(prior part, [group][c][cell]) of a flat genome of k (1 + Σ v_G) numbers.

    The prior comes first, then group by group: "paper" value by value with the class fastest
    (Robles' tuple), "class" class by class with the value fastest.
    """
    numbers = iter(genome)
    prior = [next(numbers) for _ in range(k)]
    tables = []
    for group in groups:
        v = math.prod(sizes[i] for i in group)
        if layout == "class":
            tables.append([[next(numbers) for _ in range(v)] for _ in range(k)])
        else:
            by_value = [[next(numbers) for _ in range(k)] for _ in range(v)]
            tables.append([[line[c] for line in by_value] for c in range(k)])
    return prior, tables


def point_genome(rows, y, sizes, k, groups=None, z=1.96, alpha=1.0, layout="paper", weights=None):
    """Return the unit genome of p̂ itself: (p̂ - low) / (high - low), 1/2 for an empty interval."""

    def places(counts):
        boxes = zip(*interval_bounds(counts, z, alpha), strict=True)
        return [(p - a) / (b - a) if b > a else 0.5 for p, a, b in boxes]

    genome = places(naive.class_counts(y, k, weights))
    for group in singletons(sizes) if groups is None else groups:
        table = [places(line) for line in group_counts(rows, y, sizes, k, group, weights)]
        lines = table if layout == "class" else zip(*table, strict=True)
        genome += [x for line in lines for x in line]
    return genome


def ienb_tables(u, rows, y, sizes, k, groups, layout="paper", weights=None, **decoding):
    """(P(c), P(x_G | c) as [group][c][cell]) of a genome, over the intervals of these rows."""
    prior, parts = split_genome(u, sizes, k, groups, layout)
    tables = []
    for group, part in zip(groups, parts, strict=True):
        counts = group_counts(rows, y, sizes, k, group, weights)
        tables.append([ienb_decode(part[c], counts[c], **decoding) for c in range(k)])
    return ienb_decode(prior, naive.class_counts(y, k, weights), **decoding), tables


def ienb_joint(u, rows, y, sizes, k, row, groups=None, weights=None, **options):
    """Log joint of a row by a genome over the intervals of `rows`; no groups are singletons."""
    groups = singletons(sizes) if groups is None else groups
    prior, tables = ienb_tables(u, rows, y, sizes, k, groups, weights=weights, **options)
    return tables_joint(prior, tables, sizes, groups, row)


def ienb_leave_one_out(u, rows, y, sizes, k, groups=None, weights=None, **options):
    """(predictions, log joints): for every row, u over the intervals of the other rows."""

    def predict(others, labels, other_weights, row):
        return ienb_joint(u, others, labels, sizes, k, row, groups, other_weights, **options)

    return leave_one_out_of(predict, rows, y, k, options.get("alpha", 1.0), weights)


def ienb_resubstitution(u, rows, y, sizes, k, groups=None, weights=None, **options):
    """(predictions, log joints) of the rows by the intervals of all of them."""
    data = (rows, y, sizes, k)
    joints = [ienb_joint(u, *data, row, groups, weights, **options) for row in rows]
    return [naive.first_best(naive.posterior(joint)) for joint in joints], joints


# APNBC (Mathematics 9.6)


def adjusted_correct(log_joint, y, log_w, weights=None):
    """Weight of rows with argmax log w_c + L_c correct; the lowest class within TIE_TOL."""
    chosen = [naive.first_best([a + b for a, b in zip(log_w, x, strict=True)]) for x in log_joint]
    return n_correct(chosen, y, weights)


def adjusted_candidates(log_joint, log_w, c):
    """Rising log w_c to try: midpoints of distinct thresholds, 1 beyond both ends; and the old."""
    others = [b for b in range(len(log_w)) if b != c]
    r = [max(log_w[b] + line[b] for b in others) - line[c] for line in log_joint if others]
    r = sorted(x for x in r if math.isfinite(x))
    middles = [(a + b) / 2 for a, b in itertools.pairwise(r) if b - a > naive.TIE_TOL]
    ends = [r[0] - 1, r[-1] + 1] if r else []
    return sorted([*middles, *ends, log_w[c]])


def adjusted_step(log_joint, y, log_w, c, weights=None):
    """(correct, log w_c) of the best one-class step; of equals the nearest, then the lowest."""
    scored = []
    for value in adjusted_candidates(log_joint, log_w, c):
        moved = [*log_w[:c], value, *log_w[c + 1 :]]
        scored.append((adjusted_correct(log_joint, y, moved, weights), value))
    best = max(correct for correct, _ in scored)
    tied = [value for correct, value in scored if correct >= best - naive.TIE_TOL]
    return best, tied[naive.first_best([-abs(value - log_w[c]) for value in tied])]


def adjusted_weights_two_classes(log_joint, y, weights=None):
    """(log w, correct): class 0 adjusted once, log w_1 = 0; 0 where nothing is better."""
    correct, value = adjusted_step(log_joint, y, [0.0, 0.0], 0, weights)
    return [value, 0.0], correct


def adjusted_hill_climbing(log_joint, y, weights=None):
    """(log w with the last 0, correct, [(class, log w_c, correct)] of the steps as taken).

    Each iteration takes the class whose best step is the best, of equals the lowest.
    """
    k = len(log_joint[0])
    log_w, steps = [0.0] * k, []
    current = adjusted_correct(log_joint, y, log_w, weights)
    while True:
        found = [adjusted_step(log_joint, y, log_w, c, weights) for c in range(k)]
        c = naive.first_best([correct for correct, _ in found])
        correct, value = found[c]
        if correct <= current + naive.TIE_TOL:
            return [w - log_w[-1] for w in log_w], current, steps
        log_w[c], current = value, correct
        steps.append((c, value, correct))
