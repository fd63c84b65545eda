"""Hierarchical smoothing."""

import numpy
import numpy.typing


def back_off(counts: numpy.typing.NDArray[numpy.float64], above: numpy.typing.NDArray[numpy.float64], place: numpy.typing.NDArray[numpy.int64], alpha: float, held: float, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    P(x | context) of every cell, counts and what is above in proportion to α.
    """

def best_concentration(counts: numpy.typing.NDArray[numpy.float64], above: numpy.typing.NDArray[numpy.float64], place: numpy.typing.NDArray[numpy.int64], alphas: numpy.typing.NDArray[numpy.float64]) -> float:
    """
    The first α under which the rows, each left out in turn, are likeliest.
    """

def root_shares(margin: numpy.typing.NDArray[numpy.float64], held: float, rows: float, even: float, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    P(x) from the counts of all contexts and some imaginary rows, spread evenly.
    """

def pair_gains(pairs: numpy.typing.NDArray[numpy.float64], pair_starts: numpy.typing.NDArray[numpy.int64], slots: numpy.typing.NDArray[numpy.int64], above: numpy.typing.NDArray[numpy.float64], alphas: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add the log-likelihood of rows left out, every column below each other one, to out.
    """
