"""Factors of columns with several parents."""

from typing import overload

import numpy
import numpy.typing


@overload
def sum_families(codes: numpy.typing.NDArray[numpy.uint8], families: numpy.typing.NDArray[numpy.int64], parents: numpy.typing.NDArray[numpy.int64], contexts: numpy.typing.NDArray[numpy.int64], entries: numpy.typing.NDArray[numpy.float64], used: int, held: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_families(codes: numpy.typing.NDArray[numpy.uint16], families: numpy.typing.NDArray[numpy.int64], parents: numpy.typing.NDArray[numpy.int64], contexts: numpy.typing.NDArray[numpy.int64], entries: numpy.typing.NDArray[numpy.float64], used: int, held: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_families(codes: numpy.typing.NDArray[numpy.uint32], families: numpy.typing.NDArray[numpy.int64], parents: numpy.typing.NDArray[numpy.int64], contexts: numpy.typing.NDArray[numpy.int64], entries: numpy.typing.NDArray[numpy.float64], used: int, held: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Sum the factors of rows without missing cells over some families."""
