"""Factors of columns with several parents."""

from typing import Annotated, overload

import numpy
import numpy.typing


@overload
def sum_families(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], families: Annotated[numpy.typing.NDArray[numpy.int64], 2], parents: Annotated[numpy.typing.NDArray[numpy.int64], 2], contexts: Annotated[numpy.typing.NDArray[numpy.int64], 1], entries: Annotated[numpy.typing.NDArray[numpy.float64], 2], used: int, held: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_families(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], families: Annotated[numpy.typing.NDArray[numpy.int64], 2], parents: Annotated[numpy.typing.NDArray[numpy.int64], 2], contexts: Annotated[numpy.typing.NDArray[numpy.int64], 1], entries: Annotated[numpy.typing.NDArray[numpy.float64], 2], used: int, held: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def sum_families(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], families: Annotated[numpy.typing.NDArray[numpy.int64], 2], parents: Annotated[numpy.typing.NDArray[numpy.int64], 2], contexts: Annotated[numpy.typing.NDArray[numpy.int64], 1], entries: Annotated[numpy.typing.NDArray[numpy.float64], 2], used: int, held: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Sum the factors of rows without missing cells over some families."""
