"""Naive Bayes over groups of columns."""

from typing import Annotated, overload

import numpy
import numpy.typing


@overload
def add_group(data: tuple[Annotated[numpy.typing.NDArray[numpy.uint8], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], members: Annotated[numpy.typing.NDArray[numpy.int64], 1], joint: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_group(data: tuple[Annotated[numpy.typing.NDArray[numpy.uint16], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], members: Annotated[numpy.typing.NDArray[numpy.int64], 1], joint: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_group(data: tuple[Annotated[numpy.typing.NDArray[numpy.uint32], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], members: Annotated[numpy.typing.NDArray[numpy.int64], 1], joint: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Add a group's leave-one-out factor to the log joint of every row."""

@overload
def score_genomes(data: tuple[Annotated[numpy.typing.NDArray[numpy.uint8], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], prior: Annotated[numpy.typing.NDArray[numpy.float64], 2], genomes: Annotated[numpy.typing.NDArray[numpy.int64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def score_genomes(data: tuple[Annotated[numpy.typing.NDArray[numpy.uint16], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], prior: Annotated[numpy.typing.NDArray[numpy.float64], 2], genomes: Annotated[numpy.typing.NDArray[numpy.int64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def score_genomes(data: tuple[Annotated[numpy.typing.NDArray[numpy.uint32], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], prior: Annotated[numpy.typing.NDArray[numpy.float64], 2], genomes: Annotated[numpy.typing.NDArray[numpy.int64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Score groupings (m, d), a label a column, by leave-one-out."""

@overload
def score_changes(data: tuple[Annotated[numpy.typing.NDArray[numpy.uint8], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], prior: Annotated[numpy.typing.NDArray[numpy.float64], 2], total: Annotated[numpy.typing.NDArray[numpy.float64], 2], factors: Annotated[numpy.typing.NDArray[numpy.float64], 3], changes: Annotated[numpy.typing.NDArray[numpy.int64], 2], members: Annotated[numpy.typing.NDArray[numpy.int64], 1], bounds: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def score_changes(data: tuple[Annotated[numpy.typing.NDArray[numpy.uint16], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], prior: Annotated[numpy.typing.NDArray[numpy.float64], 2], total: Annotated[numpy.typing.NDArray[numpy.float64], 2], factors: Annotated[numpy.typing.NDArray[numpy.float64], 3], changes: Annotated[numpy.typing.NDArray[numpy.int64], 2], members: Annotated[numpy.typing.NDArray[numpy.int64], 1], bounds: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def score_changes(data: tuple[Annotated[numpy.typing.NDArray[numpy.uint32], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], prior: Annotated[numpy.typing.NDArray[numpy.float64], 2], total: Annotated[numpy.typing.NDArray[numpy.float64], 2], factors: Annotated[numpy.typing.NDArray[numpy.float64], 3], changes: Annotated[numpy.typing.NDArray[numpy.int64], 2], members: Annotated[numpy.typing.NDArray[numpy.int64], 1], bounds: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Score groupings that differ little from one by leave-one-out."""
