"""Factors over missing columns."""

from typing import Annotated

import numpy
import numpy.typing


def open_contexts(contexts: Annotated[numpy.typing.NDArray[numpy.int64], 1], table: Annotated[numpy.typing.NDArray[numpy.float64], 4], axes: Annotated[numpy.typing.NDArray[numpy.int64], 2], bases: Annotated[numpy.typing.NDArray[numpy.int64], 1], children: Annotated[numpy.typing.NDArray[numpy.int64], 1], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], sets: tuple[int, int], first: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Lines of a factor over missing columns, from a table of contexts."""

def open_cells(contexts: Annotated[numpy.typing.NDArray[numpy.int64], 1], cells: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 3], Annotated[numpy.typing.NDArray[numpy.float64], 2]], axes: Annotated[numpy.typing.NDArray[numpy.int64], 2], bases: Annotated[numpy.typing.NDArray[numpy.int64], 1], children: Annotated[numpy.typing.NDArray[numpy.int64], 1], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], sets: tuple[int, int], first: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Lines of a factor over missing columns, from cells that occurred."""
