"""The loops over rows and tables, compiled; one submodule for each room."""

from unnaive._core import (
    adjust as adjust,
    back_off as back_off,
    balance as balance,
    buckets as buckets,
    certainty as certainty,
    climbing as climbing,
    coding as coding,
    corrections as corrections,
    counting as counting,
    csv as csv,
    discretize as discretize,
    drawing as drawing,
    expectation as expectation,
    families as families,
    groups as groups,
    hidden as hidden,
    independence as independence,
    information as information,
    intervals as intervals,
    opening as opening,
    orders as orders,
    screening as screening,
    selective as selective,
    super_parents as super_parents,
    tables as tables,
    trees as trees,
    weighting as weighting
)


def level() -> int:
    """
    Instructions in use: 0 plain, 1 AVX2, 2 AVX-512 with its population count.
    """

def set_level(wanted: int) -> None:
    """Use lesser instructions than the processor has; -1 for the best."""
