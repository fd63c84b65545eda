"""Slow twins of the models beyond naive Bayes, TAN and AODE, only from docs/mathematics.md.

Conventions are those of `naive`: rows of codes with None where missing, policies as tuples, one
weight per row, log joints per class as results. `cmi` and `member_weights` fix the weights of a
model instead of computing them from the rows (Mathematics 9.1).
"""

import itertools
import math

import naive

ROUNDING = 1e-12


def positive(information):
    """Whether an information is more than rounding."""
    return information > ROUNDING


def log_prior(classes, k, policy, weights=None):
    """Log P(c), as a list over classes."""
    return [naive.log(p) for p in naive.class_prior(classes, k, policy, weights)]


def mi_list(rows, classes, k, values, weights=None):
    """I(X_i; Y) of every column."""
    columns = range(len(values))
    return [naive.mutual_information(rows, classes, k, values, i, weights) for i in columns]


def cmi_matrix(rows, classes, k, values, weights=None):
    """I(X_i; X_j | Y) as a symmetric matrix, 0 on the diagonal."""
    d = len(values)
    matrix = [[0.0] * d for _ in range(d)]
    for i, j in itertools.combinations(range(d), 2):
        cmi = naive.conditional_mutual_information(rows, classes, k, values, i, j, weights)
        matrix[i][j] = matrix[j][i] = cmi
    return matrix


def largest(candidates, score, limit=None):
    """Return the candidates by falling score, ties by their own order, at most `limit` of them."""
    remaining, chosen = list(candidates), []
    while remaining and len(chosen) != limit:
        chosen.append(remaining.pop(naive.first_best([score[t] for t in remaining])))
    return chosen


def mean_joint(members, shares, k):
    """Log of the mean of the members' joints per class, weighted by shares of positive sum."""
    total = naive.log(math.fsum(shares))
    pairs = list(zip(members, shares, strict=True))
    return [naive.log_sum([naive.log(w) + m[c] for m, w in pairs]) - total for c in range(k)]


# Leave-one-out (Mathematics 9.1)


def leave_one_out_fixed(model, rows, classes, k, values, policy, weights=None, **fixed):
    """Log joints of every row by `model` on the other rows, with the arguments `fixed` held."""

    def predict(others, labels, other_weights, row):
        return model(others, labels, k, values, policy, row, weights=other_weights, **fixed)

    return naive.leave_one_out(predict, rows, classes, weights)


def leave_one_out_score(joints, classes, k, policy, weights=None):
    """(accuracy, mean log loss) of leave-one-out log joints; class ties go to the lowest."""

    def predict(_, labels, other_weights, joint):
        return naive.posterior(joint, log_prior(labels, k, policy, other_weights))

    posteriors = naive.leave_one_out(predict, joints, classes, weights)
    hits = [naive.first_best(p) == c for p, c in zip(posteriors, classes, strict=True)]
    return naive.weighted_mean(hits, weights), naive.log_loss(posteriors, classes, weights)


# SPODE (Mathematics 5.1)


def spode(
    rows,
    classes,
    k,
    values,
    policy,
    p,
    row,
    joint_prior=True,
    missing="marginalize",
    weights=None,
):
    """Log P(c, x_p), or P(c) P(x_p | c), times Π P(x_i | c, x_p); x_p summed out or dropped."""
    data = (rows, classes, k, values, policy)
    if row[p] is None and missing == "drop":
        return naive.naive_bayes(*data, row, weights)
    if all(x is None for x in row):
        return log_prior(classes, k, policy, weights)
    star = [-1 if i == p else p for i in range(len(row))]
    joints = []
    for xp in range(values[p]) if row[p] is None else [row[p]]:
        filled = [*row[:p], xp, *row[p + 1 :]]
        if joint_prior:
            joints.append(naive.spode(*data, p, filled, weights))
        else:
            joints.append(naive.tree_drop(*data, star, filled, weights))
    return [naive.log_sum([joint[c] for joint in joints]) for c in range(k)]


def information_given_parent(rows, classes, k, values, j, p, weights=None):
    """I(X_j; Y | X_p) in nats: the class as a column, column p as the class."""
    weights = weights or [1] * len(rows)
    cases = zip(rows, classes, weights, strict=True)
    kept = [(row, c, w) for row, c, w in cases if row[j] is not None and row[p] is not None]
    return naive.conditional_mutual_information(
        [[row[j], c] for row, c, _ in kept],
        [row[p] for row, _, _ in kept],
        values[p],
        [values[j], k],
        0,
        1,
        [w for _, _, w in kept],
    )


def spode_penalised(rows, classes, k, values, p, criterion, weights=None):
    """BIC or AIC of SPODE(p): maximum log-likelihood of the complete rows less the penalty."""
    weights = weights or [1] * len(rows)
    cases = zip(rows, classes, weights, strict=True)
    kept = [(row, c, w) for row, c, w in cases if None not in row and w > 0]
    if not kept:
        return 0.0
    complete, labels, shares = (list(part) for part in zip(*kept, strict=True))
    data = (complete, labels, k, values, ("ml",))
    fit = math.fsum(w * naive.spode(*data, p, row, shares)[c] for row, c, w in kept)
    parameters = k * values[p] - 1
    parameters += sum(k * values[p] * (v - 1) for i, v in enumerate(values) if i != p)
    return fit - {"bic": math.log(sum(shares)) / 2, "aic": 1}[criterion] * parameters


def spode_parent(rows, classes, k, values, criterion, policy=("laplace", 1.0), weights=None):
    """SPODE's super-parent by "mi", "cmi", "bic", "aic" or "loo"."""
    data, columns = (rows, classes, k, values), range(len(values))
    if criterion == "mi":
        return naive.first_best(mi_list(*data, weights))
    if criterion == "cmi":
        gains = [
            math.fsum(information_given_parent(*data, j, p, weights) for j in columns if j != p)
            for p in columns
        ]
        return naive.first_best(gains)
    if criterion in ("bic", "aic"):
        return naive.first_best([spode_penalised(*data, p, criterion, weights) for p in columns])
    scores = []
    for p in columns:
        joints = leave_one_out_fixed(spode_of, *data, policy, weights, p=p)
        scores.append(leave_one_out_score(joints, classes, k, policy, weights))
    best = max(accuracy for accuracy, _ in scores)
    tied = [p for p in columns if scores[p][0] >= best - naive.TIE_TOL]
    return tied[naive.first_best([-scores[p][1] for p in tied])]


def spode_of(rows, classes, k, values, policy, row, weights=None, p=0):
    """SPODE with the row before the super-parent, as leave_one_out_fixed calls it."""
    return spode(rows, classes, k, values, policy, p, row, weights=weights)


# WAODE (Mathematics 5.3)


def waode(rows, classes, k, values, policy, row, weights=None, member_weights=None):
    """Log of the mean of the observed super-parents' joints, weighted by I(X_p; Y)."""
    data = (rows, classes, k, values)
    shares = member_weights or mi_list(*data, weights)
    if not positive(math.fsum(shares)):
        shares = [1] * len(values)
    observed = [p for p, x in enumerate(row) if x is not None]
    if not positive(math.fsum(shares[p] for p in observed)):
        return naive.naive_bayes(*data, policy, row, weights)
    members = [naive.spode(*data, policy, p, row, weights) for p in observed]
    return mean_joint(members, [shares[p] for p in observed], k)


# Factors with any number of parents (Mathematics 0.5, 0.8)


def family_factor(rows, classes, k, values, policy, i, parents, row, c, weights=None):
    """P(x_i | parents, c); parents missing from `row` are summed out of the family's counts."""
    counts = [0] * values[i]
    for other, label, w in zip(rows, classes, weights or [1] * len(rows), strict=True):
        complete = all(other[j] is not None for j in [i, *parents])
        agrees = all(row[j] is None or other[j] == row[j] for j in parents)
        if label == c and complete and agrees:
            counts[other[i]] += w
    q = k * math.prod(values[j] for j in parents if row[j] is not None)
    overall = naive.share(naive.value_counts(rows, values, i, weights), row[i])
    return naive.smooth(policy, counts[row[i]], sum(counts), values[i], q, overall)


# A2DE (Mathematics 15.5)


def two_parents(rows, classes, k, values, policy, p, q, row, weights=None):
    """Log P(c, x_p, x_q) Π P(x_i | c, x_p, x_q) per class, over the observed x_i."""
    data = (rows, classes, k, values)
    counts = [n for t in naive.pair(*data, p, q, weights) for line in t for n in line]
    joint = []
    for c in range(k):
        cell = (c * values[p] + row[p]) * values[q] + row[q]
        share = naive.share(counts, cell)
        total = naive.log(naive.smooth(policy, counts[cell], sum(counts), len(counts), 1, share))
        for i, x in enumerate(row):
            if i not in (p, q) and x is not None:
                total += naive.log(family_factor(*data, policy, i, [p, q], row, c, weights))
        joint.append(total)
    return joint


def pair_information(rows, classes, k, values, p, q, weights=None):
    """I(X_p, X_q; Y) in nats, the two columns as one."""
    tables = naive.pair(rows, classes, k, values, p, q, weights)
    return naive.information_of_table([[n for line in t for n in line] for t in tables])


def a2de(rows, classes, k, values, policy, row, min_count=1, weighted=False, weights=None):
    """Log of the mean of the parent pairs' joints; AODE if there are none, then naive Bayes."""
    data = (rows, classes, k, values)
    pairs = list(itertools.combinations(range(len(values)), 2))
    shares = dict.fromkeys(pairs, 1)
    if weighted:
        information = {pq: pair_information(*data, *pq, weights) for pq in pairs}
        shares = information if positive(math.fsum(information.values())) else shares
    chosen = []
    for p, q in pairs:
        if row[p] is not None and row[q] is not None:
            count = sum(t[row[p]][row[q]] for t in naive.pair(*data, p, q, weights))
            chosen += [(p, q)] if count >= min_count else []
    if not positive(math.fsum(shares[pq] for pq in chosen)):
        return naive.aode(*data, policy, row, min_count, weights)
    members = [two_parents(*data, policy, *pq, row, weights) for pq in chosen]
    return mean_joint(members, [shares[pq] for pq in chosen], k)


# ATAN (Mathematics 6.2)


def atan(
    rows,
    classes,
    k,
    values,
    policy,
    row,
    edges=None,
    average="posterior",
    missing="marginalize",
    weights=None,
):
    """Log of the mean posterior, or joint, over the TANs of one tree, each column root once."""
    d, data = len(values), (rows, classes, k, values)
    edges = naive.forest_edges(*data, weights) if edges is None else edges
    members = []
    for root in range(d):
        tree = naive.reach(d, edges, root)
        parents = [tree[i] for i in range(d)]
        joint = naive.tree_joint(*data, policy, parents, row, missing, weights)
        if average == "posterior":
            prior = log_prior(classes, k, policy, weights)
            joint = [naive.log(p) for p in naive.posterior(joint, prior)]
        members.append(joint)
    return mean_joint(members, [1] * d, k)


# Bayesian multinet (Mathematics 6.3)


def multinet_parents(rows, classes, k, values, weights=None):
    """Return each class's parents: its Chow-Liu tree, rooted at the column of largest I(X; Y)."""
    d, data = len(values), (rows, classes, k, values)
    root = naive.first_best(mi_list(*data, weights))
    sizes = naive.class_counts(classes, k, weights)
    parents = []
    for c in range(k):
        weight = [[0.0] * d for _ in range(d)]
        for i, j in itertools.combinations(range(d), 2):
            table = naive.pair(*data, i, j, weights)[c]
            weight[i][j] = weight[j][i] = naive.information_of_table(table)
        tree = naive.maximum_spanning_tree(weight, root)
        parents.append(tree if sizes[c] >= 2 else [-1] * d)
    return parents


def multinet(rows, classes, k, values, policy, row, missing="marginalize", weights=None):
    """Log P(c) + log P_c(x), each class with its own tree."""
    data = (rows, classes, k, values)
    trees = multinet_parents(*data, weights)
    return [
        naive.tree_joint(*data, policy, tree, row, missing, weights)[c]
        for c, tree in enumerate(trees)
    ]


# ODANB (Mathematics 6.4)


def odanb_parents(rows, classes, k, values, weights=None):
    """Each column's parent of largest CMI, -1 if that is 0; cycles are allowed."""
    cmi = cmi_matrix(rows, classes, k, values, weights)
    parents = []
    for i, line in enumerate(cmi):
        best = largest([j for j in range(len(values)) if j != i], line, 1)
        parents.append(best[0] if best and positive(line[best[0]]) else -1)
    return parents


def odanb(rows, classes, k, values, policy, row, weights=None):
    """Log P(c) Π P(x_i | x_parent, c): P(x_i | c) under a missing parent."""
    parents = odanb_parents(rows, classes, k, values, weights)
    return naive.tree_drop(rows, classes, k, values, policy, parents, row, weights)


# KDB (Mathematics 6.5)


def kdb_structure(rows, classes, k, values, k_dep, min_cmi=None, weights=None):
    """(order by falling I(X; Y), parents of each column by falling CMI, of at least min_cmi)."""
    cmi = cmi_matrix(rows, classes, k, values, weights)
    order = largest(range(len(values)), mi_list(rows, classes, k, values, weights))
    limit = -math.inf if min_cmi is None else min_cmi - naive.TIE_TOL
    parents = [[] for _ in values]
    for place, i in enumerate(order):
        allowed = [j for j in sorted(order[:place]) if cmi[i][j] >= limit]
        parents[i] = largest(allowed, cmi[i], k_dep)
    return order, parents


def kdb(rows, classes, k, values, policy, parents, row, missing="marginalize", weights=None):
    """Log P(c) Π P(x_i | parents, c); missing cells summed over by brute force, or dropped."""
    data = (rows, classes, k, values, policy)
    joints = []
    for filled in [row] if missing == "drop" else naive.completions(values, row):
        joint = log_prior(classes, k, policy, weights)
        for i, x in enumerate(filled):
            for c in range(k):
                if x is not None:
                    p = family_factor(*data, i, parents[i], filled, c, weights)
                    joint[c] += naive.log(p)
        joints.append(joint)
    return [naive.log_sum([joint[c] for joint in joints]) for c in range(k)]


# HNB and PHNB (Mathematics 4, 15.2)


def hidden_factor(rows, classes, k, values, policy, i, row, c, bag, shares, weights=None):
    """Σ W_j P(x_i | x_j, c) over the observed of a bag; P(x_i | c) if their shares sum to 0."""
    data = (rows, classes, k, values, policy, i, row[i])
    used = [j for j in bag if row[j] is not None]
    total = math.fsum(shares[j] for j in used)
    if not positive(total):
        return naive.factor(*data, c, weights)
    terms = [shares[j] * naive.factor_given(*data, j, row[j], c, weights) for j in used]
    return math.fsum(terms) / total


def hnb(rows, classes, k, values, policy, row, bags=None, weights=None, cmi=None):
    """Log P(c) Π P(x_i | hidden parent, c); bags are lists of columns, all others if not given."""
    data, d = (rows, classes, k, values), len(values)
    cmi = cmi or cmi_matrix(*data, weights)
    bags = bags or [[j for j in range(d) if j != i] for i in range(d)]
    joint = log_prior(classes, k, policy, weights)
    for i, x in enumerate(row):
        for c in range(k):
            if x is not None:
                p = hidden_factor(*data, policy, i, row, c, bags[i], cmi[i], weights)
                joint[c] += naive.log(p)
    return joint


def phnb_bags(rows, classes, k, values, threshold_bits, rule="ge", weights=None):
    """Bags of the columns of CMI at least ("ge") or above ("gt") a threshold, within TIE_TOL."""
    cmi = cmi_matrix(rows, classes, k, values, weights)
    threshold = threshold_bits * math.log(2)
    slack = {"ge": -naive.TIE_TOL, "gt": naive.TIE_TOL}[rule]
    return [
        [j for j, information in enumerate(line) if j != i and information - threshold > slack]
        for i, line in enumerate(cmi)
    ]


def pair_cmi_bits(rows, classes, k, values, weights=None):
    """I(X_i; X_j | Y) in bits of the pairs i < j."""
    cmi = cmi_matrix(rows, classes, k, values, weights)
    pairs = itertools.combinations(range(len(values)), 2)
    return [cmi[i][j] / math.log(2) for i, j in pairs]


def phnb_average_threshold(rows, classes, k, values, weights=None):
    """Mean CMI of the pairs in bits; 0 for one column."""
    bits = pair_cmi_bits(rows, classes, k, values, weights)
    return math.fsum(bits) / len(bits) if bits else 0.0


def phnb_thresholds(rows, classes, k, values, weights=None):
    """+inf, the midpoints of neighbouring distinct CMIs in bits, -inf; falling."""
    bits = sorted(pair_cmi_bits(rows, classes, k, values, weights), reverse=True)
    steps = [(high, low) for high, low in itertools.pairwise(bits) if high - low > naive.TIE_TOL]
    return [math.inf, *((high + low) / 2 for high, low in steps), -math.inf]


def phnb_path(rows, classes, k, values, policy, weights=None):
    """(threshold in bits, LOO accuracy, LOO log loss) of every candidate, bags and CMI held."""
    data = (rows, classes, k, values)
    cmi = cmi_matrix(*data, weights)
    path = []
    for threshold in phnb_thresholds(*data, weights):
        bags = phnb_bags(*data, threshold, weights=weights)
        joints = leave_one_out_fixed(hnb, *data, policy, weights, bags=bags, cmi=cmi)
        path.append((threshold, *leave_one_out_score(joints, classes, k, policy, weights)))
    return path
