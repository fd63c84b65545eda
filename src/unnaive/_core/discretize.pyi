"""Bin edges."""

from typing import Annotated

import numpy
import numpy.typing


def collapse(values: Annotated[numpy.typing.NDArray[numpy.float64], 1], codes: Annotated[numpy.typing.NDArray[numpy.int64], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], ends: Annotated[numpy.typing.NDArray[numpy.int64], 1], latest: Annotated[numpy.typing.NDArray[numpy.int64], 1]) -> int:
    """Sum sorted rows, in place, to one entry per block and class."""

def best_split(codes: Annotated[numpy.typing.NDArray[numpy.int64], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], ends: Annotated[numpy.typing.NDArray[numpy.int64], 1], table: Annotated[numpy.typing.NDArray[numpy.float64], 1], scratch: Annotated[numpy.typing.NDArray[numpy.float64], 2], first: int, last: int, candidates: float) -> int:
    """First entry right of the best cut, or -1 if not worth it."""

def count_up_to(classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], rows: Annotated[numpy.typing.NDArray[numpy.int64], 1], counts: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Class weights of all rows up to and including each of some."""

def log_evidence(upto: Annotated[numpy.typing.NDArray[numpy.float64], 2], places: Annotated[numpy.typing.NDArray[numpy.int64], 1], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], share: float) -> float:
    """Log marginal likelihood of the classes in bins."""

def halve(cuts: Annotated[numpy.typing.NDArray[numpy.int64], 1], number: int, ranks: Annotated[numpy.typing.NDArray[numpy.float64], 1], total: float, few: int, least: int) -> int:
    """Cut the largest bin in half until there are a few bins."""
