"""Generalized naive Bayes: GNB-A, GNB-O, and the unconstrained tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._core.tables import posterior
from unnaive._dataclasses import dataclass
from unnaive._scikit import check_is_fitted
from unnaive.exceptions import TableTooLarge
from unnaive.information import conditional_mutual_information, mutual_information
from unnaive.metrics import measure_path
from unnaive.models.choice import Prefixes, criterion_of, entering_order, features_of
from unnaive.models.makers import TreeFactors
from unnaive.models.ordered import OrderedClassifier
from unnaive.models.recipe import Estimate, Learned, Recipe, TableMaker
from unnaive.parameters import one_of
from unnaive.structure.generalized import GeneralizedTree, generalized_tree
from unnaive.tables.junction import RescuedTables, junction_factor, rescued_factor, rescued_root
from unnaive.tables.smoothing import ML
from unnaive.tables.trees import joint_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray, Label
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.ordered import Cluster
    from unnaive.models.recipe import Source
    from unnaive.structure.graph import ParentGraph
    from unnaive.tables.base import Tables
    from unnaive.tables.trees import TreeTables

_EDMONDS_BYTES = 320  # a column cubed, as networkx was seen to take


@dataclass(frozen=True, eq=False)
class PaperFactors(TableMaker):
    """Makes the tables of the paper: junction form, no smoothing, and substitutes for zeros.

    The substitutes are used for rows to which the tables give probability 0 in every class, or,
    with ``all_zeros``, for every zero.
    """

    all_zeros: bool = False

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> Tables:
        """Estimate the tables by maximum likelihood."""
        tree = learned.graph(GeneralizedTree)
        substituted = TreeFactors(False, rescued_root, rescued_factor)
        without_zeros = substituted.tree(counts, tree, how, held_out)
        if self.all_zeros:
            return without_zeros
        plain = TreeFactors(False, joint_root, junction_factor)
        tables = plain.tree(counts, tree, how, held_out)
        return RescuedTables(tables, without_zeros)  # type: ignore[arg-type]

    def estimate(self, how: Estimate) -> Estimate:
        """Estimate by maximum likelihood, whatever the smoothing of the model."""
        return replace(how, smoothing=ML())


@dataclass(eq=False, repr=False, kw_only=True)
class GeneralizedNB(OrderedClassifier):
    r"""Generalized naive Bayes: a tree that grows from the most informative pair of features.

    .. math:: P(c, x) = P(c)\, P(x_r \mid c) \prod_{i \ne r} P(x_i \mid x_{\mu(i)}, c)

    The weight of a tree is :math:`W = \sum_i I(X_i;Y) + \sum_{\{i,j\}} I(X_i;X_j|Y)`; the larger
    its weight, the smaller its divergence from the data. All methods except "free" contain the
    pair of largest :math:`I(X_i;Y) + I(X_j;Y) + I(X_i;X_j|Y)`. Use it where features should be
    ranked or selected: the information that a feature adds is its score, and the first features
    are a model themselves.

    Parameters
    ----------
    method : {"optimal", "greedy", "edmonds", "free"}, default="optimal"
        "greedy" is GNB-A: always the feature that adds most. "optimal" is GNB-O: the tree of
        largest weight that contains the pair, in O(d²). "edmonds" finds the same tree by the
        algorithm of the paper, slowly and in O(d³) memory. "free": the tree of largest weight,
        which is that of :class:`TAN`.
    n_features : int, float, "loo" or None, default=None
        Keep the first features: a number, at least 2, or a share of all. "loo": the number with
        the best exact leave-one-out score, all tried in one sweep; None: all.
    criterion : {"log_loss", "accuracy", "brier"}, default="log_loss"
        Score that ``n_features="loo"`` optimizes; fewer features on ties.
    parametrization : {"directed", "junction"}, default="directed"
        P(x_i | x_mother, c), or P(c, x_mother, x_i) / P(c, x_mother) of two estimates. They are
        equal without smoothing and, for samples without missing values, under BDeu.
    paper : bool or "all-zeros", default=False
        Classify as the paper does: junction form, no smoothing, and substitutes for zeros where
        every class has probability 0. "all-zeros" substitutes every zero, also where another
        class has a positive probability: the text does not say so, but the paper's figures
        agree with it. A missing value cuts the tree, as with ``missing="drop"``.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing value that has children is summed out exactly; "drop" uses P(x_i | c) for them.
    {parameters}

    Attributes
    ----------
    triplets_ : list of Cluster
        Class, mother and child, in the order in which they enter, with the information they add.
    forced_edge_loss_ : float
        Weight that the best tree loses because it must contain the first pair, in nats.
    path_ : dict of arrays
        With ``n_features="loo"``: ``n_features``, ``accuracy``, ``log_loss`` and ``brier``.
    {attributes}

    See Also
    --------
    TAN : The tree without the condition on the first pair.
    SelectByInformation : The ranking as a step of a pipeline.
    CherryTreeNB : Clusters of more than three variables.

    Notes
    -----
    Assumption: features enter one by one, each with the earlier feature that it adds most
    information with. Given that feature and the class, it is independent of the rest.

    References
    ----------
    Kovács, Ország, Pfeifer & Benczúr, "Generalized naive Bayes", arXiv 2408.15923, 2024.

    Examples
    --------
    >>> from unnaive import GeneralizedNB
    >>> X = [["a", "u", 1], ["a", "v", 1], ["b", "u", 2], ["b", "v", 2]] * 3
    >>> model = GeneralizedNB(method="greedy").fit(X, [0, 1, 1, 0] * 3)
    >>> [(triplet.parents, triplet.child) for triplet in model.triplets_]
    [(('x0',), 'x1'), (('x0',), 'x2')]
    """

    method: str = one_of("optimal", "greedy", "edmonds", "free")
    n_features: int | float | str | None = features_of()
    criterion: str = criterion_of("brier")
    parametrization: str = one_of("directed", "junction")
    paper: bool | str = one_of(False, True, "all-zeros")
    missing: str = one_of("marginalize", "drop")

    family: ClassVar[str] = "trees"

    def recipe(self) -> Recipe:
        """Grow the tree, keep its first features, and make one table per feature."""
        first = Prefixes(self.n_features, self.criterion, as_grown, least=2)
        form = (joint_root, junction_factor) if self.parametrization == "junction" else ()
        tables: TableMaker = TreeFactors(self.marginalizes, *form)
        if self.paper:
            tables = PaperFactors(all_zeros=self.paper == "all-zeros")
        parts = (self._grow, tables, first)
        return Recipe(*parts, structure=GeneralizedTree, keeps=first.by_rows)

    def _grow(self, source: Source, rows: CodedRows | None) -> Learned:
        schema = source.schema
        needed = _EDMONDS_BYTES * len(schema.names) ** 3
        if self.method == "edmonds" and needed > self.max_memory:
            raise TableTooLarge(
                f'method="edmonds" on {len(schema.names)} columns would take about '
                f"{needed / 2**30:,.1f} GiB, more than max_memory; "
                'method="optimal" finds the same tree'
            )
        tree = generalized_tree(
            schema.names,
            schema.target,
            mutual_information(source),
            conditional_mutual_information(source, self.n_jobs),
            method=self.method,
            active=schema.sizes > 0,
        )
        return Learned(tree)

    def _check(self) -> None:
        super()._check()
        if self.paper and self.smoothing is not None:
            raise ValueError(
                f"paper={self.paper!r} does not smooth; omit smoothing={self.smoothing!r}, or set "
                'paper=False, parametrization="junction"'
            )

    @property
    def forced_edge_loss_(self) -> float:
        """Weight that the best tree loses because it must contain the first pair, in nats."""
        return float(self.fitted_.learned.graph(GeneralizedTree).forced_edge_loss)

    @property
    def triplets_(self) -> list[Cluster]:
        """Class, mother and child, in the order of entry, with the information they add."""
        return [cluster for cluster in self.clusters_ if cluster.parents]

    def score_path(self, X: object, y: object, positive: Label = None) -> dict[str, AnyArray]:
        """Score the models of the first 2, 3, … features, preferably on new samples.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Samples.
        y : array of shape (n,)
            Their class labels.
        positive : class label, default=None
            Class of precision, recall and F1; None: the last of two classes, the mean over more.

        Returns
        -------
        dict of arrays
            ``n_features``, ``accuracy``, ``precision``, ``recall``, ``f1``, ``auc`` of the
            probabilities, and ``auc_hard`` of the predicted labels (the paper's "ROC AUC").
        """
        check_is_fitted(self)
        batch = self._given(X, y, None, first=False, keep_all=True)
        actual = self.schema_.encode_target(batch.target)
        chances = self._prefix_chances(self.codes_of(batch.frame, self.n_jobs))
        scores = list(measure_path(chances, actual, self.classes_.tolist(), positive))
        kept = range(min(2, len(scores)) - 1, len(scores))
        path = {name: np.array([scores[place][name] for place in kept]) for name in scores[0]}
        return {"n_features": np.array(kept) + 1, **path}

    def _prefix_chances(self, codes: CodeArray) -> Iterator[FloatArray]:
        """Yield P(c | x) of the first column, of the first two, and so on; shape (n, k)."""
        fitted = self.fitted_
        tables: TreeTables | RescuedTables = fitted.tables  # type: ignore[assignment]
        for joint in tables.prefixes(codes, None, self.feature_order_, self.n_jobs):
            fitted.answer_hopeless(joint)
            chances = np.empty_like(joint)
            posterior(joint, chances)
            yield chances


def as_grown(tree: ParentGraph, source: Source) -> IntArray:
    """Columns of a tree in the order in which it grew; shape (m,)."""
    return tree.feature_order if isinstance(tree, GeneralizedTree) else entering_order(tree, source)
