r"""Weights of super-parents that maximize the leave-one-out conditional likelihood.

.. math:: F(w) = \sum_r v_r \Bigl(\log \sum_p w_p T_{rp} - \log \sum_p w_p S_{rp}\Bigr), \qquad
          T_{rp} = P_p(c_r, x_r), \quad S_{rp} = \sum_c P_p(c, x_r)

P_p is the joint of the member whose super-parent is column p, without row r, and v_r the weight of
the row. The weights are :math:`w = \mathrm{softmax}(\theta)`, and they minimize
:math:`-F + \tfrac{1}{2} \lambda \sum_p (\theta_p - \bar\theta)^2`, so members have equal weights
unless the rows show a difference. With :math:`a_{rp}, b_{rp}` the shares of member p in the two
sums, the gradient is :math:`\sum_r v_r (b_{rp} - a_{rp}) + \lambda (\theta_p - \bar\theta)`. The
loss is a difference of convex functions; the search finds the local minimum near equal weights.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.tables.super_parents import SuperParentTables

PENALTY = 1.0
_BLOCK_ROWS = 1 << 13
_FARTHEST = 50.0  # largest |θ|: beyond it, a member has weight 0 or 1
_STEPS = 500
_ENOUGH = 1e-11  # stop when a step reduces the loss by a smaller share


@dataclass(frozen=True, eq=False)
class MemberWeighing:
    """The leave-one-out joints of all rows and members, to which weights are fitted.

    Attributes
    ----------
    own : ndarray of shape (n, d)
        T, every row divided by its largest entry; 0 for members that do not apply to the row.
    every : ndarray of shape (n, d)
        S, divided in the same way.
    importance : ndarray of shape (n,)
        Weights of the rows.
    shift : float, default=0.0
        Change of F by these divisions.
    n_jobs : int or None, default=None
        Number of threads.
    """

    own: FloatArray
    every: FloatArray
    importance: FloatArray
    shift: float = 0.0
    n_jobs: int | None = None

    @cached_property
    def _team(self) -> _parallel.Team:
        return _parallel.Team(self.n_jobs if len(self.own) > _BLOCK_ROWS else 1)

    def loss(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Penalized loss of θ (d,), and its gradient (d,)."""
        weights = softmax(theta)

        def block(rows: tuple[int, int]) -> tuple[float, FloatArray]:
            own, every = self.own[slice(*rows)], self.every[slice(*rows)]
            importance = self.importance[slice(*rows)]
            # Matrix products would start threads that n_jobs does not control.
            top, bottom = np.einsum("rp,p->r", own, weights), np.einsum("rp,p->r", every, weights)
            slope = np.einsum("r,rp->p", importance / bottom, every)
            slope -= np.einsum("r,rp->p", importance / top, own)
            return float(np.sum(importance * np.log(bottom / top))), slope * weights

        away = theta - theta.mean()
        loss, slope = PENALTY / 2 * float(np.sum(away**2)) - self.shift, PENALTY * away
        blocks = _parallel.row_blocks(len(self.own), _BLOCK_ROWS)
        for of_block, slope_of_block in self._team.run(block, blocks):
            loss, slope = loss + of_block, slope + slope_of_block
        return loss, slope

    def fit(self) -> FloatArray:
        """Minimize the loss, starting from equal weights; returns weights (d,)."""
        from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

        start = np.zeros(self.own.shape[1])
        bounds = [(-_FARTHEST, _FARTHEST)] * len(start)
        options = {"maxiter": _STEPS, "ftol": _ENOUGH, "gtol": 0.0}
        best = minimize(self.loss, start, (), "L-BFGS-B", True, bounds=bounds, options=options)
        return softmax(best.x)


def softmax(theta: FloatArray) -> FloatArray:
    """Positive weights that sum to 1; shape (d,).

    Examples
    --------
    >>> softmax(np.log([1.0, 3.0])).round(2).tolist()
    [0.25, 0.75]
    """
    raised = np.exp(theta - theta.max())
    return np.asarray(raised / raised.sum())


def member_weighing(
    tables: SuperParentTables,
    codes: CodeArray,
    classes: IntArray,
    importance: FloatArray,
    n_jobs: int | None = None,
) -> MemberWeighing:
    """Look rows up in the leave-one-out tables of every member.

    Rows to which no member applies, or whose class has probability 0 in all members, are left
    out, since weights do not change their posteriors.
    """
    codes, tables = tables.resolved(codes), replace(tables, generalises=None)
    members = [replace(tables, parents=parent[None]) for parent in tables.parents]
    own, every = np.empty((2, len(classes), len(members)))
    tops = np.empty((2, len(classes)))

    def look_up(block: tuple[int, int]) -> None:
        rows = slice(*block)
        held, some = classes[rows], np.ascontiguousarray(codes[:, rows])
        for place, member in enumerate(members):
            joint = member.joint(some, held, 1)
            joint[np.isnan(joint)] = -np.inf
            own[rows, place] = joint[np.arange(len(held)), held]
            every[rows, place] = np.logaddexp.reduce(joint, axis=1)
        for place, logs in enumerate((own[rows], every[rows])):
            top = tops[place, rows] = logs.max(axis=1)
            np.subtract(logs, np.where(np.isneginf(top), 0.0, top)[:, None], out=logs)
            np.exp(logs, out=logs)

    _parallel.run(look_up, _parallel.row_blocks(len(classes), _BLOCK_ROWS), n_jobs)
    heard = ~np.isneginf(tops[0])
    if not heard.all():
        own, every, importance, tops = own[heard], every[heard], importance[heard], tops[:, heard]
    shift = float(np.sum(importance * (tops[0] - tops[1])))
    return MemberWeighing(own, every, importance, shift, n_jobs)
