"""What drift costs a model: the log loss of its old tables on rows like the new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from sklearn.base import clone

from unnaive._core.tables import log_posterior
from unnaive.counts import CodedRows
from unnaive.exceptions import UnnaiveError
from unnaive.models.base import CountsClassifier
from unnaive.models.nb import NaiveBayes
from unnaive.models.tree import TAN

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.structure.graph import ParentGraph

DRAWS = 10_000
MOST = 200_000  # rows of a sample without drift; with more, chance costs next to nothing


def cost_of_drift(
    model: CountsClassifier, old: JointCounts, new: JointCounts, random_state: int = 0
) -> tuple[float, float]:
    """Log loss per row that a model of the old counts has more than one of the new counts.

    Both predict rows that are drawn from a TAN of the new counts, or from naive Bayes if there
    are no pairs. Since the new model has learned from the new counts, it would have an advantage
    without any change, too: this is estimated by two samples of the same sizes, drawn from the sum
    of both counts.

    Parameters
    ----------
    model : classifier that learns from counts
        The model, fitted or not; it is not changed.
    old, new : JointCounts
        Counts by one schema.
    random_state : int, default=0
        Seed of the rows.

    Returns
    -------
    tuple of (float, float)
        Difference of the mean log losses in nats, and what it would be if nothing had changed.

    Examples
    --------
    >>> import unnaive
    >>> from unnaive.evaluate.drift_cost import cost_of_drift
    >>> old = unnaive.count([["a"], ["b"]] * 50, ["no", "yes"] * 50)
    >>> cost_of_drift(unnaive.NaiveBayes(), old, old)[0]
    0.0
    """
    if not isinstance(model, CountsClassifier):
        raise UnnaiveError(
            f"model={model!r} does not learn from counts, so that its cost of drift is unknown; "
            "name one that does, such as TAN(), or none"
        )
    random = np.random.default_rng(random_state)
    unchanged = [
        CodedRows(old.schema, *drawn_rows(old + new, min(int(counts.total), MOST), random))
        for counts in (old, new)
    ]
    pairs = old.pair_columns if old.has_all_pairs and new.has_all_pairs else old.pair_columns[:0]
    same = [rows.count(pairs) for rows in unchanged]
    return _excess(model, old, new, random), _excess(model, same[0], same[1], random)


def _excess(
    model: CountsClassifier, old: JointCounts, new: JointCounts, random: np.random.Generator
) -> float:
    """Difference of the mean log losses of both models on rows like the new ones."""
    codes, classes = drawn_rows(new, DRAWS, random)
    losses = []
    for counts in (old, new):
        fitted = clone(model).fit_counts(counts).fitted_
        logs = np.empty((len(classes), counts.n_classes))
        fitted.answer(codes, log_posterior, logs)
        losses.append(-float(logs[np.arange(len(classes)), classes].mean()))
    return losses[0] - losses[1]


def drawn_rows(
    counts: JointCounts, rows: int, random: np.random.Generator
) -> tuple[CodeArray, IntArray]:
    """Draw coded rows without missing values from a TAN of counts, or from naive Bayes.

    Parameters
    ----------
    counts : JointCounts
        Counts.
    rows : int
        Number of rows n.
    random : numpy.random.Generator
        Source of chance.

    Returns
    -------
    codes : ndarray of shape (d, n)
        Codes of the values.
    classes : ndarray of shape (n,)
        Codes of the classes.
    """
    schema, every = counts.schema, np.arange(rows)
    shares = counts.class_counts / counts.class_counts.sum()
    classes = random.choice(len(shares), size=rows, p=shares)
    codes = np.zeros((counts.n_columns, rows), dtype=schema.code_type)
    source = TAN() if counts.has_all_pairs and not counts.cells else NaiveBayes()
    graph = cast("ParentGraph", source.fit_counts(counts).structure_)
    for column in graph.order[schema.sizes[graph.order] > 0].tolist():  # the others have no value
        table = counts.marginal(column)[:, None]
        above = np.zeros(rows, dtype=np.int64)
        for parent in graph.parents_of(column):
            table, above = counts.pair(parent, column), codes[parent]
        chances = table + 1.0 / max(table.shape[2], 1)
        chances = np.cumsum(chances / chances.sum(axis=2, keepdims=True), axis=2)
        below = chances[classes, above] < random.random(rows)[:, None]
        codes[column, every] = np.minimum(below.sum(axis=1), table.shape[2] - 1)
    return codes, classes
