"""Class weights, and iterative Bayes."""

from typing import Annotated, overload

import numpy
import numpy.typing


FLOOR: float = 0.01

def weigh_right(joint: Annotated[numpy.typing.NDArray[numpy.float64], 2], bounds: Annotated[numpy.typing.NDArray[numpy.int64], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], log_weights: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Weight of the rows that are right under lists of class weights."""

def right_spans(joint: Annotated[numpy.typing.NDArray[numpy.float64], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], log_weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], label: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """For each row, what the log weight of one class means."""

@overload
def one_pass(lines: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], entries: Annotated[numpy.typing.NDArray[numpy.float64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], literal: bool, renormalise: bool) -> None: ...

@overload
def one_pass(lines: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], entries: Annotated[numpy.typing.NDArray[numpy.float64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], literal: bool, renormalise: bool) -> None: ...

@overload
def one_pass(lines: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], entries: Annotated[numpy.typing.NDArray[numpy.float64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], literal: bool, renormalise: bool) -> None:
    """Correct the entries of iterative Bayes by rows (n, d) in turn."""
