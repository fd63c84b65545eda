"""Intervals of posterior probabilities."""

from typing import Annotated

import numpy
import numpy.typing


def quantiles(cumulants: Annotated[numpy.typing.NDArray[numpy.float64], 3], reach: float, start: int, stop: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> None:
    """Quantiles of posteriors by cumulants of their log joints."""

def point_quantiles(cumulants: Annotated[numpy.typing.NDArray[numpy.float64], 3], points: Annotated[numpy.typing.NDArray[numpy.float64], 2], level: float, rows: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> None:
    """Quantiles of posteriors of some rows at points of their joints."""
