"""Slow, obvious twins of unnaive.search, written only from Mathematics 10.

A population is a list of genomes, a genome a list of genes; `sizes` are numbers of values.
"""

import itertools
import math

from scipy.stats import chi2

from naive import first_best

# The loop (Mathematics 10.1)


def best_first(individuals):
    """Sort (scores, genome) by scores, larger first; Python's sort leaves equals as they are."""
    return sorted(individuals, key=lambda one: one[0], reverse=True)


def next_population(old, offspring, replacement, size):
    """Replace a population; both lists have (scores, genome), the old one best first."""
    if replacement == "truncation":
        return best_first(old + offspring)[:size]
    if replacement == "elite-1":
        return best_first(old[:1] + best_first(offspring)[: size - 1])
    return best_first(offspring)[:size]


def best_ever(individuals):
    """Largest scores; of equals, the lowest genome."""
    top = max(scores for scores, _ in individuals)
    return min(genome for scores, genome in individuals if scores == top)


# Categories (Mathematics 10.2 to 10.4)


def frequencies(values, size, alpha):
    """(count + α) / (N + α·r) of every value."""
    return [(values.count(a) + alpha) / (len(values) + alpha * size) for a in range(size)]


def umda(rows, sizes, alpha):
    """Marginal distribution of every gene."""
    return [frequencies([row[i] for row in rows], v, alpha) for i, v in enumerate(sizes)]


def floored(probabilities, p_min):
    """Raise to p_min at least; the rest is shared as the excess over p_min was."""
    excess = [max(p - p_min, 0.0) for p in probabilities]
    if sum(excess) == 0:
        return probabilities
    free = 1 - p_min * len(probabilities)
    return [p_min + free * e / sum(excess) for e in excess]


def entropy(values):
    """Entropy of a list of any values, in nats."""
    shares = [values.count(value) / len(values) for value in set(values)]
    return -math.fsum(p * math.log(p) for p in shares)


def mimic_chain(rows, n_genes):
    """Order of the genes: i_n, i_{n-1}, …, i_1."""
    columns = [[row[i] for row in rows] for i in range(n_genes)]
    left, order = list(range(n_genes)), []
    while left:
        if order:
            z = columns[order[-1]]
            scores = [entropy(list(zip(columns[j], z, strict=True))) - entropy(z) for j in left]
        else:
            scores = [entropy(columns[j]) for j in left]
        order.append(left.pop(first_best([-score for score in scores])))
    return order


def conditional(rows, sizes, gene, parents, alpha):
    """P(gene | parents) as {values of the parents: probabilities}, of contexts that occur."""
    contexts = {}
    for row in rows:
        contexts.setdefault(tuple(row[p] for p in parents), []).append(row[gene])
    return {seen: frequencies(values, sizes[gene], alpha) for seen, values in contexts.items()}


def bic(rows, sizes, gene, parents):
    """Log-likelihood less log N / 2 for every free parameter."""
    contexts = {}
    for row in rows:
        contexts.setdefault(tuple(row[p] for p in parents), []).append(row[gene])
    likelihood = sum(-len(values) * entropy(values) for values in contexts.values())
    free = math.prod(sizes[p] for p in parents) * (sizes[gene] - 1)
    return likelihood - math.log(len(rows)) / 2 * free


def reaches(parents, start, end):
    """Return whether ``start`` is ``end`` or an ancestor of it."""
    return start == end or any(reaches(parents, start, p) for p in parents[end])


def algorithm_b(rows, sizes, max_parents):
    """Add the arc that gains most while one gains; of ties the lowest parent, then child."""
    d = len(sizes)
    parents = [() for _ in range(d)]
    while True:
        arcs = [
            (parent, child)
            for parent, child in itertools.product(range(d), repeat=2)
            if parent not in parents[child]
            and len(parents[child]) < max_parents
            and not reaches(parents, child, parent)
        ]
        gains = [
            bic(rows, sizes, child, (*parents[child], parent))
            - bic(rows, sizes, child, parents[child])
            for parent, child in arcs
        ]
        if not gains or max(gains) <= 1e-9:
            return parents
        parent, child = arcs[next(t for t, g in enumerate(gains) if g >= max(gains) - 1e-9)]
        parents[child] = tuple(sorted((*parents[child], parent)))


def neighbours(parents, max_parents):
    """All networks that are one addition, deletion or reversal away."""
    d = len(parents)
    for parent, child in itertools.permutations(range(d), 2):
        changed = [list(above) for above in parents]
        if parent in parents[child]:
            changed[child].remove(parent)
            yield [tuple(above) for above in changed]
            changed[parent].append(child)
        else:
            changed[child].append(parent)
        short = all(len(above) <= max_parents for above in changed)
        if short and acyclic(changed):
            yield [tuple(sorted(above)) for above in changed]


def acyclic(parents):
    """Take away genes without parents until none is left."""
    left = set(range(len(parents)))
    while left:
        free = {i for i in left if not left & set(parents[i])}
        if not free:
            return False
        left -= free
    return True


class PC:
    """Tests of independence of genes, and the graph that they leave (Mathematics 7.6, 10.4)."""

    def __init__(self, rows, sizes, significance):
        self.rows, self.sizes, self.significance = rows, sizes, significance

    def independent(self, i, j, given):
        """G² = 2 Σ N log(N N_s / (N_xs N_ys)) with the degrees of freedom of what occurs."""
        contexts = {}
        for row in self.rows:
            contexts.setdefault(tuple(row[g] for g in given), []).append((row[i], row[j]))
        statistic, freedom = 0.0, 0
        for pairs in contexts.values():
            left, right = [x for x, _ in pairs], [y for _, y in pairs]
            both = entropy(left) + entropy(right) - entropy(pairs)
            statistic += 2 * len(pairs) * both
            freedom += (len(set(left)) - 1) * (len(set(right)) - 1)
        return freedom == 0 or chi2.sf(max(statistic, 0.0), freedom) > self.significance

    def skeleton(self, most):
        """Pairs that nothing separates, and what separates the others; by levels."""
        d, separators = len(self.sizes), {}
        graph = {frozenset(pair) for pair in itertools.combinations(range(d), 2)}
        for size in range(most + 1):
            frozen = set(graph)
            for i, j in itertools.combinations(range(d), 2):
                sets = [
                    given
                    for end, other in ((i, j), (j, i))
                    for given in itertools.combinations(
                        [g for g in range(d) if g != other and frozenset((g, end)) in frozen], size
                    )
                ]
                apart = [given for given in sets if self.independent(i, j, given)]
                if frozenset((i, j)) in graph and apart:
                    graph.discard(frozenset((i, j)))
                    separators[i, j] = apart[0]
        return graph, separators

    def colliders(self, graph, separators):
        """All i → w ← j whose ends are apart, though not because of w."""
        return {
            (i, w, j)
            for (i, j), given in separators.items()
            for w in range(len(self.sizes))
            if {frozenset((i, w)), frozenset((w, j))} <= graph and w not in given
        }

    def colliders_of(self, parents):
        """All i → w ← j of a network whose ends are not joined."""
        return {
            (i, w, j)
            for w, above in enumerate(parents)
            for i, j in itertools.combinations(sorted(above), 2)
            if i not in parents[j] and j not in parents[i]
        }

    def consistent(self, graph, separators):
        """Whether some network has these pairs and exactly these colliders."""
        wanted, lines = self.colliders(graph, separators), [tuple(sorted(pair)) for pair in graph]
        for turns in itertools.product([False, True], repeat=len(lines)):
            parents = [() for _ in self.sizes]
            for (i, j), turned in zip(lines, turns, strict=True):
                parent, child = (j, i) if turned else (i, j)
                parents[child] = (*parents[child], parent)
            if acyclic(parents) and self.colliders_of(parents) == wanted:
                return True
        return False


# Numbers (Mathematics 10.5, 10.6)


def mean(values):
    """Sum by count."""
    return math.fsum(values) / len(values)


def covariance(left, right):
    """Maximum likelihood, so by N."""
    a, b = mean(left), mean(right)
    return mean([(x - a) * (y - b) for x, y in zip(left, right, strict=True)])


def gaussian_entropy(variance):
    """Half of 1 + log 2πσ²."""
    return (1 + math.log(2 * math.pi * variance)) / 2


def conditional_variance(x, z):
    """(σ_X²σ_Z² − σ_XZ²) / σ_Z²."""
    return (covariance(x, x) * covariance(z, z) - covariance(x, z) ** 2) / covariance(z, z)


def mimic_gaussian_chain(rows, n_genes):
    """Order of the genes by Gaussian entropies."""
    columns = [[row[i] for row in rows] for i in range(n_genes)]
    left, order = list(range(n_genes)), []
    while left:
        if order:
            z = columns[order[-1]]
            spreads = [conditional_variance(columns[j], z) for j in left]
        else:
            spreads = [covariance(columns[j], columns[j]) for j in left]
        order.append(left.pop(first_best([-gaussian_entropy(spread) for spread in spreads])))
    return order


def regression(rows, gene, parents):
    """Slopes by the normal equations, and the standard deviation of the residuals."""
    own = [row[gene] for row in rows]
    others = [[row[p] for row in rows] for p in parents]
    left = [[covariance(a, b) for b in others] for a in others]
    slopes = solve(left, [covariance(a, own) for a in others])
    explained = sum(b * covariance(a, own) for a, b in zip(others, slopes, strict=True))
    return slopes, math.sqrt(covariance(own, own) - explained)


def solve(matrix, right):
    """Gauss–Jordan with the largest pivot."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(len(rows)):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]
