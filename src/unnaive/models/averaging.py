"""Probabilities of arcs: the average over all networks, instead of one that a search finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive import _parallel
from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.models.strengths import ArcStrengths, require_search
from unnaive.structure.orders import (
    Families,
    arc_matrix,
    family_probabilities,
    require_memory,
    score_families,
)
from unnaive.tables.export import class_node

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.models.bayesnet import BayesNet

_PRIORS = ("uniform", "sizes")


@dataclass(frozen=True, eq=False, repr=False)
class ArcProbabilities(ArcStrengths):
    """Posterior probabilities of arcs, with the threshold, network and plot of strengths.

    Attributes
    ----------
    names : tuple of str
        Features, and the class as the last.
    found : ndarray of shape (d + 1, d + 1)
        Posterior probability of the arc [parent, child].
    n_samples : int
        0: nothing was sampled.
    sets : list of ndarray of shape (m,)
        Sets of parents of every variable that were compared; bit i stands for variable i.
    probabilities : list of ndarray of shape (m,)
        Posterior probabilities of these sets.

    See Also
    --------
    arc_probabilities : Makes them.
    """

    sets: list[IntArray]
    probabilities: list[FloatArray]

    def parent_sets(
        self, variable: str, least: float = 0.01
    ) -> list[tuple[tuple[str, ...], float]]:
        """List what the parents of a variable may be.

        Parameters
        ----------
        variable : str
            Name of a feature or of the class.
        least : float, default=0.01
            Only sets of at least this probability.

        Returns
        -------
        list of (parents, probability)
            The most probable ones first.
        """
        if variable not in self.names:
            known = ", ".join(map(repr, self.names))
            raise UnnaiveError(f"there is no variable {variable!r}; the variables are {known}")
        node = self.names.index(variable)
        lines = [
            (tuple(name for i, name in enumerate(self.names) if members >> i & 1), chance)
            for members, chance in zip(
                self.sets[node].tolist(), self.probabilities[node].tolist(), strict=True
            )
            if chance >= least
        ]
        return sorted(lines, key=lambda line: -line[1])

    def __repr__(self) -> str:
        """Name the size."""
        d, above = len(self.names), len(self.arcs(self.threshold))
        return f"ArcProbabilities({d} variables, {above} arcs above {self.threshold:.2f})"


def arc_probabilities(
    model: BayesNet, X: object, y: object, *, prior: str = "uniform"
) -> ArcProbabilities:
    r"""Average over all networks: the exact posterior probability of every arc.

    .. math:: P(G \mid \text{data}) \propto n(G) \prod_i \rho_i(A_i)\, e^{\text{score}_i(A_i)}

    over all networks G with at most ``max_parents`` parents :math:`A_i` of a variable. The score
    is the model's ``criterion``; for "bdeu", "bd" and "k2" its exponential is the marginal
    likelihood, which "bic" approximates.

    The prior is *order-modular*: n(G) is the number of orders of the variables in which parents
    precede their children. All orders are equally probable, and so networks with many orders are
    more probable than others: of those with the same edges, a → b → c has one order, and
    a ← b → c two. Sums over all networks are then sums over subsets of the variables, some
    d²·2ᵈ operations for d variables with the class; 20 of them take a second.

    ``required``, ``forbidden``, ``tiers`` and ``augmented`` restrict the networks; ``search`` and
    what belongs to it are not used.

    Parameters
    ----------
    model : BayesNet
        The criterion, ``max_parents``, and what is known of the network; it is not fitted. Its
        ``max_memory`` limits the sums, and its ``n_jobs`` are the threads.
    X : array or table of shape (n, d)
        Features.
    y : array of shape (n,)
        Class labels.
    prior : {"uniform", "sizes"}, default="uniform"
        Prior ρ of the parents of a variable: all sets are equally probable, or all numbers of
        parents, and all sets of the same number (Koivisto & Sood 2004). The latter prefers few
        parents where there are many variables.

    Returns
    -------
    ArcProbabilities
        Probabilities of arcs and of sets of parents, a threshold, and the averaged network.

    Raises
    ------
    TableTooLarge
        If the sums need more than ``max_memory`` bytes, before they are allocated.

    See Also
    --------
    unnaive.models.strengths.arc_strengths : How often a search finds an arc, for any number of
        features.

    References
    ----------
    Koivisto & Sood, "Exact Bayesian structure discovery in Bayesian networks", JMLR 5, 2004;
    Koivisto, "Advances in exact Bayesian structure discovery in Bayesian networks", UAI 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import BayesNet
    >>> random = np.random.default_rng(0)
    >>> rain, sprinkler = random.random((2, 300)) < [[0.3], [0.4]]
    >>> wet = (rain | sprinkler) ^ (random.random(300) < 0.05)
    >>> X = np.column_stack([rain, sprinkler])
    >>> average = arc_probabilities(BayesNet(augmented=False, criterion="bdeu"), X, wet)
    >>> average.averaged().edges
    [('x0', 'y'), ('x1', 'y')]
    >>> [(parents, round(chance, 2)) for parents, chance in average.parent_sets("x0")]
    [((), 0.91), (('x1', 'y'), 0.05), (('y',), 0.02), (('x1',), 0.02)]
    """
    if prior not in _PRIORS:
        raise ValueError(f"prior={prior!r}; it must be one of {', '.join(map(repr, _PRIORS))}")
    require_search(model)
    model._check()
    rows, _ = model.coded(model._given(X, y, None, first=True))
    names = (*rows.schema.names, class_node(rows.schema))
    required, forbidden = model._arcs(rows.schema, model.augmented)
    families = Families(required, forbidden, model.max_parents + int(model.augmented))
    threads = _parallel.effective_n_jobs(model.n_jobs)
    require_memory(len(names), families.number, int(min(model.max_memory, 2**62)), threads)
    sets, weights = score_families(families, model._scores(rows), prior == "sizes")
    probabilities = family_probabilities(sets, weights, model.n_jobs)
    return ArcProbabilities(names, arc_matrix(sets, probabilities), 0, sets, probabilities)
