"""Importance of features from counts: the information about the class that a model uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.information import (
    conditional_mutual_information,
    mutual_information,
    pairwise_mutual_information,
)

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.counts import JointCounts
    from unnaive.models.recipe import Structure


def counted_importances(
    counts: JointCounts, structure: Structure, n_jobs: int | None = None
) -> FloatArray:
    r"""Return the importance of every column in a model of counts, in nats; shape (d,).

    .. math:: I(X_i;Y) + \frac{1}{2 m} \sum_{j \sim i} \big(I(X_i;X_j|Y) - I(X_i;X_j)\big)

    over the pairs of columns whose dependence is in the model, where m ≥ 1 is the mean number of
    these pairs per column. The term in parentheses is the information about the class that the two
    columns have together minus what they have separately; it is shared equally, which is the
    Shapley value of the pair. It is negative if the columns are redundant. Columns that are not in
    the model have importance 0, and negative sums are 0.
    """
    importances = mutual_information(counts)
    pairs = structure.pairs
    if len(pairs):
        try:
            chosen = counts.select(pairs)
        except UnnaiveError as error:
            raise AttributeError(f"importances need counts of pairs: {error}") from error
        interaction = conditional_mutual_information(chosen, n_jobs)
        interaction -= pairwise_mutual_information(chosen, n_jobs)
        importances += interaction.sum(axis=1) / (2 * max(1.0, len(pairs) / len(importances)))
    inside = np.isin(np.arange(len(importances)), structure.used)
    return np.where(inside, np.maximum(importances, 0.0), 0.0)
