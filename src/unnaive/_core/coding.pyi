"""Numbers turned into codes."""

from typing import Annotated, overload

import numpy
import numpy.typing


OUTSIDE: int = 63

@overload
def offset_integers(block: Annotated[numpy.typing.NDArray[numpy.int64], 2], base: Annotated[numpy.typing.NDArray[numpy.int64], 1], limit: Annotated[numpy.typing.NDArray[numpy.uint64], 1], marks: Annotated[numpy.typing.NDArray[numpy.uint64], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], first: int) -> None: ...

@overload
def offset_integers(block: Annotated[numpy.typing.NDArray[numpy.int64], 2], base: Annotated[numpy.typing.NDArray[numpy.int64], 1], limit: Annotated[numpy.typing.NDArray[numpy.uint64], 1], marks: Annotated[numpy.typing.NDArray[numpy.uint64], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], first: int) -> None: ...

@overload
def offset_integers(block: Annotated[numpy.typing.NDArray[numpy.int64], 2], base: Annotated[numpy.typing.NDArray[numpy.int64], 1], limit: Annotated[numpy.typing.NDArray[numpy.uint64], 1], marks: Annotated[numpy.typing.NDArray[numpy.uint64], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], first: int) -> None:
    """Code integers by their distance from the lowest of a column."""

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int64], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint8], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int32], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint8], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int16], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint8], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int8], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint8], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.uint8], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint8], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.uint16], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint8], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.uint32], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint8], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int64], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint16], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int32], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint16], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int16], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint16], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int8], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint16], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.uint8], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint16], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.uint16], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint16], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.uint32], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint16], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int64], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int32], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int16], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.int8], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.uint8], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.uint16], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 1]) -> None: ...

@overload
def look_up_integers(values: Annotated[numpy.typing.NDArray[numpy.uint32], 1], lowest: int, table: Annotated[numpy.typing.NDArray[numpy.uint32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 1]) -> None:
    """Code one column of integers by a table."""

@overload
def look_up_floats(block: Annotated[numpy.typing.NDArray[numpy.float64], 2], edges: Annotated[numpy.typing.NDArray[numpy.float64], 1], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], first: int) -> int: ...

@overload
def look_up_floats(block: Annotated[numpy.typing.NDArray[numpy.float64], 2], edges: Annotated[numpy.typing.NDArray[numpy.float64], 1], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], first: int) -> int: ...

@overload
def look_up_floats(block: Annotated[numpy.typing.NDArray[numpy.float64], 2], edges: Annotated[numpy.typing.NDArray[numpy.float64], 1], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], first: int) -> int:
    """Code numbers by their bin."""
