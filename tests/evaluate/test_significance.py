"""Tests of significance: tables, scipy, values worked out by hand, and hostile input."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unnaive.evaluate.significance import (
    corrected_resampled_t,
    critical_value,
    friedman,
    holm,
    mann_whitney,
    nemenyi,
    rank,
    sign_test,
    wilcoxon_signed_rank,
)

PAIRED = [
    lambda a, b: corrected_resampled_t(a, b, test_share=1 / 9),
    wilcoxon_signed_rank,
    sign_test,
]
# Demšar 2006, table 6: AUC of C4.5 and with m, cf or both tuned, 14 data sets. On the last but
# one, the paper ranks 0.975 before 0.975, by digits that it does not print.
C45 = {
    "C4.5": [
        *(0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661),
        *(0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957),
    ],
    "C4.5+m": [
        *(0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668),
        *(0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978),
    ],
    "C4.5+cf": [
        *(0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609),
        *(0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946),
    ],
    "C4.5+m+cf": [
        *(0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685),
        *(0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970),
    ],
}


# The paper's own example


def test_friedman_of_the_paper():
    found = friedman(C45)
    assert list(found.ranks.values()) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    plain = 12 * 14 / 20 * (sum(r * r for r in found.ranks.values()) - 4 * 25 / 4)
    assert plain == pytest.approx(9.28, abs=5e-3)  # without the correction for ties
    corrected = stats.friedmanchisquare(*C45.values())
    assert found.statistic == pytest.approx(corrected.statistic)
    assert found.p == pytest.approx(corrected.pvalue)
    assert found.n == 14
    assert found.iman_davenport == pytest.approx(13 * found.statistic / (14 * 3 - found.statistic))
    assert found.iman_davenport_p < found.p


def test_nemenyi_of_the_paper():
    found = nemenyi(C45)
    assert found.critical == pytest.approx(1.25, abs=5e-3)
    assert nemenyi(C45, alpha=0.10).critical == pytest.approx(1.12, abs=5e-3)
    assert found.ranks == friedman(C45).ranks
    assert len(found.p) == 6
    for (a, b), p in found.p.items():
        far = abs(found.ranks[a] - found.ranks[b]) >= found.critical
        assert far == (p <= 0.05)


def test_wilcoxon_of_the_paper():
    found = wilcoxon_signed_rank(C45["C4.5"], C45["C4.5+m"])
    assert found.n == 12  # two ties
    assert found.p < 0.05


def test_critical_values_are_those_of_the_table():
    table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    assert [critical_value(k) for k in range(2, 11)] == pytest.approx(table, abs=1.1e-3)
    table = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]
    assert [critical_value(k, 0.10) for k in range(2, 11)] == pytest.approx(table, abs=1.1e-3)


# One test at a time


def test_corrected_t_by_hand():
    a, b = np.array([3.0, 5.0, 6.0, 6.0]), np.array([2.0, 3.0, 3.0, 4.0])
    found = corrected_resampled_t(a, b, test_share=0.25, names=("tan", "nb"))
    # differences 1 2 3 2: mean 2, variance 2/3; t = 2 / sqrt((1/4 + 1/4) 2/3)
    assert found.statistic == pytest.approx(2 * math.sqrt(3))
    assert found.p == pytest.approx(2 * stats.t.sf(2 * math.sqrt(3), 3))
    assert (found.n, found.compared) == (4, ("tan", "nb"))
    back = corrected_resampled_t(b, a, test_share=0.25)
    assert (back.statistic, back.p) == (-found.statistic, found.p)


def test_the_correction_tames_the_plain_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.9, 0.02, 100), rng.normal(0.89, 0.02, 100)
    tiny = corrected_resampled_t(a, b, test_share=1e-12)
    assert tiny.p == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert corrected_resampled_t(a, b, test_share=1 / 9).p > 10 * tiny.p


def test_mann_whitney_is_scipys():
    rng = np.random.default_rng(1)
    for shape in [(5, 7), (10, 10), (30, 12)]:
        a, b = rng.normal(size=shape[0]), rng.normal(0.5, size=shape[1])
        expected = stats.mannwhitneyu(a, b)
        found = mann_whitney(a, b)
        assert (found.statistic, found.p) == (expected.statistic, pytest.approx(expected.pvalue))
    assert mann_whitney([1, 2, 3], [4, 5, 6]).p == pytest.approx(0.1)  # 2 of 20 arrangements


def test_wilcoxon_is_scipys_where_it_is_exact():
    rng = np.random.default_rng(2)
    for n in (3, 10, 25, 50, 51, 80):
        a, b = rng.normal(size=n), rng.normal(0.4, size=n)
        expected = stats.wilcoxon(a, b)
        found = wilcoxon_signed_rank(a, b)
        assert (found.statistic, found.p) == (expected.statistic, pytest.approx(expected.pvalue))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_wilcoxon_with_ties_counts_all_signs(differences):
    found = wilcoxon_signed_rank(differences, [0] * len(differences))
    kept = [d for d in differences if d]
    ranks = stats.rankdata(np.abs(kept))
    sums = [sum(r for r, sign in zip(ranks, signs, strict=True) if sign) for signs in
            product([0, 1], repeat=len(kept))]  # fmt: skip
    as_far = [min(s, sum(ranks) - s) <= found.statistic for s in sums]
    assert found.p == pytest.approx(np.mean(as_far))


def test_sign_test_by_hand():
    found = sign_test([1, 1, 1, 1, 1, 1, 1, 1, 0, 5], [0, 0, 0, 0, 0, 0, 0, 0, 1, 5])
    assert (found.statistic, found.n) == (8, 9)
    assert found.p == pytest.approx(2 * (1 + 9) / 2**9)


def test_holm_by_hand():
    assert holm([0.01, 0.02, 0.03, 0.5]).tolist() == pytest.approx([0.04, 0.06, 0.06, 0.5])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


def test_ranks():
    assert rank([[3, 1, 2], [1, 1, 2]]).tolist() == [[1, 3, 2], [2.5, 2.5, 1]]
    assert rank([3, 1, 2], lower_is_better=True).tolist() == [3, 1, 2]
    assert rank([0.1 + 0.2, 0.3]).tolist() == [1.5, 1.5]
    assert rank([1, math.nan, 2])[[0, 2]].tolist() == [2, 1]
    assert math.isnan(rank([1, math.nan, 2])[1])


# Hostile input


@pytest.mark.parametrize("test", [*PAIRED, mann_whitney])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([], []),
        ([0.9], [0.8]),
        ([0.9, 0.9, 0.9], [0.9, 0.9, 0.9]),
        ([0.1 + 0.2, 0.7, 0.7], [0.3, 0.7, 0.7]),
        ([math.nan, 0.8], [0.9, math.nan]),
        ([math.inf, math.nan], [math.inf, 0.9]),
    ],
)
def test_nothing_can_be_said(test, a, b):
    found = test(a, b)
    assert found.p == 1
    assert math.isfinite(found.statistic)


@pytest.mark.parametrize("test", PAIRED)
def test_gaps_are_left_out(test):
    a, b = [0.9, 0.8, 0.7, 0.9, 0.95], [0.8, 0.75, 0.72, 0.85, 0.8]
    found = test([*a, math.nan, 1], [*b, 1, math.nan])
    assert found == test(a, b)
    assert found.n == 5


def test_always_the_same_difference():
    found = corrected_resampled_t([0.9, 0.8, 0.7], [0.8, 0.7, 0.6], test_share=0.5)
    assert (found.statistic, found.p) == (math.inf, 0)


@pytest.mark.parametrize(
    "scores",
    [
        {"a": [0.9], "b": [0.8], "c": [0.7]},
        {"a": [0.9, 0.8], "b": [0.9, 0.8]},
        {"a": [], "b": []},
        {"a": [0.9, math.nan], "b": [math.nan, 0.8]},
    ],
)
def test_friedman_of_too_little(scores):
    found = friedman(scores)
    assert (found.p, found.iman_davenport_p, found.statistic) == (1, 1, 0)
    assert sum(found.ranks.values()) == pytest.approx(sum(range(1, len(scores) + 1)))
    assert all(0 <= p <= 1 for p in nemenyi(scores).p.values())


def test_friedman_where_all_agree():
    found = friedman({"a": [3, 6, 9], "b": [2, 5, 8], "c": [1, 4, 7]})
    assert found.statistic == pytest.approx(6)
    assert (found.iman_davenport, found.iman_davenport_p) == (math.inf, 0)
    turned = friedman({"a": [3, 6], "b": [2, 5]}, lower_is_better=True)
    assert turned.ranks == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_test([1, 2], [1]), r"shapes \(2,\) and \(1,\)"),
        (lambda: mann_whitney([[1]], [1]), r"shape \(1, 1\); give one list"),
        (lambda: corrected_resampled_t([1], [1], test_share=0), "test_share=0: it must be above 0"),
        (lambda: friedman({"a": [1, 2]}), "at least two models"),
        (lambda: friedman({"a": [1, 2], "b": [1]}), "one score per data set"),
        (lambda: critical_value(1), "k=1, alpha=0.05"),
        (lambda: nemenyi(C45, alpha=5), "alpha between 0 and 1"),
    ],
)
def test_errors_say_what_to_give(call, message):
    with pytest.raises(ValueError, match=message):
        call()
