"""Averages over super-parents."""

from typing import Annotated, overload

import numpy
import numpy.typing


def super_parent_tables(pairs: Annotated[numpy.typing.NDArray[numpy.float64], 2], pair_starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], alpha: Annotated[numpy.typing.NDArray[numpy.float64], 2], totals: Annotated[numpy.typing.NDArray[numpy.float64], 1], shares: Annotated[numpy.typing.NDArray[numpy.float64], 1], held: float, out: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> None:
    """Log P(x_i | c, x_p) of every ordered pair of columns."""

@overload
def sum_super_parents(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], parents: Annotated[numpy.typing.NDArray[numpy.int64], 2], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], tables: Annotated[numpy.typing.NDArray[numpy.float64], 3], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], span: tuple[int, int], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_super_parents(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], parents: Annotated[numpy.typing.NDArray[numpy.int64], 2], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], tables: Annotated[numpy.typing.NDArray[numpy.float64], 3], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], span: tuple[int, int], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_super_parents(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], parents: Annotated[numpy.typing.NDArray[numpy.int64], 2], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], tables: Annotated[numpy.typing.NDArray[numpy.float64], 3], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], span: tuple[int, int], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Log weighted mean of the super-parents' joints of some rows."""

@overload
def drop_generalisations(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], generalises: Annotated[numpy.typing.NDArray[numpy.bool_], 2], out: Annotated[numpy.typing.NDArray[numpy.uint8], 2]) -> None: ...

@overload
def drop_generalisations(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], generalises: Annotated[numpy.typing.NDArray[numpy.bool_], 2], out: Annotated[numpy.typing.NDArray[numpy.uint16], 2]) -> None: ...

@overload
def drop_generalisations(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], generalises: Annotated[numpy.typing.NDArray[numpy.bool_], 2], out: Annotated[numpy.typing.NDArray[numpy.uint32], 2]) -> None:
    """Set to missing each cell that another cell specialises."""
