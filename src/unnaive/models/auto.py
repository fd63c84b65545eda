"""AutoBayes: candidates are compared by held-out log loss; the best one, or a blend, predicts."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._docstrings import described_like
from unnaive._parallel import one_thread_each
from unnaive._scikit import check_is_fitted, clone
from unnaive._ties import first_best
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import table_with_target, to_column
from unnaive.models.base import CountsClassifier
from unnaive.models.candidates import (
    default_candidates,
    limited,
    tried_candidates,
    with_limited,
)
from unnaive.models.classifier import Classifier
from unnaive.models.fitted import Names, shifted
from unnaive.models.leaderboard import Leaderboard
from unnaive.models.partitioned import compact
from unnaive.models.persistence import model_of, state_of
from unnaive.models.trial import Judged, Member, Trial, blend_weights
from unnaive.parameters import frequency, is_number, number, one_of, parameter, whole
from unnaive.schema import learn_target
from unnaive.schema.categories import learn_categories
from unnaive.tables.calibration import Calibration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from unnaive._typing import AnyArray, FloatArray, Label, State
    from unnaive.io.frames import Frame
    from unnaive.models.fitted import Normalise
    from unnaive.models.inputs import Given
    from unnaive.schema import Schema
    from unnaive.tables.terms import Terms

_COMMON = (
    *("categorical_features", "categories", "min_frequency", "max_categories"),
    *("missing_as_category", "handle_unknown", "class_prior"),
)


@dataclass(frozen=True, eq=False)
class Blend:
    """The fitted value of AutoBayes: models whose probabilities are averaged.

    Attributes
    ----------
    members : tuple of Member
        Models, calibrations and weights.
    leaderboard : list of dict
        All candidates and their scores.
    labels : ndarray of shape (k,)
        Class labels.
    names : Names
        Number and names of the columns.
    settings : dict
        Parameters of the estimator at the fit.
    """

    members: tuple[Member, ...]
    leaderboard: list[State]
    labels: AnyArray
    names: Names
    settings: State
    calibration: Calibration | None = None  # of another prior

    @property
    def heaviest(self) -> Member:
        """Return the member of largest weight, preferably one that learns from counts."""
        counting = [one for one in self.members if hasattr(one.model, "counts_")]
        return max(counting or self.members, key=lambda member: member.weight)

    def with_prior(self, log_prior: FloatArray) -> Blend:
        """Return the blend with another prior: its posteriors times the ratio of the priors."""
        shift = log_prior - self.heaviest.model.fitted_.prevalence
        return replace(self, calibration=shifted(self.calibration, shift))

    def importances(self) -> FloatArray:
        """Weighted mean of the members' importances, each normalized to sum 1; shape (d,)."""
        total = np.zeros(self.names.number)
        for member in self.members:
            importances = member.model.feature_importances_
            total += member.weight * importances / max(importances.sum(), np.finfo(float).tiny)
        return total

    @property
    def schema(self) -> Schema:
        """Schema of the member of largest weight, preferably one that learns from counts."""
        return self.heaviest.model.schema_

    def light(self) -> Blend:
        """Return the blend without counts that are not needed for predictions."""
        members = (replace(member, model=compact(member.model)) for member in self.members)
        return replace(self, members=tuple(members))

    def state(self) -> State:
        """Return the fitted value as plain values and arrays for the store."""
        members = {
            str(index): {
                "name": member.name,
                "weight": member.weight,
                "calibration": member.calibration.state(),
                "fitted": state_of(member.model),
            }
            for index, member in enumerate(self.members)
        }
        state: State = {"members": members, "leaderboard": self.leaderboard}
        if self.calibration is not None:
            state["calibration"] = self.calibration.state()
        return state


@dataclass(eq=False, repr=False, kw_only=True)
class AutoBayes(Classifier):
    r"""Model selection: tries several models and takes the best, or a blend of a few.

    .. math:: P(c \mid x) = \sum_m v_m P_m(c \mid x), \qquad v_m \ge 0, \quad \sum_m v_m = 1

    Every candidate is fitted once to all samples, and compared by its held-out log loss: exact
    leave-one-out from counts, calibrated by a temperature and a bias per class; weights of
    weighted Bayes and Gaussian models are fitted without each of five folds. The weights
    :math:`v` maximize the held-out likelihood; members of less than 5 % are dropped. Use it where
    good probabilities matter and no single model has to be explained; ``choose="best"`` gives one
    model.

    Parameters
    ----------
    choose : {"blend", "best"}, default="blend"
        "blend": the weighted mean of several models; "best": the candidate of smallest held-out
        log loss.
    candidates : dict of models, list of keys, or None, default=None
        Candidates as ``{"name": model}`` or as keys of :func:`unnaive.all_models`. None: weighted
        pairs and AODE with automatic bins; for up to 40 features of which some are numeric, also
        with ten equally frequent bins, otherwise also weighted naive Bayes; selective KDB, if not
        all of up to 40 features are numeric and complete; if samples times features times classes
        are at most 500,000, weighted naive Bayes with 32 such bins and ``corrections``; for numeric
        features without missing values, full Bayes with several values of ``pooling``, and Gaussian
        TAN where these are nearly as good as the others. After one whose held-out log loss is below
        0.0001, none of these is tried.
    time_budget : float, default=None
        Seconds after which no further candidate is started.
    max_terms : int, default=None
        With ``choose="best"``, most terms of the model, so that a person can read it: weighted
        candidates are also tried with this limit, and one of these is chosen. The leaderboard has
        the log loss with and without it. None: no limit.
    categorical_features : "auto", list of names or positions, or mask, default="auto"
        As in other models, for the candidates that have this parameter; a default value does not
        change the setting of a candidate. The same holds for the next seven.
    categories : dict or list, default=None
        Declared categories of some features.
    min_frequency : int or float, default=None
        Categories with fewer samples, or a smaller share of them, are grouped.
    max_categories : int, default=None
        Largest number of categories of a feature of labels; the rarest are grouped.
    missing_as_category : bool, list of names or positions, or mask, default=False
        Features in which missing values are a category of their own; True: all features.
    handle_unknown : {"missing", "error"}, default="missing"
        Whether an unseen category counts as a missing value at prediction, or is an error.
    max_memory : int, default=2 GiB
        Most bytes that the tables of a candidate may take.
    class_prior : array of shape (k,), default=None
        Prior probabilities of the classes; None: estimated from the training data.
    {parameters}

    Attributes
    ----------
    leaderboard_ : list of dict
        Candidates by held-out log loss: name, log_loss, accuracy, seconds and weight; ``why`` is
        the reason if a candidate could not be fitted.
    members_ : list of Member
        The models whose probabilities are averaged: name, model, calibration and weight.
    {attributes}

    See Also
    --------
    all_models : Keys of all models.
    WeightedBayes : Often the heaviest member.

    Notes
    -----
    Assumption: several models were compared on samples that they were not fitted to, and those that
    predicted best are averaged, each with its weight.

    Two fits to the same samples agree exactly. The order of the samples may change the result,
    since it decides which samples are held out together.

    References
    ----------
    Smyth & Wolpert, "Linearly combining density estimators via stacking", Machine Learning 36,
    1999.

    Examples
    --------
    >>> from unnaive import AutoBayes
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = AutoBayes(candidates=["nb", "tan"]).fit(data.X, data.y)
    >>> [line["name"] for line in model.leaderboard_]
    ['tan', 'nb']
    >>> model.predict(data.X[:1])
    array(['malignant'], dtype='<U9')
    """

    choose: str = one_of("blend", "best")
    candidates: Mapping[str, Classifier] | Sequence[str] | None = None
    time_budget: float | None = parameter(
        None,
        "a number of seconds",
        also=(None,),
        test=lambda value: is_number(value, infinite=True) and float(value) > 0,  # type: ignore[arg-type]
    )
    max_terms: int | None = whole(None, 1, also=(None,))
    categorical_features: Any = "auto"
    categories: Any = None
    min_frequency: float | None = frequency(None)
    max_categories: int | None = whole(None, 2, also=(None,))
    missing_as_category: Any = False
    handle_unknown: str = one_of("missing", "error")
    max_memory: float = number(2**31, 1, what="a number of bytes", infinite=True)

    family: ClassVar[str] = "blends"
    without_graph: ClassVar[str] = "There is no single graph to draw: several models are averaged."

    @property
    def leaderboard_(self) -> Leaderboard:
        """Candidates by held-out log loss."""
        return Leaderboard(self.fitted_.leaderboard)

    @property
    def members_(self) -> list[Member]:
        """The models whose probabilities are averaged."""
        return list(self.fitted_.members)

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Fit all candidates to samples, and choose the members."""
        self._check()
        with one_thread_each():  # idle threads of a library wait busily
            self._fitted = self._fit_given(self._training(X, y, sample_weight))
        return self

    def _fit_given(self, batch: Given) -> Blend:
        """Try the candidates, and choose the members."""
        named = Names.of(batch.frame.names, named=True)  # candidates are fitted to frames
        trial = Trial(batch._replace(names=named), late=True)
        candidates = self._candidates(batch)
        race = self.candidates is None and self.max_terms is None
        tried = tried_candidates(
            trial, candidates, self.n_jobs, time_budget=self.time_budget, race=race
        )
        judged = [one.judged for one in tried if one.judged is not None]
        if not judged:
            raise next(one.failure for one in tried if one.failure is not None)
        return self._blend(judged, [one.line for one in tried], batch.names)

    def _candidates(self, batch: Given) -> dict[str, Classifier]:
        """Candidates with the settings that all share."""
        models, usual = self._named_candidates(batch), type(self)()
        changed = [name for name in _COMMON if not _same(getattr(self, name), getattr(usual, name))]
        for model in models.values():
            known = _parameters_of(type(model))
            for name in (*known.intersection(changed), "n_jobs"):
                setattr(model, name, getattr(self, name))
            if "max_memory" in known:
                model.max_memory = min(self.max_memory, model.max_memory)
        return models if self.max_terms is None else with_limited(models, self.max_terms)

    def _check(self) -> None:
        super()._check()
        if self.max_terms is not None and self.choose != "best":
            raise ValueError(
                f"max_terms={self.max_terms} with choose={self.choose!r}; a blend has the terms of "
                'all its members: use choose="best", or no max_terms'
            )

    def _named_candidates(self, batch: Given) -> dict[str, Classifier]:
        """Candidates by name: those of the parameter, or the default ones."""
        from unnaive.models import make  # noqa: PLC0415 - which imports this module

        listed = self.candidates
        if listed is None:
            return default_candidates(
                batch.frame, self.max_memory, len(learn_target(batch.target)[0])
            )
        models = dict(listed) if isinstance(listed, dict) else {}
        if isinstance(listed, list | tuple) and all(isinstance(key, str) for key in listed):
            models = {key: make(key) for key in listed}
        kinds = {type(model) for model in models.values()}
        if not kinds or any(
            not issubclass(kind, Classifier) or kind is type(self) for kind in kinds
        ):
            raise ValueError(
                f"candidates={listed!r}; it must name models other than AutoBayes, as in "
                "['nb', 'tan'] or {'my tan': TAN(smoothing='bdeu')}"
            )
        return {str(name): clone(model) for name, model in models.items()}

    def _blend(self, judged: list[Judged], lines: list[State], names: Names) -> Blend:
        """Choose the members, and write the leaderboard."""
        if self.max_terms is not None:
            judged = limited(judged, lines, self.max_terms)
        if self.choose == "best":
            best = first_best(np.array([-one.log_loss for one in judged]))
            shares = (np.arange(len(judged)) == best).astype(float)
        else:
            shares = blend_weights(judged)
        by_name = {one.member.name: share for one, share in zip(judged, shares, strict=True)}
        for line in lines:
            line["weight"] = float(by_name.get(line["name"], 0.0))
        board = sorted(lines, key=lambda line: line.get("log_loss", np.inf))
        members = []
        for one, share in zip(judged, shares, strict=True):
            if share > 0:
                if one.finish is not None:
                    one.finish()
                members.append(replace(one.member, weight=float(share)))
        for member in members:
            model = member.model
            model._fitted = replace(model.fitted_, names=names)
        labels = members[0].model.classes_
        self.bias_of(labels.tolist())
        return Blend(tuple(members), board, labels, names, self.settings())

    def partial_fit(
        self,
        X: object,
        y: object,
        classes: Sequence[Label] | None = None,
        sample_weight: object = None,
    ) -> Self:
        """Add samples to all members; weights and calibration stay.

        The first call fits and compares the candidates; its samples must contain every class.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Features. The first call fixes categories and bin edges.
        y : array of shape (n,)
            Class labels.
        classes : list, default=None
            All class labels, on the first call; None: those in ``y``.
        sample_weight : array of shape (n,), default=None
            Weights of the samples.

        Returns
        -------
        Self
            The updated model.
        """
        if "_fitted" not in self.__dict__:
            if classes is not None and set(classes) != _labels_in(X, y):
                raise UnnaiveError(
                    "AutoBayes compares candidates on the rows of the first call, so these must "
                    "contain every class; give more rows"
                )
            return self.fit(X, y, sample_weight)
        return self._each("partial_fit", X, y, sample_weight)

    @described_like(CountsClassifier.forget)
    def forget(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Unlearn samples in all members; weights and calibration stay."""
        check_is_fitted(self)
        return self._each("forget", X, y, sample_weight)

    def _each(self, method: str, X: object, y: object, sample_weight: object) -> Self:
        if isinstance(y, str):
            X, y = table_with_target(X, y)
        frame = self.known_frame(X)
        members = tuple(replace(member, model=copy(member.model)) for member in self.members_)
        for member in members:
            getattr(member.model, method)(frame, y, sample_weight=sample_weight)
        self._fitted = replace(self.fitted_, members=members)
        return self

    def _predict_rows(self, frame: Frame, normalise: Normalise | None = None) -> FloatArray:
        fitted: Blend = self.fitted_
        total = np.full((frame.n_rows, len(fitted.labels)), -np.inf)
        for member in fitted.members:
            np.logaddexp(total, member.log_posterior(frame) + np.log(member.weight), out=total)
        if fitted.calibration is not None:
            fitted.calibration.apply(total)
        if normalise is None:
            return total
        out = np.empty_like(total)
        normalise(total, out)
        return out

    def terms_of(self, frame: Frame) -> Terms:
        """Split the log joint probability of samples into additive terms of features."""
        from unnaive.tables.terms.blend import blended  # noqa: PLC0415 - loads when asked

        terms = [
            member.model.terms_of(frame).scaled(
                member.calibration.temperature, member.calibration.bias
            )
            for member in self.members_
        ]
        mixture = blended(terms, np.array([member.weight for member in self.members_]))
        prior = self.fitted_.calibration
        return mixture if prior is None else mixture.scaled(prior.temperature, prior.bias)

    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        raise UnnaiveError(
            "a blend has no densities of single values; use its members, model.members_[0].model"
        )

    def _restored(self, state: State, labels: AnyArray, names: Names) -> Blend:
        from unnaive.models.registry import class_of  # noqa: PLC0415 - loads when asked

        members = tuple(
            Member(
                line["name"],
                model_of(line["fitted"], class_of),
                Calibration(**line["calibration"]),
                line["weight"],
            )
            for _, line in sorted(state["members"].items(), key=lambda entry: int(entry[0]))
        )
        prior = Calibration(**state["calibration"]) if "calibration" in state else None
        return Blend(members, state["leaderboard"], labels, names, self.settings(), prior)


@cache
def _parameters_of(kind: type[Classifier]) -> frozenset[str]:
    """Names of the parameters of a class; scikit-learn inspects the signature at every call."""
    listed = getattr(kind, "_get_param_names", None) or kind._defaults  # without scikit-learn
    return frozenset(listed())


def _same(value: object, usual: object) -> bool:
    """Whether a setting has its default value, so that the setting of a candidate stays."""
    return isinstance(value, type(usual)) and bool(value == usual)


def _labels_in(X: object, y: object) -> set[Label]:
    """Return the labels that occur."""
    target = table_with_target(X, y)[1] if isinstance(y, str) else to_column(y)
    known, codes = learn_categories(target)
    return {known.categories[code] for code in np.unique(codes).tolist() if code < known.size}
