"""Intervals of posterior probabilities."""

from typing import Annotated

import numpy
import numpy.typing


def logistic_normal(means: Annotated[numpy.typing.NDArray[numpy.float64], 2], variances: Annotated[numpy.typing.NDArray[numpy.float64], 2], reach: float, start: int, stop: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> None:
    """Quantiles of posteriors whose log joints are normal."""
