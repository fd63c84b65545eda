"""Numbers sorted into buckets."""

from typing import Annotated

import numpy
import numpy.typing


BINADES: int = 4096

def find_buckets(values: Annotated[numpy.typing.NDArray[numpy.float64], 1], shifts: Annotated[numpy.typing.NDArray[numpy.uint8], 1], index: Annotated[numpy.typing.NDArray[numpy.int32], 1], keys: Annotated[numpy.typing.NDArray[numpy.uint64], 1], size: int, rows: Annotated[numpy.typing.NDArray[numpy.int32], 1]) -> tuple[int, int]:
    """Row of each number's bucket; new buckets are added."""

def add_rows(values: Annotated[numpy.typing.NDArray[numpy.float64], 1], rows: Annotated[numpy.typing.NDArray[numpy.int32], 1], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], ends: Annotated[numpy.typing.NDArray[numpy.float64], 2], counts: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Add numbers to their buckets."""

def fill_index(keys: Annotated[numpy.typing.NDArray[numpy.uint64], 1], index: Annotated[numpy.typing.NDArray[numpy.int32], 1]) -> None:
    """Put the rows of all keys into an empty table of slots."""
