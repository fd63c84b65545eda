"""Log-probability tables, and rows looked up in them."""

from typing import overload

import numpy
import numpy.typing


def log_table(counts: numpy.typing.NDArray[numpy.float64], alpha: numpy.typing.NDArray[numpy.float64], total: float, held_value: float, held_context: float, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Estimate the logarithm of every cell of a table of counts."""

def fill_priors(tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Log prior of every row."""

@overload
def sum_factors(codes: numpy.typing.NDArray[numpy.uint8], columns: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], start: int, stop: int, out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_factors(codes: numpy.typing.NDArray[numpy.uint16], columns: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], start: int, stop: int, out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_factors(codes: numpy.typing.NDArray[numpy.uint32], columns: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], start: int, stop: int, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add the chosen columns' factors to the log joint of some rows."""

@overload
def mark_missing(codes: numpy.typing.NDArray[numpy.uint8], columns: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.bool_]) -> int: ...

@overload
def mark_missing(codes: numpy.typing.NDArray[numpy.uint16], columns: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.bool_]) -> int: ...

@overload
def mark_missing(codes: numpy.typing.NDArray[numpy.uint32], columns: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.bool_]) -> int:
    """Mark the rows in which one of some columns is missing."""

@overload
def sum_product(rows: numpy.typing.NDArray[numpy.int64], codes: numpy.typing.NDArray[numpy.uint8], columns: numpy.typing.NDArray[numpy.int64], order: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_product(rows: numpy.typing.NDArray[numpy.int64], codes: numpy.typing.NDArray[numpy.uint16], columns: numpy.typing.NDArray[numpy.int64], order: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_product(rows: numpy.typing.NDArray[numpy.int64], codes: numpy.typing.NDArray[numpy.uint32], columns: numpy.typing.NDArray[numpy.int64], order: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Log joint of rows in which inner nodes of the tree are missing."""

def subtract_squares(rows: numpy.typing.NDArray[numpy.float64], means: numpy.typing.NDArray[numpy.float64], forms: numpy.typing.NDArray[numpy.float64], constants: numpy.typing.NDArray[numpy.float64], start: int, stop: int, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Log joint of Gaussian classes for some rows."""

def log_posterior(joint: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Normalise each row's log joint."""

def posterior(joint: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Normalise each row's joint into probabilities."""
