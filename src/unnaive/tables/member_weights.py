r"""Weights of super-parents that tell the classes of left-out rows best.

.. math:: F(w) = \sum_r v_r \Bigl(\log \sum_p w_p T_{rp} - \log \sum_p w_p S_{rp}\Bigr), \qquad
          T_{rp} = P_p(c_r, x_r), \quad S_{rp} = \sum_c P_p(c, x_r)

P_p is the joint of the member whose super-parent is column p, without row r. Weights are
:math:`w = \mathrm{softmax}(\theta)`, and least is the loss
:math:`-F + \tfrac{1}{2} \lambda \sum_p (\theta_p - \bar\theta)^2`, so that members weigh the same
unless rows tell otherwise. With :math:`a_{rp}, b_{rp}` the shares of member p in the two sums, its
slope is :math:`\sum_r v_r (b_{rp} - a_{rp}) + \lambda (\theta_p - \bar\theta)`. The loss is a
difference of convex functions: the least that is found is the one below equal weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.tables.super_parents import SuperParentTables

PENALTY = 1.0
_BLOCK_ROWS = 1 << 13
_FARTHEST = 50.0  # of θ from 0: beyond, a member says nothing or is alone
_STEPS = 500
_ENOUGH = 1e-11  # no step that gains less than this part of the loss


@dataclass(frozen=True, eq=False)
class MemberWeighing:
    """Rows as members see them, each left out: what weights are fitted to.

    Attributes
    ----------
    own : ndarray of shape (n, d)
        T, every row divided by its largest; 0 for members that have no say.
    every : ndarray of shape (n, d)
        S, likewise.
    importance : ndarray of shape (n,)
        How much each row weighs.
    shift : float
        What the divisions took from F.
    n_jobs : int or None
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
        """Penalised loss of θ (d,), and its slope (d,)."""
        weights = softmax(theta)

        def part(rows: tuple[int, int]) -> tuple[float, FloatArray]:
            own, every = self.own[slice(*rows)], self.every[slice(*rows)]
            importance = self.importance[slice(*rows)]
            # Not by matrix products, whose threads are not ours.
            top, bottom = np.einsum("rp,p->r", own, weights), np.einsum("rp,p->r", every, weights)
            slope = np.einsum("r,rp->p", importance / bottom, every)
            slope -= np.einsum("r,rp->p", importance / top, own)
            return float(np.sum(importance * np.log(bottom / top))), slope * weights

        away = theta - theta.mean()
        loss, slope = PENALTY / 2 * float(np.sum(away**2)) - self.shift, PENALTY * away
        blocks = _parallel.row_blocks(len(self.own), _BLOCK_ROWS)
        for more, steeper in self._team.run(part, blocks):
            loss, slope = loss + more, slope + steeper
        return loss, slope

    def fit(self) -> FloatArray:
        """Weights of least loss, from equal ones on; shape (d,)."""
        from scipy.optimize import minimize  # noqa: PLC0415 - loads when asked

        d = self.own.shape[1]
        found = minimize(
            self.loss,
            np.zeros(d),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-_FARTHEST, _FARTHEST)] * d,
            options={"maxiter": _STEPS, "ftol": _ENOUGH, "gtol": 0.0},
        )
        return softmax(found.x)


def softmax(theta: FloatArray) -> FloatArray:
    """Weights above 0 that sum to 1; shape (d,)."""
    raised = np.exp(theta - theta.max())
    return np.asarray(raised / raised.sum())


def member_weighing(
    tables: SuperParentTables,
    codes: CodeArray,
    classes: IntArray,
    importance: FloatArray,
    n_jobs: int | None = None,
) -> MemberWeighing:
    """Look rows up in every member's tables of leave-one-out.

    Rows in which no member may speak, or gives the row's class any chance, are left out: no
    weights change what is said of them.
    """
    codes, tables = tables.resolved(codes), replace(tables, generalises=None)
    members = [replace(tables, parents=parent[None]) for parent in tables.parents]
    own, every = np.empty((2, len(classes), len(members)))
    tops = np.empty((2, len(classes)))

    def look_up(rows: tuple[int, int]) -> None:
        part = slice(*rows)
        held, block = classes[part], np.ascontiguousarray(codes[:, part])
        for place, member in enumerate(members):
            joint = member.joint(block, held, 1)
            joint[np.isnan(joint)] = -np.inf
            own[part, place] = joint[np.arange(len(held)), held]
            every[part, place] = np.logaddexp.reduce(joint, axis=1)
        for place, logs in enumerate((own[part], every[part])):
            top = tops[place, part] = logs.max(axis=1)
            np.subtract(logs, np.where(np.isneginf(top), 0.0, top)[:, None], out=logs)
            np.exp(logs, out=logs)

    _parallel.run(look_up, _parallel.row_blocks(len(classes), _BLOCK_ROWS), n_jobs)
    heard = ~np.isneginf(tops[0])
    if not heard.all():
        own, every, importance, tops = own[heard], every[heard], importance[heard], tops[:, heard]
    shift = float(np.sum(importance * (tops[0] - tops[1])))
    return MemberWeighing(own, every, importance, shift, n_jobs)
