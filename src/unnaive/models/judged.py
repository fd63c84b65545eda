"""How candidates are judged: left-out predictions, calibrated, and weights of a blend."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._core.tables import log_posterior
from unnaive._core.weighting import mixture_shares
from unnaive._scikit import clone
from unnaive._ties import first_best
from unnaive.models.aode import SuperParentClassifier
from unnaive.models.classifier import Classifier, first_of_the_best
from unnaive.models.left_out import left_out_joint
from unnaive.models.weighted import WeightedBayes
from unnaive.tables.calibration import Calibration, calibrated

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows
    from unnaive.io.frames import Column, Frame
    from unnaive.models.base import CountsClassifier

FOLDS = 5
_LEAST_SHARE = 0.05
_NO_CHANCE = 1e-300  # of a row that a member rules out
_ROUNDS = 200
_ENOUGH = 1e-5  # no further round after one that moves no share by more


@dataclass(frozen=True, eq=False)
class Member:
    """A model that answers, how its log joint is calibrated, and its share of the blend."""

    name: str
    model: Classifier
    calibration: Calibration
    weight: float = 1.0

    def log_posterior(self, frame: Frame) -> FloatArray:
        """Log P(c | x) of a frame's rows, calibrated; shape (n, k)."""
        out: FloatArray = self.model._predict_rows(frame, log_posterior)
        return self.calibrate(out)

    def calibrate(self, joint: FloatArray) -> FloatArray:
        """Log posterior of log joints (n, k), calibrated."""
        scaled = joint.copy()
        self.calibration.apply(scaled)
        out = np.empty_like(scaled)
        log_posterior(scaled, out)
        return out


@dataclass(frozen=True, eq=False)
class Judged:
    """A member, and its log posteriors (n, k) of rows that it was judged by."""

    member: Member
    left_out: FloatArray
    classes: IntArray
    importance: FloatArray

    @property
    def log_loss(self) -> float:
        """Mean left-out log loss."""
        own = self.left_out[np.arange(len(self.classes)), self.classes]
        return -float(np.average(own, weights=self.importance))

    def measures(self) -> dict[str, Any]:
        """Left-out log loss and accuracy."""
        right = first_of_the_best(self.left_out) == self.classes
        accuracy = float(np.average(right, weights=self.importance))
        return {"log_loss": self.log_loss, "accuracy": accuracy}


def judge(
    name: str, model: Classifier, joint: FloatArray, classes: IntArray, importance: FloatArray
) -> Judged:
    """Calibrate a model by left-out log joints of some rows, and keep what it then says."""
    found = calibrated(joint, classes, importance, model.n_jobs)
    member = Member(name, model, found)
    return Judged(member, member.calibrate(joint), classes, importance)


def fitted_and_left_out(model: CountsClassifier, rows: CodedRows, chosen: IntArray) -> FloatArray:
    """Fit a model of counts to all rows; left-out log joint of some of them; shape (m, k)."""
    joint = None
    if isinstance(model, SuperParentClassifier):
        model._require_tables(rows.schema, 2)  # before it takes the time for a fit in vain
    if isinstance(model, WeightedBayes):
        joint = model._fit_and_leave_out(rows)
    else:
        model._fit_rows(rows)
    joint = left_out_joint(model, _part(rows, chosen)) if joint is None else joint[chosen]
    if model._calibration is not None:
        model._calibration.apply(joint)
    return joint


def _part(rows: CodedRows, chosen: IntArray) -> CodedRows:
    weights = None if rows.weights is None else rows.weights[chosen]
    codes = np.ascontiguousarray(rows.codes[:, chosen])
    return replace(rows, codes=codes, classes=rows.classes[chosen], weights=weights)


def folds_of(classes: IntArray) -> IntArray:
    """Deal rows out to folds, those of every class in turns; shape (n,)."""
    order = np.argsort(classes, kind="stable")
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = np.arange(len(order)) % FOLDS
    return fold


def left_out_of_folds(
    model: Classifier, frame: Frame, target: Column, weights: FloatArray | None, classes: IntArray
) -> FloatArray:
    """Left-out log joint of all rows, by fits without each of five folds; shape (n, k)."""
    fold, labels = folds_of(classes), model.classes_
    found = np.empty((len(fold), len(labels)))
    for number in range(FOLDS):
        inside, outside = fold == number, fold != number
        other = clone(model)
        part = None if weights is None else weights[outside]
        other.partial_fit(frame.take(outside), target.take(outside), labels.tolist(), part)
        found[inside] = other._predict_rows(frame.take(inside), log_posterior)
    return found


def blend_weights(judged: list[Judged]) -> FloatArray:
    """Shares of largest left-out likelihood; small ones are dropped, and the rest fitted anew.

    The likelihood is concave in the shares, so any start leads to the same.
    """
    own = np.stack([j.left_out[np.arange(len(j.classes)), j.classes] for j in judged], axis=1)
    top = own.max(axis=1, keepdims=True)
    level = own - np.where(np.isneginf(top), 0.0, top)
    chances = np.maximum(np.exp(level), _NO_CHANCE)
    importance = judged[0].importance / judged[0].importance.sum()
    alive = np.ones(len(judged), dtype=bool)
    while True:
        shares = alive / alive.sum()
        mixture_shares(chances, importance, shares, _ROUNDS, _ENOUGH)
        small = alive & (shares < _LEAST_SHARE)
        if not small.any():
            return _or_the_best(shares, chances, importance)
        alive &= ~small


def _or_the_best(shares: FloatArray, chances: FloatArray, importance: FloatArray) -> FloatArray:
    """Return the shares, or one member alone, if rounds were too few to come as near."""
    alone = importance @ np.log(chances)
    best = first_best(alone)
    if importance @ np.log(chances @ shares) > alone[best]:
        return shares
    return np.asarray(np.arange(len(shares)) == best, dtype=np.float64)
