"""Predictions with the right to abstain: by costs, by intervals, or by sets of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._html import html_table
from unnaive._scikit import check_is_fitted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray, Label
    from unnaive.models.classifier import Classifier
    from unnaive.models.sets import PredictionSets

RULES = ("cost", "interval", "set")


@dataclass(frozen=True, eq=False)
class Decisions:
    """Predicted classes, and the samples for which the model abstains.

    Attributes
    ----------
    chosen : ndarray of shape (n,)
        Position of the class that is answered, or would be.
    answered : ndarray of shape (n,), bool
        Whether the model answers.
    classes : ndarray of shape (k,)
        Class labels.
    rule : str
        Rule by which it abstains.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X, y = [["a"], ["a"], ["b"], ["b"]] * 10, ["ill", "ill", "well", "ill"] * 10
    >>> NaiveBayes().fit(X, y).predict_or_abstain([["a"], ["b"]], cost=0.2)
    Decisions(1 of 2 answered, rule='cost'): ill, -
    """

    chosen: IntArray
    answered: BoolArray
    classes: AnyArray
    rule: str

    @property
    def coverage(self) -> float:
        """Share of the samples that are answered."""
        return float(self.answered.mean()) if len(self.answered) else 1.0

    def labels(self, otherwise: Label | None = None) -> list[Label | None]:
        """Return the answers.

        Parameters
        ----------
        otherwise : label, default=None
            What stands for no answer.

        Returns
        -------
        list
            A class label, or ``otherwise``, for every sample.
        """
        named = self.classes[self.chosen].tolist()
        return [
            label if told else otherwise
            for label, told in zip(named, self.answered.tolist(), strict=True)
        ]

    def __len__(self) -> int:
        return len(self.chosen)

    def __repr__(self) -> str:
        n = len(self)
        shown = ", ".join(map(str, self.labels("-")[:5])) + (", …" if n > 5 else "")
        return f"Decisions({int(self.answered.sum())} of {n} answered, rule={self.rule!r}): {shown}"

    def _repr_html_(self) -> str:
        rows = [(str(row), str(label)) for row, label in enumerate(self.labels("-"))]
        return html_table(f"answered {self.coverage:.0%}", ["sample", "answer"], rows, text=(0, 1))


def decide(
    self: Classifier,
    X: object,
    by: str,
    *,
    cost: float,
    costs: ArrayLike | None,
    level: float,
    threshold: float,
    coverage: float,
    training: tuple[object, ...] | None,
) -> Decisions:
    """Predict or abstain as ``predict_or_abstain`` says."""
    check_is_fitted(self)
    if by not in RULES:
        raise ValueError(f"by={by!r}; it must be one of {', '.join(map(repr, RULES))}")
    if by == "set":
        sets = self.predict_set(X, coverage, training=training)
        return decided_by_sets(self, X, sets)
    if by == "interval":
        intervals = self.predict_interval(X, level)
        chosen = _first(intervals.median)
        rows = np.arange(len(chosen))
        low, high = intervals.lower[rows, chosen], intervals.upper[rows, chosen]
        return Decisions(chosen, (low > threshold) | (high < threshold), self.classes_, by)
    chances = self.predict_proba(X)
    expected = chances @ _costs(costs, len(self.classes_))
    chosen = _first(-expected)
    least = expected[np.arange(len(chosen)), chosen]
    return Decisions(chosen, least <= cost, self.classes_, by)


def decided_by_sets(model: Classifier, X: object, sets: PredictionSets) -> Decisions:
    """Answer where a set has one class, which is then the answer."""
    chosen = np.where(
        sets.sizes == 1, sets.included.argmax(axis=1), model.predict_proba(X).argmax(axis=1)
    )
    return Decisions(chosen, sets.sizes == 1, sets.classes, "set")


def _first(numbers: FloatArray) -> IntArray:
    return np.asarray(np.argmax(numbers, axis=1))


def _costs(costs: ArrayLike | None, k: int) -> FloatArray:
    """Costs of answers; 1 for every error by default; shape (k, k)."""
    if costs is None:
        return 1.0 - np.eye(k)
    table = np.asarray(costs, dtype=np.float64)
    if table.shape != (k, k) or not np.isfinite(table).all():
        raise ValueError(
            f"costs has the shape {table.shape}; it must hold a finite number for every true class "
            f"and answer, shape {(k, k)}"
        )
    return table
