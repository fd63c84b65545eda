"""Tables that correct predictions."""

from typing import Annotated, overload

import numpy
import numpy.typing


def fill_slopes(chances: Annotated[numpy.typing.NDArray[numpy.float64], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], importance: Annotated[numpy.typing.NDArray[numpy.float64], 1], slopes: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> None:
    """Slope and curvature of every row's log likelihood."""

@overload
def ask(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], ordered: Annotated[numpy.typing.NDArray[numpy.int64], 1], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], slopes: Annotated[numpy.typing.NDArray[numpy.float64], 3], most_cells: int, penalty: float, tolerance: float, questions: Annotated[numpy.typing.NDArray[numpy.int64], 2], cells: Annotated[numpy.typing.NDArray[numpy.int64], 1], sums: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> int: ...

@overload
def ask(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], ordered: Annotated[numpy.typing.NDArray[numpy.int64], 1], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], slopes: Annotated[numpy.typing.NDArray[numpy.float64], 3], most_cells: int, penalty: float, tolerance: float, questions: Annotated[numpy.typing.NDArray[numpy.int64], 2], cells: Annotated[numpy.typing.NDArray[numpy.int64], 1], sums: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> int: ...

@overload
def ask(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], ordered: Annotated[numpy.typing.NDArray[numpy.int64], 1], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], slopes: Annotated[numpy.typing.NDArray[numpy.float64], 3], most_cells: int, penalty: float, tolerance: float, questions: Annotated[numpy.typing.NDArray[numpy.int64], 2], cells: Annotated[numpy.typing.NDArray[numpy.int64], 1], sums: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> int:
    """
    Choose questions that split the rows' cells, and sum slopes in the cells.
    """

@overload
def advance(columns: tuple[Annotated[numpy.typing.NDArray[numpy.uint8], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1]], rows: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], manner: tuple[int, int, float, float, float], joint: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], now: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def advance(columns: tuple[Annotated[numpy.typing.NDArray[numpy.uint16], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1]], rows: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], manner: tuple[int, int, float, float, float], joint: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], now: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def advance(columns: tuple[Annotated[numpy.typing.NDArray[numpy.uint32], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1]], rows: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], manner: tuple[int, int, float, float, float], joint: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], now: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Take a step of the log joint in the cells of the best questions."""
