"""Averages over super-parents."""

from typing import overload

import numpy
import numpy.typing


def super_parent_tables(pairs: numpy.typing.NDArray[numpy.float64], pair_starts: numpy.typing.NDArray[numpy.int64], slots: numpy.typing.NDArray[numpy.int64], alpha: numpy.typing.NDArray[numpy.float64], totals: numpy.typing.NDArray[numpy.float64], shares: numpy.typing.NDArray[numpy.float64], held: float, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Log P(x_i | c, x_p) of every ordered pair of columns."""

@overload
def sum_super_parents(codes: numpy.typing.NDArray[numpy.uint8], columns: numpy.typing.NDArray[numpy.int64], parents: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], span: tuple[int, int], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_super_parents(codes: numpy.typing.NDArray[numpy.uint16], columns: numpy.typing.NDArray[numpy.int64], parents: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], span: tuple[int, int], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_super_parents(codes: numpy.typing.NDArray[numpy.uint32], columns: numpy.typing.NDArray[numpy.int64], parents: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], span: tuple[int, int], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Log weighted mean of the super-parents' joints of some rows."""

@overload
def drop_generalisations(codes: numpy.typing.NDArray[numpy.uint8], slots: numpy.typing.NDArray[numpy.int64], generalises: numpy.typing.NDArray[numpy.bool_], out: numpy.typing.NDArray[numpy.uint8]) -> None: ...

@overload
def drop_generalisations(codes: numpy.typing.NDArray[numpy.uint16], slots: numpy.typing.NDArray[numpy.int64], generalises: numpy.typing.NDArray[numpy.bool_], out: numpy.typing.NDArray[numpy.uint16]) -> None: ...

@overload
def drop_generalisations(codes: numpy.typing.NDArray[numpy.uint32], slots: numpy.typing.NDArray[numpy.int64], generalises: numpy.typing.NDArray[numpy.bool_], out: numpy.typing.NDArray[numpy.uint32]) -> None:
    """Set to missing each cell that another cell specialises."""
