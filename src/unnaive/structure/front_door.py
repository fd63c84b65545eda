"""Causal effects from what is observed: the front-door criterion, and formulas written out."""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING

from unnaive._dataclasses import dataclass
from unnaive._docstrings import described_like
from unnaive.structure.back_door import back_door_set, observed_places, places
from unnaive.structure.dag import DAG

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_SETS = 1 << 14  # candidates that are tested


def satisfies_front_door(
    dag: DAG, cause: str | int, effect: str | int, given: Iterable[str | int]
) -> bool:
    r"""Whether variables identify a causal effect by the front-door criterion.

    They intercept all directed paths from the cause to the effect, no back-door path from the
    cause to them is open, and the cause blocks all back-door paths from them to the effect (Pearl
    2009, definition 3.3.3). Then

    .. math:: P(y \mid do(x)) = \sum_z P(z \mid x) \sum_{x'} P(y \mid x', z)\, P(x')

    Parameters
    ----------
    dag : DAG
        The network.
    cause, effect : str or int
        Name or position of the variable that is set, and of the one that is of interest.
    given : iterable of str or int
        The variables z.

    Returns
    -------
    bool
        Whether the three conditions hold.

    Examples
    --------
    >>> edges = [("gene", "smoking"), ("gene", "cancer"), ("smoking", "tar"), ("tar", "cancer")]
    >>> dag = DAG.of_edges(("gene", "smoking", "tar", "cancer"), edges)
    >>> satisfies_front_door(dag, "smoking", "cancer", ["tar"])
    True
    """
    start, end, *between = places(dag, (cause, effect, *given))
    mediators = set(between)
    if mediators & {start, end}:
        return False
    arrows = [(parent, child) for child, above in enumerate(dag.parents) for parent in above]
    cut = DAG.of_edges(
        dag.names, [(i, j) for i, j in arrows if i not in mediators and j not in mediators]
    )
    if end in cut.descendants(start):
        return False
    if not all(dag.satisfies_back_door(start, node) for node in mediators):
        return False
    below = DAG.of_edges(dag.names, [(i, j) for i, j in arrows if i not in mediators])
    return not mediators or below.d_separated(mediators, end, start)


@described_like(back_door_set)
def front_door_set(
    dag: DAG, cause: str | int, effect: str | int, observed: Sequence[str | int] | None = None
) -> tuple[str, ...] | None:
    """Find the smallest set of variables that satisfies the front-door criterion.

    Returns
    -------
    tuple of str or None
        Names of the variables, the first of the smallest sets; None if there is no such set among
        the first 16,384 that were tried, or if the cause does not lead to the effect.

    Examples
    --------
    >>> edges = [("gene", "smoking"), ("gene", "cancer"), ("smoking", "tar"), ("tar", "cancer")]
    >>> dag = DAG.of_edges(("gene", "smoking", "tar", "cancer"), edges)
    >>> front_door_set(dag, "smoking", "cancer", observed=["tar"])
    ('tar',)
    """
    (start, end), allowed = places(dag, (cause, effect)), observed_places(dag, observed)
    between = dag.descendants(start) & dag.ancestors(end) & allowed
    useful = [node for node in sorted(between) if dag.satisfies_back_door(start, node)]
    sets = (chosen for size in range(1, len(useful) + 1) for chosen in combinations(useful, size))
    for chosen in islice(sets, _MOST_SETS):
        if satisfies_front_door(dag, start, end, chosen):
            return tuple(dag.names[node] for node in chosen)
    return None


@dataclass(frozen=True)
class Identification:
    """How the effect of an intervention follows from what is observed.

    Attributes
    ----------
    criterion : {"back-door", "front-door"}
        The criterion that holds.
    given : tuple of str
        Variables that have to be measured besides cause and effect.
    formula : str
        The formula, written out with the names of the variables.
    """

    criterion: str
    given: tuple[str, ...]
    formula: str


def identify(
    dag: DAG, cause: str, effect: str, observed: Sequence[str] | None = None
) -> Identification | None:
    """Find a formula for P(effect | do(cause)) that uses only observed variables.

    The back-door criterion is tried first, then the front-door criterion. There are effects that
    neither of them identifies but other formulas do.

    Parameters
    ----------
    dag : DAG
        The network.
    cause, effect : str
        Name of the variable that is set, and of the one that is of interest.
    observed : sequence of str, default=None
        Variables that were measured; None: all.

    Returns
    -------
    Identification or None
        Criterion, variables and formula; None if neither criterion holds.

    Examples
    --------
    >>> edges = [("gene", "smoking"), ("gene", "cancer"), ("smoking", "tar"), ("tar", "cancer")]
    >>> dag = DAG.of_edges(("gene", "smoking", "tar", "cancer"), edges)
    >>> print(identify(dag, "smoking", "cancer").formula)
    P(cancer | do(smoking)) = Σ_gene P(cancer | smoking, gene) P(gene)
    >>> print(identify(dag, "smoking", "cancer", ["tar"]).formula.partition(" = ")[2])
    Σ_tar P(tar | smoking) Σ_smoking' P(cancer | smoking', tar) P(smoking')
    """
    left = f"P({effect} | do({cause})) ="
    given = back_door_set(dag, cause, effect, observed)
    if given is not None:
        names = ", ".join(given)
        summed = f"Σ_{names} P({effect} | {cause}, {names}) P({names})"
        plain = f"P({effect} | {cause})"
        return Identification("back-door", given, f"{left} {summed if given else plain}")
    given = front_door_set(dag, cause, effect, observed)
    if given is None:
        return None
    names = ", ".join(given)
    inner = f"Σ_{cause}' P({effect} | {cause}', {names}) P({cause}')"
    return Identification("front-door", given, f"{left} Σ_{names} P({names} | {cause}) {inner}")
