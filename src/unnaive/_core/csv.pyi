"""Cells of CSV files."""

from typing import Annotated

import numpy
import numpy.typing


def most_rows(text: Annotated[numpy.typing.NDArray[numpy.uint8], 1]) -> int:
    """Most rows that some text of a CSV file can have."""

def look(text: Annotated[numpy.typing.NDArray[numpy.uint8], 1], separator: int, missing: list[str], counts: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> tuple[int, list[list[str]]]:
    """
    Count what the cells of each column look like: (rows or -1, words of each column).
    """

def parse(text: Annotated[numpy.typing.NDArray[numpy.uint8], 1], separator: int, kinds: Annotated[numpy.typing.NDArray[numpy.uint8], 1], missing: list[str], numbers: Annotated[numpy.typing.NDArray[numpy.float64], 2], labels: Annotated[numpy.typing.NDArray[numpy.int32], 2]) -> tuple[int, list[int], list[list[str]]]:
    """
    Parse rows of a CSV file: (rows or -1, missing values, texts of labels).
    """
