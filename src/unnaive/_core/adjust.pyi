"""Class weights, and iterative Bayes."""

from typing import overload

import numpy
import numpy.typing


FLOOR: float = 0.01

def weigh_right(joint: numpy.typing.NDArray[numpy.float64], bounds: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], log_weights: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Weight of the rows that are right under lists of class weights."""

def right_spans(joint: numpy.typing.NDArray[numpy.float64], classes: numpy.typing.NDArray[numpy.int64], log_weights: numpy.typing.NDArray[numpy.float64], label: int, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """For each row, what the log weight of one class means."""

@overload
def one_pass(lines: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], prior: numpy.typing.NDArray[numpy.float64], entries: numpy.typing.NDArray[numpy.float64], starts: numpy.typing.NDArray[numpy.int64], literal: bool, renormalise: bool) -> None: ...

@overload
def one_pass(lines: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], prior: numpy.typing.NDArray[numpy.float64], entries: numpy.typing.NDArray[numpy.float64], starts: numpy.typing.NDArray[numpy.int64], literal: bool, renormalise: bool) -> None: ...

@overload
def one_pass(lines: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], prior: numpy.typing.NDArray[numpy.float64], entries: numpy.typing.NDArray[numpy.float64], starts: numpy.typing.NDArray[numpy.int64], literal: bool, renormalise: bool) -> None:
    """Correct the entries of iterative Bayes by rows (n, d) in turn."""
