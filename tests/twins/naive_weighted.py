"""Twins of hierarchical smoothing, weighted Bayes, calibration, blends (Mathematics 15.7, 15.10).

Conventions are those of `naive`. Levels are dictionaries, {context: {value: weight}}: all rows,
then the class, then the class and one parent more at a time.
"""

import itertools
import math
from itertools import product

import naive
import naive_models

GRID = [2.0**power for power in range(-1, 15)]
PRIOR = ("m-estimate", 1.0)


def add(level, context, value, weight):
    """Count one row."""
    line = level.setdefault(context, {})
    line[value] = line.get(value, 0.0) + weight


def levels_of(data, value_of, parents, whole, nested=True):
    """Count value_of(row) level by level.

    Below the class, rows have all columns of `whole`; with nested=False, those of their level.
    """
    levels = [{} for _ in range(2 + len(parents))]
    for row, c, weight in zip(*data, strict=True):
        value = value_of(row)
        if value is None:
            continue
        add(levels[0], (), value, weight)
        add(levels[1], (c,), value, weight)
        for m in range(1, len(parents) + 1):
            needed = whole if nested else parents[:m]
            if all(row[j] is not None for j in needed):
                add(levels[1 + m], (c, *(row[j] for j in parents[:m])), value, weight)
    return levels


def chance(levels, v, alphas, context, value, off=0.0):
    """P(value | context), with `off` less in every count that the value is part of."""
    p = 1 / v
    for depth, alpha in enumerate([1.0, *alphas]):
        line = levels[depth].get(context[:depth], {})
        n, size = line.get(value, 0.0) - off, math.fsum(line.values()) - off
        p = (max(n, 0.0) + alpha * p) / (max(size, 0.0) + alpha)
    return p


def gain(levels, v, alphas):
    """Log-likelihood of the rows of the deepest level that has an α, by leave-one-out."""
    return math.fsum(
        weight * math.log(chance(levels, v, alphas, context, value, off=1.0))
        for context, line in levels[len(alphas)].items()
        for value, weight in line.items()
        if weight > 0
    )


def concentrations(levels, v, s=None):
    """The best α of every level below all rows, one level after the other, or s."""
    chosen = []
    for _ in levels[1:]:
        gains = [gain(levels, v, [*chosen, alpha]) for alpha in GRID]
        chosen.append(GRID[naive.first_best(gains)] if s is None else s)
    return chosen


class Hierarchy:
    """Factors under hierarchical smoothing, learned from rows."""

    def __init__(self, rows, classes, k, values, weights=None, s=None):
        self.rows, self.classes, self.k, self.values = rows, classes, k, values
        self.weights = [1.0] * len(rows) if weights is None else weights
        self.data, self.s, self.made = (rows, classes, self.weights), s, {}

    def family(self, i, parents, whole=None, nested=True):
        """Levels and α of a column below parents."""
        key = (i, tuple(parents), None if whole is None else tuple(whole), nested)
        if key not in self.made:
            whole = parents if whole is None else whole
            levels = levels_of(self.data, lambda row: row[i], parents, whole, nested)
            self.made[key] = levels, concentrations(levels, self.values[i], self.s)
        return self.made[key]

    def factor(self, i, parents, row, c, whole=None, nested=True):
        """P(x_i | c, x_parents)."""
        levels, alphas = self.family(i, parents, whole, nested)
        context = (c, *(row[j] for j in parents))
        return chance(levels, self.values[i], alphas, context, row[i])

    def shared(self, i):
        """α of a column below the class, and the one below any other column as well."""
        if ("shared", i) not in self.made:
            others = [j for j in range(len(self.values)) if j != i]
            first = self.family(i, [])[1][0]
            trees = [levels_of(self.data, lambda row: row[i], [j], [j]) for j in others]
            gains = [
                math.fsum(gain(t, self.values[i], [first, alpha]) for t in trees) for alpha in GRID
            ]
            second = GRID[naive.first_best(gains)] if self.s is None else self.s
            self.made["shared", i] = [first, second]
        return self.made["shared", i]

    def of_any(self, i, j, row, c):
        """P(x_i | c, x_j), with one α for all j."""
        levels = self.family(i, [j])[0]
        return chance(levels, self.values[i], self.shared(i), (c, row[j]), row[i])

    def prior(self, columns=()):
        """Log P(c) of the rows that have some columns: one pseudo-count, spread evenly."""
        kept = [t for t, row in enumerate(self.rows) if all(row[j] is not None for j in columns)]
        classes, weights = [self.classes[t] for t in kept], [self.weights[t] for t in kept]
        return naive_models.log_prior(classes, self.k, PRIOR, weights)


# Models


def families(twin, parents, row, missing="marginalize"):
    """Log P(c) Π P(x_i | parents, c): cells summed over by brute force, or dropped.

    `parents` is {column: its parents}.
    """
    joints = []
    for full in [row] if missing == "drop" else naive.completions(twin.values, row):
        joint = twin.prior()
        for i, above in parents.items():
            kept = [j for j in above if full[j] is not None]
            for c in range(twin.k):
                if full[i] is not None:
                    joint[c] += math.log(twin.factor(i, kept, full, c, above))
        joints.append(joint)
    return [naive.log_sum([joint[c] for joint in joints]) for c in range(twin.k)]


def tree(twin, parents, row, missing="marginalize"):
    """Log joint of a tree, of parents or -1."""
    given = {i: [] if j < 0 else [j] for i, j in enumerate(parents)}
    return families(twin, given, row, missing)


def spode(twin, p, row):
    """Log P(c) P(x_p | c) Π P(x_i | x_p, c), by rows that have x_p in P(c)."""
    joint = twin.prior([p])
    for c in range(twin.k):
        joint[c] += math.log(twin.factor(p, [], row, c))
        for i, x in enumerate(row):
            if i != p and x is not None:
                joint[c] += math.log(twin.of_any(i, p, row, c))
    return joint


def aode(twin, row, min_count=1):
    """Log mean of the super-parents' joints; naive Bayes if there are none."""
    counts = [naive.value_counts(twin.rows, twin.values, p, twin.weights) for p in range(len(row))]
    chosen = [p for p, x in enumerate(row) if x is not None and counts[p][x] >= min_count]
    if not chosen:
        return families(twin, {i: [] for i in range(len(row))}, row, "drop")
    members = [spode(twin, p, row) for p in chosen]
    return naive_models.mean_joint(members, [1] * len(members), twin.k)


def two_parents(twin, p, q, row):
    """Log P(c, x_p, x_q) Π P(x_i | c, x_p, x_q), x_p and x_q as one variable below the class."""
    joint = twin.prior([p, q])
    both = [None if None in (row[p], row[q]) else (row[p], row[q]) for row in twin.rows]
    v = twin.values[p] * twin.values[q]
    levels = levels_of((both, *twin.data[1:]), lambda cell: cell, [], [])
    alphas = concentrations(levels, v, twin.s)
    for c in range(twin.k):
        joint[c] += math.log(chance(levels, v, alphas, (c,), (row[p], row[q])))
        for i, x in enumerate(row):
            if i not in (p, q) and x is not None:
                joint[c] += math.log(twin.factor(i, [p, q], row, c, nested=False))
    return joint


def a2de(twin, row):
    """Log mean over the pairs of values that occur together; AODE if there are none."""
    pairs = itertools.combinations([i for i, x in enumerate(row) if x is not None], 2)
    chosen = [(p, q) for p, q in pairs if any((r[p], r[q]) == (row[p], row[q]) for r in twin.rows)]
    if not chosen:
        return aode(twin, row)
    members = [two_parents(twin, p, q, row) for p, q in chosen]
    return naive_models.mean_joint(members, [1] * len(members), twin.k)


def hidden(twin, row, cmi):
    """Log P(c) Π_i Σ_j W_ij P(x_i | x_j, c), W_ij the share of j in the information about i."""
    joint = twin.prior()
    for c, (i, x) in itertools.product(range(twin.k), enumerate(row)):
        if x is None:
            continue
        used = [j for j in range(len(row)) if j != i and row[j] is not None]
        total = math.fsum(cmi[i][j] for j in used)
        if naive_models.positive(total):
            p = math.fsum(cmi[i][j] * twin.of_any(i, j, row, c) for j in used) / total
        else:
            p = twin.factor(i, [], row, c)
        joint[c] += math.log(p)
    return joint


def groups(twin, parts, row):
    """Log P(c) Π P(x_G | c), of rows that have all of a group; missing cells are summed out."""
    joint = twin.prior()
    for group in parts:
        shown = [j for j in group if row[j] is not None]
        whole = [
            None if any(other[j] is None for j in group) else tuple(other[j] for j in shown)
            for other in twin.rows
        ]
        v = math.prod(twin.values[j] for j in shown)
        levels = levels_of((whole, *twin.data[1:]), lambda cell: cell, [], [])
        alphas = concentrations(levels, v, twin.s)
        for c in range(twin.k):
            cell = tuple(row[j] for j in shown)
            joint[c] += math.log(chance(levels, v, alphas, (c,), cell)) if shown else 0.0
    return joint


# Weighted Bayes


def term(twin, i, j, row, c, a=0.0):
    """Log P(x_i | c), or with j at least 0 the change by x_j; 0 for missing cells."""
    if row[i] is None or (j >= 0 and row[j] is None):
        return 0.0
    if a:
        return reined_term(twin, i, j, row, c, a)
    alone = math.log(twin.factor(i, [], row, c))
    return alone if j < 0 else math.log(twin.factor(i, [j], row, c)) - alone


def reined_term(twin, i, j, row, c, a):
    """The same from (rows there + a) / (rows expected without the dependence + a)."""
    known = [(other, d, w) for other, d, w in zip(*twin.data, strict=True) if other[i] is not None]
    size = math.fsum(w for _, _, w in known)
    same = math.fsum(w for other, _, w in known if other[i] == row[i])
    anywhere = (same + 1 / twin.values[i]) / (size + 1)
    alone = twin.factor(i, [], row, c)
    if j < 0:
        n = math.fsum(w for _, d, w in known if d == c)
        return math.log(anywhere) + math.log((n * alone + a) / (n * anywhere + a))
    n = math.fsum(w for other, d, w in known if d == c and other[j] == row[j])
    return math.log((n * twin.factor(i, [j], row, c) + a) / (n * alone + a))


def family_term(twin, columns, row, c, a=0.0):
    """What the last of several parents adds to log P(x_i | c, parents), 0 where no row has them."""
    i, *parents = columns
    if any(row[j] is None for j in columns):
        return 0.0
    known = [(other, d, w) for other, d, w in zip(*twin.data, strict=True) if other[i] is not None]
    here = [(d, w) for other, d, w in known if all(other[j] == row[j] for j in parents)]
    if not here:
        return 0.0
    full = twin.factor(i, parents, row, c)
    simpler = twin.factor(i, parents[:-1], row, c, whole=parents)
    n = math.fsum(w for d, w in here if d == c)
    return math.log((n * full + a) / (n * simpler + a)) if a else math.log(full / simpler)


def family_gain(rows, classes, chances, columns, values):
    """Gain of a table of joint values and classes beyond chance, and its variance by chance."""
    gain = variance = 0.0
    for cell in product(*(range(values[j]) for j in columns)):
        inside = [t for t, row in enumerate(rows) if tuple(row[j] for j in columns) == cell]
        for c in range(len(chances[0]) if chances else 0):
            slope = math.fsum((classes[t] == c) - chances[t][c] for t in inside)
            bend = math.fsum(chances[t][c] * (1 - chances[t][c]) for t in inside)
            gain += (slope**2 - bend) / (bend + 1) / 2
            variance += bend * (1 + 2 * bend) / (bend + 1) ** 2 / 4
    return gain, variance


def says_yes(value, code, ordered):
    """Answer to a question about a value: whether it is above a bin, or is a certain one."""
    return value > code if ordered else value == code


def cells_of(codes, questions, ordered):
    """Answers of every row to all questions."""
    return [tuple(says_yes(row[j], v, ordered[j]) for j, v in questions) for row in codes]


def sums_of(cells, classes, chances, importance, cell, c):
    """N − E and H of a cell and a class."""
    inside = [t for t, other in enumerate(cells) if other == cell]
    slope = math.fsum(importance[t] * ((classes[t] == c) - chances[t][c]) for t in inside)
    return slope, math.fsum(importance[t] * chances[t][c] * (1 - chances[t][c]) for t in inside)


def split_gain(rows, questions, ordered):
    """What a table of the answers to questions gains: Σ (N − E)²/(H + 1)."""
    codes, classes, chances, importance = rows
    cells = cells_of(codes, questions, ordered)
    gain = 0.0
    for cell in set(cells):
        for c in range(1 if len(chances[0]) == 2 else len(chances[0])):
            slope, bend = sums_of(cells, classes, chances, importance, cell, c)
            gain += slope**2 / (bend + 1)
    return gain


def best_question(rows, questions, columns, slots, ordered, tie=1e-10):
    """Gain, column and value of the best further question; the first on ties."""
    found = []
    for j in columns:
        of_column = [split_gain(rows, [*questions, (j, v)], ordered) for v in range(slots[j])]
        v = next(v for v, gain in enumerate(of_column) if gain >= max(of_column) - tie)
        found.append((of_column[v], j, v))
    best = max(gain for gain, _, _ in found)
    return next(one for one in found if one[0] >= best - tie)


def correction_steps(rows, questions, ordered, rate=0.15):
    """What a round adds to the log joint of every row and class."""
    codes, classes, chances, importance = rows
    cells = cells_of(codes, questions, ordered)
    out = []
    for cell in cells:
        k = range(len(chances[0]))
        sums = [sums_of(cells, classes, chances, importance, cell, c) for c in k]
        out.append([rate * slope / (bend + 1) for slope, bend in sums])
    return out


def weighted(twin, terms, weights, bias, row, a=0.0):
    """Log P(c) + b_c + Σ w·term."""
    joint = [p + b for p, b in zip(twin.prior(), bias, strict=True)]
    for (i, j), w in zip(terms, weights, strict=True):
        for c in range(twin.k):
            joint[c] += w * term(twin, i, j, row, c, a)
    return joint


def without(twin, t):
    """Return the twin without a row, its α those of all rows."""
    rest = [r for r in range(len(twin.rows)) if r != t]
    rows, classes, weights = ([part[r] for r in rest] for part in twin.data)
    other = Hierarchy(rows, classes, twin.k, twin.values, weights, twin.s)
    for key, (_, alphas) in twin.made.items():
        i, parents, whole, nested = key
        needed = parents if whole is None else whole
        counted = levels_of(other.data, lambda row, i=i: row[i], parents, needed, nested)
        other.made[key] = counted, alphas
    return other


def left_out_terms(twin, terms, a=0.0):
    """Every term of rows and classes, from the other rows; as [term][row][class]."""
    for i, j in terms:
        twin.family(i, [])
        twin.family(i, [] if j < 0 else [j])
    others = [without(twin, t) for t in range(len(twin.rows))]
    return [
        [
            [term(other, i, j, row, c, a) for c in range(twin.k)]
            for other, row in zip(others, twin.rows, strict=True)
        ]
        for i, j in terms
    ]


def weighted_loss(entries, prior, classes, penalties, point, importance=None):
    """Penalized log loss of weights and biases, one list; biases have a penalty of 1."""
    m = len(penalties)
    weights, bias = point[:m], point[m:]
    loss = math.fsum(a * w * w / 2 for a, w in zip(penalties, weights, strict=True))
    loss += math.fsum(b * b / 2 for b in bias)
    for t, c in enumerate(classes):
        joint = [p + b for p, b in zip(prior, bias, strict=True)]
        for line, w in zip(entries, weights, strict=True):
            joint = [one + w * two for one, two in zip(joint, line[t], strict=True)]
        share = 1.0 if importance is None else importance[t]
        loss += share * (naive.log_sum(joint) - joint[c])
    return loss


def slopes(loss, point, step=1e-5):
    """Central differences."""
    found = []
    for place in range(len(point)):
        up, down = list(point), list(point)
        up[place] += step
        down[place] -= step
        found.append((loss(up) - loss(down)) / (2 * step))
    return found


# Calibration, blends


def calibration_loss(joints, classes, temperature, bias):
    """Log loss of τ·log P(c, x) + b_c, with a penalty of b²/2 and of τ²/2000."""
    level = [[one - max(joint) for one in joint] for joint in joints]
    point = [temperature, *bias]
    return weighted_loss([level], [0.0] * len(bias), classes, [1e-3], point)


def blend_loss(log_posteriors, shares):
    """Mean log loss of a blend, from every member's log P(y | x) as [member][row]."""
    rows = list(zip(*log_posteriors, strict=True))
    logs = [naive.log(share) for share in shares]
    losses = [-naive.log_sum([a + b for a, b in zip(logs, row, strict=True)]) for row in rows]
    return math.fsum(losses) / len(losses)
