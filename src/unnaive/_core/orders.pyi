"""Sums over all orders of variables."""

from typing import Annotated

import numpy
import numpy.typing


def sum_orders(above: Annotated[numpy.typing.NDArray[numpy.float64], 2], first: Annotated[numpy.typing.NDArray[numpy.float64], 1], last: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Sums over orders in which the members of a subset come first, or last."""

def sum_subsets(n_members: int, weights: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Replace the weight of every subset by the sum over its subsets."""

def sum_supersets(first: Annotated[numpy.typing.NDArray[numpy.float64], 1], last: Annotated[numpy.typing.NDArray[numpy.float64], 1], n_variables: int, variable: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Weights of orders in which a subset precedes a variable."""
