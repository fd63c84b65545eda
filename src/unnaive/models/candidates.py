"""Candidates of AutoBayes: which are tried by default, and how they are tried."""

from __future__ import annotations

import math
import time
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from unnaive import _parallel, _progress
from unnaive._scikit import clone
from unnaive.exceptions import UnnaiveError
from unnaive.models.aode import AODE
from unnaive.models.base import CountsClassifier
from unnaive.models.gaussian_networks import FullBayes, GaussianTAN
from unnaive.models.kdb import KDB
from unnaive.models.weighted import WeightedBayes
from unnaive.schema.learn import is_categorical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unnaive._typing import State
    from unnaive.io.frames import Frame
    from unnaive.models.classifier import Classifier
    from unnaive.models.trial import Judged, Trial

_POOLING = (0.1, 0.5, 1.0)
_PSEUDO_COUNT = 0.25  # of weighted models; better held-out log loss than 0, 0.1, 0.5 and 1
_FEW_COLUMNS = 40
_SMALL = 1 << 26  # bytes of the largest tables of AODE that are tried
_CORRECTED = {"dependences": "none", "discretize": "quantile", "bins": 32, "corrections": 100}
_MOST_CORRECTED = 500_000  # rows times columns times classes
_FULL, _TREE = "full-bayes", "gaussian-tan"
_CLOSE = 1.5  # times the least held-out log loss
_ENOUGH = 1e-4  # held-out log loss after which no further default candidate is tried
_HOPELESS = "full-bayes is better than all other models, or much worse"
_SOLVED = "a candidate before it predicts samples that were held out almost without error"
_MUCH = 20_000  # rows times columns, of which two threads try candidates


def default_candidates(
    frame: Frame, max_memory: float, n_classes: int = 2
) -> dict[str, Classifier]:
    """Models that AutoBayes tries by default, by name and in this order.

    Equal bins are tried for few columns with numbers, and then no weights of single columns, and
    no KDB of numbers alone, which hardly ever enter a blend with them. AODE is tried if its tables
    are small, corrections for moderate numbers of rows, columns and classes, and Gaussian models
    for numbers without missing values, with which they would take very long.
    """
    bins: State = {"discretize": "auto", "smoothing": "hierarchical"}
    reined: State = {**bins, "pseudo_count": _PSEUDO_COUNT}
    columns = [frame.column(index) for index in range(len(frame.names))]
    few = len(columns) <= _FEW_COLUMNS and not all(is_categorical(one) for one in columns)
    complete = not any(column.is_text or column.missing.any() for column in columns)
    models: dict[str, Classifier] = {}
    if not few:
        models["wanbia"] = WeightedBayes(dependences="none", **reined)
    models["weighted-pairs"] = WeightedBayes(**reined, max_order=4)
    if not (few and complete):
        models["kdb"] = KDB(k="loo", n_features="loo", discretize="auto")
    models["aode"] = AODE(**bins, max_memory=min(max_memory, _SMALL))
    if few:
        equal = {**reined, "discretize": "quantile", "bins": 10}
        models["weighted-pairs (equal bins)"] = WeightedBayes(**equal)
    if frame.n_rows * len(columns) * n_classes <= _MOST_CORRECTED:
        models["wanbia (corrected)"] = WeightedBayes(**{**reined, **_CORRECTED})
    if complete:
        models[_FULL] = FullBayes()
        models |= {f"{_FULL} (pooling {share:g})": FullBayes(pooling=share) for share in _POOLING}
        models[_TREE] = GaussianTAN()
    return models


def is_worth_trying(name: str, found: Mapping[str, Tried]) -> bool:
    """Whether a default candidate may enter the blend, given the results of others.

    Where full Bayes is better than all models of counts, or much worse, Gaussian TAN hardly ever
    enters.
    """
    if name != _TREE:
        return True
    full = min(one.loss for other, one in found.items() if other.startswith(_FULL))
    best = min(one.loss for other, one in found.items() if not other.startswith(_FULL))
    return best <= full <= _CLOSE * best


def with_limited(models: Mapping[str, Classifier], max_terms: int) -> dict[str, Classifier]:
    """Return candidates, and copies of the weighted ones with at most ``max_terms`` terms.

    Corrected models are not copied, since corrections are tables that nobody can read.

    Examples
    --------
    >>> from unnaive import TAN
    >>> some = {"tan": TAN(), "wanbia": WeightedBayes(dependences="none")}
    >>> list(with_limited(some, 5))
    ['tan', 'wanbia', 'wanbia, 5 terms']
    """
    short = {
        f"{name}, {max_terms} terms": clone(model).set_params(max_terms=max_terms)
        for name, model in models.items()
        if isinstance(model, WeightedBayes) and not model.corrections
    }
    if not short:
        raise ValueError(
            f"max_terms={max_terms}; none of the candidates is a weighted model without "
            "corrections: name wanbia, weighted-tan or weighted-pairs among them"
        )
    return {**models, **short}


def limited(judged: Sequence[Judged], lines: Sequence[State], max_terms: int) -> list[Judged]:
    """Return the candidates with a limit of terms; the lines of the others say that they have none.

    These are on the leaderboard to show what the limit costs.
    """
    limits = [(one, getattr(one.member.model, "max_terms", None)) for one in judged]
    short = [one for one, limit in limits if limit is not None and limit <= max_terms]
    names = {one.member.name for one in short}
    if not short:
        why = next(line["why"] for line in lines if line["name"].endswith(f", {max_terms} terms"))
        raise UnnaiveError(f"no model with max_terms={max_terms} could be fitted: {why}")
    for line in lines:
        if line["name"] not in names and "why" not in line:
            line["why"] = f"not limited to {max_terms} terms"
    return short


class Tried(NamedTuple):
    """A candidate that was tried: its line of the leaderboard, and the result or the error."""

    line: State
    judged: Judged | None = None
    failure: Exception | None = None

    @property
    def loss(self) -> float:
        """Held-out log loss; infinite if there is no result."""
        return float(self.line.get("log_loss", math.inf))


def tried_candidates(
    trial: Trial,
    candidates: Mapping[str, Classifier],
    n_jobs: int | None,
    *,
    time_budget: float | None = None,
    race: bool = False,
) -> list[Tried]:
    """Try candidates, with several threads if there are many rows and no budget of time.

    Results are in the order of the candidates, and do not depend on the threads. In a race, a
    candidate whose results cannot matter is not tried: after one with nearly no held-out log loss,
    and where it :func:`is_worth_trying` no more.
    """
    frame, done, found = trial.given.frame, count(1), dict[str, Tried]()
    started, order = time.perf_counter(), list(candidates)

    def is_solved(name: str) -> bool:
        before = (found.get(one) for one in order[: order.index(name)])
        return race and any(one.loss < _ENOUGH for one in before if one is not None)

    def try_some(names: list[str]) -> None:
        for name in names:
            begun = time.perf_counter()
            late = time_budget is not None and begun - started > time_budget
            if late and any(one.judged is not None for one in found.values()):
                found[name] = Tried({"name": name, "why": "time_budget was reached"})
            elif race and not is_solved(name) and not is_worth_trying(name, found):
                found[name] = Tried({"name": name, "why": _HOPELESS})
            elif not is_solved(name):
                found[name] = _tried(trial, name, candidates[name], begun)
            _progress.tell("candidates", next(done), len(order))

    much = frame.n_rows * len(frame.names) > _MUCH and time_budget is None
    team = _parallel.Team(n_jobs if much else 1)
    if team.size > 1:
        _code(trial, candidates)
    _progress.tell("candidates", 0, len(order))
    last = [name for name in order if race and name == _TREE]
    first = {name: candidates[name] for name in order if name not in last}
    team.run(try_some, _tasks(first) if team.size > 1 else [list(first)])
    try_some(last)
    return [
        Tried({"name": name, "why": _SOLVED}) if is_solved(name) else found[name] for name in order
    ]


def _tried(trial: Trial, name: str, candidate: Classifier, begun: float) -> Tried:
    """Try one candidate."""
    try:
        judged = trial.judge(name, candidate)
    except (UnnaiveError, ValueError, ArithmeticError) as error:
        if _progress.is_from_callback(error):
            raise
        return Tried({"name": name, "why": str(error)}, failure=error)
    seconds = time.perf_counter() - begun
    return Tried({"name": name, **judged.measures(), "seconds": seconds}, judged)


def _code(trial: Trial, candidates: Mapping[str, Classifier]) -> None:
    """Code the rows for all candidates, before threads share the codes."""
    for model in candidates.values():
        if isinstance(model, CountsClassifier):
            try:
                model._check()
                trial.coded(model)
            except (UnnaiveError, ValueError, ArithmeticError):
                continue  # the candidate raises it again


def _tasks(candidates: Mapping[str, Classifier]) -> Iterator[list[str]]:
    """Yield candidates that one thread tries: the others one after the other, they share folds."""
    counting = [name for name, one in candidates.items() if isinstance(one, CountsClassifier)]
    yield [name for name in candidates if name not in counting]
    for name in counting:
        yield [name]
