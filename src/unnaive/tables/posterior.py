r"""Tables as posterior distributions: what counts leave open about every probability.

A line of a table, the probabilities of a column's values in one context, has the posterior
Dirichlet(a) with :math:`a_x = N(x, \mathrm{ctx}) + \alpha_x`, where α are the pseudo-counts of the
smoothing. Its mean is what models predict with. A line is made of independent gamma variables,
:math:`p_x = G_x / \sum_y G_y`, whose sum is independent of p, so that (Mathematics 15.11)

.. math:: E \log p_x = \psi(a_x) - \psi(A), \qquad
          \mathrm{Var} \log p_x = \psi'(a_x) - \psi'(A), \qquad A = \sum_x a_x,

and likewise :math:`\psi''(a_x) - \psi''(A)` for the third central moment, which is negative: few
rows leave room below an estimate rather than above it.

A :class:`View` is one way to look at these lines. It travels with the smoothing policy, so the
functions that make tables of log-probabilities also make tables of their means, variances, random
draws or counts, in the same layout, for the same look-ups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from unnaive._typing import CountArray, FloatArray, IntArray

_ROUNDING = 1e-9
_HALF = 0.5  # rows in a cell that has neither rows nor pseudo-counts: the prior of Jeffreys


class View(ABC):
    """One way to look at the Dirichlet posteriors of tables."""

    @abstractmethod
    def parts(self, counts: CountArray, alpha: FloatArray | float) -> FloatArray:
        """Look at the gamma variables of all cells; shape of ``counts``."""

    @abstractmethod
    def totals(self, parts: FloatArray, shapes: FloatArray, whole: FloatArray) -> FloatArray:
        """Look at the sums of lines: of listed ``parts``, and of cells that are not listed.

        ``shapes`` are the parameters of the listed cells, ``whole`` (lines,) those of the sums.
        """

    def together(self, counts: CountArray, alpha: FloatArray | float) -> FloatArray:
        """Look at a line that spans all classes, whose sum cancels out in their posteriors."""
        return self.parts(counts, alpha)

    @abstractmethod
    def fixed(self, logs: FloatArray) -> FloatArray:
        """Look at logarithms of probabilities that are known, such as a given prior."""

    def given(
        self,
        counts: CountArray,
        alpha: FloatArray | float,
        whole: FloatArray | None = None,
        column: int | None = None,  # noqa: ARG002 - for tables that are averaged
    ) -> FloatArray:
        """Look at lines that each sum to 1; shape (lines, values).

        ``whole`` (lines,) are the parameters' sums, if lines do not list all values. ``column``
        says whose values they are.
        """
        parts, shapes = self.parts(counts, alpha), shapes_of(counts, alpha)
        sums = shapes.sum(axis=-1) if whole is None else np.maximum(whole, shapes.sum(axis=-1))
        return np.asarray(parts - self.totals(parts, shapes, sums)[..., None])


def shapes_of(counts: CountArray, alpha: FloatArray | float) -> FloatArray:
    """Parameters of the posterior, counts + α, above 0."""
    shapes = np.asarray(counts, dtype=np.float64) + alpha
    return np.where(shapes > 0, shapes, _HALF)


@dataclass(frozen=True, eq=False)
class Cumulant(View):
    """Means (order 1), variances (2) or third central moments (3) of log-probabilities.

    Attributes
    ----------
    order : int
        1, 2 or 3.
    """

    order: int

    def parts(self, counts: CountArray, alpha: FloatArray | float) -> FloatArray:
        """Polygamma functions of the parameters."""
        return gamma_cumulant(shapes_of(counts, alpha), self.order)

    def totals(self, parts: FloatArray, shapes: FloatArray, whole: FloatArray) -> FloatArray:  # noqa: ARG002
        """Polygamma functions of the sums of the parameters."""
        return gamma_cumulant(whole, self.order)

    def fixed(self, logs: FloatArray) -> FloatArray:
        """Return the logarithms; their other cumulants are 0."""
        return logs if self.order == 1 else np.zeros_like(logs)


@dataclass(frozen=True, eq=False)
class Rows(View):
    """Numbers of training rows in the cells, without pseudo-counts."""

    def parts(self, counts: CountArray, alpha: FloatArray | float) -> FloatArray:  # noqa: ARG002
        """Return the counts."""
        return np.asarray(counts, dtype=np.float64)

    def totals(self, parts: FloatArray, shapes: FloatArray, whole: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return 0: nothing is subtracted from counts."""
        return np.zeros_like(whole)

    def fixed(self, logs: FloatArray) -> FloatArray:
        """Return 0: a given prior has no rows."""
        return np.zeros_like(logs)


@dataclass(frozen=True, eq=False)
class Draw(View):
    """Random draws of log-probabilities; one object is one draw of all tables.

    Attributes
    ----------
    random : Generator
        Source of random numbers.
    drawn : dict
        What several tables share: the log prior.
    """

    random: np.random.Generator
    drawn: dict[object, FloatArray] = field(default_factory=dict)

    def parts(self, counts: CountArray, alpha: FloatArray | float) -> FloatArray:
        r"""Logarithms of gamma variables, :math:`\log G_{a+1} + \log(U) / a` for small a too."""
        shapes = shapes_of(counts, alpha)
        larger = self.random.standard_gamma(shapes + 1.0)
        return np.asarray(np.log(larger) - self.random.standard_exponential(shapes.shape) / shapes)

    def totals(self, parts: FloatArray, shapes: FloatArray, whole: FloatArray) -> FloatArray:
        """Logarithms of the sums, with cells that are not listed."""
        listed = np.logaddexp.reduce(parts, axis=-1)
        rest = whole - shapes.sum(axis=-1)
        others = rest > _ROUNDING * whole
        if not others.any():
            return np.asarray(listed)
        unlisted = self.parts(np.where(others, rest, 1.0), 0.0)
        return np.where(others, np.logaddexp(listed, unlisted), listed)

    def together(self, counts: CountArray, alpha: FloatArray | float) -> FloatArray:
        """Draw one line, the same for every call of its size."""
        key = "prior", counts.size
        if key not in self.drawn:
            self.drawn[key] = self.given(counts, alpha)
        return self.drawn[key]

    def fixed(self, logs: FloatArray) -> FloatArray:
        """Return the logarithms."""
        return logs

    def next(self) -> Draw:
        """Return the next draw."""
        return Draw(self.random)


@dataclass(frozen=True, eq=False)
class SharedDraw(Draw):
    """Draws of tables that are averaged: with one deviation for all contexts of a value.

    Tables of one column given different parents are made of the same rows. Their errors do not
    cancel each other out in an average, so they are drawn together, log-normally with the mean
    and the variance of the posterior. Their deviations (k, v) by column are in ``drawn`` too.

    Attributes
    ----------
    n_classes : int
        Number of classes k.
    kept : dict
        Means and standard deviations of large tables, for the next draws.
    """

    n_classes: int = 1
    kept: dict[str, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    def next(self) -> SharedDraw:
        """Return the next draw."""
        return SharedDraw(self.random, {}, self.n_classes, self.kept)

    def given(
        self,
        counts: CountArray,
        alpha: FloatArray | float,
        whole: FloatArray | None = None,
        column: int | None = None,
    ) -> FloatArray:
        """Draw lines (classes · contexts, values) of a column with shared deviations."""
        if column is None:
            return super().given(counts, alpha, whole)
        shapes = shapes_of(counts, alpha)
        mean, deviation = log_moments(shapes, shapes.sum(axis=-1, keepdims=True))
        shared = self.deviation(column, (self.n_classes, shapes.shape[-1]))
        return np.asarray(mean + deviation * np.repeat(shared, len(shapes) // len(shared), axis=0))

    def deviation(self, column: int, shape: tuple[int, int]) -> FloatArray:
        """Return the deviations of the values of a column in every class; shape (k, v)."""
        if (column, shape) not in self.drawn:
            self.drawn[column, shape] = self.random.standard_normal(shape)
        return self.drawn[column, shape]

    def pairs(self, logs: FloatArray, strengths: FloatArray, slots: IntArray) -> FloatArray:
        """Draw the tables of all pairs of columns, ``logs`` (k, S, S).

        ``strengths`` are the parameters' sums of the lines that the cells belong to, 0 for cells
        that are not in use.
        """
        used = strengths > 0
        if "pairs" not in self.kept:
            whole = np.where(used, strengths, 1.0)
            self.kept["pairs"] = log_moments(np.where(used, np.exp(logs) * whole, 1.0), whole)
        mean, deviation = self.kept["pairs"]
        shared = np.zeros((len(logs), 1, logs.shape[2]))
        for column, (start, stop) in enumerate(pairwise(slots.tolist())):
            values = stop - start - 1
            shared[:, 0, start : stop - 1] = self.deviation(column, (len(logs), values))
        return np.where(used, mean + deviation * shared, logs)


def log_moments(shapes: FloatArray, whole: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of log p, with parameters a and their sums A."""
    mean, variance = (gamma_cumulant(shapes, n) - gamma_cumulant(whole, n) for n in (1, 2))
    return mean, np.sqrt(np.maximum(variance, 0.0))


def gamma_cumulant(shapes: FloatArray, order: int) -> FloatArray:
    """Mean (order 1), variance (2) or third cumulant (3) of the logarithm of gamma variables."""
    from scipy.special import digamma, zeta  # noqa: PLC0415 - loads when asked

    if order == 1:
        return np.asarray(digamma(shapes))
    return np.asarray(zeta(2.0, shapes) if order == 2 else -2.0 * zeta(3.0, shapes))
