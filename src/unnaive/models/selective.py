"""Models whose columns enter one after the other, all of them or the first few."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._ties import first_best
from unnaive.models.base import CountsClassifier
from unnaive.tables.selective import SCORES

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, FloatArray


@dataclass(eq=False, repr=False, kw_only=True)
class SelectiveClassifier(CountsClassifier):
    """Base of the models that may leave columns out, by number or by leave-one-out."""

    n_features: Any = None
    criterion: str = "log_loss"

    @property
    def _selects(self) -> bool:
        """Whether leave-one-out finds the number of columns."""
        return isinstance(self.n_features, str) and self.n_features == "loo"

    def _asked(self, most: int) -> int:
        """Read ``n_features``: the number of columns, all of them if nothing is asked."""
        number = self.n_features
        if number is None:
            return most
        if isinstance(number, Real) and 0 < float(number) < 1:
            return ceil(float(number) * most)
        whole = isinstance(number, Integral) and not isinstance(number, bool)
        if not whole or not 0 <= number <= most:
            raise ValueError(
                f"n_features={number!r}; it must be 'loo', None, a share between 0 and 1, or a "
                f"whole number from 0 to {most}, the number of columns that have values"
            )
        return int(number)

    def _check_criterion(self) -> None:
        if self.criterion not in SCORES:
            raise ValueError(
                f"criterion={self.criterion!r}; it must be 'log_loss', 'accuracy' or 'brier'"
            )

    def _best_of(self, path: dict[str, AnyArray]) -> int:
        """Index of the best model of a path, the first of those that tie."""
        score: FloatArray = path[self.criterion]
        return first_best(score if self.criterion == "accuracy" else -score)


def path_of(scores: FloatArray, **models: AnyArray) -> dict[str, AnyArray]:
    """Join what models are with their scores (…, 3), as a dictionary of flat arrays."""
    flat = scores.reshape(-1, len(SCORES))
    return {**models, **{name: np.asarray(flat[:, i]) for i, name in enumerate(SCORES)}}
