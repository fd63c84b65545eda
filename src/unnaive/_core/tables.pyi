"""Log-probability tables, and rows looked up in them."""

from typing import Annotated, overload

import numpy
import numpy.typing


def log_table(counts: Annotated[numpy.typing.NDArray[numpy.float64], 2], alpha: Annotated[numpy.typing.NDArray[numpy.float64], 1], total: float, held_value: float, held_context: float, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Estimate the logarithm of every cell of a table of counts."""

def fill_priors(tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Log prior of every row."""

@overload
def sum_factors(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], chosen: Annotated[numpy.typing.NDArray[numpy.int64], 1], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], start: int, stop: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_factors(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], chosen: Annotated[numpy.typing.NDArray[numpy.int64], 1], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], start: int, stop: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_factors(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], chosen: Annotated[numpy.typing.NDArray[numpy.int64], 1], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], start: int, stop: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Add the chosen columns' factors to the log joint of some rows."""

@overload
def mark_missing(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], chosen: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.bool_], 1]) -> int: ...

@overload
def mark_missing(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], chosen: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.bool_], 1]) -> int: ...

@overload
def mark_missing(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], chosen: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.bool_], 1]) -> int:
    """Mark the rows in which one of some columns is missing."""

@overload
def sum_product(rows: Annotated[numpy.typing.NDArray[numpy.int64], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], order: Annotated[numpy.typing.NDArray[numpy.int64], 1], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_product(rows: Annotated[numpy.typing.NDArray[numpy.int64], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], order: Annotated[numpy.typing.NDArray[numpy.int64], 1], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_product(rows: Annotated[numpy.typing.NDArray[numpy.int64], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], order: Annotated[numpy.typing.NDArray[numpy.int64], 1], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Log joint of rows in which inner nodes of the tree are missing."""

def subtract_squares(rows: Annotated[numpy.typing.NDArray[numpy.float64], 2], means: Annotated[numpy.typing.NDArray[numpy.float64], 2], forms: Annotated[numpy.typing.NDArray[numpy.float64], 3], constants: Annotated[numpy.typing.NDArray[numpy.float64], 1], start: int, stop: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Log joint of Gaussian classes for some rows."""

def log_posterior(joint: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Normalise each row's log joint."""

def posterior(joint: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Normalise each row's joint into probabilities."""
