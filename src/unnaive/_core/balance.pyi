"""Balanced subsets of columns."""

import numpy
import numpy.typing


def search(problem: tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], bool], tail: tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]], size: int, guide: numpy.typing.NDArray[numpy.int64], limits: tuple[float, int, float], path: numpy.typing.NDArray[numpy.int64]) -> tuple[int, float]:
    """
    Branch and bound: path, place of the listed sum, least bound left open.
    """
