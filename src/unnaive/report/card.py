"""The model card: name, assumption, parameters, training data and limits of a model."""

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


def describe_model(model: Classifier, rows: ReportRows) -> State:
    """Describe a fitted model in plain values."""
    defaults = type(model)().get_params(deep=False)
    learned = _learned_rows(model)
    return {
        "name": type(model).__name__,
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
            for key, value in model.get_params(deep=False).items()
            if key != "n_jobs"
        ],
        "learned_rows": sum(learned),
        "learned_by_class": learned,
        "limits": _limits(model, learned, rows),
    }


def ranked_members(model: Classifier) -> list[Member]:
    """Return the members of a blend, the heaviest first; an empty list for other models."""
    return sorted(members_of(model), key=lambda member: -member.weight)


def _key(model: Classifier) -> str | None:
    """Find the key of the model in ``unnaive.all_models()`` by class and settings."""
    best = None
    for key, factory in all_models().items():
        if getattr(factory, "func", factory) is not type(model):
            continue
        settings = getattr(factory, "keywords", {})
        if all(getattr(model, name) == value for name, value in settings.items()):
            best = key if settings or best is None else best
    return best


def _learned_rows(model: Classifier) -> list[float]:
    """Count, or weigh, the training rows of every class."""
    model = heaviest(model)
    binned = isinstance(model, CountsClassifier)
    counts = model.counts_.class_counts if binned else model.fitted_.moments.class_weights
    return [int(count) if float(count).is_integer() else float(count) for count in counts.tolist()]


def _limits(model: Classifier, learned: list[float], rows: ReportRows) -> list[str]:
    """List the limits of any model, and those of this one."""
    limits = [
        "The model describes associations in these rows, not causes.",
        "Its probabilities may be wrong for rows from other places, times or populations.",
    ]
    if model.counts_twice:
        limits.append(
            "Correlated columns are counted twice, so its probabilities tend to be too close to 0 "
            "and 1; see the calibration."
        )
    if isinstance(model, CountsClassifier):
        limits.append(
            "Numbers are binned: all numbers in a bin are treated alike, and the probability jumps "
            "from bin to bin."
        )
    elif isinstance(model, GaussianClassifier):
        limits.append(
            "Outside the training range its probabilities come from the tails of normal curves."
        )
    if model.sample_ is not None:
        some, every = model.sample_
        limits.append(f"It was fitted to a sample of {some:,} of {every:,} rows.")
    fewest, label = min(zip(learned, rows.labels, strict=True))
    if fewest < 100:
        limits.append(
            f"It learned class {label!r} from only {fewest:,g} {'row' if fewest == 1 else 'rows'}, "
            "so its probabilities for this class are uncertain."
        )
    return limits
