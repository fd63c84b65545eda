"""Metrics against their slow twins; protocols against loops written out."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

import naive
import weather
from unnaive import AODE, TAN, NaiveBayes
from unnaive.datasets import load_wdbc
from unnaive.evaluate import cross_validate, leave_one_out, measure, predicted_codes
from unnaive.io.frames import to_column, to_frame


@st.composite
def predictions(draw):
    """Probabilities with many ties and zeros, true classes, whole weights or None."""
    k = draw(st.integers(1, 5))
    n = draw(st.integers(1, 25))
    shares = st.lists(st.integers(0, 4), min_size=k, max_size=k).filter(any)
    rows = draw(st.lists(shares, min_size=n, max_size=n))
    actual = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    weights = st.lists(st.integers(1, 3), min_size=n, max_size=n)
    probabilities = [[share / sum(row) for share in row] for row in rows]
    return probabilities, actual, k, draw(st.none() | weights)


def measured(probabilities, actual, k, weights=None):
    weights = None if weights is None else np.array(weights, dtype=float)
    return measure(np.array(probabilities), np.array(actual), list(range(k)), weights)


def repeated(values, weights):
    return [value for value, weight in zip(values, weights, strict=True) for _ in range(weight)]


def close(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True)


@pytest.mark.long
@given(predictions())
def test_metrics_are_the_slow_twins(case):
    probabilities, actual, k, weights = case
    found = measured(*case)
    predicted = [naive.first_best(row) for row in probabilities]
    confusion = naive.confusion(actual, predicted, k, weights)
    assert predicted_codes(np.array(probabilities)).tolist() == predicted
    assert found.confusion.tolist() == confusion
    assert found.accuracy == close(naive.accuracy(confusion))
    assert found.balanced_accuracy == close(naive.balanced_accuracy(confusion))
    f1 = [naive.f1(confusion, c) for c in range(k)]
    assert found.f1_by_class.tolist() == close(f1)
    assert found.f1 == close(f1[1] if k == 2 else sum(f1) / k)
    assert found.brier == close(naive.brier(probabilities, actual, weights))
    clipped = [[max(p, 2**-52) for p in row] for row in probabilities]
    assert found.log_loss == close(naive.log_loss(clipped, actual, weights))


@given(predictions())
def test_areas_are_the_slow_twins(case):
    probabilities, actual, k, weights = case
    found = measured(*case)
    if weights is not None:  # a row of weight 2 is two rows
        probabilities, actual = repeated(probabilities, weights), repeated(actual, weights)

    def area(c, rows):
        scores = [probabilities[row][c] for row in rows]
        return naive.auc_binary(scores, [actual[row] == c for row in rows])

    present, rows = sorted(set(actual)), range(len(actual))
    if len(present) < 2:
        assert math.isnan(found.auc)
        assert math.isnan(found.auc_hand_till)
    elif k == 2:
        assert found.auc == found.auc_hand_till == close(area(1, rows))
    else:
        assert found.auc == close(np.mean([area(c, rows) for c in present]))
        pairs = [[r for r in rows if actual[r] in pair] for pair in combinations(present, 2)]
        both = zip(combinations(present, 2), pairs, strict=True)
        areas = [(area(a, part) + area(b, part)) / 2 for (a, b), part in both]
        assert found.auc_hand_till == close(np.mean(areas))


def test_metrics_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.ones(4), size=200).round(2) + 0.001
    chances /= chances.sum(axis=1, keepdims=True)
    actual, weights = rng.integers(4, size=200), rng.random(200)
    plain = measure(chances, actual, list("abcd"))
    found = measure(chances, actual, list("abcd"), weights)
    predicted = chances.argmax(axis=1)
    settings = {"sample_weight": weights}
    ratios = metrics.precision_recall_fscore_support(actual, predicted, **settings)
    assert np.allclose([found.precision, found.recall, found.f1_by_class], ratios[:3])
    assert found.f1 == close(metrics.f1_score(actual, predicted, average="macro", **settings))
    assert found.accuracy == close(metrics.accuracy_score(actual, predicted, **settings))
    balanced = metrics.balanced_accuracy_score(actual, predicted, **settings)
    assert found.balanced_accuracy == close(balanced)
    assert found.log_loss == close(metrics.log_loss(actual, chances, **settings))
    area = metrics.roc_auc_score
    assert found.auc == close(area(actual, chances, multi_class="ovr", **settings))
    assert plain.auc_hand_till == close(area(actual, chances, multi_class="ovo"))
    assert plain.confusion.tolist() == metrics.confusion_matrix(actual, predicted).tolist()


def test_each_class_against_the_rest():
    chances = np.eye(3)[[0, 0, 1, 0, 1]]  # class 2 is never predicted
    found = measure(chances, np.array([0, 0, 0, 1, 1]), ["a", "b", "c"])
    assert found.confusion.tolist() == [[2, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert found.precision.tolist() == [2 / 3, 1 / 2, 0.0]
    assert found.recall.tolist() == [2 / 3, 1 / 2, 0.0]
    assert found.specificity.tolist() == [1 / 2, 2 / 3, 1.0]


def test_impossible_truth_costs_much_but_not_everything():
    found = measure(np.array([[1.0, 0.0]]), np.array([1]), ["a", "b"])
    assert found.log_loss == pytest.approx(52 * math.log(2))


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"shape \(1, 2\); 1 rows and 3 classes"):
        measure(np.array([[0.5, 0.5]]), np.array([0]), ["a", "b", "c"])


# Cross-validation


@pytest.fixture(scope="module")
def survey():
    """Labels, some of them rare, numbers and gaps."""
    rng = np.random.default_rng(7)
    y = rng.choice(["no", "perhaps", "yes"], size=90)
    town = np.where(rng.random(90) < 0.1, [f"t{i}" for i in range(90)], "big")
    age = np.where(rng.random(90) < 0.1, np.nan, rng.normal(40, 9, 90) + 15 * (y == "yes"))
    taste = np.where(rng.random(90) < 0.7, y, "none")
    return np.column_stack([town.astype(object), age.astype(object), taste.astype(object)]), y


@pytest.mark.parametrize("model", [NaiveBayes(), TAN(), AODE()])
def test_cross_validation_is_the_loop_written_out(survey, model):
    X, y = survey
    found = cross_validate(model, X, y, folds=4, repeats=2, random_state=3)
    assert not hasattr(model, "classes_")
    codes = np.unique(y, return_inverse=True)[1]
    dealer = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3)
    for number, (train, test) in enumerate(dealer.split(X, codes)):
        chances = clone(model).fit(X[train], y[train]).predict_proba(X[test])
        assert np.array_equal(found.probabilities[number // 4, test], chances)
        expected = measure(chances, codes[test], np.unique(y).tolist())
        assert expected.scores() == found.folds[number].scores()
    assert found.pooled.confusion.sum() == 2 * len(y)
    assert found.pooled.confusion.tolist() == sum(f.confusion for f in found.folds).tolist()
    accuracies = [fold.accuracy for fold in found.folds]
    assert found.mean["accuracy"] == pytest.approx(np.mean(accuracies))
    assert found.std["accuracy"] == pytest.approx(np.std(accuracies, ddof=1))
    assert found.fit_seconds.shape == found.predict_seconds.shape == (8,)


def test_same_seed_same_folds_at_any_n_jobs(survey):
    one = cross_validate(TAN(), *survey, folds=5, repeats=2)
    two = cross_validate(TAN(), *survey, folds=5, repeats=2, n_jobs=2)
    other = cross_validate(TAN(), *survey, folds=5, repeats=2, random_state=1)
    assert np.array_equal(one.probabilities, two.probabilities)
    assert not np.array_equal(one.probabilities, other.probabilities)
    assert not np.array_equal(one.probabilities[0], one.probabilities[1])
    assert one.mean == two.mean
    assert one.std == two.std


@pytest.mark.parametrize("kind", ["frame", "pandas", "polars", "pyarrow"])
def test_any_table_will_do(survey, kind):
    X, y = survey
    columns = {"town": X[:, 0].tolist(), "age": X[:, 1].tolist(), "taste": X[:, 2].tolist()}
    if kind == "frame":
        table, y = to_frame(X), to_column(y)
    else:
        module = pytest.importorskip(kind)
        table = module.table(columns) if kind == "pyarrow" else module.DataFrame(columns)
    expected = cross_validate(NaiveBayes(), *survey, folds=3)
    assert np.array_equal(
        cross_validate(NaiveBayes(), table, y, folds=3).probabilities, expected.probabilities
    )


def test_progress_counts_folds(survey):
    steps = []
    cross_validate(
        NaiveBayes(),
        *survey,
        folds=3,
        repeats=2,
        n_jobs=2,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps == [(done, 6) for done in range(1, 7)]


@pytest.mark.parametrize("labels", [["a", "b", "c"], [0, 1, 2], [1.0, 2.0, 3.0]])
def test_a_class_of_one_row_is_unknown_where_it_is_tested(labels):
    y = np.array([labels[0]] * 10 + [labels[1]] + [labels[2]] * 10)
    X = np.arange(21).reshape(-1, 1) % 4
    found = cross_validate(NaiveBayes(), X, y, folds=5)
    assert found.classes == tuple(labels)
    assert found.probabilities[0, 10, 1] == 0
    assert (np.delete(found.probabilities[0], 10, axis=0)[:, 1] > 0).any()
    assert found.pooled.confusion[1, 1] == 0
    assert np.isfinite(found.mean["log_loss"])
    assert np.isfinite(found.mean["auc"])


def test_one_class_is_always_right():
    found = cross_validate(NaiveBayes(), np.arange(6).reshape(-1, 1) % 2, ["a"] * 6, folds=2)
    assert found.mean["accuracy"] == 1
    assert math.isnan(found.mean["auc"])
    assert math.isnan(found.std["auc"])


@pytest.mark.parametrize(
    ("y", "settings", "message"),
    [
        (["a"] * 9 + ["b"] * 3, {}, r"class 'a' has 9 rows, too few for 10 folds; use folds=9 "),
        (["a"] * 9 + ["b"] * 3, {"folds": 4}, r"class 'b' has 3 rows.*--folds 3"),
        (list("abcdefghijkl"), {"folds": 2}, "every class has only one row"),
        (["a", "b"] * 6, {"folds": 1}, "at least 2 folds"),
        (["a", "b"] * 6, {"repeats": 0}, "at least 2 folds and 1 repeat"),
        (["a", "b"] * 5, {}, "inconsistent numbers of samples"),
        (["a", "b"] * 5 + ["a", None], {}, "the target 'y' is missing in 1 of 12 rows"),
        (np.arange(12) + 0.25, {}, "Unknown label type: continuous"),
        (
            ["a", "b"] * 6,
            {"sample_weight": [1.0] * 11 + [0.0]},
            "is 0.0 in row 11; weights must be above 0",
        ),
    ],
)
def test_what_cannot_be_evaluated(y, settings, message):
    with pytest.raises(ValueError, match=message):
        cross_validate(NaiveBayes(), np.zeros((12, 1)), y, **settings)


def test_weights_count_in_learning_and_in_metrics(survey):
    X, y = survey
    plain = cross_validate(TAN(), X, y, folds=3)
    ones = cross_validate(TAN(), X, y, folds=3, sample_weight=np.ones(90))
    heavy = cross_validate(TAN(), X, y, folds=3, sample_weight=np.where(y == "yes", 3.0, 1.0))
    assert np.allclose(plain.probabilities, ones.probabilities, rtol=0, atol=1e-12)
    assert heavy.pooled.confusion[2].sum() == 3 * (y == "yes").sum()
    assert heavy.probabilities[0, :, 2].mean() > plain.probabilities[0, :, 2].mean()


# Leave-one-out


def test_leave_one_out_of_the_weather():
    found = leave_one_out(NaiveBayes(), weather.LABELLED, weather.LABELS)
    assert np.trace(found.pooled.confusion) == 7  # Mathematics 9.1
    assert found.mean == found.pooled.scores()
    assert math.isnan(found.std["accuracy"])


@pytest.mark.parametrize("model", [NaiveBayes(), AODE(), TAN(parents=[None, 0, 1])])
def test_leave_one_out_is_n_refits(survey, model):
    X, y = survey
    X = np.column_stack([X[:, 0] == "big", X[:, 2], np.arange(90) % 3]).astype(object)
    domains = [sorted(set(column)) for column in X.T]
    model = clone(model).set_params(categories=domains)
    found = leave_one_out(model, X, y, sample_weight=None)
    for row in range(0, 90, 7):
        rest = np.arange(90) != row
        refit = clone(model).fit(X[rest], y[rest]).predict_proba(X[row : row + 1])
        assert np.allclose(found.probabilities[0, row], refit[0], rtol=0, atol=1e-10)


def test_leave_one_out_needs_the_closed_form():
    with pytest.raises(ValueError, match="object has no leave-one-out in closed form"):
        leave_one_out(object(), [[1]], ["a"])


def test_wdbc():
    data = load_wdbc()
    assert data.frame.names == data.names
    assert data.frame.n_rows == len(data.y) == 569
    assert dict(zip(*np.unique(data.y, return_counts=True), strict=True)) == {
        "benign": 357,
        "malignant": 212,
    }
    found = cross_validate(AODE(), data.frame, data.y, folds=5)
    assert found.classes == ("benign", "malignant")
    assert found.mean["accuracy"] > 0.94
