"""Rows counted: bitmaps, and histograms."""

from typing import overload

import numpy
import numpy.typing


WORD: int = 64

LINE_WORDS: int = 8

def class_positions(classes: numpy.typing.NDArray[numpy.int64], cursor: numpy.typing.NDArray[numpy.int64], positions: numpy.typing.NDArray[numpy.uint32]) -> None:
    """Place each row behind the earlier rows of its class."""

def count_pairs(words: numpy.typing.NDArray[numpy.uint64], layout: numpy.typing.NDArray[numpy.int64], runs: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], marginals: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None:
    """Count chosen pairs of bitmap columns by AND + popcount."""

@overload
def fill_bitmaps(codes: numpy.typing.NDArray[numpy.uint8], start: int, positions: numpy.typing.NDArray[numpy.uint32], layout: numpy.typing.NDArray[numpy.int64], runs: numpy.typing.NDArray[numpy.int64], ordered: numpy.typing.NDArray[numpy.uint8], words: numpy.typing.NDArray[numpy.uint64], tally: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def fill_bitmaps(codes: numpy.typing.NDArray[numpy.uint16], start: int, positions: numpy.typing.NDArray[numpy.uint32], layout: numpy.typing.NDArray[numpy.int64], runs: numpy.typing.NDArray[numpy.int64], ordered: numpy.typing.NDArray[numpy.uint16], words: numpy.typing.NDArray[numpy.uint64], tally: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def fill_bitmaps(codes: numpy.typing.NDArray[numpy.uint32], start: int, positions: numpy.typing.NDArray[numpy.uint32], layout: numpy.typing.NDArray[numpy.int64], runs: numpy.typing.NDArray[numpy.int64], ordered: numpy.typing.NDArray[numpy.uint32], words: numpy.typing.NDArray[numpy.uint64], tally: numpy.typing.NDArray[numpy.int64]) -> None:
    """Make the bitmaps of one block of rows, and count them by class."""

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_values(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add each row's weight to its class and value."""

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_pairs(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], pairs: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add each row's weight to its class and pair of values."""

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint8], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint16], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.int64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def add_triples(codes: numpy.typing.NDArray[numpy.uint32], classes: numpy.typing.NDArray[numpy.uint32], weights: numpy.typing.NDArray[numpy.float64], layout: numpy.typing.NDArray[numpy.int64], triples: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add each row's weight to its class and three values."""
