"""Families of columns that predictions lack."""

from typing import Annotated, overload

import numpy
import numpy.typing


@overload
def score_families(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], families: Annotated[numpy.typing.NDArray[numpy.int64], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], importance: Annotated[numpy.typing.NDArray[numpy.float64], 1], chances: Annotated[numpy.typing.NDArray[numpy.float64], 2], most: int, gains: Annotated[numpy.typing.NDArray[numpy.float64], 1], variances: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None: ...

@overload
def score_families(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], families: Annotated[numpy.typing.NDArray[numpy.int64], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], importance: Annotated[numpy.typing.NDArray[numpy.float64], 1], chances: Annotated[numpy.typing.NDArray[numpy.float64], 2], most: int, gains: Annotated[numpy.typing.NDArray[numpy.float64], 1], variances: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None: ...

@overload
def score_families(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], families: Annotated[numpy.typing.NDArray[numpy.int64], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], importance: Annotated[numpy.typing.NDArray[numpy.float64], 1], chances: Annotated[numpy.typing.NDArray[numpy.float64], 2], most: int, gains: Annotated[numpy.typing.NDArray[numpy.float64], 1], variances: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """What a table of each family would add to predictions."""
