"""ConformalClassifier: a model whose prediction sets have a coverage that was calibrated."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from unnaive import __version__
from unnaive._core.tables import posterior
from unnaive._docstrings import described_like
from unnaive._scikit import BaseEstimator, ClassifierMixin, check_is_fitted, clone
from unnaive.exceptions import UnnaiveError
from unnaive.io import store
from unnaive.models.classifier import Classifier
from unnaive.models.inputs import numbers_of_classes
from unnaive.models.persistence import model_of, plain, state_of
from unnaive.models.sets import (
    PENALTY,
    SCORES,
    PredictionSets,
    Scored,
    check_coverage,
    p_values_of,
    scores_of,
    sets_of,
)
from unnaive.models.trial import MOST_ROWS, Trial, folds_of, leaves_out, left_out_afresh
from unnaive.parameters import check_parameters, number, one_of, whole
from unnaive.schema import learn_target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray, Label, State
    from unnaive.io.frames import Frame
    from unnaive.models.inputs import Given

KIND = "conformal"


class Fold(NamedTuple):
    """Scores of samples that one model was not fitted to, and that model."""

    scored: Scored
    model: Classifier


@dataclass(eq=False, repr=False)
class ConformalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Conformal prediction: sets of classes that contain the true one with a stated probability.

    Samples that a model was not fitted to show how badly its probabilities fit the true classes;
    a new sample's set has the classes that do not fit worse than most of these.

    ========  ==============================  ============================================
    method    scores of                       guarantee, for exchangeable samples
    ========  ==============================  ============================================
    "loo"     all samples, by leave-one-out   none for finite numbers, as for the jackknife;
              from counts; bins and           near 1 − α: 90.1 % for 90 % on 34 data sets
              structure without their fold
    "cross"   all samples, by models without  coverage ≥ 1 − 2α (up to 2(1 − 1/K)/(n/K + 1)),
              their fold; folds + 1 fits      usually near 1 − α
    "split"   samples that are held out and   coverage ≥ 1 − α
              given up; one fit
    ========  ==============================  ============================================

    With more than 20,000 samples, bins and structure of "loo" are those of all samples, on which a
    single one has no influence to speak of, and 20,000 samples are scored. Models without
    leave-one-out in closed form, such as Gaussian ones, use held-out folds for "loo". Copies of
    samples are not exchangeable with new ones: remove them first.

    Parameters
    ----------
    estimator : Classifier, default=None
        Model of this library; None: :class:`TAN`.
    method : {"loo", "cross", "split"}, default="loo"
        Where the scores come from.
    conformity : {"lac", "aps", "raps"}, default="lac"
        How badly a class fits. "lac": 1 − P(c | x); gives the smallest sets on average. "aps": the
        probability of the class and of all more probable ones; adapts sets to hard samples. "raps":
        "aps" plus ``penalty`` for every class after the second; avoids large sets.
    coverage : float, default=0.9
        Coverage of ``predict_set``, if it is not given there.
    by_class : bool, default=False
        Calibrate every class by itself, so that the coverage holds in rare classes too.
    groups : str or int, default=None
        Name or position of a feature; the coverage holds in each of its categories or bins.
    penalty : float, default=0.1
        See ``conformity="raps"``.
    folds : int, default=5
        Number of folds of ``method="cross"``, and of those without which "loo" learns bins and
        structure.
    calibration_size : float, default=0.25
        Share of the samples that ``method="split"`` holds out.
    random_state : int, default=0
        Random seed of the samples that ``method="split"`` holds out.

    Attributes
    ----------
    estimator_ : Classifier
        The fitted model, of all samples except those held out by "split".
    classes_ : ndarray of shape (k,)
        Class labels.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    Classifier.predict_set : Sets of a fitted model.
    Classifier.predict_interval : Intervals of probabilities.

    References
    ----------
    Vovk, Gammerman & Shafer, "Algorithmic learning in a random world", 2005. Vovk, "Cross-conformal
    predictors", 2015. Barber et al., "Predictive inference with the jackknife+", Annals of
    Statistics 49, 2021. Sadinle, Lei & Wasserman (LAC), JASA 114, 2019. Angelopoulos et al. (RAPS),
    ICLR 2021.

    Examples
    --------
    >>> from unnaive import TAN, ConformalClassifier
    >>> from unnaive.datasets import load_wdbc
    >>> X, y = load_wdbc().X, load_wdbc().y
    >>> model = ConformalClassifier(TAN()).fit(X[::2], y[::2])
    >>> model.predict_set(X[1:2], coverage=0.95).labels(0)
    ['malignant']
    """

    estimator: Any = None
    _: KW_ONLY
    method: str = one_of("loo", "cross", "split")
    conformity: str = one_of(*SCORES)
    coverage: float = 0.9
    by_class: bool = one_of(False, True)
    groups: Any = None
    penalty: float = number(PENALTY, 0)
    folds: int = whole(5, 2)
    calibration_size: float = number(0.25, 0)
    random_state: int = whole(0, 0)

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Fit the model, and score samples that it was not fitted to.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Features.
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), default=None
            Weights of the samples in the model; their scores count equally.

        Returns
        -------
        Self
            The fitted model.
        """
        check_parameters(self)
        check_coverage(self.coverage)
        model = self._model()
        given = model._given(X, y, sample_weight, first=True)
        fitting = {"loo": self._left_out, "cross": self._crossed, "split": self._split}
        folds = fitting[self.method](model, given)
        self._fitted = (folds[-1].model if self.method != "cross" else model, tuple(folds))
        return self

    def _model(self) -> Classifier:
        from unnaive.models.tree import TAN  # noqa: PLC0415 - loads when asked

        model = TAN() if self.estimator is None else clone(self.estimator)
        if not isinstance(model, Classifier):
            raise TypeError(f"estimator={self.estimator!r}; it must be a model of this library")
        return model

    def _left_out(self, model: Classifier, given: Given) -> list[Fold]:
        if leaves_out(model) and given.frame.n_rows <= MOST_ROWS:
            model.fit(given.frame, given.target, given.weights)
            model._fitted = replace(model.fitted_, names=given.names)
            chances = left_out_afresh(model, given, self.folds)
            classes = model.schema_.encode_target(given.target)
            groups = self._groups_of(model, given.frame)
        else:
            joint, chosen, classes, _ = model.fit_and_leave_out(Trial(given))
            chances = np.empty_like(joint)
            posterior(joint, chances)
            groups = self._groups_of(model, given.frame)[chosen]
        return [Fold(self._scored(chances, classes, groups), model)]

    def _crossed(self, model: Classifier, given: Given) -> list[Fold]:
        model.fit(given.frame, given.target, given.weights)
        model._fitted = replace(model.fitted_, names=given.names)
        classes = model.schema_.encode_target(given.target)
        fold = folds_of(classes, self.folds)
        groups, labels = self._groups_of(model, given.frame), model.classes_.tolist()
        folds = []
        for place in range(self.folds):
            inside, other = fold == place, clone(model)
            chances = _held_out(other, given, inside, labels)
            folds.append(Fold(self._scored(chances, classes[inside], groups[inside]), other))
        return folds

    def _split(self, model: Classifier, given: Given) -> list[Fold]:
        n_rows = given.frame.n_rows
        held = round(self.calibration_size * n_rows)
        if not 0 < held < n_rows:
            raise ValueError(
                f"calibration_size={self.calibration_size!r} of {n_rows} samples leaves none to "
                "fit, or none to calibrate with; give a share between 0 and 1"
            )
        inside = np.zeros(n_rows, dtype=bool)
        inside[np.random.default_rng(self.random_state).permutation(n_rows)[:held]] = True
        labels, classes = learn_target(given.target)[:2]
        chances = _held_out(model, given, inside, list(labels))
        groups = self._groups_of(model, given.frame.take(inside))
        return [Fold(self._scored(chances, classes[inside], groups), model)]

    def _scored(self, chances: FloatArray, classes: IntArray, groups: IntArray) -> Scored:
        scores = scores_of(chances, self.conformity, self.penalty)
        return Scored(scores[np.arange(len(scores)), classes], classes, groups)

    def _groups_of(self, model: Classifier, frame: Frame) -> IntArray:
        """Codes of the feature whose values are groups; 0 without groups."""
        if self.groups is None:
            return np.zeros(frame.n_rows, dtype=np.int64)
        names, codes_of = list(model.schema_.names), getattr(model, "codes_of", None)
        place = names.index(self.groups) if self.groups in names else self.groups
        if codes_of is None or not isinstance(place, int) or not 0 <= place < len(names):
            raise ValueError(
                f"groups={self.groups!r}; it must be the name or position of a feature of a model "
                "that learns from counts"
            )
        return np.asarray(codes_of(frame, model.n_jobs)[place], dtype=np.int64)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the model was fitted."""
        return "_fitted" in self.__dict__

    @property
    def estimator_(self) -> Classifier:
        """The fitted model."""
        if "_fitted" not in self.__dict__:
            raise AttributeError("this ConformalClassifier is not fitted yet; call fit first")
        return self._fitted[0]

    @property
    def classes_(self) -> AnyArray:
        """Class labels; shape (k,)."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return self.estimator_.n_features_in_

    def predict(self, X: object) -> AnyArray:
        """Predict the most probable class of every sample.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Samples.

        Returns
        -------
        ndarray of shape (n,)
            Class labels.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @described_like(predict)
    def predict_proba(self, X: object) -> FloatArray:
        """Compute the posterior probability P(c | x) of samples, by the fitted model.

        Returns
        -------
        ndarray of shape (n, k)
            Posterior probabilities.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def predict_set(
        self,
        X: object,
        coverage: float | None = None,
        *,
        prior: ArrayLike | Mapping[Label, float] | None = None,
    ) -> PredictionSets:
        """Predict the set of classes of every sample.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Samples.
        coverage : float, default=None
            Share of samples whose set is to contain the true class; None: the parameter.
        prior : array of shape (k,) or mapping, default=None
            Prior probabilities of the classes among the new samples, if they differ from those of
            the calibration samples; probabilities and scores are weighted for it.

        Returns
        -------
        PredictionSets
            Which classes are in the set of every sample, and the p-values of all classes.
        """
        check_is_fitted(self)
        coverage = self.coverage if coverage is None else coverage
        check_coverage(coverage)
        model, folds = self._fitted
        frame, weights = model.known_frame(X), self._weights(prior)
        groups = self._groups_of(model, frame)
        seen = [(one.scored, self._scores(one.model, frame)) for one in folds]
        p_values = p_values_of(seen, groups, weights, by_class=bool(self.by_class))
        return sets_of(p_values, self.classes_, coverage)

    def _scores(self, model: Classifier, frame: Frame) -> FloatArray:
        return scores_of(model._predict_rows(frame, posterior), self.conformity, self.penalty)

    def _weights(self, prior: ArrayLike | Mapping[Label, float] | None) -> FloatArray:
        """Weights of the classes' scores: ratios of the priors; shape (k,)."""
        k = len(self.classes_)
        if prior is None:
            return np.ones(k)
        wanted = numbers_of_classes(prior, self.classes_.tolist(), "prior")
        classes = np.concatenate([fold.scored.classes for fold in self._fitted[1]])
        shares = np.bincount(classes, minlength=k) / max(len(classes), 1)
        if (wanted <= 0).any() or not np.isclose(wanted.sum(), 1.0) or (shares <= 0).any():
            raise ValueError(
                f"prior={prior!r}; it must hold a positive probability of every class, summing to "
                "1, and every class must be among the calibration samples"
            )
        return np.asarray(wanted / shares)

    def save(self, path: str | Path) -> None:
        """Write model and scores to one file, atomically; :func:`unnaive.load` reads it.

        Parameters
        ----------
        path : str or path
            Name of the file.
        """
        check_is_fitted(self)
        model, folds = self._fitted
        state: State = {
            "parameters": {k: plain(v) for k, v in self.get_params(deep=False).items()},
            "estimator": state_of(model),
            "folds": {str(place): _state(fold, model) for place, fold in enumerate(folds)},
        }
        state["parameters"].pop("estimator")
        store.save(path, state, kind=KIND, written_by=__version__)

    @classmethod
    def restored(cls, state: State) -> Self:
        """Restore the model from what :meth:`save` wrote.

        Parameters
        ----------
        state : dict
            Plain values and arrays.

        Returns
        -------
        Self
            The fitted model.
        """
        from unnaive.models.registry import class_of  # noqa: PLC0415 - loads when asked

        model = model_of(state["estimator"], class_of)
        conformal = cls(clone(model), **state["parameters"])
        check_parameters(conformal)
        folds = []
        for _, saved in sorted(state["folds"].items(), key=lambda entry: int(entry[0])):
            arrays = [np.asarray(saved[name]) for name in ("scores", "classes", "groups")]
            if len({len(array) for array in arrays}) != 1:
                raise UnnaiveError("the scores of a fold differ in length; the file is damaged")
            other = model_of(saved["model"], class_of) if "model" in saved else model
            folds.append(Fold(Scored(*arrays), other))
        conformal._fitted = (model, tuple(folds))
        return conformal


def _held_out(
    model: Classifier, given: Given, inside: BoolArray, labels: list[Label]
) -> FloatArray:
    """Fit a model to the samples outside of a fold, and predict those inside; shape (m, k)."""
    weights = None if given.weights is None else given.weights[~inside]
    rest, target = given.frame.take(~inside), given.target.take(~inside)
    model.partial_fit(rest, target, labels, weights)
    model._fitted = replace(model.fitted_, names=given.names)
    return model._predict_rows(given.frame.take(inside), posterior)


def _state(fold: Fold, model: Classifier) -> State:
    scored = fold.scored
    state: State = {"scores": scored.scores, "classes": scored.classes, "groups": scored.groups}
    return state if fold.model is model else {**state, "model": state_of(fold.model)}
