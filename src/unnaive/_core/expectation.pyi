"""Moments of rows with missing values."""

from typing import Annotated

import numpy
import numpy.typing


def estimate_moments(rows: Annotated[numpy.typing.NDArray[numpy.float64], 2], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], least: Annotated[numpy.typing.NDArray[numpy.float64], 1], rounds: int, change: float, mean: Annotated[numpy.typing.NDArray[numpy.float64], 1], covariance: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> int:
    """Estimate moments of rows with missing values; count the rounds."""
