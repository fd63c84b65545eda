"""How candidates are compared: held-out predictions, calibration, and weights of a blend."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unnaive._core.tables import log_posterior, posterior
from unnaive._core.weighting import mixture_shares
from unnaive._dataclasses import dataclass
from unnaive._scikit import clone
from unnaive._ties import first_best
from unnaive.models.blocks import coded_batch, counted
from unnaive.models.classifier import Classifier, first_of_the_best
from unnaive.models.fitted import MOST_WEIGHTS, calibrate
from unnaive.models.gaussian_folds import NumberFolds, fit_and_leave_out
from unnaive.models.persistence import plain
from unnaive.schema import learn_target
from unnaive.tables.calibration import Calibration, calibrated
from unnaive.tables.left_out import some_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray, State
    from unnaive.counts import CodedRows
    from unnaive.io.frames import Frame
    from unnaive.models.base import CountsClassifier
    from unnaive.models.fitted import Fitted
    from unnaive.models.gaussian import GaussianClassifier
    from unnaive.models.inputs import Given

    Finish = Callable[[], object]

FOLDS = 5
MOST_ROWS = 20_000  # held-out predictions; with more rows, an equal share of every class
_LEAST_SHARE = 0.05
_NO_CHANCE = 1e-300  # instead of probability 0
_ROUNDS = 200
_ENOUGH = 1e-5  # rounds stop if no share changes by more


@dataclass(frozen=True, eq=False)
class Member:
    """A model of a blend, the calibration of its log joint, and its weight."""

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
    """A member, and its held-out log posteriors (n, k)."""

    member: Member
    left_out: FloatArray
    classes: IntArray
    importance: FloatArray
    finish: Finish | None = None  # what the fit of a member still lacks

    @property
    def log_loss(self) -> float:
        """Mean held-out log loss."""
        return -float(np.average(self.of_true_class, weights=self.importance))

    @property
    def of_true_class(self) -> FloatArray:
        """Held-out log posterior of the true classes; shape (n,)."""
        return np.asarray(self.left_out[np.arange(len(self.classes)), self.classes])

    def measures(self) -> State:
        """Held-out log loss and accuracy."""
        right = first_of_the_best(self.left_out) == self.classes
        accuracy = float(np.average(right, weights=self.importance))
        return {"log_loss": self.log_loss, "accuracy": accuracy}


def judge(
    name: str, model: Classifier, joint: FloatArray, classes: IntArray, importance: FloatArray
) -> Judged:
    """Calibrate a model by held-out log joints, and keep its calibrated posteriors."""
    member = Member(name, model, calibrated(joint, classes, importance, model.n_jobs))
    return Judged(member, member.calibrate(joint), classes, importance)


class LeftOutRows(NamedTuple):
    """Held-out log joints (m, k) of some rows, their positions, and their classes (m,).

    ``finish`` does what the fit still lacks, if the model becomes a member.
    """

    joint: FloatArray
    chosen: IntArray
    classes: IntArray
    finish: Finish | None = None


class Trial:
    """Rows to compare candidates on; candidates with the same bins share the codes.

    If ``late``, tables that are not needed to judge a candidate are made by ``finish`` of what
    :meth:`judge` returns.
    """

    def __init__(self, given: Given, *, late: bool = False) -> None:
        self.given, self._late = given, late
        self._coded: dict[str, tuple[CodedRows, AnyArray]] = {}
        self._folds: NumberFolds | None = None

    def judge(self, name: str, model: Classifier) -> Judged:
        """Fit a candidate, and compute its held-out predictions."""
        found, weights = model.fit_and_leave_out(self), self.given.weights
        importance = np.ones(len(found.chosen)) if weights is None else weights[found.chosen]
        judged = judge(name, model, found.joint, found.classes, importance)
        return replace(judged, finish=found.finish)

    def coded(self, model: CountsClassifier) -> tuple[CodedRows, AnyArray]:
        """Rows as a candidate codes them, and the class labels."""
        settings = (
            *(model.discretize, model.bins, model.categorical_features, model.categories),
            *(model.min_frequency, model.max_categories, model.missing_as_category),
        )
        key = json.dumps([plain(setting) for setting in settings], default=lambda one: str(id(one)))
        if key not in self._coded:
            self._coded[key] = model.coded(self.given)
        return self._coded[key]

    def of_counts(self, model: CountsClassifier) -> LeftOutRows:
        """Fit a model of counts to all rows, and leave some of them out of its tables."""
        rows, labels = self.coded(model)
        chosen = some_rows(rows.classes, MOST_ROWS)
        fitting = model.fitting(rows.schema)
        fitting.recipe.tables.require(rows.schema, fitting.how, 2)  # before the fit
        counts, learned = fitting.learned_of_rows(rows)
        every = None if learned.left_out is None else learned.left_out()
        learned = replace(learned, left_out=None)

        def finish() -> Fitted:
            fitted = fitting.of_counts(counts, learned, self.given.names, labels)
            model._fitted = fitted if model.calibrate is None else calibrate(fitted, rows)
            return model._fitted

        if every is None:
            given = fitting.counted(counts, learned)
            joint = given.left_out_joint(rows.take(chosen), MOST_WEIGHTS)
        else:
            joint = every[chosen]
        late = self._late and model.calibrate is None
        if not late and (calibration := finish().calibration) is not None:
            calibration.apply(joint)
        return LeftOutRows(joint, chosen, rows.classes[chosen], finish if late else None)

    def of_moments(self, model: GaussianClassifier) -> LeftOutRows:
        """Fit a model of moments to all rows, and to those without each fold."""
        frame, target, weights, names = self.given
        if self._folds is None:
            fold = folds_of(learn_target(target)[1])
            self._folds = NumberFolds.of(model, frame, target, weights, fold)
        fitted, joint = fit_and_leave_out(model, self._folds, names)
        model._fitted = fitted
        classes = self._folds.rows.classes
        chosen = some_rows(classes, MOST_ROWS)
        return LeftOutRows(joint[chosen], chosen, classes[chosen])

    def of_folds(self, model: Classifier) -> LeftOutRows:
        """Fit any model to all rows, and to those without each fold."""
        frame, target, weights, names = self.given
        model.fit(frame, target, weights)
        model._fitted = replace(model.fitted_, names=names)  # those of the user's table, if any
        classes = model.schema_.encode_target(target)
        fold, labels = folds_of(classes), model.classes_
        joint = np.empty((len(fold), len(labels)))
        for number in range(FOLDS):
            inside, outside = fold == number, fold != number
            other = clone(model)
            some = None if weights is None else weights[outside]
            other.partial_fit(frame.take(outside), target.take(outside), labels.tolist(), some)
            joint[inside] = other._predict_rows(frame.take(inside), log_posterior)
        chosen = some_rows(classes, MOST_ROWS)
        return LeftOutRows(joint[chosen], chosen, classes[chosen])


def leaves_out(model: Any) -> bool:
    """Whether a model's tables can be made without a row."""
    counts = hasattr(model, "loo_predict_proba")
    return counts and model.recipe().tables.leaves_out


def left_out_afresh(model: Any, given: Given, folds: int) -> FloatArray:
    """Leave-one-out posteriors of all samples of a fitted model; shape (n, k).

    Each sample is left out of the tables, as in ``loo_predict_proba``. Bins and structure are
    learned without the samples of its fold, so that it has no say in them either; the tables
    count all other samples.
    """
    labels = model.classes_
    classes = model.schema_.encode_target(given.target)
    fold, out = folds_of(classes, folds), np.empty((len(classes), len(labels)))
    for number in range(folds):
        inside, outside = fold == number, fold != number
        other = clone(model)
        rest, _ = other.coded(_some(given, outside), labels.tolist())
        held, fitting = (
            coded_batch(other, _some(given, inside), rest.schema),
            other.fitting(rest.schema),
        )
        counts, learned = fitting.learned_of_rows(rest)
        every = counts + counted(counts, held)
        fitted = fitting.of_counts(every, learned, given.names, labels)
        joint = fitted.left_out_joint(held, MOST_WEIGHTS)
        if model.calibrate is not None:
            before = fitting.of_counts(counts, learned, given.names, labels)
            left_out = before.left_out_joint(rest, MOST_WEIGHTS)
            calibrated(left_out, rest.classes, rest.weights, rest.n_jobs).apply(joint)
        chances = np.empty_like(joint)
        posterior(joint, chances)
        out[inside] = chances
    return out


def _some(given: Given, chosen: BoolArray) -> Given:
    """Return the chosen samples."""
    weights = None if given.weights is None else given.weights[chosen]
    return given._replace(
        frame=given.frame.take(chosen), target=given.target.take(chosen), weights=weights
    )


def folds_of(classes: IntArray, folds: int = FOLDS) -> IntArray:
    """Assign rows to stratified folds; shape (n,)."""
    order = np.argsort(classes, kind="stable")
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = np.arange(len(order)) % folds
    return fold


def blend_weights(judged: list[Judged]) -> FloatArray:
    """Weights of largest held-out likelihood; small ones are dropped, and the rest fitted again.

    The likelihood is concave in the weights, so the start does not matter.
    """
    logs = np.stack([one.of_true_class for one in judged], axis=1)
    top = logs.max(axis=1, keepdims=True)
    level = logs - np.where(np.isneginf(top), 0.0, top)
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
    """Return the weights, or a single member if it is better, as after too few rounds."""
    alone = importance @ np.log(chances)
    best = first_best(alone)
    if importance @ np.log(chances @ shares) > alone[best]:
        return shares
    return np.asarray(np.arange(len(shares)) == best, dtype=np.float64)
