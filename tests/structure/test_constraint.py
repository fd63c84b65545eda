"""PC-stable is exact with an oracle, in any order; its tests agree with scipy."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from unnaive.structure import constraint
from unnaive.structure.constraint import pc_stable
from unnaive.structure.dag import DAG, PDAG
from unnaive.structure.independence import chi_square_test, fisher_z_test


def named(n_nodes):
    return tuple(f"x{i}" for i in range(n_nodes))


def random_dag(random, n_nodes, density=None):
    """Draw a DAG with a random order, and a given or random density of edges."""
    density = random.uniform(0.15, 0.8) if density is None else density
    order = random.permutation(n_nodes).tolist()
    edges = [(i, j) for i, j in combinations(order, 2) if random.random() < density]
    return DAG.of_edges(named(n_nodes), edges)


def arrows(dag):
    return {(parent, child) for child, above in enumerate(dag.parents) for parent in above}


def skeleton(graph):
    return {(min(pair), max(pair)) for pair in graph.directed | graph.undirected}


def members(graph):
    """List all DAGs of a class by trying every direction of every edge."""
    loose = sorted(graph.undirected)
    for turned in product([False, True], repeat=len(loose)):
        chosen = {pair[::-1] if turn else pair for pair, turn in zip(loose, turned, strict=True)}
        if nx.is_directed_acyclic_graph(nx.DiGraph(graph.directed | chosen)):
            dag = DAG.of_edges(graph.names, graph.directed | chosen)
            if dag.cpdag() == graph:
                yield dag


def relabelled(graph, places):
    """Move node i of a graph to places[i]."""
    return PDAG(
        graph.names,
        frozenset((places[i], places[j]) for i, j in graph.directed),
        frozenset(
            (min(places[i], places[j]), max(places[i], places[j])) for i, j in graph.undirected
        ),
    )


@pytest.mark.long
def test_an_oracle_gives_the_class_itself():
    random = np.random.default_rng(0)
    for _ in range(200):
        truth = random_dag(random, int(random.integers(5, 9)))
        found = pc_stable(truth.names, truth.d_separated)
        assert found.graph == truth.cpdag()
        assert found.complete
        joined = skeleton(truth.cpdag())
        assert set(found.separators) == set(combinations(range(len(truth.names)), 2)) - joined
        for (i, j), given in found.separators.items():
            assert truth.d_separated(i, j, given)


def test_the_order_of_variables_does_not_matter_to_an_oracle():
    random = np.random.default_rng(1)
    for _ in range(40):
        truth = random_dag(random, 7)
        places = random.permutation(7).tolist()
        back = np.argsort(places).tolist()

        def shuffled(i, j, given, truth=truth, back=back):
            return truth.d_separated(back[i], back[j], [back[other] for other in given])

        graph = pc_stable(truth.names, truth.d_separated).graph
        assert pc_stable(truth.names, shuffled).graph == relabelled(graph, places)


def test_the_order_does_not_matter_to_the_skeleton_of_erring_tests():
    """Give random answers that are the same for a pair and a set under any names."""
    random = np.random.default_rng(2)
    for _ in range(100):
        answers = {}

        def guess(i, j, given, answers=answers):
            key = frozenset((i, j)), frozenset(given)
            return answers.setdefault(key, bool(random.random() < 0.2))

        places = random.permutation(6).tolist()
        back = np.argsort(places).tolist()
        first = pc_stable(named(6), guess).graph

        def shuffled(i, j, given, guess=guess, back=back):
            return guess(back[i], back[j], [back[other] for other in given])

        second = pc_stable(named(6), shuffled).graph
        assert skeleton(second) == skeleton(relabelled(first, places))


def test_no_test_is_done_twice_and_levels_end():
    asked = []
    truth = DAG.of_edges(named(5), [(0, 1), (1, 2), (2, 3), (3, 4)])

    def ask(i, j, given):
        asked.append((i, j, given))
        return truth.d_separated(i, j, given)

    found = pc_stable(truth.names, ask)
    assert len(asked) == len(set(asked)) == found.tests_done
    assert max(len(given) for _, _, given in asked) == 1  # then nobody has more than two edges
    assert all(i < j and list(given) == sorted(given) for i, j, given in asked)
    flat = pc_stable(truth.names, ask, max_given=0)
    assert skeleton(flat.graph) == set(combinations(range(5), 2))
    assert flat.tests_done == 10


@pytest.mark.long
def test_knowledge_directs_what_all_that_agree_with_it_direct():
    """Meek's four rules are complete: compare with all DAGs that obey the background knowledge."""
    random = np.random.default_rng(3)
    changed = 0
    for _ in range(150):
        truth = random_dag(random, 5)
        edges = sorted(arrows(truth))
        random.shuffle(edges)
        required = [tuple(edge) for edge in edges[: random.integers(3)]]
        forbidden = [tuple(edge[::-1]) for edge in edges[2 : 2 + random.integers(3)]]
        obeying = [
            arrows(dag)
            for dag in members(truth.cpdag())
            if arrows(dag).issuperset(required) and arrows(dag).isdisjoint(forbidden)
        ]
        found = pc_stable(truth.names, truth.d_separated, required=required, forbidden=forbidden)
        assert found.graph.directed == set.intersection(*obeying)
        assert skeleton(found.graph) == skeleton(truth.cpdag())
        changed += found.graph != truth.cpdag()
    assert changed > 30


def test_knowledge_wins_over_tests():
    names = ("a", "b", "c")
    kept = pc_stable(names, lambda *_: True, required=[("a", "b"), (1, "c")])
    assert (kept.graph.directed, kept.separators) == ({(0, 1), (1, 2)}, {(0, 2): ()})
    dropped = pc_stable(names, lambda *_: False, forbidden=[(0, 1), (1, 0), (2, 1)])
    assert (skeleton(dropped.graph), dropped.separators) == ({(0, 2), (1, 2)}, {})
    assert (1, 2) in dropped.graph.directed


def test_pairs_forbidden_both_ways_are_still_separated():
    random = np.random.default_rng(4)
    for _ in range(40):
        truth = random_dag(random, 6)
        apart = sorted(set(combinations(range(6), 2)) - skeleton(truth.cpdag()))
        forbidden = [arc for pair in apart[::2] for arc in (pair, pair[::-1])]
        found = pc_stable(truth.names, truth.d_separated, forbidden=forbidden)
        assert found.graph == truth.cpdag()
        assert set(found.separators) == set(apart)


def told(separators):
    """Make tests that find only these pairs independent, given only these sets."""
    return lambda i, j, given: separators.get((i, j)) == given


def test_of_colliders_that_contradict_each_other_the_first_wins():
    found = pc_stable(named(4), told({(0, 2): (), (1, 3): (), (0, 3): ()}))
    assert found.graph.directed == {(0, 1), (2, 1)}
    assert found.graph.undirected == {(2, 3)}


def test_colliders_close_no_cycle():
    """0 → 1 ← 3, 1 → 2 ← 4 and 2 → 0 ← 5 contradict each other."""
    apart = {(0, 3): (), (1, 4): (), (2, 5): (), (1, 5): (0,), (2, 3): (1,), (0, 4): (2,)}
    apart |= {(3, 4): (), (3, 5): (), (4, 5): ()}
    found = pc_stable(named(6), told(apart)).graph
    assert {(0, 1), (3, 1), (1, 2), (4, 2)} <= found.directed
    assert (2, 0) not in found.directed
    assert nx.is_directed_acyclic_graph(nx.DiGraph(found.directed))


def test_time_ends_the_tests(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(constraint, "monotonic", lambda: next(clock))
    truth = DAG.of_edges(named(5), [(0, 1), (1, 2), (2, 3), (3, 4)])
    found = pc_stable(truth.names, truth.d_separated, limit=8)
    assert (found.complete, found.tests_done) == (False, 7)
    assert skeleton(found.graph) == set(combinations(range(5), 2))
    later = pc_stable(truth.names, truth.d_separated, limit=25)
    assert not later.complete
    assert skeleton(truth.cpdag()) < skeleton(later.graph) < skeleton(found.graph)
    assert pc_stable(truth.names, truth.d_separated, limit=900).complete
    none = pc_stable(truth.names, truth.d_separated, limit=0)
    assert (none.tests_done, len(skeleton(none.graph))) == (0, 10)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"required": [(0, 1)], "forbidden": [("a", "b")]}, "both required and forbidden"),
        ({"required": [(0, 1), (1, 2), (2, 0)]}, "cycle: a -> b -> c -> a"),
        ({"required": [(0, 0)]}, r"edge \(0, 0\) does not join two of the 3 variables"),
        ({"forbidden": [(0, 3)]}, r"edge \(0, 3\) does not join"),
        ({"required": [("a", "z")]}, r"edge \('a', 'z'\) does not join"),
        ({"max_given": -1}, "max_given=-1; it must be at least 0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        pc_stable(["a", "b", "c"], lambda *_: False, **settings)


@pytest.mark.parametrize("n_nodes", [0, 1, 2])
def test_few_variables(n_nodes):
    for answer in (True, False):
        found = pc_stable(named(n_nodes), lambda *_, answer=answer: answer)
        assert len(found.graph.undirected) == (n_nodes == 2 and not answer)
        assert found.tests_done == (n_nodes == 2)


def slow_g_square(rows, i, j, given, weights=None):
    """Compute G² in plain Python from its definition."""
    both, left, right, total = Counter(), Counter(), Counter(), Counter()
    for place, row in enumerate(rows):
        weight = 1 if weights is None else weights[place]
        s = tuple(row[other] for other in given)
        if None in (row[i], row[j], *s):
            continue
        both[row[i], row[j], s] += weight
        left[row[i], s] += weight
        right[row[j], s] += weight
        total[s] += weight
    return 2 * sum(
        count * math.log(count * total[s] / (left[x, s] * right[y, s]))
        for (x, y, s), count in both.items()
        if count
    )


def test_g_square_equals_scipy():
    random = np.random.default_rng(5)
    for _ in range(50):
        sizes = random.integers(2, 5, 2)
        codes = np.stack([random.integers(0, size, 400) for size in sizes])
        codes[1] = np.where(random.random(400) < 0.1, codes[0] % sizes[1], codes[1])
        table = stats.contingency.crosstab(codes[0], codes[1]).count
        expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
        got = chi_square_test(codes, sizes).outcome(0, 1)
        assert got.statistic == pytest.approx(expected.statistic, rel=1e-10)
        assert got.freedom == expected.dof
        assert got.p_value == pytest.approx(expected.pvalue, rel=1e-8)


@pytest.mark.parametrize("n_given", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_g_square_equals_the_twin(n_given, kind):
    random = np.random.default_rng(n_given)
    for gaps in (0, 0.2):
        sizes = random.integers(2, 4, 2 + n_given)
        codes = np.stack([random.integers(0, size, 1500) for size in sizes])
        codes = np.where(random.random(codes.shape) < gaps, sizes[:, None], codes).astype(kind)
        rows = [
            [None if code == size else int(code) for code, size in zip(row, sizes, strict=True)]
            for row in codes.T
        ]
        given = tuple(range(2, 2 + n_given))
        freedom = math.prod((sizes[:2] - 1).tolist()) * math.prod(sizes[2:].tolist())
        for weights in (None, random.integers(0, 4, 1500)):
            independent = chi_square_test(codes, sizes, weights=weights, min_rows_per_cell=1)
            got = independent.outcome(0, 1, given)
            expected = slow_g_square(rows, 0, 1, given, weights)
            assert got.statistic == pytest.approx(expected, rel=1e-9)
            assert got.freedom == freedom
            assert got.p_value == pytest.approx(stats.chi2.sf(expected, freedom), rel=1e-8)


def test_g_square_by_hand():
    """Two tables of a third column: 2·(8 log 1.6 + 2 log 0.4)·2 and 0; then by a fourth."""
    table = {(0, 0): 8, (0, 1): 2, (1, 0): 2, (1, 1): 8}
    rows = [(x, y, 0, 0) for (x, y), count in table.items() for _ in range(count)]
    rows += [(x, y, 1, 1) for x in (0, 1) for y in (0, 1) for _ in range(5)]
    independent = chi_square_test(np.array(rows).T, [2, 2, 2, 2], min_rows_per_cell=0)
    expected = 4 * (8 * math.log(1.6) + 2 * math.log(0.4))
    assert independent.outcome(1, 0, (2,))[:2] == pytest.approx((expected, 2))
    assert independent.outcome(0, 1, (3, 2))[:2] == pytest.approx((expected, 4))
    adjusted = chi_square_test(
        np.array(rows).T, [2, 2, 2, 2], min_rows_per_cell=0, adjust_zeros=True
    )
    assert adjusted.outcome(0, 1, (2, 3))[:2] == pytest.approx((expected, 2))
    assert len(independent.outcomes) == 2
    assert not independent(0, 1, (2,))  # 7.71 is beyond 5.99
    assert independent(1, 0, (2, 3))  # but not beyond 9.49


def test_zeros_are_adjusted_where_asked():
    codes = np.array([[0, 0, 1, 1] * 50, [0, 1, 0, 1] * 50, [0, 0, 0, 0] * 50])
    plain = chi_square_test(codes, [3, 4, 1])
    assert plain.outcome(0, 1).freedom == 6
    adjusted = chi_square_test(codes, [3, 4, 1], adjust_zeros=True)
    assert adjusted.outcome(0, 1) == (0.0, 1.0, 1.0)
    wide = chi_square_test(np.zeros((2, 60), dtype=int), [2, 2], adjust_zeros=True)
    assert wide.outcome(0, 1) == (0.0, 0.0, 1.0)


def test_too_few_rows_are_no_evidence_of_independence():
    random = np.random.default_rng(6)
    codes = random.integers(0, 2, (3, 39))
    independent = chi_square_test(codes, [2, 2, 2], alpha=1e-6)
    assert independent(0, 1)
    assert not independent(0, 1, (2,))  # 39 < 5 · 8
    assert math.isnan(independent.outcome(0, 1, (2,)).p_value)
    assert chi_square_test(codes, [2, 2, 2], 1e-6, min_rows_per_cell=4)(0, 1, (2,))
    assert chi_square_test(codes, [2, 2, 2], 1e-6, weights=np.full(39, 1.03))(0, 1, (2,))
    gaps = codes.copy()
    gaps[2, :20] = 2
    assert not chi_square_test(gaps, [2, 2, 2], 1e-6, min_rows_per_cell=4)(0, 1, (2,))
    many = np.zeros((70, 100), dtype=np.uint8)
    assert not chi_square_test(many, [2] * 70)(0, 1, tuple(range(2, 70)))
    assert not chi_square_test(many, [2] * 70, min_rows_per_cell=0)(0, 1, tuple(range(2, 70)))


def test_many_contexts_are_those_that_occur():
    random = np.random.default_rng(7)
    codes = random.integers(0, 2, (16, 300))
    given = tuple(range(2, 16))
    got = chi_square_test(codes, [2] * 16, min_rows_per_cell=0).outcome(0, 1, given)
    rows = codes.T.tolist()
    assert got.statistic == pytest.approx(slow_g_square(rows, 0, 1, given), abs=1e-9)
    assert got.freedom == 2**14


def test_columns_without_values_or_with_one_are_independent():
    codes = np.array([[0] * 100, [0, 1] * 50, [0] * 100, [0, 1] * 50])
    independent = chi_square_test(codes, [1, 2, 0, 2])  # the third is never observed
    assert independent(0, 1)
    assert independent(1, 2)
    assert not independent(1, 3)
    assert not independent(1, 3, (2,))
    assert not independent(1, 3, (0,))


def test_as_many_errors_as_alpha_allows():
    random = np.random.default_rng(8)
    wrong = 0
    for _ in range(1000):
        codes = random.integers(0, 2, (3, 400))
        wrong += not chi_square_test(codes, [2, 2, 2], alpha=0.1)(0, 1, (2,))
    assert 70 < wrong < 130


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1]], [2], 0.0), r"alpha=0.0; it must lie between 0 and 1"),
        (([[0, 1]], [2, 2]), r"codes of shape \(1, 2\) with sizes of shape \(2,\)"),
        (([0, 1], [2]), r"codes of shape \(2,\)"),
        (([[0, -1]], [2]), "a missing cell is coded as its variable's size"),
        (([[0, 1]], [2], 0.05, [1.0]), r"2 rows with weights of shape \(1,\)"),
    ],
)
def test_bad_rows(arguments, message):
    with pytest.raises(ValueError, match=message):
        chi_square_test(*arguments)


def recursive_partial(correlation, i, j, given):
    """Compute the partial correlation by Yule's recursion."""
    if not given:
        return correlation[i, j]
    *rest, k = given
    ij, ik, jk = (recursive_partial(correlation, *pair, rest) for pair in ((i, j), (i, k), (j, k)))
    return (ij - ik * jk) / math.sqrt((1 - ik**2) * (1 - jk**2))


def test_fisher_z_equals_the_formula():
    random = np.random.default_rng(9)
    rows = random.normal(size=(80, 6)) @ random.normal(size=(6, 6))
    covariance = np.cov(rows, rowvar=False)
    independent = fisher_z_test(covariance, 80, alpha=0.3)
    for n_given in range(5):
        given = tuple(range(2, 2 + n_given))
        partial = recursive_partial(np.corrcoef(rows, rowvar=False), 0, 1, given)
        z = math.sqrt(80 - n_given - 3) * math.atanh(partial)
        got = independent.outcome(1, 0, given)
        assert got.statistic == pytest.approx(z, rel=1e-8)
        assert got.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-7)
        assert independent(0, 1, given) == (got.p_value > 0.3)
        scaled = fisher_z_test(covariance * np.outer(np.arange(1, 7), np.arange(1, 7)), 80)
        assert scaled.outcome(0, 1, given).statistic == pytest.approx(z, rel=1e-8)


def test_fisher_z_of_what_is_determined():
    random = np.random.default_rng(10)
    x, y = random.normal(size=(2, 200))
    rows = np.stack([x, y, x + y, x, np.ones(200)])
    independent = fisher_z_test(np.cov(rows), 200)
    assert not independent(0, 3)
    assert independent(0, 1, (3,))  # nothing is left of 0
    assert independent(0, 4)
    assert not independent(0, 1, (2, 4))  # the sum gives one away if the other is known
    assert independent.outcome(0, 1, (2,)).p_value == 0
    assert independent(0, 3, (1, 2))
    few = fisher_z_test(np.cov(rows), 4)
    assert not few(0, 1, (4,))
    assert math.isnan(few.outcome(0, 1, (4,)).p_value)


@pytest.mark.parametrize("covariance", [[[1.0, 0.0]], [1.0], [[math.nan]]])
def test_bad_covariances(covariance):
    with pytest.raises(ValueError, match=r"it must be \(d, d\) and finite"):
        fisher_z_test(covariance, 10)


def sampled(dag, sizes, n_rows, random, concentration=0.5):
    """Draw codes (d, n) from random tables of a DAG; a small concentration gives strong edges."""
    codes = np.zeros((len(sizes), n_rows), dtype=np.int64)
    for node in dag.order:
        above = list(dag.parents[node])
        context = np.zeros(n_rows, dtype=np.int64)
        for parent in above:
            context = context * sizes[parent] + codes[parent]
        q = math.prod(sizes[parent] for parent in above)
        table = random.dirichlet(np.full(sizes[node], concentration), q).cumsum(axis=1)
        codes[node] = (random.random(n_rows)[:, None] > table[context, :-1]).sum(axis=1)
    return codes


@pytest.mark.long
def test_data_give_the_class_most_of_the_time():
    random = np.random.default_rng(11)
    hits = {"chi": 0, "fisher": 0}
    for _ in range(30):
        truth = random_dag(random, 6, density=0.35)
        codes = sampled(truth, [2, 3] * 3, 20_000, random)
        chi = chi_square_test(codes, [2, 3] * 3, alpha=0.01)
        hits["chi"] += pc_stable(truth.names, chi).graph == truth.cpdag()
        rows = np.zeros((6, 20_000))
        for node in truth.order:
            rows[node] = random.normal(size=20_000)
            for parent in truth.parents[node]:
                rows[node] += random.choice([-1, 1]) * random.uniform(0.5, 1.5) * rows[parent]
        fisher = fisher_z_test(np.cov(rows), 20_000, alpha=0.01)
        hits["fisher"] += pc_stable(truth.names, fisher).graph == truth.cpdag()
    assert hits["chi"] >= 15  # of many more 67 %, and 82 % below; weak edges cost the rest
    assert hits["fisher"] >= 20
