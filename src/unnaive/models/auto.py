"""AutoBayes: candidates judged by left-out log loss, the best of them or a blend of a few."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from unnaive import _progress
from unnaive._scikit import check_is_fitted, clone
from unnaive._ties import first_best
from unnaive.exceptions import UnnaiveError
from unnaive.models.aode import AODE
from unnaive.models.classifier import Classifier
from unnaive.models.fitted import Names
from unnaive.models.gaussian_networks import FullBayes, GaussianTAN
from unnaive.models.kdb import KDB
from unnaive.models.leaderboard import Leaderboard
from unnaive.models.partitioned import compact
from unnaive.models.persistence import model_of, state_of
from unnaive.models.trial import Judged, Member, Trial, blend_weights
from unnaive.models.weighted import WeightedBayes
from unnaive.parameters import is_number, number, one_of, parameter
from unnaive.schema.learn import is_categorical
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

_COMMON = ("categorical_features", "categories", "handle_unknown", "class_prior")
_POOLING = (0.1, 0.5, 1.0)
_FEW_COLUMNS = 40
_SMALL = 1 << 26  # bytes of tables that are worth their time


def default_candidates(frame: Frame, max_memory: float) -> dict[str, Classifier]:
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


@dataclass(frozen=True, eq=False)
class Blend:
    """Models that answer together, as they were fitted.

    Attributes
    ----------
    members : tuple of Member
    leaderboard : list of dict
    labels : ndarray of shape (k,)
    names : Names
    settings : dict
        Parameters of the estimator at the fit.
    """

    members: tuple[Member, ...]
    leaderboard: list[State]
    labels: AnyArray
    names: Names
    settings: State

    @property
    def schema(self) -> Schema:
        """What the columns are to the member of most weight; one that counts, if there is."""
        counting = [one for one in self.members if hasattr(one.model, "counts_")]
        heaviest = max(counting or self.members, key=lambda member: member.weight)
        return heaviest.model.schema_

    def light(self) -> Blend:
        """Return the blend without what only learning needs."""
        return replace(
            self,
            members=tuple(replace(member, model=compact(member.model)) for member in self.members),
        )

    def state(self) -> State:
        """Give what was learned as plain values and arrays for the store."""
        members = {
            str(index): {
                "name": member.name,
                "weight": member.weight,
                "calibration": member.calibration.state(),
                "fitted": state_of(member.model),
            }
            for index, member in enumerate(self.members)
        }
        return {"members": members, "leaderboard": self.leaderboard}


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

    choose: str = one_of("blend", "best")
    candidates: Mapping[str, Classifier] | Sequence[str] | None = None
    time_budget: float | None = parameter(
        None,
        "a number of seconds",
        also=(None,),
        test=lambda value: is_number(value, infinite=True) and float(value) > 0,  # type: ignore[arg-type]
    )
    categorical_features: Any = "auto"
    categories: Any = None
    handle_unknown: str = one_of("missing", "error")
    max_memory: float = number(2**31, 1, what="a number of bytes", infinite=True)

    family: ClassVar[str] = "blends"
    assumption: ClassVar[str] = (
        "Several models were tried on rows that were left out, and those that predicted best "
        "answer together, each by its weight."
    )
    without_graph: ClassVar[str] = (
        "There is no single graph to draw: several models answer together."
    )

    @property
    def leaderboard_(self) -> Leaderboard:
        """Candidates by left-out log loss."""
        return Leaderboard(self.fitted_.leaderboard)

    @property
    def members_(self) -> list[Member]:
        """The models that answer."""
        return list(self.fitted_.members)

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
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
        self._check()
        given = self._given(X, y, sample_weight, first=True)
        self._fitted = self._fit_given(given)
        return self

    def _fit_given(self, given: Given) -> Blend:
        """Try the candidates one by one, and choose the members."""
        started = time.perf_counter()
        judged: list[Judged] = []
        lines: list[State] = []
        failures: list[Exception] = []
        named = Names.of(given.frame.names, named=True)  # candidates see frames of ours
        watch, trial = _progress.watcher(), Trial(given._replace(names=named))
        for name, candidate in self._candidates(given.frame).items():
            begun = time.perf_counter()
            if judged and self.time_budget is not None and begun - started > self.time_budget:
                lines.append({"name": name, "why": "the time was up"})
                continue
            try:
                found = trial.judge(name, candidate)
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
        return self._blend(judged, lines, given.names)

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

    def _blend(self, judged: list[Judged], lines: list[State], names: Names) -> Blend:
        """Choose the members, and write the leaderboard."""
        if self.choose == "best":
            best = first_best(np.array([-one.log_loss for one in judged]))
            shares = (np.arange(len(judged)) == best).astype(float)
        else:
            shares = blend_weights(judged)
        by_name = {one.member.name: share for one, share in zip(judged, shares, strict=True)}
        for line in lines:
            line["weight"] = float(by_name.get(line["name"], 0.0))
        board = sorted(lines, key=lambda line: line.get("log_loss", np.inf))
        members = [
            replace(one.member, weight=float(share))
            for one, share in zip(judged, shares, strict=True)
            if share > 0
        ]
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
        """Add rows to what the members learned; shares, weights and calibration stay.

        The first call is a ``fit`` to its rows.
        """
        if "_fitted" not in self.__dict__:
            if classes is not None and set(classes) != set(np.unique(np.asarray(y)).tolist()):
                raise UnnaiveError(
                    "AutoBayes judges candidates by the rows of the first call, so these must "
                    "hold every class; give more rows"
                )
            return self.fit(X, y, sample_weight)
        return self._each("partial_fit", X, y, sample_weight)

    def forget(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Take rows out of what the members learned; shares, weights and calibration stay."""
        check_is_fitted(self)
        return self._each("forget", X, y, sample_weight)

    def _each(self, method: str, X: object, y: object, sample_weight: object) -> Self:
        frame = self.known_frame(X)
        changed = [copy(member.model) for member in self.members_]
        for model in changed:
            getattr(model, method)(frame, y, sample_weight=sample_weight)
        members = tuple(
            replace(member, model=model)
            for member, model in zip(self.members_, changed, strict=True)
        )
        self._fitted = replace(self.fitted_, members=members)
        return self

    def _predict_rows(self, frame: Frame, normalise: Normalise | None = None) -> FloatArray:
        fitted: Blend = self.fitted_
        total = np.full((frame.n_rows, len(fitted.labels)), -np.inf)
        for member in fitted.members:
            np.logaddexp(total, member.log_posterior(frame) + np.log(member.weight), out=total)
        if normalise is None:
            return total
        out = np.empty_like(total)
        normalise(total, out)
        return out

    def terms_of(self, frame: Frame) -> Terms:
        """Split the log joint of a frame's rows, as ``predict_proba`` takes it, into terms."""
        from unnaive.tables.terms.blend import blended  # noqa: PLC0415 - loads when asked

        terms = [
            member.model.terms_of(frame).scaled(
                member.calibration.temperature, member.calibration.bias
            )
            for member in self.members_
        ]
        return blended(terms, np.array([member.weight for member in self.members_]))

    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        raise UnnaiveError(
            "a blend has no densities of single cells; ask its members, model.members_[0].model"
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
        settings = self.settings()
        return Blend(members, state["leaderboard"], labels, names, settings)


def _same(value: object, usual: object) -> bool:
    """Whether a setting is the usual one, and a candidate's own stays."""
    return isinstance(value, type(usual)) and bool(value == usual)


class Tried(NamedTuple):
    """How far AutoBayes is: candidates tried, the least log loss, and seconds."""

    number: int
    best: float
    evaluations: int
    seconds: float
