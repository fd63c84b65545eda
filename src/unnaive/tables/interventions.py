"""Interventions on Bayesian networks: variables that are set instead of observed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.structure.back_door import back_door_set
from unnaive.structure.front_door import front_door_set, satisfies_front_door
from unnaive.tables.evidence import code_of, node_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unnaive._typing import FloatArray
    from unnaive.tables.network import Network

Own = TypeVar("Own", bound="Network")


class Interventions:
    """Methods of :class:`~unnaive.tables.network.Network` that answer what an action would change.

    They are right only if every arrow of the network points from cause to effect, and if no common
    cause of two variables is left out. Arrows that were learned from data need not do so.
    """

    def do(self: Own, actions: Mapping[str, object]) -> Own:  # type: ignore[misc]
        """Set variables to states, whatever their parents: Pearl's do-operator.

        Parameters
        ----------
        actions : dict
            States by name of the variable.

        Returns
        -------
        Network
            The network without the arrows into these variables, each of which has its state with
            probability 1. ``network.do({"a": 1}).query("b")`` is P(b | do(a = 1)), whereas
            ``network.query("b", {"a": 1})`` is P(b | a = 1).

        References
        ----------
        Pearl, *Causality*, 2nd edition, Cambridge 2009, section 3.2.
        """
        tables = list(self.tables)
        for name, label in actions.items():
            node = node_of(self, name)
            code = code_of(self, node, label)
            if code == len(self.states[node]):
                raise UnnaiveError(f"{name!r} is set to {label!r}, which is no state; name one")
            tables[node] = np.eye(len(self.states[node]))[code]
        return replace(self, dag=self.dag.do(list(actions)), tables=tuple(tables))

    def adjusted(  # type: ignore[misc]
        self: Own, effect: str, action: Mapping[str, object], given: Sequence[str] | None = None
    ) -> FloatArray:
        r"""Compute P(effect | do(cause)) from what is observed, by back-door adjustment.

        .. math:: P(y \mid do(x)) = \sum_z P(y \mid x, z)\, P(z)

        It equals ``do(action).query(effect)``, but uses only the probabilities of the variables
        named, so it shows which variables have to be measured.

        Parameters
        ----------
        effect : str
            Name of the variable that is of interest.
        action : dict with one entry
            The variable that is set, and its state.
        given : sequence of str, default=None
            The variables z; None: those of :func:`~unnaive.structure.back_door.back_door_set`.

        Returns
        -------
        ndarray
            Probabilities of the states of the effect.
        """
        cause, label = _only(action)
        node_of(self, effect)
        chosen = back_door_set(self.dag, cause, effect) if given is None else tuple(given)
        if chosen is None or not self.dag.satisfies_back_door(cause, effect, chosen):
            told = "no variables" if chosen is None else ", ".join(map(repr, chosen)) or "nothing"
            raise UnnaiveError(
                f"given {told}, a back-door path from {cause!r} to {effect!r} is open, or passes a "
                f"descendant of {cause!r}; use back_door_set to find the variables, or do()"
            )
        if not chosen:
            return self.query(effect, {cause: label})
        weights = self.query(chosen)
        answer = np.zeros(len(self.states[node_of(self, effect)]))
        for place in zip(*np.nonzero(weights), strict=True):
            states = {
                name: self.states[node_of(self, name)][code]
                for name, code in zip(chosen, place, strict=True)
            }
            answer += weights[place] * self.query(effect, {cause: label, **states})
        return answer

    def front_door(  # type: ignore[misc]
        self: Own, effect: str, action: Mapping[str, object], given: Sequence[str] | None = None
    ) -> FloatArray:
        r"""Compute P(effect | do(cause)) from what is observed, by front-door adjustment.

        .. math:: P(y \mid do(x)) = \sum_z P(z \mid x) \sum_{x'} P(y \mid x', z)\, P(x')

        It needs no common cause of x and y, as long as x acts on y only through z.

        Parameters
        ----------
        effect : str
            Name of the variable that is of interest.
        action : dict with one entry
            The variable that is set, and its state.
        given : sequence of str, default=None
            The variables z; None: those of
            :func:`~unnaive.structure.front_door.front_door_set`.

        Returns
        -------
        ndarray
            Probabilities of the states of the effect.
        """
        cause, label = _only(action)
        node = node_of(self, cause)
        code, _ = code_of(self, node, label), node_of(self, effect)
        chosen = front_door_set(self.dag, cause, effect) if given is None else tuple(given)
        if not chosen or not satisfies_front_door(self.dag, cause, effect, chosen):
            told = ", ".join(map(repr, chosen or ())) or "no variables"
            raise UnnaiveError(
                f"{told} do not satisfy the front-door criterion from {cause!r} to {effect!r}; "
                "use identify to find a formula, or do()"
            )
        joint = self.query((cause, *chosen, effect))
        table = joint.reshape(len(joint), -1, joint.shape[-1])  # x, z, y
        both, alone = table.sum(axis=2), table.sum(axis=(1, 2))
        if code == len(alone) or alone[code] == 0:
            raise UnnaiveError(f"{cause!r} is never {label!r}, so nothing is known of its effect")
        reached = both[code] / alone[code]
        unseen = (both == 0) & (alone[:, None] > 0) & (reached > 0)
        if unseen.any():
            raise UnnaiveError(
                f"some states of {', '.join(map(repr, chosen))} do not occur with all states of "
                f"{cause!r}, so P({effect} | …) is not known there; use do()"
            )
        inner = table / np.where(both > 0, both, 1.0)[:, :, None] * alone[:, None, None]
        return np.asarray(reached @ inner.sum(axis=0))


def _only(action: Mapping[str, object]) -> tuple[str, object]:
    """Return the one variable that is set, and its state."""
    if len(action) != 1:
        raise UnnaiveError(f"action has {len(action)} variables; name the one that is set")
    ((cause, label),) = action.items()
    return cause, label
