"""Hidden parents."""

from typing import Annotated, overload

import numpy
import numpy.typing


LEAST: float = 1e-300

def fill_bags(probabilities: Annotated[numpy.typing.NDArray[numpy.float64], 2], weights: Annotated[numpy.typing.NDArray[numpy.float64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], groups: Annotated[numpy.typing.NDArray[numpy.int64], 2], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Add up weight times probability over each group's bag members."""

@overload
def sum_hidden_parents(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], groups: Annotated[numpy.typing.NDArray[numpy.int64], 2], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], alone: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], span: tuple[int, int], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_hidden_parents(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], groups: Annotated[numpy.typing.NDArray[numpy.int64], 2], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], alone: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], span: tuple[int, int], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_hidden_parents(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 2], groups: Annotated[numpy.typing.NDArray[numpy.int64], 2], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], alone: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], span: tuple[int, int], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Log joint of hidden naive Bayes for the rows of a span."""

@overload
def sweep_thresholds(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], information: Annotated[numpy.typing.NDArray[numpy.float64], 1], marks: Annotated[numpy.typing.NDArray[numpy.bool_], 1], chances: Annotated[numpy.typing.NDArray[numpy.float64], 3], alone: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sweep_thresholds(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], information: Annotated[numpy.typing.NDArray[numpy.float64], 1], marks: Annotated[numpy.typing.NDArray[numpy.bool_], 1], chances: Annotated[numpy.typing.NDArray[numpy.float64], 3], alone: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sweep_thresholds(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], slots: Annotated[numpy.typing.NDArray[numpy.int64], 1], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], information: Annotated[numpy.typing.NDArray[numpy.float64], 1], marks: Annotated[numpy.typing.NDArray[numpy.bool_], 1], chances: Annotated[numpy.typing.NDArray[numpy.float64], 3], alone: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Add leave-one-out loss and hits of every nested set of bags."""
