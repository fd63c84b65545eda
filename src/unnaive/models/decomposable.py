"""Chordal graphs below the class: decomposable models and cherry trees."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive._ties import first_best
from unnaive.counts.sizes import require_memory
from unnaive.information import (
    conditional_mutual_information,
    group_information,
    information_of_pairs,
    mutual_information,
)
from unnaive.models.classifier import first_of_the_best
from unnaive.models.family import FamilyClassifier
from unnaive.models.left_out import left_out_scores
from unnaive.models.ordered import OrderedClassifier
from unnaive.structure.decomposable import cherry_tree, chordal_graph, families_of
from unnaive.structure.tree import maximum_spanning_tree
from unnaive.tables.smoothing import BDeu, Smoothing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.structure.graph import FamilyGraph

_LARGEST = 6  # "loo" tries clusters up to this size

Families = tuple[tuple[int, ...], ...]


@dataclass(eq=False, repr=False, kw_only=True)
class ClusterClassifier(FamilyClassifier):
    """Base of the models of clusters, whose size leave-one-out may find."""

    size_parameter: ClassVar[str]

    @abstractmethod
    def _families(self, source: JointCounts | CodedRows, rows: CodedRows, size: int) -> Families:
        """Learn the families of a model whose clusters have up to so many members."""

    def _learn_structure(self, source: JointCounts | CodedRows) -> FamilyGraph:
        return self._graph_of_counts(source)  # type: ignore[arg-type]

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> FamilyGraph:
        size = getattr(self, self.size_parameter)
        if isinstance(size, str) and size == "loo":
            return self._best_size(source, rows)
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 2:
            raise ValueError(
                f"{self.size_parameter}={size!r}; it must be 'loo' or a whole number of at least 2"
            )
        return self._graph(self._families(source, rows, int(size)), rows.schema)

    def _best_size(self, source: JointCounts | CodedRows, rows: CodedRows) -> FamilyGraph:
        """Try all sizes, and take the one of least leave-one-out log loss."""
        sizes = range(2, max(3, min(_LARGEST, len(rows.schema.names) + 1) + 1))
        tried = [self._families(source, rows, size) for size in sizes]
        scores = np.array([self._scores(rows, families) for families in tried])
        self.size_path_ = {
            "size": np.array(sizes),
            "accuracy": scores[:, 0],
            "log_loss": -scores[:, 1],
            "training_accuracy": scores[:, 2],
        }
        return self._graph(tried[first_best(scores[:, 1])], rows.schema)

    def _scores(self, rows: CodedRows, families: Families) -> tuple[float, float, float]:
        """Leave-one-out accuracy and log-likelihood, and accuracy on the training rows."""
        none = np.empty((0, 2), dtype=np.int64)
        counts = replace(rows.select(none), families=rows.count_families(families))

        def joints(weight: float, codes: CodeArray, held: IntArray) -> Iterator[FloatArray]:
            yield self._family_tables(counts, weight).joint(codes, held, self.n_jobs)

        left_out = left_out_scores(self, rows, counts, joints)[0]
        unheld = np.full(len(rows.classes), -1)
        joint = self._family_tables(counts).joint(rows.codes, unheld, self.n_jobs)
        self._answer_hopeless(joint, unheld, None, counts)
        right = first_of_the_best(joint) == rows.classes
        return (*left_out, float(np.average(right, weights=rows.weights)))

    def _require_groups(self, rows: CodedRows, columns: tuple[int, ...], cells: int) -> CodedRows:
        """Group rows by some columns, once a table of so many cells a group is known to fit."""
        grouped = rows.given(columns)
        needed = 8 * grouped.n_classes * cells
        require_memory(rows.schema, needed, self.max_memory, f"a table of {type(self).__name__}")
        return grouped


@dataclass(eq=False, repr=False, kw_only=True)
class DecomposableNB(ClusterClassifier):
    r"""Decomposable naive Bayes: a chordal graph of columns, the class in every clique.

    .. math:: P(c, x) = \prod_C P(c, x_C) \Big/ \prod_S P(c, x_S)

    over cliques C and their separators S. Grows from naive Bayes by the edge {a, b} of largest
    :math:`N\,I(X_a;X_b|Y,X_S)` less its price, as long as that is positive, the graph stays
    chordal and no clique gets too large. It is estimated column by column along a perfect
    order, P(x_i | c, x_parents); under BDeu and without smoothing that is the formula above.

    ``partial_fit`` keeps the graph of the first batch.

    Parameters
    ----------
    max_clique : int or "loo", default=4
        Most members of a clique, the class counted: 2 is naive Bayes, 3 a forest, TAN's tree if
        there is no penalty. "loo": of 2 to 6 the one of least exact leave-one-out log loss.
    penalty : {"bic", "aic", None}, default="bic"
        Price of an edge: log(N)/2, 1 or nothing for each of its parameters.
    start : {"star", "tan"}, default="star"
        Begin with naive Bayes, or with TAN's tree (from cliques of 3 on).
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing parent is summed out exactly; "drop" uses the counts without that parent.
    {parameters}

    Attributes
    ----------
    size_path_ : dict of arrays
        With ``max_clique="loo"``: ``size``, ``accuracy`` and ``log_loss`` by leave-one-out, and
        ``training_accuracy``, which shows what overfitting hides.

    References
    ----------
    Deshpande, Garofalakis & Jordan, "Efficient stepwise selection in decomposable models",
    UAI 2001.

    Examples
    --------
    >>> from unnaive import DecomposableNB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 9
    >>> model = DecomposableNB().fit(X, [0, 1, 1, 0] * 9)
    >>> model.structure_.cliques
    [('x0', 'x1')]
    """

    max_clique: Any = 4
    penalty: str | None = "bic"
    start: str = "star"

    default_smoothing: ClassVar[Smoothing] = BDeu(1.0)
    size_parameter: ClassVar[str] = "max_clique"

    def _families(self, source: JointCounts | CodedRows, rows: CodedRows, size: int) -> Families:
        if self.penalty not in {"bic", "aic", None}:
            raise ValueError(f"penalty={self.penalty!r}; it must be 'bic', 'aic' or None")
        if self.start not in {"star", "tan"}:
            raise ValueError(f"start={self.start!r}; it must be 'star' or 'tan'")
        information = conditional_mutual_information(source, self.n_jobs)
        sizes, active = rows.schema.sizes, rows.schema.sizes > 0
        total = float(rows.class_counts.sum())
        price = {"bic": np.log(max(total, 1.0)) / 2, "aic": 1.0, None: 0.0}[self.penalty]

        def gains_of(separator: tuple[int, ...], pairs: IntArray) -> FloatArray:
            told = information[pairs[:, 0], pairs[:, 1]]
            if separator:
                cells = int(np.prod(sizes[pairs].astype(object), axis=1).max())
                grouped = self._require_groups(rows, separator, cells)
                told = information_of_pairs(grouped, pairs, self.n_jobs)
            contexts = float(np.prod(sizes[list(separator)].astype(float))) * rows.n_classes
            freedom = np.prod(np.maximum(sizes[pairs] - 1, 0).astype(float), axis=1)
            return np.asarray(total * told - price * contexts * freedom)

        tree = self.start == "tan" and size > 2
        start = maximum_spanning_tree(information, active).tolist() if tree else []
        neighbours = chordal_graph(start, active, size - 1, gains_of)
        return families_of(neighbours, active, mutual_information(source))


@dataclass(eq=False, repr=False, kw_only=True)
class CherryTreeNB(ClusterClassifier, OrderedClassifier):
    r"""Cherry-tree naive Bayes: clusters of one size, each with the class, grown like GNB-A.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c, x_{M(i)})

    Begins with the pair of columns that tells most, and always adds the column w, and the
    columns M of one cluster, of largest :math:`I(X_w;(Y,X_M))`. Order 2 is naive Bayes, order
    3 is GNB-A; higher orders fit the data ever better and new rows soon worse.

    ``partial_fit`` keeps the clusters of the first batch.

    Parameters
    ----------
    order : int or "loo", default=3
        Members of a cluster, the class counted. "loo": of 2 to 6 the one of least exact
        leave-one-out log loss.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing parent is summed out exactly; "drop" uses the counts without that parent.
    {parameters}

    Attributes
    ----------
    size_path_ : dict of arrays
        With ``order="loo"``, as in :class:`DecomposableNB`.

    References
    ----------
    Kovács & Szántai, "On the approximation of a discrete multivariate probability distribution
    using the new concept of t-cherry junction tree", Coping with Uncertainty, 2010.

    Examples
    --------
    >>> from unnaive import CherryTreeNB
    >>> X = [["a", "u", 1], ["a", "v", 1], ["b", "u", 2], ["b", "v", 2]] * 3
    >>> model = CherryTreeNB(order=4).fit(X, [0, 1, 1, 0] * 3)
    >>> model.structure_.cliques
    [('x0', 'x1', 'x2')]
    """

    order: Any = 3

    size_parameter: ClassVar[str] = "order"

    def _families(self, source: JointCounts | CodedRows, rows: CodedRows, size: int) -> Families:
        information = conditional_mutual_information(source, self.n_jobs)
        cells = int(rows.schema.sizes.sum())

        def beyond(columns: tuple[int, ...]) -> FloatArray:
            return group_information(self._require_groups(rows, columns, cells), rows.seen(columns))

        active = rows.schema.sizes > 0
        return cherry_tree(mutual_information(source), information, size, active, beyond)
