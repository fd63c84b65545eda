"""Nested models, one more column at a time."""

from typing import Annotated, overload

import numpy
import numpy.typing


NEVER: int = -1099511627776

@overload
def number_rows(taking_part: Annotated[numpy.typing.NDArray[numpy.int32], 1], before: Annotated[numpy.typing.NDArray[numpy.int32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], size: int, splits: int, slots: Annotated[numpy.typing.NDArray[numpy.int32], 1], keys: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int32], 1]) -> int: ...

@overload
def number_rows(taking_part: Annotated[numpy.typing.NDArray[numpy.int32], 1], before: Annotated[numpy.typing.NDArray[numpy.int32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint16], 1], size: int, splits: int, slots: Annotated[numpy.typing.NDArray[numpy.int32], 1], keys: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int32], 1]) -> int: ...

@overload
def number_rows(taking_part: Annotated[numpy.typing.NDArray[numpy.int32], 1], before: Annotated[numpy.typing.NDArray[numpy.int32], 1], codes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], size: int, splits: int, slots: Annotated[numpy.typing.NDArray[numpy.int32], 1], keys: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int32], 1]) -> int:
    """
    Give numbers to pairs of a number and a code as they come, return how many.
    """

@overload
def count_steps(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], family: Annotated[numpy.typing.NDArray[numpy.int64], 1], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], taking_part: Annotated[numpy.typing.NDArray[numpy.int32], 1], own: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], slots: Annotated[numpy.typing.NDArray[numpy.int32], 1], keys: Annotated[numpy.typing.NDArray[numpy.int64], 1], run: tuple[Annotated[numpy.typing.NDArray[numpy.int32], 3], Annotated[numpy.typing.NDArray[numpy.int64], 2], tuple[Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 2]]]) -> None: ...

@overload
def count_steps(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], family: Annotated[numpy.typing.NDArray[numpy.int64], 1], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], taking_part: Annotated[numpy.typing.NDArray[numpy.int32], 1], own: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], slots: Annotated[numpy.typing.NDArray[numpy.int32], 1], keys: Annotated[numpy.typing.NDArray[numpy.int64], 1], run: tuple[Annotated[numpy.typing.NDArray[numpy.int32], 3], Annotated[numpy.typing.NDArray[numpy.int64], 2], tuple[Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 2]]]) -> None: ...

@overload
def count_steps(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], family: Annotated[numpy.typing.NDArray[numpy.int64], 1], sizes: Annotated[numpy.typing.NDArray[numpy.int64], 1], taking_part: Annotated[numpy.typing.NDArray[numpy.int32], 1], own: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], slots: Annotated[numpy.typing.NDArray[numpy.int32], 1], keys: Annotated[numpy.typing.NDArray[numpy.int64], 1], run: tuple[Annotated[numpy.typing.NDArray[numpy.int32], 3], Annotated[numpy.typing.NDArray[numpy.int64], 2], tuple[Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 2]]]) -> None:
    """Count a column with none of its parents, with one, with two, …."""

def fill_factors(run: tuple[Annotated[numpy.typing.NDArray[numpy.int32], 3], Annotated[numpy.typing.NDArray[numpy.int64], 2], tuple[Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 2]]], own: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], share: Annotated[numpy.typing.NDArray[numpy.float64], 1], pseudo: Annotated[numpy.typing.NDArray[numpy.float64], 2], leans: bool, span: tuple[int, int, int, bool], out: tuple[Annotated[numpy.typing.NDArray[numpy.int32], 2], Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 2]]) -> None:
    """Factors of every cell, and of left-out rows for their own class."""

def add_columns(columns: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 2], Annotated[numpy.typing.NDArray[numpy.int32], 3], Annotated[numpy.typing.NDArray[numpy.float64], 3], Annotated[numpy.typing.NDArray[numpy.float64], 3]], own: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], products: tuple[Annotated[numpy.typing.NDArray[numpy.float64], 4], Annotated[numpy.typing.NDArray[numpy.int64], 4]], prior: Annotated[numpy.typing.NDArray[numpy.float64], 3], blocks: tuple[int, int], out: Annotated[numpy.typing.NDArray[numpy.float64], 4]) -> None:
    """Multiply rows' products by the factors of columns, and score them."""

def measure(joint: Annotated[numpy.typing.NDArray[numpy.float64], 2], prior: Annotated[numpy.typing.NDArray[numpy.float64], 2], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Add rows' weighted hits, log loss and squared error to out."""
