"""AutoBayes: candidates judged by left-out log loss, the best of them or a blend of a few."""

from __future__ import annotations

import time
import warnings
from copy import copy
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unnaive import _progress
from unnaive._scikit import check_is_fitted, clone
from unnaive._ties import first_best
from unnaive.exceptions import UnnaiveError
from unnaive.models.aode import AODE
from unnaive.models.base import CountsClassifier
from unnaive.models.classifier import Classifier, all_or_nothing
from unnaive.models.gaussian import GaussianClassifier
from unnaive.models.gaussian_folds import NumberFolds, fit_and_leave_out
from unnaive.models.gaussian_networks import FullBayes, GaussianTAN
from unnaive.models.judged import (
    Judged,
    Member,
    blend_weights,
    fitted_and_left_out,
    folds_of,
    judge,
    left_out_of_folds,
)
from unnaive.models.kdb import KDB
from unnaive.models.left_out import some_rows
from unnaive.models.persistence import model_of, state_of
from unnaive.models.weighted import WeightedBayes
from unnaive.schema import label_array, learn_target
from unnaive.schema.learn import is_categorical
from unnaive.tables.calibration import Calibration

if TYPE_CHECKING:
    from typing import Self

    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows
    from unnaive.io.frames import Column, Frame
    from unnaive.schema import Schema
    from unnaive.tables.terms import Terms

_COMMON = ("categorical_features", "categories", "handle_unknown", "class_prior")
MOST_ROWS = 20_000  # that candidates are judged by; of more, an equal share of every class
_POOLING = (0.1, 0.5, 1.0)
_FEW_COLUMNS = 40
_SMALL = 1 << 26  # bytes of tables that are worth their time


def default_candidates(frame: Frame, max_memory: int) -> dict[str, Classifier]:
    """Models that AutoBayes tries, in this order, by name.

    AODE where its tables are small, equal bins for a few columns with numbers, Gaussian models
    for numbers without gaps: with gaps they take far longer than all others together.
    """
    bins: dict[str, Any] = {"discretize": "auto", "smoothing": "hierarchical"}
    found: dict[str, Classifier] = {
        "wanbia": WeightedBayes(dependences="none", **bins),
        "weighted-pairs": WeightedBayes(**bins),
        "kdb": KDB(k="loo", n_features="loo", discretize="auto"),
        "aode": AODE(**bins, max_memory=min(max_memory, _SMALL)),
    }
    columns = [frame.column(index) for index in range(len(frame.names))]
    if len(columns) <= _FEW_COLUMNS and not all(is_categorical(one) for one in columns):
        equal = {**bins, "discretize": "quantile", "bins": 10}
        found["weighted-pairs (equal bins)"] = WeightedBayes(**equal)
    if not any(column.is_text or column.missing.any() for column in columns):
        found |= {"gaussian-tan": GaussianTAN(), "full-bayes": FullBayes()}
        found |= {f"full-bayes (pooling {part:g})": FullBayes(pooling=part) for part in _POOLING}
    return found


@dataclass(eq=False, repr=False, kw_only=True)
class AutoBayes(Classifier):
    r"""Try several models and take the best, or a blend of a few.

    .. math:: P(c \mid x) = \sum_m v_m P_m(c \mid x), \qquad v_m \ge 0, \quad \sum_m v_m = 1

    Every candidate is fitted once to all rows and judged by its left-out log loss: exact
    leave-one-out from counts, with a temperature and a bias a class; for weighted Bayes the
    weights, for Gaussian models the fit itself, are of five folds. The weights :math:`v` are
    those of largest left-out likelihood; members of less than a twentieth are dropped.

    Parameters
    ----------
    choose : {"blend", "best"}, default="blend"
        "best": the one candidate of least left-out log loss, a model that can be read as such.
    candidates : dict of models, list of keys, or None, default=None
        What is tried, as ``{"name": model}`` or as keys of :func:`unnaive.all_models`. None:
        weighted naive Bayes, weighted pairs, selective KDB and AODE with automatic bins; for up
        to 40 columns with numbers, weighted pairs with ten equally frequent bins, too; and for
        numbers without gaps Gaussian TAN, and full Bayes with more or less of the classes'
        covariances pooled.
    time_budget : float, default=None
        Seconds after which no further candidate is started.
    categorical_features, categories, handle_unknown, max_memory, class_prior
        As in all models, for the candidates that take them; what is left at its default leaves
        a candidate's own setting alone.
    threshold_bias, n_jobs
        As in all models.

    Attributes
    ----------
    leaderboard_ : list of dict
        Candidates by left-out log loss: name, log_loss, accuracy, seconds, weight; with why, if
        one was left out.
    members_ : list of Member
        The models that answer: name, model, calibration, weight.

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

    choose: str = "blend"
    candidates: Any = None
    time_budget: float | None = None
    categorical_features: Any = "auto"
    categories: Any = None
    handle_unknown: str = "missing"
    max_memory: int = 2**31

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : array, pandas, polars or pyarrow table of shape (n, d)
            Missing cells (NaN, None, NA, null) are welcome.
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), default=None
            Weights of the rows.
        """
        self._check_settings()
        frame, target, weights = self._rows(X, y, sample_weight, reset=True)
        return self._fit_frame(_Rows(frame, target, weights))

    def _fit_frame(self, rows: _Rows) -> Self:
        started = time.perf_counter()
        judged: list[Judged] = []
        lines: list[dict[str, Any]] = []
        failures: list[Exception] = []
        watch = _progress.watcher()
        for name, candidate in self._candidates(rows.frame).items():
            begun = time.perf_counter()
            if judged and self.time_budget is not None and begun - started > self.time_budget:
                lines.append({"name": name, "why": "the time was up"})
                continue
            try:
                found = rows.try_out(name, candidate)
            except (UnnaiveError, ValueError, ArithmeticError) as error:
                failures.append(error)
                lines.append({"name": name, "why": str(error)})
                continue
            judged.append(found)
            spent = time.perf_counter() - begun
            lines.append({"name": name, **found.measures(), "seconds": spent})
            if watch is not None:
                best = min(one.log_loss for one in judged)
                watch(Tried(len(judged), best, len(judged), time.perf_counter() - started))
        if not judged:
            raise failures[0]
        return self._take(judged, lines)

    def _candidates(self, frame: Frame) -> dict[str, Classifier]:
        """Candidates with the settings that all share."""
        found = self._named_candidates(frame)
        usual = type(self)().get_params(deep=False)
        for model in found.values():
            known = model.get_params(deep=False)
            shared = {
                name: getattr(self, name)
                for name in _COMMON
                if name in known and not _same(getattr(self, name), usual[name])
            }
            if "max_memory" in known:
                shared["max_memory"] = min(self.max_memory, known["max_memory"])
            model.set_params(**shared, n_jobs=self.n_jobs)
        return found

    def _named_candidates(self, frame: Frame) -> dict[str, Classifier]:
        """Candidates as they were named, or given."""
        from unnaive.models import make  # noqa: PLC0415 - which imports this module

        given = self.candidates
        if given is None:
            return default_candidates(frame, self.max_memory)
        if isinstance(given, list | tuple) and given and all(isinstance(key, str) for key in given):
            found = {key: make(key) for key in given}
        else:
            found = dict(given) if isinstance(given, dict) else {}
        good = [
            isinstance(one, Classifier) and type(one) is not type(self) for one in found.values()
        ]
        if not good or not all(good):
            raise ValueError(
                f"candidates={given!r}; it must name models other than AutoBayes, as in "
                "['nb', 'tan'] or {'my tan': TAN(smoothing='bdeu')}"
            )
        return {str(name): clone(model) for name, model in found.items()}

    def _take(self, judged: list[Judged], lines: list[dict[str, Any]]) -> Self:
        """Choose the members, and write the leaderboard."""
        if self.choose == "best":
            best = first_best(np.array([-one.log_loss for one in judged]))
            shares = (np.arange(len(judged)) == best).astype(float)
        else:
            shares = blend_weights(judged)
        by_name = {one.member.name: share for one, share in zip(judged, shares, strict=True)}
        for line in lines:
            line["weight"] = float(by_name.get(line["name"], 0.0))
        self.leaderboard_ = sorted(lines, key=lambda line: line.get("log_loss", np.inf))
        self.members_ = [
            replace(one.member, weight=float(share))
            for one, share in zip(judged, shares, strict=True)
            if share > 0
        ]
        self.classes_ = self.members_[0].model.classes_
        for member in self.members_:
            names = member.model.schema_.names
            member.model._set_names(names, named=hasattr(self, "feature_names_in_"))
        return self

    @property
    def schema_(self) -> Schema:
        """What the columns are to the member of most weight; one that counts, if there is."""
        check_is_fitted(self)
        counting = [one for one in self.members_ if isinstance(one.model, CountsClassifier)]
        heaviest = max(counting or self.members_, key=lambda member: member.weight)
        schema: Schema = heaviest.model.schema_
        return schema

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what the members learned; shares, weights and calibration stay.

        The first call is a ``fit`` to its rows.
        """
        if not hasattr(self, "members_"):
            if classes is not None and set(classes) != set(np.unique(np.asarray(y)).tolist()):
                raise UnnaiveError(
                    "AutoBayes judges candidates by the rows of the first call, so these must "
                    "hold every class; give more rows"
                )
            return self.fit(X, y, sample_weight)
        return self._each("partial_fit", X, y, sample_weight)

    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of what the members learned; shares, weights and calibration stay."""
        check_is_fitted(self)
        return self._each("forget", X, y, sample_weight)

    def _each(self, method: str, X: Any, y: Any, sample_weight: Any) -> Self:
        frame = self._frame(X, reset=False)
        changed = [copy(member.model) for member in self.members_]
        for model in changed:
            getattr(model, method)(frame, y, sample_weight=sample_weight)
        self.members_ = [
            replace(member, model=model)
            for member, model in zip(self.members_, changed, strict=True)
        ]
        return self

    def _predict_rows(self, frame: Frame, normalise: Any = None) -> FloatArray:
        total = np.full((frame.n_rows, len(self.classes_)), -np.inf)
        for member in self.members_:
            np.logaddexp(total, member.log_posterior(frame) + np.log(member.weight), out=total)
        if normalise is None:
            return total
        out = np.empty_like(total)
        normalise(total, out)
        return out

    def _terms(self, frame: Frame) -> Terms:
        from unnaive.tables.terms.blend import blended  # noqa: PLC0415 - loads when asked

        found = []
        for member in self.members_:
            terms = member.model._terms(frame)
            found.append(terms.scaled(member.calibration.temperature, member.calibration.bias))
        return blended(found, np.array([member.weight for member in self.members_]))

    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        raise UnnaiveError(
            "a blend has no densities of single cells; ask its members, model.members_[0].model"
        )

    def _check_settings(self) -> None:
        if self.choose not in {"blend", "best"}:
            raise ValueError(f"choose={self.choose!r}; it must be 'blend' or 'best'")
        budget = self.time_budget
        number = isinstance(budget, Real) and not isinstance(budget, bool)
        if budget is not None and not (number and float(budget) > 0):
            raise ValueError(f"time_budget={budget!r}; it must be a number of seconds, or None")
        if not isinstance(self.max_memory, Real) or not float(self.max_memory) > 0:
            raise ValueError(
                f"max_memory={self.max_memory!r}; it must be a number of bytes above 0"
            )

    def _state(self) -> dict[str, Any]:
        members = {
            str(index): {
                "name": member.name,
                "weight": member.weight,
                "calibration": member.calibration.state(),
                "fitted": state_of(member.model),
            }
            for index, member in enumerate(self.members_)
        }
        return {"members": members, "leaderboard": self.leaderboard_}

    def _restore(self, state: dict[str, Any]) -> Self:
        from unnaive.models import class_of  # noqa: PLC0415 - which imports this module

        self.leaderboard_ = state["leaderboard"]
        self.members_ = [
            Member(
                line["name"],
                model_of(line["fitted"], class_of),
                Calibration(**line["calibration"]),
                line["weight"],
            )
            for _, line in sorted(state["members"].items(), key=lambda entry: int(entry[0]))
        ]
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there are members."""
        return hasattr(self, "members_")


def _same(value: Any, usual: Any) -> bool:
    """Whether a setting is the usual one, and a candidate's own stays."""
    return isinstance(value, type(usual)) and bool(value == usual)


class Tried(NamedTuple):
    """How far AutoBayes is: candidates tried, the least log loss, and seconds."""

    number: int
    best: float
    evaluations: int
    seconds: float


class _Rows:
    """Rows to try candidates on; those that cut columns alike share the codes."""

    def __init__(self, frame: Frame, target: Column, weights: FloatArray | None) -> None:
        self.frame, self.target, self.weights = frame, target, weights
        self._coded: dict[str, CodedRows] = {}
        self._folds: NumberFolds | None = None

    def try_out(self, name: str, model: Classifier) -> Judged:
        """Fit a candidate and judge it."""
        model._set_names(self.frame.names, named=True)
        if isinstance(model, CountsClassifier):
            return self._try_counts(name, model)
        with warnings.catch_warnings():  # of what only the candidate's own parameters could cure
            warnings.simplefilter("ignore", UserWarning)
            if isinstance(model, GaussianClassifier) and model.learns_from_moments:
                joint, classes = self._fit_numbers(model)
            else:
                model.fit(self.frame, self.target, self.weights)
                classes = model.schema_.encode_target(self.target)
                joint = left_out_of_folds(model, self.frame, self.target, self.weights, classes)
        chosen = some_rows(classes, MOST_ROWS)
        return judge(name, model, joint[chosen], classes[chosen], self._importance(chosen))

    def _fit_numbers(self, model: GaussianClassifier) -> tuple[FloatArray, IntArray]:
        """Fit a Gaussian model; left-out log posteriors (n, k), and the classes (n,)."""
        if self._folds is None:
            fold = folds_of(learn_target(self.target)[1])
            self._folds = NumberFolds.of(model, self.frame, self.target, self.weights, fold)
        return fit_and_leave_out(model, self._folds), self._folds.rows.classes

    def _try_counts(self, name: str, model: CountsClassifier) -> Judged:
        settings = (model.discretize, model.bins, model.categorical_features, model.categories)
        if repr(settings) not in self._coded:
            rows = model._learn_rows(self.frame, self.target, self.weights)
            self._coded[repr(settings)] = rows
        rows = self._coded[repr(settings)]
        model._check_settings()
        model.classes_ = label_array(rows.schema.classes, self.target)
        chosen = some_rows(rows.classes, MOST_ROWS)
        joint = fitted_and_left_out(model, rows, chosen)
        return judge(name, model, joint, rows.classes[chosen], self._importance(chosen))

    def _importance(self, chosen: IntArray) -> FloatArray:
        return np.ones(len(chosen)) if self.weights is None else self.weights[chosen]
