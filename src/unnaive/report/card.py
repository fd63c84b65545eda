"""The model card: what the model is, what it assumes, what it learned from, and its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unnaive.models import CountsClassifier, all_models
from unnaive.models.docstrings import references_of, summary_of

if TYPE_CHECKING:
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows

_ASSUMES = {
    "NaiveBayes": "Within a class, every column is taken to be independent of all others. Each "
    "column speaks once, as if it knew nothing of the rest.",
    "SPODE": "Within a class, one column is the parent of all others: what they say depends on its "
    "value. Given the class and that column, they are taken to be independent.",
    "AODE": "Every column in turn is taken as the one parent of all others, and the answers are "
    "averaged. So each column speaks in the light of every other one, but of one at a time.",
    "WAODE": "Every column in turn is taken as the one parent of all others, and the answers are "
    "averaged, weighted by what that column tells of the class.",
    "A2DE": "Every pair of columns in turn is taken as the parents of all others, and the answers "
    "are averaged. So each column speaks in the light of any two others.",
    "TAN": "Within a class, every column depends on at most one other, and these dependences make "
    "a tree. Given its parent and the class, a column is taken to be independent of the rest.",
    "ATAN": "Within a class, every column depends on at most one other, along a tree. The tree is "
    "hung from every column in turn, and the answers are averaged.",
    "ODANB": "Within a class, every column depends on the one other column that tells most about "
    "it, whether or not that column depends on it in turn.",
    "KDB": "Within a class, every column depends on up to k columns that tell more of the class "
    "than itself. Given these and the class, it is taken to be independent of the rest.",
    "HNB": "Every column depends on the weighted mean of all others, its hidden parent. What "
    "three or more columns only tell together is not seen.",
    "PHNB": "Every column depends on the weighted mean of those others alone that tell much about "
    "it. What three or more columns only tell together is not seen.",
    "GeneralizedNB": "Columns enter one by one, each with the one column before it that it tells "
    "most with. Given that column and the class, it is taken to be independent of the rest.",
    "DecomposableNB": "Columns that depend on each other within a class form small clusters, which "
    "overlap like tiles. Given the columns that two clusters share, they are independent.",
    "CherryTreeNB": "Columns form clusters of one size that overlap like tiles. Given the columns "
    "that two clusters share and the class, the clusters are taken to be independent.",
    "PazzaniNB": "Columns that are in one group are taken as a single one with all combinations of "
    "their values. Within a class, the groups are independent; some columns may be left out.",
    "IENB": "Within a class, columns are taken to be independent. Each probability was moved "
    "within its confidence interval so that the rows are told apart best.",
    "IterativeBayes": "Within a class, columns are taken to be independent. The tables were then "
    "corrected, row by row, towards the classes that the rows have.",
    "AdjustedNB": "Within a class, columns are taken to be independent. The probability of each "
    "class is then multiplied by a weight, so that more rows are told right.",
    "GaussianNaiveBayes": "Within a class, every number follows a bell curve, and all columns are "
    "taken to be independent of each other.",
    "FullBayes": "Within a class, all numbers together follow one bell curve in many dimensions. "
    "Every dependence between two columns is in it, as a correlation.",
    "KNaiveBayes": "Within a class, numbers follow a bell curve in many dimensions, but k columns "
    "are taken to be independent: those whose ignored dependences cancel best.",
    "GaussianTAN": "Within a class, every number follows a bell curve whose centre moves along a "
    "straight line with one other column. These dependences make a tree.",
    "GaussianKDB": "Within a class, every number follows a bell curve whose centre moves along a "
    "straight line with up to k other columns.",
    "WeightedBayes": "Each column, and each pair of columns that the model looks at, speaks with a "
    "weight of its own. The weights were chosen so that all of them together predict best.",
    "AutoBayes": "Several models were tried on rows that were left out, and those that predicted "
    "best answer together, each by its weight.",
    "BayesNet": "Each column, and the class, depends on its parents in the graph and on nothing "
    "else. The graph was searched in the rows.",
}
_NO_GRAPH = {
    "AutoBayes": "There is no single graph to draw: several models answer together.",
    "AODE": "There is no single graph to draw: every column in turn is the parent of all others, "
    "and the model averages over all of these.",
    "WAODE": "There is no single graph to draw: every column in turn is the parent of all others, "
    "and the model averages over all of these, by weight.",
    "A2DE": "There is no single graph to draw: every pair of columns in turn are the parents of "
    "all others, and the model averages over all of these.",
}
_ELSEWHERE = "other places, other times, other people"
_EXTREME = {"NaiveBayes", "IENB", "IterativeBayes", "AdjustedNB", "GaussianNaiveBayes"}


def describe_model(model: Classifier, rows: ReportRows) -> dict[str, Any]:
    """Describe a fitted model in plain values."""
    name = type(model).__name__
    given = model.get_params(deep=False)
    defaults = type(model)().get_params(deep=False)
    learned = _learned_rows(model)
    return {
        "name": name,
        "key": _key(model),
        "summary": summary_of(type(model)),
        "assumes": _ASSUMES.get(name, ""),
        "members": [
            {"name": member.name, "weight": float(member.weight)} for member in members_of(model)
        ],
        "without_graph": _NO_GRAPH.get(name, "This model has no graph of columns to draw."),
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


def members_of(model: Classifier) -> list[Any]:
    """Return the models that a blend answers by, the heaviest first; of others none."""
    return sorted(getattr(model, "members_", ()), key=lambda member: -member.weight)


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


def _learned_rows(model: Any) -> list[float]:
    """Rows, or their weights, of every class that the model learned from."""
    if hasattr(model, "members_"):
        return _learned_rows(model.members_[0].model)
    binned = isinstance(model, CountsClassifier)
    counts = model.counts_.class_counts if binned else model.moments_.class_weights
    return [int(count) if float(count).is_integer() else float(count) for count in counts.tolist()]


def _limits(model: Classifier, learned: list[float], rows: ReportRows) -> list[str]:
    """Say what to keep in mind, for any model and for this one."""
    found = [
        "It tells what goes together in these rows, not what causes what.",
        f"For rows unlike those it learned from ({_ELSEWHERE}) its probabilities may be wrong.",
    ]
    if type(model).__name__ in _EXTREME:
        found.append(
            "Columns that say the same count twice, so its probabilities tend to be nearer to 0 "
            "and 1 than they should be; see the calibration."
        )
    if isinstance(model, CountsClassifier):
        found.append(
            "Numbers enter as bins: within a bin it sees no difference, and at its edge a jump."
        )
    elif hasattr(model, "moments_"):
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
