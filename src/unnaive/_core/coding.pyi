"""Numbers turned into codes."""

from typing import overload

import numpy
import numpy.typing


OUTSIDE: int = 63

@overload
def offset_integers(block: numpy.typing.NDArray[numpy.int64], base: numpy.typing.NDArray[numpy.int64], limit: numpy.typing.NDArray[numpy.uint64], marks: numpy.typing.NDArray[numpy.uint64], codes: numpy.typing.NDArray[numpy.uint8], first: int) -> None: ...

@overload
def offset_integers(block: numpy.typing.NDArray[numpy.int64], base: numpy.typing.NDArray[numpy.int64], limit: numpy.typing.NDArray[numpy.uint64], marks: numpy.typing.NDArray[numpy.uint64], codes: numpy.typing.NDArray[numpy.uint16], first: int) -> None: ...

@overload
def offset_integers(block: numpy.typing.NDArray[numpy.int64], base: numpy.typing.NDArray[numpy.int64], limit: numpy.typing.NDArray[numpy.uint64], marks: numpy.typing.NDArray[numpy.uint64], codes: numpy.typing.NDArray[numpy.uint32], first: int) -> None:
    """Code integers by their distance from the lowest of a column."""

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int64], lowest: int, table: numpy.typing.NDArray[numpy.uint8], codes: numpy.typing.NDArray[numpy.uint8]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int32], lowest: int, table: numpy.typing.NDArray[numpy.uint8], codes: numpy.typing.NDArray[numpy.uint8]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int16], lowest: int, table: numpy.typing.NDArray[numpy.uint8], codes: numpy.typing.NDArray[numpy.uint8]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int8], lowest: int, table: numpy.typing.NDArray[numpy.uint8], codes: numpy.typing.NDArray[numpy.uint8]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.uint8], lowest: int, table: numpy.typing.NDArray[numpy.uint8], codes: numpy.typing.NDArray[numpy.uint8]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.uint16], lowest: int, table: numpy.typing.NDArray[numpy.uint8], codes: numpy.typing.NDArray[numpy.uint8]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.uint32], lowest: int, table: numpy.typing.NDArray[numpy.uint8], codes: numpy.typing.NDArray[numpy.uint8]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int64], lowest: int, table: numpy.typing.NDArray[numpy.uint16], codes: numpy.typing.NDArray[numpy.uint16]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int32], lowest: int, table: numpy.typing.NDArray[numpy.uint16], codes: numpy.typing.NDArray[numpy.uint16]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int16], lowest: int, table: numpy.typing.NDArray[numpy.uint16], codes: numpy.typing.NDArray[numpy.uint16]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int8], lowest: int, table: numpy.typing.NDArray[numpy.uint16], codes: numpy.typing.NDArray[numpy.uint16]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.uint8], lowest: int, table: numpy.typing.NDArray[numpy.uint16], codes: numpy.typing.NDArray[numpy.uint16]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.uint16], lowest: int, table: numpy.typing.NDArray[numpy.uint16], codes: numpy.typing.NDArray[numpy.uint16]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.uint32], lowest: int, table: numpy.typing.NDArray[numpy.uint16], codes: numpy.typing.NDArray[numpy.uint16]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int64], lowest: int, table: numpy.typing.NDArray[numpy.uint32], codes: numpy.typing.NDArray[numpy.uint32]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int32], lowest: int, table: numpy.typing.NDArray[numpy.uint32], codes: numpy.typing.NDArray[numpy.uint32]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int16], lowest: int, table: numpy.typing.NDArray[numpy.uint32], codes: numpy.typing.NDArray[numpy.uint32]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.int8], lowest: int, table: numpy.typing.NDArray[numpy.uint32], codes: numpy.typing.NDArray[numpy.uint32]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.uint8], lowest: int, table: numpy.typing.NDArray[numpy.uint32], codes: numpy.typing.NDArray[numpy.uint32]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.uint16], lowest: int, table: numpy.typing.NDArray[numpy.uint32], codes: numpy.typing.NDArray[numpy.uint32]) -> None: ...

@overload
def look_up_integers(values: numpy.typing.NDArray[numpy.uint32], lowest: int, table: numpy.typing.NDArray[numpy.uint32], codes: numpy.typing.NDArray[numpy.uint32]) -> None:
    """Code one column of integers by a table."""

@overload
def look_up_floats(block: numpy.typing.NDArray[numpy.float64], edges: numpy.typing.NDArray[numpy.float64], starts: numpy.typing.NDArray[numpy.int64], codes: numpy.typing.NDArray[numpy.uint8], first: int) -> int: ...

@overload
def look_up_floats(block: numpy.typing.NDArray[numpy.float64], edges: numpy.typing.NDArray[numpy.float64], starts: numpy.typing.NDArray[numpy.int64], codes: numpy.typing.NDArray[numpy.uint16], first: int) -> int: ...

@overload
def look_up_floats(block: numpy.typing.NDArray[numpy.float64], edges: numpy.typing.NDArray[numpy.float64], starts: numpy.typing.NDArray[numpy.int64], codes: numpy.typing.NDArray[numpy.uint32], first: int) -> int:
    """Code numbers by their bin."""
