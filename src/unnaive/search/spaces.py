"""Where to search: genomes of categories, or of numbers within bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray

_MOST_VALUES = 1 << 31  # of a gene, so that two of them can be numbered together


class Space(ABC):
    """All genomes that there may be; a population of m genomes of d genes is an array (m, d)."""

    @property
    @abstractmethod
    def n_genes(self) -> int:
        """Genes of a genome."""

    @abstractmethod
    def uniform(self, n: int, random: np.random.Generator) -> AnyArray:
        """Draw genomes, every one as likely as any other; shape (n, d)."""

    @abstractmethod
    def compact(self, genomes: AnyArray) -> AnyArray:
        """Give equal genomes equal bytes, and few of them; shape (m, d)."""

    @abstractmethod
    def _converted(self, genomes: AnyArray) -> tuple[AnyArray, BoolArray]:
        """Genomes in the type of this space, and where a gene is outside of it."""

    @abstractmethod
    def _range(self, gene: int) -> str:
        """Tell what a gene may be."""

    def checked(self, genomes: ArrayLike, name: str) -> AnyArray:
        """Genomes as an array of this space, or an error that names the gene that is outside."""
        try:
            given = np.asarray(genomes, dtype=np.float64)
        except (TypeError, ValueError):
            raise UnnaiveError(f"{name} must be an array of numbers, one genome a row") from None
        if given.ndim != 2 or given.shape[1] != self.n_genes:
            raise UnnaiveError(
                f"{name} has shape {given.shape}; it must have one genome a row, of {self.n_genes} "
                f"genes: shape (m, {self.n_genes})"
            )
        converted, outside = self._converted(given)
        if outside.any():
            row, gene = np.argwhere(outside)[0].tolist()
            raise UnnaiveError(
                f"{name}[{row}], gene {gene}: {given[row, gene]:g} is outside of the space; it "
                f"must be {self._range(gene)}"
            )
        return converted


@dataclass(frozen=True)
class Categories(Space):
    """Genomes of which gene i is one of the whole numbers 0 … ``sizes[i]`` − 1.

    Parameters
    ----------
    sizes : sequence of int
        Number of values of every gene.

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
        """Numbers of values; shape (d,)."""
        return np.array(self.sizes, dtype=np.int64)

    @cached_property
    def code_type(self) -> np.dtype[Any]:
        """Smallest type of unsigned numbers that holds every value, and one number more."""
        return np.min_scalar_type(int(self.counts.max(initial=0)))

    def uniform(self, n: int, random: np.random.Generator) -> IntArray:
        """Draw genomes, every one as likely as any other; shape (n, d)."""
        return random.integers(self.counts, size=(n, self.n_genes), dtype=np.int64)

    def compact(self, genomes: AnyArray) -> AnyArray:
        """Give equal genomes equal bytes, and few of them; shape (m, d)."""
        return genomes.astype(self.code_type)

    def _converted(self, genomes: AnyArray) -> tuple[AnyArray, BoolArray]:
        inside = (genomes >= 0) & (genomes < self.counts) & (genomes % 1 == 0)
        return np.where(inside, genomes, 0).astype(np.int64), ~inside

    def _range(self, gene: int) -> str:
        return f"a whole number of 0 to {self.sizes[gene] - 1}"


@dataclass(frozen=True)
class Box(Space):
    """Genomes of which gene i is a number of ``low[i]`` to ``high[i]``, both included.

    Parameters
    ----------
    low, high : sequence of float
        Bounds of every gene; a gene whose bounds are equal is constant.

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
            raise UnnaiveError("low and high must list numbers, one a gene") from None
        if len(low) != len(high):
            raise UnnaiveError(
                f"low has {len(low)} numbers and high {len(high)}; both need one a gene"
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

    @cached_property
    def least(self) -> FloatArray:
        """Lower bounds; shape (d,)."""
        return np.array(self.low, dtype=np.float64)

    @cached_property
    def most(self) -> FloatArray:
        """Upper bounds; shape (d,)."""
        return np.array(self.high, dtype=np.float64)

    @property
    def widths(self) -> FloatArray:
        """Upper less lower bounds; shape (d,)."""
        return self.most - self.least

    def uniform(self, n: int, random: np.random.Generator) -> FloatArray:
        """Draw genomes, every one as likely as any other; shape (n, d)."""
        drawn = self.least + random.random((n, self.n_genes)) * self.widths
        return np.minimum(drawn, self.most)

    def compact(self, genomes: AnyArray) -> AnyArray:
        """Give equal genomes equal bytes, and few of them; shape (m, d)."""
        return genomes + 0.0  # −0.0 and 0.0 differ in bytes

    def _converted(self, genomes: AnyArray) -> tuple[AnyArray, BoolArray]:
        return genomes, ~((genomes >= self.least) & (genomes <= self.most))

    def _range(self, gene: int) -> str:
        return f"a number of {self.low[gene]:g} to {self.high[gene]:g}"
