"""Super-parent one-dependence estimators: one feature is the parent of all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._ties import first_best
from unnaive.information import (
    conditional_mutual_information,
    mutual_information,
    pairwise_mutual_information,
)
from unnaive.models.base import CountsClassifier
from unnaive.models.choice import left_out_candidates, select
from unnaive.models.makers import TreeFactors
from unnaive.models.nb import no_parents
from unnaive.models.recipe import Learned, Recipe
from unnaive.models.tree import column_position
from unnaive.parameters import flag, one_of
from unnaive.structure import ParentGraph, super_parent_scores, with_parents
from unnaive.structure.graph import LEFT_OUT
from unnaive.tables.trees import joint_root

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.counts import CodedRows
    from unnaive.models.recipe import Source, Task


@dataclass(eq=False, repr=False, kw_only=True)
class SPODE(CountsClassifier):
    r"""Super-parent one-dependence estimator: one feature is the parent of all others.

    .. math:: P(c, x) = P(c, x_p) \prod_{i \ne p} P(x_i \mid c, x_p)

    Use it where one feature, such as sex or site, is known to change how all others relate to
    the class.

    Parameters
    ----------
    criterion : {"mi", "cmi", "loo", "bic", "aic"}, default="mi"
        How the super-parent p is chosen: by I(X_p;Y); by the mutual information of all features
        with the class in the resulting model; by exact leave-one-out accuracy (log loss on ties);
        by a penalized likelihood.
    parent : str or int, default=None
        The super-parent; None: chosen by ``criterion``.
    joint_prior : bool, default=True
        Estimate P(c, x_p) as one variable, as AODE does, rather than as P(c)·P(x_p | c).
    {parameters}

    Attributes
    ----------
    path_ : dict of arrays
        With ``criterion="loo"``: ``parent``, ``accuracy``, ``log_loss`` and ``brier``.
    {attributes}

    See Also
    --------
    AODE : The average over all super-parents.

    Notes
    -----
    Assumption: within a class, one feature is the parent of all others. Given the class and that
    feature, the others are independent.

    References
    ----------
    Yang, Webb, Cerquides, Korb, Boughton & Ting, "To select or to weigh: a comparative study
    of linear combination schemes for superparent-one-dependence estimators", IEEE TKDE 19, 2007.

    Examples
    --------
    >>> from unnaive import SPODE
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 3
    >>> SPODE(parent=1).fit(X, [0, 1, 1, 0] * 3).structure_.parents
    array([ 1, -1])
    """

    criterion: str = one_of("mi", "cmi", "loo", "bic", "aic")
    parent: str | int | None = None
    joint_prior: bool = flag(True)

    family: ClassVar[str] = "super-parents"

    def recipe(self) -> Recipe:
        """Choose the super-parent, by a score of counts or by leave-one-out."""
        tables = TreeFactors(root_of=joint_root if self.joint_prior else None)
        if self.parent is None and self.criterion == "loo":
            return Recipe(no_parents, tables, self._best_left_out, keeps=True)
        return Recipe(self._best_star, tables)

    def _best_star(self, source: Source, rows: CodedRows | None) -> Learned:
        information = conditional_mutual_information(source, self.n_jobs)
        if self.parent is not None:
            parent = column_position(self.parent, source.schema, "parent")
            return Learned(star(parent, information, source))
        pairwise = np.zeros_like(information)
        if self.criterion == "cmi":
            pairwise = pairwise_mutual_information(source, self.n_jobs)
        relevance = mutual_information(source)
        scores = super_parent_scores(self.criterion, source, relevance, information, pairwise)
        scores = np.where(source.schema.sizes > 0, scores, -np.inf)
        return Learned(star(first_best(scores), information, source))

    def _best_left_out(self, learned: Learned, task: Task) -> Learned:
        """Try every column as the super-parent: leave-one-out accuracy, log loss on ties."""
        source = task.source
        information = conditional_mutual_information(source, self.n_jobs)
        columns = np.flatnonzero(source.schema.sizes > 0)
        columns = columns if len(columns) else np.arange(len(information))
        stars = [Learned(star(parent, information, source)) for parent in columns.tolist()]
        scores = left_out_candidates(task.rows, task.maker, stars)
        path = select(scores, "accuracy", then="log_loss", parent=columns)
        return Learned(stars[path.best].structure, trace={"path_": path.table})


def star(parent: int, information: FloatArray, source: Source) -> ParentGraph:
    """Return the graph in which one column is the parent of all other columns that have values."""
    schema = source.schema
    parents = np.where(schema.sizes > 0, parent, LEFT_OUT)
    parents[parent] = -1
    return with_parents(schema.names, schema.target, parents, information)
