"""Credible intervals: against twins that sample, and what must hold on any data."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma, polygamma

import naive_certainty
from unnaive import AODE, HNB, KDB, TAN, AutoBayes, BDeu, FullBayes, NaiveBayes, make
from unnaive._core.certainty import point_quantiles, quantiles
from unnaive.exceptions import UnnaiveError
from unnaive.models.intervals import drawn_models
from unnaive.models.pazzani import PazzaniNB
from unnaive.tables.posterior import log_moments

DRAWS = 500


def rows(n=300, d=4, k=3, missing=0.0, seed=0):
    """Samples with dependent features of three values."""
    random = np.random.default_rng(seed)
    y = random.integers(0, k, n)
    X = (random.random((n, d)) < 0.3 + 0.1 * y[:, None]) * 1.0 + random.integers(0, 2, (n, d))
    X[random.random(X.shape) < missing] = np.nan
    return X, y


def naive_bayes_cumulants(X, y, row, k, alpha=1.0):
    """Cumulants of the log joint of naive Bayes, from the definition; shape (3, k)."""
    out, functions = np.zeros((3, k)), (digamma, partial(polygamma, 1), partial(polygamma, 2))
    for order, function in enumerate(functions):
        for c in range(k):
            inside = X[y == c]
            out[order, c] = function(len(inside) + alpha)
            for column, value in enumerate(row):
                values = len(np.unique(X[:, column]))
                a = (inside[:, column] == value).sum() + alpha
                out[order, c] += function(a) - function(len(inside) + alpha * values)
    return out


@pytest.mark.parametrize("k", [2, 3, 5])
def test_closed_form_is_its_definition(k):
    X, y = rows(k=k)
    model = NaiveBayes(discretize=None).fit(X, y)
    intervals = model.predict_interval(X[:8], level=0.8)
    found = np.stack([intervals.lower, intervals.median, intervals.upper], axis=2)
    for place, row in enumerate(X[:8]):
        classes = list(map(tuple, naive_bayes_cumulants(X, y, row, k).T))
        expected = naive_certainty.quantiles(classes, 1.2815515655446004)
        np.testing.assert_allclose(found[place], expected, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(
    k=st.integers(2, 6),
    spread=st.sampled_from([0.1, 3.0, 30.0]),
    size=st.sampled_from([1e-9, 0.05, 1.0, 9.0, 500.0, 3000.0]),
    seed=st.integers(0, 10**6),
)
def test_the_kernel_is_its_twin(k, spread, size, seed):
    random = np.random.default_rng(seed)
    cumulants = np.empty((70, 3, k))
    cumulants[:, 0] = random.normal(0, spread, (70, k))
    cumulants[:, 1] = size * random.exponential(1.0, (70, k))
    cumulants[:, 2] = -random.uniform(0, 2.2, (70, k)) * cumulants[:, 1] ** 1.5
    out = np.empty((3, 70, k))
    quantiles(cumulants, 1.6, 0, 70, out)
    for row in (0, 1, 69):
        expected = naive_certainty.quantiles(list(map(tuple, cumulants[row].T)), 1.6)
        np.testing.assert_allclose(out[:, row].T, expected, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(
    k=st.integers(3, 7),
    broad=st.integers(0, 7),
    seed=st.integers(0, 10**6),
)
def test_narrow_classes_are_summed_as_in_the_twin(k, broad, seed):
    """Variables of many rows, beside some of any variance, and classes of the same joint."""
    random = np.random.default_rng(seed)
    cumulants = np.empty((40, 3, k))
    cumulants[:, 0] = random.choice([0.0, -1.0, -8.0, -40.0, -np.inf], (40, k))
    cumulants[:, 1] = random.choice([0.0, 1e-6, 0.01, 0.3], (40, k))
    cumulants[:, 1, :broad] *= random.choice([1.0, 10.0, 100.0], (40, min(broad, k)))
    cumulants[:, 2] = -random.uniform(0, 0.3, (40, k)) * cumulants[:, 1]
    out = np.empty((3, 40, k))
    quantiles(cumulants, 1.6, 0, 40, out)
    given = np.maximum(cumulants, -1e9)
    for row in range(0, 40, 5):
        expected = naive_certainty.quantiles(list(map(tuple, given[row].T)), 1.6)
        np.testing.assert_allclose(out[:, row].T, expected, atol=1e-10)
        assert (np.diff(out[:, row], axis=0) >= 0).all()


MANY_CLASSES = """
import resource, numpy as np
from unnaive._core.certainty import quantiles
cumulants, out = np.full((2, 3, 3000), 0.05), np.empty((3, 2, 3000))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
quantiles(cumulants, 1.6, 0, 2, out)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, *np.unique(out.round(6)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes are of Linux")
def test_memory_grows_with_the_classes_not_with_their_square():
    done = subprocess.run(
        [sys.executable, "-c", MANY_CLASSES], capture_output=True, text=True, check=True
    )
    kilobytes, *bounds = map(float, done.stdout.split())
    assert kilobytes < 200_000
    assert len(bounds) == 3


@settings(max_examples=20, deadline=None)
@given(
    k=st.sampled_from([1, 2, 5, 40]),
    size=st.integers(1, 30),
    spread=st.sampled_from([0.0, 3.0, 1e5]),
    seed=st.integers(0, 10**6),
)
def test_quantiles_at_points_are_those_of_the_twin(k, size, spread, seed):
    random = np.random.default_rng(seed)
    cumulants = np.empty((3, 3, k))
    cumulants[:, 0] = random.normal(0, 5.0, (3, k))
    cumulants[:, 1] = spread * random.exponential(1.0, (3, k))
    cumulants[:, 2] = -random.uniform(0, 2.2, (3, k)) * cumulants[:, 1] ** 1.5
    points, rows = random.normal(size=(k, size)), np.array([4, 0, 2])
    out = np.full((3, 5, k), np.nan)
    point_quantiles(cumulants, points, 0.8, rows, out)
    assert np.isnan(out[:, [1, 3]]).all()
    for index, row in enumerate(rows):
        classes = list(map(tuple, cumulants[index].T))
        expected = naive_certainty.point_quantiles(classes, points.tolist(), (0.1, 0.5, 0.9))
        np.testing.assert_allclose(out[:, row].T, expected, atol=1e-10)


def test_kernels_refuse_what_does_not_fit():
    cumulants, out = np.zeros((2, 3, 3)), np.empty((3, 4, 3))
    for start, stop in ((0, 3), (3, 5), (-1, 1), (2, 0)):
        with pytest.raises(IndexError):
            quantiles(cumulants, 1.6, start, stop, out)
    for points, rows in (
        (np.zeros((2, 9)), np.array([0, 1])),
        (np.zeros((3, 0)), np.array([0, 1])),
        (np.zeros((3, 9)), np.array([0, 4])),
        (np.zeros((3, 9)), np.array([0])),
    ):
        with pytest.raises(IndexError):
            point_quantiles(cumulants, points, 0.9, rows, out)


@pytest.mark.long
def test_wide_classes_have_the_quantiles_of_draws():
    """Few rows and small pseudo-counts: at points of the log joints as by random tables."""
    X, y = rows(n=60, d=6, k=4)
    model = TAN(discretize=None, smoothing=BDeu(1)).fit(X, y)
    cumulants = model.fitted_.cumulants(model.codes_of(model.known_frame(X), 1))
    some = X[(cumulants[:, 1] > 25).any(axis=1)][:12]
    assert len(some) > 5
    models = islice(drawn_models(model, np.random.default_rng(4)), 1500)
    chances = np.stack([one.predict_proba(some) for one in models])
    found = model.predict_interval(some)
    for bound, share in ((found.lower, 0.05), (found.median, 0.5), (found.upper, 0.95)):
        low, high = np.quantile(chances, [max(share - 0.04, 0), min(share + 0.04, 1)], axis=0)
        assert ((low - 0.02 <= bound) & (bound <= high + 0.02)).all()


@pytest.mark.parametrize(
    ("key", "smoothing", "k"),
    [
        ("nb", "laplace", 2),
        ("tan", "laplace", 3),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (("nb", "laplace", 4), ("kdb", "laplace", 2), ("kdb", "laplace:3", 3))
        ),
    ],
)
def test_closed_form_and_draws_agree(key, smoothing, k):
    X, y = rows(n=150, k=k)
    model = make(key, discretize=None, smoothing=smoothing).fit(X, y)
    some, draws = X[:12], 1000
    closed = model.predict_interval(some, method="delta")
    models = islice(drawn_models(model, np.random.default_rng(4)), draws)
    chances = np.stack([one.predict_proba(some) for one in models])
    for bound, share in ((closed.lower, 0.05), (closed.median, 0.5), (closed.upper, 0.95)):
        below = (chances < bound).mean(axis=0)
        assert (np.abs(below - share) < 4.5 * np.sqrt(share * (1 - share) / draws) + 0.01).all()


def log_odds(model, X, draws):
    """Log odds of the first class in many draws; shape (draws, n)."""
    models = islice(drawn_models(model, np.random.default_rng(1)), draws)
    joints = np.stack([one.predict_joint_log_proba(X) for one in models])
    return joints[:, :, 0] - joints[:, :, 1]


QUICK = {("nb", "laplace"), ("tan", "hierarchical"), ("tan-multinet", "bdeu:2"), ("bsej", "ml")}
LONG = {("spode", "laplace"), ("kdb", "hierarchical"), ("tan", "backoff"), ("kdb", "laplace")}


@pytest.mark.parametrize(
    ("key", "smoothing"),
    [*sorted(QUICK), *(pytest.param(*case, marks=pytest.mark.long) for case in sorted(LONG))],
)
def test_moments_are_those_of_draws(key, smoothing):
    X, y = rows(n=120, k=2)
    model = make(key, discretize=None, smoothing=smoothing).fit(X, y)
    some = X[:5]
    codes = model.codes_of(model.known_frame(some), 1)
    mean, variance, _ = model.fitted_.cumulants(codes).transpose(1, 0, 2)
    draws = log_odds(model, some, DRAWS)
    spread = np.sqrt(variance.sum(axis=1))
    assert (np.abs(draws.mean(axis=0) - (mean[:, 0] - mean[:, 1])) < 5 * spread / DRAWS**0.5).all()
    fourth = ((draws - draws.mean(axis=0)) ** 4).mean(axis=0)
    error = np.sqrt(np.maximum(fourth - draws.var(axis=0) ** 2, 0) / DRAWS)
    assert (np.abs(draws.var(axis=0) - spread**2) < 5.5 * error).all()


@pytest.mark.filterwarnings("ignore::unnaive.exceptions.DataWarning")
@settings(max_examples=10, deadline=None)
@given(
    n=st.integers(1, 40),
    d=st.integers(1, 4),
    k=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    key=st.sampled_from(["nb", "tan", "kdb", "tan-multinet"]),
    smoothing=st.sampled_from(["laplace", "ml", "bdeu", "hierarchical"]),
)
def test_intervals_are_nested_and_never_empty(n, d, k, seed, key, smoothing):
    X, y = rows(n, d, k, missing=0.2, seed=seed)
    model = make(key, discretize=None, smoothing=smoothing).fit(X, y)
    narrow, wide = (model.predict_interval(X, level) for level in (0.5, 0.95))
    bounds = [wide.lower, narrow.lower, narrow.median, narrow.upper, wide.upper]
    assert (np.diff(np.stack(bounds), axis=0) >= 0).all()
    assert ((wide.lower >= 0) & (wide.upper <= 1)).all()
    if len(model.classes_) > 1:
        assert (wide.width > 0).all()


@pytest.mark.long
def test_a_wide_class_that_does_not_matter_needs_no_draws():
    """Far below the others, it changes none of their intervals, and its own is below e^-9."""
    random = np.random.default_rng(0)
    y = random.integers(3, size=900)
    noise = random.integers(2, size=(900, 2))
    X = np.hstack([np.repeat((y == 2)[:, None], 20, axis=1).astype(int), noise])
    model = NaiveBayes(discretize=None, smoothing=BDeu(1)).fit(X, y)
    rows = X[y != 2][:20]
    cumulants = model.fitted_.cumulants(model.codes_of(model.known_frame(rows), 1))
    assert (cumulants[:, 1, 2] > 25).all()
    closed, found = (model.predict_interval(rows, method=how) for how in ("delta", "auto"))
    drawn = model.predict_interval(rows, method="sample", draws=2000)
    for bound in ("lower", "median", "upper"):
        assert np.array_equal(getattr(closed, bound), getattr(found, bound))
        np.testing.assert_allclose(getattr(found, bound), getattr(drawn, bound), atol=0.01)
    assert found.upper[:, 2].max() < np.exp(-9)


def test_more_rows_make_intervals_narrower():
    X, y = rows(60)
    widths = [
        TAN(discretize=None).fit(np.tile(X, (m, 1)), np.tile(y, m)).predict_interval(X).width.mean()
        for m in (1, 4, 16)
    ]
    assert widths[0] > 1.5 * widths[1] > 2.25 * widths[2]


@pytest.mark.parametrize(
    "model", [AODE(), HNB(), FullBayes(), make("weighted-pairs"), make("atan")]
)
def test_models_without_closed_form_sample(model):
    X, y = rows(200, 3)
    model.fit(X, y)
    one, again = (model.predict_interval(X[:4], draws=30, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.lower, again.lower)
    chances = model.predict_proba(X[:4])
    assert ((one.lower - 0.05 < chances) & (chances < one.upper + 0.05)).all()
    with pytest.raises(UnnaiveError, match="closed form"):
        model.predict_interval(X[:4], method="delta")


def test_averages_are_not_surer_than_their_members():
    X, y = rows(200, 5)
    width = AODE(discretize=None).fit(X, y).predict_interval(X[:40], draws=100).width.mean()
    assert width > 0.7 * TAN(discretize=None).fit(X, y).predict_interval(X[:40]).width.mean()


def test_a_blend_has_the_mean_of_its_members_quantiles():
    X, y = rows(200, 3)
    blend = AutoBayes(candidates=["nb", "tan"]).fit(X, y)
    found = blend.predict_interval(X[:10])
    chances = blend.predict_proba(X[:10])
    assert ((found.lower < chances) & (chances < found.upper)).all()
    shifted = blend.with_prior([0.8, 0.1, 0.1])
    moved = shifted.predict_interval(X[:10])
    assert (moved.median[:, 0] > found.median[:, 0]).all()
    assert np.abs(moved.median - shifted.predict_proba(X[:10])).max() < 0.05


def test_calibration_and_given_priors_enter():
    X, y = rows(200, 3, k=2)
    plain = NaiveBayes(discretize=None).fit(X, y)
    given = NaiveBayes(discretize=None, class_prior=[0.5, 0.5]).fit(X, y)
    assert (
        given.predict_interval(X).width < plain.with_prior([0.5, 0.5]).predict_interval(X).width
    ).all()
    cooled = NaiveBayes(discretize=None, calibrate="loo").fit(X, y)
    tau = cooled.fitted_.calibration.temperature
    codes = plain.codes_of(plain.known_frame(X), 1)
    np.testing.assert_allclose(
        cooled.fitted_.cumulants(codes)[:, 1:],
        plain.fitted_.cumulants(codes)[:, 1:] * np.array([tau**2, tau**3])[:, None],
    )


def test_the_bootstrap_adds_the_uncertainty_of_the_structure():
    X, y = rows(150, 4, k=2)
    model = KDB(discretize=None).fit(X, y)
    whole = model.predict_interval(X[:5], structure="bootstrap", training=(X, y), draws=20)
    assert (whole.width > 0).all()
    with pytest.raises(UnnaiveError, match="training"):
        model.predict_interval(X[:5], structure="bootstrap")


def test_wrong_arguments_are_named():
    X, y = rows(50)
    model = NaiveBayes().fit(X, y)
    for name, value in {"level": 1.5, "method": "guess", "structure": "none", "draws": 0}.items():
        with pytest.raises(ValueError, match=name):
            model.predict_interval(X, **{name: value})
    tuned = make("ienb", random_state=0).fit(X, y)
    with pytest.raises(UnnaiveError, match="bootstrap"):
        tuned.predict_interval(X)
    assert "Intervals(50 samples, 3 classes" in repr(model.predict_interval(X))
    assert "<table>" in model.predict_interval(X)._repr_html_()
    assert len(PazzaniNB().fit(X, y).predict_interval(X)) == 50


def test_what_is_almost_sure_deviates_by_no_less_than_nothing():
    shapes = np.linspace(1, 1000, 2000)
    whole = np.nextafter(shapes, np.inf)  # by rounding, some variances rise
    mean, deviation = log_moments(shapes, whole)
    assert np.abs(mean).max() < 1e-12
    assert (deviation >= 0).all()
    assert deviation.max() < 1e-6
