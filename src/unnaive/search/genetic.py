"""A genetic algorithm: new genomes are crossed from two good ones, and mutated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._docstrings import described_like
from unnaive.parameters import number
from unnaive.search.loop import EstimationOfDistribution
from unnaive.search.spaces import Model, Space

if TYPE_CHECKING:
    from unnaive._typing import AnyArray


@dataclass(frozen=True, eq=False)
class GenePool:
    """Genomes that are crossed and mutated; what a genetic algorithm has for a distribution.

    Parameters
    ----------
    genomes : ndarray of shape (n, d)
        The parents.
    space : Categories or Box
        Their space.
    crossover : float
        Probability that a child has two parents; it gets each gene from either of them.
    mutation : float
        Probability that a gene is drawn anew, uniformly.

    See Also
    --------
    Genetic : The algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import Categories
    >>> pool = GenePool(np.array([[0, 1], [1, 1]]), Categories([2, 2]), 1.0, 0.0)
    >>> bool((pool.sample(9, np.random.default_rng(0))[:, 1] == 1).all())
    True
    """

    genomes: AnyArray
    space: Space
    crossover: float
    mutation: float

    @described_like(Model.sample)
    def sample(self, n: int, random: np.random.Generator) -> AnyArray:
        """Make n children."""
        mothers, fathers = self.genomes[random.integers(len(self.genomes), size=(2, n))]
        crossed = random.random((n, 1)) < self.crossover
        children = np.where(crossed & (random.random(mothers.shape) < 0.5), fathers, mothers)
        mutated = random.random(children.shape) < self.mutation
        return np.where(mutated, self.space.uniform(n, random), children)


@dataclass(frozen=True, kw_only=True)
class Genetic(EstimationOfDistribution):
    """Genetic algorithm: uniform crossover of good genomes, and mutation.

    Every child has two parents among the selected genomes, gets each gene from one of them, and
    some of its genes are drawn anew. In contrast to the other algorithms, nothing is learned about
    the genes, so combinations of genes that are good together are kept only as long as their
    carriers are. It searches categories and numbers alike. For orders, take numbers and sort them
    ("random keys"), as :class:`~unnaive.BayesNet` does with ``search="genetic"``.

    Parameters
    ----------
    crossover : float, default=0.9
        Probability that a child has two parents instead of one.
    mutation : float or None, default=None
        Probability that a gene is drawn anew; None: one gene of each child on average.
    {parameters}

    See Also
    --------
    UMDA : Learns the distribution of every gene instead.

    References
    ----------
    Goldberg, *Genetic Algorithms in Search, Optimization, and Machine Learning*, Addison-Wesley,
    1989; random keys: Bean, "Genetic algorithms and random keys for sequencing and optimization",
    ORSA Journal on Computing 6, 1994.

    Examples
    --------
    >>> from unnaive.search import Categories, Genetic
    >>> ones = lambda genomes: genomes.sum(axis=1)
    >>> found = Genetic(bound=20).maximise(Categories([2] * 20), ones, random_state=0)
    >>> found.fitness, found.reason
    (20.0, 'bound')
    """

    crossover: float = number(0.9, 0.0, most=1.0)
    mutation: float | None = number(None, 0.0, most=1.0, also=(None,))

    space_type: ClassVar[type[Space]] = Space  # type: ignore[type-abstract]

    def _learn(self, selected: AnyArray, space: Space, _: object) -> GenePool:
        """Take the selected genomes as parents."""
        one_gene = 1.0 / max(space.n_genes, 1)
        mutation = one_gene if self.mutation is None else float(self.mutation)
        return GenePool(selected, space, float(self.crossover), mutation)
