"""Hidden parents."""

from typing import overload

import numpy
import numpy.typing


LEAST: float = 1e-300

def fill_bags(probabilities: numpy.typing.NDArray[numpy.float64], weights: numpy.typing.NDArray[numpy.float64], columns: numpy.typing.NDArray[numpy.int64], groups: numpy.typing.NDArray[numpy.int64], slots: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add up weight times probability over each group's bag members."""

@overload
def sum_hidden_parents(codes: numpy.typing.NDArray[numpy.uint8], columns: numpy.typing.NDArray[numpy.int64], groups: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], alone: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], span: tuple[int, int], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_hidden_parents(codes: numpy.typing.NDArray[numpy.uint16], columns: numpy.typing.NDArray[numpy.int64], groups: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], alone: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], span: tuple[int, int], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sum_hidden_parents(codes: numpy.typing.NDArray[numpy.uint32], columns: numpy.typing.NDArray[numpy.int64], groups: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], alone: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], span: tuple[int, int], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Log joint of hidden naive Bayes for the rows of a span."""

@overload
def sweep_thresholds(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.int64], slots: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], information: numpy.typing.NDArray[numpy.float64], marks: numpy.typing.NDArray[numpy.bool_], chances: numpy.typing.NDArray[numpy.float64], alone: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sweep_thresholds(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.int64], slots: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], information: numpy.typing.NDArray[numpy.float64], marks: numpy.typing.NDArray[numpy.bool_], chances: numpy.typing.NDArray[numpy.float64], alone: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def sweep_thresholds(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.int64], slots: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], information: numpy.typing.NDArray[numpy.float64], marks: numpy.typing.NDArray[numpy.bool_], chances: numpy.typing.NDArray[numpy.float64], alone: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add leave-one-out loss and hits of every nested set of bags."""
