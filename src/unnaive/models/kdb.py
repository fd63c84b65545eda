"""k-dependence Bayesian classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from unnaive.counts import CodedRows
from unnaive.information import conditional_mutual_information, mutual_information
from unnaive.models.family import FamilyClassifier
from unnaive.structure.parents import ordered_parents

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.counts import JointCounts
    from unnaive.structure.graph import FamilyGraph
    from unnaive.tables.families import FamilyTables


@dataclass(eq=False, repr=False, kw_only=True)
class KDB(FamilyClassifier):
    r"""k-dependence Bayes: every column depends on the class and on up to k others.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c, x_{\pi_1(i)}, \dots, x_{\pi_k(i)})

    Columns enter by falling I(X_i;Y); each takes as parents the k columns before it of largest
    I(X_i;X_j|Y). k = 0 is naive Bayes, k = d − 1 the complete network. Only contexts that
    occurred are stored. Deep contexts are thin: ``smoothing="backoff"`` may serve better.

    ``partial_fit`` keeps the parents of the first batch.

    Parameters
    ----------
    k : int, default=2
        Number of parents besides the class.
    min_cmi : float, default=0.0
        Least information, in nats, of a parent.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing parent is summed out exactly; "drop" uses the counts without that parent.
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (d,)
        Information I(X_i;Y) of every column in nats, by which they enter.

    References
    ----------
    Sahami, "Learning limited dependence Bayesian classifiers", KDD 1996.

    Examples
    --------
    >>> from unnaive import KDB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 3
    >>> model = KDB(k=1).fit(X, [0, 1, 1, 0] * 3)
    >>> model.structure_.edges
    [('x0', 'x1')]
    """

    k: int = 2
    min_cmi: float = 0.0

    @property
    def feature_importances_(self) -> FloatArray:
        """Information of the columns on the class; shape (d,)."""
        return mutual_information(self.counts_)

    def _learn_structure(self, source: JointCounts | CodedRows) -> FamilyGraph:
        schema = source.schema
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 0:
            raise ValueError(f"k={self.k!r}; it must be a whole number of at least 0")
        if not isinstance(source, CodedRows) and source.families:
            return self._graph_of_counts(source)
        information = conditional_mutual_information(source, self.n_jobs)
        information[:, schema.sizes == 0] = -np.inf
        relevance = mutual_information(source)
        _, parents = ordered_parents(relevance, information, int(self.k), self.min_cmi)
        families = ((i, *above) for i, above in enumerate(parents) if schema.sizes[i] > 0)
        return self._graph(families, schema)

    def _make_tables(self, held_out: float | None = None) -> FamilyTables:
        self._graph_of_counts(self.counts_)  # raises where counts hold pairs alone
        return super()._make_tables(held_out)
