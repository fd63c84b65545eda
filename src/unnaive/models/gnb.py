"""Generalized naive Bayes: GNB-A, GNB-O, and the tree without their condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unnaive._scikit import check_is_fitted
from unnaive.exceptions import TableTooLarge
from unnaive.information import conditional_mutual_information, mutual_information
from unnaive.models.ordered import PrefixTree
from unnaive.structure.generalized import GeneralizedTree, generalized_tree
from unnaive.tables.junction import RescuedTables, junction_factor, rescued_factor, rescued_root
from unnaive.tables.smoothing import ML, Smoothing
from unnaive.tables.trees import joint_root

if TYPE_CHECKING:
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.ordered import Cluster
    from unnaive.schema import Schema

_EDMONDS_BYTES = 320  # a column cubed, as networkx was seen to take
_METHODS = ("greedy", "optimal", "edmonds", "free")
_FORMS: dict[str, dict[str, Any]] = {
    "directed": {},
    "junction": {"root_of": joint_root, "factor_of": junction_factor},
    "rescued": {"root_of": rescued_root, "factor_of": rescued_factor},
}


@dataclass(eq=False, repr=False, kw_only=True)
class GeneralizedNB(PrefixTree):
    r"""Generalized naive Bayes: a tree grown from the pair of columns that tells most.

    .. math:: P(c, x) = P(c)\, P(x_r \mid c) \prod_{i \ne r} P(x_i \mid x_{\mu(i)}, c)

    A tree weighs :math:`W = \sum_i I(X_i;Y) + \sum_{\{i,j\}} I(X_i;X_j|Y)`, and the larger its
    weight, the smaller its divergence from the data. All methods but "free" hold the pair of
    largest :math:`I(X_i;Y) + I(X_j;Y) + I(X_i;X_j|Y)`. What each column adds is its score, and
    the first few columns are a model, too: feature selection comes with the fit.

    Parameters
    ----------
    method : {"optimal", "greedy", "edmonds", "free"}, default="optimal"
        "greedy" is GNB-A: always the column that adds most. "optimal" is GNB-O: the tree of
        largest weight that holds the pair, in O(d²). "edmonds" finds it by the paper's own
        algorithm, slowly and in memory of O(d³). "free": the tree of largest weight, which is
        that of :class:`TAN`.
    n_features : int, float, "loo" or None, default=None
        Stop at so many columns, at least 2, or at a share of all; "loo": at the number of best
        exact leave-one-out score, all numbers tried in one sweep; None: take all.
    criterion : {"accuracy", "log_loss"}, default="accuracy"
        What ``n_features="loo"`` looks at; fewer columns on ties.
    parametrization : {"directed", "junction"}, default="directed"
        P(x_i | x_mother, c), or P(c, x_mother, x_i) / P(c, x_mother) of two estimates. The same
        without smoothing and, where no cell is missing, under BDeu.
    paper : bool, default=False
        Classify as the paper does: junction form, no smoothing, and substitutes for zeros
        where no class has a chance. A missing cell cuts the tree, as ``missing="drop"`` does.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing cell that has children is summed out exactly; "drop" uses P(x_i | c) for them.
    {parameters}

    Attributes
    ----------
    feature_path_ : dict of arrays
        With ``n_features="loo"``: ``n_features``, ``accuracy`` and ``log_loss``.

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

    method: str = "optimal"
    parametrization: str = "directed"
    paper: bool = False

    def _whole_tree(self, source: JointCounts | CodedRows) -> GeneralizedTree:
        if self.method not in _METHODS:
            raise ValueError(f"method={self.method!r}; it must be one of {_METHODS}")
        schema = source.schema
        needed = _EDMONDS_BYTES * len(schema.names) ** 3
        if self.method == "edmonds" and needed > self.max_memory:
            raise TableTooLarge(
                f'method="edmonds" on {len(schema.names)} columns would take some '
                f"{needed / 2**30:,.1f} GiB, more than max_memory; "
                'method="optimal" finds the same tree'
            )
        return generalized_tree(
            schema.names,
            schema.target,
            mutual_information(source),
            conditional_mutual_information(source, self.n_jobs),
            method=self.method,
            active=schema.sizes > 0,
        )

    def _tables_of(self, tree: GeneralizedTree, held_out: float | None, counts: JointCounts) -> Any:
        if self.parametrization not in {"directed", "junction"}:
            raise ValueError(
                f"parametrization={self.parametrization!r}; it must be 'directed' or 'junction'"
            )
        form = "junction" if self.paper else self.parametrization
        plain = self._tree(tree, held_out, counts, **_FORMS[form])
        if not self.paper:
            return plain
        return RescuedTables(plain, self._tree(tree, held_out, counts, **_FORMS["rescued"]))

    @property
    def _marginalize(self) -> bool:
        return super()._marginalize and not self.paper

    @property
    def _smoothing(self) -> Smoothing:
        if not self.paper:
            return super()._smoothing
        if self.smoothing is not None:
            raise ValueError(
                f"paper=True does not smooth; leave smoothing={self.smoothing!r} out, or set "
                'paper=False, parametrization="junction"'
            )
        return ML()

    def _restore_structure(self, state: Any, schema: Schema) -> GeneralizedTree:
        return GeneralizedTree.of_state(state, schema.names, schema.target)

    @property
    def forced_edge_loss_(self) -> float:
        """What the best tree loses if it must hold the pair that tells most, in nats."""
        check_is_fitted(self)
        return float(self.structure_.forced_edge_loss)

    @property
    def triplets_(self) -> list[Cluster]:
        """Class, mother and child, as they enter, with what each adds."""
        return [cluster for cluster in self.clusters_ if cluster.parents]
