"""Hierarchical smoothing."""

from typing import Annotated, overload

import numpy
import numpy.typing


@overload
def term_shares(values: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], terms: Annotated[numpy.typing.NDArray[numpy.int64], 2], alphas: Annotated[numpy.typing.NDArray[numpy.float64], 1], held: Annotated[numpy.typing.NDArray[numpy.float64], 2], shares: Annotated[numpy.typing.NDArray[numpy.float64], 3], expected: Annotated[numpy.typing.NDArray[numpy.float64], 3], rows: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> None: ...

@overload
def term_shares(values: Annotated[numpy.typing.NDArray[numpy.float64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.float64], 2], terms: Annotated[numpy.typing.NDArray[numpy.int64], 2], alphas: Annotated[numpy.typing.NDArray[numpy.float64], 1], held: Annotated[numpy.typing.NDArray[numpy.float64], 2], shares: Annotated[numpy.typing.NDArray[numpy.float64], 3], expected: Annotated[numpy.typing.NDArray[numpy.float64], 3], rows: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> None:
    """Hierarchically smoothed shares of columns, or given one other."""

def back_off(counts: Annotated[numpy.typing.NDArray[numpy.float64], 2], above: Annotated[numpy.typing.NDArray[numpy.float64], 2], place: Annotated[numpy.typing.NDArray[numpy.int64], 1], alpha: float, held: float, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """
    P(x | context) of every cell, counts and what is above in proportion to α.
    """

def best_concentration(counts: Annotated[numpy.typing.NDArray[numpy.float64], 2], above: Annotated[numpy.typing.NDArray[numpy.float64], 2], place: Annotated[numpy.typing.NDArray[numpy.int64], 1], alphas: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> float:
    """
    The first α under which the rows, each left out in turn, are likeliest.
    """

def root_shares(margin: Annotated[numpy.typing.NDArray[numpy.float64], 1], held: float, rows: float, even: float, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """
    P(x) from the counts of all contexts and some imaginary rows, spread evenly.
    """

def pair_gains(pairs: Annotated[numpy.typing.NDArray[numpy.float64], 2], pair_starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], above: Annotated[numpy.typing.NDArray[numpy.float64], 2], alphas: Annotated[numpy.typing.NDArray[numpy.float64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """
    Add the log-likelihood of rows left out, every column below each other one, to out.
    """
