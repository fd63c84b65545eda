"""Balanced subsets of columns."""

from typing import Annotated

import numpy
import numpy.typing


def search(problem: tuple[Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 3], Annotated[numpy.typing.NDArray[numpy.float64], 3], bool], tail: tuple[Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], size: int, guide: Annotated[numpy.typing.NDArray[numpy.int64], 1], limits: tuple[float, int, float], path: Annotated[numpy.typing.NDArray[numpy.int64], 1]) -> tuple[int, float]:
    """
    Branch and bound: path, place of the listed sum, least bound left open.
    """
