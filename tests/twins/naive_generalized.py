"""Slow twins of generalized naive Bayes, decomposable models, cherry trees, from Mathematics.

Conventions are those of `naive`. A tree is a collection of edges (i, j), i < j; mothers are a list
with -1 at the root. The class belongs to every cluster and separator and is not written: the
cluster (y, x_1, x_4) is the tuple (1, 4), only the class is (). Cells may be missing wherever
"complete" is not said: a count then takes the rows in which all of its columns are observed.
"""

import collections
import itertools
import math

import networkx as nx

import naive
import naive_models

CLASS = -1  # the vertex of the class in a graph


def state_counts(rows, classes, columns, weights=None):
    """N(c, x_columns) as {(c, *cells): n}, from the rows where these columns are observed."""
    states = zip(classes, *([row[i] for row in rows] for i in columns), strict=True)
    counts = collections.Counter()
    for state, w in zip(states, weights or [1] * len(rows), strict=True):
        if None not in state:
            counts[state] += w
    return counts


# Weight (Mathematics 0.4, 3.2)


def entropy(counts):
    """H = -Σ p log p in nats of a list of counts, 0 log 0 = 0."""
    total = sum(counts)
    return -math.fsum(n / total * math.log(n / total) for n in counts if n > 0)


def total_correlation(rows, classes, k, values, i, j, weights=None):
    """TC(Y, X_i, X_j) = I(X_i; Y) + I(X_j; Y) + I(X_i; X_j | Y), each from its own rows."""
    data = (rows, classes, k, values)
    single = [naive.mutual_information(*data, t, weights) for t in (i, j)]
    return sum(single) + naive.conditional_mutual_information(*data, i, j, weights)


def total_correlation_by_entropies(rows, classes, k, values, i, j, weights=None):
    """TC(Y, X_i, X_j) = H(Y) + H(X_i) + H(X_j) - H(Y, X_i, X_j), all from the rows with both."""
    tables = naive.pair(rows, classes, k, values, i, j, weights)
    by_class = [sum(map(sum, table)) for table in tables]
    by_first = [sum(sum(table[x]) for table in tables) for x in range(values[i])]
    by_second = [sum(line[x] for table in tables for line in table) for x in range(values[j])]
    cells = [n for table in tables for line in table for n in line]
    single = math.fsum(entropy(counts) for counts in (by_class, by_first, by_second))
    return naive.not_negative(single - entropy(cells))


def tree_weight(rows, classes, k, values, edges, weights=None):
    """W = Σ_i I(X_i; Y) + Σ_edges I(X_i; X_j | Y)."""
    data = (rows, classes, k, values)
    gains = [naive.conditional_mutual_information(*data, i, j, weights) for i, j in edges]
    return math.fsum([*naive_models.mi_list(*data, weights), *gains])


def tree_weight_by_triplets(rows, classes, k, values, edges, weights=None):
    """W = Σ_edges TC(Y, X_i, X_j) - Σ_m (deg(m) - 1) I(X_m; Y); equals tree_weight if complete."""
    data = (rows, classes, k, values)
    clusters = [total_correlation_by_entropies(*data, i, j, weights) for i, j in edges]
    degrees = collections.Counter(itertools.chain(*edges))
    terms = enumerate(naive_models.mi_list(*data, weights))
    separators = [(degrees[m] - 1) * information for m, information in terms]
    return math.fsum(clusters) - math.fsum(separators)


# GNB-A and the tree that Prim grows (Mathematics 3.3, 3.4)


def top_pair(rows, classes, k, values, weights=None):
    """(i1, i2), i1 < i2, of largest TC(Y, X_i, X_j), at least two columns; ties lexicographic."""
    pairs = list(itertools.combinations(range(len(values)), 2))
    scores = [total_correlation(rows, classes, k, values, i, j, weights) for i, j in pairs]
    return pairs[naive.first_best(scores)]


def grow(d, pair, gain):
    """(order, mothers, gains): to a pair add w by the best gain(w, m), m inside; ties by w, m."""
    order, mothers, gains = list(pair), [-1] * d, []
    mothers[pair[1]] = pair[0]
    while len(order) < d:
        candidates = [(w, m) for w in range(d) if w not in order for m in sorted(order)]
        scores = [gain(w, m) for w, m in candidates]
        w, m = candidates[naive.first_best(scores)]
        order.append(w)
        mothers[w] = m
        gains.append(gain(w, m))
    return order, mothers, gains


def greedy_tree(rows, classes, k, values, weights=None):
    """GNB-A: (order, mothers, [TC of the top pair, g_3, …]), g(w|m) = I(X_w;Y) + I(X_w;X_m|Y)."""
    data, d = (rows, classes, k, values), len(values)
    information = naive_models.mi_list(*data, weights)
    conditional = naive_models.cmi_matrix(*data, weights)
    if d == 1:
        return [0], [-1], information
    pair = top_pair(*data, weights)
    order, mothers, gains = grow(d, pair, lambda w, m: information[w] + conditional[w][m])
    return order, mothers, [total_correlation(*data, *pair, weights), *gains]


def forced_tree(rows, classes, k, values, weights=None):
    """GNB-O's mothers by Prim from the top pair: the largest I(X_w; X_m | Y), m inside."""
    d = len(values)
    if d == 1:
        return [-1]
    conditional = naive_models.cmi_matrix(rows, classes, k, values, weights)
    pair = top_pair(rows, classes, k, values, weights)
    return grow(d, pair, lambda w, m: conditional[w][m])[1]


def edges_of(parents):
    """Return the sorted edges (i, j), i < j, between columns and mothers, or sets of parents."""
    groups = [(group,) if isinstance(group, int) else group for group in parents]
    pairs = [{i, j} for i, group in enumerate(groups) for j in group if j != -1]
    return tuple(sorted(tuple(sorted(pair)) for pair in pairs))


# GNB-O by brute force (Mathematics 3.4, 15.1)


def labelled_trees(d):
    """All d^(d-2) trees on d columns, one a Prüfer sequence, as sorted tuples of edges."""
    if d == 1:
        return [()]
    trees = []
    for sequence in itertools.product(range(d), repeat=d - 2):
        remaining, vertices, edges = list(sequence), set(range(d)), []
        while remaining:
            leaf = min(vertices - set(remaining))
            neighbour = remaining.pop(0)
            vertices.remove(leaf)
            edges.append((min(leaf, neighbour), max(leaf, neighbour)))
        trees.append(tuple(sorted([*edges, tuple(sorted(vertices))])))
    return trees


def best_tree(rows, classes, k, values, forced=None, weights=None):
    """(W, edges) of the tree of largest W that has the edge `forced`, if given; ties first."""
    data = (rows, classes, k, values)
    information = naive_models.mi_list(*data, weights)
    conditional = naive_models.cmi_matrix(*data, weights)
    trees = sorted(t for t in labelled_trees(len(values)) if forced is None or forced in t)
    scores = [math.fsum([*information, *(conditional[i][j] for i, j in t)]) for t in trees]
    best = naive.first_best(scores)
    return scores[best], trees[best]


def auxiliary_arcs(rows, classes, k, values, weights=None):
    """{(m, i): TC(Y, X_m, X_i) - I(X_m; Y)}, i not in the top pair, and the two forced arcs.

    These are CLASS → i1 of weight I(X_i1; Y) and i1 → i2, of weight 0; both weights are idle.
    """
    data, columns = (rows, classes, k, values), range(len(values))
    first, second = top_pair(*data, weights)
    information = naive_models.mi_list(*data, weights)
    arcs = {(CLASS, first): information[first], (first, second): 0.0}
    for m, i in itertools.permutations(columns, 2):
        if i not in (first, second):
            arcs[m, i] = total_correlation(*data, m, i, weights) - information[m]
    return arcs


def best_arborescence(rows, classes, k, values, weights=None):
    """(W, mothers) of the best of all arborescences, W = TC of the top pair + Σ arcs not forced."""
    data, d = (rows, classes, k, values), len(values)
    arcs = auxiliary_arcs(*data, weights)
    pair = top_pair(*data, weights)
    choices, scores = [], []
    for sources in itertools.product(*([m for m, i in sorted(arcs) if i == t] for t in range(d))):
        mothers = list(sources)
        if nx.is_arborescence(nx.DiGraph((m, i) for i, m in enumerate(mothers))):
            choices.append(mothers)
            free = [arcs[m, i] for i, m in enumerate(mothers) if i not in pair]
            scores.append(math.fsum([total_correlation(*data, *pair, weights), *free]))
    best = naive.first_best(scores)
    return scores[best], choices[best]


# Orientation, order and scores (Mathematics 3.6)


def oriented(d, edges, root):
    """Mothers of a tree oriented away from a column: i1, of which i2 is then a daughter if next."""
    found = naive.reach(d, edges, root)
    return [found[i] for i in range(d)]


def column_scores(rows, classes, k, values, mothers, weights=None):
    """Each column's I(X_i; Y) + I(X_i; X_mother | Y), without the second term at the root."""
    information = naive_models.mi_list(rows, classes, k, values, weights)
    conditional = naive_models.cmi_matrix(rows, classes, k, values, weights)
    return [information[i] + (0.0 if m == -1 else conditional[i][m]) for i, m in enumerate(mothers)]


def peeling_order(rows, classes, k, values, mothers, weights=None):
    """[i1, i2, …]: the reverse of removing the leaf of smallest score, ties the highest index.

    i1 is the root and never removed; nor is i2, unless its mother is another (Mathematics 15.1).
    """
    scores = column_scores(rows, classes, k, values, mothers, weights)
    kept = [0]
    if len(values) > 1:
        first, second = top_pair(rows, classes, k, values, weights)
        kept = [first, second] if mothers[second] == first else [first]
    remaining, removed = set(range(len(values))), []
    while len(remaining) > len(kept):
        leaves = remaining - {mothers[i] for i in remaining} - set(kept)
        downwards = sorted(leaves, reverse=True)
        leaf = downwards[naive.first_best([-scores[i] for i in downwards])]
        remaining.remove(leaf)
        removed.append(leaf)
    return [*kept, *reversed(removed)]


# Junction form (Mathematics 3.1, 3.5, 0.5)


def cluster_probability(rows, classes, k, values, policy, columns, row, c, weights=None):
    """P(c, x_columns), one variable of k·Π v values with an empty context; () is the class."""
    counts = state_counts(rows, classes, columns, weights)
    total, agreeing = sum(counts.values()), counts[c, *(row[i] for i in columns)]
    cells = k * math.prod(values[i] for i in columns)
    share = agreeing / total if total > 0 else 1 / cells
    return naive.smooth(policy, agreeing, total, cells, 1, share)


def log_ratio(clusters, separators):
    """Log of Π clusters / Π separators of probabilities; a zero anywhere gives -inf."""
    if min([*clusters, *separators]) == 0:
        return -math.inf
    return math.fsum(map(math.log, clusters)) - math.fsum(map(math.log, separators))


def tree_pieces(columns, edges):
    """(clusters, separators): the edges, and (m,) deg(m) - 1 times; (i,) for one column i."""
    if not edges:
        return [tuple(columns)], []
    degrees = collections.Counter(itertools.chain(*edges))
    return list(edges), [(m,) for m in columns for _ in range(degrees[m] - 1)]


def pieces_joint(rows, classes, k, values, policy, pieces, row, weights=None):
    """Log Π P(c, x_cluster) / Π P(c, x_separator) per class, of a complete row."""
    data = (rows, classes, k, values, policy)
    joint = []
    for c in range(k):
        clusters, separators = (
            [cluster_probability(*data, columns, row, c, weights) for columns in part]
            for part in pieces
        )
        joint.append(log_ratio(clusters, separators))
    return joint


def junction_joint(rows, classes, k, values, policy, columns, edges, row, weights=None):
    """Log Π_edges P(c, x_i, x_j) / Π_m P(c, x_m)^(deg(m)-1) of a tree on some of the columns."""
    pieces = tree_pieces(columns, edges)
    return pieces_joint(rows, classes, k, values, policy, pieces, row, weights)


def paper_posterior(rows, classes, k, values, columns, edges, row, weights=None, all_zeros=False):
    """P(c | x) as in the paper: maximum likelihood in junction form, its fallback (complete row).

    If every class has a zero, or if all_zeros: p2(c, x_i) = P(c, x_i), or P(c) P(x_i) where that
    is 0, with 1/n for P(x_i) = 0; a zero cluster is p2(c, x_i) p2(c, x_j) / P(c), every
    separator p2.
    """
    data = (rows, classes, k, values, ("ml",))
    joint = junction_joint(*data, columns, edges, row, weights)
    if max(joint) > -math.inf and not all_zeros:
        return naive.posterior(joint)

    def seen(piece, c):
        """P(c, x_piece) as counted."""
        return cluster_probability(*data, piece, row, c, weights)

    def single(i, c):
        """p2(c, x_i)."""
        counts = naive.value_counts(rows, values, i, weights)
        anywhere = naive.share(counts, row[i]) or 1 / sum(weights or [1] * len(rows))
        return seen((i,), c) or seen((), c) * anywhere

    def cluster(piece, c):
        """P(c, x_piece), or Π p2(c, x_i) / P(c)^(|piece| - 1) where that is 0."""
        alone = math.prod(single(i, c) for i in piece) / seen((), c) ** (len(piece) - 1)
        return seen(piece, c) or alone

    joint = [-math.inf] * k
    clusters, separators = tree_pieces(columns, edges)
    for c in range(k):
        if seen((), c) > 0:
            upper = [cluster(piece, c) for piece in clusters]
            joint[c] = log_ratio(upper, [single(m, c) for (m,) in separators])
    return naive.posterior(joint)


# Directed form and divergence (Mathematics 3.1, 3.2, 0.8)


def directed_joint(
    rows, classes, k, values, policy, mothers, columns, row, missing="marginalize", weights=None
):
    """Log P(c) P(x_r | c) Π P(x_i | x_mother, c) over some columns, closed under mothers.

    Missing cells of these columns are summed over all completions, or dropped; others do not count.
    """

    def kept(cells):
        """Return the cells of these columns."""
        return [cells[i] for i in columns]

    places = {i: place for place, i in enumerate(columns)}
    parents = [-1 if mothers[i] == -1 else places[mothers[i]] for i in columns]
    part = ([kept(other) for other in rows], classes, k, kept(values))
    return naive.tree_joint(*part, policy, parents, kept(row), missing, weights)


def tree_divergence(rows, classes, k, values, mothers, weights=None):
    """KL(P̂ || P_tree) = Σ P̂(c, x) log [P̂(c, x) / P_tree(c, x)] over all states, ML, complete."""
    columns = range(len(values))
    counts = state_counts(rows, classes, columns, weights)
    data = (rows, classes, k, values, ("ml",))
    terms = []
    for c, *state in itertools.product(range(k), *map(range, values)):
        p = counts[c, *state] / sum(counts.values())
        if p > 0:
            tree = directed_joint(*data, mothers, columns, state, weights=weights)
            terms.append(p * (math.log(p) - tree[c]))
    return math.fsum(terms)


def divergence_by_weight(rows, classes, k, values, edges, weights=None):
    """Σ H(X_i) + H(Y) - H(X, Y) - W, the right side of Mathematics 3.2; complete rows."""
    states = state_counts(rows, classes, range(len(values)), weights)
    single = [entropy(naive.value_counts(rows, values, i, weights)) for i in range(len(values))]
    outer = math.fsum([*single, entropy(naive.class_counts(classes, k, weights))])
    weight = tree_weight(rows, classes, k, values, edges, weights)
    return outer - entropy(list(states.values())) - weight


# Decomposable models (Mathematics 6.6)


def graph_of(d, edges):
    """Return the graph of the columns' edges, the class next to every column."""
    graph = nx.Graph(list(edges))
    graph.add_edges_from((CLASS, i) for i in range(d))
    return graph


def junction_pieces(d, edges):
    """(cliques, separators) of a chordal graph, without the class; () is only the class.

    Separators are the d' - 1 intersections along a tree of the d' cliques, of largest total size.
    """
    complete = nx.find_cliques(graph_of(d, edges))
    cliques = sorted(tuple(sorted({*clique} - {CLASS})) for clique in complete)
    common = [[len({*one} & {*other}) for other in cliques] for one in cliques]
    tree = naive.spanning_edges(common)
    return cliques, [tuple(sorted({*cliques[s]} & {*cliques[t]})) for s, t in tree]


def log_likelihood(rows, classes, d, edges, weights=None):
    """Σ_t [Σ_cliques log P̂(y, x_clique) - Σ_separators log P̂(y, x_separator)], complete rows."""
    n, parts = sum(weights or [1] * len(rows)), []
    for sign, part in zip((1, -1), junction_pieces(d, edges), strict=True):
        for columns in part:
            counts = state_counts(rows, classes, columns, weights).values()
            parts += [sign * count * math.log(count / n) for count in counts if count > 0]
    return math.fsum(parts)


def penalised_gain(rows, classes, k, values, edges, edge, penalty, before, weights=None):
    """Return the rise of the log-likelihood less (log n / 2)(v_a - 1)(v_b - 1) k Π_S v_s.

    S, the minimal separator of a and b, is their common neighbours; "aic" has 1 for log n / 2.
    `before` is the log-likelihood without the edge.
    """
    d = len(values)
    after = log_likelihood(rows, classes, d, {*edges, edge}, weights)
    shared = set(nx.common_neighbors(graph_of(d, edges), *edge)) - {CLASS}
    parameters = math.prod(values[i] - 1 for i in edge) * k * math.prod(values[s] for s in shared)
    n = sum(weights or [1] * len(rows))
    return after - before - {"bic": math.log(n) / 2, "aic": 1, None: 0}[penalty] * parameters


def allowed_edges(d, edges, max_clique):
    """Return the pairs a < b which keep the graph chordal and cliques, class included, small."""
    allowed = []
    for edge in itertools.combinations(range(d), 2):
        graph = graph_of(d, {*edges, edge})
        largest = max(len(clique) for clique in nx.find_cliques(graph))
        if edge not in edges and nx.is_chordal(graph) and largest <= max_clique:
            allowed.append(edge)
    return allowed


def decomposable_edges(rows, classes, k, values, max_clique, penalty, start=(), weights=None):
    """Return the edges, in order of adding the best penalised gain while above 0, complete rows.

    Begins with the edges `start`: none for the star, or a tree's.
    """
    data, edges = (rows, classes, k, values), [*start]
    while True:
        moves = allowed_edges(len(values), edges, max_clique)
        before = log_likelihood(rows, classes, len(values), edges, weights)
        gains = [penalised_gain(*data, edges, move, penalty, before, weights) for move in moves]
        if max(gains, default=0) <= naive.TIE_TOL:
            return edges
        edges.append(moves[naive.first_best(gains)])


def perfect_families(d, edges):
    """(order, parents) of a chordal graph: next the column of most neighbours taken, ties lowest.

    Its parents are those neighbours; the order is left open, and Laplace depends on it.
    """
    graph, order, parents = graph_of(d, edges), [], [()] * d
    while len(order) < d:
        outside = [i for i in range(d) if i not in order]
        taken = [[j for j in sorted(order) if graph.has_edge(i, j)] for i in outside]
        best = naive.first_best([len(columns) for columns in taken])
        order.append(outside[best])
        parents[outside[best]] = tuple(taken[best])
    return order, parents


def families_joint(rows, classes, k, values, policy, parents, row, weights=None):
    """Log P(c) Π P(x_i | x_parents, c) per class, missing cells summed over all completions."""
    return naive_models.kdb(rows, classes, k, values, policy, parents, row, weights=weights)


def cliques_joint(rows, classes, k, values, policy, edges, row, weights=None):
    """Log Π P(c, x_clique) / Π P(c, x_separator) per class, of a complete row."""
    pieces = junction_pieces(len(values), edges)
    return pieces_joint(rows, classes, k, values, policy, pieces, row, weights)


# Cherry trees (Mathematics 6.6, 15.10)


def group_information(rows, classes, k, values, w, group, weights=None):
    """I(X_w; (Y, X_group)) = I(X_w; Y) + I(X_w; X_group | Y), the group one variable."""
    first = naive.mutual_information(rows, classes, k, values, w, weights)
    states = list(itertools.product(*(range(values[i]) for i in group)))
    cases = []
    for row in rows:
        cells = tuple(row[i] for i in group)
        cases.append([row[w], None if None in cells else states.index(cells)])
    sizes = [values[w], len(states)]
    return first + naive.conditional_mutual_information(cases, classes, k, sizes, 0, 1, weights)


def cherry_tree(rows, classes, k, values, cluster_size, weights=None):
    """(order, parents, gains) of the greedy tree of clusters of cluster_size, the class included.

    From the top pair on, w comes with the set M of largest I(X_w; (Y, X_M)): all columns inside
    while at most cluster_size - 2, then as many of one cluster; ties smallest w, then first M.
    The first gain is the pair's TC, as in GNB-A. Size 2: no parents, by falling I(X_w; Y).
    """
    data, d, many = (rows, classes, k, values), len(values), cluster_size - 2
    order, parents, gains, clusters = [], [()] * d, [], []
    if many > 0 and d > 1:
        first, second = top_pair(*data, weights)
        order, gains = [first, second], [total_correlation(*data, first, second, weights)]
        parents[second] = (first,)
        clusters = [(first, second)] if many == 1 else []
    while len(order) < d:
        sets = {tuple(sorted(order))}
        if len(order) > many:
            sets = {m for cluster in clusters for m in itertools.combinations(cluster, many)}
        candidates = [(w, m) for w in range(d) if w not in order for m in sorted(sets)]
        scores = [group_information(*data, w, m, weights) for w, m in candidates]
        best = naive.first_best(scores)
        w, chosen = candidates[best]
        order.append(w)
        parents[w] = chosen
        gains.append(scores[best])
        if len(chosen) == many:
            clusters.append(tuple(sorted([*chosen, w])))
    return order, parents, gains


# Metrics (Mathematics 11)


def auc_hard(actual, predicted, positive=1):
    """AUC of the predicted classes as scores 0 and 1, of two classes; ties ½."""
    scores = [int(c == positive) for c in predicted]
    return naive.auc_binary(scores, [c == positive for c in actual])
