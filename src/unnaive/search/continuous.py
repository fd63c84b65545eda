"""Algorithms for numbers within bounds: independent Gaussians, chains, networks, all at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._ties import first_best
from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian_scores import GaussianScores
from unnaive.search.climbing import chained, climbed, sampling_order
from unnaive.search.loop import EstimationOfDistribution, require_number, require_whole
from unnaive.search.spaces import Box

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.search.climbing import Parents
    from unnaive.search.spaces import Space

BOUNDS = ("redraw", "clip", "reflect")
_REDRAWS = 20
_TINY = float(np.finfo(float).tiny)
_LEAST = 1e-12  # of a deviation, as a share of the bounds' width, where its inverse is needed


@dataclass(frozen=True, eq=False)
class GaussianNetwork:
    r"""A network of linear Gaussian genes.

    .. math:: x_i \sim N\Big(\mu_i + \sum_{j \in pa(i)} b_{ij} (x_j - \mu_j),\; s_i^2\Big)

    Attributes
    ----------
    space : Box
    bounds : str
        What becomes of a gene that is drawn outside of the box.
    order : tuple of int
        Genes, parents before children.
    parents : tuple of tuples of int
    means, deviations : ndarray of shape (d,)
        μ and s.
    slopes : tuple of ndarray
        b, one array a gene, in the order of its parents.
    """

    space: Box
    bounds: str
    order: tuple[int, ...]
    parents: Parents
    means: FloatArray
    deviations: FloatArray
    slopes: tuple[FloatArray, ...]

    def sample(self, n: int, random: np.random.Generator) -> FloatArray:
        """Draw genomes, each gene after its parents; shape (n, d)."""
        genes = np.empty((self.space.n_genes, n))
        for gene in self.order:
            above = list(self.parents[gene])
            centres = np.full(n, self.means[gene])
            if above:
                centres += self.slopes[gene] @ (genes[above] - self.means[above, None])
            genes[gene] = self._draw(gene, centres, random)
        return np.ascontiguousarray(genes.T)

    def _draw(self, gene: int, centres: FloatArray, random: np.random.Generator) -> FloatArray:
        """Draw a gene around its centres, within its bounds; shape (n,)."""
        least, most = self.space.low[gene], self.space.high[gene]
        deviation = self.deviations[gene]
        drawn = centres + deviation * random.standard_normal(len(centres))
        if self.bounds == "redraw":
            for _ in range(_REDRAWS):
                outside = np.flatnonzero((drawn < least) | (drawn > most))
                if not len(outside):
                    break
                noise = random.standard_normal(len(outside))
                drawn[outside] = centres[outside] + deviation * noise
        elif self.bounds == "reflect" and most > least:
            width = most - least
            drawn = least + width - np.abs((drawn - least) % (2 * width) - width)
        return np.asarray(np.clip(drawn, least, most))


@dataclass(frozen=True, kw_only=True)
class _GaussianAlgorithm(EstimationOfDistribution):
    """Base of the algorithms for boxes: what they do at the bounds, and the least deviation."""

    bounds: str = "redraw"
    sigma_min: float = 1e-6

    space_type: ClassVar[type[Space]] = Box

    def check(self, space: Space) -> None:
        """Raise an error if a parameter is wrong."""
        super().check(space)
        if self.bounds not in BOUNDS:
            raise UnnaiveError(f"bounds={self.bounds!r}; it must be one of {', '.join(BOUNDS)}")
        require_number("sigma_min", self.sigma_min, 0.0, 1.0)

    def _network(self, selected: FloatArray, space: Box, parents: Parents) -> GaussianNetwork:
        """Regress every gene on its parents, by least squares."""
        means = selected.mean(axis=0)
        centred = selected - means
        deviations = selected.std(axis=0)
        slopes = []
        for gene, above in enumerate(parents):
            slopes.append(np.zeros(len(above)))
            if above:
                design = centred[:, above]
                slopes[gene] = np.linalg.lstsq(design, centred[:, gene], rcond=None)[0]
                left = centred[:, gene] - design @ slopes[gene]
                deviations[gene] = math.sqrt(np.mean(left**2))
        deviations = np.maximum(deviations, self.sigma_min * space.widths)
        order = sampling_order(parents)
        return GaussianNetwork(space, self.bounds, order, parents, means, deviations, tuple(slopes))


@dataclass(frozen=True, kw_only=True)
class UMDAc(_GaussianAlgorithm):
    r"""Univariate marginal distribution algorithm for numbers: genes are independent Gaussians.

    .. math:: \rho(x) = \prod_i N(x_i; \hat\mu_i, \hat\sigma_i^2)

    with mean and deviation of maximum likelihood.

    Parameters
    ----------
    bounds : {"redraw", "clip", "reflect"}, default="redraw"
        What becomes of a gene that is drawn outside of its bounds: it is drawn again, up to 20
        times, and then put on the bound; it is put there at once; it is mirrored at the bound.
    sigma_min : float, default=1e-6
        Least deviation of a gene, as a share of the width of its bounds.

    See Also
    --------
    EstimationOfDistribution : The parameters that all algorithms share.

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

    def model_of(
        self, selected: FloatArray, space: Box, previous: object = None
    ) -> GaussianNetwork:
        """Learn independent Gaussians from the selected individuals, (n, d)."""
        return self._network(selected, space, ((),) * space.n_genes)


@dataclass(frozen=True, kw_only=True)
class MIMICc(_GaussianAlgorithm):
    r"""MIMIC for numbers: genes form a chain of Gaussians.

    The chain is that of :class:`MIMIC`, least entropy first, with

    .. math:: h(X) = \tfrac12 (1 + \log 2\pi\sigma_X^2), \quad
              h(X \mid Z) = \tfrac12 \Big(1 + \log 2\pi
              \frac{\sigma_X^2 \sigma_Z^2 - \sigma_{XZ}^2}{\sigma_Z^2}\Big)

    Parameters
    ----------
    bounds, sigma_min
        As in :class:`UMDAc`; the least deviation is that given the gene before.

    References
    ----------
    As of :class:`UMDAc`.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import Box, MIMICc
    >>> x = np.arange(8.0)
    >>> selected = np.column_stack([x, x % 2, 2 * x + x % 2])
    >>> MIMICc().model_of(selected, Box([0] * 3, [20] * 3)).order
    (1, 0, 2)
    """

    def model_of(
        self, selected: FloatArray, space: Box, previous: object = None
    ) -> GaussianNetwork:
        """Learn a chain of Gaussians from the selected individuals, (n, d)."""
        return self._network(selected, space, chained(self._chain(selected, space)))

    def _chain(self, selected: FloatArray, space: Box) -> list[int]:
        """Order the genes: least variance first, then always least given the last.

        The logarithm of a variance is the entropy up to a factor and a constant.
        """
        floor = np.maximum((self.sigma_min * space.widths) ** 2, _TINY)
        centred = selected - selected.mean(axis=0)
        covariance = centred.T @ centred / len(selected)
        variances = np.maximum(np.diag(covariance), floor)
        left, given, order = np.arange(space.n_genes), variances, []
        while len(left):
            gene = int(left[first_best(-np.log(given) / 2)])
            order.append(gene)
            left = left[left != gene]
            explained = covariance[left, gene] ** 2 / variances[gene]
            given = np.maximum(variances[left] - explained, floor[left])
        return order


@dataclass(frozen=True, kw_only=True)
class EGNA(_GaussianAlgorithm):
    """Estimation of Gaussian network algorithm: genes form a network that is learnt anew.

    The first network is grown arc by arc from the empty graph; later ones are found by hill
    climbing from the network before. Parameters are those of least squares.

    Parameters
    ----------
    score : {"bge", "bic"}, default="bge"
        What networks are chosen by, as in
        :class:`~unnaive.information.gaussian_scores.GaussianScores`.
    max_parents : int or None, default=None
        Most parents of a gene; None: any number.
    bounds, sigma_min
        As in :class:`UMDAc`; the least deviation is that given the parents.

    References
    ----------
    As of :class:`UMDAc`.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.search import EGNA, Box
    >>> x = np.arange(20.0)
    >>> selected = np.column_stack([x, x % 2, x + x % 2])
    >>> EGNA().model_of(selected, Box([0] * 3, [20] * 3)).parents
    ((), (), (0, 1))
    """

    score: str = "bge"
    max_parents: int | None = None

    def check(self, space: Space) -> None:
        """Raise an error if a parameter is wrong."""
        super().check(space)
        if self.score not in {"bge", "bic"}:
            raise UnnaiveError(f"score={self.score!r}; it must be 'bge' or 'bic'")
        if self.max_parents is not None:
            require_whole("max_parents", self.max_parents, 0)

    def model_of(
        self, selected: FloatArray, space: Box, previous: GaussianNetwork | None = None
    ) -> GaussianNetwork:
        """Learn a network of Gaussians from the selected individuals, (n, d)."""
        # Paper: BGe's prior is a mean of 0 and a variance near 1, which a population that has
        # all but converged would not outweigh; so it sees deviations from the mean, scaled.
        spread = selected.std(axis=0)
        scaled = (selected - selected.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        most = space.n_genes if self.max_parents is None else self.max_parents
        start = None if previous is None else previous.parents
        return self._network(
            selected, space, climbed(GaussianScores(scaled, self.score), most, start)
        )


@dataclass(frozen=True, kw_only=True)
class EMNA(_GaussianAlgorithm):
    r"""Estimation of multivariate normal algorithm: one Gaussian with all covariances.

    .. math:: \rho(x) = N(x; \hat\mu, \hat\Sigma)

    It is written as a network of all arcs, :math:`\hat\Sigma = L L'`, so that genes can be drawn,
    and kept within their bounds, one after the other.

    Parameters
    ----------
    bounds : {"redraw", "clip", "reflect"}, default="redraw"
        As in :class:`UMDAc`.
    sigma_min : float, default=1e-6
        A deviation, as a share of the width of its bounds, that every gene has besides; so the
        covariance of few individuals, too, has an inverse.

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

    def model_of(
        self, selected: FloatArray, space: Box, previous: object = None
    ) -> GaussianNetwork:
        """Learn means and covariances of the selected individuals, (n, d)."""
        d, means = space.n_genes, selected.mean(axis=0)
        free = space.widths > 0
        widths = np.where(free, space.widths, 1.0)
        centred = np.where(free, selected - means, 0.0) / (widths * math.sqrt(len(selected)))
        besides = np.diag(np.where(free, max(self.sigma_min, _LEAST), 1.0))
        factor = np.asarray(np.linalg.qr(np.vstack([centred, besides]), mode="r")).T
        own = np.diag(factor)
        from scipy.linalg import solve_triangular  # noqa: PLC0415 - slow to import

        inner = np.eye(d) - own[:, None] * solve_triangular(factor, np.eye(d), lower=True)
        slopes = inner * widths[:, None] / widths
        return GaussianNetwork(
            space,
            self.bounds,
            tuple(range(d)),
            tuple(tuple(range(gene)) for gene in range(d)),
            means,
            np.abs(own) * space.widths,
            tuple(slopes[gene, :gene] for gene in range(d)),
        )
