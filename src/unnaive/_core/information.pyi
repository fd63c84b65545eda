"""Information and scores of contingency tables."""

from typing import Annotated, overload

import numpy
import numpy.typing


@overload
def conditional_information(tables: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], guard: float, out: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None: ...

@overload
def conditional_information(tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], guard: float, out: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """I(X_i;X_j|Y) in nats of each pair from its table."""

@overload
def extend_groups(groups: Annotated[numpy.typing.NDArray[numpy.uint32], 1], line: Annotated[numpy.typing.NDArray[numpy.uint8], 1], size: int, gap: int) -> None: ...

@overload
def extend_groups(groups: Annotated[numpy.typing.NDArray[numpy.uint32], 1], line: Annotated[numpy.typing.NDArray[numpy.uint16], 1], size: int, gap: int) -> None: ...

@overload
def extend_groups(groups: Annotated[numpy.typing.NDArray[numpy.uint32], 1], line: Annotated[numpy.typing.NDArray[numpy.uint32], 1], size: int, gap: int) -> None:
    """Extend the numbers of joint values by a column."""

@overload
def score_additions(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], candidates: Annotated[numpy.typing.NDArray[numpy.int64], 1], extents: Annotated[numpy.typing.NDArray[numpy.int64], 2], groups: Annotated[numpy.typing.NDArray[numpy.uint32], 1], shape: tuple[int, int], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], settings: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def score_additions(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], candidates: Annotated[numpy.typing.NDArray[numpy.int64], 1], extents: Annotated[numpy.typing.NDArray[numpy.int64], 2], groups: Annotated[numpy.typing.NDArray[numpy.uint32], 1], shape: tuple[int, int], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], settings: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def score_additions(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], candidates: Annotated[numpy.typing.NDArray[numpy.int64], 1], extents: Annotated[numpy.typing.NDArray[numpy.int64], 2], groups: Annotated[numpy.typing.NDArray[numpy.uint32], 1], shape: tuple[int, int], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], settings: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Score a variable with each candidate as a further parent."""

def score_both_ways(tables: Annotated[numpy.typing.NDArray[numpy.int64], 1], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], settings: Annotated[numpy.typing.NDArray[numpy.float64], 3], out: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> None:
    """Score each of two variables given the other."""

def score_table(table: Annotated[numpy.typing.NDArray[numpy.float64], 2], shape: tuple[int, int], n_values: int, settings: Annotated[numpy.typing.NDArray[numpy.float64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Score a table of a variable and one of its parents."""
