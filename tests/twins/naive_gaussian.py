"""Slow twins of the Gaussian models, written only from docs/mathematics.md (2.2, 7.7, 8, 15.8).

A row is a list of floats, None where missing; classes are 0..k-1, some perhaps without rows,
which then have density 0. `model` is what `fit` returns. Of two classes, 0 is + and 1 is -, as
in Barrow's code. Parents are one list of columns per column. All densities are logarithms.
"""

import collections
import itertools
import math

import numpy as np

import naive
import naive_models

FLOOR = 1e-9
SCARCE_RIDGE = 1e-6
CORRELATION_CAP = 1e-12

Model = collections.namedtuple("Model", "sizes priors means covariances scale")

# Moments (Mathematics 2.2, 8.2)


def column(rows, classes, i, c=None):
    """Return the observed cells of column i, in all rows or in those of class c."""
    pairs = zip(rows, classes, strict=True)
    return [row[i] for row, y in pairs if row[i] is not None and c in {None, y}]


def mean(xs):
    """Σ x / n."""
    return math.fsum(xs) / len(xs)


def covariance(xs, ys):
    """Σ (x - x̄)(y - ȳ) / n; exactly 0 where either is constant."""
    if min(xs) == max(xs) or min(ys) == max(ys):
        return 0.0
    x_mean, y_mean = mean(xs), mean(ys)
    return math.fsum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / len(xs)


def variance(xs):
    """Σ (x - x̄)² / n."""
    return covariance(xs, xs)


def largest_variance(rows, classes):
    """max_i Var(X_i) over all rows; 1 if every column is constant, so that no variance is 0."""
    columns = [column(rows, classes, i) for i in range(len(rows[0]))]
    return max(variance(xs) for xs in columns) or 1.0


def variance_floor(rows, classes):
    """Return 1e-9 · max_i Var(X_i), to be added to every variance."""
    return FLOOR * largest_variance(rows, classes)


def both_observed(rows, classes, i, j, c):
    """Return columns i and j of the rows of class c where both are observed."""
    pairs = [
        (row[i], row[j])
        for row, y in zip(rows, classes, strict=True)
        if y == c and row[i] is not None and row[j] is not None
    ]
    return [x for x, _ in pairs], [y for _, y in pairs]


def class_means(rows, classes, c):
    """μ_c from the observed cells of each column."""
    cells = [column(rows, classes, i, c) for i in range(len(rows[0]))]
    if not all(cells):
        raise ValueError(f"class {c} has rows but no cell of a column: no rule for this yet")
    return np.array([mean(xs) for xs in cells])


def class_covariance(rows, classes, c):
    """Σ_c without the floor, each entry from the rows where both its columns are observed."""
    d = len(rows[0])
    matrix = np.zeros((d, d))
    for i, j in itertools.product(range(d), repeat=2):
        xs, ys = both_observed(rows, classes, i, j, c)
        matrix[i, j] = covariance(xs, ys) if xs else 0.0
    return matrix


def fit(rows, classes, k):
    """Class sizes, priors N(c)/N, means μ_c and matrices Σ_c + floor·I; None for no rows."""
    sizes = naive.class_counts(classes, k)
    scale = largest_variance(rows, classes)
    ridge = FLOOR * scale * np.eye(len(rows[0]))
    means = [class_means(rows, classes, c) if sizes[c] else None for c in range(k)]
    covariances = [
        class_covariance(rows, classes, c) + ridge if sizes[c] else None for c in range(k)
    ]
    return Model(sizes, [size / len(rows) for size in sizes], means, covariances, scale)


# Densities


def log_normal(x, center, var):
    """Log N(x; μ, σ²)."""
    return -0.5 * (math.log(2 * math.pi * var) + (x - center) ** 2 / var)


def log_multinormal(x, center, sigma):
    """Log N(x; μ, Σ) = -½ [d log 2π + log det Σ + (x-μ)ᵀ Σ⁻¹ (x-μ)]; 0 for no columns."""
    if len(x) == 0:
        return 0.0
    sign, log_determinant = np.linalg.slogdet(sigma)
    if sign <= 0:
        raise ValueError("the covariance matrix is not positive definite")
    away = np.asarray(x) - center
    distance = away @ np.linalg.solve(sigma, away)
    return -0.5 * (len(x) * math.log(2 * math.pi) + log_determinant + distance)


def observed(row):
    """Indices of the cells that are not missing."""
    return [i for i, x in enumerate(row) if x is not None]


def take(row, columns):
    """Return the cells of some columns."""
    return np.array([row[i] for i in columns], dtype=float)


def marginal_density(row, columns, center, sigma):
    """Log N of some columns of a row: the marginal of N(μ, Σ)."""
    part = sigma[np.ix_(columns, columns)]
    return log_multinormal(take(row, columns), center[columns], part)


def with_priors(model, density):
    """Log p(c) + density(c) per class; -inf for a class without rows."""
    return [
        math.log(prior) + density(c) if prior else -math.inf for c, prior in enumerate(model.priors)
    ]


def single_density(model, row, i, c):
    """Log p(x_i | c)."""
    return log_normal(row[i], model.means[c][i], model.covariances[c][i, i])


def gaussian_nb(model, row):
    """Log p(c) + Σ_i log N(x_i; μ_ci, σ²_ci) per class, missing cells skipped (Mathematics 2.2)."""
    return with_priors(
        model, lambda c: math.fsum(single_density(model, row, i, c) for i in observed(row))
    )


def full_joint(model, row):
    """Log p(c) + log N(x; μ_c, Σ_c) per class, over the observed cells."""
    return with_priors(
        model, lambda c: marginal_density(row, observed(row), model.means[c], model.covariances[c])
    )


# Dependence derivatives (Mathematics 8.1, 8.2)


def conditional_density(model, row, i, others, c):
    """Log p(x_i | x_others, c) with Λ = Σ⁻¹ of {i} and others: variance 1/Λ_ii, mean
    μ_i - Σ_j Λ_ij (x_j - μ_j) / Λ_ii.
    """
    columns = [i, *others]
    precision = np.linalg.inv(model.covariances[c][np.ix_(columns, columns)])
    center = model.means[c][i]
    for place, j in enumerate(columns):
        if j != i:
            center -= precision[0, place] * (row[j] - model.means[c][j]) / precision[0, 0]
    return log_normal(row[i], center, 1 / precision[0, 0])


def conditional_by_ratio(model, row, i, others, c):
    """Log p(x_i | x_others, c) = log N(x_i, x_others) - log N(x_others)."""
    moments = model.means[c], model.covariances[c]
    joint = marginal_density(row, [i, *others], *moments)
    return joint - marginal_density(row, list(others), *moments)


def without(columns, i):
    """Return the columns but i."""
    return [j for j in columns if j != i]


def log_dd(model, row, i, c):
    """Log dd_c(x_i, E) = log p(x_i | x_-i, c) - log p(x_i | c), x_-i the other observed cells."""
    others = without(observed(row), i)
    return conditional_density(model, row, i, others, c) - single_density(model, row, i, c)


def log_ddr(model, row, i, plus=0, minus=1):
    """Log ddr(x_i, E) = log dd_+ - log dd_-."""
    return log_dd(model, row, i, plus) - log_dd(model, row, i, minus)


def log_gdf(model, row, plus=0, minus=1):
    """Log gdf(E) = Σ_i log ddr(x_i, E), over the observed cells."""
    return math.fsum(log_ddr(model, row, i, plus, minus) for i in observed(row))


def pseudo_joint(model, row):
    """Log p(c) + Σ_i log p(x_i | x_-i, c) per class: C_b of Barrow is + minus - of this."""
    columns = observed(row)
    return with_priors(
        model,
        lambda c: math.fsum(
            conditional_density(model, row, i, without(columns, i), c) for i in columns
        ),
    )


def attribute_weight(model, rows, classes, i, weighting="log-mean", plus=0, minus=1):
    """u_i = mean of log ddr ("log-mean"), or a_i = log of the mean of ddr ("mean"), over the
    rows of the two classes where column i is observed.
    """
    ratios = [
        log_ddr(model, row, i, plus, minus)
        for row, y in zip(rows, classes, strict=True)
        if y in {plus, minus} and row[i] is not None
    ]
    if weighting == "log-mean":
        return math.fsum(ratios) / len(ratios)
    return naive.log_sum(ratios) - math.log(len(ratios))


def pair_weights(model, rows, classes, weighting="log-mean"):
    """Return {(c', c): [u_i^c'c per column]}, c < c' with rows; c' is plus (Mathematics 15.8)."""
    present = [c for c, size in enumerate(model.sizes) if size]
    return {
        (plus, minus): [
            attribute_weight(model, rows, classes, i, weighting, plus, minus)
            for i in range(len(rows[0]))
        ]
        for minus, plus in itertools.combinations(present, 2)
    }


# Maximally balanced subsets (Mathematics 8.2, 15.8)


def imbalance(weights, columns, objective="balanced", shares=None):
    """What the chosen set minimizes; `weights` has one list u^cc' per pair of classes.

    "balanced": max_cc' |Σ_S u|; "mean": Σ P(c)P(c') |Σ_S u| / Σ P(c)P(c'), with these products
    as `shares`; "smallest": Σ_S u, for two classes only.
    """
    sums = [math.fsum(u[i] for i in columns) for u in weights]
    if objective == "smallest":
        (only,) = sums
        return only
    if objective == "mean":
        return math.fsum(w * abs(s) for w, s in zip(shares, sums, strict=True)) / math.fsum(shares)
    return max(abs(s) for s in sums)


def balanced_subset(weights, sizes, objective="balanced", shares=None):
    """Best set among all of the given sizes; ties to the lexicographically first."""
    d = len(weights[0])
    subsets = sorted(s for size in sizes for s in itertools.combinations(range(d), size))
    scores = [-imbalance(weights, subset, objective, shares) for subset in subsets]
    return list(subsets[naive.first_best(scores)])


# k-naive classifiers (Mathematics 8.3)


def split(model, naive_set):
    """Return S and D, both in rising order."""
    d = len(next(center for center in model.means if center is not None))
    return sorted(naive_set), [i for i in range(d) if i not in naive_set]


def regression_blocks(sigma, s, rest):
    """B = Σ_DS Σ_SS⁻¹ and the residual Σ_DD - B Σ_SD."""
    across = sigma[np.ix_(rest, s)]
    slopes = across @ np.linalg.inv(sigma[np.ix_(s, s)])
    return slopes, sigma[np.ix_(rest, rest)] - slopes @ across.T


def implied_covariance(model, naive_set, c, naivete):
    """Covariance matrix of the k-naive model in class c.

    Both: Σ_SS' = diag(Σ_SS). Strong: Σ_DS' = 0, Σ_DD' = Σ_DD. Weak: Σ_DS' = B Σ_SS',
    Σ_DD' = (Σ_DD - B Σ_SD) + B Σ_SS' Bᵀ.
    """
    s, rest = split(model, naive_set)
    sigma = model.covariances[c]
    implied = np.zeros_like(sigma)
    diagonal = np.diag(np.diag(sigma[np.ix_(s, s)]))
    implied[np.ix_(s, s)] = diagonal
    if naivete == "strong":
        implied[np.ix_(rest, rest)] = sigma[np.ix_(rest, rest)]
    else:
        slopes, residual = regression_blocks(sigma, s, rest)
        implied[np.ix_(rest, s)] = slopes @ diagonal
        implied[np.ix_(s, rest)] = (slopes @ diagonal).T
        implied[np.ix_(rest, rest)] = residual + slopes @ diagonal @ slopes.T
    return implied


def exact_density(model, row, naive_set, c, naivete):
    """Log density of a complete row: Π_S N(x_i) times N(x_D) if strong, N(x_D | x_S) if weak."""
    s, rest = split(model, naive_set)
    center, sigma = model.means[c], model.covariances[c]
    singles = math.fsum(single_density(model, row, i, c) for i in s)
    if naivete == "strong":
        return singles + marginal_density(row, rest, center, sigma)
    slopes, residual = regression_blocks(sigma, s, rest)
    moved = center[rest] + slopes @ (take(row, s) - center[s])
    return singles + log_multinormal(take(row, rest), moved, residual)


def pseudo_density(model, row, naive_set, c, naivete):
    """Π_S N(x_i) Π_D p(x_i | others), others being all (weak) or D (strong), where observed."""
    s, rest = split(model, naive_set)
    seen = observed(row)
    given = [j for j in seen if naivete == "weak" or j in rest]
    singles = [single_density(model, row, i, c) for i in s if i in seen]
    conditionals = [
        conditional_density(model, row, i, without(given, i), c) for i in rest if i in seen
    ]
    return math.fsum(singles + conditionals)


def k_naive(model, row, naive_set, naivete="weak", joint="exact"):
    """Log joint per class; a row with missing cells has the marginal of the implied normal."""

    def density(c):
        if joint == "pseudo":
            return pseudo_density(model, row, naive_set, c, naivete)
        if len(observed(row)) == len(row):
            return exact_density(model, row, naive_set, c, naivete)
        implied = implied_covariance(model, naive_set, c, naivete)
        return marginal_density(row, observed(row), model.means[c], implied)

    return with_priors(model, density)


# Information (Mathematics 7.7)


def mutual_information(rows, classes, k, i):
    """½ [log σ² - Σ P(c) log σ²_c] of raw variances; 0 for a constant column.

    P(c) counts the rows where column i is observed. No cap is given: σ²_c ≥ 1e-12 σ² here,
    after the cap of ρ².
    """
    cells = [column(rows, classes, i, c) for c in range(k)]
    everything = column(rows, classes, i)
    total = variance(everything)
    if total == 0:
        return 0.0
    return -0.5 * math.fsum(
        len(xs) / len(everything) * math.log(max(variance(xs) / total, CORRELATION_CAP))
        for xs in cells
        if xs
    )


def squared_correlation(xs, ys):
    """ρ² = cov² / (σ_x² σ_y²), at most 1 - 1e-12; 0 where either is constant."""
    if not xs or variance(xs) == 0 or variance(ys) == 0:
        return 0.0
    return min(covariance(xs, ys) ** 2 / (variance(xs) * variance(ys)), 1 - CORRELATION_CAP)


def conditional_mutual_information(rows, classes, k, i, j):
    """-½ Σ_c P(c) log(1 - ρ²_ij|c), all from the rows where both columns are observed."""
    pairs = [both_observed(rows, classes, i, j, c) for c in range(k)]
    total = sum(len(xs) for xs, _ in pairs)
    if total == 0:
        return 0.0
    terms = [len(xs) / total * math.log(1 - squared_correlation(xs, ys)) for xs, ys in pairs]
    return -0.5 * math.fsum(terms)


def cmi_matrix(rows, classes, k):
    """I(X_i; X_j | C) as a symmetric matrix, 0 on the diagonal."""
    d = len(rows[0])
    matrix = [[0.0] * d for _ in range(d)]
    for i, j in itertools.combinations(range(d), 2):
        cmi = conditional_mutual_information(rows, classes, k, i, j)
        matrix[i][j] = matrix[j][i] = cmi
    return matrix


# Conditional Gaussian networks (Mathematics 7.7)


def tan_parents(rows, classes, k, root=None):
    """Maximum spanning tree of the CMI, rooted at `root` or at the column of largest MI."""
    d = len(rows[0])
    if root is None:
        root = naive.first_best([mutual_information(rows, classes, k, i) for i in range(d)])
    tree = naive.maximum_spanning_tree(cmi_matrix(rows, classes, k), root)
    return [[] if parent == -1 else [parent] for parent in tree]


def kdb_parents(rows, classes, k, k_dep, min_cmi=None):
    """(Order by falling MI, the k_dep placed columns of largest CMI as parents of each)."""
    d = len(rows[0])
    cmi = cmi_matrix(rows, classes, k)
    mi = [mutual_information(rows, classes, k, i) for i in range(d)]
    order = naive_models.largest(range(d), mi)
    limit = -math.inf if min_cmi is None else min_cmi - naive.TIE_TOL
    parents = [[] for _ in range(d)]
    for place, i in enumerate(order):
        allowed = [j for j in sorted(order[:place]) if cmi[i][j] >= limit]
        parents[i] = naive_models.largest(allowed, cmi[i], k_dep)
    return order, parents


def regression(model, i, parents, c):
    """(β, σ²) of X_i on its parents: β = Σ_pp⁻¹ Σ_pi, σ² = Σ_ii - 2 βᵀΣ_pi + βᵀΣ_pp β.

    Σ has the floor on its diagonal, so a complete DAG is the full joint and an empty one
    GaussianNB. A class of fewer rows than parents + 1 has 1e-6 · max var more in β's Σ_pp.
    """
    sigma = model.covariances[c]
    among = sigma[np.ix_(parents, parents)]
    across = sigma[parents, i]
    scarce = model.sizes[c] < len(parents) + 1
    ridge = SCARCE_RIDGE * model.scale if scarce else 0.0
    slopes = np.linalg.solve(among + ridge * np.eye(len(parents)), across)
    return slopes, sigma[i, i] - 2 * slopes @ across + slopes @ among @ slopes


def family_density(model, row, i, parents, c):
    """Log p(x_i | x_pa, c) = log N(x_i; μ_i + β·(x_pa - μ_pa), σ²)."""
    slopes, residual = regression(model, i, parents, c)
    away = take(row, parents) - model.means[c][parents]
    return log_normal(row[i], model.means[c][i] + slopes @ away, residual)


def topological(parents):
    """Columns, every parent before its children."""
    order = []
    while len(order) < len(parents):
        order.append(
            next(i for i, pa in enumerate(parents) if i not in order and set(pa) <= set(order))
        )
    return order


def network_covariance(model, parents, c):
    """Covariance matrix of the network in class c, column after column: to those before,
    Σ_i. = βᵀ Σ_pa.; its own variance σ² + βᵀ Σ_pa,pa β.
    """
    d = len(parents)
    sigma = np.zeros((d, d))
    for i in topological(parents):
        slopes, residual = regression(model, i, parents[i], c)
        line = slopes @ sigma[parents[i], :]
        sigma[i, :], sigma[:, i] = line, line
        sigma[i, i] = residual + slopes @ sigma[np.ix_(parents[i], parents[i])] @ slopes
    return sigma


def network_joint(model, parents, row):
    """Log p(c) + Σ_i log p(x_i | x_pa, c) per class; missing cells integrated out."""

    def density(c):
        if len(observed(row)) == len(row):
            return math.fsum(family_density(model, row, i, parents[i], c) for i in range(len(row)))
        implied = network_covariance(model, parents, c)
        return marginal_density(row, observed(row), model.means[c], implied)

    return with_priors(model, density)


def network_gdf(model, parents, row, plus=0, minus=1):
    """Log gdf of a complete row with dd_c = p(x_i | x_pa, c) / p(x_i | c) (Mathematics 8.1)."""

    def log_derivative(i, c):
        return family_density(model, row, i, parents[i], c) - single_density(model, row, i, c)

    return math.fsum(log_derivative(i, plus) - log_derivative(i, minus) for i in range(len(row)))
