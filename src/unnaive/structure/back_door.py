"""Sets of variables to adjust for, so that a dependence shows the effect of an intervention."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive.structure.dag import DAG


def back_door_set(
    dag: DAG, cause: str | int, effect: str | int, observed: Sequence[str | int] | None = None
) -> tuple[str, ...] | None:
    """Find variables that block all back-door paths, none of which can be left out.

    A back-door path leads from the cause to the effect and begins with an arrow into the cause. A
    set that contains no descendant of the cause and blocks all of these paths identifies the
    effect of an intervention. If there is one among the observed variables, the observed
    ancestors of cause and effect are one; variables are then left out as long as they are not
    needed, the last one of the network first.

    Parameters
    ----------
    dag : DAG
        The network.
    cause, effect : str or int
        Name or position of the variable that is set, and of the one that is of interest.
    observed : sequence of str or int, default=None
        Variables that may be in the set; None: all.

    Returns
    -------
    tuple of str or None
        Names of the variables; None if there is no such set.

    References
    ----------
    Pearl, *Causality*, 2nd edition, Cambridge 2009, section 3.3; van der Zander, Liśkiewicz &
    Textor, "Constructing separators and adjustment sets in ancestral graphs", UAI 2014.

    Examples
    --------
    >>> from unnaive.structure.dag import DAG
    >>> edges = [("size", "treatment"), ("size", "success"), ("treatment", "success")]
    >>> dag = DAG.of_edges(("size", "treatment", "success"), edges)
    >>> back_door_set(dag, "treatment", "success")
    ('size',)
    >>> back_door_set(dag, "treatment", "success", observed=()) is None
    True
    """
    allowed, ends = observed_places(dag, observed), set(places(dag, (cause, effect)))
    kept = sorted((dag.ancestors(ends) & allowed) - ends - dag.descendants(cause))
    if not dag.satisfies_back_door(cause, effect, kept):
        return None
    for node in reversed(tuple(kept)):
        fewer = [other for other in kept if other != node]
        if dag.satisfies_back_door(cause, effect, fewer):
            kept = fewer
    return tuple(dag.names[node] for node in kept)


def observed_places(dag: DAG, observed: Sequence[str | int] | None) -> set[int]:
    """Positions of the variables that may be used; None: all."""
    return set(range(len(dag.names)) if observed is None else places(dag, observed))


def places(dag: DAG, nodes: Iterable[str | int]) -> list[int]:
    """Positions of variables; raises if there is no such variable."""
    return [dag._position(node) for node in nodes]  # noqa: SLF001
