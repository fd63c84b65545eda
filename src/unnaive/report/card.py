"""The model card: what the model is, what it assumes, what it learned from, and its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.explain.cells import heaviest, members_of
from unnaive.models import CountsClassifier, all_models
from unnaive.models.docstrings import references_of, summary_of
from unnaive.models.gaussian import GaussianClassifier

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.models import Classifier
    from unnaive.models.trial import Member
    from unnaive.report.rows import ReportRows

_ELSEWHERE = "other places, other times, other people"


def describe_model(model: Classifier, rows: ReportRows) -> State:
    """Describe a fitted model in plain values."""
    name = type(model).__name__
    given = model.get_params(deep=False)
    defaults = type(model)().get_params(deep=False)
    learned = _learned_rows(model)
    return {
        "name": name,
        "key": _key(model),
        "summary": summary_of(type(model)),
        "assumes": model.assumption,
        "members": [
            {"name": one.name, "weight": float(one.weight)} for one in ranked_members(model)
        ],
        "without_graph": model.without_graph,
        "references": references_of(type(model)),
        "parameters": [
            {"name": key, "value": repr(value), "changed": repr(value) != repr(defaults[key])}
            for key, value in given.items()
            if key != "n_jobs"
        ],
        "learned_rows": sum(learned),
        "learned_by_class": learned,
        "limits": _limits(model, learned, rows),
    }


def ranked_members(model: Classifier) -> list[Member]:
    """Return the models that a blend answers by, the heaviest first; of others none."""
    return sorted(members_of(model), key=lambda member: -member.weight)


def _key(model: Classifier) -> str | None:
    """Key of the model in ``unnaive.all_models()``, by class and the settings that make it."""
    found = None
    for key, factory in all_models().items():
        if getattr(factory, "func", factory) is not type(model):
            continue
        settings = getattr(factory, "keywords", {})
        if all(getattr(model, name) == value for name, value in settings.items()):
            found = key if settings or found is None else found
    return found


def _learned_rows(model: Classifier) -> list[float]:
    """Rows, or their weights, of every class that the model learned from."""
    model = heaviest(model)
    binned = isinstance(model, CountsClassifier)
    counts = model.counts_.class_counts if binned else model.fitted_.moments.class_weights
    return [int(count) if float(count).is_integer() else float(count) for count in counts.tolist()]


def _limits(model: Classifier, learned: list[float], rows: ReportRows) -> list[str]:
    """Say what to keep in mind, for any model and for this one."""
    found = [
        "It tells what goes together in these rows, not what causes what.",
        f"For rows unlike those it learned from ({_ELSEWHERE}) its probabilities may be wrong.",
    ]
    if model.counts_twice:
        found.append(
            "Columns that say the same count twice, so its probabilities tend to be nearer to 0 "
            "and 1 than they should be; see the calibration."
        )
    if isinstance(model, CountsClassifier):
        found.append(
            "Numbers enter as bins: within a bin it sees no difference, and at its edge a jump."
        )
    elif isinstance(model, GaussianClassifier):
        found.append(
            "Numbers far from all that it has seen are judged by the tail of a bell curve."
        )
    fewest = min(zip(learned, rows.labels, strict=True))
    if fewest[0] < 100:
        found.append(
            f"It has seen {fewest[0]:,g} rows of class {fewest[1]!r}; what it says of them is "
            "uncertain."
        )
    return found
