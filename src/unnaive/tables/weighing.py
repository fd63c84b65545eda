r"""Non-negative weights that maximize the conditional likelihood, by Newton's method.

.. math:: \min_{w \ge 0,\, b} \; -\sum_r \log P(c_r \mid x_r)
          + \tfrac{1}{2} \sum_t \lambda_t w_t^2 + \tfrac{1}{2} \sum_c b_c^2

The loss is convex. Every step goes to the minimum of its second-order expansion within the bounds,
which is found by coordinate descent, and is halved until the loss decreases. Weights that are 0 and
whose gradient is positive are left out of the expansion.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive import _parallel
from unnaive._core.weighting import (
    bounded_step,
    curve_blocks,
    curve_rows,
    fit_weights,
    held_out_joints,
    loss_rows,
    weighted_joint,
)
from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray, State

FOLDS = 5
BIAS_PENALTY = 1.0
ENOUGH = 1e-9
STEPS = 50
_HALVINGS = 20
_SWEEPS = 200
_BLOCK_NUMBERS = 1 << 20  # derivatives that are stored for the rows of a block
_ALONE = 1 << 16  # fewer entries do not gain from a second thread
_TOGETHER = 1 << 16  # derivatives of all rows, which need no more than one call
_MOST_PRODUCTS = 1 << 21  # of derivatives and terms; more are multiplied by BLAS


class Curve(NamedTuple):
    """Loss at a point, its gradient (m + k,) and its second derivatives (m + k, m + k)."""

    loss: float
    gradient: FloatArray
    curvature: AnyArray


def number_of_blocks(n_rows: int, n_terms: int, n_classes: int) -> int:
    """Return the number of blocks of rows, a multiple of the number of folds."""
    numbers = n_rows * (n_terms + n_classes) * n_classes
    return FOLDS * max(-(-numbers // (FOLDS * _BLOCK_NUMBERS)), 1)


def dealt(classes: IntArray, n_terms: int, n_classes: int) -> IntArray:
    """Order the rows so that every block of a :class:`Weighing` has its share of each class."""
    by_class = np.argsort(classes, kind="stable")
    number = number_of_blocks(len(classes), n_terms, n_classes)
    return np.concatenate([by_class[block::number] for block in range(number)])


@dataclass(frozen=True, eq=False)
class Weighing:
    """The leave-one-out factors of all rows, to which weights are fitted.

    Attributes
    ----------
    entries : ndarray of shape (m, k, n), in single precision
        Leave-one-out log factors of every term, class and row; finite.
    prior : ndarray of shape (k,)
        Log P(c).
    classes, importance : ndarray of shape (n,)
        Classes and weights of the rows.
    penalty : ndarray of shape (m,)
        L2 penalty λ of each weight.
    n_jobs : int or None, default=None
        Number of threads.
    n_blocks : int or None, default=None
        Number of blocks that the rows are in the order of; None: as for these terms.
    """

    entries: AnyArray
    prior: FloatArray
    classes: IntArray
    importance: FloatArray
    penalty: FloatArray
    n_jobs: int | None = None
    n_blocks: int | None = None

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """First and last row of every block; the b-th belongs to fold b modulo FOLDS."""
        n, m, k = len(self.classes), len(self.penalty), len(self.prior)
        number = self.n_blocks or number_of_blocks(n, m, k)
        sizes = [len(range(block, n, number)) for block in range(number)]
        stops = np.cumsum(sizes).tolist()
        return list(zip([0, *stops], stops, strict=False))

    @cached_property
    def _bounds(self) -> IntArray:
        return np.array([0, *(stop for _, stop in self._blocks)], dtype=np.int64)

    @property
    def folds(self) -> IntArray:
        """Fold of every row; shape (n,)."""
        sizes = [stop - start for start, stop in self._blocks]
        return np.repeat(np.arange(len(sizes)) % FOLDS, sizes)

    @cached_property
    def _team(self) -> _parallel.Team:
        return _parallel.Team(self.n_jobs if self.entries.size > _ALONE else 1)

    @cached_property
    def _penalties(self) -> FloatArray:
        return np.concatenate([self.penalty, np.full(len(self.prior), BIAS_PENALTY)])

    @cached_property
    def _is_small(self) -> bool:
        """Whether all steps are taken in one call, without BLAS, which is slow to call."""
        coordinates = len(self._penalties)
        derivatives = (coordinates + 1) * (len(self.prior) - 1) * len(self.classes)
        return derivatives <= _TOGETHER and derivatives * coordinates <= _MOST_PRODUCTS

    @property
    def _problem(self) -> State:
        """What the kernels that take all steps are given."""
        return {
            "entries": self.entries,
            "prior": self.prior,
            "rows": (self.classes, self.importance),
            "bounds": self._bounds,
            "penalties": self._penalties,
            "limits": (ENOUGH, STEPS, _HALVINGS, _SWEEPS),
        }

    def has_order_of(self, n_terms: int) -> bool:
        """Whether the rows would be ordered like this with another number of terms."""
        n, k = len(self.classes), len(self.prior)
        return len(self._blocks) == number_of_blocks(n, n_terms, k)

    def with_terms(self, entries: AnyArray, penalty: FloatArray) -> Weighing:
        """Return these terms and further ones.

        Parameters
        ----------
        entries : ndarray of shape (m, k, n), in single precision
            Log factors of further terms, of the same rows in the same order.
        penalty : ndarray of shape (m,)
            Penalties of their weights.

        Returns
        -------
        Weighing
            A copy; weights of the further terms come after those of the others.
        """
        every = np.concatenate([self.entries, entries])
        return replace(self, entries=every, penalty=np.concatenate([self.penalty, penalty]))

    def some(self, kept: BoolArray) -> Weighing:
        """Return only some of the terms; the rows stay in the same blocks."""
        entries, penalty = self.entries[kept], self.penalty[kept]
        return replace(self, entries=entries, penalty=penalty, n_blocks=len(self._blocks))

    def loss(self, point: FloatArray) -> float:
        """Penalized log loss of weights and biases (m + k,)."""
        arrays = (self.entries, *self._split(point), self.classes, self.importance)
        losses = self._team.run(lambda rows: float(loss_rows(*arrays, *rows)), self._blocks)
        return sum(losses) + self._penalty(point)

    def curve(self, point: FloatArray, chosen: BoolArray | None = None) -> Curve:
        """Penalized log loss and derivatives; second derivatives only of chosen coordinates."""
        return self._total(self._parts(point, chosen), point, chosen)

    def fit(self, start: FloatArray, enough: float = ENOUGH) -> FloatArray:
        """Minimize the penalized log loss.

        Parameters
        ----------
        start : ndarray of shape (m + k,)
            Weights and biases to start from.
        enough : float, default=1e-9
            Stop when a step reduces the loss by a smaller share than this.

        Returns
        -------
        ndarray of shape (m + k,)
            Weights of at least 0, and biases.
        """
        if self._is_small:
            found = np.array(start, dtype=np.float64)
            fit_weights(**self._problem, enough=float(enough), point=found)
            return found
        point, chosen = start, np.ones(len(start), dtype=bool)
        with _parallel.one_thread_each():
            curve = self.curve(point, chosen)
            for _ in range(STEPS):
                change = self._step(curve, point, chosen)
                slope = curve.gradient[chosen] + curve.curvature @ change / 2
                late = (curve.gradient < 0) & ~chosen
                step = np.zeros(len(point))
                step[chosen] = change
                if -change @ slope <= enough * abs(curve.loss) and not late.any():
                    return self._within(point + step)
                after, chosen, ahead = self._stepped(point, step, curve)
                if ahead.loss >= curve.loss and not late.any():
                    break
                point, curve = after, ahead
        return point

    def joint(self, point: FloatArray) -> FloatArray:
        """Log joint of every row with some weights and biases; shape (n, k)."""
        weights, prior = self._split(point)
        out = np.repeat(prior[:, None], len(self.classes), axis=1)
        weighted_joint(self.entries, weights, 0, len(self.classes), out)
        return out.T

    def cross_validated(self, point: FloatArray) -> FloatArray:
        """Log joint of every row, with weights fitted without its fold; shape (n, k).

        ``point`` has the weights fitted to all rows, which must be in the order of :func:`dealt`.
        The weights of a fold are one Newton step away, on the loss of all other rows.
        """
        held_out = np.empty((len(self.classes), len(self.prior)))
        if self._is_small:
            held_out_joints(**self._problem, point=point, n_folds=FOLDS, out=held_out)
            return held_out
        with _parallel.one_thread_each():
            parts = self._parts(point, None)
            for fold in range(FOLDS):
                others = [part for block, part in enumerate(parts) if block % FOLDS != fold]
                step = self._step(self._total(others, point, None), point, None)
                joint = self.joint(point + step)
                for rows in self._blocks[fold::FOLDS]:
                    held_out[slice(*rows)] = joint[slice(*rows)]
        return held_out

    def _split(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        m = len(self.penalty)
        return point[:m], self.prior + point[m:]

    def _within(self, point: FloatArray) -> FloatArray:
        """Set weights below 0, which come from rounding, to 0."""
        return np.maximum(point, self._least)

    @cached_property
    def _least(self) -> FloatArray:
        """Lower bounds: 0 for weights, none for biases."""
        return np.repeat([0.0, -np.inf], [len(self.penalty), len(self.prior)])

    def _penalty(self, point: FloatArray) -> float:
        return float(self._penalties @ point**2) / 2

    def _parts(self, point: FloatArray, chosen: BoolArray | None) -> list[Curve]:
        """Log loss and derivatives of the rows of every block."""
        weights, prior = self._split(point)
        every = np.ones(len(point), dtype=bool) if chosen is None else chosen
        width = int(every.sum())
        places = np.where(every, np.cumsum(every) - 1, width)  # the others use the last line

        if (width + 1) * (len(prior) - 1) * len(self.classes) <= _TOGETHER:
            return self._parts_together(point, places, width)

        def block(rows: tuple[int, int]) -> Curve:
            gradient = np.zeros(len(point))
            shape = (width + 1, len(prior) - 1, rows[1] - rows[0])
            spread = np.empty(shape, dtype=np.float32)
            arrays = (self.entries, weights, prior, self.classes, self.importance)
            loss = curve_rows(*arrays, *rows, places, gradient, spread)
            flat = spread[:width].reshape(width, shape[1] * shape[2])
            return Curve(loss, gradient, flat @ flat.T)

        return self._team.run(block, self._blocks)

    def _parts_together(self, point: FloatArray, places: IntArray, width: int) -> list[Curve]:
        """Log loss and derivatives of small blocks, in one call."""
        weights, prior = self._split(point)
        losses, gradients = np.empty(len(self._blocks)), np.empty((len(self._blocks), len(point)))
        across = len(prior) - 1
        spread = np.empty((width + 1) * across * len(self.classes), dtype=np.float32)
        rows = (self.classes, self.importance)
        arrays = (self.entries, weights, prior, rows, self._bounds, places)
        curve_blocks(*arrays, losses, gradients, spread)
        parts = []
        for (start, stop), loss, gradient in zip(
            self._blocks, losses.tolist(), gradients, strict=True
        ):
            first, length = (width + 1) * across * start, across * (stop - start)
            flat = spread[first : first + width * length].reshape(width, length)
            parts.append(Curve(loss, gradient, flat @ flat.T))
        return parts

    def _total(self, parts: list[Curve], point: FloatArray, chosen: BoolArray | None) -> Curve:
        """Sum of all blocks and the penalty."""
        penalties = self._penalties if chosen is None else self._penalties[chosen]
        curvature = np.diag(penalties)
        loss, gradient = self._penalty(point), self._penalties * point
        for part in parts:
            loss, gradient = loss + part.loss, gradient + part.gradient
            curvature += part.curvature
        return Curve(loss, gradient, curvature)

    def _step(self, curve: Curve, point: FloatArray, chosen: BoolArray | None) -> FloatArray:
        """Step of the chosen coordinates to the minimum of the expansion."""
        every = slice(None) if chosen is None else chosen
        room, gradient = (self._least - point)[every], curve.gradient[every]
        enough = ENOUGH * abs(curve.loss) / len(point)
        step = np.empty(len(gradient))
        bounded_step(curve.curvature, gradient, room, _SWEEPS, enough, step)
        return _solved(curve.curvature, gradient, room, step)

    def _stepped(
        self, point: FloatArray, step: FloatArray, curve: Curve
    ) -> tuple[FloatArray, BoolArray, Curve]:
        """Take a step, halved until the loss decreases.

        Returns the new point, the coordinates to expand there, and the curve. Weights that are 0
        and whose gradient is positive are not expanded. If no halving helps, the point stays.
        """
        wanted = curve.gradient < 0
        wanted[len(self.penalty) :] = True
        for number in range(_HALVINGS):
            after = self._within(point + step / 2**number)
            chosen = wanted | (after > 0)
            if number and self.loss(after) >= curve.loss:
                continue  # a loss is cheaper than a curve, and most first steps are accepted
            ahead = self.curve(after, chosen)
            if ahead.loss < curve.loss:
                return after, chosen, ahead
        chosen = wanted | (point > 0)
        return point, chosen, self.curve(point, chosen)


def _solved(
    curvature: FloatArray, gradient: FloatArray, room: FloatArray, step: FloatArray
) -> FloatArray:
    """Return the minimum of an expansion, with the same coordinates at their bounds.

    Coordinate descent is slow if terms are similar. If the minimum violates another bound, the
    step is returned unchanged.
    """
    free = step > room
    within, rest = curvature, gradient
    if not free.all():
        lines = curvature[free]
        bound = np.ascontiguousarray(lines[:, ~free]) @ step[~free]
        within, rest = lines[:, free], gradient[free] + bound
    try:
        solved = -np.linalg.solve(within, rest)
    except np.linalg.LinAlgError:  # without penalties
        return step
    if not (solved >= room[free]).all():
        return step
    better = step.copy()
    better[free] = solved
    return better
