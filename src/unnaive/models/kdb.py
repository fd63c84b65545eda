"""k-dependence Bayesian classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive.counts import CodedRows
from unnaive.counts.sizes import require_memory
from unnaive.information import conditional_mutual_information, mutual_information
from unnaive.models.family import FamilyClassifier
from unnaive.models.selective import SelectiveClassifier, path_of
from unnaive.structure.parents import ordered_parents
from unnaive.tables.selective import Sweep, nested_scores, sweep_bytes, table_bytes

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.structure.graph import FamilyGraph
    from unnaive.tables.families import FamilyTables

    Families = list[tuple[int, ...]]


@dataclass(eq=False, repr=False, kw_only=True)
class KDB(SelectiveClassifier, FamilyClassifier):
    r"""k-dependence Bayes: every column depends on the class and on up to k others.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c, x_{\pi_1(i)}, \dots, x_{\pi_k(i)})

    Columns enter by falling I(X_i;Y); each takes as parents the k columns before it of largest
    I(X_i;X_j|Y). k = 0 is naive Bayes, k = d − 1 the complete network. Only contexts that
    occurred are stored. Deep contexts are thin: ``smoothing="hierarchical"`` may serve better.

    ``k="loo"`` and ``n_features="loo"`` are selective KDB: of all models of up to ``max_k``
    parents and of the first columns to enter, the one of best exact leave-one-out score, found
    in one sweep of O(n·k·d·max_k). Naive Bayes and the prior alone are among them. In the sweep
    a row that lacks a parent's cell has the factor of the parents before that one.

    ``partial_fit`` keeps the columns and parents of the first batch.

    Parameters
    ----------
    k : int or "loo", default=2
        Number of parents besides the class; "loo": as many as score best.
    max_k : int, default=5
        Most parents that ``k="loo"`` tries; fewer where tables could exceed ``max_memory``.
    n_features : int, float, "loo" or None, default=None
        Stop at so many columns, or at a share of all; "loo": at the number that scores best;
        None: take all.
    criterion : {"log_loss", "accuracy", "brier"}, default="log_loss"
        What "loo" looks at; fewer parents, then fewer columns on ties.
    min_cmi : float, default=0.0
        Least information, in nats, of a parent.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing parent is summed out exactly; "drop" uses the counts without that parent.
    {parameters}

    Attributes
    ----------
    k_ : int
        Most parents that a column has.
    feature_order_ : ndarray of shape (m,)
        Columns in the model by falling I(X_i;Y).
    feature_importances_ : ndarray of shape (d,)
        Information I(X_i;Y) of every column in nats, by which they enter, 0 for those left out.
    loo_path_ : dict of arrays
        With "loo": ``k``, ``n_features``, ``accuracy``, ``log_loss`` and ``brier`` of all models
        that were tried.

    References
    ----------
    Sahami, "Learning limited dependence Bayesian classifiers", KDD 1996. Martínez, Webb, Chen &
    Zaidi, "Scalable learning of Bayesian network classifiers", JMLR 17, 2016.

    Examples
    --------
    >>> from unnaive import KDB
    >>> X = [["a", "u", 1], ["a", "v", 1], ["b", "u", 1], ["b", "v", 1]] * 3
    >>> model = KDB(k=1).fit(X, [0, 1, 1, 0] * 3)
    >>> model.structure_.edges
    [('x0', 'x1'), ('x0', 'x2')]
    >>> model = KDB(k="loo", n_features="loo").fit(X, [0, 1, 1, 0] * 3)
    >>> model.structure_.edges, model.k_, model.feature_order_
    ([('x0', 'x1')], 1, array([0, 1]))
    """

    k: Any = 2
    max_k: int = 5
    min_cmi: float = 0.0

    @property
    def k_(self) -> int:
        """Most parents besides the class that a column has."""
        return max((len(family) - 1 for family in self.structure_.families), default=0)

    @property
    def feature_order_(self) -> IntArray:
        """Columns in the model by falling I(X_i;Y); shape (m,)."""
        none = np.zeros((len(self.schema_.names),) * 2)
        order, _ = ordered_parents(mutual_information(self.counts_), none, 0, 0.0)
        return order[np.isin(order, self.structure_.used)]

    @property
    def feature_importances_(self) -> FloatArray:
        """Information of the columns on the class, 0 for those left out; shape (d,)."""
        return self._of_used(mutual_information(self.counts_))

    @property
    def _by_rows(self) -> bool:
        return self._selects or (isinstance(self.k, str) and self.k == "loo")

    def _learn_structure(self, source: JointCounts | CodedRows) -> FamilyGraph:
        most = 0 if self._by_rows else _whole(self.k, "k", "'loo' or ")
        if not isinstance(source, CodedRows) and source.families:
            return self._graph_of_counts(source)
        if self._by_rows:
            kept: FamilyGraph = self._kept_structure(source)
            return kept
        families = self._families(source, most)
        return self._graph(sorted(families[: self._asked(len(families))]), source.schema)

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> FamilyGraph:
        if not self._by_rows:
            return self._learn_structure(source)
        self._check_criterion()
        if isinstance(self.k, str) and self.k == "loo":
            families = self._affordable(source, rows, _whole(self.max_k, "max_k"))
            depths = np.arange(max(map(len, families), default=1))
        else:
            families = self._families(source, _whole(self.k, "k", "'loo' or "))
            depths = np.array([self.k])
        numbers = np.arange(len(families) + 1)
        if not self._selects:
            numbers = np.array([self._asked(len(families))])
        found = self._sweep(rows, families[: numbers[-1]], depths)[:, numbers]
        k, number = (each.reshape(-1) for each in np.meshgrid(depths, numbers, indexing="ij"))
        self.loo_path_ = path_of(found, k=k, n_features=number)
        best = self._best_of(self.loo_path_)
        chosen = sorted(family[: k[best] + 1] for family in families[: number[best]])
        return self._graph(chosen, source.schema)

    def _sweep(self, rows: CodedRows, families: Families, depths: IntArray) -> FloatArray:
        """Score the first columns with so many parents; shape (depths, columns + 1, 3)."""
        needed = sweep_bytes(rows.schema.sizes, families, len(rows.classes), rows.n_classes)
        require_memory(rows.schema, needed, self.max_memory, "the sweep over the models of KDB")
        counts = rows.select(np.empty((0, 2), dtype=np.int64))
        sweep = Sweep(rows, counts, self._smoothing, self._class_prior)
        return nested_scores(sweep, families, depths, self.max_memory)

    def _families(self, source: JointCounts | CodedRows, most: int) -> Families:
        """Return every column with up to so many parents, in the order of entry."""
        sizes = source.schema.sizes
        information = conditional_mutual_information(source, self.n_jobs)
        information[:, sizes == 0] = -np.inf
        order, parents = ordered_parents(
            mutual_information(source), information, most, self.min_cmi
        )
        return [(int(i), *parents[i]) for i in order if sizes[i] > 0]

    def _affordable(self, source: JointCounts | CodedRows, rows: CodedRows, most: int) -> Families:
        """Return the families of as many parents as memory allows, up to ``most``."""
        size = (len(rows.classes), rows.n_classes)
        families = self._families(source, most)
        while max(map(len, families), default=1) > 1:
            needed = max(
                table_bytes(source.schema.sizes, families, *size),
                sweep_bytes(source.schema.sizes, families, *size),
            )
            if needed <= self.max_memory:
                break
            longest = max(map(len, families))
            families = [family[: longest - 1] for family in families]
        return families

    def _make_tables(self, held_out: float | None = None) -> FamilyTables:
        if self.structure_.families:
            self._graph_of_counts(self.counts_)  # raises where counts hold pairs alone
        return super()._make_tables(held_out)


def _whole(number: Any, name: str, or_else: str = "") -> int:
    """Read a whole number that is not negative."""
    if not isinstance(number, Integral) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{name}={number!r}; it must be {or_else}a whole number of at least 0")
    return int(number)
