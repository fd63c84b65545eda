"""Information and scores of contingency tables."""

from typing import overload

import numpy
import numpy.typing


@overload
def conditional_information(tables: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], sizes: numpy.typing.NDArray[numpy.int64], guard: float, out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def conditional_information(tables: numpy.typing.NDArray[numpy.float64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], sizes: numpy.typing.NDArray[numpy.int64], guard: float, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """I(X_i;X_j|Y) in nats of each pair from its table."""

@overload
def extend_groups(groups: numpy.typing.NDArray[numpy.uint32], line: numpy.typing.NDArray[numpy.uint8], size: int, gap: int) -> None: ...

@overload
def extend_groups(groups: numpy.typing.NDArray[numpy.uint32], line: numpy.typing.NDArray[numpy.uint16], size: int, gap: int) -> None: ...

@overload
def extend_groups(groups: numpy.typing.NDArray[numpy.uint32], line: numpy.typing.NDArray[numpy.uint32], size: int, gap: int) -> None:
    """Extend the numbers of joint values by a column."""

@overload
def score_additions(codes: numpy.typing.NDArray[numpy.uint8], candidates: numpy.typing.NDArray[numpy.int64], extents: numpy.typing.NDArray[numpy.int64], groups: numpy.typing.NDArray[numpy.uint32], shape: tuple[int, int], weights: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], settings: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def score_additions(codes: numpy.typing.NDArray[numpy.uint16], candidates: numpy.typing.NDArray[numpy.int64], extents: numpy.typing.NDArray[numpy.int64], groups: numpy.typing.NDArray[numpy.uint32], shape: tuple[int, int], weights: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], settings: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def score_additions(codes: numpy.typing.NDArray[numpy.uint32], candidates: numpy.typing.NDArray[numpy.int64], extents: numpy.typing.NDArray[numpy.int64], groups: numpy.typing.NDArray[numpy.uint32], shape: tuple[int, int], weights: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], settings: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Score a variable with each candidate as a further parent."""

def score_both_ways(tables: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], sizes: numpy.typing.NDArray[numpy.int64], logs: numpy.typing.NDArray[numpy.float64], settings: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Score each of two variables given the other."""

def score_table(table: numpy.typing.NDArray[numpy.float64], shape: tuple[int, int], n_values: int, settings: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Score a table of a variable and one of its parents."""
