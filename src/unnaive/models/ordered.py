"""Models whose columns enter one after the other: their order, their scores, the first few."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import ceil
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unnaive._core.tables import posterior
from unnaive._scikit import check_is_fitted
from unnaive._ties import first_best
from unnaive.exceptions import UnnaiveError
from unnaive.metrics import measure_path
from unnaive.models.base import CountsClassifier
from unnaive.models.left_out import left_out_scores
from unnaive.models.tree import MarginalizingTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.structure.generalized import GeneralizedTree


class Cluster(NamedTuple):
    """The class, parents and their child; what they add, and all there is with them, in nats."""

    target: str
    parents: tuple[str, ...]
    child: str
    information: float
    cumulated: float


@dataclass(eq=False, repr=False, kw_only=True)
class OrderedClassifier(CountsClassifier):
    """Base of the models whose structure has an order of columns, and what each of them adds."""

    @property
    @abstractmethod
    def _gains(self) -> FloatArray:
        """Information that every column adds, 0 for those left out; shape (d,)."""

    @property
    def feature_order_(self) -> IntArray:
        """Columns in the model, as they enter; shape (m,)."""
        check_is_fitted(self)
        return np.asarray(self.structure_.feature_order)

    @property
    def feature_importances_(self) -> FloatArray:
        """Information in nats that every column adds, 0 for those left out; shape (d,)."""
        check_is_fitted(self)
        return self._gains

    @property
    def cumulated_information_(self) -> FloatArray:
        """Information of the first column, of the first two, …; shape (m,)."""
        return np.cumsum(self.feature_importances_[self.feature_order_])

    @property
    def clusters_(self) -> list[Cluster]:
        """Class, parents and child, as they enter; the first two columns are one entry."""
        names, target = self.structure_.names, self.structure_.target
        order, so_far = self.feature_order_, self.cumulated_information_
        found = []
        for place, child in enumerate(order):
            above = tuple(names[parent] for parent in self.structure_.parents_of(child))
            if place or len(order) == 1:
                added = so_far[place] if place == 1 else self.feature_importances_[child]
                total = float(so_far[place])
                found.append(Cluster(target, above, names[child], float(added), total))
        return found


@dataclass(eq=False, repr=False, kw_only=True)
class PrefixTree(OrderedClassifier, MarginalizingTree):
    """Base of the trees of which the first few columns are a model, too."""

    n_features: Any = None
    criterion: str = "accuracy"

    @property
    def weight_(self) -> float:
        """Information of the tree, W = Σ I(X_i;Y) + Σ I(X_i;X_mother|Y), in nats."""
        return float(self.feature_importances_.sum())

    @property
    def kl_gain_over_nb_(self) -> float:
        """How much nearer to the data than naive Bayes of the same columns, in nats."""
        check_is_fitted(self)
        return float(self.structure_.weights.sum())

    @property
    def _gains(self) -> FloatArray:
        return np.asarray(self.structure_.gains)

    @abstractmethod
    def _whole_tree(self, source: JointCounts | CodedRows) -> GeneralizedTree:
        """Grow the tree of all columns."""

    @abstractmethod
    def _tables_of(self, tree: GeneralizedTree, held_out: float | None, counts: JointCounts) -> Any:
        """Estimate the tables of a tree."""

    def _make_tables(self, held_out: float | None = None) -> Any:
        return self._tables_of(self.structure_, held_out, self.counts_)

    def _learn_structure(self, source: JointCounts | CodedRows) -> GeneralizedTree:
        if self._by_rows:
            raise UnnaiveError(
                'n_features="loo" looks at rows, and counts have none; call fit with all rows, or '
                "give the number that it found there"
            )
        tree = self._whole_tree(source)
        return tree if self.n_features is None else tree.first(self._asked(len(tree.used)))

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> GeneralizedTree:
        if not self._by_rows:
            return self._learn_structure(source)
        if self.criterion not in {"log_loss", "accuracy"}:
            raise ValueError(f"criterion={self.criterion!r}; it must be 'log_loss' or 'accuracy'")
        tree = self._whole_tree(source)
        self.feature_path_ = self._sweep(tree, rows)
        score = self.feature_path_[self.criterion]
        best = first_best(-score if self.criterion == "log_loss" else score)
        return tree.first(int(self.feature_path_["n_features"][best]))

    @property
    def _by_rows(self) -> bool:
        return isinstance(self.n_features, str) and self.n_features == "loo"

    def _asked(self, most: int) -> int:
        """Read ``n_features``."""
        number, least = self.n_features, min(2, most)
        if isinstance(number, Real) and 0 < float(number) < 1:
            return max(least, ceil(float(number) * most))
        whole = isinstance(number, Integral) and not isinstance(number, bool)
        if not whole or not least <= number <= most:
            raise ValueError(
                f"n_features={number!r}; it must be 'loo', None, a share between 0 and 1, or a "
                f"whole number from {least} to {most}, the number of columns that have values"
            )
        return int(number)

    def _sweep(self, tree: GeneralizedTree, rows: CodedRows) -> dict[str, Any]:
        """Leave-one-out scores of the first 2, 3, … columns, the tree being that of all rows."""
        counts = rows.select(tree.pairs)

        def joints(weight: float, codes: CodeArray, held: IntArray) -> Iterable[FloatArray]:
            tables = self._tables_of(tree, weight, counts)
            yield from tables.prefixes(codes, held, tree.feature_order, self.n_jobs)

        found = left_out_scores(self, rows, counts, joints)
        numbers = np.arange(1, len(found) + 1)
        kept = numbers >= min(2, len(found))
        return {
            "n_features": numbers[kept],
            "accuracy": found[kept, 0],
            "log_loss": -found[kept, 1],
        }

    def score_path(self, X: Any, y: Any, positive: Any = None) -> dict[str, Any]:
        """Score the models of the first 2, 3, … columns on rows, best new ones.

        Parameters
        ----------
        X, y
            Rows and their classes, as in ``fit``.
        positive : class label, default=None
            Whose precision, recall and F1; None: the last of two classes, the mean over more.

        Returns
        -------
        dict of arrays
            ``n_features``, ``accuracy``, ``precision``, ``recall``, ``f1``, ``auc`` of the
            probabilities, and ``auc_hard`` of the predicted labels (the paper's "ROC AUC").
        """
        check_is_fitted(self)
        frame, target, _ = self._rows(X, y, None, reset=False, keep_all=True)
        model = self._as_fitted
        actual = model.schema_.encode_target(target)
        codes = model.schema_.encode(frame, handle_unknown=self.handle_unknown, n_jobs=self.n_jobs)
        labels = model.classes_.tolist()
        scores = list(measure_path(model._prefix_chances(codes), actual, labels, positive))
        kept = range(min(2, len(scores)) - 1, len(scores))
        path = {name: np.array([scores[place][name] for place in kept]) for name in scores[0]}
        return {"n_features": np.array(kept) + 1, **path}

    def _prefix_chances(self, codes: CodeArray) -> Iterator[FloatArray]:
        """Yield P(c | x) by the first column, by the first two, and so on; shape (n, k)."""
        held = np.full(codes.shape[1], -1)
        for joint in self._tables.prefixes(codes, held, self.feature_order_, self.n_jobs):
            self._answer_hopeless(joint, held, None, self.counts_)
            chances = np.empty_like(joint)
            posterior(joint, chances)
            yield chances
