"""Readings of the GNB paper: inferences from the fit of its figures, not what its text says.

Tried on the way: six discretizations and three rules for zeros on two data sets, then one rule for
all; 13 variants of NB and four of TAN; the number of triplets on Diabetes after seeing all 15; and
two codings of categories for NB. So these readings are the best of many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.naive_bayes import MultinomialNB

from unnaive import TAN, GeneralizedNB
from unnaive.discretize import Quantile

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.datasets import Dataset
    from unnaive.evaluate.crossvalidate import EvaluationRows

BINS = 5  # section 6.2
RULES = {
    "GNB-A": "every zero is substituted, in each class",
    "GNB-O": "every zero is substituted, in each class",
    "NB": "multinomial, on the means of the bins",
    "TAN": "no smoothing; the first class where all have probability 0",
}
# Paper: with one triplet GNB-A and GNB-O are one model; four of their five figures are the same.
FEATURES = {"Diabetes": 2}


def rule_of(data: str, model: str) -> str:
    """Say in words how the paper's model is read on a data set."""
    few = data in FEATURES and model.startswith("GNB")
    return RULES[model] + ("; one triplet" if few else "")


def as_numbers(data: Dataset) -> FloatArray:
    """Return the numbers to which the paper discretizes (6.2): bins as their means; shape (n, d).

    Categories keep the numbers of the file, or their places. Multinomial naive Bayes needs
    columns that are not negative, so signs are dropped.
    """
    columns = []
    for place in range(len(data.names)):
        column = data.frame.column(place)
        if column.is_text:
            values = _category_numbers([str(word) for word in column.categories or ()])
            columns.append(values[column.values])
            continue
        cells = np.ascontiguousarray(column.values, dtype=np.float64)
        bins = np.searchsorted(Quantile(BINS).column_edges(cells), cells)
        columns.append((np.bincount(bins, cells) / np.maximum(np.bincount(bins), 1))[bins])
    return np.abs(np.column_stack(columns))


def _category_numbers(words: list[str]) -> FloatArray:
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return np.arange(len(words), dtype=np.float64)


@dataclass(frozen=True)
class Readings:
    """The four models of the paper as its figures suggest, on one data set.

    Parameters
    ----------
    data : str
        The paper's name of the data set.
    rows : EvaluationRows
        Its rows, discretized.
    numbers : ndarray of shape (n, d)
        The same rows as numbers, see :func:`as_numbers`.
    """

    data: str
    rows: EvaluationRows
    numbers: FloatArray

    def probabilities(
        self, counts: JointCounts, train: IntArray, test: IntArray
    ) -> dict[str, FloatArray]:
        """Return P(c | x) of the test rows by every model, shape (n, k) each."""
        seen, n_features = self.rows.frame.take(test), FEATURES.get(self.data)
        generalized = {
            "GNB-A": GeneralizedNB(method="greedy", paper="all-zeros", n_features=n_features),
            "GNB-O": GeneralizedNB(method="optimal", paper="all-zeros", n_features=n_features),
        }
        found = {
            name: model.fit_counts(counts).predict_proba(seen)
            for name, model in generalized.items()
        }
        multinomial = MultinomialNB().fit(self.numbers[train], self.rows.codes[train])
        found["NB"] = np.zeros((len(test), len(self.rows.classes)))
        found["NB"][:, multinomial.classes_] = multinomial.predict_proba(self.numbers[test])
        tree = TAN(smoothing="ml").fit_counts(counts)
        found["TAN"] = tree.predict_proba(seen)
        impossible = np.isneginf(tree.predict_joint_log_proba(seen)).all(axis=1)
        found["TAN"][impossible] = np.eye(len(self.rows.classes))[0]
        return found
