"""WEKA's folds: golden rows from WEKA 3.6.14 and java.util.Random, run by hand."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict

import weather
from unnaive import NaiveBayes
from unnaive.evaluate import WekaStratifiedKFold
from unnaive.evaluate.folds import JavaRandom

LARGE = (1 << 30) + 1  # half of the draws are refused and drawn again


@pytest.mark.parametrize(
    ("seed", "bound", "drawn"),
    [
        (1, 1, [0, 0, 0, 0, 0, 0]),
        (0, 2, [1, 1, 0, 1, 1, 0]),
        (-7, 100, [62, 97, 90, 7, 78, 87]),
        (42, 7, [1, 5, 6, 3, 5, 4]),
        (42, 1 << 30, [781215565, 58696381, 733605624, 51474442, 331484985, 1011543762]),
        (42, LARGE, [117392763, 102948884, 662969970, 595021505, 196118093, 969067502]),
        (0, 2**31 - 1, [1569741360, 1785505948, 516548029, 1302116447, 1368843515, 663681053]),
    ],
)
def test_numbers_are_those_of_java(seed, bound, drawn):
    random = JavaRandom(seed)
    assert [random.next_int(bound) for _ in drawn] == drawn


MANY = [
    [10, 19, 8, 5, 15, 42, 13, 37, 4, 9, 48, 11, 47],
    [7, 46, 44, 17, 6, 27, 40, 25, 12, 38, 45, 14, 36],
    [22, 31, 29, 39, 32, 41, 28, 1, 0, 24, 35, 23],
    [43, 34, 20, 30, 3, 18, 49, 16, 33, 26, 21, 2],
]
WEATHER = [[5, 7, 6, 4, 3], [13, 0, 2, 8, 11], [1, 10, 9, 12]]
TENTHS = [[5, 8], [13, 12], [1, 3], [7, 11], [0], [10], [6], [2], [9], [4]]
GAPS = [[8, 5, 3], [4, 0], [1, 7], [6, 2]]


@pytest.mark.parametrize(
    ("labels", "n_splits", "seed", "expected"),
    [
        ([(i * i + i // 3) % 4 for i in range(50)], 4, 3, MANY),
        (weather.LABELS, 3, 1, WEATHER),
        (weather.CLASSES, 10, 1, TENTHS),
        ([1 - code for code in weather.CLASSES], 10, 1, TENTHS),  # classes declared otherwise
        (["a", None, "b", "b", "c", "a", None, "b", "c"], 4, -5, GAPS),
    ],
)
def test_folds_are_those_of_weka(labels, n_splits, seed, expected):
    dealer = WekaStratifiedKFold(n_splits, seed=seed)
    found = list(dealer.split(np.zeros((len(labels), 1)), labels))
    assert [test.tolist() for _, test in found] == expected
    for fold, (train, _) in enumerate(found):
        rest = expected[:fold] + expected[fold + 1 :]
        assert train.tolist() == [row for part in rest for row in part]


def test_repeats_are_runs_with_the_next_seeds():
    y = weather.LABELS
    dealer = WekaStratifiedKFold(3, seed=4, n_repeats=2)
    found = [test.tolist() for _, test in dealer.split(y, y)]
    alone = [WekaStratifiedKFold(3, seed=seed).split(y, y) for seed in (4, 5)]
    assert found == [test.tolist() for run in alone for _, test in run]
    assert dealer.get_n_splits() == 6


def test_scikit_learn_takes_it():
    assert repr(WekaStratifiedKFold(3)) == "WekaStratifiedKFold(n_repeats=1, n_splits=3, seed=1)"
    X, y = np.array(weather.ROWS), np.array(weather.LABELS)
    dealer = WekaStratifiedKFold(3)
    predicted = cross_val_predict(NaiveBayes(), X, y, cv=dealer)
    train, test = next(dealer.split(X, y))
    assert (predicted[test] == NaiveBayes().fit(X[train], y[train]).predict(X[test])).all()


@pytest.mark.parametrize("settings", [{"n_splits": 1}, {"n_splits": 15}, {"n_repeats": 0}])
def test_impossible_folds(settings):
    dealer = WekaStratifiedKFold(**settings)
    with pytest.raises(ValueError, match="with 14 rows there can be 2 to 14 folds"):
        next(dealer.split(weather.LABELS, weather.LABELS))


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        next(WekaStratifiedKFold(2).split(np.zeros((3, 1)), ["a", "b"]))
