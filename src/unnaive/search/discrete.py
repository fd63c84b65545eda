"""Algorithms for categories: independent genes, a chain of genes, a Bayesian network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from unnaive._docstrings import described_like
from unnaive._ties import first_best
from unnaive.counts.families import context_places
from unnaive.exceptions import UnnaiveError
from unnaive.information.scores import KINDS, FamilyScores
from unnaive.parameters import is_number, number, parameter, whole
from unnaive.search.climbing import by_tests, chained, climbed, sampling_order
from unnaive.search.loop import EstimationOfDistribution
from unnaive.search.spaces import Categories, Model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray
    from unnaive.search.loop import Setting
    from unnaive.search.spaces import Space


@dataclass(frozen=True, eq=False)
class Conditional:
    """Distribution of a gene given its parents.

    Attributes
    ----------
    parents : tuple of int
        Parents of the gene.
    contexts : ndarray of shape (q,)
        Numbers of the parents' joint values that were observed, ascending.
    probabilities : ndarray of shape (q + 1, r)
        Probabilities of the r values in each of these contexts and, in the last row, in every
        other context.
    """

    parents: tuple[int, ...]
    contexts: IntArray
    probabilities: FloatArray

    def draw(self, numbers: IntArray, random: np.random.Generator) -> IntArray:
        """Draw a value in each of several contexts, named by their numbers; shape (n,)."""
        cumulative = np.cumsum(self.probabilities, axis=1)
        cumulative /= cumulative[:, -1:]  # so that the last value that can occur ends at 1 exactly
        chance = random.random(len(numbers))
        if not len(self.contexts):
            return np.searchsorted(cumulative[0], chance, side="right")
        rows = context_places(self.contexts, numbers)
        # One search in all rows together: row j holds j + its cumulative probabilities.
        edges = cumulative + np.arange(len(cumulative))[:, None]
        wanted = np.minimum(rows + chance, np.nextafter(rows + 1.0, 0.0))
        places = np.searchsorted(edges.ravel(), wanted, side="right")
        return np.asarray(places - rows * cumulative.shape[1])


@dataclass(frozen=True, eq=False)
class DiscreteNetwork:
    r"""A Bayesian network of genes, :math:`\rho(x) = \prod_i p(x_i \mid x_{pa(i)})`.

    Parameters
    ----------
    space : Categories
        Space of the genomes.
    order : tuple of int
        Genes, parents before children.
    conditionals : tuple of Conditional
        Conditional distribution of every gene.

    See Also
    --------
    UMDA : Learns a network without arcs.
    EBNA : Learns the arcs, too.
    GaussianNetwork : The same for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import UMDA, Categories
    >>> model = UMDA(alpha=0).model_of(np.array([[0, 1], [1, 1]]), Categories([2, 2]))
    >>> [table.tolist() for table in model.probabilities]
    [[[0.5, 0.5]], [[0.0, 1.0]]]
    >>> model.sample(3, np.random.default_rng(0)).shape
    (3, 2)
    """

    space: Categories
    order: tuple[int, ...]
    conditionals: tuple[Conditional, ...]

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Parents of every gene."""
        return tuple(conditional.parents for conditional in self.conditionals)

    @property
    def probabilities(self) -> tuple[FloatArray, ...]:
        """Probability table of every gene; shapes (q + 1, r)."""
        return tuple(conditional.probabilities for conditional in self.conditionals)

    @described_like(Model.sample)
    def sample(self, n: int, random: np.random.Generator) -> IntArray:
        """Draw genomes, each gene after its parents.

        References
        ----------
        Henrion, "Propagating uncertainty in Bayesian networks by probabilistic logic sampling",
        UAI 1986.
        """
        genes = np.empty((self.space.n_genes, n), dtype=np.int64)
        for gene in self.order:
            conditional = self.conditionals[gene]
            numbers = context_numbers(genes, conditional.parents, self.space.counts)
            genes[gene] = conditional.draw(numbers, random)
        return np.ascontiguousarray(genes.T)


def context_numbers(genes: IntArray, parents: Sequence[int], sizes: IntArray) -> IntArray:
    """Give every joint value of some genes a number; genes have shape (d, n), numbers (n,)."""
    numbers = np.zeros(genes.shape[1], dtype=np.int64)
    for parent in parents:
        numbers = numbers * sizes[parent] + genes[parent]
    return numbers


def marginal(values: IntArray, size: int, alpha: float) -> FloatArray:
    """Smoothed frequencies (count + α) / (N + α·r) of r values; shape (r,)."""
    counts = np.bincount(values, minlength=size)
    return np.asarray((counts + alpha) / (len(values) + alpha * size))


def conditional_of(
    genes: IntArray, sizes: IntArray, gene: int, parents: tuple[int, ...], alpha: float
) -> Conditional:
    """Smoothed frequencies of a gene in every observed context, its marginal in all others."""
    size = int(sizes[gene])
    alone = marginal(genes[gene], size, alpha)
    if not parents:
        return Conditional((), np.empty(0, dtype=np.int64), alone[None])
    numbers = context_numbers(genes, parents, sizes)
    contexts, rows = np.unique(numbers, return_inverse=True)
    cells = rows.reshape(-1) * size + genes[gene]
    counts = np.bincount(cells, minlength=len(contexts) * size).reshape(-1, size)
    seen = (counts + alpha) / (counts.sum(axis=1, keepdims=True) + alpha * size)
    return Conditional(parents, contexts, np.vstack([seen, alone]))


@dataclass(frozen=True, kw_only=True)
class _SmoothedAlgorithm(EstimationOfDistribution):
    """Base of the algorithms that add a pseudo-count to every value."""

    alpha: float = number(1.0)

    space_type: ClassVar[type[Space]] = Categories
    paper_setting: ClassVar[Setting] = {**EstimationOfDistribution.paper_setting, "alpha": 0.0}


@dataclass(frozen=True, kw_only=True)
class UMDA(_SmoothedAlgorithm):
    r"""Univariate marginal distribution algorithm: genes are independent.

    .. math:: \rho(x) = \prod_i p_i(x_i), \qquad
              p_i(a) = \frac{N_i(a) + \alpha}{N + \alpha r_i}

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-count of every value, so that no value dies out.
    p_min : float, default=0.0
        Minimum probability of a value. The other values are lowered in proportion to what they
        have above the minimum.
    {parameters}

    See Also
    --------
    MIMIC : Learns a chain of genes.
    EBNA : Learns a network of genes.
    UMDAc : The same for numbers.

    References
    ----------
    Mühlenbein, "The equation for response to selection and its use for prediction",
    Evolutionary Computation 5, 1997.

    Examples
    --------
    >>> from unnaive.search import UMDA, Categories
    >>> ones = lambda genomes: genomes.sum(axis=1)
    >>> found = UMDA(bound=20).maximise(Categories([2] * 20), ones, random_state=0)
    >>> found.fitness, found.reason, found.evaluations == 100 + 100 * found.generations
    (20.0, 'bound', True)
    """

    p_min: float = number(0.0, most=1.0)

    def check(self, space: Space) -> None:
        """Raise an error if a parameter is wrong, or too large for the space."""
        super().check(space)
        most = 1.0 / max(cast("Categories", space).sizes, default=1)
        if self.p_min > most:
            raise UnnaiveError(f"p_min={self.p_min!r}; it must be a number from 0 to {most:g}")

    def _learn(self, selected: IntArray, space: Categories, _: object) -> DiscreteNetwork:
        """Learn independent genes."""
        genes, none = np.ascontiguousarray(selected.T), np.empty(0, dtype=np.int64)
        tables = (
            self._floored(marginal(values, size, self.alpha))
            for values, size in zip(genes, space.sizes, strict=True)
        )
        conditionals = tuple(Conditional((), none, table[None]) for table in tables)
        return DiscreteNetwork(space, tuple(range(space.n_genes)), conditionals)

    def _floored(self, probabilities: FloatArray) -> FloatArray:
        above = np.maximum(probabilities - self.p_min, 0.0)
        if not self.p_min or not above.any():
            return probabilities
        left = 1.0 - len(probabilities) * self.p_min
        return np.asarray(self.p_min + above * (left / above.sum()))


@dataclass(frozen=True, kw_only=True)
class MIMIC(_SmoothedAlgorithm):
    r"""Mutual information maximisation for input clustering: genes form a chain.

    .. math:: \rho(x) = p(x_{i_n}) \prod_{m=n-1}^{1} p(x_{i_m} \mid x_{i_{m+1}}), \quad
              i_n = \arg\min_j \hat h(X_j), \quad
              i_m = \arg\min_j \hat h(X_j \mid X_{i_{m+1}})

    Entropies that differ by at most 1e-10 nats are tied, and the lowest gene wins. In a context
    that no selected individual has, a gene has its marginal distribution.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-count of every value in every context. Genes with many values need a smaller one,
        or 0: with 60 values, 1 outweighs the few individuals that share a context.
    {parameters}

    See Also
    --------
    UMDA : Independent genes.
    EBNA : Learns a network instead of a chain.
    MIMICc : The same for numbers.

    References
    ----------
    De Bonet, Isbell & Viola, "MIMIC: Finding optima by estimating probability densities",
    NIPS 9, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import MIMIC, Categories
    >>> selected = np.array([[0, 1, 0], [1, 1, 0], [2, 0, 1], [0, 1, 0]])
    >>> MIMIC().model_of(selected, Categories([3, 2, 2])).order
    (1, 2, 0)
    """

    def _learn(self, selected: IntArray, space: Categories, _: object) -> DiscreteNetwork:
        """Learn a chain of genes."""
        genes = np.ascontiguousarray(selected.T)
        order = chain(genes, space.counts)
        conditionals = tuple(
            conditional_of(genes, space.counts, gene, above, self.alpha)
            for gene, above in enumerate(chained(order))
        )
        return DiscreteNetwork(space, order, conditionals)


def chain(genes: IntArray, sizes: IntArray) -> tuple[int, ...]:
    """Order the genes (d, n): least entropy first, then always the least given the previous."""
    left, widest = np.arange(len(genes)), int(sizes.max(initial=1))
    genes = genes.astype(np.min_scalar_type(-(widest**2)))  # narrow numbers are sorted faster
    sizes = sizes.astype(genes.dtype)
    alone = entropies(genes)
    entropy, order = alone, []
    while len(left):
        gene = int(left[first_best(-entropy)])
        order.append(gene)
        left = left[left != gene]
        together = genes[gene] * sizes[left, None] + genes[left]
        entropy = entropies(together) - alone[gene]
    return tuple(order)


def entropies(codes: IntArray) -> FloatArray:
    """Entropy in nats of each row of codes (m, n); shape (m,).

    Codes are sorted, so the cost does not depend on the number of values.

    Examples
    --------
    >>> import numpy as np
    >>> entropies(np.array([[7, 7, 7, 7], [0, 5, 0, 5]])).round(4)
    array([0.    , 0.6931])
    """
    m, n = codes.shape
    ordered = np.sort(codes, axis=1)
    begins = np.ones(m * n + 1, dtype=bool)
    begins[1:-1] = ordered.ravel()[1:] != ordered.ravel()[:-1]
    begins[: m * n : n] = True
    starts = np.flatnonzero(begins)
    lengths = starts[1:] - starts[:-1]
    logs = np.arange(n + 1) * np.log(np.maximum(np.arange(n + 1), 1))
    lines = np.searchsorted(starts, np.arange(m) * n)
    return np.asarray(math.log(n) - np.add.reduceat(logs[lengths], lines) / n)


@dataclass(frozen=True, kw_only=True)
class EBNA(EstimationOfDistribution):
    r"""Estimation of Bayesian network algorithm: a network of genes, learned in each generation.

    .. math:: \rho(x) = \prod_i p(x_i \mid x_{pa(i)}), \qquad
              p(x_i \mid x_{pa(i)}) = \frac{N(x_i, x_{pa(i)}) + 1}{N(x_{pa(i)}) + r_i}

    The first network is grown arc by arc from the empty graph; later ones are found by hill
    climbing from the network of the previous generation. With ``score="pc"`` every network is
    learned anew, by tests of conditional independence.

    Parameters
    ----------
    score : str, default="bic"
        Score of a network: "bic", "aic", "log-likelihood", "k2", "bd" or "bdeu", as in
        :class:`~unnaive.information.scores.FamilyScores`; or "pc": the PC algorithm, with tests
        instead of a score. Each pair of genes is then tested given at most ``max_parents`` others,
        so many dependent genes take long.
    max_parents : int, default=3
        Maximum number of parents of a gene; of more parents that PC finds, those with the smallest
        p-values are kept.
    significance : float, default=0.05
        Significance level of the tests of "pc": how often independent genes are joined.
    {parameters}

    See Also
    --------
    UMDA : Independent genes.
    MIMIC : A chain of genes, which is faster.
    EGNA : The same for numbers.

    References
    ----------
    Etxeberria & Larrañaga, "Global optimization using Bayesian networks", Second Symposium on
    Artificial Intelligence (CIMAF), 1999; by "pc": Larrañaga & Lozano, *Estimation of Distribution
    Algorithms*, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import EBNA, Categories
    >>> selected = np.array([[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]] * 10)
    >>> EBNA().model_of(selected, Categories([2, 2, 2])).parents
    ((), (0,), ())
    >>> EBNA(score="pc").model_of(selected, Categories([2, 2, 2])).parents
    ((1,), (), ())
    """

    score: str = parameter(
        "bic",
        f"one of {', '.join(KINDS)}, pc",
        test=lambda score: (
            isinstance(score, str) and (score == "pc" or score.partition(":")[0] in KINDS)
        ),
    )
    max_parents: int = whole(3)
    significance: float = parameter(
        0.05,
        "a number between 0 and 1",
        test=lambda value: is_number(value, 0, 1) and value not in {0, 1},
    )

    space_type: ClassVar[type[Space]] = Categories

    def check(self, space: Space) -> None:
        """Raise an error if a parameter is wrong, or too large for the space."""
        super().check(space)
        widest = sorted(cast("Categories", space).sizes)[-1 - self.max_parents :]
        if math.prod(widest) > np.iinfo(np.int64).max:
            raise UnnaiveError(
                f"max_parents={self.max_parents}: a family has too many joint values to be "
                "numbered; lower max_parents"
            )

    def _learn(
        self, selected: IntArray, space: Categories, previous: DiscreteNetwork | None
    ) -> DiscreteNetwork:
        """Learn a network of genes."""
        genes = np.ascontiguousarray(selected.T)
        if self.score == "pc":
            parents = by_tests(genes, space.counts, self.significance, self.max_parents)
        else:
            scores = FamilyScores(genes.astype(space.code_type), space.counts, self.score)
            start = None if previous is None else previous.parents
            parents = climbed(scores, self.max_parents, start)
        conditionals = []
        for gene, above in enumerate(parents):
            conditional = conditional_of(genes, space.counts, gene, above, 1.0)
            if above:  # the formula with counts of 0; MIMIC takes the marginal instead
                conditional.probabilities[-1] = 1.0 / space.sizes[gene]
            conditionals.append(conditional)
        return DiscreteNetwork(space, sampling_order(parents), tuple(conditionals))
