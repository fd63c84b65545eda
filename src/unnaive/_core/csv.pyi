"""Cells of CSV files."""

from typing import Annotated

import numpy
import numpy.typing


STYLES: str = ".|,|.,|,.|.'|, |. "

MOST_WORDS: int = 1000

def most_rows(text: Annotated[numpy.typing.NDArray[numpy.uint8], 1]) -> int:
    """Most rows that some text of a CSV file can have."""

def row_end(text: Annotated[numpy.typing.NDArray[numpy.uint8], 1], separator: int) -> int:
    """Where the last whole row of some CSV ends; 0 for none."""

def header(text: Annotated[numpy.typing.NDArray[numpy.uint8], 1], separator: int) -> tuple[list[bytes], int]:
    """Cells of the first row of a CSV file, and where it ends."""

def look(text: Annotated[numpy.typing.NDArray[numpy.uint8], 1], separator: int, chosen: Annotated[numpy.typing.NDArray[numpy.uint8], 1], missing: list[str]) -> tuple[int, int, list[tuple[int, bool, int, str, list[str] | None, list[int]]], tuple[int, int, int, bytes]]:
    """
    Tell what the cells of each column look like: (rows or -1, empty rows, looks, fault).
    """

def parse(text: Annotated[numpy.typing.NDArray[numpy.uint8], 1], separator: int, kinds: Annotated[numpy.typing.NDArray[numpy.uint8], 1], styles: Annotated[numpy.typing.NDArray[numpy.uint8], 1], missing: list[list[str]], numbers: Annotated[numpy.typing.NDArray[numpy.float64], 2], labels: Annotated[numpy.typing.NDArray[numpy.int32], 2]) -> tuple[int, int, list[int], list[list[str]], tuple[int, int, int, bytes]]:
    """
    Parse rows: (rows or -1, empty rows, missing values, texts of labels, fault).
    """
