r"""Densities of numbers that depend on other numbers and on categorical columns.

.. math:: x_i \mid x_{\pi(i)}, v, c \sim N(\beta_{0cv} + \beta_{cv}^T x_{\pi(i)}, \sigma_{cv}^2)

with a regression for every class c and cell v of categorical parents. A cell of n rows has mean
and covariance

.. math:: \mu_{cv} = w \bar x_{cv} + (1 - w) \mu_c, \qquad
          \Sigma_{cv} = w S_{cv} + w (1 - w) (\bar x_{cv} - \mu_c)(\bar x_{cv} - \mu_c)^T
          + (1 - w) \Sigma_c, \qquad w = \frac{n}{n + a}

so the class's own values count for a rows, and a cell without rows has them alone. In the cell of a
missing category all rows count, whatever their category.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import SINGULAR, solved
from unnaive.tables.base import rows_alike
from unnaive.tables.gaussian import ROWS_A_TASK, complete_forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import CodeArray, FloatArray, State
    from unnaive.counts.label_cells import LabelCells
    from unnaive.tables.base import Arrays

_LOG_TWO_PI = float(np.log(2 * np.pi))
_ROWS_AT_ONCE = 512  # rows with missing numbers, each of which has covariances of its own


@dataclass(frozen=True, eq=False)
class CellFamily:
    """Regressions of a number on its parents, one for every class and cell.

    Attributes
    ----------
    child : int
        The number, by its position among the numbers in use.
    parents : tuple of int
        Its parents among these.
    labels : tuple of int
        Its categorical parents, by their positions among the categorical columns.
    intercept, noise : ndarray of shape (k, v₁ + 1, …)
        Value where all parents are 0, and variance around the line.
    slopes : ndarray of shape (k, v₁ + 1, …, p)
        Slopes of the p parents.
    """

    child: int
    parents: tuple[int, ...]
    labels: tuple[int, ...]
    intercept: FloatArray
    slopes: FloatArray
    noise: FloatArray

    def chosen(self, codes: CodeArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Regressions of the cells of rows: shapes (n, k), (n, k, p), (n, k)."""
        n, k = codes.shape[1], len(self.intercept)
        if not self.labels:
            whole = (np.broadcast_to(x, (n, *x.shape)) for x in self.regressions)
            intercept, slopes, noise = whole
            return intercept, slopes, noise
        cell = tuple(codes[label] for label in self.labels)
        taken = (
            x[np.arange(k)[:, None], *(place[None] for place in cell)] for x in self.regressions
        )
        intercept, slopes, noise = (np.swapaxes(x, 0, 1) for x in taken)
        return intercept, slopes, noise

    @property
    def regressions(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Intercepts, slopes and noise."""
        return self.intercept, self.slopes, self.noise


@dataclass(frozen=True, eq=False)
class CellTables:
    """Densities of numbers in every class, given codes of categorical columns.

    Attributes
    ----------
    log_prior : ndarray of shape (k,)
        log P(c).
    families : tuple of CellFamily
        All numbers, parents before children.
    """

    log_prior: FloatArray
    families: tuple[CellFamily, ...]

    def joint(self, X: FloatArray, codes: CodeArray, n_jobs: int | None = None) -> FloatArray:
        """Log P(c) p(x | labels, c); missing numbers (NaN) are integrated out.

        Parameters
        ----------
        X : ndarray of shape (n, m)
            The numbers in use.
        codes : ndarray of shape (l, n)
            Codes of the categorical columns; the number of categories stands for a missing value.
        n_jobs : int, default=None
            Number of threads. Results do not depend on it.

        Returns
        -------
        ndarray of shape (n, k)
            Log joint of every row and class, without the probability of the labels.
        """
        out = np.empty((len(X), len(self.log_prior)))

        def fill(block: tuple[int, int]) -> None:
            rows = slice(*block)
            out[rows] = self.log_prior + self._parts(X[rows], codes[:, rows]).sum(axis=2)

        _parallel.run(fill, _parallel.row_blocks(len(X), ROWS_A_TASK), n_jobs)
        return out

    def parts(self, X: FloatArray, codes: CodeArray) -> tuple[FloatArray, FloatArray]:
        """Split the log joint: base (n, k), and the contribution of each number (n, k, m).

        A number contributes its log density given the observed numbers before it.
        """
        return np.repeat(self.log_prior[None], len(X), axis=0), self._parts(X, codes)

    def _parts(self, X: FloatArray, codes: CodeArray) -> FloatArray:
        parts = np.zeros((len(X), len(self.log_prior), X.shape[1]))
        missing = np.isnan(X)
        whole = np.flatnonzero(~missing.any(axis=1))
        for family in self.families:
            intercept, slopes, noise = family.chosen(codes[:, whole])
            above = X[whole][:, list(family.parents)]
            line = intercept + np.einsum("nkp,np->nk", slopes, above)
            away = X[whole, family.child, None] - line
            parts[whole, :, family.child] = -(np.log(noise) + _LOG_TWO_PI + away**2 / noise) / 2
        gaps = np.flatnonzero(missing.any(axis=1))
        for start in range(0, len(gaps), _ROWS_AT_ONCE):
            rows = gaps[start : start + _ROWS_AT_ONCE]
            parts[rows] = self._of_gaps(X[rows], codes[:, rows])
        return parts

    def _of_gaps(self, X: FloatArray, codes: CodeArray) -> FloatArray:
        """Contributions where numbers are missing: each given the observed numbers before it."""
        parts = np.zeros((len(X), len(self.log_prior), X.shape[1]))
        means, covariances = self._implied(codes)
        order = np.array([family.child for family in self.families], dtype=np.int64)
        for rows, missing in rows_alike(np.isnan(X).T):
            known = order[~missing[order]]
            if len(known):
                own = covariances[rows][:, :, known[:, None], known]
                forms = complete_forms(own)
                away = X[np.ix_(rows, known)][:, None] - means[rows][:, :, known]
                squares = np.einsum("nkij,nkj->nki", forms, away) ** 2
                height = np.log(np.einsum("nkii->nki", forms)) - _LOG_TWO_PI / 2
                parts[rows[:, None], :, known] = (height - squares / 2).transpose(0, 2, 1)
        return parts

    def _implied(self, codes: CodeArray) -> tuple[FloatArray, FloatArray]:
        """Means and covariances of all numbers in the cells of rows: (n, k, m), (n, k, m, m)."""
        shape = (codes.shape[1], len(self.log_prior), len(self.families))
        means, covariances = np.zeros(shape), np.zeros((*shape, shape[2]))
        for family in self.families:
            child, above = family.child, list(family.parents)
            intercept, slopes, noise = family.chosen(codes)
            means[..., child] = intercept + np.einsum("nkp,nkp->nk", slopes, means[..., above])
            line = np.einsum("nkp,nkpj->nkj", slopes, covariances[..., above, :])
            line[..., child] = noise + np.einsum("nkp,nkp->nk", slopes, line[..., above])
            covariances[..., child, :] = covariances[..., :, child] = line
        return means, covariances

    def describe(self, arrays: Arrays) -> State:
        """Describe the densities for a page that computes with them."""
        families = [
            {
                "child": family.child,
                "parents": list(family.parents),
                "labels": list(family.labels),
                "sizes": list(family.noise.shape[1:]),
                **{
                    name: arrays.add(array.reshape(len(array), -1))
                    for name, array in zip(
                        ("intercept", "slopes", "noise"), family.regressions, strict=True
                    )
                },
            }
            for family in self.families
        ]
        return {
            "kind": "gaussian",
            "forms": "cells",
            "base": arrays.add(self.log_prior),
            "columns": list(range(len(self.families))),
            "families": families,
        }


@dataclass(frozen=True, eq=False)
class ClassDensities:
    """Means (k, m) and covariances (k, m, m) of the classes, towards which cells are shrunk.

    Attributes
    ----------
    means, covariances
        Of the numbers in use.
    origin, added : ndarray of shape (m,)
        What was subtracted from the numbers of cells; what is added to their variances.
    weight : float
        Number of rows that a class's own values count for in a cell.
    """

    means: FloatArray
    covariances: FloatArray
    origin: FloatArray
    added: FloatArray
    weight: float

    def family(self, cells: LabelCells, places: Sequence[int]) -> CellFamily:
        """Make the regressions of the first of some numbers on the others.

        Parameters
        ----------
        cells : LabelCells
            Moments of the numbers in cells of categorical columns.
        places : sequence of int
            Positions of these numbers among those in use.

        Returns
        -------
        CellFamily
            One regression for every class and cell.

        Raises
        ------
        UnnaiveError
            If a number is constant in a cell and nothing is added to its variance.
        """
        means, covariances = self.shrunk(cells, list(places))
        across = covariances[..., 1:, 0]
        slopes = solved(covariances[..., 1:, 1:], across[..., None])[..., 0]
        noise = covariances[..., 0, 0] - np.einsum("...p,...p->...", slopes, across)
        if not (noise > 0).all():
            raise UnnaiveError(SINGULAR)
        intercept = means[..., 0] - np.einsum("...p,...p->...", slopes, means[..., 1:])
        child, *parents = places
        return CellFamily(child, tuple(parents), cells.labels, intercept, slopes, noise)

    def shrunk(self, cells: LabelCells, places: list[int]) -> tuple[FloatArray, FloatArray]:
        """Shrink the means and covariances of cells towards those of the classes.

        Parameters
        ----------
        cells : LabelCells
            Moments of f numbers in cells of categorical columns.
        places : list of int
            Positions of these numbers among those in use.

        Returns
        -------
        means : ndarray of shape (k, v₁ + 1, …, f)
            Means of every class and cell.
        covariances : ndarray of shape (k, v₁ + 1, …, f, f)
            Covariances of every class and cell.
        """
        whole, axes = cells.with_totals(), (slice(None), *(None for _ in cells.labels))
        centre = self.means[:, places][axes]
        scale = self.covariances[:, places][:, :, places][axes]
        if not cells.labels:
            return centre, scale
        n = whole.weights[..., None]
        mean = np.divide(whole.sums, n, out=np.zeros_like(whole.sums), where=n > 0)
        square = np.divide(
            whole.products, n[..., None], out=np.zeros_like(whole.products), where=n[..., None] > 0
        )
        spread = square - mean[..., :, None] * mean[..., None, :]
        variances = np.einsum("...ii->...i", spread)
        variances[...] = np.maximum(variances, 0.0) + self.added[places]
        share = np.divide(n, n + self.weight, out=np.zeros_like(n), where=n > 0)
        away = np.where(n > 0, mean + self.origin[places] - centre, 0.0)
        part = share[..., None]
        between = part * (1 - part) * away[..., :, None] * away[..., None, :]
        return (
            np.asarray(centre + share * away),
            np.asarray(part * spread + between + (1 - part) * scale),
        )
