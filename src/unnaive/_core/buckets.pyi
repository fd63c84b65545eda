"""Numbers sorted into buckets."""

import numpy
import numpy.typing


BINADES: int = 4096

def find_buckets(values: numpy.typing.NDArray[numpy.float64], shifts: numpy.typing.NDArray[numpy.uint8], index: numpy.typing.NDArray[numpy.int32], keys: numpy.typing.NDArray[numpy.uint64], size: int, rows: numpy.typing.NDArray[numpy.int32]) -> tuple[int, int]:
    """Row of each number's bucket; new buckets are added."""

def add_rows(values: numpy.typing.NDArray[numpy.float64], rows: numpy.typing.NDArray[numpy.int32], classes: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], ends: numpy.typing.NDArray[numpy.float64], counts: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add numbers to their buckets."""

def fill_index(keys: numpy.typing.NDArray[numpy.uint64], index: numpy.typing.NDArray[numpy.int32]) -> None:
    """Put the rows of all keys into an empty table of slots."""
