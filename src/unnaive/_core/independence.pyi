"""Tests of conditional independence."""

from typing import Annotated, overload

import numpy
import numpy.typing


@overload
def thin(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], joined: Annotated[numpy.typing.NDArray[numpy.bool_], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], least_and_limit: tuple[float, float], critical: object, independent: object, separators: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> tuple[int, int, bool]: ...

@overload
def thin(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], joined: Annotated[numpy.typing.NDArray[numpy.bool_], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], least_and_limit: tuple[float, float], critical: object, independent: object, separators: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> tuple[int, int, bool]: ...

@overload
def thin(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], joined: Annotated[numpy.typing.NDArray[numpy.bool_], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], least_and_limit: tuple[float, float], critical: object, independent: object, separators: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> tuple[int, int, bool]:
    """Test pairs of variables given sets of neighbours: a level of PC."""
