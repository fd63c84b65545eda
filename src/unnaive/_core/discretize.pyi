"""Bin edges."""

import numpy
import numpy.typing


def collapse(values: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], ends: numpy.typing.NDArray[numpy.int64], latest: numpy.typing.NDArray[numpy.int64]) -> int:
    """Sum sorted rows, in place, to one entry per block and class."""

def best_split(codes: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], ends: numpy.typing.NDArray[numpy.int64], table: numpy.typing.NDArray[numpy.float64], scratch: numpy.typing.NDArray[numpy.float64], first: int, last: int, candidates: float) -> int:
    """First entry right of the best cut, or -1 if not worth it."""

def count_up_to(classes: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], rows: numpy.typing.NDArray[numpy.int64], counts: numpy.typing.NDArray[numpy.float64]) -> None:
    """Class weights of all rows up to and including each of some."""

def log_evidence(upto: numpy.typing.NDArray[numpy.float64], places: numpy.typing.NDArray[numpy.int64], prior: numpy.typing.NDArray[numpy.float64], share: float) -> float:
    """Log marginal likelihood of the classes in bins."""

def halve(cuts: numpy.typing.NDArray[numpy.int64], number: int, ranks: numpy.typing.NDArray[numpy.float64], total: float, few: int, least: int) -> int:
    """Cut the largest bin in half until there are a few bins."""
