"""Rows counted: bitmaps, and histograms."""

from typing import Annotated, overload

import numpy
import numpy.typing


WORD: int = 64

LINE_WORDS: int = 8

def class_positions(classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], cursor: Annotated[numpy.typing.NDArray[numpy.int64], 1], positions: Annotated[numpy.typing.NDArray[numpy.uint32], 1]) -> None:
    """Place each row behind the earlier rows of its class."""

def count_pairs(words: Annotated[numpy.typing.NDArray[numpy.uint64], 2], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], runs: Annotated[numpy.typing.NDArray[numpy.int64], 1], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], marginals: Annotated[numpy.typing.NDArray[numpy.int64], 2], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None:
    """Count chosen pairs of bitmap columns by AND + popcount."""

def unite(mine: Annotated[numpy.typing.NDArray[numpy.int64], 1], theirs: Annotated[numpy.typing.NDArray[numpy.int64], 1], cells: Annotated[numpy.typing.NDArray[numpy.int64], 1], my_places: Annotated[numpy.typing.NDArray[numpy.int64], 1], their_places: Annotated[numpy.typing.NDArray[numpy.int64], 1]) -> int:
    """Unite two ascending lists of cells, and say where each cell is."""

@overload
def fill_bitmaps(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], start: int, positions: Annotated[numpy.typing.NDArray[numpy.uint32], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], runs: Annotated[numpy.typing.NDArray[numpy.int64], 1], ordered: Annotated[numpy.typing.NDArray[numpy.uint8], 1], words: Annotated[numpy.typing.NDArray[numpy.uint64], 2], tally: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def fill_bitmaps(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], start: int, positions: Annotated[numpy.typing.NDArray[numpy.uint32], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], runs: Annotated[numpy.typing.NDArray[numpy.int64], 1], ordered: Annotated[numpy.typing.NDArray[numpy.uint16], 1], words: Annotated[numpy.typing.NDArray[numpy.uint64], 2], tally: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def fill_bitmaps(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], start: int, positions: Annotated[numpy.typing.NDArray[numpy.uint32], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], runs: Annotated[numpy.typing.NDArray[numpy.int64], 1], ordered: Annotated[numpy.typing.NDArray[numpy.uint32], 1], words: Annotated[numpy.typing.NDArray[numpy.uint64], 2], tally: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None:
    """Make the bitmaps of one block of rows, and count them by class."""

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_values(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], columns: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Add each row's weight to its class and value."""

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_pairs(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], pairs: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Add each row's weight to its class and pair of values."""

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint8], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.int64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def add_triples(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], classes: Annotated[numpy.typing.NDArray[numpy.uint32], 1], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], layout: Annotated[numpy.typing.NDArray[numpy.int64], 2], triples: Annotated[numpy.typing.NDArray[numpy.int64], 2], starts: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Add each row's weight to its class and three values."""
