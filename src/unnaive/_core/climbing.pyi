"""Networks searched by moves."""

from typing import Annotated, overload

import numpy
import numpy.typing


@overload
def climb(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], rule: Annotated[numpy.typing.NDArray[numpy.float64], 1], plan: Annotated[numpy.typing.NDArray[numpy.int64], 1], limit: float, watch: object | None, bounds: Annotated[numpy.typing.NDArray[numpy.bool_], 3], networks: Annotated[numpy.typing.NDArray[numpy.bool_], 3], found: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> tuple[int, bool]: ...

@overload
def climb(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], rule: Annotated[numpy.typing.NDArray[numpy.float64], 1], plan: Annotated[numpy.typing.NDArray[numpy.int64], 1], limit: float, watch: object | None, bounds: Annotated[numpy.typing.NDArray[numpy.bool_], 3], networks: Annotated[numpy.typing.NDArray[numpy.bool_], 3], found: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> tuple[int, bool]: ...

@overload
def climb(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], logs: Annotated[numpy.typing.NDArray[numpy.float64], 1], rule: Annotated[numpy.typing.NDArray[numpy.float64], 1], plan: Annotated[numpy.typing.NDArray[numpy.int64], 1], limit: float, watch: object | None, bounds: Annotated[numpy.typing.NDArray[numpy.bool_], 3], networks: Annotated[numpy.typing.NDArray[numpy.bool_], 3], found: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> tuple[int, bool]:
    """
    Climb from a network; return the moves made, and whether the search was finished.
    """
