"""Search spaces: genomes of categories, or of numbers within bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from unnaive._docstrings import Inherits, described_like
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray

_MOST_VALUES = 1 << 31  # of a gene, so that two of them can be numbered together


class Model(Protocol):
    """A distribution of genomes."""

    def sample(self, n: int, random: np.random.Generator) -> AnyArray:
        """Draw genomes.

        Parameters
        ----------
        n : int
            Number of genomes.
        random : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        ndarray of shape (n, d)
            The genomes.
        """


class Space(Inherits, ABC):
    """Base class of search spaces: the set of all genomes.

    A population of m genomes of d genes each is an array of shape (m, d).

    See Also
    --------
    Categories : Genomes of categories.
    Box : Genomes of numbers within bounds.

    Examples
    --------
    >>> from unnaive.search import Categories, Space
    >>> space = Categories([2, 3])
    >>> isinstance(space, Space), space.n_genes
    (True, 2)
    """

    @property
    @abstractmethod
    def n_genes(self) -> int:
        """Number of genes d of a genome."""

    @abstractmethod
    @described_like(Model.sample)
    def uniform(self, n: int, random: np.random.Generator) -> AnyArray:
        """Draw genomes uniformly."""

    @abstractmethod
    def compact(self, genomes: AnyArray) -> AnyArray:
        """Convert genomes to the type with the fewest bytes, equal for equal genomes.

        Parameters
        ----------
        genomes : ndarray of shape (m, d)
            Genomes of this space.

        Returns
        -------
        ndarray of shape (m, d)
            The same values.
        """

    @abstractmethod
    def _converted(self, genomes: AnyArray) -> tuple[AnyArray, BoolArray]:
        """Genomes in the type of this space, and a mask of the genes that are outside of it."""

    @abstractmethod
    def _range(self, gene: int) -> str:
        """Describe the values that a gene can have."""

    def checked(self, genomes: ArrayLike, name: str) -> AnyArray:
        """Convert genomes to an array of this space.

        Parameters
        ----------
        genomes : array-like of shape (m, d)
            Genomes.
        name : str
            Name of the parameter, for error messages.

        Returns
        -------
        ndarray of shape (m, d)
            The genomes.

        Raises
        ------
        UnnaiveError
            If a gene is outside of the space; the message names it.
        """
        try:
            numbers = np.asarray(genomes, dtype=np.float64)
        except (TypeError, ValueError):
            raise UnnaiveError(f"{name} must be an array of numbers, one genome per row") from None
        if numbers.ndim != 2 or numbers.shape[1] != self.n_genes:
            raise UnnaiveError(
                f"{name} has shape {numbers.shape}; it must have one genome per row, of "
                f"{self.n_genes} genes: shape (m, {self.n_genes})"
            )
        converted, outside = self._converted(numbers)
        if outside.any():
            row, gene = np.argwhere(outside)[0].tolist()
            raise UnnaiveError(
                f"{name}[{row}], gene {gene}: {numbers[row, gene]:g} is outside of the space; it "
                f"must be {self._range(gene)}"
            )
        return converted


@dataclass(frozen=True)
class Categories(Space):
    """Genomes whose gene i is one of the whole numbers 0 … ``sizes[i]`` − 1.

    Parameters
    ----------
    sizes : sequence of int
        Number of values of every gene.

    See Also
    --------
    Box : Genomes of numbers within bounds.
    UMDA : The simplest algorithm that searches this space.

    Examples
    --------
    >>> import numpy as np
    >>> Categories([2, 2, 5]).uniform(2, np.random.default_rng(0))
    array([[1, 1, 2],
           [0, 0, 0]])
    """

    sizes: Sequence[int]

    def __post_init__(self) -> None:
        try:
            sizes = tuple(index(size) for size in self.sizes)
        except TypeError:
            raise UnnaiveError(
                f"sizes={self.sizes!r}; it must list the number of values of every gene"
            ) from None
        for gene, size in enumerate(sizes):
            if not 1 <= size < _MOST_VALUES:
                raise UnnaiveError(
                    f"sizes[{gene}]={size}; a gene needs 1 to {_MOST_VALUES - 1} values: leave "
                    "it out if it has none"
                )
        object.__setattr__(self, "sizes", sizes)

    @property
    def n_genes(self) -> int:
        """Genes of a genome."""
        return len(self.sizes)

    @cached_property
    def counts(self) -> IntArray:
        """Number of values of every gene; shape (d,)."""
        return np.array(self.sizes, dtype=np.int64)

    @cached_property
    def code_type(self) -> np.dtype[Any]:
        """Smallest unsigned integer type that holds every value, and one more."""
        return np.min_scalar_type(int(self.counts.max(initial=0)))

    def uniform(self, n: int, random: np.random.Generator) -> IntArray:
        """Draw genomes uniformly, as int64."""
        return random.integers(self.counts, size=(n, self.n_genes), dtype=np.int64)

    def compact(self, genomes: AnyArray) -> AnyArray:
        """Convert genomes to the smallest type that holds all values, :attr:`code_type`."""
        return genomes.astype(self.code_type)

    def _converted(self, genomes: AnyArray) -> tuple[AnyArray, BoolArray]:
        inside = (genomes >= 0) & (genomes < self.counts) & (genomes % 1 == 0)
        return np.where(inside, genomes, 0).astype(np.int64), ~inside

    def _range(self, gene: int) -> str:
        return f"a whole number of 0 to {self.sizes[gene] - 1}"


@dataclass(frozen=True)
class Box(Space):
    """Genomes whose gene i is a number from ``low[i]`` to ``high[i]``, both included.

    Parameters
    ----------
    low, high : sequence of float
        Bounds of every gene. A gene with equal bounds is constant.

    See Also
    --------
    Categories : Genomes of categories.
    UMDAc : The simplest algorithm that searches this space.

    Examples
    --------
    >>> import numpy as np
    >>> Box([0, -1], [1, 1]).uniform(2, np.random.default_rng(0)).round(3)
    array([[ 0.637, -0.46 ],
           [ 0.041, -0.967]])
    """

    low: Sequence[float]
    high: Sequence[float]

    def __post_init__(self) -> None:
        try:
            low, high = (tuple(float(bound) for bound in side) for side in (self.low, self.high))
        except (TypeError, ValueError):
            raise UnnaiveError("low and high must list numbers, one per gene") from None
        if len(low) != len(high):
            raise UnnaiveError(
                f"low has {len(low)} numbers and high {len(high)}; both need one number per gene"
            )
        for gene, (least, most) in enumerate(zip(low, high, strict=True)):
            if not (least <= most and np.isfinite(most - least)):
                raise UnnaiveError(
                    f"gene {gene}: low={least:g}, high={most:g}; bounds must be finite, low no "
                    "more than high"
                )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def n_genes(self) -> int:
        """Genes of a genome."""
        return len(self.low)

    @property
    def widths(self) -> FloatArray:
        """Upper bounds minus lower bounds; shape (d,)."""
        return np.asarray(np.subtract(self.high, self.low), dtype=np.float64)

    def uniform(self, n: int, random: np.random.Generator) -> FloatArray:
        """Draw genomes uniformly, as float64."""
        drawn = np.asarray(self.low) + random.random((n, self.n_genes)) * self.widths
        return np.minimum(drawn, self.high)

    def compact(self, genomes: AnyArray) -> AnyArray:
        """Turn −0.0 into 0.0, so that equal genomes have equal bytes."""
        return genomes + 0.0

    def _converted(self, genomes: AnyArray) -> tuple[AnyArray, BoolArray]:
        return genomes, ~((genomes >= self.low) & (genomes <= self.high))

    def _range(self, gene: int) -> str:
        return f"a number of {self.low[gene]:g} to {self.high[gene]:g}"
