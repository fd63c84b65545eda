r"""Prediction sets: the classes that cannot be excluded, with a stated coverage.

A score s(x, c) says how badly a class fits a sample. The scores of samples that a model was not
fitted to, with their true classes, give every class of a new sample a p-value,

.. math:: p(x, c) = \frac{w_c + \sum_i w_{y_i} [s_i \ge s(x, c)]}{w_c + \sum_i w_{y_i}},

and a class is in the set of coverage 1 − α if p > α. The weights w are 1, or the ratios of other
prior probabilities of the classes to those of the calibration samples.

References
----------
Vovk, Gammerman & Shafer, "Algorithmic learning in a random world", 2005. Romano, Sesia & Candès,
"Classification with valid and adaptive coverage", NeurIPS 2020. Podkopaev & Ramdas,
"Distribution-free uncertainty quantification for classification under label shift", UAI 2021.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._html import html_table
from unnaive._scikit import check_is_fitted
from unnaive.exceptions import UnnaiveError
from unnaive.models.trial import FOLDS, leaves_out, left_out_afresh

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray, Label
    from unnaive.models.classifier import Classifier

SCORES = ("lac", "aps", "raps")
PENALTY = 0.1  # of every class after the second, in "raps"
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """Sets of classes, one for every sample.

    Attributes
    ----------
    included : ndarray of shape (n, k), bool
        Whether a class is in the set of a sample.
    classes : ndarray of shape (k,)
        Class labels.
    coverage : float
        Share of samples whose set is to contain the true class.
    p_values : ndarray of shape (n, k), or None
        P-value of every class; None for sets of posterior probabilities.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X, y = [["a"], ["a"], ["b"], ["b"]] * 10, ["ill", "ill", "well", "ill"] * 10
    >>> NaiveBayes().fit(X, y).predict_set([["a"], ["b"]], training=(X, y))
    PredictionSets(2 samples, coverage=0.9, mean size 1.5): {ill}, {ill, well}
    """

    included: BoolArray
    classes: AnyArray
    coverage: float
    p_values: FloatArray | None = None

    @property
    def sizes(self) -> IntArray:
        """Number of classes in every set; shape (n,)."""
        return np.asarray(self.included.sum(axis=1))

    def labels(self, row: int) -> list[Label]:
        """Return the classes in the set of one sample.

        Parameters
        ----------
        row : int
            Position of the sample.

        Returns
        -------
        list
            Class labels; an empty list if no class fits.
        """
        chosen: list[Label] = self.classes[self.included[row]].tolist()
        return chosen

    def covers(self, y: object) -> BoolArray:
        """Return whether each set contains the true class.

        Parameters
        ----------
        y : array of shape (n,)
            True class labels.

        Returns
        -------
        ndarray of shape (n,)
            True where it does; the mean is the coverage that was reached.
        """
        same = np.asarray(y)[:, None] == self.classes
        return np.asarray((self.included & same).any(axis=1))

    def __len__(self) -> int:
        return len(self.included)

    def _text(self, row: int) -> str:
        return "{" + ", ".join(map(str, self.labels(row))) + "}"

    def __repr__(self) -> str:
        n, mean = len(self), float(self.sizes.mean()) if len(self) else 0.0
        shown = ", ".join(self._text(row) for row in range(min(n, 3))) + (", …" if n > 3 else "")
        samples = "1 sample" if n == 1 else f"{n} samples"
        about = f"{samples}, coverage={self.coverage:g}, mean size {mean:.3g}"
        return f"PredictionSets({about}): {shown}"

    def _repr_html_(self) -> str:
        rows = [(str(row), self._text(row), int(self.sizes[row])) for row in range(len(self))]
        caption = f"sets of coverage {self.coverage:.0%}"
        return html_table(caption, ["sample", "classes", "size"], rows, text=(0, 1))


def scores_of(chances: FloatArray, kind: str, penalty: float = PENALTY) -> FloatArray:
    """Scores of all classes, larger for classes that fit worse; shape (n, k).

    "lac": 1 − P(c | x). "aps": the probability of c and of all more probable classes. "raps": the
    same plus ``penalty`` for every more probable class after the first.
    """
    if kind == "lac":
        return 1.0 - chances
    order = np.argsort(-chances, axis=1, kind="stable")
    before = np.cumsum(np.take_along_axis(chances, order, axis=1), axis=1)
    if kind == "raps":
        before = before + penalty * np.maximum(np.arange(chances.shape[1]) - 1.0, 0.0)
    scores = np.empty_like(chances)
    np.put_along_axis(scores, order, before, axis=1)
    return scores


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of samples that a model was not fitted to.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        Scores of the samples' true classes.
    classes : ndarray of shape (m,)
        Their classes.
    groups : ndarray of shape (m,)
        Their groups; 0 without groups.
    """

    scores: FloatArray
    classes: IntArray
    groups: IntArray

    def at_least(
        self, scores: FloatArray, groups: IntArray, weights: FloatArray, *, by_class: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Weight of the samples whose score is at least that of each class of others, and of all.

        With ``by_class`` only samples of that class count; always only those of the same group.
        Both have the shape (n, k) of ``scores``.
        """
        above, every = np.zeros_like(scores), np.zeros_like(scores)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            for label in range(scores.shape[1]):
                mine = self.groups == group
                mine = mine & (self.classes == label) if by_class else mine
                order = np.argsort(self.scores[mine], kind="stable")
                ordered, own = self.scores[mine][order], weights[self.classes[mine]][order]
                below = np.concatenate([[0.0], np.cumsum(own)])
                asked = scores[rows, label] - _ROUNDING
                above[rows, label] = below[-1] - below[np.searchsorted(ordered, asked)]
                every[rows, label] = below[-1]
        return above, every


def p_values_of(
    folds: list[tuple[Scored, FloatArray]],
    groups: IntArray,
    weights: FloatArray,
    *,
    by_class: bool,
) -> FloatArray:
    """P-values of all classes, from scores and the scores (n, k) by the model of each fold."""
    shape = folds[0][1].shape
    above, every = np.zeros(shape), np.zeros(shape)
    for scored, scores in folds:
        more, all_of_fold = scored.at_least(scores, groups, weights, by_class=by_class)
        above += more
        every += all_of_fold
    return np.asarray((weights + above) / (weights + every))


def sets_of(p_values: FloatArray, classes: AnyArray, coverage: float) -> PredictionSets:
    """Return the sets of all classes whose p-value is above 1 − coverage."""
    return PredictionSets(p_values > 1.0 - coverage + _ROUNDING, classes, coverage, p_values)


def check_coverage(coverage: float) -> None:
    """Raise an error unless the coverage is between 0 and 1."""
    if not isinstance(coverage, float | int) or not 0 < coverage < 1:
        raise ValueError(f"coverage={coverage!r}; it must be a number between 0 and 1, such as 0.9")


def check_conformity(conformity: str) -> None:
    """Raise an error unless the score is known."""
    if conformity not in SCORES:
        known = ", ".join(map(repr, SCORES))
        raise ValueError(f"conformity={conformity!r}; it must be one of {known}")


def set_of(
    self: Classifier,
    X: object,
    coverage: float,
    training: tuple[object, ...] | None,
    conformity: str,
    *,
    by_class: bool,
) -> PredictionSets:
    """Predict sets as ``predict_set`` says."""
    check_is_fitted(self)
    check_coverage(coverage)
    check_conformity(conformity)
    chances = self.predict_proba(X)
    if training is None:
        order = np.argsort(-chances, axis=1, kind="stable")
        sorted_chances = np.take_along_axis(chances, order, axis=1)
        before = np.cumsum(sorted_chances, axis=1) - sorted_chances
        included = np.empty(chances.shape, dtype=bool)
        np.put_along_axis(included, order, before < coverage - _ROUNDING, axis=1)
        return PredictionSets(included, self.classes_, coverage)
    if not leaves_out(self):
        raise UnnaiveError(
            f"{type(self).__name__} has no leave-one-out in closed form; use "
            'ConformalClassifier(model, method="cross")'
        )
    X, y, *rest = training
    given = self._given(X, y, rest[0] if rest else None, first=False, keep_all=True)
    held, classes = left_out_afresh(self, given, FOLDS), self.schema_.encode_target(given.target)
    scores = scores_of(held, conformity)[np.arange(len(held)), classes]
    none = np.zeros(len(classes), dtype=np.int64)
    scored, weights = Scored(scores, classes, none), np.ones(len(self.classes_))
    folds = [(scored, scores_of(chances, conformity))]
    own = np.zeros(len(chances), dtype=np.int64)
    return sets_of(p_values_of(folds, own, weights, by_class=by_class), self.classes_, coverage)
