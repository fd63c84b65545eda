"""Nested models, one more column at a time."""

from typing import overload

import numpy
import numpy.typing


NEVER: int = -1099511627776

@overload
def number_rows(taking_part: numpy.typing.NDArray[numpy.int32], before: numpy.typing.NDArray[numpy.int32], codes: numpy.typing.NDArray[numpy.uint8], size: int, splits: int, slots: numpy.typing.NDArray[numpy.int32], keys: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int32]) -> int: ...

@overload
def number_rows(taking_part: numpy.typing.NDArray[numpy.int32], before: numpy.typing.NDArray[numpy.int32], codes: numpy.typing.NDArray[numpy.uint16], size: int, splits: int, slots: numpy.typing.NDArray[numpy.int32], keys: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int32]) -> int: ...

@overload
def number_rows(taking_part: numpy.typing.NDArray[numpy.int32], before: numpy.typing.NDArray[numpy.int32], codes: numpy.typing.NDArray[numpy.uint32], size: int, splits: int, slots: numpy.typing.NDArray[numpy.int32], keys: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int32]) -> int:
    """
    Give numbers to pairs of a number and a code as they come, return how many.
    """

@overload
def count_steps(codes: numpy.typing.NDArray[numpy.uint8], family: numpy.typing.NDArray[numpy.int64], sizes: numpy.typing.NDArray[numpy.int64], taking_part: numpy.typing.NDArray[numpy.int32], own: tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]], slots: numpy.typing.NDArray[numpy.int32], keys: numpy.typing.NDArray[numpy.int64], run: tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64], tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]]) -> None: ...

@overload
def count_steps(codes: numpy.typing.NDArray[numpy.uint16], family: numpy.typing.NDArray[numpy.int64], sizes: numpy.typing.NDArray[numpy.int64], taking_part: numpy.typing.NDArray[numpy.int32], own: tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]], slots: numpy.typing.NDArray[numpy.int32], keys: numpy.typing.NDArray[numpy.int64], run: tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64], tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]]) -> None: ...

@overload
def count_steps(codes: numpy.typing.NDArray[numpy.uint32], family: numpy.typing.NDArray[numpy.int64], sizes: numpy.typing.NDArray[numpy.int64], taking_part: numpy.typing.NDArray[numpy.int32], own: tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]], slots: numpy.typing.NDArray[numpy.int32], keys: numpy.typing.NDArray[numpy.int64], run: tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64], tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]]) -> None:
    """Count a column with none of its parents, with one, with two, …."""

def fill_factors(run: tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64], tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]], own: tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]], share: numpy.typing.NDArray[numpy.float64], pseudo: numpy.typing.NDArray[numpy.float64], leans: bool, span: tuple[int, int, int, bool], out: tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]) -> None:
    """Factors of every cell, and of left-out rows for their own class."""

def add_columns(columns: tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]], own: tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]], products: tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]], prior: numpy.typing.NDArray[numpy.float64], blocks: tuple[int, int], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Multiply rows' products by the factors of columns, and score them."""

def measure(joint: numpy.typing.NDArray[numpy.float64], prior: numpy.typing.NDArray[numpy.float64], classes: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add rows' weighted hits, log loss and squared error to out."""
