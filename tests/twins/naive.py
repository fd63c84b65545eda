"""Slow, obvious twins of the fast code, written only from docs/mathematics.md.

A row is a list of codes 0..v_i-1, None where missing; `values` lists the v_i; classes are
0..k-1; weights are one number per row, 1 by default. A policy is ("laplace", a),
("m-estimate", m), ("bdeu", s), ("backoff", s) or ("ml",).
"""

import itertools
import math

TIE_TOL = 1e-10


def first_best(scores):
    """Return the lowest index whose score is within TIE_TOL of the largest (Mathematics 0.7)."""
    best = max(scores)
    return next(t for t, score in enumerate(scores) if score >= best - TIE_TOL)


def log(probability):
    """Logarithm with log 0 = -inf."""
    return math.log(probability) if probability > 0 else -math.inf


def log_sum(logs):
    """Logarithm of the sum of exp(logs), with the largest taken out."""
    top = max(logs)
    if top == -math.inf:
        return top
    return top + math.log(math.fsum(math.exp(value - top) for value in logs))


# Counts (Mathematics 0.3, 0.8)


def class_counts(classes, k, weights=None):
    """N(c), as a list over classes."""
    counts = [0] * k
    for c, w in zip(classes, weights or [1] * len(classes), strict=True):
        counts[c] += w
    return counts


def marginal(rows, classes, k, values, i, weights=None):
    """N(c, x_i) as [c][x], from the rows where column i is observed."""
    counts = [[0] * values[i] for _ in range(k)]
    for row, c, w in zip(rows, classes, weights or [1] * len(rows), strict=True):
        if row[i] is not None:
            counts[c][row[i]] += w
    return counts


def pair(rows, classes, k, values, i, j, weights=None):
    """N(c, x_i, x_j) as [c][x_i][x_j], from the rows where both columns are observed."""
    counts = [[[0] * values[j] for _ in range(values[i])] for _ in range(k)]
    for row, c, w in zip(rows, classes, weights or [1] * len(rows), strict=True):
        if row[i] is not None and row[j] is not None:
            counts[c][row[i]][row[j]] += w
    return counts


def value_counts(rows, values, i, weights=None):
    """N(x_i), all classes together."""
    return marginal(rows, [0] * len(rows), 1, values, i, weights)[0]


# Information (Mathematics 0.4)


def not_negative(information):
    """Set small negative rounding errors to zero; larger ones are a bug."""
    if information <= -1e-12:
        raise ValueError(f"negative information {information}")
    return max(information, 0.0)


def information_of_table(table):
    """Mutual information in nats of the two axes of a table of counts."""
    total = sum(map(sum, table))
    row_sums = [sum(line) for line in table]
    column_sums = [sum(column) for column in zip(*table, strict=True)]
    terms = [
        n / total * math.log(n * total / (row_sums[a] * column_sums[b]))
        for a, line in enumerate(table)
        for b, n in enumerate(line)
        if n > 0
    ]
    return not_negative(math.fsum(terms))


def mutual_information(rows, classes, k, values, i, weights=None):
    """I(X_i; Y) in nats, from the rows where column i is observed."""
    return information_of_table(marginal(rows, classes, k, values, i, weights))


def conditional_mutual_information(rows, classes, k, values, i, j, weights=None):
    """I(X_i; X_j | Y) in nats, from the rows where both columns are observed."""
    tables = pair(rows, classes, k, values, i, j, weights)
    sizes = [sum(map(sum, table)) for table in tables]
    total = sum(sizes)
    return math.fsum(
        size / total * information_of_table(table)
        for size, table in zip(sizes, tables, strict=True)
        if size > 0
    )


# Smoothing (Mathematics 0.5)


def smooth(policy, n_joint, n_context, v, q, marginal_probability):
    """P(x | context) under a policy; 0/0 is 1/v."""
    name, *rest = policy
    if name == "laplace":
        added, total = rest[0], rest[0] * v
    elif name == "m-estimate":
        added, total = rest[0] / v, rest[0]
    elif name == "bdeu":
        added, total = rest[0] / (v * q), rest[0] / q
    elif name == "backoff":
        added, total = rest[0] * marginal_probability, rest[0]
    elif name == "ml":
        added, total = 0, 0
    if n_context + total == 0:
        return 1 / v
    return (n_joint + added) / (n_context + total)


def share(counts, x):
    """N(x)/N of a list of counts; 0/0 is 1/v."""
    total = sum(counts)
    return counts[x] / total if total > 0 else 1 / len(counts)


def class_prior(classes, k, policy, weights=None):
    """P(c), as a list over classes."""
    counts = class_counts(classes, k, weights)
    return [smooth(policy, counts[c], sum(counts), k, 1, share(counts, c)) for c in range(k)]


def factor(rows, classes, k, values, policy, i, x, c, weights=None):
    """P(x_i | c); its denominator counts the rows of class c where column i is observed."""
    counts = marginal(rows, classes, k, values, i, weights)[c]
    overall = share(value_counts(rows, values, i, weights), x)
    return smooth(policy, counts[x], sum(counts), values[i], k, overall)


def factor_given(rows, classes, k, values, policy, i, x, j, xj, c, weights=None):
    """P(x_i | x_j, c); its denominator counts the rows of (c, x_j) where x_i is observed too."""
    table = pair(rows, classes, k, values, i, j, weights)[c]
    context = sum(line[xj] for line in table)
    overall = share(value_counts(rows, values, i, weights), x)
    return smooth(policy, table[x][xj], context, values[i], k * values[j], overall)


def joint_prior(rows, classes, k, values, policy, p, x, c, weights=None):
    """P(c, x_p), one variable of k·v_p values, from the rows where column p is observed.

    A class of probability 0 keeps it: 0/0 of a column without values counts as 0.
    """
    if class_prior(classes, k, policy, weights)[c] == 0:
        return 0
    counts = [n for line in marginal(rows, classes, k, values, p, weights) for n in line]
    cell = c * values[p] + x
    return smooth(policy, counts[cell], sum(counts), k * values[p], 1, share(counts, cell))


# Naive Bayes (Mathematics 2.1)


def naive_bayes(rows, classes, k, values, policy, row, weights=None):
    """Log P(c, x) = log P(c) + Σ log P(x_i | c) per class, missing cells skipped."""
    joint = [log(p) for p in class_prior(classes, k, policy, weights)]
    for i, x in enumerate(row):
        for c in range(k):
            if x is not None:
                joint[c] += log(factor(rows, classes, k, values, policy, i, x, c, weights))
    return joint


# Trees (Mathematics 6.1, 0.8)


def tree_drop(rows, classes, k, values, policy, parents, row, weights=None):
    """Log joint of a tree: no factor for a missing child, P(x_i | c) under a missing parent."""
    joint = [log(p) for p in class_prior(classes, k, policy, weights)]
    for c in range(k):
        for i, x in enumerate(row):
            j = parents[i]
            xj = None if j == -1 else row[j]
            if x is None:
                continue
            if xj is None:
                p = factor(rows, classes, k, values, policy, i, x, c, weights)
            else:
                p = factor_given(rows, classes, k, values, policy, i, x, j, xj, c, weights)
            joint[c] += log(p)
    return joint


def completions(values, row):
    """All rows that agree with `row` where it is observed."""
    return itertools.product(
        *(range(v) if x is None else [x] for v, x in zip(values, row, strict=True))
    )


def tree_joint(rows, classes, k, values, policy, parents, row, missing="marginalize", weights=None):
    """Log joint of a tree per class, missing cells summed out by brute force or dropped."""
    full = [row] if missing == "drop" else completions(values, row)
    joints = [
        tree_drop(rows, classes, k, values, policy, parents, complete, weights) for complete in full
    ]
    return [log_sum([joint[c] for joint in joints]) for c in range(k)]


def reach(d, edges, start):
    """Return {column: parent} of all columns reached from `start` along undirected edges."""
    found = {start: -1}
    queue = [start]
    for here in queue:
        for there in range(d):
            if there not in found and ((here, there) in edges or (there, here) in edges):
                found[there] = here
                queue.append(there)
    return found


def spanning_edges(weight):
    """Edges (i, j), i < j, of the maximum spanning tree by Kruskal; ties lexicographic."""
    d = len(weight)
    remaining = list(itertools.combinations(range(d), 2))
    edges = []
    while remaining:
        edge = remaining.pop(first_best([weight[i][j] for i, j in remaining]))
        if edge[1] not in reach(d, edges, edge[0]):
            edges.append(edge)
    return edges


def maximum_spanning_tree(weight, root):
    """Parents of the maximum spanning tree of a symmetric matrix, oriented away from root."""
    d = len(weight)
    parents = reach(d, spanning_edges(weight), root)
    return [parents[i] for i in range(d)]


def forest_edges(rows, classes, k, values, weights=None, penalty=None):
    """TAN's undirected edges; with "bic" or "aic" the forest of largest penalised gain."""
    d = len(values)
    weight = [[0.0] * d for _ in range(d)]
    for i, j in itertools.combinations(range(d), 2):
        cmi = conditional_mutual_information(rows, classes, k, values, i, j, weights)
        weight[i][j] = weight[j][i] = cmi
    if penalty is None:
        return spanning_edges(weight)
    n = sum(class_counts(classes, k, weights))
    price = {"bic": math.log(n) / 2, "aic": 1}[penalty]
    for i, j in itertools.combinations(range(d), 2):
        weight[i][j] = n * weight[i][j] - price * (values[i] - 1) * (values[j] - 1) * k
    return [(i, j) for i, j in spanning_edges(weight) if weight[i][j] > 0]


def tan_parents(rows, classes, k, values, weights=None, root=None, penalty=None):
    """TAN's parents; each tree is rooted at `root` or at its column of largest I(X; Y)."""
    d = len(values)
    edges = forest_edges(rows, classes, k, values, weights, penalty)
    mi = [mutual_information(rows, classes, k, values, i, weights) for i in range(d)]
    parents = {}
    for i in range(d):
        if i not in parents:
            tree = sorted(reach(d, edges, i))
            best = root if root in tree else tree[first_best([mi[t] for t in tree])]
            parents.update(reach(d, edges, best))
    return [parents[i] for i in range(d)]


# AODE (Mathematics 5.2)


def spode(rows, classes, k, values, policy, p, row, weights=None, jointly=True):
    """Log P(c, x_p) Π P(x_i | c, x_p) per class, over the observed x_i.

    P(c, x_p) is estimated as one variable, or else as P(c) P(x_p | c).
    """
    joint, data = [], (rows, classes, k, values, policy)
    for c in range(k):
        total = log(joint_prior(*data, p, row[p], c, weights))
        if not jointly:
            alone = [row[p] if i == p else None for i in range(len(row))]
            total = naive_bayes(*data, alone, weights)[c]
        for i, x in enumerate(row):
            if i != p and x is not None:
                total += log(
                    factor_given(rows, classes, k, values, policy, i, x, p, row[p], c, weights)
                )
        joint.append(total)
    return joint


def aode(rows, classes, k, values, policy, row, min_count=1, weights=None, jointly=True):
    """Log of the mean of the super-parents' joints per class; naive Bayes if there are none."""
    members = [
        spode(rows, classes, k, values, policy, p, row, weights, jointly)
        for p, x in enumerate(row)
        if x is not None and value_counts(rows, values, p, weights)[x] >= min_count
    ]
    if not members:
        return naive_bayes(rows, classes, k, values, policy, row, weights)
    return [log_sum([joint[c] for joint in members]) - math.log(len(members)) for c in range(k)]


def subsumed(rows, values, row, critical=50):
    """Set to None each x_i that generalises an x_j; of two equals only the later (AODEsr)."""
    observed = [i for i, x in enumerate(row) if x is not None]
    frequency = {i: value_counts(rows, values, i)[row[i]] for i in observed}
    reduced = list(row)
    for i, j in itertools.permutations(observed, 2):
        both = sum(other[i] == row[i] and other[j] == row[j] for other in rows)
        generalises = frequency[j] > critical and both == frequency[j]
        if generalises and (both != frequency[i] or i > j):
            reduced[i] = None
    return reduced


# Leave-one-out and posterior (Mathematics 9.1, 0.6)


def leave_one_out(predict, rows, classes, weights=None):
    """Log joints of every row, each from a refit without it."""
    joints = []
    for t, row in enumerate(rows):
        other_weights = None if weights is None else weights[:t] + weights[t + 1 :]
        others = rows[:t] + rows[t + 1 :]
        joints.append(predict(others, classes[:t] + classes[t + 1 :], other_weights, row))
    return joints


def posterior(log_joint, log_prior=None):
    """P(c | x); if every class is impossible, the given prior."""
    top = max(log_joint)
    if top == -math.inf:
        if log_prior is None:
            raise ValueError("every class has probability 0 and no prior was given")
        return posterior(log_prior)
    shares = [math.exp(value - top) for value in log_joint]
    return [value / sum(shares) for value in shares]


# Discretisation (Mathematics 1)


def quantile_cuts(xs, bins=5):
    """Cuts Q_j, bins [Q_j, Q_j+1); None where at most `bins` distinct values stay as they are."""
    ordered = sorted(xs)
    if len(set(ordered)) <= bins:
        return None
    cuts = []
    for j in range(1, bins):
        q = ordered[len(ordered) * j // bins]
        if q not in cuts and q != ordered[0]:
            cuts.append(q)
    return cuts


def equal_width_cuts(xs, bins):
    """Cuts at min + i (max - min)/bins, bins (a, b]; none for a constant column."""
    low, high = min(xs), max(xs)
    if low == high:
        return []
    return [low + i * (high - low) / bins for i in range(1, bins)]


def equal_frequency_cuts(xs, bins):
    """Midpoints of the boundaries between distinct values nearest to the ranks n·i/bins."""
    ordered = sorted(xs)
    n = len(ordered)
    ranks = [r for r in range(1, n) if ordered[r - 1] < ordered[r]]
    chosen = []
    for i in range(1, bins):
        # Times bins, so that nearness is compared in whole numbers; min keeps the lower.
        if ranks:
            nearest = min(ranks, key=lambda r: abs(r * bins - n * i))
            if nearest not in chosen:
                chosen.append(nearest)
    return [(ordered[r - 1] + ordered[r]) / 2 for r in chosen]


def class_weights(part):
    """Return {class: weight} of (x, y, weight) triples."""
    totals = {}
    for _, y, w in part:
        totals[y] = totals.get(y, 0) + w
    return totals


def entropy_bits(part):
    """Class entropy in bits of (x, y, weight) triples."""
    totals = class_weights(part).values()
    n = sum(totals)
    return -math.fsum(w / n * math.log2(w / n) for w in totals)


def split_entropy(part, t):
    """Weighted mean class entropy in bits of part[:t] and part[t:]."""
    left, right = sum(w for _, _, w in part[:t]), sum(w for _, _, w in part[t:])
    total = left * entropy_bits(part[:t]) + right * entropy_bits(part[t:])
    return total / (left + right)


def mdlp_accepts(part, t, choices):
    """Fayyad and Irani's test for cutting before element t of sorted triples."""
    n = sum(w for _, _, w in part)
    gain = entropy_bits(part) - split_entropy(part, t)
    k = len(class_weights(part))
    spread = [len(class_weights(s)) * entropy_bits(s) for s in (part, part[:t], part[t:])]
    delta = math.log2(3**k - 2) - (spread[0] - spread[1] - spread[2])
    return gain > 0 and gain > (math.log2(choices) + delta) / n


def mdlp_split(part, better_encoding):
    """Cuts of sorted (x, y, weight) triples, by recursion."""
    n = sum(w for _, _, w in part)
    places = [t for t in range(1, len(part)) if part[t - 1][0] < part[t][0]]
    if n < 2 or not places:
        return []
    t = places[first_best([-split_entropy(part, place) for place in places])]
    if not mdlp_accepts(part, t, len(places) if better_encoding else n - 1):
        return []
    cut = (part[t - 1][0] + part[t][0]) / 2
    return [*mdlp_split(part[:t], better_encoding), cut, *mdlp_split(part[t:], better_encoding)]


def mdlp_cuts(xs, ys, better_encoding=False, weights=None):
    """Cuts of Fayyad and Irani's MDLP; a weight counts as that many copies of the row."""
    triples = zip(xs, ys, weights or [1] * len(xs), strict=True)
    part = sorted((triple for triple in triples if triple[2] > 0), key=lambda triple: triple[0])
    return mdlp_split(part, better_encoding)


# Metrics (Mathematics 11)


def confusion(actual, predicted, k, weights=None):
    """C[actual][predicted]."""
    counts = [[0] * k for _ in range(k)]
    for a, p, w in zip(actual, predicted, weights or [1] * len(actual), strict=True):
        counts[a][p] += w
    return counts


def accuracy(confusion):
    """Share of the diagonal."""
    return sum(line[c] for c, line in enumerate(confusion)) / sum(map(sum, confusion))


def balanced_accuracy(confusion):
    """Mean recall over all classes; a class without rows has recall 0 (0/0 → 0)."""
    recalls = [line[c] / sum(line) if sum(line) else 0.0 for c, line in enumerate(confusion)]
    return sum(recalls) / len(recalls)


def f1(confusion, c):
    """F1 of class c, 2TP/(2TP + FP + FN); 0/0 is 0."""
    doubled = 2 * confusion[c][c]
    both = sum(confusion[c]) + sum(line[c] for line in confusion)
    return doubled / both if both else 0.0


def weighted_mean(terms, weights=None):
    """Mean of one term per row."""
    weights = weights or [1] * len(terms)
    return math.fsum(t * w for t, w in zip(terms, weights, strict=True)) / sum(weights)


def log_loss(probabilities, classes, weights=None):
    """Mean of -log P(true class); inf where that is 0, nothing is clipped."""
    return weighted_mean([-log(p[c]) for p, c in zip(probabilities, classes, strict=True)], weights)


def brier(probabilities, classes, weights=None):
    """Mean over rows of the squared error summed over classes."""
    errors = [
        sum((p - (c == y)) ** 2 for c, p in enumerate(line))
        for line, y in zip(probabilities, classes, strict=True)
    ]
    return weighted_mean(errors, weights)


def auc_binary(scores, positives):
    """Share of (positive, negative) pairs in the right order, ties ½; nan without pairs."""
    high = [s for s, positive in zip(scores, positives, strict=True) if positive]
    low = [s for s, positive in zip(scores, positives, strict=True) if not positive]
    wins = sum((a > b) + (a == b) / 2 for a in high for b in low)
    return wins / (len(high) * len(low)) if high and low else math.nan
