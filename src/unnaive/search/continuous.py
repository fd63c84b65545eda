"""Algorithms for numbers within bounds: Gaussians that are independent, a chain, a network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._core.drawing import draw_within
from unnaive._docstrings import described_like
from unnaive._ties import first_best
from unnaive.information.gaussian_scores import GaussianScores
from unnaive.parameters import number, one_of, whole
from unnaive.search.climbing import chained, climbed, sampling_order
from unnaive.search.loop import EstimationOfDistribution
from unnaive.search.spaces import Box, Model

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.search.climbing import Parents
    from unnaive.search.spaces import Space

_REDRAWS = 20
_MOST_NORMALS = 1 << 16  # drawn at a time, besides those that are drawn again
_TINY = float(np.finfo(float).tiny)
_LEAST = 1e-12  # of a deviation, as a share of the bounds' width, where its inverse is needed


@dataclass(frozen=True, eq=False)
class GaussianNetwork:
    r"""A network of linear Gaussian genes.

    .. math:: x_i \sim N\Big(\mu_i + \sum_{j \in pa(i)} b_{ij} (x_j - \mu_j),\; s_i^2\Big)

    Parameters
    ----------
    space : Box
        Space of the genomes.
    bounds : {"redraw", "clip", "reflect"}
        How a gene that is drawn outside of the box is brought back.
    order : tuple of int
        Genes, parents before children.
    parents : tuple of tuples of int
        Parents of every gene.
    means, deviations : ndarray of shape (d,)
        Means μ and conditional standard deviations s.
    slopes : tuple of ndarray
        Regression coefficients b, one array per gene, in the order of its parents.

    See Also
    --------
    UMDAc : Learns a network without arcs.
    EGNA : Learns the arcs, too.
    DiscreteNetwork : The same for categories.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import Box, UMDAc
    >>> model = UMDAc().model_of(np.array([[1.0], [3.0]]), Box([0], [4]))
    >>> model.means, model.deviations
    (array([2.]), array([1.]))
    >>> model.sample(2, np.random.default_rng(0)).shape
    (2, 1)
    """

    space: Box
    bounds: str
    order: tuple[int, ...]
    parents: Parents
    means: FloatArray
    deviations: FloatArray
    slopes: tuple[FloatArray, ...]

    @described_like(Model.sample)
    def sample(self, n: int, random: np.random.Generator) -> FloatArray:
        """Draw genomes within the box, each gene after its parents."""
        genes = np.empty((self.space.n_genes, n))
        if self.bounds == "redraw" and not any(self.parents):
            self._draw_apart(genes, random)
            return np.ascontiguousarray(genes.T)
        means, deviations = self.means.tolist(), self.deviations.tolist()
        bring_back = getattr(self, f"_{self.bounds}")
        for gene in self.order:
            above = list(self.parents[gene])
            centres: float | FloatArray = means[gene]
            if above:
                centres = centres + self.slopes[gene] @ (genes[above] - self.means[above, None])
            drawn = genes[gene]
            random.standard_normal(out=drawn)
            drawn *= deviations[gene]
            drawn += centres
            bring_back(gene, drawn, (centres, deviations[gene]), random)
        return np.ascontiguousarray(genes.T)

    def _draw_apart(self, genes: FloatArray, random: np.random.Generator) -> None:
        """Draw genes (d, n) that have no parents; the same numbers as one gene after the other.

        Normals are drawn many at a time. Those that are left over at the end are given back.
        """
        order, around = np.array(self.order), np.stack([self.means, self.deviations])
        bounds, redrawn = np.array([self.space.low, self.space.high]), genes.shape[1] * _REDRAWS
        filled, rest = 0, np.empty(0)
        while filled < len(order):
            state = random.bit_generator.state
            wanted = min((len(order) - filled) * genes.shape[1], _MOST_NORMALS) + redrawn
            normals = np.concatenate([rest, random.standard_normal(wanted)])
            more, used = draw_within(normals, order, around, bounds, _REDRAWS, filled, genes)
            filled += more
            if filled == len(order):
                random.bit_generator.state = state
                random.standard_normal(used - len(rest))
            rest = normals[used:]

    def _redraw(
        self,
        gene: int,
        drawn: FloatArray,
        around: tuple[float | FloatArray, float],
        random: np.random.Generator,
    ) -> None:
        """Draw values of a gene that are outside of its bounds again, and then clip them.

        ``around`` are the centres, and the deviation from them.
        """
        least, most, centres = self.space.low[gene], self.space.high[gene], around[0]
        outside = ((drawn < least) | (drawn > most)).nonzero()[0]
        for _ in range(_REDRAWS):
            if not len(outside):
                return
            noise = random.standard_normal(len(outside))
            noise *= around[1]
            noise += centres if isinstance(centres, float) else centres[outside]
            drawn[outside] = noise
            outside = outside[(noise < least) | (noise > most)]
        self._clip(gene, drawn)

    def _clip(self, gene: int, drawn: FloatArray, *_: object) -> None:
        """Set values of a gene that are outside of its bounds to the bound."""
        np.clip(drawn, self.space.low[gene], self.space.high[gene], out=drawn)

    def _reflect(self, gene: int, drawn: FloatArray, *_: object) -> None:
        """Mirror values of a gene that are outside of its bounds at the bound."""
        least, most = self.space.low[gene], self.space.high[gene]
        if most > least:
            width = most - least
            drawn[:] = least + width - np.abs((drawn - least) % (2 * width) - width)
        self._clip(gene, drawn)


def _slopes_of(design: FloatArray, values: FloatArray) -> FloatArray:
    """Slopes of least squares; of one parent without LAPACK, whose versions round differently."""
    if design.shape[1] > 1:
        return np.asarray(np.linalg.lstsq(design, values, rcond=None)[0])
    square = float(design[:, 0] @ design[:, 0])
    return values @ design / (square or 1.0)


@dataclass(frozen=True, kw_only=True)
class _GaussianAlgorithm(EstimationOfDistribution):
    """Base of the algorithms for boxes, with the parameters that only they have."""

    bounds: str = one_of("redraw", "clip", "reflect")
    sigma_min: float = number(1e-6, 0.0, most=1.0)

    space_type: ClassVar[type[Space]] = Box

    def _network(self, selected: FloatArray, space: Box, parents: Parents) -> GaussianNetwork:
        """Regress every gene on its parents by least squares."""
        means = selected.mean(axis=0)
        centred = selected - means
        deviations = selected.std(axis=0)
        slopes = []
        for gene, above in enumerate(parents):
            slopes.append(np.zeros(len(above)))
            if above:
                design = centred[:, above]
                slopes[gene] = _slopes_of(design, centred[:, gene])
                left = centred[:, gene] - design @ slopes[gene]
                deviations[gene] = math.sqrt(np.mean(left**2))
        deviations = np.maximum(deviations, self.sigma_min * space.widths)
        order = sampling_order(parents)
        return GaussianNetwork(space, self.bounds, order, parents, means, deviations, tuple(slopes))


@dataclass(frozen=True, kw_only=True)
class UMDAc(_GaussianAlgorithm):
    r"""Univariate marginal distribution algorithm for numbers: genes are independent Gaussians.

    .. math:: \rho(x) = \prod_i N(x_i; \hat\mu_i, \hat\sigma_i^2)

    with the mean and the standard deviation of maximum likelihood. Use it where genes hardly
    interact; it is the fastest of the continuous algorithms.

    Parameters
    ----------
    bounds : {"redraw", "clip", "reflect"}, default="redraw"
        How a gene that is drawn outside of its bounds is brought back. "redraw": it is drawn
        again, up to 20 times, and then set to the bound. "clip": it is set to the bound.
        "reflect": it is mirrored at the bound.
    sigma_min : float, default=1e-6
        Minimum standard deviation of a gene, as a share of the width of its bounds.
    {parameters}

    See Also
    --------
    EGNA : Learns a network of genes.
    EMNA : Learns all covariances.
    UMDA : The same for categories.

    References
    ----------
    Larrañaga, Etxeberria, Lozano & Peña, "Optimization in continuous domains by learning and
    simulation of Gaussian networks", GECCO workshop, 2000.

    Examples
    --------
    >>> from unnaive.search import Box, UMDAc
    >>> sphere = lambda genomes: -((genomes - 1) ** 2).sum(axis=1)
    >>> found = UMDAc(bound=-1e-6).maximise(Box([-5] * 3, [5] * 3), sphere, random_state=0)
    >>> found.best.round(2), found.reason
    (array([1., 1., 1.]), 'bound')
    """

    def _learn(self, selected: FloatArray, space: Box, _: object) -> GaussianNetwork:
        """Learn independent Gaussians."""
        return self._network(selected, space, ((),) * space.n_genes)


@dataclass(frozen=True, kw_only=True)
class MIMICc(_GaussianAlgorithm):
    r"""MIMIC for numbers: genes form a chain of Gaussians.

    The chain is built as in :class:`MIMIC`, least entropy first, with

    .. math:: h(X) = \tfrac12 (1 + \log 2\pi\sigma_X^2), \quad
              h(X \mid Z) = \tfrac12 \Big(1 + \log 2\pi
              \frac{\sigma_X^2 \sigma_Z^2 - \sigma_{XZ}^2}{\sigma_Z^2}\Big)

    Parameters
    ----------
    bounds : {"redraw", "clip", "reflect"}, default="redraw"
        How a gene that is drawn outside of its bounds is brought back; see :class:`UMDAc`.
    sigma_min : float, default=1e-6
        Minimum standard deviation of a gene given the gene before it, as a share of the width
        of its bounds.
    {parameters}

    See Also
    --------
    MIMIC : The same for categories.
    EGNA : Learns a network instead of a chain.

    References
    ----------
    See :class:`UMDAc`.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import Box, MIMICc
    >>> x = np.arange(8.0)
    >>> selected = np.column_stack([x, x % 2, 2 * x + x % 2])
    >>> MIMICc().model_of(selected, Box([0] * 3, [20] * 3)).order
    (1, 0, 2)
    """

    def _learn(self, selected: FloatArray, space: Box, _: object) -> GaussianNetwork:
        """Learn a chain: least variance first, then always the least given the previous gene.

        The logarithm of a variance is the entropy up to a factor and a constant.
        """
        floor = np.maximum((self.sigma_min * space.widths) ** 2, _TINY)
        centred = selected - selected.mean(axis=0)
        covariance = centred.T @ centred / len(selected)
        variances = np.maximum(np.diag(covariance), floor)
        left, conditional, order = np.arange(space.n_genes), variances, []
        while len(left):
            gene = int(left[first_best(-np.log(conditional) / 2)])
            order.append(gene)
            left = left[left != gene]
            explained = covariance[left, gene] ** 2 / variances[gene]
            conditional = np.maximum(variances[left] - explained, floor[left])
        return self._network(selected, space, chained(order))


@dataclass(frozen=True, kw_only=True)
class EGNA(_GaussianAlgorithm):
    """Estimation of Gaussian network algorithm: a network of genes, learned in each generation.

    The first network is grown arc by arc from the empty graph; later ones are found by hill
    climbing from the network of the previous generation. Coefficients are estimated by least
    squares.

    Parameters
    ----------
    score : {"bge", "bic"}, default="bge"
        Score of a network, as in
        :class:`~unnaive.information.gaussian_scores.GaussianScores`.
    max_parents : int or None, default=None
        Maximum number of parents of a gene; None: no limit.
    bounds : {"redraw", "clip", "reflect"}, default="redraw"
        How a gene that is drawn outside of its bounds is brought back; see :class:`UMDAc`.
    sigma_min : float, default=1e-6
        Minimum standard deviation of a gene given its parents, as a share of the width of its
        bounds.
    {parameters}

    See Also
    --------
    EBNA : The same for categories.
    EMNA : All covariances, without a search for arcs.

    References
    ----------
    See :class:`UMDAc`.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import EGNA, Box
    >>> x = np.arange(20.0)
    >>> selected = np.column_stack([x, x % 2, x + x % 2])
    >>> EGNA().model_of(selected, Box([0] * 3, [20] * 3)).parents
    ((), (), (0, 1))
    """

    score: str = one_of("bge", "bic")
    max_parents: int | None = whole(None, also=(None,))

    def _learn(
        self, selected: FloatArray, space: Box, previous: GaussianNetwork | None
    ) -> GaussianNetwork:
        """Learn a network of Gaussians."""
        # Paper: BGe's prior is a mean of 0 and a variance near 1, which a population that has
        # almost converged would not outweigh; so the score sees standardized genes.
        spread = selected.std(axis=0)
        scaled = (selected - selected.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        most = space.n_genes if self.max_parents is None else self.max_parents
        start = None if previous is None else previous.parents
        parents = climbed(GaussianScores(scaled, self.score), most, start)
        return self._network(selected, space, parents)


@dataclass(frozen=True, kw_only=True)
class EMNA(_GaussianAlgorithm):
    r"""Estimation of multivariate normal algorithm: one Gaussian with all covariances.

    .. math:: \rho(x) = N(x; \hat\mu, \hat\Sigma)

    It is stored as a network with all arcs, :math:`\hat\Sigma = L L'`, so that genes can be
    drawn, and kept within their bounds, one after the other.

    Parameters
    ----------
    bounds : {"redraw", "clip", "reflect"}, default="redraw"
        How a gene that is drawn outside of its bounds is brought back; see :class:`UMDAc`.
    sigma_min : float, default=1e-6
        Standard deviation, as a share of the width of its bounds, that is added to every gene,
        so that the covariance of few individuals has an inverse.
    {parameters}

    See Also
    --------
    UMDAc : Without covariances.
    EGNA : Learns which genes depend on each other.

    References
    ----------
    Larrañaga, Lozano & Bengoetxea, "Estimation of distribution algorithms based on multivariate
    normal and Gaussian networks", University of the Basque Country, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import EMNA, Box
    >>> x = np.arange(8.0)
    >>> model = EMNA().model_of(np.column_stack([x, 2 * x + x % 2]), Box([0, 0], [20, 20]))
    >>> model.parents, model.slopes[1].round(4)
    (((), (0,)), array([2.0476]))
    """

    def _learn(self, selected: FloatArray, space: Box, _: object) -> GaussianNetwork:
        """Learn means and covariances."""
        d, means = space.n_genes, selected.mean(axis=0)
        free = space.widths > 0
        widths = np.where(free, space.widths, 1.0)
        centred = np.where(free, selected - means, 0.0) / (widths * math.sqrt(len(selected)))
        added = np.diag(np.where(free, max(self.sigma_min, _LEAST), 1.0))
        factor = np.asarray(np.linalg.qr(np.vstack([centred, added]), mode="r")).T
        diagonal = np.diag(factor)
        from scipy.linalg import solve_triangular  # noqa: PLC0415 - slow to import

        inner = np.eye(d) - diagonal[:, None] * solve_triangular(factor, np.eye(d), lower=True)
        matrix = inner * widths[:, None] / widths
        slopes = tuple(matrix[gene, :gene] for gene in range(d))
        order, deviations = tuple(range(d)), np.abs(diagonal) * space.widths
        parents = tuple(order[:gene] for gene in order)
        return GaussianNetwork(space, self.bounds, order, parents, means, deviations, slopes)
