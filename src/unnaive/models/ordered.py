"""Models whose features enter one after the other: their order, and what each one adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._scikit import check_is_fitted
from unnaive.counts.cells import CellCounts
from unnaive.exceptions import UnnaiveError
from unnaive.information import cell_information, family_information, mutual_information
from unnaive.models.base import CountsClassifier
from unnaive.structure.generalized import GeneralizedTree
from unnaive.structure.graph import FamilyGraph
from unnaive.structure.junction import JunctionTree, junction_tree

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray


class Cluster(NamedTuple):
    """A child, its parents and the class; the information it adds, and the sum so far, in nats."""

    target: str
    parents: tuple[str, ...]
    child: str
    information: float
    cumulated: float


@dataclass(eq=False, repr=False, kw_only=True)
class OrderedClassifier(CountsClassifier):
    """Base class of the models whose features enter in order, each adding information.

    Attributes
    ----------
    feature_order_ : ndarray of shape (m,)
        Features in the model, in the order in which they enter.
    feature_importances_ : ndarray of shape (d,)
        Information in nats that every feature adds, 0 for features not in the model.
    cumulated_information_ : ndarray of shape (m,)
        Information of the first feature, of the first two, and so on.
    weight_ : float
        Information of the whole model, W = Σ I(X_i;Y) + Σ I(X_i;X_parents|Y), in nats.
    kl_gain_over_nb_ : float
        Divergence from the data that the model has less than naive Bayes, in nats.
    clusters_ : list of Cluster
        Class, parents and child, in the order in which they enter.
    junction_tree_ : JunctionTree
        Maximal clusters, joined by their separators; it can be drawn.
    {attributes}
    """

    @property
    def feature_order_(self) -> IntArray:
        """Features in the model, in the order in which they enter; shape (m,)."""
        graph = self.structure_
        if isinstance(graph, GeneralizedTree):
            return graph.feature_order
        return self.fitted_.learned.graph(FamilyGraph).feature_order

    @property
    def feature_importances_(self) -> FloatArray:
        """Information in nats that every feature adds, 0 for those not in the model; shape (d,)."""
        return self._gains()

    @property
    def cumulated_information_(self) -> FloatArray:
        """Information of the first feature, of the first two, …; shape (m,)."""
        return np.cumsum(self._gains()[self.feature_order_])

    @property
    def weight_(self) -> float:
        """Information of the whole model, W = Σ I(X_i;Y) + Σ I(X_i;X_parents|Y), in nats."""
        return float(self._gains().sum())

    @property
    def kl_gain_over_nb_(self) -> float:
        """Divergence from the data that the model has less than naive Bayes, in nats."""
        return float(self._beyond_class().sum())

    @property
    def clusters_(self) -> list[Cluster]:
        """Class, parents and child, in the order of entry; the first two features are one entry."""
        graph, gains = self.structure_, self._gains()
        order, so_far = self.feature_order_, self.cumulated_information_
        clusters = []
        for place, child in enumerate(order.tolist()):
            above = tuple(graph.names[parent] for parent in graph.parents_of(child))
            if place or len(order) == 1:
                added = so_far[place] if place == 1 else gains[child]
                total = float(so_far[place])
                name = graph.names[child]
                clusters.append(Cluster(graph.target, above, name, float(added), total))
        return clusters

    @property
    def junction_tree_(self) -> JunctionTree:
        """Maximal clusters, joined by their separators; ``plot()`` draws them."""
        graph = self.structure_
        families = [(child, *graph.parents_of(child)) for child in self.feature_order_.tolist()]
        return junction_tree(graph.names, graph.target, families)

    def kl_divergence(self, X: object, y: object) -> float:
        r"""Compute the divergence of the distribution of samples from that of the model, in nats.

        .. math:: KL(\hat P \,\|\, P) = \sum_{c,x} \hat P(c, x) \log \hat P(c, x) / P(c, x)

        Without smoothing, on the samples of ``fit``, it is
        :math:`\sum_i H(X_i) + H(Y) - H(X, Y) - W`: the larger ``weight_``, the smaller it is.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Samples without missing values.
        y : array of shape (n,)
            Their class labels.

        Returns
        -------
        float
            The divergence over the features that are in the model; infinite if the model gives
            a sample probability 0.
        """
        check_is_fitted(self)
        batch = self._given(X, y, None, first=False, keep_all=True)
        classes = self.schema_.encode_target(batch.target)
        codes = self.codes_of(batch.frame, self.n_jobs)
        used, sizes = self.structure_.used, self.schema_.sizes
        for column in used[(codes[used] >= sizes[used, None]).any(axis=1)]:
            raise UnnaiveError(
                f"column {self.schema_.names[column]!r} has missing values or unseen categories; "
                "the divergence is that of whole rows: fill or drop these"
            )
        cells = np.vstack([codes[used], classes[None]])
        _, place, counts = np.unique(cells, axis=1, return_inverse=True, return_counts=True)
        frequency = np.log(counts[place.reshape(-1)] / len(classes))
        joint = self.fitted_.tables.joint(codes, None, self.n_jobs)
        return float(np.mean(frequency - joint[np.arange(len(classes)), classes]))

    def _gains(self) -> FloatArray:
        """Information that every feature adds, I(X_i;Y) + I(X_i;X_parents|Y); shape (d,)."""
        graph = self.structure_
        if isinstance(graph, GeneralizedTree):
            return np.asarray(graph.gains)
        return self._of_used(mutual_information(self.counts_) + self._beyond_class())

    def _beyond_class(self) -> FloatArray:
        """Information I(X_i;X_parents|Y) of every feature; shape (d,)."""
        graph = self.structure_
        if isinstance(graph, GeneralizedTree):
            return np.asarray(graph.weights)
        information = np.zeros(len(graph.names))
        for family in self.counts_.families:
            sizes = self.schema_.sizes
            if isinstance(family, CellCounts):
                found = max(cell_information(family, sizes), 0.0)
            else:
                found = family_information(family.table)
            information[family.columns[0]] = found
        return information

    def _of_used(self, information: FloatArray) -> FloatArray:
        """Set the information of features that are not in the model to 0; shape (d,)."""
        inside = np.isin(np.arange(len(information)), self.structure_.used)
        return np.where(inside, information, 0.0)
