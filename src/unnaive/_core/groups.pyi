"""Naive Bayes over groups of columns."""

from typing import overload

import numpy
import numpy.typing


@overload
def add_group(data: tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], members: numpy.typing.NDArray[numpy.int64], joint: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_group(data: tuple[numpy.typing.NDArray[numpy.uint16], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], members: numpy.typing.NDArray[numpy.int64], joint: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_group(data: tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], members: numpy.typing.NDArray[numpy.int64], joint: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add a group's leave-one-out factor to the log joint of every row."""

@overload
def score_genomes(data: tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], prior: numpy.typing.NDArray[numpy.float64], genomes: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def score_genomes(data: tuple[numpy.typing.NDArray[numpy.uint16], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], prior: numpy.typing.NDArray[numpy.float64], genomes: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def score_genomes(data: tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], prior: numpy.typing.NDArray[numpy.float64], genomes: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Score groupings (m, d), a label a column, by leave-one-out."""

@overload
def score_changes(data: tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], prior: numpy.typing.NDArray[numpy.float64], total: numpy.typing.NDArray[numpy.float64], factors: numpy.typing.NDArray[numpy.float64], changes: numpy.typing.NDArray[numpy.int64], members: numpy.typing.NDArray[numpy.int64], bounds: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def score_changes(data: tuple[numpy.typing.NDArray[numpy.uint16], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], prior: numpy.typing.NDArray[numpy.float64], total: numpy.typing.NDArray[numpy.float64], factors: numpy.typing.NDArray[numpy.float64], changes: numpy.typing.NDArray[numpy.int64], members: numpy.typing.NDArray[numpy.int64], bounds: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def score_changes(data: tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], prior: numpy.typing.NDArray[numpy.float64], total: numpy.typing.NDArray[numpy.float64], factors: numpy.typing.NDArray[numpy.float64], changes: numpy.typing.NDArray[numpy.int64], members: numpy.typing.NDArray[numpy.int64], bounds: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Score groupings that differ little from one by leave-one-out."""
